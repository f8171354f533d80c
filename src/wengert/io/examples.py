"""`tf.train.Example` and its parts: what they hold, and how single values are checked."""

from __future__ import annotations

import struct
from typing import Any, ClassVar

import numpy as np

from wengert.core.errors import at_site, describe
from wengert.io import protobuf_wire
from wengert.io.protobuf_messages import Field, Message


class _Bytes:
    """What a `BytesList` holds."""

    numpy: ClassVar = None

    def __new__(cls, value: bytes | str) -> bytes:  # the check of one value
        if isinstance(value, bytes):
            return value
        help = "Encode text with .encode(), and take a tensor's bytes with .numpy()."
        raise at_site(TypeError(f"BytesList: a value is bytes; got {describe(value)}. {help}"))

    @staticmethod
    def write(number: int, held: list[bytes]) -> bytes:
        return b"".join(protobuf_wire.field(number, v) for v in held)

    read = staticmethod(protobuf_wire.texts)


class _Floats:
    """What a `FloatList` holds: numbers of 32 bits."""

    numpy: ClassVar = np.float32

    def __new__(cls, value: float | np.generic | str) -> float:
        if isinstance(value, str | bytes) or not hasattr(value, "__float__"):
            raise at_site(TypeError(f"FloatList: a value is a number; got {describe(value)}."))
        try:
            return struct.unpack("<f", struct.pack("<f", float(value)))[0]
        except OverflowError:
            return float("inf") if float(value) > 0 else float("-inf")
        except TypeError as error:
            text = f"FloatList: a value is a number; got {describe(value)}. Flatten it first."
            raise at_site(TypeError(text)) from error

    @staticmethod
    def write(number: int, held: list[float]) -> bytes:
        return protobuf_wire.field(number, protobuf_wire.float_bytes(held))

    read = staticmethod(protobuf_wire.floats)


class _Int64s:
    """What an `Int64List` holds."""

    numpy: ClassVar = np.int64

    def __new__(cls, value: Any) -> int:
        try:
            result = value.__index__()
        except (AttributeError, TypeError) as error:
            if type(value).__name__ in ("bool_", "bool"):
                return int(value)
            help = "Round floats first, or use a FloatList."
            words = f"Int64List: a value is a whole number; got {describe(value)}. {help}"
            raise at_site(TypeError(words)) from error
        if not -(1 << 63) <= result < 1 << 63:
            raise at_site(ValueError(f"Int64List: a value has 64 bits; got {result}."))
        return result

    @staticmethod
    def write(number: int, held: list[int]) -> bytes:
        return protobuf_wire.field(number, protobuf_wire.packed(held))

    read = staticmethod(protobuf_wire.int64s)


class BytesList(Message):
    """Byte strings."""

    _fields: ClassVar = {"value": Field(1, "values", _Bytes)}


class FloatList(Message):
    """Numbers of 32 bits."""

    _fields: ClassVar = {"value": Field(1, "values", _Floats)}


class Int64List(Message):
    """Whole numbers."""

    _fields: ClassVar = {"value": Field(1, "values", _Int64s)}


class Feature(Message):
    """A list of one of three kinds."""

    _fields: ClassVar = {
        "bytes_list": Field(1, "one", BytesList),
        "float_list": Field(2, "one", FloatList),
        "int64_list": Field(3, "one", Int64List),
    }
    _oneof = "kind"


class Features(Message):
    """Features by name."""

    _fields: ClassVar = {"feature": Field(1, "map", Feature)}


class FeatureList(Message):
    """Features in a row."""

    _fields: ClassVar = {"feature": Field(1, "list", Feature)}


class FeatureLists(Message):
    """Rows of features by name."""

    _fields: ClassVar = {"feature_list": Field(1, "map", FeatureList)}


class Example(Message):
    """One example for training: features by name.

    >>> ages = tf.train.Feature(int64_list=tf.train.Int64List(value=[29]))
    >>> example = tf.train.Example(features=tf.train.Features(feature={"age": ages}))
    >>> data = example.SerializeToString()
    >>> list(tf.train.Example.FromString(data).features.feature["age"].int64_list.value)
    [29]
    """

    _fields: ClassVar = {"features": Field(1, "one", Features)}


class SequenceExample(Message):
    """One example with rows of features, such as the words of a sentence."""

    _fields: ClassVar = {
        "context": Field(1, "one", Features),
        "feature_lists": Field(2, "one", FeatureLists),
    }

"""The messages of records, by the `protobuf` package: `tf.train.Example`, its parts, `TensorProto`.

They are declared in a pool of their own, so they do not meet the messages of the same names that
TensorBoard or TensorFlow bring.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import DecodeError

from wengert.core.errors import at_site, describe

_PACKAGE = "tensorflow"  # a part of the names by which other programs know these messages
# The fields of each message: number, "repeated" or "map" (from strings) where it is one, and type.
_FIELDS: dict[str, dict[str, str]] = {
    "BytesList": {"value": "1 repeated bytes"},
    "FloatList": {"value": "1 repeated float"},
    "Int64List": {"value": "1 repeated int64"},
    "Feature": {
        "bytes_list": "1 BytesList", "float_list": "2 FloatList", "int64_list": "3 Int64List"
    },
    "Features": {"feature": "1 map Feature"},
    "FeatureList": {"feature": "1 repeated Feature"},
    "FeatureLists": {"feature_list": "1 map FeatureList"},
    "Example": {"features": "1 Features"},
    "SequenceExample": {"context": "1 Features", "feature_lists": "2 FeatureLists"},
    "Dim": {"size": "1 int64"},
    "TensorShapeProto": {"dim": "2 repeated Dim"},
    "TensorProto": {
        "dtype": "1 int32", "tensor_shape": "2 TensorShapeProto", "tensor_content": "4 bytes",
        "float_val": "5 repeated float", "double_val": "6 repeated double",
        "int_val": "7 repeated int32", "string_val": "8 repeated bytes",
        "scomplex_val": "9 repeated float", "int64_val": "10 repeated int64",
        "bool_val": "11 repeated bool", "dcomplex_val": "12 repeated double",
        "half_val": "13 repeated int32", "uint32_val": "16 repeated uint32",
        "uint64_val": "17 repeated uint64",
    },
}  # fmt: skip
_ONE_OF = {"Feature": "kind"}  # messages that hold one of their fields, and the name of the choice
_DOCUMENTATION = {
    "BytesList": "Byte strings.",
    "FloatList": "Numbers of 32 bits.",
    "Int64List": "Whole numbers of 64 bits.",
    "Feature": "A list of one of three kinds.",
    "Features": "Features by name.",
    "FeatureList": "Features in a row.",
    "FeatureLists": "Rows of features by name.",
    "Example": """One example for training: features by name.

    >>> ages = tf.train.Feature(int64_list=tf.train.Int64List(value=[29]))
    >>> example = tf.train.Example(features=tf.train.Features(feature={"age": ages}))
    >>> data = example.SerializeToString()
    >>> list(tf.train.Example.FromString(data).features.feature["age"].int64_list.value)
    [29]
    """,
    "SequenceExample": "One example with rows of features, such as the words of a sentence.",
}
# What a list takes, and the remedy where it is given something else.
_TAKES = {
    "BytesList": (
        "byte strings", "Encode text with .encode(), and take a tensor's bytes with .numpy()."
    ),
    "FloatList": ("numbers", "Flatten arrays first, and take a tensor's numbers with .numpy()."),
    "Int64List": (
        "whole numbers of 64 bits", "Round floats first, or use a FloatList; write int(x) for a bool."
    ),
}  # fmt: skip


# What makes a message of bytes, by the name of the message, for callers with errors of their own.
PARSERS: dict[str, Callable[[bytes], Any]] = {}


def _message_classes() -> dict[str, Any]:
    types = {
        name.removeprefix("TYPE_").lower(): number
        for name, number in descriptor_pb2.FieldDescriptorProto.Type.items()
    }
    file = descriptor_pb2.FileDescriptorProto(
        name="wengert/records.proto", package=_PACKAGE, syntax="proto3"
    )
    for name, fields in _FIELDS.items():
        message = file.message_type.add(name=name)
        if name in _ONE_OF:
            message.oneof_decl.add(name=_ONE_OF[name])
        for field, words in fields.items():
            number, *repeated, kind = words.split()
            if "map" in repeated:
                kind = _add_entry(message, field, kind)
            message.field.add(
                name=field, number=int(number), label=3 if repeated else 1,
                type=types.get(kind, types["message"]),
                type_name=None if kind in types else f".{_PACKAGE}.{kind}",
                oneof_index=0 if name in _ONE_OF else None,
            )  # fmt: skip
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(file.SerializeToString())
    described = (pool.FindMessageTypeByName(f"{_PACKAGE}.{name}") for name in _FIELDS)
    return {one.name: message_factory.GetMessageClass(one) for one in described}


def _add_entry(message: descriptor_pb2.DescriptorProto, field: str, kind: str) -> str:
    """Declares the entries of a map, as the wire format wants them, and returns their type."""
    entry = message.nested_type.add(name=field.title().replace("_", "") + "Entry")
    entry.options.map_entry = True
    entry.field.add(name="key", number=1, label=1, type=9)
    entry.field.add(name="value", number=2, label=1, type=11, type_name=f".{_PACKAGE}.{kind}")
    return f"{message.name}.{entry.name}"


def _explained(name: str, method: Callable[..., Any], rule: str, remedy: str = "") -> Any:
    """The method, whose errors name the rule, the value, the remedy and the user's line."""

    def explained(*given: Any, **fields: Any) -> Any:
        try:
            return method(*given, **fields)
        except (TypeError, ValueError, DecodeError) as error:
            values = ", ".join(f"{key}={describe(value)}" for key, value in fields.items())
            shown = values or describe(given[-1])
            words = f"{name}: {rule}; got {shown} ({str(error).rstrip('.')}). {remedy}"
            raise at_site(type(error)(words.strip())) from error

    return explained


def _with_remedies(message: Any) -> Any:
    """The class, which says what it takes where it refuses a value or bytes."""
    name, no_message = message.__name__, "the bytes are no such message"
    takes, remedy = _TAKES.get(name, ("", ""))
    rule = (
        f"`value` takes a list of {takes}"
        if takes
        else f"its fields are {', '.join(_FIELDS[name])}"
    )
    PARSERS[name] = message.FromString
    message.__init__ = _explained(name, message.__init__, rule, remedy)
    message.FromString = staticmethod(_explained(name, message.FromString, no_message))
    for method in ("ParseFromString", "MergeFromString"):
        setattr(message, method, _explained(name, getattr(message, method), no_message))
    message.__module__, message.__doc__ = __name__, _DOCUMENTATION.get(name)
    return message


_classes = {name: _with_remedies(message) for name, message in _message_classes().items()}
BytesList = _classes["BytesList"]
FloatList = _classes["FloatList"]
Int64List = _classes["Int64List"]
Feature = _classes["Feature"]
Features = _classes["Features"]
FeatureList = _classes["FeatureList"]
FeatureLists = _classes["FeatureLists"]
Example = _classes["Example"]
SequenceExample = _classes["SequenceExample"]
TensorProto = _classes["TensorProto"]

"""Tables from keys to values, filled once or as a program goes on.

A table is a Python dict; inside a function it is asked by a call of Python.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.checkpoint.trackable import Trackable
from wengert.composite.ragged_tensor import RaggedTensor
from wengert.composite.sparse_tensor import SparseTensor
from wengert.core import dtypes
from wengert.core.apply import wrap
from wengert.core.convert import operand
from wengert.core.errors import (
    FailedPreconditionError,
    at_site,
    describe,
    invalid,
    require,
    unexpected,
)
from wengert.core.locks import new_lock
from wengert.core.resources import Resource
from wengert.core.types import DType, Tensor, TensorSpec
from wengert.functions.host_calls import PyCall, emit_call
from wengert.graph.builder import building
from wengert.io.paths import refused
from wengert.ops.cast import cast
from wengert.ops.declare import static_int
from wengert.ops.hashing import to_hash_bucket_fast
from wengert.ops.select import where
from wengert.ops.strings import as_string


class TextFileIndex:
    """Which part of a line of a text file is meant."""

    WHOLE_LINE = -2
    LINE_NUMBER = -1


class _Typed(Trackable):
    """The base of objects with a dtype of keys and one of values."""

    def __init__(self, key_dtype: DType, value_dtype: DType) -> None:
        self._key_dtype = dtypes.as_dtype(key_dtype)
        self._value_dtype = dtypes.as_dtype(value_dtype)

    @property
    def key_dtype(self) -> DType:
        return self._key_dtype

    @property
    def value_dtype(self) -> DType:
        return self._value_dtype


class TableInitializerBase(_Typed):
    """The base of initializers, which fill a table when it is made."""

    def initialize(self, table: Any) -> Any:
        """Fills a table."""
        raise NotImplementedError


class KeyValueTensorInitializer(TableInitializerBase):
    """Fills a table from keys and values."""

    def __init__(
        self, keys: list[int | str], values: Any, key_dtype: Any = None, value_dtype: Any = None,
        name: str | None = None,
    ) -> None:  # fmt: skip
        self._keys = operand(keys, None if key_dtype is None else dtypes.as_dtype(key_dtype))
        self._values = operand(
            values, None if value_dtype is None else dtypes.as_dtype(value_dtype)
        )
        super().__init__(self._keys.dtype, self._values.dtype)

    def initialize(self, table: StaticHashTable) -> Any:
        table._fill(self._keys.numpy(), self._values.numpy())


class TextFileInitializer(TableInitializerBase):
    """Fills a table from the lines of a text file, their numbers, or their columns."""

    def __init__(
        self, filename: str, key_dtype: DType, key_index: int, value_dtype: DType, value_index: int,
        vocab_size: int | None = None, delimiter: str = "\t", name: str | None = None,
        value_index_offset: int = 0,
    ) -> None:  # fmt: skip
        super().__init__(key_dtype, value_dtype)
        self._filename = filename
        self._columns = (key_index, value_index)
        self._size = vocab_size
        self._delimiter = delimiter
        self._offset = value_index_offset

    def initialize(self, table: StaticHashTable) -> Any:
        from wengert.io.gfile import GFile

        with GFile(str(self._filename), "rb") as file:
            lines = [line.rstrip(b"\r\n") for line in file]
        lines = lines[: self._size]
        kinds = (self.key_dtype, self.value_dtype)
        keys, values = (
            np.array([self._part(i, line, c, k) for i, line in enumerate(lines)], k.np)
            for c, k in zip(self._columns, kinds, strict=True)
        )
        table._fill(keys, values, f" in {self._filename}")

    def _part(self, number: int, line: bytes, column: int, kind: DType) -> bytes | int | float:
        if column == TextFileIndex.LINE_NUMBER:
            return number + self._offset
        text = line
        if column != TextFileIndex.WHOLE_LINE:
            columns = line.split(self._delimiter.encode())
            if column >= len(columns):
                rule = f"line {number} has {len(columns)} columns, but column {column} is wanted"
                raise self._refused(rule)
            text = columns[column]
        try:
            return text if kind is dtypes.string else float(text) if kind.is_floating else int(text)
        except ValueError as error:
            raise self._refused(f"{text!r} in line {number} is no {kind.name}") from error

    def _refused(self, rule: str) -> Exception:
        help = "Mend the file, or see to `delimiter` and the columns."
        return refused("TextFileInitializer", rule, str(self._filename), help)


class Contents(Resource):
    """The rows of a table; the copies of a table share them."""

    _what = "a lookup table"
    _remedy = "Save it in a tf.train.Checkpoint, or pickle what export() gives."

    def __init__(self) -> None:
        self.rows: dict[Any, Any] = {}
        self.filled = False
        self.lock = new_lock()


class _Lookup(_Typed):
    """The base of tables: looks up tensors, and the values of ragged and sparse tensors."""

    @property
    def name(self) -> str | None:
        return None

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        """The values of keys; the default value, or a bucket, for keys that are not there."""
        if isinstance(keys, RaggedTensor):
            return keys.with_values(self.lookup(keys.values))
        if isinstance(keys, SparseTensor):
            return SparseTensor(keys.indices, self.lookup(keys.values), keys.dense_shape)
        return self._lookup(keys)

    def _lookup(self, keys: Any) -> Tensor:
        raise NotImplementedError

    __getitem__ = lookup


class Table(_Lookup):
    """The base of tables whose rows are a Python dict."""

    def __init__(
        self, key_dtype: DType, value_dtype: DType, default_value: int | list[float] | str
    ) -> None:
        super().__init__(key_dtype, value_dtype)
        self._default = operand(default_value, self._value_dtype)
        self._contents = Contents()

    def __repr__(self) -> str:
        kinds = f"{self._key_dtype.name} to {self._value_dtype.name}"
        return f"<{type(self).__name__} of {kinds}: {len(self._contents.rows)} keys>"

    @property
    def default_value(self) -> Any:
        return self._default

    def _lookup(self, keys: Any) -> Tensor:
        x = self._checked(keys)
        shape = [*x.shape, *self._default.shape] if x.shape.rank is not None else None
        return self._run("lookup", self._find, [x], [TensorSpec(shape, self._value_dtype)])[0]

    def _find(self, keys: Tensor) -> list[Tensor]:
        array = keys.numpy() if hasattr(keys, "numpy") else keys
        default = self._default._array
        result = np.empty((np.size(array), *default.shape), self._value_dtype.np)
        rows, missing = self._contents.rows, default if default.ndim else default[()]
        for i, key in enumerate(np.asarray(array, self._key_dtype.np).ravel().tolist()):
            result[i] = rows.get(key, missing)
        return [wrap(result.reshape(np.shape(array) + default.shape))]

    def size(self, name: str | None = None) -> Tensor:
        """How many keys there are."""
        count = lambda: [wrap(np.asarray(len(self._contents.rows), np.int64))]
        return self._run("size", count, [], [TensorSpec((), dtypes.int64)])[0]

    def export(self, name: str | None = None) -> tuple[Tensor, Tensor]:
        """All keys and their values."""
        specs = [
            TensorSpec((None,), self._key_dtype),
            TensorSpec((None, *self._default.shape), self._value_dtype),
        ]
        keys, values = self._run("export", self._all, [], specs)
        return keys, values

    def _all(self) -> list[Tensor]:
        with self._contents.lock:
            pairs = list(self._contents.rows.items())
        keys = np.empty(len(pairs), self._key_dtype.np)
        values = np.empty((len(pairs), *self._default._array.shape), self._value_dtype.np)
        for i, (key, value) in enumerate(pairs):
            keys[i], values[i] = key, value
        return [wrap(keys), wrap(values)]

    def _run(
        self, name: str, function: Callable[..., Any], inputs: list[Tensor], out: list[TensorSpec]
    ) -> Any:
        if building() is None:
            return function(*inputs)
        return emit_call(PyCall(function, out, name, False), inputs, variables=False)

    def _checked(self, keys: Any) -> Tensor:
        x = operand(keys, None, self._key_dtype)
        if x.dtype is not self._key_dtype:
            raise at_site(
                TypeError(f"lookup: keys must be {self._key_dtype.name}; got {describe(x)}.")
            )
        return x

    def _put(self, keys: np.ndarray, values: np.ndarray, once: bool, source: str = "") -> None:
        want = (*np.shape(keys), *self._default._array.shape)
        if np.shape(values) != want:
            raise invalid(
                "table", f"the values must have the shape {list(want)}; got {list(values.shape)}"
            )
        rows = np.asarray(values).reshape(np.size(keys), *self._default._array.shape)
        contents = self._contents
        with contents.lock:
            for key, value in zip(np.asarray(keys).ravel().tolist(), rows, strict=True):
                require(
                    not once
                    or key not in contents.rows
                    or np.array_equal(contents.rows[key], value),
                    "table",
                    f"key {key!r} has two values{source}",
                    kind=FailedPreconditionError,
                )
                contents.rows[key] = value


class StaticHashTable(Table):
    """A table that is filled when it is made."""

    def __init__(
        self, initializer: TableInitializerBase, default_value: int | str, name: str | None = None,
        experimental_is_anonymous: bool = False,
    ) -> None:  # fmt: skip
        if not hasattr(initializer, "key_dtype") or not hasattr(initializer, "initialize"):
            raise unexpected(
                "StaticHashTable", "an initializer such as those of tf.lookup", initializer
            )
        super().__init__(initializer.key_dtype, initializer.value_dtype, default_value)
        initializer.initialize(self)

    def _fill(self, keys: np.ndarray, values: np.ndarray, source: str = "") -> None:
        self._put(keys, values, True, source)
        self._contents.filled = True

    def _find(self, keys: Tensor) -> list[Tensor]:
        if (
            not self._contents.filled
        ):  # Keras makes tables of layers before their vocabulary is known
            raise invalid(
                "lookup",
                "the table was never filled",
                help="Give the layer a vocabulary, or call its adapt() first.",
                kind=FailedPreconditionError,
            )
        return super()._find(keys)


class StaticVocabularyTable(_Lookup):
    """A table of words and their numbers, with buckets by hash for words that it does not have."""

    def __init__(
        self, initializer: KeyValueTensorInitializer, num_oov_buckets: int, lookup_key_dtype: Any = None,
        name: str | None = None, experimental_is_anonymous: bool = False,
    ) -> None:  # fmt: skip
        num_oov_buckets = static_int("StaticVocabularyTable", num_oov_buckets, "num_oov_buckets")
        require(
            num_oov_buckets > 0,
            "StaticVocabularyTable",
            f"`num_oov_buckets` must be greater than 0; got {num_oov_buckets}",
            help="Use a StaticHashTable.",
            kind=ValueError,
        )
        self._table = None if initializer is None else StaticHashTable(initializer, -1)
        require(
            self._table is None or self._table.value_dtype is dtypes.int64,
            "StaticVocabularyTable",
            "the values must be int64",
            kind=TypeError,
        )
        self._buckets = int(num_oov_buckets)
        kind = lookup_key_dtype or (self._table.key_dtype if self._table else dtypes.string)
        super().__init__(kind, dtypes.int64)

    def size(self, name: str | None = None) -> Tensor | int:
        """How many numbers there are: those of the words and of the buckets."""
        return (0 if self._table is None else self._table.size()) + self._buckets

    def _lookup(self, keys: Any) -> Tensor:
        x = operand(keys, None, self._key_dtype)
        words = x if x.dtype is dtypes.string else as_string(x)
        bucket = to_hash_bucket_fast(words, self._buckets)
        if self._table is None:
            return bucket
        given = x if x.dtype is self._table.key_dtype else cast(x, self._table.key_dtype)
        value = self._table.lookup(given)
        return where(value < 0, bucket + self._table.size(), value)


class MutableHashTable(Table):
    """A table that grows and shrinks."""

    def __init__(
        self, key_dtype: DType, value_dtype: DType, default_value: int | list[float],
        name: str = "MutableHashTable", checkpoint: bool = True,
        experimental_is_anonymous: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(key_dtype, value_dtype, default_value)

    def insert(
        self, keys: Tensor | list[int], values: Tensor | list[list[float]], name: str | None = None
    ) -> None:
        """Adds keys with their values, or gives keys other values."""
        x, y = self._checked(keys), operand(values, self._value_dtype)

        def put(keys: Tensor, values: Tensor) -> list[Any]:
            self._put(keys.numpy(), values.numpy(), False)
            return []

        self._run("insert", put, [x, y], [])

    def remove(self, keys: Tensor, name: str | None = None) -> None:
        """Takes keys out; keys that are not there are passed over."""

        def take(keys: Tensor) -> list[Any]:
            with self._contents.lock:
                for key in keys.numpy().ravel().tolist():
                    self._contents.rows.pop(key, None)
            return []

        self._run("remove", take, [self._checked(keys)], [])

    erase = remove

    def _serialize_to_tensors(self) -> dict[str, Tensor]:
        keys, values = self.export()
        return {"table-keys": keys, "table-values": values}

    def _restore_from_tensors(self, restored_tensors: dict[str, Tensor]) -> None:
        with self._contents.lock:
            self._contents.rows.clear()
        self.insert(restored_tensors["table-keys"], restored_tensors["table-values"])


class DenseHashTable(MutableHashTable):
    """A table as `MutableHashTable`; the keys that TensorFlow needs for itself are not used."""

    def __init__(
        self, key_dtype: Any, value_dtype: Any, default_value: Any, empty_key: Any,
        deleted_key: Any, initial_num_buckets: int | None = None,
        name: str = "MutableDenseHashTable", checkpoint: bool = True,
        experimental_is_anonymous: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(key_dtype, value_dtype, default_value)

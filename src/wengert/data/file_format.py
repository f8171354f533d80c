"""Elements in a file, for `save`, `load`, `snapshot` and caches on disk.

A file is a zip archive, written as the elements come: each member holds some of them, one array
after the other, and `dataset.json`, the last, says what they are. It takes its place when it is
complete, so a program that stops early leaves nothing behind, and zip's checksums find damage.
"""

from __future__ import annotations

import errno
import json
import os
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from typing import Any

import numpy as np

from wengert.checkpoint.array_encoding import decode, encode
from wengert.checkpoint.atomic import replacing
from wengert.composite.composite_forms import Form
from wengert.composite.ragged_spec import RaggedTensorSpec
from wengert.composite.sparse_tensor import SparseTensorSpec
from wengert.core import nest
from wengert.core.apply import wrap
from wengert.core.errors import DataLossError, UnimplementedError, at_site, require
from wengert.core.tensor_spec import TensorSpec, TypeSpec
from wengert.data.plan import Plan, Run
from wengert.data.structure import NoneTensorSpec, example
from wengert.functions.structure_json import Strange, pack, unpack
from wengert.functions.trace import Slot
from wengert.io.paths import MissingFileError, failed, refused, reporting

_FORMAT, _VERSION = "wengert dataset", 1
_INDEX = "dataset.json"
_MOST, _LARGEST = 4096, 1 << 24  # elements and bytes of one member
# What `zipfile` raises for a damaged archive, some of it by way of the module that expands members.
_BROKEN = (
    zipfile.BadZipFile, KeyError, EOFError, ValueError, NotImplementedError, RuntimeError,
    OverflowError, OSError, struct.error, zlib.error,
)  # fmt: skip
_KINDS = {"tensor": TensorSpec, "ragged": RaggedTensorSpec, "sparse": SparseTensorSpec}


class Writer:
    """Writes elements to a file one by one."""

    def __init__(self, name: str, path: str, spec: Any, compress: bool = False) -> None:
        self._name, self._path = name, path
        self._spec = _spec_out(name, spec)
        self._form = Form(name, spec)
        self._waiting: list[list[np.ndarray]] = []
        self._bytes = 0
        self._members: list[Any] = []
        self._stack = ExitStack()
        with reporting(name, path):
            temporary = self._stack.enter_context(replacing(path))
            kind = zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED
            self._zip = self._stack.enter_context(zipfile.ZipFile(temporary, "w", kind))

    def add(self, element: Any) -> None:
        """Takes the next element."""
        arrays = [x._array for x in self._form.apart(element)]
        if self._waiting and any(
            a.shape != b.shape for a, b in zip(arrays, self._waiting[0], strict=True)
        ):
            self._flush()
        self._waiting.append(arrays)
        self._bytes += sum(a.nbytes for a in arrays)
        if len(self._waiting) >= _MOST or self._bytes >= _LARGEST:
            self._flush()

    def _flush(self) -> None:
        if not self._waiting:
            return
        columns = [np.stack(column) for column in zip(*self._waiting, strict=True)]
        kept = [encode(column).tobytes() for column in columns]
        shapes = [list(column.shape[1:]) for column in columns]
        member = {"count": len(self._waiting), "shapes": shapes, "bytes": [len(k) for k in kept]}
        with reporting(self._name, self._path):
            self._zip.writestr(str(len(self._members)), b"".join(kept))
        self._members.append(member)
        self._waiting, self._bytes = [], 0

    def close(self) -> None:
        """Puts the complete file in its place."""
        try:
            self._flush()
            index = {
                "format": _FORMAT,
                "version": _VERSION,
                "spec": self._spec,
                "members": self._members,
            }
            with reporting(self._name, self._path):
                self._zip.writestr(_INDEX, json.dumps(index))
                self._stack.close()
        except BaseException:
            self.give_up()
            raise

    def give_up(self) -> None:
        """Removes what was written so far."""
        with suppress(OSError):  # a full disk has no room for the archive's end either
            self._stack.__exit__(GeneratorExit, GeneratorExit(), None)


def write(
    name: str,
    path: str,
    spec: dict[str, tuple[TensorSpec, ...] | TypeSpec] | TensorSpec,
    elements: Iterator[Any],
    compress: bool,
) -> None:
    """Writes all elements to a file."""
    writer = Writer(name, path, spec, compress)
    try:
        for element in elements:
            writer.add(element)
    except BaseException:
        writer.give_up()
        raise
    writer.close()


class Stored(Plan):
    """The elements of a file."""

    kind = "_LoadDataset"

    def __init__(self, name: str, path: str) -> None:
        super().__init__()
        self._name, self._path = name, path
        index = _index(name, path)
        try:
            self.__dict__["spec"] = _spec_in(index["spec"])
            self._members = [_member(m) for m in index["members"]]
            self._form = Form(name, self.spec)
        except (KeyError, TypeError, ValueError) as error:
            raise _damaged(name, path, str(error)) from error

    def start(self, run: Run) -> Iterator[Any]:
        with _opened(self._name, self._path) as file:
            for number, (count, shapes, sizes) in enumerate(self._members):
                data = self._read(file, number)
                yield from self._elements(data, count, shapes, sizes)

    def _read(self, file: zipfile.ZipFile, number: int) -> bytes:
        try:
            return _content(file, self._path, str(number))
        except _BROKEN as error:
            raise _broken(self._name, self._path, error) from error

    def _elements(
        self, data: bytes, count: int, shapes: list[tuple[int, ...]], sizes: list[int]
    ) -> Iterator[Any]:
        columns, place = [], 0
        try:
            for spec, shape, size in zip(self._form.parts, shapes, sizes, strict=True):
                plain = np.dtype(np.uint8) if spec.dtype.np.kind == "O" else spec.dtype.np
                kept = np.frombuffer(data, plain, size // plain.itemsize, place)
                columns.append(decode(kept, spec.dtype, (count, *shape)).reshape(count, *shape))
                place += size
        except ValueError as error:
            raise _damaged(self._name, self._path, str(error)) from error
        for i in range(count):
            yield self._form.together([wrap(column[i, ...]) for column in columns])

    def sample(self) -> Any:
        return next(self.start(Run(self.options)), None) or example(self.spec)

    def cardinality(self) -> int:
        return sum(count for count, _, _ in self._members)


def _member(data: Any) -> tuple[int, list[tuple[int, ...]], list[int]]:
    return (
        int(data["count"]),
        [tuple(map(int, s)) for s in data["shapes"]],
        [*map(int, data["bytes"])],
    )


def _opened(name: str, path: str) -> zipfile.ZipFile:
    if not os.path.isfile(path):
        raise refused(name, "there is no such dataset", path, "Check the path.", MissingFileError)
    try:
        return zipfile.ZipFile(path)
    except _BROKEN as error:
        raise _broken(name, path, error) from error


def _content(file: zipfile.ZipFile, path: str, member: str) -> bytes:
    """The bytes of a member; `zipfile` would make room for as many as a damaged header says."""
    if file.getinfo(member).compress_size > os.path.getsize(path):
        raise zipfile.BadZipFile(f"{member} is larger than the file")
    return file.read(member)


def _index(name: str, path: str) -> Any:
    with _opened(name, path) as file:
        try:
            index = json.loads(_content(file, path, _INDEX))
            known = index["format"] == _FORMAT
        except (*_BROKEN, TypeError, RecursionError) as error:
            raise _damaged(name, path, "it has no table of contents") from error
    if not known or index["version"] != _VERSION:
        rule = f"version {index.get('version')} of the format is not known here"
        raise refused(name, rule, path, "Update Wengert.", UnimplementedError)
    return index


def _broken(name: str, path: str, error: Exception) -> Exception:
    """The error for an exception of `zipfile`; EINVAL means an offset outside the file."""
    if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):
        return failed(name, path, error)
    return _damaged(name, path, str(error))


def _damaged(name: str, path: str, reason: str) -> Exception:
    rule = f"this file is damaged, or no dataset of Wengert's: {reason}"
    return refused(name, rule, path, "Save the dataset again.", DataLossError)


def _spec_out(name: str, spec: dict[str, tuple[TensorSpec, ...] | TypeSpec] | TensorSpec) -> Any:
    """A spec as plain lists, fit for JSON."""
    leaves = nest.flatten(spec)
    kinds = []
    for one in leaves:
        result = next((k for k, c in _KINDS.items() if type(one) is c), None)
        if isinstance(one, NoneTensorSpec):
            kinds.append(["none"])
            continue
        require(
            result is not None,
            name,
            f"only tensors, ragged and sparse ones are kept in files; got {one!r}",
            help="Turn it into tensors with map first.",
            kind=TypeError,
        )
        shape = one.shape.as_list() if one.shape.rank is not None else None
        more = [one.ragged_rank, one.row_splits_dtype.name] if result == "ragged" else []
        kinds.append([result, shape, one.dtype.name, *more])
    try:
        return [pack(nest.pack_sequence_as(spec, [Slot(i) for i in range(len(leaves))])), kinds]
    except Strange as error:
        raise at_site(TypeError(f"{name}: {error}. Use tuples and dicts.")) from None


def _spec_in(data: Any) -> dict[str, tuple[TensorSpec, ...] | TypeSpec] | TensorSpec:
    form, kinds = data
    leaf: Callable[[int], Any] = lambda i: _leaf(*kinds[i])
    return unpack(form, leaf)


def _leaf(kind: str, *facts: Any) -> TypeSpec:
    return NoneTensorSpec() if kind == "none" else _KINDS[kind](*facts)

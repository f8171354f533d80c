"""One checkpoint, one safetensors file: tensors by key, and a table of the objects they belong to.

The table is JSON in the file's metadata: nodes with children and values, and for each tensor its
type, shape and checksum. The table has a checksum too, so a file that was cut, changed or damaged
is refused, with its name. Nothing in a file is ever run.
"""

from __future__ import annotations

import json
import os
import re
import zlib
from typing import Any, NamedTuple

import numpy as np

from wengert.checkpoint.array_encoding import PLAIN, checksum, decode, encode, stored
from wengert.checkpoint.atomic import replacing
from wengert.checkpoint.object_graph import Node, Walk
from wengert.core import dtypes
from wengert.core.dtypes import DType
from wengert.core.errors import DataLossError, UnimplementedError
from wengert.io.paths import MissingFileError, refused, reporting

SUFFIX = ".safetensors"
_FORMAT = "wengert.checkpoint"
_VERSION = 1


class Entry(NamedTuple):
    """The header of a tensor in a file; only Wengert's files have a checksum."""

    dtype: DType
    shape: tuple[int, ...]
    checksum: int | None


def file_of(path: str) -> str:
    """The file of a checkpoint that is known by its name without the ending."""
    return path if path.endswith(SUFFIX) else path + SUFFIX


def write(name: str, path: str, walk: Walk) -> None:
    """Writes the values of a walk to a file, which is replaced in one step."""
    arrays: dict[str, np.ndarray] = {}
    entries: dict[str, Any] = {}
    for key, value in walk.values.items():
        array = np.asarray(value.numpy() if hasattr(value, "numpy") else value)
        dtype = dtypes.as_dtype(array.dtype)
        if dtype is dtypes.string and array.dtype.kind != "O":
            array = array.astype("S").astype(object)
        arrays[key] = encode(array)
        entries[key] = [dtype.name, list(array.shape), checksum(arrays[key])]
    nodes = [{"children": n.children, "values": n.values} for n in walk.nodes]
    table = json.dumps({"nodes": nodes, "tensors": entries}, separators=(",", ":"))
    metadata = {
        "format": _FORMAT,
        "version": str(_VERSION),
        "table": table,
        "checksum": str(zlib.crc32(table.encode())),
    }
    with reporting(name, path), replacing(path) as temporary:
        _save(arrays, temporary, metadata)


def _save(arrays: dict[str, np.ndarray], path: str, metadata: dict[str, str]) -> None:
    from safetensors import SafetensorError
    from safetensors.numpy import save_file

    try:
        save_file(arrays, path, metadata=metadata)
    except SafetensorError as error:
        # The library reports the operating system's errors as text only.
        match = re.search(r"os error (\d+)", str(error))
        code = int(match[1]) if match else 0
        raise OSError(code, os.strerror(code) if code else str(error)) from error


class Reader:
    """An open checkpoint file: its nodes, its entries, and their values on demand.

    A file of another program has no nodes, but its tensors can be read.
    """

    def __init__(self, name: str, path: str) -> None:
        self._name = name
        self.path = _existing(name, path)
        self.file: Any = self._open()
        self.nodes: list[Node] | None = None
        metadata = self.file.metadata() or {}
        kept = {k: self.file.get_slice(k) for k in self.file.keys()}  # noqa: SIM118  # no mapping
        raw = {k: (s.get_dtype(), tuple(s.get_shape())) for k, s in kept.items()}
        if metadata.get("format") == _FORMAT or {"table", "checksum"} <= metadata.keys():
            self.nodes, self.entries = self._table(metadata, raw)
        else:
            self.entries = {k: Entry(PLAIN[d], s, None) for k, (d, s) in raw.items() if d in PLAIN}

    def _open(self) -> Any:
        from safetensors import SafetensorError, safe_open

        with reporting(self._name, self.path):
            try:
                return safe_open(self.path, framework="numpy")
            except SafetensorError as error:
                raise self.damaged(_plainly(error)) from error

    def damaged(self, reason: str) -> Exception:
        """The error for a file that cannot be trusted."""
        rule = f"this file is damaged, or no checkpoint: {reason}"
        advice = "Restore another checkpoint. Nothing was changed."
        return refused(self._name, rule, self.path, advice, DataLossError)

    def _table(
        self, metadata: dict[str, str], raw: dict[str, Any]
    ) -> tuple[list[Node], dict[str, Entry]]:
        if metadata.get("format") != _FORMAT:
            raise self.damaged("the name of its format is not that of a checkpoint")
        if metadata.get("version") != str(_VERSION):
            rule = f"version {metadata.get('version')} of the format is not known here"
            raise refused(self._name, rule, self.path, "Update Wengert.", UnimplementedError)
        table = metadata.get("table", "")
        if metadata.get("checksum") != str(zlib.crc32(table.encode())):
            raise self.damaged("its table does not have the checksum that was written")
        try:
            nodes, entries = _parse(json.loads(table))
        except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
            raise self.damaged("its table cannot be read") from error
        for key, entry in entries.items():
            dtype, shape = stored(entry.dtype, entry.shape)
            cached = raw.get(key)
            if (
                cached is None
                or PLAIN.get(cached[0]) is not dtype
                or shape not in (None, cached[1])
            ):
                raise self.damaged(f"the tensor {key} is not as its table says")
        return nodes, entries

    def read(self, key: str) -> np.ndarray:
        """The value under a key, after a look at its checksum."""
        entry = self.entries[key]
        kept = self.file.get_tensor(key)
        if entry.checksum is None:
            return kept
        if checksum(kept) != entry.checksum:
            raise self.damaged(f"the tensor {key} does not have the checksum that was written")
        try:
            return decode(kept, entry.dtype, entry.shape)
        except ValueError as error:
            raise self.damaged(f"in the tensor {key} {error}") from error

    def close(self) -> None:
        """Lets the file go."""
        self.file = None


def _parse(table: Any) -> tuple[list[Node], dict[str, Entry]]:
    entries = {
        key: Entry(dtypes.as_dtype(str(d)), tuple(map(int, s)), int(c))
        for key, (d, s, c) in table["tensors"].items()
    }
    if any(d < 0 for entry in entries.values() for d in entry.shape):
        raise ValueError("a size is negative")
    nodes = [Node(n["children"], n["values"]) for n in table["nodes"]]
    for node in nodes:
        if not all(type(i) is int and 0 <= i < len(nodes) for i in node.children.values()):
            raise ValueError("a child is not there")
        if not all(key in entries for key in node.values.values()):
            raise ValueError("a value is not there")
    if not nodes:
        raise ValueError("there is no root")
    return nodes, entries


def _plainly(error: Exception) -> str:
    return str(error).removeprefix("Error while deserializing header: ")


def _existing(name: str, path: str) -> str:
    """The file of a checkpoint, or an error that says what is there instead."""
    for file in (file_of(path), path):
        if os.path.isfile(file):
            return file
    if os.path.isdir(path):
        advice = "Give tf.train.latest_checkpoint(folder)."
        raise refused(name, "this is a folder, not a checkpoint", path, advice, MissingFileError)
    if os.path.exists(f"{path}.index"):
        rule = "this checkpoint was written by TensorFlow; Wengert reads safetensors files"
        advice = "Write its values with TensorFlow to a safetensors file."
        raise refused(name, rule, path, advice, UnimplementedError)
    advice = "Check the path; a saved checkpoint ends in a number, as in ckpt-1."
    raise refused(name, "there is no such checkpoint", path, advice, MissingFileError)

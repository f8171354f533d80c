"""The folder of a saved model: a manifest, variables and constants, and a program per function.

The manifest names every other file with its checksum, and has one itself. Files get names of
their own each time, and the manifest is replaced in one step, last: whoever looks finds the old
model or the new. What was cut, changed or written by another program is refused, with its name.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import numpy as np

from wengert.checkpoint.atomic import replacing, write_text
from wengert.checkpoint.format import Reader, write
from wengert.checkpoint.object_graph import Node, Walk
from wengert.core.errors import DataLossError, UnimplementedError
from wengert.io.paths import MissingFileError, refused, reporting

MANIFEST = "saved_model.json"
PROGRAMS = "functions"
_FORMAT = "wengert.saved_model"
_VERSION = 1
_OURS = re.compile(r"variables-[0-9a-f]{16}\.safetensors|[\w.-]*-[0-9a-f]{16}\.stablehlo")


class Writer:
    """Writes the files of one saved model; nothing counts before `finish`."""

    def __init__(self, name: str, folder: str) -> None:
        self._name = name
        self._folder = folder
        self._files: dict[str, list[Any]] = {}

    def program(self, name: str, blob: bytes) -> str:
        """Writes a program and returns the name of its file."""
        plain = re.sub(r"\W+", "_", name)[:60]
        file = f"{PROGRAMS}/{plain}-{_digest(blob)[:16]}.stablehlo"
        path = os.path.join(self._folder, file)
        with reporting(self._name, path), replacing(path) as temporary:
            with open(temporary, "wb") as opened:
                opened.write(blob)
        self._files[file] = [len(blob), _digest(blob)]
        return file

    def arrays(self, arrays: dict[str, np.ndarray]) -> str:
        """Writes variables and constants and returns the name of their file."""
        file = f"variables-{os.urandom(8).hex()}.safetensors"
        walk = Walk([Node({}, {k: k for k in arrays})], [None], dict(arrays))
        write(self._name, os.path.join(self._folder, file), walk)
        return file

    def finish(self, content: dict[str, Any]) -> None:
        """Makes the files the saved model of the folder, and drops those of the one before."""
        body = json.dumps(content | {"files": self._files}, separators=(",", ":"))
        head = {"format": _FORMAT, "version": _VERSION, "sha256": _digest(body.encode())}
        text = json.dumps(head | {"content": body}, indent=1) + "\n"
        path = os.path.join(self._folder, MANIFEST)
        with reporting(self._name, path):
            write_text(path, text)
        kept = {*self._files, content["arrays"]}
        for file in _files(self._folder):
            if file not in kept:
                with suppress(OSError):
                    os.unlink(os.path.join(self._folder, file))


def _files(folder: str) -> Iterator[str]:
    """The files in a folder that a saved model may have left there."""
    for part in ("", PROGRAMS):
        with suppress(OSError):
            for file in os.listdir(os.path.join(folder, part)):
                if _OURS.fullmatch(file):
                    yield f"{part}/{file}" if part else file


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


class Opened:
    """A saved model whose files were checked: its manifest, programs and arrays."""

    def __init__(self, name: str, folder: str) -> None:
        self._name = name
        self.folder = folder
        self.path = os.path.join(folder, MANIFEST)
        self.content = self._manifest()
        self._reader: Reader | None = None

    def damaged(self, path: str, reason: str) -> Exception:
        """The error for a file that cannot be trusted."""
        rule = f"this file is damaged, or no part of a saved model: {reason}"
        return refused(self._name, rule, path, "Save the model again.", DataLossError)

    def _manifest(self) -> dict[str, Any]:
        if not os.path.isfile(self.path):
            raise _missing(self._name, self.folder)
        with reporting(self._name, self.path), open(self.path, "rb") as file:
            data = file.read()
        try:
            result = json.loads(data)
            kind, version, body = result["format"], result["version"], result["content"]
        except (ValueError, KeyError, TypeError, RecursionError):
            raise self.damaged(self.path, "it cannot be read") from None
        if kind != _FORMAT:
            raise self.damaged(self.path, f"its format is {kind!r}")
        if version != _VERSION:
            rule = f"version {version} of the format is not known here"
            raise refused(self._name, rule, self.path, "Update Wengert.", UnimplementedError)
        if not isinstance(body, str) or result.get("sha256") != _digest(body.encode()):
            raise self.damaged(self.path, "it does not have the checksum that was written")
        return json.loads(body)

    def program(self, file: str) -> bytes:
        """The bytes of a program, after a look at their checksum."""
        path = os.path.join(self.folder, *file.split("/"))
        size, digest = self.content["files"][file]
        if not os.path.isfile(path):
            raise refused(self._name, "this file is missing", path, "", MissingFileError)
        with reporting(self._name, path), open(path, "rb") as opened:
            blob = opened.read(size + 1)
        if len(blob) != size or _digest(blob) != digest:
            raise self.damaged(path, "it does not have the checksum that was written")
        return blob

    def array(self, key: str, entry: list[Any]) -> np.ndarray:
        """A variable or constant that the manifest describes as (dtype, shape, checksum)."""
        if self._reader is None:
            path = os.path.join(self.folder, self.content["arrays"])
            if not os.path.isfile(path):
                raise refused(self._name, "this file is missing", path, "", MissingFileError)
            self._reader = Reader(self._name, path)
        cached = self._reader.entries.get(key)
        if cached is None or [cached.dtype.name, list(cached.shape), cached.checksum] != entry:
            raise self.damaged(self._reader.path, f"{key} is not what the manifest describes")
        return self._reader.read(key)


def entries(name: str, folder: str, file: str) -> dict[str, list[Any]]:
    """The contents of a file of arrays: (dtype, shape, checksum) by key."""
    reader = Reader(name, os.path.join(folder, file))
    return {k: [e.dtype.name, list(e.shape), e.checksum] for k, e in reader.entries.items()}


def _missing(name: str, folder: str) -> Exception:
    if any(os.path.exists(os.path.join(folder, f"saved_model.{e}")) for e in ("pb", "pbtxt")):
        rule = "this model was written by TensorFlow, whose programs Wengert cannot read"
        advice = "Save it with Wengert, from the Python that made it."
        return refused(name, rule, folder, advice, UnimplementedError)
    return refused(name, "there is no saved model", folder, "Check the path.", MissingFileError)


def contains_saved_model(export_dir: Any) -> bool:
    """Whether a folder holds a model that `tf.saved_model.save` wrote."""
    return os.path.isfile(os.path.join(os.fsdecode(export_dir), MANIFEST))

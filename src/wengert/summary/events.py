"""TensorBoard's event files, written with TensorBoard's own records and messages.

TensorBoard's `EventFileWriter` opens its file through `import tensorflow`, whichever that is, so
the file is opened here and TensorBoard's `RecordWriter` writes to it.
"""

from __future__ import annotations

import itertools
import os
import socket
import time
import weakref
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from wengert.core.errors import at_site
from wengert.core.locks import new_lock
from wengert.core.resources import Resource
from wengert.io.paths import reporting

if TYPE_CHECKING:
    from types import ModuleType


_numbers = itertools.count()
_PLUGINS: dict[str, dict[str, int]] = {
    "scalar": {},
    "histogram": {},
    "image": {},
    "text": {},
    "audio": {"encoding": 11},  # WAV, in TensorBoard's own list
}


def load(module: str) -> ModuleType:
    """A module of TensorBoard, or an error that says how to get it."""
    try:
        return import_module(f"tensorboard.{module}")
    except ImportError as error:
        raise at_site(
            ImportError(
                "create_file_writer: event files are written by TensorBoard's own package, which "
                "is not installed. Run: pip install tensorboard"
            )
        ) from error


class EventFile(Resource):
    """One event file in a folder, to which values are added."""

    _what = "a summary writer"
    _remedy = "Make one in each process, with tf.summary.create_file_writer."

    def __init__(self, logdir: str, max_queue: int, flush_seconds: float, suffix: str) -> None:
        records = load("summary.writer.record_writer")
        self._event = load("compat.proto.event_pb2")
        self._summary = load("compat.proto.summary_pb2")
        self._tensors = load("util.tensor_util")
        stamp = f"{time.time():010.0f}.{socket.gethostname()}.{os.getpid()}.{next(_numbers)}"
        path = os.path.join(logdir, f"events.out.tfevents.{stamp}{suffix}")
        with reporting("create_file_writer", path):
            os.makedirs(logdir, exist_ok=True)
            file = open(path, "xb")  # noqa: SIM115  # closed by `close`, or with the object
        self.path = path
        self._records = records.RecordWriter(file)
        self._close = weakref.finalize(self, file.close)
        self._lock = new_lock()
        self._max_queue = max_queue
        self._flush_seconds = flush_seconds
        self._waiting = 0
        self._flushed = time.time()
        source = self._event.SourceMetadata(writer="wengert.summary.events")
        self._write(self._event.Event(file_version="brain.Event:2", source_metadata=source))
        self.flush()

    def metadata(self, kind: Any, description: str | None = None) -> bytes:
        """The message that tells TensorBoard how to show a value, as bytes.

        `kind` is one of the names above, such a message of any library, its bytes, or `None`.
        """
        if kind is None:
            return b""
        if isinstance(kind, str):
            plugin = load(f"plugins.{kind}.metadata")
            kind = plugin.create_summary_metadata(None, description, **_PLUGINS[kind])
        return kind if isinstance(kind, bytes) else kind.SerializeToString()

    def add(self, tag: str, value: np.ndarray, step: int, metadata: bytes) -> None:
        """Adds one tagged value."""
        tensor = self._tensors.make_tensor_proto(value)
        shown = self._summary.SummaryMetadata.FromString(metadata)
        summary = self._summary.Summary()
        summary.value.add(tag=tag, tensor=tensor, metadata=shown)
        self._write(self._event.Event(summary=summary, step=step))

    def add_raw(self, summary: bytes, step: int) -> None:
        """Adds the bytes of a whole `Summary` message."""
        message = self._summary.Summary.FromString(summary)
        self._write(self._event.Event(summary=message, step=step))

    def add_graph(self, graph: bytes) -> None:
        """Adds the bytes of a `GraphDef` message."""
        self._write(self._event.Event(graph_def=graph))

    def _write(self, event: Any) -> None:
        event.wall_time = time.time()
        with self._lock, reporting("summary", self.path):
            self._records.write(event.SerializeToString())
            self._waiting += 1
            late = time.time() - self._flushed > self._flush_seconds
            if self._waiting > self._max_queue or late:
                self._to_disk()

    def flush(self) -> None:
        """Hands all that was added to the operating system."""
        with self._lock, reporting("summary", self.path):
            self._to_disk()

    def _to_disk(self) -> None:
        self._records.flush()
        self._waiting, self._flushed = 0, time.time()

    def close(self) -> None:
        """Writes what is left and closes the file."""
        with self._lock, reporting("summary", self.path):
            self._close()

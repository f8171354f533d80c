"""The file named `checkpoint` in a folder: which checkpoints are there, and which is the latest.

It is a text of `name: value` lines, the same that TensorFlow writes.
"""

from __future__ import annotations

import logging
import os
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from wengert.checkpoint.atomic import write_text
from wengert.checkpoint.format import file_of
from wengert.io.paths import local, reporting

_LINE = re.compile(r'\s*(\w+):\s*(?:"((?:[^"\\]|\\.)*)"|([-+.\w]+))\s*')
_ESCAPES = {"n": b"\n", "t": b"\t", "r": b"\r"}


@dataclass
class CheckpointState:
    """The contents of the file: the latest checkpoint, all of them oldest first, their times."""

    model_checkpoint_path: str = ""
    all_model_checkpoint_paths: list[str] = field(default_factory=list)
    all_model_checkpoint_timestamps: list[float] = field(default_factory=list)
    last_preserved_timestamp: float = 0.0


def update(
    name: str,
    folder: str,
    latest: str,
    paths: list[str] | None = None,
    times: list[float] | None = None,
    preserved: float | None = None,
) -> None:
    """Replaces the file in one step."""
    lines = [("model_checkpoint_path", _quoted(latest, folder))]
    lines += [("all_model_checkpoint_paths", _quoted(p, folder)) for p in paths or [latest]]
    lines += [("all_model_checkpoint_timestamps", repr(t)) for t in times or []]
    if preserved is not None:
        lines.append(("last_preserved_timestamp", repr(preserved)))
    path = os.path.join(folder, "checkpoint")
    with reporting(name, path):
        write_text(path, "".join(f"{key}: {value}\n" for key, value in lines))


def _quoted(path: str, folder: str) -> str:
    text = os.path.relpath(path, folder or ".")
    for plain, escaped in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\r", "\\r")):
        text = text.replace(plain, escaped)
    return f'"{text}"'


def _unquoted(text: str) -> str:
    def one(match: re.Match[bytes]) -> bytes:
        code = match[1].decode()
        return bytes([int(code, 8) & 255]) if code.isdigit() else _ESCAPES.get(code, match[1])

    return os.fsdecode(re.sub(rb"\\([0-7]{1,3}|.)", one, os.fsencode(text)))


def get_checkpoint_state(
    checkpoint_dir: Any, latest_filename: str | None = None
) -> CheckpointState | None:
    """The recorded state of the checkpoints in a folder, or `None`."""
    folder = local("get_checkpoint_state", checkpoint_dir)
    path = os.path.join(folder, latest_filename or "checkpoint")
    if not os.path.isfile(path):
        return None
    with reporting("get_checkpoint_state", path), open(path, "rb") as file:
        result = _parse(os.fsdecode(file.read()), folder)
    if result is None:
        logging.getLogger("wengert").warning(
            "latest_checkpoint: %s is damaged, so it is ignored. Restore a checkpoint by its path.",
            path,
        )
    return result


def _parse(text: str, folder: str) -> CheckpointState | None:
    state = CheckpointState()
    for line in text.splitlines():
        match = _LINE.fullmatch(line)
        if match is None and line.strip():
            return None
        if match is not None and not _note(state, match[1], match[2], match[3], folder):
            return None
    return state if state.model_checkpoint_path else None


def _note(
    state: CheckpointState, key: str, text: str | None, number: str | None, folder: str
) -> bool:
    """Puts a line into the state; says whether it makes sense."""
    try:
        if key == "model_checkpoint_path" and text is not None:
            state.model_checkpoint_path = os.path.join(folder, _unquoted(text))
        elif key == "all_model_checkpoint_paths" and text is not None:
            state.all_model_checkpoint_paths.append(os.path.join(folder, _unquoted(text)))
        elif key == "all_model_checkpoint_timestamps" and number is not None:
            state.all_model_checkpoint_timestamps.append(float(number))
        elif key == "last_preserved_timestamp" and number is not None:
            state.last_preserved_timestamp = float(number)
        else:
            return False
    except ValueError:
        return False
    return True


def latest_checkpoint(checkpoint_dir: Any, latest_filename: str | None = None) -> str | None:
    """The path of the newest checkpoint in a folder, or `None` if there is none.

    Args:
        checkpoint_dir: the folder.
        latest_filename: the name of the record, if it is not "checkpoint".

    Returns:
        A path, or `None`.

    Raises:
        TypeError: `checkpoint_dir` is no path.

    >>> path = tf.train.Checkpoint(v=tf.Variable(1.0)).save("newest/ckpt")
    >>> tf.train.latest_checkpoint("newest") == path
    True
    """
    state = get_checkpoint_state(checkpoint_dir, latest_filename)
    if state is None:
        return None
    if not os.path.isfile(file_of(state.model_checkpoint_path)):
        logging.getLogger("wengert").warning(
            "latest_checkpoint: %s is recorded as the latest, but not there.",
            file_of(state.model_checkpoint_path),
        )
        return None
    return state.model_checkpoint_path


def checkpoints_iterator(
    checkpoint_dir: Any,
    min_interval_secs: float = 0,
    timeout: float | None = None,
    timeout_fn: Callable[[], Any] | None = None,
) -> Iterator[str]:
    """Each new checkpoint of a folder as it appears.

    It ends when none came for `timeout` seconds, unless `timeout_fn` then returns false.
    """
    last: str | None = None
    waited_from = time.time()
    while True:
        path = latest_checkpoint(checkpoint_dir)
        if path is not None and path != last:
            last, began = path, time.time()
            yield path
            time.sleep(max(0.0, began + min_interval_secs - time.time()))
            waited_from = time.time()
        elif timeout is not None and time.time() - waited_from >= timeout:
            if timeout_fn is None or timeout_fn():
                return
            waited_from = time.time()
        else:
            time.sleep(min(1.0, timeout / 10 if timeout else 1.0))

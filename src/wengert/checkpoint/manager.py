"""`tf.train.CheckpointManager`: keeps the newest checkpoints of a folder and removes the others."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.checkpoint import state_file
from wengert.checkpoint.checkpoint import Checkpoint, CheckpointOptions, counting
from wengert.checkpoint.format import file_of
from wengert.core.errors import at_site, describe
from wengert.io.paths import local


class CheckpointManager:
    """Saves numbered checkpoints to a folder and keeps `max_to_keep` of them (`None`: all).

    With `keep_checkpoint_every_n_hours`, of those to be removed one is kept for each such span of
    time. With `checkpoint_interval`, `save` does nothing unless `step_counter` moved on that far.

    Args:
        checkpoint: the `tf.train.Checkpoint`.
        directory: the folder.
        max_to_keep: how many files stay, or `None`.
        keep_checkpoint_every_n_hours: a span of time of which one file stays for good.
        checkpoint_name: the beginning of the files' names.
        step_counter: a variable that counts steps.
        checkpoint_interval: by how much it must grow until the next file.
        init_fn: what `restore_or_initialize` calls where there is no file.
        last_checkpoint_step: the step of the newest file.

    Raises:
        ValueError: `max_to_keep` is no positive number, or the interval has no counter.

    >>> manager = tf.train.CheckpointManager(tf.train.Checkpoint(v=tf.Variable(1.0)), "kept", 2)
    >>> [manager.save() for _ in range(3)][-1] == manager.latest_checkpoint
    True
    >>> len(manager.checkpoints)
    2
    """

    def __init__(
        self,
        checkpoint: Checkpoint,
        directory: Any,
        max_to_keep: int | None,
        keep_checkpoint_every_n_hours: float | None = None,
        checkpoint_name: str = "ckpt",
        step_counter: Any = None,
        checkpoint_interval: int | None = None,
        init_fn: Callable[[], Any] | None = None,
        last_checkpoint_step: int | None = None,
    ) -> None:
        number = max_to_keep is None or isinstance(max_to_keep, int | float | np.number)
        if not number or (max_to_keep is not None and max_to_keep <= 0):
            kind = ValueError if number else TypeError
            raise at_site(
                kind(
                    "CheckpointManager: `max_to_keep` must be a positive whole number or None; "
                    f"got {describe(max_to_keep)}."
                )
            )
        if checkpoint_interval is not None and step_counter is None:
            raise at_site(
                ValueError("CheckpointManager: `checkpoint_interval` needs `step_counter`.")
            )
        self._checkpoint = checkpoint
        self._directory = local("CheckpointManager", directory)
        self._max_to_keep = max_to_keep
        self._keep_hours = keep_checkpoint_every_n_hours
        self._prefix = os.path.join(self._directory, checkpoint_name)
        self._step_counter = step_counter
        self._interval = checkpoint_interval
        self._init_fn = init_fn
        self._last_step = last_checkpoint_step
        self._latest: str | None = None
        self._managed: dict[str, float] = {}
        # Files of ours that are in no record, or soon in none: a signal may end a save anywhere.
        self._unrecorded: list[str] = []
        # A little back, so that a manager made again at once does not lose the newest.
        self._preserved = time.time() - 1.0
        self._recover()

    def _recover(self) -> None:
        """Goes on from what an earlier manager recorded in the folder."""
        result = state_file.get_checkpoint_state(self._directory)
        if result is None:
            return
        now = time.time()
        self._latest = result.model_checkpoint_path
        self._preserved = min(result.last_preserved_timestamp, now)
        paths, times = result.all_model_checkpoint_paths, result.all_model_checkpoint_timestamps
        if len(times) == len(paths):
            given = {p: min(t, now) for p, t in zip(paths, times, strict=True)}
            # A process that was killed may have removed a file, but not its entry.
            there = {p: t for p, t in given.items() if os.path.isfile(file_of(p))}
            self._managed = {p: t for p, t in there.items() if t > self._preserved}

    def __repr__(self) -> str:
        newest = "" if self._latest is None else f", the newest {os.path.basename(self._latest)!r}"
        count = f"{len(self._managed)} of at most {self._max_to_keep}"
        kept = f"{len(self._managed)}" if self._max_to_keep is None else count
        return f"<CheckpointManager of {self._directory!r}: {kept} checkpoints{newest}>"

    @property
    def checkpoint(self) -> Checkpoint:
        """The checkpoint that is saved."""
        return self._checkpoint

    @property
    def directory(self) -> str:
        """The folder."""
        return self._directory

    @property
    def checkpoint_interval(self) -> int | None:
        """How many steps there are between two checkpoints."""
        return self._interval

    @property
    def latest_checkpoint(self) -> str | None:
        """The path of the newest checkpoint, or `None`."""
        return self._latest

    @property
    def checkpoints(self) -> list[str]:
        """The paths that are managed, oldest first."""
        return list(self._managed)

    def save(
        self,
        checkpoint_number: Any = None,
        check_interval: bool = True,
        options: CheckpointOptions | None = None,
    ) -> str | None:
        """Saves a checkpoint and removes what is too old; `None` if it is not yet time."""
        step = None if self._interval is None else int(self._step_counter)
        if step is not None and not self._due(step, check_interval):
            return None
        with counting(self._checkpoint.save_counter) as count:
            number = count if checkpoint_number is None else int(checkpoint_number)
            path = f"{self._prefix}-{number}"
            if path in self._managed or not os.path.exists(file_of(path)):
                self._unrecorded.append(path)
            path = self._checkpoint._write("CheckpointManager.save", path, options)
            managed = {p: t for p, t in self._managed.items() if p != path} | {path: time.time()}
            self._record(path, managed)
        self._latest, self._managed, self._last_step = path, managed, step
        self._sweep()
        return path

    def _due(self, step: int, check_interval: bool) -> bool:
        if self._last_step is None:
            return True
        if check_interval and step < self._last_step + (self._interval or 0):
            return False
        return step != self._last_step

    def _record(self, latest: str, managed: dict[str, float]) -> None:
        state_file.update(
            "CheckpointManager.save",
            self._directory,
            latest,
            list(managed),
            list(managed.values()),
            self._preserved,
        )

    def _sweep(self) -> None:
        """Removes what is too old, after the record says that the new one is there."""
        kept = self._max_to_keep or len(self._managed)
        excess = max(0, len(self._managed) - kept)
        for path, written in list(self._managed.items())[:excess]:
            if self._keep_hours and written - self._keep_hours * 3600.0 >= self._preserved:
                self._preserved = written
            else:
                self._unrecorded.append(path)
            del self._managed[path]
        for path in set(self._unrecorded) - set(self._managed):
            _remove(file_of(path))
        if excess:
            assert self._latest is not None, "a sweep follows a save"
            self._record(self._latest, self._managed)
        self._unrecorded.clear()

    def restore_or_initialize(self) -> str | None:
        """Restores the newest checkpoint and returns its path; without one, calls `init_fn`."""
        if self._latest is not None:
            self._checkpoint.restore(self._latest)
            if self._interval is not None:
                self._last_step = int(self._step_counter)
            return self._latest
        if self._init_fn is not None:
            self._init_fn()
        return None

    def sync(self) -> None:
        """Nothing to wait for: a checkpoint is written before `save` returns."""


def _remove(path: str) -> None:
    try:
        os.remove(path)
    except FileNotFoundError:
        pass
    except OSError as error:
        logging.getLogger("wengert").warning("CheckpointManager: %s stays: %s.", path, error)

"""`tf.train.Checkpoint`: the state of a program's objects, written and brought back."""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from weakref import ref

from wengert.checkpoint import format, state_file
from wengert.checkpoint.object_graph import walk
from wengert.checkpoint.restore import CheckpointLoadStatus, InitializationOnlyStatus, Restoration
from wengert.checkpoint.trackable import AutoTrackable, children, is_trackable, variable_of
from wengert.core.context import executing_eagerly
from wengert.core.dtypes import int64
from wengert.core.errors import UnimplementedError, require
from wengert.core.variable import Variable
from wengert.io.paths import local


class CheckpointOptions:
    """How a checkpoint is written.

    `experimental_write_callbacks` are called with the path when it is written, or with nothing if
    they take nothing. A checkpoint is always written before the call returns, to one file, so the
    other options change nothing; a sharding callback is refused.
    """

    def __init__(
        self,
        experimental_io_device: Any = None,
        experimental_enable_async_checkpoint: bool = False,
        experimental_write_callbacks: Any = None,
        enable_async: bool = False,
        experimental_skip_slot_variables: bool = False,
        experimental_sharding_callback: Any = None,
    ) -> None:
        require(
            experimental_sharding_callback is None,
            "CheckpointOptions",
            "a checkpoint is one file, without sharding",
            kind=UnimplementedError,
        )
        self.experimental_io_device = experimental_io_device
        self.enable_async = enable_async or experimental_enable_async_checkpoint
        self.experimental_enable_async_checkpoint = self.enable_async
        self.experimental_write_callbacks = experimental_write_callbacks
        self.experimental_skip_slot_variables = experimental_skip_slot_variables
        self.experimental_sharding_callback = None


class Checkpoint(AutoTrackable):
    """Groups objects whose state is saved together: `tf.train.Checkpoint(model=m, step=v)`.

    Args:
        root: an object whose attributes are saved under its own names.
        **kwargs: objects to save, by name.

    Raises:
        ValueError: an object has no state that can be saved.

    >>> checkpoint = tf.train.Checkpoint(w=tf.Variable([1.0, 2.0]))
    >>> path = checkpoint.save("run/ckpt")
    >>> checkpoint.w.assign([0.0, 0.0]).numpy()
    array([0., 0.], dtype=float32)
    >>> _ = checkpoint.restore(path).assert_consumed()
    >>> checkpoint.w.numpy()
    array([1., 2.], dtype=float32)
    """

    if TYPE_CHECKING:  # the objects by their names

        def __getattr__(self, name: str) -> Any: ...

    def __init__(self, root: Any = None, **kwargs: Any) -> None:
        # A weak reference lets a model keep a checkpoint of itself.
        self._self_root = root
        self._self_save_counter: Variable | None = None
        root = self._root()
        require(
            root is None or (is_trackable(root) and (not _needs_a_name(root))),
            "Checkpoint",
            "`root` must be a module or another object with children",
            root,
            help="Give other things a name, as in Checkpoint(v=...).",
            kind=ValueError,
        )
        taken = {} if root is None else children(root)
        for name, value in kwargs.items():
            require(
                is_trackable(value),
                "Checkpoint",
                f"`{name}` must be a variable, a module, or another object with state",
                value,
                kind=ValueError,
            )
            require(
                taken.get(name, value) is value,
                "Checkpoint",
                f"`root` has another child named {name!r}",
                kind=ValueError,
            )
            setattr(self, name, value)

    def __repr__(self) -> str:
        names = [name for name in children(self) if name != "save_counter"]
        counter = self._self_save_counter
        saved = "never saved" if counter is None else f"saved {int(counter)} times"
        return f"<Checkpoint of {', '.join(names) or 'nothing'}: {saved}>"

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        counter = self._self_save_counter
        return {
            **({} if self._root() is None else children(self._root())),
            **super()._trackable_children(save_type, **kwargs),
            **({} if counter is None else {"save_counter": counter}),
        }

    def _await(self, restoration: Restoration, node: int) -> None:
        super()._await(restoration, node)
        root = self._root()
        if hasattr(root, "_await"):
            root._await(restoration, node)

    def _root(self) -> Any:
        """The object whose children are saved, if there is one."""
        root = self._self_root
        return root() if isinstance(root, ref) else root

    @property
    def save_counter(self) -> Variable:
        """How often `save` was called, which numbers the checkpoints."""
        if self._self_save_counter is None:
            counter = Variable(0, trainable=False, name="save_counter", dtype=int64)
            self._offer("save_counter", counter)
            self._self_save_counter = counter
        return self._self_save_counter

    def write(self, file_prefix: Any, options: CheckpointOptions | None = None) -> str:
        """Writes a checkpoint to this very path, without a number and without a record of it."""
        return self._write("Checkpoint.write", file_prefix, options)

    def _write(self, name: str, file_prefix: Any, options: CheckpointOptions | None) -> str:
        _only_eagerly(name)
        path = local(name, file_prefix)
        format.write(name, format.file_of(path), walk(self))
        for callback in (options and options.experimental_write_callbacks) or ():
            callback(*([path] if inspect.signature(callback).parameters else []))
        return path

    def save(self, file_prefix: Any, options: CheckpointOptions | None = None) -> str:
        """Writes a numbered checkpoint and records it as the latest; returns its path.

        When that fails, the counter, the files and the record are as they were.

        Args:
            file_prefix: the folder and the beginning of the file's name.
            options: a `tf.train.CheckpointOptions`.

        Returns:
            The path, which ends in the number.

        Raises:
            OSError: the file could not be written.

        >>> checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
        >>> checkpoint.save("run/ckpt")
        'run/ckpt-1'
        """
        _only_eagerly("Checkpoint.save")
        prefix = local("Checkpoint.save", file_prefix)
        with counting(self.save_counter) as number:
            path = self._write("Checkpoint.save", f"{prefix}-{number}", options)
            state_file.update("Checkpoint.save", os.path.dirname(path), path)
        return path

    def read(self, save_path: str, options: CheckpointOptions | None = None) -> Any:
        """Restores what `write` wrote; `restore` without the counter of saves."""
        return self._read("Checkpoint.read", save_path)

    def restore(
        self, save_path: Any, options: CheckpointOptions | None = None
    ) -> CheckpointLoadStatus | InitializationOnlyStatus:
        """Brings back the values of a checkpoint, or does nothing for `None`.

        What does not fit is an error, and then nothing is changed. Values of variables that are
        made later are applied when those are set as attributes. The result can insist that
        everything was matched: `restore(path).assert_consumed()`.

        Args:
            save_path: the path that `save` returned, or `None`.
            options: a `tf.train.CheckpointOptions`.

        Returns:
            A status with `assert_consumed`, `assert_existing_objects_matched` and `expect_partial`.

        Raises:
            NotFoundError: there is no such checkpoint.
            ValueError: shapes or dtypes do not fit.

        >>> checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
        >>> path = checkpoint.save("run/ckpt")
        >>> float(checkpoint.v.assign(9.0)) == 9.0
        True
        >>> _ = checkpoint.restore(path).assert_consumed()
        >>> float(checkpoint.v) == 1.0
        True
        """
        self.save_counter  # noqa: B018  # makes it, so that it is restored
        return self._read("Checkpoint.restore", save_path)

    def _read(self, name: str, save_path: Any) -> CheckpointLoadStatus | InitializationOnlyStatus:
        _only_eagerly(name)
        if save_path is None:
            return InitializationOnlyStatus()
        restoration = Restoration(name, local(name, save_path))
        try:
            restoration.run(0, self)
        except BaseException:
            restoration.partial = True  # the error says it all
            raise
        return CheckpointLoadStatus(restoration, self)

    def sync(self) -> None:
        """Nothing to wait for: a checkpoint is written before `save` returns."""


def _needs_a_name(x: Any) -> bool:
    return isinstance(x, list | tuple | dict) or variable_of(x) is not None


@contextmanager
def counting(counter: Variable) -> Iterator[int]:
    """Counts a save, and takes the count back when the save fails."""
    before = int(counter.numpy())
    try:
        counter.assign(before + 1)
        yield before + 1
    except BaseException:
        counter.assign(before)
        raise


def _only_eagerly(name: str) -> None:
    require(
        executing_eagerly(),
        name,
        "a checkpoint is not written or read inside a function that is traced",
        help="Call it outside.",
        kind=NotImplementedError,
    )

"""Names that order or place work; eager code is in order as it is, and runs on the CPU.

`device` is about functions: those called in its block run on the device that it names.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from wengert.core.context import Setting, State, executing_eagerly, using
from wengert.core.errors import at_site, describe, invalid, require
from wengert.core.symbolic import is_symbolic
from wengert.engines import devices
from wengert.ops.sizes import listed
from wengert.runtime import settings
from wengert.runtime.hardware import addressable

if TYPE_CHECKING:
    from wengert.core.types import TensorLike


class device:
    """Runs the functions that are called in a block on a device: `with tf.device("/CPU:0"): …`.

    A device that is not there is passed over, unless `tf.config.set_soft_device_placement(False)`
    was called. Eager operations compute on the CPU, and traced ones where their function runs.

    Args:
        device_name: such as "/CPU:0" or "GPU:1"; `None` for no wish.

    Returns:
        A context manager.

    Raises:
        ValueError: the name is no device's, or the device is not there and placement is not
            soft.

    >>> with tf.device("/CPU:0"):
    ...     x = tf.ones([2])
    >>> x.shape
    TensorShape([2])
    """

    def __init__(self, device_name: Any) -> None:
        self._found = _device(device_name)

    def __enter__(self) -> None:
        devices.WISHED.enter(self, self._found)

    def __exit__(self, *exc: object) -> None:
        devices.WISHED.leave(self)


_NAME = re.compile(
    r"(?:/?job:\w+)?(?:/?replica:\d+)?(?:/?task:\d+)?/?(?:(?:physical_)?device:)?"
    r"(?:([a-zA-Z]+):(\d+|\*)|(CPU|GPU|TPU))?",
    re.IGNORECASE,
)


_KINDS = ("CPU", "GPU", "TPU", "XLA_CPU", "XLA_GPU")


def _device(name: Any) -> Any:
    """JAX's device of a name; `None` where there is no choice, or none is named."""
    parsed = None if name is None else parse_device("device", name)
    if parsed is None:
        return None
    known = addressable()
    short = "{}:{}".format(*parsed)
    if short not in known and not settings.get_soft_device_placement():
        raise invalid("device", f"there is no device {name} (there are: {', '.join(known)})")
    if parsed[0] == "CPU":
        return devices.cpu() if devices.accelerators() else None
    return known.get(short)


def parse_device(name: str, device: Any) -> tuple[str, int] | None:
    """Kind and number of a device's name, such as `"/GPU:0"`; `None` where none is named.

    `name` is the caller's, for the messages. Devices of `tf.config` are taken, too.
    """
    require(
        not callable(device),
        name,
        "functions are not taken",
        help="Name the device.",
        kind=RuntimeError,
    )
    text = getattr(device, "name", device)  # of a logical or physical device
    match = _NAME.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        help = f'{name}: a device is named like "/GPU:0"; got {describe(device)}.'
        raise at_site(ValueError(help))
    kind, number = (match[1] or match[3] or "").upper(), match[2]
    if not kind:
        return None
    if kind not in _KINDS:
        help = f"{name}: {kind} is no kind of device; got {text!r}. Use CPU, GPU or TPU."
        raise at_site(ValueError(help))
    return kind, 0 if number in (None, "*") else int(number)


@contextmanager
def control_dependencies(control_inputs: TensorLike) -> Iterator[None]:
    """Orders operations in a graph; eager code is in order already.

    Functions among the inputs are called, except in a function, as in TensorFlow.
    """
    if executing_eagerly() and isinstance(control_inputs, list | tuple):
        for one in filter(callable, control_inputs):
            one()
    yield


def init_scope() -> Setting[State | None, None]:
    """Lifts a block out of a function being traced, and off all tapes: it runs at once.

    Returns:
        A context manager.

    >>> @tf.function
    ... def f():
    ...     with tf.init_scope():
    ...         eager = tf.executing_eagerly()
    ...     return eager
    >>> bool(f())
    True
    """
    return using(State())


def inside_function() -> bool:
    """Whether a function is being traced."""
    return not executing_eagerly()


def is_symbolic_tensor(tensor: TensorLike) -> bool:
    """Whether a tensor belongs to a function being traced; eager tensors do not."""
    return is_symbolic(tensor)


def no_op(name: str | None = None) -> None:
    """Does nothing."""


def group(*inputs: Any, **kwargs: Any) -> None:
    """Joins operations of a graph into one; eager operations have run already."""


def tuple_(tensors: Any, control_inputs: Any = None, name: str | None = None) -> list[Any]:
    """The tensors, once all of them are computed, which eagerly they are."""
    return listed("tuple", "tensors", tensors)


def get_logger() -> logging.Logger:
    """The logger that Wengert writes to."""
    return logging.getLogger("wengert")

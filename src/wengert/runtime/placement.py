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
from wengert.core.errors import at_site, describe, invalid
from wengert.core.symbolic import is_symbolic
from wengert.engines import devices
from wengert.ops.sizes import listed
from wengert.runtime import settings

if TYPE_CHECKING:
    from wengert.core.types import TensorLike


class device:
    """Runs the functions that are called in a block on a device: `with tf.device("/CPU:0"): …`.

    A device that is not there is passed over, unless `tf.config.set_soft_device_placement(False)`
    was called. Eager operations compute on the CPU, and traced ones where their function runs.
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
    if name is None:
        return None
    if callable(name):
        raise at_site(RuntimeError("device: functions are not taken. Name the device."))
    if hasattr(name, "name"):  # a logical or physical device
        name = name.name
    match = _NAME.fullmatch(name) if isinstance(name, str) else None
    if match is None:
        raise at_site(ValueError(f'device: a device is named like "/GPU:0"; got {describe(name)}.'))
    kind, number = (match[1] or match[3] or "").upper(), match[2]
    if not kind:
        return None
    if kind not in _KINDS:
        text = f"device: {kind} is no kind of device; got {name!r}. Use CPU, GPU or TPU."
        raise at_site(ValueError(text))
    known = devices.accelerators()
    if kind == "CPU":
        return devices.cpu() if known else None
    chosen = known.get(f"{kind}:{0 if number in (None, '*') else int(number)}")
    if chosen is None and not settings.get_soft_device_placement():
        there = ", ".join(["CPU:0", *known])
        raise invalid("device", f"there is no device {name} (there are: {there})")
    return chosen


@contextmanager
def control_dependencies(control_inputs: TensorLike) -> Iterator[None]:
    """Orders operations in a graph; eager code is in order already."""
    yield


def init_scope() -> Setting[State | None, None]:
    """Lifts a block out of a function being traced, and off all tapes: it runs at once."""
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

"""Names that order or place work in TensorFlow's graphs; eager code is in order as it is.

Eager operations run on the CPU, whatever device a program names.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from wengert.core.context import State, executing_eagerly, using
from wengert.core.symbolic import is_symbolic


@contextmanager
def device(device_name: Any) -> Iterator[None]:
    """Names a device for a block; eager operations compute on the CPU whatever it says."""
    yield


@contextmanager
def control_dependencies(control_inputs: Any) -> Iterator[None]:
    """Orders operations in a graph; eager code is in order already."""
    yield


@contextmanager
def init_scope() -> Iterator[None]:
    """Lifts a block out of a function being traced, and off all tapes: it runs at once."""
    with using(State()):
        yield


def inside_function() -> bool:
    """Whether a function is being traced."""
    return not executing_eagerly()


def is_symbolic_tensor(tensor: Any) -> bool:
    """Whether a tensor belongs to a function being traced; eager tensors do not."""
    return is_symbolic(tensor)


def no_op(name: Any = None) -> None:
    """Does nothing."""


def group(*inputs: Any, **kwargs: Any) -> None:
    """Joins operations of a graph into one; eager operations have run already."""


def tuple_(tensors: Any, control_inputs: Any = None, name: Any = None) -> list[Any]:
    """The tensors, once all of them are computed, which eagerly they are."""
    return list(tensors)


def get_logger() -> logging.Logger:
    """The logger that Wengert writes to."""
    return logging.getLogger("wengert")

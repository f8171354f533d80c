"""The names of `tf.autograph.experimental`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import FunctionType
from typing import Any

from wengert.autograph.conversion import OPT_OUT
from wengert.autograph.options import set_loop_options

__all__ = ["do_not_convert", "set_loop_options"]


def do_not_convert(func: Callable[..., Any] | None = None) -> Any:
    """Leaves the control flow of a function as Python has it."""
    if func is None:
        return do_not_convert
    marked: Any = func if isinstance(func, FunctionType) else _wrapped(func)
    setattr(marked, OPT_OUT, True)
    return marked


def _wrapped(func: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(func)
    def call(*args: Any, **kwargs: Any) -> Any:
        return func(*args, **kwargs)

    return call

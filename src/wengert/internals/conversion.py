"""Autograph where a library calls functions of its users: layers, losses and metrics."""

from __future__ import annotations

import enum
import functools
from types import SimpleNamespace
from typing import Any

from wengert.autograph.call_conversion import call
from wengert.core.context import executing_eagerly


class Status(enum.Enum):
    """Whether functions that are called are converted."""

    UNSPECIFIED = 0
    ENABLED = 1
    DISABLED = 2


def control_status_ctx() -> Any:
    """Conversion goes by each function's own mark."""
    return SimpleNamespace(status=Status.UNSPECIFIED, options=None)


def tf_convert(
    f: Any, ctx: Any, convert_by_default: bool = True, user_requested: bool = False
) -> Any:
    """The function, whose control flow on tensors is converted where a graph is traced."""

    @functools.wraps(f)
    def converted(*args: Any, **kwargs: Any) -> Any:
        return (f if executing_eagerly() else call(f))(*args, **kwargs)

    return converted

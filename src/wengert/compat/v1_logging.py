"""`tf.compat.v1.logging`: the levels and functions of Python's `logging`, for Wengert's logger."""

from __future__ import annotations

import logging as _logging
from logging import DEBUG, ERROR, FATAL, INFO
from logging import WARNING as WARN
from typing import Any

from wengert.core.missing_names import namespace as _namespace
from wengert.runtime.placement import get_logger as _logger

__all__ = [
    "DEBUG", "ERROR", "FATAL", "INFO", "WARN", "debug", "error", "fatal", "get_verbosity", "info",
    "log", "set_verbosity", "warn", "warning",
]  # fmt: skip


def set_verbosity(v: int | str) -> None:
    """Says from which level on messages are shown."""
    _logger().setLevel(v)


def get_verbosity() -> int:
    """The level from which on messages are shown."""
    return _logger().getEffectiveLevel()


def log(level: int, msg: Any, *args: Any, **kwargs: Any) -> None:
    """Logs a message at a level."""
    _logger().log(level, msg, *args, **kwargs)


def debug(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Logs a message for debugging."""
    _logger().log(_logging.DEBUG, msg, *args, **kwargs)


def info(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Logs a message."""
    _logger().log(_logging.INFO, msg, *args, **kwargs)


def warning(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Logs a warning."""
    _logger().log(_logging.WARNING, msg, *args, **kwargs)


warn = warning


def error(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Logs an error."""
    _logger().log(_logging.ERROR, msg, *args, **kwargs)


def fatal(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Logs an error that ends the program; the program goes on."""
    _logger().log(_logging.FATAL, msg, *args, **kwargs)


__getattr__, __dir__ = _namespace("tf.compat.v1.logging", globals())

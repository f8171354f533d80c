"""`tf.compat.v1.logging`: the levels and functions of Python's `logging`, for Wengert's logger."""

from __future__ import annotations

import logging as _logging
from logging import DEBUG, ERROR, FATAL, INFO
from logging import WARNING as WARN
from typing import Any

from wengert.core.missing_names import namespace as _namespace
from wengert.runtime.placement import get_logger as _logger

__all__ = [
    "DEBUG", "ERROR", "FATAL", "INFO", "WARN", "debug", "error", "fatal", "flush", "get_verbosity", "info",
    "TaskLevelStatusMessage", "log", "log_every_n", "log_first_n", "log_if", "set_verbosity", "vlog", "warn", "warning",
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


_seen: dict[Any, int] = {}


def _count(msg: Any) -> int:
    """How often a message has come so far."""
    _seen[msg] = _seen.get(msg, -1) + 1
    return _seen[msg]


def log_if(level: int, msg: Any, condition: Any, *args: Any) -> None:
    """Logs a message if a condition holds."""
    if condition:
        log(level, msg, *args)


def log_first_n(level: int, msg: Any, n: int, *args: Any) -> None:
    """Logs a message the first `n` times."""
    log_if(level, msg, _count(msg) < n, *args)


def log_every_n(level: int, msg: Any, n: int, *args: Any) -> None:
    """Logs a message each `n`th time, from the first on."""
    log_if(level, msg, _count(msg) % n == 0, *args)


def vlog(level: int, msg: Any, *args: Any, **kwargs: Any) -> None:
    """Logs a message for debugging."""
    debug(msg, *args, **kwargs)


def flush() -> None:
    """Writes out what handlers hold back."""
    for handler in _logger().handlers:
        handler.flush()


def TaskLevelStatusMessage(msg: Any) -> None:
    """Logs an error that concerns a whole task."""
    error(msg)


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

"""Why operations are slower than TensorFlow's, where the reason is known, by start of the name."""

from __future__ import annotations

_REASONS = {
    "strings.": "Python makes an object of each string",
    "as_string": "Python makes an object of each string",
    "io.": "Python makes an object of each string",
}


def reason(name: str) -> str:
    """What is known of an operation."""
    starts = [start for start in _REASONS if name.startswith(start)]
    return _REASONS[max(starts, key=len)] if starts else ""

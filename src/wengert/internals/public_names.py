"""The public names of TensorFlow 2.21."""

from __future__ import annotations

from functools import cache
from pathlib import Path

_TABLE = Path(__file__).parent.parent / "cli" / "tensorflow_names.txt"


@cache
def tensorflow_names() -> frozenset[str]:
    """All of them, as `tf.math.abs`."""
    result = set()
    for row in _TABLE.read_text(encoding="utf-8").splitlines():
        prefix, _, names = row.partition(": ")
        result.update(f"{prefix}.{name}" for name in names.split())
    return frozenset(result)

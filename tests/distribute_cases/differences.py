"""Where Wengert answers otherwise on purpose, and what it answers. `docs/differences.md` says why."""

from __future__ import annotations

from typing import Any


def each(dtype: str, shape: list[int], numbers: list[float]) -> list[Any]:
    """The same tensor in all replicas."""
    return ["PerReplica", *[[dtype, shape, numbers]] * 4]


DIFFERENCES: dict[str, Any] = {
    # TensorFlow fails in its own code.
    "all_reduce_of_nothing": ["list"],
    "all_reduce_of_a_number": each("float32", [], [8.0]),
    "all_reduce_of_slices": each("float32", [5, 1], [1.0, 2.0, 3.0, 4.0, 0.0]),
    "all_reduce_mean_of_slices": each("float32", [3, 1], [0.0, 2.5, 0.0]),
    "gather_strings": ["string", [4], ["r0", "r1", "r2", "r3"]],
    "reduce_indexed_slices": ["slices", ["float32", [3, 2], [4.0, 4.0, 6.0, 4.0, 0.0, 0.0]]],
}

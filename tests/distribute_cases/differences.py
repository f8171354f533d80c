"""Where Wengert answers otherwise on purpose, and what it answers. `docs/differences.md` says why."""

from __future__ import annotations

from typing import Any


def each(dtype: str, shape: list[int], numbers: list[float]) -> list[Any]:
    """The same tensor in all replicas."""
    return ["PerReplica", *[[dtype, shape, numbers]] * 4]


def everywhere(number: float) -> list[Any]:
    """A variable that all replicas share, by its copies and by its value."""
    scalar = ["float32", [], [number]]
    return ["list", ["local", *[["variable", scalar]] * 4], scalar]


def refused(kind: str) -> list[Any]:
    return ["error", kind]


_SUMS = {"assign": 12.0, "assign_add": 13.0, "assign_sub": -11.0}
_SIX = ["float32", [], [6.0]]
DIFFERENCES: dict[str, Any] = {
    # Copies of a variable do not drift apart: WG901.
    **{
        f"{update}_replica_{kind}_none": refused("ValueError")
        for update in _SUMS
        for kind in ("auto", "on_write")
    },
    # A number that each replica assigns is summed as a tensor is; TensorFlow refuses numbers.
    **{
        f"{update}_plain_{kind}_sum": everywhere(number)
        for update, number in _SUMS.items()
        for kind in ("auto", "on_write")
    },
    "two_assignments_in_a_replica": ["variable", ["float32", [], [11.0]]],
    # An assignment between replicas is one value for all of them.
    "assign_of_per_replica_values_across": refused("ValueError"),
    "update_in_a_replica": ["variable", ["float32", [], [2.0]]],
    # What is reduced is one tensor, and results of a merge are those of the replicas.
    "reduce_to": ["list", ["local", _SIX], ["local", ["float32", [], [1.5]]]],
    "batch_reduce_to": ["list", ["local", _SIX], ["local", _SIX]],
    "merge_call_gives_per_replica_values": each("float32", [], [6.0]),
    "merge_call_gives_a_nest": {
        "total": each("float32", [], [6.0]),
        "parts": ["PerReplica", *[["float32", [], [float(k)]] for k in range(4)]],
    },
    # Scatters are aggregated, tapes around replicas follow them.
    "scatter_in_a_replica": ["variable", ["float32", [3], [1.0, 12.0, 3.0]]],
    "scatter_of_other_rows": ["variable", ["float32", [3], [5.0, 4.0, 5.0]]],
    "tape_around_a_run": ["float32", [], [36.0]],
    # TensorFlow gathers the first replica of a nest alone.
    "gather_a_nest": {"a": ["float32", [8, 3], [10.0 * (n // 6) + n % 6 for n in range(24)]]},
    # A variable is one for all replicas, not a value for each.
    "variable_facts": [
        "list",
        ["list", "TensorShape([2])", "tf.float32", True, "ON_WRITE", "SUM"],
        ["list", "TensorShape([])", "tf.float32", False, "ON_READ", "MEAN"],
        *[True, True, False, True],
    ],
    # TensorFlow fails in its own code.
    "all_reduce_of_nothing": ["list"],
    "all_reduce_of_a_number": each("float32", [], [8.0]),
    "all_reduce_of_slices": each("float32", [5, 1], [1.0, 2.0, 3.0, 4.0, 0.0]),
    "all_reduce_mean_of_slices": each("float32", [3, 1], [0.0, 2.5, 0.0]),
    "gather_strings": ["string", [4], ["r0", "r1", "r2", "r3"]],
    "reduce_indexed_slices": ["slices", ["float32", [3, 2], [4.0, 4.0, 6.0, 4.0, 0.0, 0.0]]],
}

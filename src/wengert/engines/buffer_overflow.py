"""What happens when a loop overflows its buffer: the buffer grows, and the step runs again.

XLA gives every array a fixed size, so a loop of unknown length writes its rows into a buffer whose
capacity has sufficed so far. A run reports how many rows each loop requested. Where that is more
than the capacity, the capacity is raised, the program is compiled again (`Executable.grow`) and the
step rerun (`xla.run`).
"""

from __future__ import annotations

# The capacity, in rows, with which a loop of unknown length begins.
FIRST_CAPACITY = 64


def overflows(buffers: list[tuple[int, int]], requested: list[int]) -> list[tuple[int, int]]:
    """The loops that requested more rows than their capacity, and how many.

    `buffers` are loops with their capacities, in the order of the rows `requested`.
    """
    pairs = zip(buffers, requested, strict=True)
    return [(loop, rows) for (loop, capacity), rows in pairs if rows > capacity]


def enlarge(capacities: dict[int, int], wanted: list[tuple[int, int]]) -> None:
    """Raises capacities to powers of two that hold the rows that loops want."""
    for loop, rows in wanted:
        capacities[loop] = max(capacities.get(loop, 0), 1 << (rows - 1).bit_length())

"""How much arithmetic an operation is, where that is not one step for each element of the result.

The choice of engine adds these up. What is given are the specs of inputs and results; a size that
is unknown counts as 1.
"""

from __future__ import annotations

import math

from wengert.core.op import ShapeDtype
from wengert.core.shapes import Shape

# Steps for one element of a function that the processor has no instruction for, such as `exp`.
SLOW = 20.0


def product(given: list[ShapeDtype], made: list[ShapeDtype]) -> float:
    """Of m·k and k·n numbers come m·n, by two steps each."""
    return _product(given, made, 1)


def batch_product(given: list[ShapeDtype], made: list[ShapeDtype]) -> float:
    """A product for each of the leading sizes of the result."""
    return _product(given, made, _count((made[0].shape or ())[:-2]))


def _product(given: list[ShapeDtype], made: list[ShapeDtype], times: int) -> float:
    # b·m·k, b·k·n and b·m·n numbers: the root of their product is b^1.5·m·k·n.
    many = _count(given[0].shape) * _count(given[-1].shape) * _count(made[0].shape)
    return 2.0 * math.sqrt(many / max(1, times))


def convolution(given: list[ShapeDtype], made: list[ShapeDtype]) -> float:
    """Each result is a sum over the filter, whose last size is the number of results."""
    filters = (given[1].shape or (1,))[-1] or 1
    return 2.0 * _count(made[0].shape) * _count(given[1].shape) / max(1, filters)


def _count(shape: Shape) -> int:
    total = 1
    for size in shape or ():
        total *= 1 if size is None else size
    return total

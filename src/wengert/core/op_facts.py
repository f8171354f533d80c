"""What an operation's paragraph says about it besides how it is computed.

Passes, engines and explanations ask an operation for these facts; none of them knows it by name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

# The arithmetic for one element of the result, or a function of what is known of the inputs and
# the results that gives the arithmetic of the whole operation.
Cost = float | Callable[[list[Any], list[Any]], float]


class Neutral(NamedTuple):
    """A number that leaves the other argument as it is: the second one, or `either`."""

    number: int
    either: bool = False


class Pole(NamedTuple):
    """Where a derivative is infinite: a test of the arrays given, and the place in words."""

    test: Callable[..., Any]
    words: str


class Hazards(NamedTuple):
    """What finite arguments do to an operation: NaN, infinity, or an infinite derivative.

    - `edge`: the number at which, and below which, its last argument has no finite logarithm.
    - `divides`: it divides by its last argument, which may be 0.
    - `singular`: it is part of a derivative that is infinite where its first argument is 0.
    - `grows`: it overflows for arguments that are not large themselves.
    - `outside`: for which arguments the result is NaN, in words, and `remedy` what to do about it.
    - `pole`: where its derivative is infinite, though it may be finite itself.
    - `tame`: its derivative is finite wherever its arguments are.
    """

    edge: float | None = None
    divides: bool = False
    singular: bool = False
    grows: bool = False
    outside: str = ""
    remedy: str = "Keep its argument inside, e.g. with tf.clip_by_value or tf.maximum."
    pole: Pole | None = None
    tame: bool = False


NO_HAZARDS = Hazards()
TAME = Hazards(tame=True)

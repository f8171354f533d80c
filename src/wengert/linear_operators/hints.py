"""What is promised of operators: non-singular, self-adjoint, positive definite, square.

`True` and `False` are promises that nobody checks, `None` says nothing. They travel as one record.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from wengert.core.errors import at_site

if TYPE_CHECKING:
    from wengert.linear_operators.base import LinearOperator


class Hints(NamedTuple):
    """The four promises, as keyword arguments by `_asdict()`."""

    is_non_singular: bool | None = None
    is_self_adjoint: bool | None = None
    is_positive_definite: bool | None = None
    is_square: bool | None = None

    def checked(self) -> Hints:
        """The promises with what they imply; raises where two contradict each other."""
        non_singular, self_adjoint, definite, square = self
        if definite:
            refuse(non_singular is False, "a positive definite matrix is non-singular")
            non_singular = True
        if non_singular:
            refuse(square is False, "a non-singular matrix is square")
            square = True
        if self_adjoint:
            refuse(square is False, "a self-adjoint matrix is square")
            square = True
        return Hints(non_singular, self_adjoint, definite, square)


ALL = Hints(True, True, True, True)


def refuse(contradicts: bool, fact: str) -> None:
    """Raises for promises against a fact."""
    if contradicts:
        words = f"LinearOperator: {fact}, but the hints say otherwise. Correct them, or leave them"
        raise at_site(ValueError(f"{words} out."))


def always(name: str, given: bool | None, fact: str) -> bool:
    """A promise that holds for every operator of a kind, unless it is contradicted."""
    refuse(given is False, f"{fact} ({name})")
    return True


def hints(operator: LinearOperator) -> Hints:
    """The promises of an operator."""
    return Hints(
        operator.is_non_singular,
        operator.is_self_adjoint,
        operator.is_positive_definite,
        operator.is_square,
    )


def of_commuting(a: LinearOperator, b: LinearOperator) -> Hints:
    """The promises of the product of two square operators that commute if both are symmetric."""
    x, y = hints(a), hints(b)
    definite = all((*x[1:3], *y[1:3])) or None
    return Hints(_both(x[0], y[0]), _self_adjoint(x[1], y[1]), definite, True)


def of_product(a: LinearOperator, b: LinearOperator) -> Hints:
    """The promises of the product of two operators."""
    square = _square(a, b)
    if square:
        return Hints(_both(a.is_non_singular, b.is_non_singular), None, None, True)
    if square is False:
        return Hints(False, False, False, False)
    return Hints()


def _both(a: bool | None, b: bool | None) -> Any:
    return False if a is False or b is False else a and b


def _self_adjoint(a: bool | None, b: bool | None) -> bool | None:
    if a and b:
        return True
    return False if {a, b} == {True, False} else None


def _square(a: LinearOperator, b: LinearOperator) -> bool | None:
    x, y = a.is_square, b.is_square
    if x and y:
        return True
    if x is False and y is False:
        rows, columns = a.shape[-2], b.shape[-1]
        if rows is not None and columns is not None:
            return rows == columns
    return False if {x, y} == {True, False} else None

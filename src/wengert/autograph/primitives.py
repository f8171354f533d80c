"""The door to branches and loops of the graph, and to checks that fail when it runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wengert.core import dtypes
from wengert.core.convert import operand
from wengert.core.errors import at_site, describe

Joined = tuple[list[Any], list[Any]]


def truth(x: Any) -> Any:
    """The truth of a tensor with one element, as a boolean scalar."""
    from wengert.ops.cast import cast
    from wengert.ops.shaping import reshape

    x = operand(x)
    count = x.shape.num_elements() if x.shape.is_fully_defined() else None
    if count not in (None, 1):
        raise at_site(
            ValueError(
                f"bool: the truth of a tensor with {count} elements is ambiguous; got "
                f"{describe(x)}. Use tf.reduce_any or tf.reduce_all."
            )
        )
    if x.dtype is not dtypes.bool_:
        x = cast(x, dtypes.bool_)
    return x if x.shape.rank == 0 else reshape(x, [])


def conditional(
    condition: Any,
    then: Callable[[], Any],
    otherwise: Callable[[], Any],
    join: Callable[[Any, Any], Joined],
) -> list[Any]:
    """Traces both branches, asks `join` which tensors of each to choose from, and chooses."""
    from wengert.functions.control import branches

    return branches(condition, then, otherwise, join)


def loop(
    test: Callable[..., Any],
    body: Callable[..., Any],
    start: list[Any],
    shapes: list[Any],
    options: dict[str, Any],
) -> list[Any]:
    """A loop of the graph over a flat state; `shapes` hold in every turn."""
    from wengert.functions.control import while_loop

    return list(while_loop(test, body, start, shape_invariants=shapes, **options))


def check(condition: Any, message: str) -> None:
    """Fails when the function runs, unless the condition holds."""
    from wengert.ops.checks import Assert

    Assert(condition, [message])


def fail(error: Exception) -> None:
    """Fails when the function runs and gets here."""
    check(operand(False), f"{type(error).__name__}: {error}")

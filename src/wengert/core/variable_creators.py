"""Creators: functions that stand between a program and the variables it makes, in a block."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any

from wengert.core.context import Setting, own_variable, restoring
from wengert.core.errors import unexpected

Creator = Callable[..., Any]
CREATORS: Any = own_variable("wengert_variable_creators", ())


def variable_creator_scope(variable_creator: Creator) -> Setting[Any, None]:
    """A block in which `variable_creator(next_creator, **kwargs)` makes the variables.

    It is called with the arguments of `tf.Variable`, all by name, and gives what becomes of the
    call, most often `next_creator(**kwargs)`. Of several blocks the innermost is called first.

    Args:
        variable_creator: the function.

    >>> def doubled(next_creator, **kwargs):
    ...     return next_creator(**{**kwargs, "initial_value": 2.0 * kwargs["initial_value"]})
    >>> with tf.variable_creator_scope(doubled):
    ...     v = tf.Variable(3.0)
    >>> float(v)
    6.0
    """
    if not callable(variable_creator):
        raise unexpected("variable_creator_scope", "a function", variable_creator)
    return Setting(CREATORS, (*CREATORS.get(), variable_creator))


def created(kind: type, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What the creators of this block make of the arguments of `kind`."""
    given = inspect.signature(kind.__init__).bind(None, *args, **kwargs)  # type: ignore[misc]  # reads its parameters
    given.apply_defaults()
    arguments = dict(given.arguments)
    del arguments["self"]
    make: Creator = partial(_made, kind)
    for creator in CREATORS.get():
        make = partial(creator, make)
    return make(**arguments)


@restoring
def _made(kind: type, **arguments: Any) -> Any:
    CREATORS.set(())
    return kind(**arguments)

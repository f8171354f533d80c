"""`tf.Module`: an object that knows the variables and modules among its attributes."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from wengert.checkpoint.trackable import AutoTrackable
from wengert.core import nest
from wengert.core.context import name_scope, scoped
from wengert.core.errors import at_site
from wengert.core.variable import Variable


def _snake(name: str) -> str:
    return re.sub(r"((?<=[a-z0-9])[A-Z]|(?!^)[A-Z](?=[a-z]))", r"_\1", name).lower()


class Module(AutoTrackable):
    """The base of objects that own variables, alone or inside lists, tuples and dicts.

    >>> class Dense(tf.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.w = tf.Variable([1.0, 2.0])
    >>> [v.name for v in Dense().trainable_variables]
    ['Variable:0']
    """

    _ignored = ("_name", "_scope_name", "_name_scope")

    def __init__(self, name: str | None = None) -> None:
        chosen = _snake(type(self).__name__) if name is None else name
        if not isinstance(chosen, str) or not chosen.isidentifier():
            kind = ValueError if isinstance(chosen, str) else TypeError
            words = f"Module: {chosen!r} is not a valid name. Use a Python identifier."
            raise at_site(kind(words))
        self._name = chosen
        self._scope_name = scoped(chosen) + "/"

    def __repr__(self) -> str:
        variables = self.variables
        sizes = [v.shape.num_elements() for v in variables]
        numbers = "" if None in sizes else f" of {sum(map(int, filter(None, sizes)))} numbers"
        fixed = len(self.non_trainable_variables)
        parts = [f"{len(variables)} variable{'s' * (len(variables) != 1)}{numbers}"]
        parts += [f"{fixed} not trainable"] * bool(fixed)
        parts += [f"{len(self.submodules)} modules inside"] * bool(self.submodules)
        name = f" {self._name!r}" if hasattr(self, "_name") else ""
        return f"<{type(self).__name__}{name}: {', '.join(parts)}>"

    @property
    def name(self) -> str:
        return self._name

    @property
    def name_scope(self) -> name_scope:
        """A scope under which the module's variables get its name."""
        return name_scope(self._scope_name)

    @classmethod
    def with_name_scope(cls, method: Callable[..., Any]) -> Callable[..., Any]:
        """Decorates a method to run under the module's name scope."""

        @functools.wraps(method)
        def scoped_method(self: Module, *args: Any, **kwargs: Any) -> Any:
            with self.name_scope:
                return method(self, *args, **kwargs)

        return scoped_method

    @property
    def variables(self) -> tuple[Any, ...]:
        """The variables of this module and of those inside it."""
        return tuple(x for x in self._walk() if isinstance(x, Variable))

    @property
    def trainable_variables(self) -> tuple[Variable, ...]:
        return tuple(v for v in self.variables if v.trainable)

    @property
    def non_trainable_variables(self) -> tuple[Variable, Variable, Variable] | tuple[Variable, ...]:
        return tuple(v for v in self.variables if not v.trainable)

    @property
    def submodules(self) -> tuple[Any, ...]:
        """All modules inside this one, at any depth."""
        return tuple(x for x in self._walk() if isinstance(x, Module))

    def _walk(self) -> Iterator[Any]:
        """Variables and modules by attribute name, own ones first; each object once."""
        seen = {id(self)}
        left: list[Module] = [self]
        while left:
            module = left.pop()
            inner: list[Module] = []
            for key in sorted(vars(module)):
                if key in module._ignored:
                    continue
                for leaf in _leaves(vars(module)[key]):
                    if id(leaf) in seen:
                        continue
                    seen.add(id(leaf))
                    yield leaf
                    if isinstance(leaf, Module):
                        inner.append(leaf)
            left.extend(reversed(inner))

    def _flatten(
        self, recursive: bool = True, predicate: Any = None, expand_composites: bool = False
    ) -> Iterator[Any]:
        """The leaves for which `predicate` holds; kept for programs that call it."""
        result = self._walk() if recursive else iter(_leaves(vars(self)))
        return (x for x in result if predicate is None or predicate(x))


def _leaves(value: Any) -> list[Any]:
    """The variables and modules in a nest."""
    try:
        leaves = nest.flatten(value)
    except TypeError:
        # A dict whose keys cannot be ordered is still walked, in its own order.
        members = value.values() if isinstance(value, Mapping) else value
        return [x for v in members for x in _leaves(v)]
    return [x for x in leaves if isinstance(x, Variable | Module)]

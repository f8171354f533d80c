"""`tf.Module`: an object that knows the variables and modules among its attributes."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from wengert.checkpoint.trackable import AutoTrackable
from wengert.core import nest
from wengert.core.context import name_scope, scoped
from wengert.core.errors import at_site
from wengert.core.nest_paths import walk
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

    # Attributes that are not looked into; libraries add their own.
    _TF_MODULE_IGNORED_PROPERTIES: frozenset[str] = frozenset(("_self_awaiting", "_self_tracked"))

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
        return tuple(self._flatten(predicate=_is_variable, expand_composites=True))

    @property
    def trainable_variables(self) -> tuple[Variable, ...]:
        return tuple(self._flatten(predicate=_is_trainable, expand_composites=True))

    @property
    def non_trainable_variables(self) -> tuple[Variable, ...]:
        return tuple(self._flatten(predicate=_is_fixed, expand_composites=True))

    @property
    def submodules(self) -> tuple[Any, ...]:
        """All modules inside this one, at any depth."""
        return tuple(self._flatten(predicate=_is_module))

    def _flatten(
        self,
        recursive: bool = True,
        predicate: Callable[[Any], bool] | None = None,
        attribute_traversal_key: Callable[[str], Any] | None = None,
        with_path: bool = False,
        expand_composites: bool = False,
    ) -> Iterator[Any]:
        """The leaves of attributes for which `predicate` holds, own ones first, each once.

        Libraries call it, and override it to leave some out. With paths, what is found twice
        comes twice.
        """
        walk = _Walk(recursive, predicate, attribute_traversal_key, with_path, expand_composites)
        return walk.over(self)


class _Walk(NamedTuple):
    """One walk over the attributes of modules."""

    recursive: bool
    predicate: Callable[[Any], bool] | None
    order: Callable[[str], Any] | None
    with_path: bool
    expand: bool

    def over(self, root: Module) -> Iterator[Any]:
        """The leaves below a module, one module after the other."""
        seen = {id(root)}
        left: list[tuple[tuple[Any, ...], frozenset[int], Module]] = [((), frozenset(seen), root)]
        while left:
            path, above, module = left.pop()
            inner = []
            for place, leaf in self._of(module, path):
                if not self.with_path:
                    if id(leaf) in seen:
                        continue
                    seen.add(id(leaf))
                if self.predicate is None or self.predicate(leaf):
                    yield (place, leaf) if self.with_path else leaf
                if self.recursive and isinstance(leaf, Module) and id(leaf) not in above:
                    way = above | {id(leaf)} if self.with_path else above
                    inner.append((place, way, leaf))
            left.extend(reversed(inner))

    def _of(self, module: Module, path: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], Any]]:
        """The leaves of one module's own attributes, with their paths."""
        ignored = module._TF_MODULE_IGNORED_PROPERTIES
        for key in sorted(vars(module), key=self.order):
            if key not in ignored:
                for below, leaf in _leaves(vars(module)[key], self.expand, self.with_path):
                    yield (*path, key, *below), leaf


def _is_variable(x: Any) -> bool:
    return isinstance(x, Variable)


def _is_trainable(x: Any) -> bool:
    return isinstance(x, Variable) and bool(x.trainable)


def _is_fixed(x: Any) -> bool:
    return isinstance(x, Variable) and not x.trainable


def _is_module(x: Any) -> bool:
    return isinstance(x, Module)


def _leaves(value: Any, expand: bool, with_path: bool) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """The leaves of a nest with their paths, which are empty where nobody asks for them."""
    if with_path:
        return walk(value, value, expand)
    try:
        return (((), leaf) for leaf in nest.flatten(value, expand))
    except TypeError:
        # A dict whose keys cannot be ordered is still walked, in its own order.
        members = value.values() if isinstance(value, Mapping) else value
        return (found for v in members for found in _leaves(v, expand, with_path))

"""Decorators that say something about a function: where it is published, what it is deprecated for.

Of the places that `keras_export` names only the first is kept, since saved models write it; the
others mark documentation, and leave a function as it is.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from wengert.core.errors import at_site
from wengert.internals.public_names import tensorflow_names
from wengert.internals.table import INSIDE

_PUBLISHED: dict[str, dict[str, Any]] = {"keras": {}, "tensorflow": {}}
_CANONICAL = "_wengert_published_as"


class Export:
    """A decorator that publishes a symbol under names of an interface."""

    def __init__(self, api: str, *names: str, **kwargs: Any) -> None:
        self._api, self._names = api, names

    def __call__(self, symbol: Any) -> Any:
        for name in self._names:
            _PUBLISHED[self._api][name] = symbol
        if self._names and (isinstance(symbol, type) or inspect.isfunction(symbol)):
            known = vars(symbol).get(_CANONICAL, {})
            setattr(symbol, _CANONICAL, {**known, self._api: self._names[0]})
        return symbol

    def export_constant(self, module_name: str, name: str) -> None:
        """Publishes a constant of a module, of which nothing needs to be kept."""


keras_export = functools.partial(Export, "keras")
tf_export = functools.partial(Export, "tensorflow")


def get_canonical_name_for_symbol(
    symbol: Any, api_name: str = "tensorflow", add_prefix_to_v1_names: bool = False
) -> str | None:
    """The first name under which a symbol is published, such as `math.add`."""
    own = getattr(symbol, "__dict__", {}).get(_CANONICAL, {})
    if api_name in own:
        return own[api_name]
    if api_name != "tensorflow" or not callable(symbol):
        return None
    inner = inspect.unwrap(symbol)
    same = [name for name in _named(getattr(inner, "__name__", "")) if _at(name) is inner]
    same.sort(key=lambda name: (not name.startswith(_FIRST), name.count("."), name))
    return next(iter(same), None)


def get_symbol_from_name(name: str) -> Any:
    """What is published under a name, or `None`."""
    for table in _PUBLISHED.values():
        if name in table:
            return table[name]
    result: Any = import_module("tensorflow")
    for part in name.split("."):
        result = getattr(result, part, None)
    return result


# Where a function has several names, these come first.
_FIRST = ("math.", "__operators__.", "linalg.matmul")


@functools.cache
def _by_last_name() -> dict[str, list[str]]:
    """TensorFlow's public names by their last parts."""
    result: dict[str, list[str]] = {}
    for name in tensorflow_names():
        short = name.removeprefix("tf.")
        result.setdefault(short.rpartition(".")[2], []).append(short)
    for name in INSIDE["__operators__"][1]["internals.variables"].split():
        result.setdefault(name, []).append(f"__operators__.{name}")
    return result


def _named(name: str) -> list[str]:
    """The public names that may stand for a function of this name."""
    return _by_last_name().get(name.strip("_"), [])


def _at(name: str) -> Any:
    """The function of a public name, as Wengert has it."""
    value = get_symbol_from_name(name)
    return inspect.unwrap(value) if callable(value) else None


def unwrap(maybe_decorator: Any) -> tuple[list[Any], Any]:
    """The function behind decorators; Keras asks so for the arguments of a call."""
    result = maybe_decorator
    while hasattr(result, "__wrapped__"):
        result = result.__wrapped__
    return [], result


def make_decorator(
    target: Any, decorator_func: Any, decorator_name: str | None = None, decorator_doc: str = "",
    decorator_argspec: Any = None,
) -> Any:  # fmt: skip
    """`decorator_func` under the name, documentation and signature of `target`."""
    functools.update_wrapper(decorator_func, target)
    if decorator_argspec is not None:
        decorator_func.__signature__ = _signature(decorator_argspec)
    return decorator_func


def rewrap(decorator_func: Any, previous_target: Any, new_target: Any) -> None:
    """Puts another function below a decorator that `make_decorator` made."""
    innermost = decorator_func
    while getattr(innermost, "__wrapped__", previous_target) is not previous_target:
        innermost = innermost.__wrapped__
    innermost.__wrapped__ = new_target


def _signature(spec: inspect.FullArgSpec) -> inspect.Signature:
    kinds = inspect.Parameter
    defaults = spec.defaults or ()
    missing = [kinds.empty] * (len(spec.args) - len(defaults))
    result = [
        kinds(name, kinds.POSITIONAL_OR_KEYWORD, default=default)
        for name, default in zip(spec.args, [*missing, *defaults], strict=True)
    ]
    if spec.varargs:
        result.append(kinds(spec.varargs, kinds.VAR_POSITIONAL))
    for name in spec.kwonlyargs:
        default = (spec.kwonlydefaults or {}).get(name, kinds.empty)
        result.append(kinds(name, kinds.KEYWORD_ONLY, default=default))
    if spec.varkw:
        result.append(kinds(spec.varkw, kinds.VAR_KEYWORD))
    return inspect.Signature(result)


def contextlib_contextmanager(target: Any) -> Any:
    """`contextlib.contextmanager`."""
    return contextmanager(target)


def _plain(*args: Any, **kwargs: Any) -> Callable[[Any], Any]:
    """A decorator with arguments that leaves its function as it is."""
    return lambda function: function


deprecated = deprecated_args = deprecated_arg_values = deprecated_endpoints = _plain


def deprecated_alias(
    deprecated_name: str, name: str, func_or_class: Any, warn_once: bool = True
) -> Any:
    """The function or class itself."""
    return func_or_class


def deprecated_argument_lookup(new_name: str, new_value: Any, old_name: str, old_value: Any) -> Any:
    """The value of an argument that has two names."""
    if old_value is None:
        return new_value
    if new_value is not None:
        raise at_site(ValueError(f"Give one of `{new_name}` and `{old_name}`, its old name."))
    return old_value


@contextmanager
def silence() -> Iterator[None]:
    """Nothing is said about deprecated names as it is."""
    yield


def same(function: Any) -> Any:
    """The function itself; the decorator marks it for documentation."""
    return function

"""What public functions give for extension types: `tf.experimental.dispatch_for_api` and its kin.

A function fails for a composite, or its operation comes to the door's slow branch with one. Then
the functions registered here are asked. Dense tensors pay nothing for that. In the slow branch the
public function is the outermost frame of Wengert's that runs the code of a registered one.
"""

from __future__ import annotations

import inspect
import sys
import typing
from collections.abc import Callable
from types import UnionType
from typing import Any, NamedTuple

from wengert.composite.extension_type import ExtensionType
from wengert.composite.rules import for_kind
from wengert.core.apply import apply
from wengert.core.composite_operands import CompositeArgument, CompositeOperand
from wengert.core.errors import at_site
from wengert.core.types import Op


class _Target(NamedTuple):
    """A function that answers for an API where the arguments named have the types given."""

    function: Callable[..., Any]
    types: dict[str, Any]


class _Elementwise(NamedTuple):
    """A handler of all operations on one or two numbers, and the types that it takes."""

    handler: Callable[..., Any]
    types: tuple[Any, ...]


_targets: dict[Any, list[_Target]] = {}
_codes: dict[Any, Any] = {}  # the API whose code it is
_unary: list[_Elementwise] = []
_binary: list[_Elementwise] = []


def dispatch_for_api(api: Any, *signatures: dict[str | int, Any]) -> Callable[[Any], Any]:
    """A decorator that makes a function answer for `api` where arguments have certain types.

    Args:
        api: a public function, such as `tf.reduce_sum`.
        signatures: dicts from the names (or places) of arguments to types; those of the
            annotations of the function if there are none.

    Raises:
        ValueError: the parameters of the function are not those of `api`.
    """
    plain = inspect.unwrap(api)

    def register(function: Any) -> Any:
        parameters = _same_parameters(api, function)
        given = signatures or (_annotated(function),)
        for signature in given:
            types = {parameters[k] if isinstance(k, int) else k: t for k, t in signature.items()}
            unknown = [k for k in types if k not in parameters]
            if unknown or not types:
                words = f"there is no argument {unknown}" if unknown else "no argument has a type"
                raise at_site(
                    ValueError(
                        f"dispatch_for_api: {words}; annotate the arguments, or give a signature."
                    )
                )
            _targets.setdefault(plain, []).append(_Target(function, types))
        _codes[plain.__code__] = api
        return function

    return register


def _same_parameters(api: Any, function: Any) -> list[str]:
    wanted = [p for p in inspect.signature(api).parameters if p != "name"]
    found = [p for p in inspect.signature(function).parameters if p != "name"]
    if wanted != found:
        raise at_site(
            ValueError(
                f"dispatch_for_api: the function must have the parameters of the API, "
                f"({', '.join(wanted)}); got ({', '.join(found)})."
            )
        )
    return list(inspect.signature(api).parameters)


def _annotated(function: Any) -> dict[str | int, Any]:
    hints = typing.get_type_hints(function)
    return {k: t for k, t in hints.items() if k != "return" and t is not Any}


def dispatch_for_unary_elementwise_apis(x_type: Any) -> Callable[[Any], Any]:
    """A decorator for what all operations on one number give for a type: `handler(api, x)`."""

    def register(handler: Any) -> Any:
        _unary.append(_Elementwise(handler, (x_type,)))
        return handler

    return register


def dispatch_for_binary_elementwise_apis(x_type: Any, y_type: Any) -> Callable[[Any], Any]:
    """A decorator for what all operations on two numbers give: `handler(api, x, y)`."""

    def register(handler: Any) -> Any:
        _binary.append(_Elementwise(handler, (x_type, y_type)))
        return handler

    return register


_asserts: list[_Elementwise] = []


def dispatch_for_binary_elementwise_assert_apis(x_type: Any, y_type: Any) -> Callable[[Any], Any]:
    """A decorator for what `tf.debugging.assert_equal` and its kin do: `handler(api, x, y)`."""

    def register(handler: Any) -> Any:
        _asserts.append(_Elementwise(handler, (x_type, y_type)))
        return handler

    return register


def unregister_dispatch_for(dispatch_target: Any) -> None:
    """Takes back what one of the decorators registered.

    Raises:
        ValueError: the function was not registered.
    """
    count = 0
    for handlers in (_unary, _binary, _asserts):
        kept = [h for h in handlers if h.handler is not dispatch_target]
        count += len(handlers) - len(kept)
        handlers[:] = kept
    for api, targets in _targets.items():
        left = [t for t in targets if t.function is not dispatch_target]
        count += len(targets) - len(left)
        _targets[api] = left
    if not count:
        words = f"unregister_dispatch_for: {dispatch_target!r} was not registered"
        raise at_site(ValueError(f"{words}."))


def fits(value: Any, kind: Any) -> bool:
    """Whether a value is of a type of a signature."""
    origin = typing.get_origin(kind)
    if origin is typing.Union or isinstance(kind, UnionType):
        return any(fits(value, k) for k in typing.get_args(kind))
    if origin in (list, tuple) or kind in (list, tuple):
        inner = typing.get_args(kind)[:1]
        return isinstance(value, list | tuple) and all(
            not inner or fits(v, inner[0]) for v in value
        )
    if kind is Any or kind is None:
        return kind is Any or value is None
    return isinstance(value, kind) if isinstance(kind, type) else False


def _answer_of_api(api: Any, arguments: dict[str, Any]) -> tuple[Any] | None:
    """The answer of the function registered for these arguments, in a tuple, if there is one."""
    for target in _targets.get(inspect.unwrap(api), ()):
        if all(fits(arguments.get(k), t) for k, t in target.types.items()):
            taken = inspect.signature(target.function).parameters
            return (target.function(**{k: v for k, v in arguments.items() if k in taken}),)
    return None


def rule_of_function(function: Any) -> Any:
    """The rule by which a public function that failed for an extension type answers."""

    def rule(*args: Any, **kwargs: Any) -> Any:
        bound = inspect.signature(function).bind(*args, **kwargs)
        bound.apply_defaults()
        found = _answer_of_api(function, bound.arguments)
        if found is None:
            found = _answer_elementwise(function, bound)
        if found is None:
            raise _unanswered(list(bound.arguments.values()))
        return found[0]

    return rule


def _answer_elementwise(function: Any, bound: inspect.BoundArguments) -> tuple[Any] | None:
    (_, x), *others = bound.arguments.items()
    rest = dict(others[1:])
    both = _asserts if function.__name__.startswith("assert_") else _binary
    for one in both if others else ():
        if fits(x, one.types[0]) and fits(others[0][1], one.types[1]):
            call = lambda x, y: function(x, y, **rest)
            return (one.handler(call, x, others[0][1]),)
    return None


def rule_of_op(op: Op) -> Any:
    """The rule by which an operation answers for extension types."""

    def rule(*inputs: Any, **attrs: Any) -> Any:
        api = _public_call()
        if api is not None:
            found = _answer_of_api(*api)
            if found is not None:
                return found[0]
        composites = [x for x in inputs if isinstance(x, CompositeOperand)]
        if len(inputs) != 2 and len(composites) == 1 and op.elementwise:
            for one in _unary:
                if fits(composites[0], one.types[0]):
                    return one.handler(lambda x: _applied(op, inputs, x, attrs), composites[0])
        if len(inputs) == 2 and op.elementwise:
            for one in _binary:
                if fits(inputs[0], one.types[0]) and fits(inputs[1], one.types[1]):
                    call = lambda x, y: apply(op, *_tensors(x, y), **attrs)
                    return one.handler(call, inputs[0], inputs[1])
        raise _unanswered(list(inputs))

    return rule


def _applied(op: Op, inputs: tuple[Any, ...], x: Any, attrs: dict[str, Any]) -> Any:
    """The operation with a tensor in the place of the composite."""
    from wengert.core.convert import operand

    return apply(
        op, *[operand(x) if isinstance(i, CompositeOperand) else i for i in inputs], **attrs
    )


def _tensors(x: Any, y: Any) -> Any:
    from wengert.ops.declare import operands

    return operands("dispatch", x, y)


def _public_call() -> tuple[Any, dict[str, Any]] | None:
    """The outermost public function with a registered answer that is being called, and its arguments."""
    found = None
    frame = sys._getframe(2)
    while frame is not None and frame.f_globals.get("__name__", "").startswith("wengert"):
        if frame.f_code in _codes:
            names = frame.f_code.co_varnames[
                : frame.f_code.co_argcount + frame.f_code.co_kwonlyargcount
            ]
            found = _codes[frame.f_code], {n: frame.f_locals.get(n) for n in names}
        frame = frame.f_back
    return found


def _unanswered(values: list[Any]) -> CompositeArgument:
    every = [x for v in values for x in (v if isinstance(v, list | tuple) else [v])]
    value = next(x for x in every if isinstance(x, CompositeOperand))
    return value.not_dense()


for_kind(
    ExtensionType,
    lambda plain: rule_of_op(plain) if isinstance(plain, Op) else rule_of_function(plain),
)

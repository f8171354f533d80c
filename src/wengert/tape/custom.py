"""Gradients that users state themselves, and functions that are computed twice to save memory.

A function under `custom_gradient` runs and is recorded as usual; its results then get new
identities, which belong to the user's rule. So the rule may use values from inside the function
and still be differentiated again.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.core import nest, random_replay
from wengert.core.apply import apply, wrap
from wengert.core.context import (
    State,
    _state,
    add_listener,
    executing_eagerly,
    get_state,
    restoring,
    using,
)
from wengert.core.convert import operand
from wengert.core.errors import at_site, require
from wengert.core.lazy_modules import lax
from wengert.core.op import Joint
from wengert.core.sites import caller
from wengert.core.tensor import is_tensor
from wengert.core.types import (
    DType,
    Gradient,
    IndexedSlices,
    JaxArray,
    Listener,
    Op,
    RawSite,
    ShapeDtype,
    SymbolicTensor,
    Tensor,
    TensorShape,
    Value,
    Variable,
)
from wengert.ops.shaping import IDENTITY, identity
from wengert.tape import gradient_values
from wengert.tape.gradient_tape import GradientTape


class _Watcher(Listener):
    """A listener that notes which trainable variables are read."""

    def __init__(self) -> None:
        self.variables: dict[int, Variable] = {}

    def record(
        self,
        op: Op,
        inputs: tuple[Value, ...],
        outputs: tuple[Tensor, ...],
        attrs: dict[str, tuple[int, ...] | DType],
        site: RawSite,
    ) -> None:
        self.follows(inputs)

    def follows(self, values: list[Tensor] | tuple[Value, ...]) -> bool:
        for x in values:  # a graph inside, such as the body of a loop, names its variables so
            if isinstance(x, Variable) and x._trainable:
                self.variables[x._id] = x
        return True


def custom_gradient(f: Callable[..., Any] | None = None) -> Any:
    """Decorates a function that returns its result and a function for the gradient.

    The gradient function gets one gradient per result and returns one per tensor argument. If
    the function reads trainable variables, it must also take `variables=` and return a pair:
    gradients of the arguments and of the variables.

    Args:
        f: the function; without it, the call gives a decorator.

    Returns:
        A function with the arguments of `f` and its result alone.

    Raises:
        TypeError: `f` does not return a pair, when it is called.

    >>> @tf.custom_gradient
    ... def clipped(x):
    ...     return x, lambda g: tf.clip_by_value(g, -1.0, 1.0)
    """
    if f is None:
        return custom_gradient

    @functools.wraps(f)
    def decorated(*args: Any, **kwargs: Any) -> Tensor | tuple[Tensor, Tensor]:
        return _call(f, args, kwargs)

    decorated.__dict__["__original_wrapped__"] = f  # as in TensorFlow; GPflow asks
    return decorated


def _own(x: Value) -> Value:
    state = get_state()
    return x if state is None or state.graph is None else state.graph.own(x)


def _owned(arguments: Any) -> Any:
    """The arguments as the graph being built knows them.

    The rule closes over what the function gets: a tensor from outside of the graph would be a
    constant to whoever differentiates the rule, and a variable could have changed.
    """
    state = get_state()
    if state is None or state.graph is None:
        return arguments
    outside = lambda x: type(x) is Tensor or isinstance(x, Variable)
    return nest.map_structure(lambda x: identity(x) if outside(x) else x, arguments)


class _Argument:
    """One leaf of the arguments: its value, and whether it was given by position."""

    def __init__(self, leaf: Any, positional: bool) -> None:
        self.value = _value(leaf)
        self.tensor = is_tensor(leaf)
        self.positional = positional


def _call(f: Callable[..., Any], args: Any, kwargs: Any) -> Tensor | tuple[Tensor, Tensor]:
    args, kwargs = _owned(_read_once(args)), _owned(_read_once(kwargs))
    arguments = _arguments(f, args, kwargs)
    inputs = [_own(a.value) for a in arguments if a.tensor]
    watcher = _Watcher()
    before = get_state()
    try:
        add_listener(watcher)
        answer = f(*args, **kwargs)
    finally:
        _state.set(before)
    result, rule = _pair(f, answer)
    given = {x._id for x in inputs}
    variables = [v for i, v in sorted(watcher.variables.items()) if i not in given]
    site = caller(1)
    flat = [operand(y) for y in nest.flatten(result)]
    op = _custom_op(f, rule, arguments, variables, single=not nest.is_nested(result))
    outs = _named_anew(op, flat, (*inputs, *variables), site)
    tell(op, flat, (*inputs, *variables), outs, site)
    return nest.pack_sequence_as(result, outs)


# In a graph, the place of a custom gradient: the results under new names, and the user's rule.
CUSTOM = Op(
    "custom_gradient",
    "*xs",
    kernel=lambda *xs, count, rule: xs[:count],
    infer=lambda *xs, count, rule: xs[:count],
    lower=lambda *xs, count, rule: xs[:count],
    grad=None,
    match=(),
    outputs=None,
    register=False,
    unchanged=lambda x, count, rule: True,
)


def _named_anew(
    op: Op, flat: list[Value], inputs: tuple[Value, ...], site: Any
) -> tuple[Tensor, ...]:
    """The results as tensors of their own, which belong to the rule."""
    state = get_state()
    if state is None or state.graph is None:
        return tuple(wrap(y._array, site) for y in flat)
    graph = state.graph
    values = tuple([graph.value_of(x) for x in (*flat, *inputs)])
    specs = [graph.specs[v] for v in values[: len(flat)]]
    made = graph.emit(CUSTOM, values, {"count": len(flat), "rule": op}, specs, site)
    return tuple([graph.tensor(v, site) for v in made])


def tell(
    op: Op, flat: list[Any], inputs: tuple[Value, ...], outs: tuple[Tensor, ...], site: Any
) -> None:
    """Tells the tapes of results that a user's rule differentiates."""
    for listener in _listeners():
        if listener.follows(inputs):
            listener.record(op, inputs, outs, {}, site)
        else:  # the rule has nothing to say; the function may still use what it closes over
            for y, out in zip(flat, outs, strict=True):
                listener.record(IDENTITY, (y,), (out,), {}, site)


_NUMERIC = (bool, int, float, complex, np.ndarray, np.generic)


def _arguments(f: Callable[..., Any], args: Any, kwargs: Any) -> list[_Argument]:
    """The tensors and numbers among the arguments, in the order of the signature."""
    results = [_Argument(x, True) for x in nest.flatten(list(args)) if _counts(x)]
    if not kwargs:
        return results
    positional = len(args)
    bound = inspect.signature(f).bind(*args, **kwargs).arguments
    named = list(bound.items())[positional:] if "args" not in bound else list(kwargs.items())
    return results + [
        _Argument(x, False) for _, value in named for x in nest.flatten(value) if _counts(x)
    ]


def _counts(x: Any) -> bool:
    return is_tensor(x) or isinstance(x, _NUMERIC)


def _read_once(arguments: Any) -> Any:
    """The arguments with what stands for a tensor read now, so that the function gets the value.

    A Keras variable that is cast when read would else be read again inside, as a variable.
    """
    if not any(_stands_for_a_tensor(x) for x in nest.flatten(arguments)):
        return arguments
    return nest.map_structure(lambda x: _value(x) if _stands_for_a_tensor(x) else x, arguments)


def _stands_for_a_tensor(x: Any) -> bool:
    return is_tensor(x) and hasattr(type(x), "handle") and not isinstance(x, Value)


def _value(x: Any) -> Value:
    handle = getattr(x, "handle", None)
    return handle if isinstance(handle, Value) else operand(x)


def _pair(f: Callable[..., Any], answer: Any) -> tuple[Any, Callable[..., Any]]:
    if isinstance(answer, tuple) and len(answer) == 2 and callable(answer[1]):
        return answer
    raise at_site(
        TypeError(
            f"custom_gradient: {_name(f)} must return a pair (result, gradient function). "
            f"Write `return y, grad`."
        )
    )


def _name(f: Callable[..., Any]) -> str:
    return getattr(f, "__name__", type(f).__name__)


def _custom_op(
    f: Callable[..., Any],
    rule: Any,
    arguments: list[_Argument],
    variables: list[Variable],
    single: bool,
) -> Op:
    """An operation, used once, whose gradient is the user's rule."""
    name = _operation_name(_name(f))
    require(
        not variables or _takes_variables(rule),
        name,
        lambda: (
            f"the function reads variables ({', '.join(v.name for v in variables)}), so its "
            "gradient function must accept `variables=None` and return (argument gradients, "
            "variable gradients)"
        ),
        kind=TypeError,
    )
    # Shapes, not tensors: the tape must not keep an argument alive for its shape.
    places = [(a.tensor, a.positional, a.value.shape) for a in arguments]

    def gradients(g: Tensor | tuple[Tensor, ...]) -> list[Tensor | None]:
        seeds = [gradient_values.dense(x) for x in (g if isinstance(g, tuple) else (g,))]
        answer = rule(*seeds, **({"variables": variables} if variables else {}))
        of_variables: list[Any] = []
        if variables:
            answer, of_variables = _variable_pair(name, answer, len(variables))
        return _placed(name, _leaves(answer), places) + of_variables

    return with_gradient(_name(f), gradients, 1 if single else None)


def _operation_name(user: str) -> str:
    return f"custom_gradient({user})"


def with_gradient(user: str, gradients: Callable[..., Any], outputs: int | None) -> Op:
    """An operation, used once on tapes, for the call of a user's function that has its own rule."""
    return Op(
        _operation_name(user),
        "*inputs",
        kernel=_no_kernel,
        infer=_no_kernel,
        lower=None,
        grad=Joint(gradients),
        outputs=outputs,
        holomorphic=False,
        user=user,
        register=False,
    )


def _placed(
    name: str, gradients: list[Tensor | None], places: list[tuple[bool, bool, TensorShape]]
) -> list[Tensor | None]:
    """The gradients of the tensor arguments, out of what the rule returned.

    A rule may answer for every argument, for those given by position, or for the tensors.
    """
    for counted in (lambda p: True, lambda p: p[1], lambda p: p[0]):
        chosen = [p for p in places if counted(p)]
        if len(chosen) == len(gradients):
            break
    else:
        raise ValueError(
            f"{name}: the gradient function must return {len(places)} gradients, one for each "
            f"argument; got {len(gradients)}."
        )
    answers = iter(gradients)
    result = []
    for k, place in enumerate(places):
        g = next(answers) if counted(place) else None
        tensor, _, shape = place
        if tensor and g is not None and not shape.is_compatible_with(g.shape):
            raise ValueError(
                f"{name}: the gradient of argument {k} must have shape {shape}; got {g.shape}."
            )
        if tensor:
            result.append(g)
    return result


def _no_kernel(*args: Any, **attrs: Any) -> ShapeDtype:
    raise AssertionError("a custom gradient is recorded, never applied")


def _takes_variables(rule: Any) -> bool:
    parameters = inspect.signature(rule).parameters
    return "variables" in parameters or any(
        p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters.values()
    )


def _variable_pair(
    name: str, answer: tuple[Tensor | list[Tensor], list[Tensor]], count: int
) -> tuple[Any, list[Any]]:
    if isinstance(answer, list | tuple) and len(answer) == 2:
        of_variables = _leaves(answer[1])
        if len(of_variables) == count:
            return answer[0], of_variables
    raise ValueError(
        f"{name}: with variables the gradient function must return (argument gradients, a list "
        f"of {count} variable gradients)."
    )


def _leaves(answer: Any) -> list[Any]:
    return [
        x if x is None or isinstance(x, IndexedSlices) else operand(x) for x in nest.flatten(answer)
    ]


def recompute_grad(f: Callable[..., Any]) -> Callable[..., Any]:
    """Keeps only the arguments of `f` on tapes and computes the inside again for the gradient.

    Random numbers drawn inside are the same the second time. As in TensorFlow, an argument that
    the result does not depend on gets zeros.

    Args:
        f: a function of tensors.

    Returns:
        A function with the same arguments and result.

    Raises:
        TypeError: `f` is not callable, when it is called.

    >>> x = tf.Variable(2.0)
    >>> block = tf.recompute_grad(lambda y: y * y * y)
    >>> with tf.GradientTape() as tape:
    ...     y = block(x)
    >>> float(tape.gradient(y, x)) == 12.0
    True
    """

    @functools.wraps(f)
    def decorated(*args: Tensor, **kwargs: Any) -> Tensor:
        keys: list[Any] = []

        @custom_gradient
        @restoring
        def once(*flat: Any) -> Any:
            given, named = nest.pack_sequence_as((args, kwargs), flat)
            watchers = tuple(x for x in _listeners() if isinstance(x, _Watcher))
            with using(_only(watchers)), random_replay.recording() as drawn:
                result = f(*given, **named)
            keys.extend(drawn)

            def gradients(
                *g: Tensor, variables: list[Variable] | None = None
            ) -> list[Gradient] | tuple[list[Gradient], list[Gradient]]:
                return _again(f, args, kwargs, flat, keys, g, variables or [])

            return result, gradients

        return once(*nest.flatten((args, kwargs)))

    return decorated


def _listeners() -> tuple[Listener, ...]:
    state = get_state()
    return () if state is None else state.listeners


def _only(listeners: tuple[_Watcher, ...]) -> State:
    old = get_state() or State()
    return State(listeners, old.graph, old.site)


def _again(
    f: Any,
    args: tuple[Tensor, ...],
    kwargs: Any,
    flat: tuple[Tensor | float, ...],
    keys: list[Any],
    g: tuple[Tensor, ...],
    variables: list[Variable],
) -> list[Gradient] | tuple[list[Gradient], list[Gradient]]:
    """Runs `f` once more under a tape of its own and pulls the gradients through it."""
    tensors = [x for x in flat if is_tensor(x)]
    # Fresh identities: the inner tape must see the arguments as its own beginnings.
    fresh = {id(x): x if isinstance(x, Variable) else barrier(x, g) for x in tensors}
    again = [fresh.get(id(x), x) for x in flat]
    given, named = nest.pack_sequence_as((args, kwargs), again)
    sources = [fresh[id(x)] for x in tensors]
    with GradientTape() as tape, random_replay.replaying(keys):
        tape.watch([s for s in sources if s.dtype.is_differentiable])
        tape.watch(variables)
        result = f(*given, **named)
    gradients = tape.gradient(
        result, [*sources, *variables], nest.pack_sequence_as(result, list(g)), "zero"
    )
    ours, theirs = gradients[: len(sources)], gradients[len(sources) :]
    return (ours, theirs) if variables else ours


def _lower_barrier(x: JaxArray, *g: JaxArray | np.ndarray) -> JaxArray:
    return lax.optimization_barrier((x, *g))[0]


# The value of `x`, in compiled code not before `g` is there: what is computed again must not be
# taken for what was computed before.
BARRIER = Op(
    "barrier",
    "*xs",
    kernel=lambda x, *g: x,
    infer=lambda x, *g: x,
    lower=_lower_barrier,
    grad=Joint(lambda g, inputs: [g] + [None] * (len(inputs) - 1)),
    match=(),
    register=False,
)


def barrier(
    x: Any, g: list[SymbolicTensor] | tuple[Tensor, ...] | list[Tensor]
) -> Tensor | IndexedSlices:
    """The same value under a new name, which no pass takes for the old one."""
    if executing_eagerly():
        return identity(x)
    return apply(BARRIER, x, *[v for v in g if v is not None])


def grad_pass_through(f: Callable[..., Any]) -> Callable[..., Any]:
    """Wraps `f` so that gradients pass as if it were the identity."""

    @custom_gradient
    def decorated(*args: Value, **kwargs: Any) -> Any:
        def gradients(*g: Tensor, **rest: Any) -> Any:
            variables = rest.get("variables")
            return (list(g), [None] * len(variables)) if variables is not None else list(g)

        return f(*args, **kwargs), gradients

    return decorated


__all__ = ["custom_gradient", "grad_pass_through", "recompute_grad"]

"""`py_function` and `numpy_function`: Python called from inside a running graph, in program order.

Before a call, variables get the values they have so far in the graph; after it they are read
again, for Python may have changed them. `py_function` is differentiable: the call keeps an eager
tape, and its gradient is a call that asks the tape.
"""

from __future__ import annotations

import functools
import itertools
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from wengert.core import dtypes
from wengert.core.apply import wrap
from wengert.core.bounded_cache import Bounded
from wengert.core.context import detached, get_state, restoring, using
from wengert.core.convert import operand
from wengert.core.dtypes import INEXACT
from wengert.core.errors import (
    InvalidArgumentError,
    InvalidTypeError,
    OpError,
    OutOfRangeError,
    ResourceExhaustedError,
    UnimplementedError,
    UnknownError,
    at_site,
    describe,
    require,
)
from wengert.core.failures import failures
from wengert.core.observers import OBSERVERS, observed
from wengert.core.sites import caller
from wengert.core.types import (
    DType,
    DTypeLike,
    RawSite,
    ShapeDtype,
    SymbolicTensor,
    Tensor,
    TensorLike,
    TensorSpec,
    Variable,
)
from wengert.functions.graph_calls import all_seeds, at_places, emit, followed, followers, tell
from wengert.functions.graph_replay import AFTER_PYTHON, BEFORE_PYTHON, REPLAYS
from wengert.graph.builder import building
from wengert.ops.nodes import FLUSH, HOST_CALL, RELOAD
from wengert.tape import gradient_values
from wengert.tape.gradient_tape import GradientTape

if TYPE_CHECKING:
    from wengert.graph.builder import Builder
    from wengert.graph.ir import Node

# The dtypes of what Python returns: of one result or of several.
Results: TypeAlias = "DTypeLike | TensorSpec | Sequence[DTypeLike | TensorSpec]"


class PyCall:
    """A Python function to be called from a graph, with the dtypes of its results."""

    def __init__(self, function: Callable[..., Any], out: Any, name: str, arrays: bool) -> None:
        self.function = function
        self.single = not isinstance(out, list | tuple)
        self.specs = [_spec(o) for o in ([out] if self.single else out)]
        self.name = name
        self.arrays = arrays

    @restoring
    def run(self, *given: Any) -> list[Tensor]:
        """Calls Python on arrays; the results as tensors of the promised dtypes."""
        tensors = [wrap(np.asarray(a)) for a in given]
        with using(detached()):
            return self.answer([t.numpy() for t in tensors] if self.arrays else tensors)

    def answer(self, given: Any) -> list[Tensor]:
        """What Python returns, checked; what it raises, as an error of this operation."""
        if not OBSERVERS:
            return self._answer(given)
        run = lambda caller, function, given: self._answer(given)
        return observed("python", run, self, self.function, given)

    def _answer(self, given: Any) -> list[Tensor]:
        try:
            result = self.function(*given)
        except OpError:
            raise
        except failures() as error:
            raise self._raised(error) from error
        if not self.specs:
            return []
        many = isinstance(result, list | tuple) and (not self.single or len(result) == 1)
        results = list(result) if many else [result]
        if len(results) != len(self.specs):
            raise InvalidArgumentError(
                None,
                None,
                f"{self.name}: Python must return {len(self.specs)} values, as `Tout` says; got "
                f"{len(results)}.",
            )
        return [
            self._one(x, s, k) for k, (x, s) in enumerate(zip(results, self.specs, strict=True))
        ]

    def _one(self, x: Any, spec: TensorSpec, k: int) -> Tensor:
        try:
            result = None if x is None else operand(x, None, spec.dtype)
        except (TypeError, ValueError):
            result = None
        if result is None or result.dtype is not spec.dtype or not spec.is_compatible_with(result):
            raise InvalidArgumentError(
                None,
                None,
                f"{self.name}: result {k} must be {describe(spec)}, as `Tout` says; got "
                f"{describe(x if result is None else result)}.",
            )
        return result

    def _raised(self, error: Exception) -> OpError:
        kind = next((k for raised, k in _KINDS if isinstance(error, raised)), UnknownError)
        frames = traceback.extract_tb(error.__traceback__)
        where = f" at {frames[-1].filename}:{frames[-1].lineno}" if frames else ""
        text = f"{type(error).__name__}{where}: {error}".rstrip(".")
        return kind(None, None, f"{self.name}: Python raised {text}.")


# What an exception of Python is called outside, as TensorFlow calls it.
_KINDS: list[tuple[type[Exception], type[OpError]]] = [
    (TypeError, InvalidTypeError),
    (ValueError, InvalidArgumentError),
    (StopIteration, OutOfRangeError),
    (MemoryError, ResourceExhaustedError),
    (NotImplementedError, UnimplementedError),
]


def _spec(out: DType | TensorSpec) -> TensorSpec:
    if isinstance(out, TensorSpec):
        return out
    return TensorSpec(None, dtypes.as_dtype(out))


def py_function(
    func: Any = None,
    inp: TensorLike | None = None,
    Tout: Results | None = None,
    name: str | None = None,
) -> Any:
    """Calls Python on tensors that have values, inside a function too; gradients pass through it.

    `Tout` gives the dtypes of the results (or `TensorSpec`s), a list for several. Without `func`
    it is a decorator: `@tf.py_function(Tout=tf.float32)`.

    Args:
        func: the Python function, which gets eager tensors.
        inp: the list of its arguments.
        Tout: the dtype of its result, or a list of dtypes.
        name: without effect.

    Returns:
        Tensors; of unknown shape inside functions.

    Raises:
        TypeError: `Tout` or `inp` is missing.

    >>> float(tf.py_function(lambda x: x * 2.0, [tf.constant(3.0)], tf.float32)) == 6.0
    True
    """
    if _decorates("py_function", func, inp, Tout):
        return _decorator("py_function", Tout, False)
    return _call(PyCall(func, Tout, "py_function", False), inp)


def numpy_function(
    func: Any = None,
    inp: TensorLike | None = None,
    Tout: Any = None,
    stateful: bool = True,
    name: str | None = None,
) -> Any:
    """Calls Python on NumPy arrays, inside a function too; no gradient passes through it.

    Without `func` it is a decorator: `@tf.numpy_function(Tout=tf.float32)`.

    Args:
        func: the Python function, which gets NumPy arrays.
        inp: the list of its arguments.
        Tout: the dtype of its result, or a list of dtypes.
        stateful: without effect; it is called every time.
        name: without effect.

    Returns:
        Tensors; of unknown shape inside functions.

    Raises:
        TypeError: `Tout` or `inp` is missing.

    >>> x = tf.numpy_function(lambda x: x[::-1].copy(), [tf.constant([1, 2])], tf.int32)
    >>> x.numpy().tolist()
    [2, 1]
    """
    if _decorates("numpy_function", func, inp, Tout):
        return _decorator("numpy_function", Tout, True)
    return _call(PyCall(func, Tout, "numpy_function", True), inp)


def _decorates(name: str, func: Any, inp: Any, types: Results | None) -> bool:
    """Whether there is no function yet; what must be given then, and otherwise."""
    if types is None:
        help = f"Give the dtypes of the results: @tf.{name}(Tout=...) or {name}(func, inp, Tout)."
        raise at_site(TypeError(f"{name}: `Tout` is missing. {help}"))
    require(
        func is not None or inp is None,
        name,
        "`inp` without `func`",
        help="A decorator takes `Tout` only.",
        kind=TypeError,
    )
    require(
        func is None or inp is not None,
        name,
        "`inp` is missing",
        help="Give the list of arguments.",
        kind=TypeError,
    )
    return func is None


def _decorator(name: str, types: Any, arrays: bool) -> Callable[[Any], Any]:
    def decorate(func: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(func)
        def calling(*args: Any) -> Any:
            return _call(PyCall(func, types, name, arrays), args)

        return calling

    return decorate


def timestamp(name: str | None = None) -> Any:
    """The seconds since 1970 as float64, asked anew in every call of a function."""
    return numpy_function(time.time, [], TensorSpec([], dtypes.float64))


def _call(call: PyCall, inp: Any) -> Any:
    require(
        callable(call.function),
        call.name,
        lambda: f"a function was expected; got {call.function!r}",
        kind=TypeError,
    )
    inputs = [operand(x) for x in _arguments(call.name, inp)]
    if building() is None:
        outs = _eagerly(call, inputs)
    else:
        outs = emit_call(call, inputs)
    return outs[0] if call.single else outs


def _arguments(name: str, inp: Any) -> list[Any]:
    """One value for each argument of the Python function; a list among them is one tensor."""
    require(
        not isinstance(inp, Mapping | str | bytes) and hasattr(inp, "__iter__"),
        name,
        "`inp` must be a list with a value for each argument",
        inp,
        help="Write [x] for a single one.",
        kind=TypeError,
    )
    return list(inp)


def _eagerly(call: PyCall, inputs: list[Tensor]) -> list[Tensor]:
    shown = [x.numpy() for x in inputs] if call.arrays else inputs
    try:
        return call.answer(shown)
    except OpError as error:
        if call.arrays and error.__cause__ is not None:  # as if Python had been called directly
            raise error.__cause__ from None
        raise (error if hasattr(error, "site") else at_site(error)) from error.__cause__


def emit_call(call: PyCall, inputs: list[Tensor], variables: bool = True) -> list[SymbolicTensor]:
    """Adds a call to the graph being built; on tapes it has a gradient if Python gave one.

    Without `variables` it neither sees nor changes any.
    """
    here: Any = building()
    state: Any = get_state()
    site = state.site or caller(1)
    # In a graph that is compiled as a whole, and in its gradient, Python sees its arguments alone.
    variables = variables and not here.root().jit
    if variables:
        _flush(here, site)
    inputs = [here.own(x) for x in inputs]
    listeners = [] if call.arrays else followers(inputs)
    floats = [x._array.dtype.num in INEXACT for x in inputs]
    follow = bool(listeners) and any(floats)
    function = _taped(call) if follow else lambda *arrays: [x._array for x in call.run(*arrays)]
    specs = [ShapeDtype(s.shape._dims, s.dtype) for s in call.specs]
    extra = [ShapeDtype((), dtypes.int64)] if follow else []
    attrs = {"function": function, "name": call.name, "call": call, "variables": variables}
    made = emit(HOST_CALL, inputs, attrs, specs + extra, site)
    if variables:
        _reload(here, site)
    if not follow:
        return made
    outs, token = made[:-1], made[-1]
    shown = [o for o in outs if o._array.dtype.num in INEXACT]
    if not shown:
        return outs

    def gradients(g: Tensor | tuple[SymbolicTensor, ...]) -> list[SymbolicTensor | None]:
        return _pull(call, inputs, floats, outs, token, all_seeds(g), variables)

    tell(listeners, call.name, inputs, tuple(shown), gradients, site=site)
    return outs


# Tapes of calls whose gradient may be asked for; where one is gone, Python is called again.
_tapes = Bounded("tapes of Python calls", 4096, 1 << 29, keeps_newest=True)
_tokens = itertools.count(1)


def _taped(call: PyCall) -> Callable[..., list[Any]]:
    def run(*arrays: np.ndarray) -> list[np.ndarray]:
        tensors, outs, tape = _record(call, arrays)
        token = next(_tokens)
        _tapes.put(token, (tensors, outs, tape), sum(x._array.nbytes for x in (*tensors, *outs)))
        return [*[x._array for x in outs], np.asarray(token)]

    return run


@restoring
def _record(
    call: PyCall, arrays: tuple[np.ndarray, ...]
) -> tuple[list[Tensor], list[Tensor], GradientTape]:
    tensors = [wrap(np.asarray(a)) for a in arrays]
    with using(detached()), GradientTape(persistent=True) as tape:
        tape.watch([t for t in tensors if t.dtype.is_differentiable])
        outs = call.answer(tensors)
    return tensors, outs, tape


def _pull(
    call: PyCall,
    inputs: list[Tensor],
    floats: list[bool],
    outs: list[SymbolicTensor],
    token: SymbolicTensor,
    seeds: list[Tensor],
    variables: bool,
) -> list[SymbolicTensor | None]:
    """The gradients of the inputs, by a call of Python that asks the tape of the first call."""
    wanted = [k for k, f in enumerate(floats) if f]
    shown = [k for k, o in enumerate(outs) if o._array.dtype.num in INEXACT]
    out = [TensorSpec(inputs[k].shape, inputs[k].dtype) for k in wanted]
    again = followed([*inputs, *seeds])

    def pull(*given: Tensor) -> list[Tensor]:
        xs, gs = list(given[: len(inputs)]), given[len(inputs) : len(inputs) + len(seeds)]
        # Asked a second time, Python is called again.
        kept = None if again else _tapes.pop(int(given[-1]))
        if kept is not None:
            tensors, results, tape = kept
        else:
            tensors, results = xs, None
            with GradientTape(persistent=True) as tape:
                tape.watch([t for t in tensors if t.dtype.is_differentiable])
                results = call.answer(tensors)
        targets = [results[k] for k in shown]
        result = tape.gradient(targets, [tensors[k] for k in wanted], list(gs), "zero")
        return [gradient_values.dense(g) for g in result]

    back = PyCall(pull, out, f"{call.name} gradient", False)
    given = [*inputs, *seeds] if again else [*inputs, *seeds, token]
    return at_places(wanted, emit_call(back, given, variables), len(inputs))


def _flush(here: Any, site: Any) -> None:
    """Lets Python see the values that variables have so far, here and in enclosing graphs.

    In a graph that is compiled as a whole, Python sees its arguments alone.
    """
    if here.root().jit:
        return
    if here.parent is not None:
        _flush(here.parent, site)
    if here.turn is not None:  # an earlier turn may have changed what enclosing graphs hold
        _hold_all(here)
    held = [h for h in here.held.values() if h.written or (here.turn is not None and h.current)]
    if held:
        variables = tuple([h.variable for h in held])
        values = tuple([h.current for h in held])
        here.emit(FLUSH, values, {"variables": variables}, [], site)


def _hold_all(here: Builder) -> None:
    """Lets a branch or a body hold the variables that enclosing graphs hold."""
    for held in [h for outer in _around(here) for h in outer.held.values()]:
        here.read(held.variable)


def _around(here: Builder) -> Iterator[Builder]:
    while here.parent is not None and here.on_create is None:
        here = here.parent
        yield here


def _reload(here: Builder, site: RawSite | None) -> None:
    """Reads variables again after Python may have changed them.

    What a branch or a body reads again is also what the graphs around it see after it.
    """
    if here.root().jit:
        return
    inside = here.parent is not None and here.on_create is None
    if inside:
        _hold_all(here)
    for held in here.held.values():
        if held.current is not None:
            held.current = _read_again(here, held.variable, held.current, site)
            held.written |= inside
    for graph in (here, *_around(here)):
        graph.reread = _read_again


def _read_again(here: Builder, variable: Variable, before: int, site: RawSite | None = None) -> int:
    return here.emit(RELOAD, (before,), {"variable": variable}, [here.specs[before]], site)[0]


def _replay(node: Node, given: list[Tensor], attrs: dict[str, Any]) -> Any:
    call = attrs.get("call")
    if call is None:  # a print
        here: Any = building()
        if here is None:
            return attrs["function"](*[x._array for x in given])
        values = tuple([here.value_of(x) for x in given])
        here.emit(HOST_CALL, values, dict(attrs), [], node.site)
        return ()
    outs = emit_call(call, given, attrs["variables"])
    token = [wrap(np.zeros((), np.int64))] if len(node.outputs) > len(outs) else []
    return [*outs, *token]


def _replay_flush(
    node: Node, given: list[SymbolicTensor], attrs: dict[str, tuple[Variable, ...]]
) -> Any:
    here = building()
    if here is not None and not here.root().jit:  # the call that follows flushes what it knows of
        here.emit(FLUSH, tuple([here.value_of(x) for x in given]), dict(attrs), [], node.site)
    return ()


def _replay_reload(
    node: Node, given: list[SymbolicTensor], attrs: dict[str, Variable]
) -> tuple[SymbolicTensor, ...]:
    here: Any = building()
    variable = attrs["variable"]
    held = here.held.get(variable._id)
    if held is not None and held.current is not None:
        return (here.snapshot(variable),)
    # In a graph whose variables are inputs, it is one of these that is read again.
    new = here.tensor(_read_again(here, variable, here.value_of(given[0]), node.site))
    new._id = given[0]._id
    return (new,)


BEFORE_PYTHON.fill(_flush)
AFTER_PYTHON.fill(_reload)
REPLAYS.fill(__name__, {HOST_CALL: _replay, FLUSH: _replay_flush, RELOAD: _replay_reload})


__all__ = ["numpy_function", "py_function", "timestamp"]

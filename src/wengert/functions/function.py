"""`tf.function`: traces a Python function once for each signature and runs the graphs.

The traces of a method live with its instance and die with it; making a `Function` is cheap, and
everything is worked out at the first call. How traces are kept, arguments bound to parameters and
made to fit an `input_signature` is said in `store`, `options` and `input_signature`.
"""

from __future__ import annotations

import functools
import sys
import time
import types
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, TypeVar, overload

from wengert.core import nest
from wengert.core.context import building_graph, get_state, restoring
from wengert.core.errors import at_site, require
from wengert.core.observers import OBSERVERS, observed
from wengert.core.process_settings import PROCESS
from wengert.core.sites import caller, find, locate
from wengert.core.types import RawSite, Specs, TensorLike, Variable
from wengert.functions import structure_json, trace_cache, trace_log, tracing_state
from wengert.functions.concrete import ConcreteFunction, DeviceVariant, described
from wengert.functions.function_options import Options
from wengert.functions.input_signature import (
    call_by_signature,
    checked_signature,
    find_by_signature,
)
from wengert.functions.signature import Same, encode, encode_all
from wengert.functions.trace import Trace, trace
from wengert.functions.trace_cache import Store
from wengert.functions.variable_sharing import Given

if TYPE_CHECKING:
    from wengert.functions.coverage import Coverage


P = ParamSpec("P")
Q = ParamSpec("Q")
R = TypeVar("R")
# Instances that no weak reference can name, and whose traces are kept, for each method.
_MOST_HELD = 64


class Function(Generic[P, R]):
    """A Python function that is traced and run as a graph; made by `tf.function`."""

    __slots__ = (
        "__dict__", "__weakref__", "_instance", "_instances", "_options", "_store",
    )  # fmt: skip

    def __init__(self, options: Options) -> None:
        self._options = options
        self._store = Store()
        self._instance: Any = None
        self._instances: dict[int, tuple[Any, Store]] = {}
        for attribute in functools.WRAPPER_ASSIGNMENTS:
            if hasattr(options.function, attribute):
                setattr(self, attribute, getattr(options.function, attribute))

    # Calling.

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        options = self._options
        if OBSERVERS:
            return observed("call", Function._call, self, args, kwargs)
        if (
            kwargs
            or not options.quick
            or len(args) + (self._instance is not None) != options.count
            or (PROCESS.calls_in_full and tracing_state.is_special())
        ):
            return self._call(args, kwargs)
        options.counter.calls += 1
        leaves: list[Any] = []
        try:
            key = tuple([encode(a, leaves) for a in args]) if args else ()
        except RecursionError as error:
            raise nest.too_deep("function", error, *args) from None
        trace = self._store.traces.get(key)
        if trace is None or (trace.outer is not None and not trace.belongs_here()):
            trace = trace_cache.find(
                self, key, *options.bound(self._instance, args, kwargs), caller(0)
            )
        state = get_state()
        if state is None or state.site is None:
            return trace.call(leaves, find(sys._getframe(1)))
        return trace.call(leaves, state.site)

    def _call(self, args: Any, kwargs: Any) -> Any:
        """A call in general; `__call__` says the same for positional arguments alone."""
        if PROCESS.runs_eagerly:
            return self.python_function(*args, **kwargs)
        context = tracing_state.CONTEXT.get()
        if context != self._store.context:
            return self._call_within(context, args, kwargs)
        options = self._options
        options.counter.calls += 1
        if options.drives and args and hasattr(args[0], "drives_in_python"):
            return self._driven(args, kwargs)
        if options.input_signature is not None:
            return call_by_signature(self, args, kwargs)
        leaves: list[Any] = []
        trace = self._found(*options.bound(self._instance, args, kwargs), leaves, caller(0))
        state = get_state()
        site = state.site if state is not None else None
        return trace.call(leaves, find(sys._getframe(1)) if site is None else site)

    def _call_within(self, context: Any, args: Any, kwargs: Any) -> Any:
        """A call with the traces that are made for another context."""
        options, store = self._options, self._store.within(context)
        if (
            not kwargs
            and options.quick
            and len(args) + (self._instance is not None) == options.count
        ):
            leaves: list[Any] = []
            trace = store.traces.get(tuple(encode_all(args, leaves)))
            if trace is not None and trace.belongs_here():
                options.counter.calls += 1
                state = get_state()
                site = None if state is None else state.site
                return trace.call(leaves, find(sys._getframe(3)) if site is None else site)
        return self._within(context)._call(args, kwargs)

    def _within(self, context: Any) -> Function:
        """The same function, with the traces that are made for another context."""
        other = object.__new__(type(self))
        other._options, other._instance = self._options, self._instance
        other._store, other._instances = self._store.within(context), self._instances
        return other

    @restoring
    def _driven(self, args: Any, kwargs: Any) -> Any:
        """Runs the Python of a loop over a dataset's iterator, whose steps are functions."""
        trace_cache.DRIVEN.set(args[0].element_spec)
        return self.python_function(*args, **kwargs)

    def _found(self, pairs: Any, named: Any, leaves: list[Any], site: Any) -> Trace:
        """The trace for arguments, made if there is none; their tensors are added to `leaves`."""
        key = (
            *encode_all([v for _, v in pairs], leaves),
            *zip(named, encode_all(named.values(), leaves), strict=True),
        )
        trace = self._store.traces.get(key)
        if trace is None or not trace.belongs_here():
            trace = trace_cache.find(self, key, pairs, named, site)
        return trace

    @restoring
    def _trace(self, key: Any, pairs: Any, named: Any, specs: Any, site: RawSite | None) -> Trace:
        store, options = self._store, self._options
        with store.lock:
            cached = store.traces.get(key)
            if cached is not None and cached.belongs_here():
                return cached
            self._check_count(pairs, named, site)
            started = time.perf_counter()
            with tracing_state.entering(self._options, site):
                if OBSERVERS:
                    given_to = self, pairs, named, specs, site
                    cached = observed("trace", Function._run_trace, *given_to)
                else:
                    cached = self._run_trace(pairs, named, specs, site)
            store.keep(key, cached)
            store.wide.note(pairs, named, cached)
            store.started = True
            taken = time.perf_counter() - started
            cached.given = given = trace_log.spelled(pairs, named)
            cached.arguments = structure_json.pack_arguments(pairs, named)
            note = trace_log.Note(site, given, taken, options.counter.calls)
            store.notes = [*store.notes[1 - trace_log.MOST :], note]
            # While another function is traced, every call of this one is part of a trace.
            if building_graph() is None and options.counter.often():
                trace_log.TRACED_OFTEN.call(self, note)
            return cached

    def _run_trace(self, pairs: Any, named: Any, specs: Any, site: RawSite | None) -> Trace:
        store, options = self._store, self._options
        creating: list[Variable] | None = None if store.started else []
        function = self._converted()
        given = Given(pairs, named)
        pairs, named = given.pairs, given.named
        result = trace(options.name, function, pairs, named, specs, creating, options.jit, site)
        store.count += 1
        if creating:
            # Whether it creates them on every call, only a second look can tell.
            store.made_variables = True
            kept, again = result.created, iter(result.specs)
            result = trace(
                options.name, function, pairs, named, lambda x: next(again), (), options.jit, site
            )
            result.created = kept
            store.count += 1
        if given.variables:
            store.shared.keep(given, result)
        return result

    def _converted(self) -> Callable[..., Any]:
        function = self.python_function
        if not self._options.autograph:
            return function
        return tracing_state.convert(function)

    def _check_count(self, pairs: Any, named: Any, site: RawSite | None) -> None:
        most = self._options.max_traces
        if most is not None and self._store.count - self._store.made_variables >= most:
            given = trace_log.spelled(pairs, named)
            raise trace_log.too_many(self._options.name, most, self._store.notes, given, site)

    # As a method.

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> Function[P, R]: ...
    @overload
    def __get__(
        self: Function[Concatenate[Any, Q], R], instance: object, owner: type | None = None
    ) -> Function[Q, R]: ...
    def __get__(self, instance: Any, owner: type | None = None) -> Function[..., R]:
        if instance is None or self._instance is not None:
            return self
        entry = self._instances.get(id(instance))
        if entry is None or entry[0]() is not instance:
            entry = self._adopt(instance)
        bound = object.__new__(type(self))
        bound._options = self._options
        bound._store = entry[1]
        bound._instance = instance
        bound._instances = self._instances
        return bound

    def _adopt(self, instance: Any) -> tuple[Any, Store]:
        number = id(instance)
        instances = self._instances
        try:
            ref: Any = weakref.ref(instance, lambda _: instances.pop(number, None))
        except TypeError:  # slots without a place for weak references
            ref = lambda: instance
            self._forget_oldest()
        entry = instances[number] = (ref, Store())
        return entry

    def _forget_oldest(self) -> None:
        """Drops the oldest instance that is kept alive here, where there are too many of them."""
        held = [n for n, (ref, _) in self._instances.items() if not isinstance(ref, weakref.ref)]
        if len(held) >= _MOST_HELD:
            self._instances.pop(held[0], None)

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, Function)
            and self._store is other._store
            and self._instance is other._instance
        )

    def __hash__(self) -> int:
        return id(self._store)

    def __trace_key__(self) -> tuple[Same, Same] | Same:
        """As an argument of another function, a method is known by its instance."""
        return Same(self) if self._instance is None else (Same(self._options), Same(self._instance))

    def __copy__(self) -> Function:
        return Function(self._options)

    def __deepcopy__(self, memo: Any) -> Function:
        return Function(self._options)

    def __reduce__(self) -> Any:
        """By name, as Python's functions pickle; the traces are made anew."""
        options = self._options
        function = options.function
        if self._instance is not None:
            return getattr, (self._instance, function.__name__)
        named = _by_name(function)
        if named is self:
            return function.__qualname__
        if named is function:
            return _remade, (function, options.name, options.input_signature, options.autograph,
                             options.jit, options.reduce_retracing, options.max_traces)  # fmt: skip
        rule = "a traced function pickles where a module has it, or its Python function, by name"
        raise at_site(TypeError(f"{options.name}: {rule}. Define it at the top of a module."))

    # What is asked of it.

    @property
    def python_function(self) -> Callable[..., Any]:
        """The Python function itself."""
        function = self._options.function
        return function if self._instance is None else types.MethodType(function, self._instance)

    @property
    def __wrapped__(self) -> Callable[..., Any]:
        return self.python_function

    @property
    def name(self) -> str:
        return self._options.name

    @property
    def label(self) -> str:
        """What a profile calls it."""
        return self._options.name

    @property
    def input_signature(self) -> Any:
        return self._options.input_signature

    @property
    def function_spec(self) -> Any:
        if self._options.signature is None:
            self._options.learn()
        return self._options.signature

    def experimental_get_tracing_count(self) -> int:
        """How often the Python function has been traced."""
        return self._store.whole_count()

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> ConcreteFunction:
        """The function for one signature, given by tensors, Python values or `TensorSpec`s."""
        site = caller(1)
        leaves: list[Any] = []
        if self._options.input_signature is not None:
            return ConcreteFunction(
                self._options.name, *find_by_signature(self, args, kwargs, site)
            )
        pairs, named = self._options.bound(self._instance, args, kwargs)
        result = self._found(pairs, named, leaves, site)
        return ConcreteFunction(self._options.name, result, pairs, named)

    def _get_concrete_function_garbage_collected(self, *args: Any, **kwargs: Any) -> Any:
        return self.get_concrete_function(*args, **kwargs)

    def pretty_printed_concrete_signatures(self, verbose: bool = True) -> str:
        """The signatures traced so far, for people."""
        return "\n\n".join(described(self._options.name, t) for t in self._store.traces.values())

    def _list_all_concrete_functions(self) -> list[ConcreteFunction]:
        results = [t for t in self._store.traces.values() if not isinstance(t.arguments, str)]
        return [
            ConcreteFunction(
                self._options.name, t, *structure_json.unpack_arguments(t.arguments, t.specs)
            )
            for t in results
        ]

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        """The traces by name, as Keras asks for them when it exports; a checkpoint has none."""
        result = [] if save_type == "checkpoint" else self._list_all_concrete_functions()
        return {f"trace_{k}": concrete for k, concrete in enumerate(result)}

    def coverage(self) -> Coverage:
        """Which engine runs what, and why; and whether Python control flow was converted."""
        from wengert.functions.coverage import Coverage

        return Coverage(self)

    def experimental_get_compiler_ir(self, *args: TensorLike, **kwargs: Any) -> Callable[..., str]:
        """A function of `stage` that gives the compiler's view of the traced function."""
        from wengert.functions.coverage import compiler_text

        concrete = self.get_concrete_function(*args, **kwargs)
        return lambda stage="hlo", device_name=None, **rest: compiler_text(concrete, stage)

    def __repr__(self) -> str:
        where = locate(caller_of(self._options.function))
        return f"<tf.function {self._options.name}{f' at {where}' if where else ''}>"


def caller_of(function: Any) -> RawSite | None:
    """The first line of a Python function as a site."""
    code = getattr(function, "__code__", None)
    return None if code is None else (code, 0)


@overload
def function(
    func: Callable[P, R],
    input_signature: Specs | None = None,
    autograph: bool = True,
    jit_compile: bool | None = None,
    reduce_retracing: bool = False,
    experimental_implements: str | None = None,
    experimental_autograph_options: Any = None,
    experimental_attributes: Any = None,
    experimental_relax_shapes: bool | None = None,
    experimental_compile: bool | None = None,
    experimental_follow_type_hints: bool | None = None,
    max_traces: int | None = None,
) -> Function[P, R]: ...
@overload
def function(
    *,
    input_signature: Specs | None = None,
    autograph: bool = True,
    jit_compile: bool | None = None,
    reduce_retracing: bool = False,
    experimental_implements: str | None = None,
    experimental_autograph_options: Any = None,
    experimental_attributes: Any = None,
    experimental_relax_shapes: bool | None = None,
    experimental_compile: bool | None = None,
    experimental_follow_type_hints: bool | None = None,
    max_traces: int | None = None,
) -> Callable[[Callable[P, R]], Function[P, R]]: ...
def function(
    func: Callable[..., Any] | None = None,
    input_signature: Specs | None = None,
    autograph: bool = True,
    jit_compile: bool | None = None,
    reduce_retracing: bool = False,
    experimental_implements: str | None = None,
    experimental_autograph_options: Any = None,
    experimental_attributes: Any = None,
    experimental_relax_shapes: bool | None = None,
    experimental_compile: bool | None = None,
    experimental_follow_type_hints: bool | None = None,
    max_traces: int | None = None,
) -> Any:
    """Compiles a function into graphs, one for each signature of its arguments.

    The Python code runs once per signature, on tensors without values; after that the graph runs,
    on NumPy or compiled through XLA, whichever suits the work. `jit_compile=True` demands XLA.
    `input_signature` fixes the signature, with `None` for sizes that vary. `max_traces` makes a
    further trace an error that says what differed.

    Args:
        func: the Python function; without it, the call gives a decorator.
        input_signature: a `TensorSpec` for each argument: one trace for all calls.
        autograph: whether Python control flow on tensors is converted.
        jit_compile: `True` demands XLA, `False` forbids it.
        reduce_retracing: whether sizes that differ between calls are generalised early.
        experimental_implements, experimental_autograph_options: without effect.
        experimental_attributes: one that says `api_preferred_device="GPU"` makes a variant of
            another function, which is never traced; the others have no effect.
        experimental_relax_shapes, experimental_compile: older names of `reduce_retracing` and `jit_compile`.
        experimental_follow_type_hints: without effect.
        max_traces: how many traces there may be.

    Returns:
        A `Function`, called as the function is, or a decorator.

    Raises:
        TypeError: `func` is not callable.
        ValueError: a call does not fit `input_signature`.

    >>> @tf.function
    ... def area(r):
    ...     return 3.0 * r ** 2
    >>> float(area(tf.constant(2.0)))
    12.0
    """
    if experimental_relax_shapes:
        reduce_retracing = True
    if experimental_compile is not None and jit_compile is None:
        jit_compile = experimental_compile
    checked = checked_signature(input_signature)

    def decorate(inner: Callable[..., Any]) -> Function:
        inner = inner.python_function if isinstance(inner, Function) else inner
        require(callable(inner), "function", "a callable was expected", inner, kind=TypeError)
        if (experimental_attributes or {}).get("api_preferred_device") == "GPU":
            variant: Any = DeviceVariant(inner)
            return variant
        name = getattr(inner, "__name__", None) or _name(inner)
        made = Options(inner, name, checked, autograph, jit_compile, reduce_retracing, max_traces)
        return Function(made)

    return decorate if func is None else decorate(func)


def _name(inner: Any) -> str:
    if isinstance(inner, functools.partial):
        return getattr(inner.func, "__name__", type(inner.func).__name__)
    return type(inner).__name__


def _by_name(function: Any) -> Any:
    """What a module has under the name of a function."""
    value: Any = sys.modules.get(getattr(function, "__module__", None) or "")
    for part in getattr(function, "__qualname__", "").split("."):
        value = getattr(value, part, None)
    return value


def _remade(*facts: Any) -> Function[..., Any]:
    """A function of the same options, for `pickle`."""
    return Function(Options(*facts))

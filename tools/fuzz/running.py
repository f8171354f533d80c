"""Runs the text of a program in a mode and records all that can be compared.

Knows `tf` as an argument only: Wengert here, TensorFlow in the other interpreter.
"""

from __future__ import annotations

import linecache
import os
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import lru_cache
from types import CodeType
from typing import Any

import numpy as np

from tools.fuzz.program import PARAMETERS, SHAPES, Program, helpers

MODES: dict[str, dict[str, Any]] = {
    "eager": {},
    "host": {"engine": "host"},
    "around": {"engine": "host", "around": True},
    "open": {"engine": "host", "open": True},
    "auto": {"engine": None, "calls": 3},
    "xla": {"jit": True},
    "xla_open": {"jit": True, "open": True},
    "graph": {"engine": None},
    "replicas": {"replicas": 2},
}
OPEN_MODES = [m for m, o in MODES.items() if o.get("open")]
XLA_MODES = [m for m, o in MODES.items() if o.get("jit")]


# After how many seconds a call counts as one that never ends.
LIMIT = 60.0
# How many times as long a call may take that does not compute.
_PATIENCE = 10


class Endless(BaseException):
    """A call that does not end; not an `Exception`, so that no program catches it."""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Ends what takes longer, where signals can (in the main thread, not on Windows)."""

    begun = time.process_time(), time.monotonic()

    def end(number: int, frame: Any) -> None:
        # On a busy machine, or stopped, it has had less: then it waits as long as for a lock.
        if time.process_time() - begun[0] < seconds > (time.monotonic() - begun[1]) / _PATIENCE:
            return
        # Elsewhere it may be in a callback of the garbage collector, which would lose it; the next
        # signal comes soon.
        if str(frame.f_globals.get("__name__")).split(".")[0] in ("fuzz", "wengert", "tensorflow"):
            raise Endless(f"no end after {seconds:.0f} s")

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    old = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, seconds, 0.05)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)


@dataclass
class Outcome:
    """What a run gave: arrays by name (values, gradients, variables), or an error."""

    arrays: dict[str, np.ndarray] = field(default_factory=dict)
    error: str = ""
    kinds: tuple[str, ...] = ()
    message: str = ""
    exception: BaseException | None = None


def load(tf: Any, text: str) -> dict[str, Any]:
    """The globals of a program's text; its lines are kept where `inspect` finds them."""
    code = _compiled(text)
    name = code.co_filename
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    space = {**helpers(tf), "__name__": "fuzz"}
    exec(code, space)
    space["__file__"] = name
    return space


@lru_cache(4)
def _compiled(text: str) -> CodeType:
    """The code of a text: one for all modes, so that its functions are converted once."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return compile(text, f"<fuzz {abs(hash(text))}>", "exec")


def slopes(
    tf: Any, value: Callable[..., Any], variables: Any, order: int, statics: list[Any]
) -> Any:
    """A function of the arguments to (values, first and second gradients)."""

    def flat(found: Any) -> list[Any]:
        return [tf.convert_to_tensor(y) for y in tf.nest.flatten(found, expand_composites=True)]

    def total(found: list[Any]) -> Any:
        parts = [tf.reduce_sum(tf.sin(y)) for y in found if y.dtype.is_floating]
        return tf.add_n([tf.cast(p, tf.float64) for p in parts])

    def whole(*given: Any) -> Any:
        sources = [*given[:4], *variables]
        with tf.GradientTape(watch_accessed_variables=order > 1) as outer:
            for x in given[:4] if order > 1 else ():
                outer.watch(x)
            with tf.GradientTape(watch_accessed_variables=order > 0) as tape:
                for x in given[:4] if order else ():
                    tape.watch(x)
                ys = flat(value(*given))
                out = total(ys) if order else None
            first = tape.gradient(out, sources, unconnected_gradients="zero") if order else []
            first = [tf.convert_to_tensor(d) for d in first]
            second = total(first) if order > 1 else None
        last = (
            outer.gradient(second, sources[:4], unconnected_gradients="zero") if order > 1 else []
        )
        statics.append([(y.dtype.name, y.shape) for y in ys])
        return ys, first, [tf.convert_to_tensor(d) for d in last]

    return whole


def run(
    tf: Any, program: Program, mode: str, which: int = 0, limit: float = LIMIT
) -> list[Outcome]:
    """The outcome of each call in `mode`; open modes are called with two sets of arguments."""
    options = MODES[mode]
    seeds = (0, 1) if options.get("open") else (which,)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with _variables_of(tf, options):
                space = load(tf, program.text)
            f, statics = _prepared(tf, program, space, options, program.order)
        except Exception as e:
            return [_failed(NameError(str(e)))] * len(seeds)
        results = []
        for k in seeds:
            given = [tf.constant(a) for a in program.arguments(k)]
            calls = range(options.get("calls", 1))
            results.append([_call(tf, f, space, given, statics, limit) for _ in calls][-1])
    return results


def _prepared(
    tf: Any, program: Program, space: dict[str, Any], options: dict[str, Any], order: int
) -> Any:
    statics: list[Any] = []
    if not options:
        return slopes(tf, space["program"], space["VARIABLES"], order, statics), statics
    if "replicas" in options:
        f = slopes(tf, space["program"], space["VARIABLES"], order, statics)
        return _in_replicas(tf, f, options["replicas"]), statics
    extra: dict[str, Any] = {}
    if options.get("jit"):
        extra["jit_compile"] = True
    if options.get("open"):
        kinds, dtype = PARAMETERS.values(), program.dtype
        extra["input_signature"] = [
            tf.TensorSpec([None] * len(SHAPES[k]), "int32" if k == "i" else dtype) for k in kinds
        ]
    if options.get("around"):
        value = tf.function(space["program"], **extra)
        f = slopes(tf, value, space["VARIABLES"], order, statics)
    else:
        f = slopes(tf, space["program"], space["VARIABLES"], order, statics)
        f = tf.function(f, **extra)
    engine = options.get("engine")
    scope = (lambda: tf.engine(engine)) if engine else nullcontext

    def called(*given: Any) -> Any:
        with scope():
            return f(*given)

    return called, statics


@lru_cache(1)
def _strategy(tf: Any, count: int) -> Any:
    return tf.distribute.MirroredStrategy([f"CPU:{k}" for k in range(count)])


@contextmanager
def _variables_of(tf: Any, options: dict[str, Any]) -> Iterator[None]:
    """Makes variables that replicas may assign, where the mode has replicas."""
    if "replicas" not in options:
        yield
        return
    first = tf.VariableAggregation.ONLY_FIRST_REPLICA
    creator = lambda following, **given: following(**{**given, "aggregation": first})
    with _strategy(tf, options["replicas"]).scope(), tf.variable_creator_scope(creator):
        yield


def _in_replicas(tf: Any, f: Callable[..., Any], count: int) -> Callable[..., Any]:
    """The function run in replicas that all have the same arguments, and so the same results."""
    strategy = _strategy(tf, count)

    def called(*given: Any) -> Any:
        same = [
            strategy.experimental_distribute_values_from_function(lambda c, x=x: x) for x in given
        ]
        parts = strategy.experimental_local_results(strategy.run(f, args=tuple(same)))
        flat = [tf.nest.flatten(part) for part in parts]
        for column in zip(*flat, strict=True):
            for other in column[1:]:
                np.testing.assert_array_equal(np.asarray(column[0]), np.asarray(other))
        return parts[0]

    return called


def _call(
    tf: Any, f: Any, space: dict[str, Any], given: list[Any], statics: list[Any], limit: float
) -> Outcome:
    if not all(isinstance(v, tf.Variable) for v in space["VARIABLES"]):
        return _failed(NameError("VARIABLES holds variables"))
    starts = space.setdefault("STARTS", [v.numpy() for v in space["VARIABLES"]])
    for v, start in zip(space["VARIABLES"], starts, strict=True):
        v.assign(start)
    arrays: dict[str, np.ndarray] = {}
    try:
        with limited(limit):
            ys, first, last = f(*given)
        for name, group in (("value", ys), ("gradient", first), ("second", last)):
            arrays.update({f"{name} {k}": np.asarray(y) for k, y in enumerate(group)})
    except (Exception, Endless) as e:
        return _failed(e)
    for k, v in enumerate(space["VARIABLES"]):
        arrays[f"variable {k}"] = v.numpy()
    for k, (dtype, shape) in enumerate(statics[-1]):
        real = arrays[f"value {k}"]
        if not tf.TensorShape(shape).is_compatible_with(real.shape):
            arrays[f"static shape {k}: {shape}, but really {real.shape}"] = np.zeros(0)
        if dtype != "string" and dtype != real.dtype.name:
            arrays[f"static dtype {k}: {dtype}, but really {real.dtype}"] = np.zeros(0)
    return Outcome(arrays)


def _failed(e: BaseException) -> Outcome:
    kinds = tuple(
        c.__name__ for c in type(e).__mro__ if c not in (object, BaseException, Exception)
    )
    return Outcome(error=type(e).__name__, kinds=kinds, message=str(e), exception=e)


def backend() -> Any:
    """Wengert, on the CPU, without the doctor's warnings."""
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    import wengert

    return wengert

"""The one door: every operation, by whoever called, goes through `apply`.

It runs the NumPy kernel (or hands the operation to the graph being built), makes the result
tensor with the user's call site, and tells the listeners. `run` says so in general; `apply` for any
number of tensors, `apply1` for one, `apply2` for two without attributes and infix operators
(`ops.operators`) say the same in full, since a shared helper would be one more Python call per
operation. What is not a plain array of a dtype that the operation takes goes to the slow branch,
`unusual`, and so does every operation while observers want to hear of them.
"""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wengert.core import dtypes
from wengert.core.composite_operands import ANSWER, CompositeOperand
from wengert.core.context import get_state
from wengert.core.errors import (
    InvalidArgumentError,
    InvalidTypeError,
    at_site,
    describe,
    exhausted,
    finds_no_room,
    invalid_dtype,
    lower_first,
    say,
)
from wengert.core.failures import failures
from wengert.core.hooks import Hook
from wengert.core.host_memory import keep_freed
from wengert.core.observers import observed
from wengert.core.op import Op, ShapeDtype
from wengert.core.process_settings import PROCESS
from wengert.core.sites import SEEN, RawSite, find, place
from wengert.core.tensor import Tensor, Value, new_id

_new = object.__new__
_ndarray = np.ndarray
_frame = sys._getframe

# Infinities and NaN are values here, not accidents. Setting NumPy's error state around each
# kernel would cost as much as the kernel; its warnings are silenced instead, and where a program
# turns them into exceptions, the kernel runs again under `errstate` (see `rescue`).
warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"wengert\.")

# Tensors in the dtype that they have together, where `PROCESS.promotes`.
PROMOTE: Hook[Callable[[Any], list[Any]]] = Hook(
    "promote dtypes", "wengert.experimental.numpy_api.behavior"
)
keep_freed()


def apply(op: Op, *inputs: Any, **attrs: Any) -> Any:
    """Runs one operation on tensors (positional) with static attributes (by keyword)."""
    state = get_state()
    if state is not None and state.graph is not None:
        return state.graph.add(op, inputs, attrs)
    usual = op.usual
    for x in inputs:
        if x._array.dtype is not usual:
            if op.passes is not op.accepts or refuses(op, inputs):
                return unusual(op, inputs, attrs)
            break
    else:
        if not inputs and op.passes is not op.accepts:
            return unusual(op, inputs, attrs)
    try:
        result = op.kernel(*[x._array for x in inputs], **attrs)
    except failures() as error:
        result = rescue(op, inputs, attrs, error)
    if state is None or state.site is None:
        frame = _frame(2)
        code = frame.f_code
        site = (code, frame.f_lasti) if code is SEEN.code else place(frame, 2)
    else:
        site = state.site
    if op.outputs == 1:
        if type(result) is not _ndarray:
            result = np.asarray(result)
        out = _new(Tensor)
        out._array = result
        out._id = new_id()
        out._site = site
        if state is not None:
            for listener in state.listeners:
                listener.record(op, inputs, (out,), attrs, site)
        return out
    outs = tuple([wrap(np.asarray(r), site) for r in result])
    if state is not None:
        for listener in state.listeners:
            listener.record(op, inputs, outs, attrs, site)
    return outs


def apply1(op: Op, x: Value, **attrs: Any) -> Tensor:
    """`apply` for one tensor and one result."""
    state = get_state()
    if state is not None and state.graph is not None:
        return state.graph.add(op, (x,), attrs)
    a = x._array
    if a.dtype is not op.usual and a.dtype.num not in op.passes:
        return unusual(op, (x,), attrs)
    try:
        result = op.kernel(a, **attrs) if attrs else op.kernel(a)
    except failures() as error:
        result = rescue(op, (x,), attrs, error)
    if type(result) is not _ndarray:
        result = np.asarray(result)
    if state is None or state.site is None:
        frame = _frame(2)
        code = frame.f_code
        site = (code, frame.f_lasti) if code is SEEN.code else place(frame, 2)
    else:
        site = state.site
    out = _new(Tensor)
    out._array = result
    out._id = new_id()
    out._site = site
    if state is not None:
        if state.only1 is not None:
            state.only1(op, x, out, site, attrs)
        else:
            for listener in state.listeners:
                listener.record1(op, x, out, site, attrs)
    return out


def apply2(op: Op, x: Any, y: Any) -> Tensor:
    """`apply` for two tensors of one dtype and no attributes."""
    state = get_state()
    if state is not None and state.graph is not None:
        return state.graph.add(op, (x, y), {})
    a = x._array
    b = y._array
    usual = op.usual
    if (a.dtype is not usual or b.dtype is not usual) and not fits(op, a, b):
        return unusual(op, (x, y), {})
    try:
        result = op.kernel(a, b)
    except failures() as error:
        result = rescue(op, (x, y), {}, error)
    if type(result) is not _ndarray:
        result = np.asarray(result)
    if state is None or state.site is None:
        frame = _frame(2)
        code = frame.f_code
        site = (code, frame.f_lasti) if code is SEEN.code else place(frame, 2)
    else:
        site = state.site
    out = _new(Tensor)
    out._array = result
    out._id = new_id()
    out._site = site
    if state is not None:
        if state.only2 is not None:
            state.only2(op, x, y, out, site)
        else:
            for listener in state.listeners:
                listener.record2(op, x, y, out, site)
    return out


def unusual(op: Op, inputs: tuple[Value, ...], attrs: dict[str, Any]) -> Any:
    """The slow branch of the door: for observed operations, and inputs that are not accepted."""
    if refuses(op, inputs):
        return answer_refused(op, inputs, attrs)
    return observed("operation", run, op, inputs, attrs)


def run(op: Op, inputs: tuple[Value, ...], attrs: dict[str, Any]) -> Any:
    """What `apply` does outside graphs, in general: kernel, results with a site, listeners."""
    try:
        result = op.kernel(*[x._array for x in inputs], **attrs)
    except failures() as error:
        result = rescue(op, inputs, attrs, error)
    state = get_state()
    site = find(_frame(1)) if state is None or state.site is None else state.site
    results = (result,) if op.outputs == 1 else result
    outs = tuple([wrap(np.asarray(r), site) for r in results])
    for listener in () if state is None else state.listeners:
        listener.record(op, inputs, outs, attrs, site)
    return outs[0] if op.outputs == 1 else outs


def wrap(array: np.ndarray, site: RawSite | None = None) -> Tensor:
    """A new tensor that owns `array`; nobody may write to it afterwards."""
    out = _new(Tensor)
    out._array = array
    out._id = new_id()
    out._site = site
    return out


def spec(x: Value) -> ShapeDtype:
    """Shape and dtype of an eager tensor, for a shape rule."""
    return ShapeDtype(x._array.shape, dtypes.of(x._array))


def fits(op: Op, a: np.ndarray, b: np.ndarray) -> bool:
    """Whether the operation takes two arrays of these dtypes."""
    m, n = a.dtype.num, b.dtype.num
    return m in op.passes and (m == n or (op.match == () and n in op.passes))


def refuses(op: Op, inputs: tuple[Any, ...]) -> bool:
    """Whether the operation does not take these dtypes, or composites, which have none."""
    accepts, first, equal = op.accepts, None, True
    for x in inputs:
        num = x._array.dtype.num
        if num not in accepts:
            return True
        if first is None:
            first = num
        elif num != first:
            equal = False
    return not equal and _mixes(op, inputs)


def _mixes(op: Op, inputs: tuple[Any, ...]) -> bool:
    """Whether inputs have different dtypes where the operation wants one."""
    match = op.match
    if match is None:
        num = inputs[0]._array.dtype.num
        for x in inputs:
            if x._array.dtype.num != num:
                return True
    elif match:
        num = inputs[match[0]]._array.dtype.num
        for i in match:
            if inputs[i]._array.dtype.num != num:
                return True
    return False


# Classes of libraries derived from variables that have a conversion to tensors of their own: their
# dtype need not be that of their array.
CONVERTED: set[type] = set()


def answer_refused(op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
    """What an operation gives for inputs that it refuses: composites, or dtypes to be promoted."""
    if any(isinstance(x, CompositeOperand) for x in inputs):
        return ANSWER.call(op, inputs, attrs)
    if CONVERTED and any(isinstance(x, tuple(CONVERTED)) for x in inputs):
        from wengert.core.convert import operand

        return apply(op, *[operand(x) for x in inputs], **attrs)
    if PROCESS.promotes and op.elementwise and len({x.dtype for x in inputs}) > 1:
        return apply(op, *PROMOTE.call(inputs), **attrs)
    raise bad_dtype(op, inputs)


def bad_dtype(op: Op, inputs: tuple[Value, ...]) -> Exception:
    """What to raise for tensors whose dtypes the operation does not take."""
    result = inputs if op.match is None else [inputs[i] for i in op.match]
    kinds = list(dict.fromkeys(x.dtype for x in result))
    accepted = [d for d in kinds if d.np.num in op.accepts and d.kind != "b"]
    for x in inputs:
        # Of two dtypes of which one is right, the other is to be cast to it.
        mixed = accepted and x.dtype in kinds and x.dtype.kind in "biu"
        if x._array.dtype.num not in op.accepts and not mixed:
            allowed = sorted({dtypes.BY_NUM[n].name for n in op.accepts})
            text = x.dtype == dtypes.string and accepted
            return invalid_dtype(
                op.name,
                f"dtype {x.dtype.name} is not supported",
                *inputs,
                help="Turn text into numbers with tf.strings.to_number."
                if text
                else f"Cast to one of {', '.join(allowed)} with tf.cast.",
            )
    # Of an integer and a float the integer is cast, so that the advice loses nothing.
    order = sorted(kinds, key=lambda d: "biufc".find(d.kind))
    old, new = (order[0], order[-1]) if order[0].kind != order[-1].kind else (kinds[1], kinds[0])
    return invalid_dtype(
        op.name,
        "the arguments must have the same dtype; there is no promotion between "
        + " and ".join(d.name for d in kinds),
        *result,
        help=_unfit(result, old, new) or f"Cast the {old.name} one with tf.cast(x, tf.{new.name}).",
    )


def _unfit(inputs: Sequence[Value], old: dtypes.DType, new: dtypes.DType) -> str:
    """What to do for a number that a cast from `old` to `new` would change; empty for others."""
    for x in inputs:
        if x.dtype is old and isinstance(x._array, np.ndarray | np.generic) and not x._array.ndim:
            number = x._array.item()
            if old.is_integer and new.is_integer and not new.min <= number <= new.max:
                wide = f"cast the {new.name} one with tf.cast(x, tf.{old.name})"
                return f"{number} does not fit {new.name}: {wide}."
    return ""


def rescue(op: Op, inputs: tuple[Value, ...], attrs: dict[str, Any], error: Exception) -> Any:
    """Answers a failed kernel: runs it again without floating-point traps, or explains."""
    if isinstance(error, RuntimeWarning | FloatingPointError):
        with np.errstate(all="ignore"):
            return op.kernel(*[x._array for x in inputs], **attrs)
    if hasattr(error, "site"):
        raise error
    for x in inputs:
        np.asarray(x._array)  # a tensor of a trace has no array, and says so
    raise explain_failure(op, [spec(x) for x in inputs], attrs, error) from error


_MOST_BYTES = 2**47  # of no machine; products of such sizes overflow in kernels and compilers


def _bytes(result: Any) -> int:
    """The bytes of a result that a shape rule names; 0 where a size is not known, or is none."""
    shape = getattr(result, "shape", None)
    if shape is None or not all(type(size) is int and size < 2**63 for size in shape):
        return 0
    return math.prod(shape) * result.dtype.size


def explain_failure(
    op: Op,
    specs: list[ShapeDtype],
    attrs: dict[str, Any],
    error: Exception,
    site: RawSite | None = None,
) -> Exception:
    """What to raise for a failed kernel: what the shape rule objects to, or NumPy's own words."""
    if isinstance(error, MemoryError):
        return exhausted(op.name, error, *specs, site=site)
    try:
        results = op.infer(*specs, **attrs)
    except failures() as refusal:
        if site is not None:
            refusal.__notes__ = []
            at_site(refusal, site)
        return refusal
    kind = InvalidTypeError if isinstance(error, TypeError) else InvalidArgumentError
    if finds_no_room(error):
        return exhausted(op.name, error, *specs, site=site)
    for result in [results] if isinstance(results, ShapeDtype) else results:
        if _bytes(result) > _MOST_BYTES:
            reason = MemoryError(f"unable to allocate {describe(result)}")
            return exhausted(op.name, reason, *specs, site=site)
    text = say(op.name, lower_first(error), *specs)
    return at_site(kind(None, None, text), site)

"""Puts the operators on tensors and variables.

`&`, `|`, `^` and `~` are logic for booleans and work on bits for integers; `==` compares element by
element, so tensors cannot be hashed. Indexing and iteration come from `slicing`.
"""

from __future__ import annotations

import sys
from functools import partial
from threading import get_ident
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from wengert.core.apply import PROMOTE, fits, rescue
from wengert.core.failures import failures
from wengert.core.process_settings import PROCESS
from wengert.core.shapes import broadcast
from wengert.core.sites import SEEN, place
from wengert.core.tensor import new_id
from wengert.ops import arithmetic, compare, division, numpy_protocols, power, unary
from wengert.ops.declare import (
    DType,
    InvalidArgumentError,
    InvalidTypeError,
    Op,
    SymbolicTensor,
    Tensor,
    Value,
    Variable,
    apply1,
    apply2,
    dtypes,
    get_state,
    known_unequal,
    operand,
    rank_of,
    tf,
)
from wengert.ops.fast_reductions import MANY_ROWS, with_row
from wengert.ops.matmul import MATMUL

if TYPE_CHECKING:
    from wengert.core.variable_aliases import Alias
    from wengert.ops.slicing import VariableSlice


_new = object.__new__
_frame = sys._getframe


def _both(op: Op, kind: Any = None, instead: Any = None) -> tuple[Any, Any]:
    """The operator and its reflected form, for an operation that maps two tensors to one.

    Tensors of dtype `kind`, which the operation refuses, go to another one instead.
    """

    kernel, plans = op.kernel, op.plans
    by_rows = partial(with_row, kernel) if type(kernel) is np.ufunc else None
    same: tuple[int, ...] = ()  # the shape that was kept last
    seen: Any = (None, 0)  # the last site that was the user's own
    met: tuple[Any, Any] = (None, None)  # the number that came last, and the tensor it was made

    adopt = _as_truth if kind is dtypes.bool_ else adopted

    # Where one tape listens or none, this says in full what `apply2` and the tape's `record2` say:
    # each Python call less is a tenth of the time.
    def forward(self: Value, other: Any) -> Tensor:
        nonlocal same, seen
        state = get_state()
        if state is not None and not state.plain:
            if type(other) is not Tensor and type(other) is not Variable:
                other = adopt(other, self)
            return apply2(op if kind is None else fitting(self, other), self, other)
        a = self._array
        run = kernel
        constant = type(other) is Tensor
        if constant:
            b = other._array
        elif type(other) is Variable:
            b = other._host  # read once, since a compiled step of another thread may take it
            if b is None:
                b = other._array
            if a.size >= MANY_ROWS and b.ndim == 1 and by_rows is not None:  # a bias
                run = by_rows
        else:
            other = adopt(other, self)
            b = other._array
            constant = type(other) is Tensor
        usual = op.usual
        if (a.dtype is not usual or b.dtype is not usual) and not fits(op, a, b):
            return apply2(op if kind is None else fitting(self, other), self, other)
        try:
            result = run(a, b)
        except failures() as error:
            result = rescue(op, (self, other), {}, error)
        if type(result) is not ndarray:
            result = np.asarray(result)
        frame = _frame(1)
        code = frame.f_code
        site = seen  # read once, since other threads write it
        if code is not site[0] or frame.f_lasti != site[1]:
            site = (code, frame.f_lasti) if code is SEEN.code else place(frame, 1)
            seen = site or seen
        out = _new(Tensor)
        out._array = result
        out._id = number = new_id()
        out._site = site
        if state is None:
            return out
        tape = state.tape
        if get_ident() != tape._live:
            return out
        tracked = tape._tracked
        i = self._id
        j = other._id
        key = 4
        if i in tracked or (type(self) is not Tensor and tape._accessed(self)):
            key = 5
        if j in tracked or (not constant and tape._accessed(other)):
            key += 2
        try:
            plan = plans[key]
        except KeyError:
            plan = op.plan(key)
        if plan.cut:
            if key != 4:
                tape._begin(op, (self, other), (out,), site)
            return out
        sizes = plan.sizes
        if sizes == 1:
            shapes: Any = a.shape
            last = same  # read once, as above
            if shapes == last:  # one object for all: a long tape takes a fifth less
                shapes = last
            else:
                same = shapes
        elif sizes == 3:
            shapes = None if a.shape == b.shape else (a.shape, b.shape)
        else:
            shapes = b.shape if sizes else None
        if plan.keeps:
            keep_x, keep_y, keep_out = plan.keep2
            x = (self if type(self) is Tensor else self._snapshot()) if keep_x else None
            y = (other if constant else other._snapshot()) if keep_y else None
            kept = out if keep_out else None
        else:
            x = y = kept = None
        tracked.add(number)
        tape._entries.append((op, plan, i, j, number, x, y, kept, shapes, site))
        return out

    def reflected(self: Value | VariableSlice, other: Any) -> Tensor:
        nonlocal met
        last, number = met  # at once, since other threads write it
        if other is not last:
            number = _numbers.get(other) if type(other) in _PLAIN else None
            if number is not None:
                met = other, number
        if (
            number is None
            or type(self) is not Tensor
            or self._array.dtype is not _FLOAT
            or op.usual is not _FLOAT
            or get_state() is not None
        ):
            other = adopt(other, self)
            return apply2(op if kind is None else fitting(other, self), other, self)
        # Nobody listens, and the number is known.
        try:
            result = kernel(number._array, self._array)
        except failures() as error:
            result = rescue(op, (number, self), {}, error)
        frame = _frame(1)
        code = frame.f_code
        out = _new(Tensor)
        out._array = result if type(result) is ndarray else np.asarray(result)
        out._id = new_id()
        out._site = (code, frame.f_lasti) if code is SEEN.code else place(frame, 1)
        return out

    def fitting(x: Any, y: Value | Alias) -> Op:
        if type(x) is Tensor and x._array.dtype is _FLOAT:
            return op
        return instead if x.dtype is y.dtype is kind else op

    return forward, reflected


_FLOAT = dtypes.float32.np
_MOST = 1024
_PLAIN = (float, int)
# Constants of Python numbers beside tensors of float32; not of zero, which has two signs.
_numbers: dict[float, Tensor] = {}


def adopted(value: Any, beside: Value | Alias) -> Value | Alias:
    """What stands beside a tensor in an expression, as a tensor or variable."""
    usual = type(value) in _PLAIN and type(beside) is Tensor and beside._array.dtype is _FLOAT
    cached = _numbers.get(value) if usual else None
    if cached is None:
        try:
            cached = operand(value, None, beside.dtype)
        except (TypeError, ValueError):
            if not PROCESS.promotes:
                raise
            return PROMOTE.call([value])[0]  # a fraction beside whole numbers
        if usual and value:
            if len(_numbers) >= _MOST:
                _numbers.clear()
            _numbers[value] = cached
    return cached


def _as_truth(value: Any, beside: Value | Alias) -> Any:
    """The same for an operator that is logic for booleans: beside one, numbers are truth values."""
    plain = type(beside) is Tensor and beside._array.dtype is _FLOAT
    if not plain and beside.dtype is dtypes.bool_ and isinstance(value, _NUMBERS):
        array = np.asarray(value)
        if array.dtype.kind in "iufcb":
            value = np.real(array) != 0
    return adopted(value, beside)


_NUMBERS = int | float | complex | np.number | np.ndarray | list | tuple


# The operations of infix operators that do not go through `apply2`, by the names of the methods.
INFIX: dict[str, Op] = {}


def _infix(symbol: str, op: Op, *others: DType | Op, swaps: bool = True) -> None:
    forward, reflected = _both(op, *others)
    _install(symbol, forward, reflected if swaps else None)
    INFIX[f"__{symbol}__"] = op


def _install(symbol: str, forward: Any, reflected: Any = None) -> None:
    setattr(Value, f"__{symbol}__", forward)
    if reflected is not None:
        setattr(Value, f"__r{symbol}__", reflected)


_infix("add", arithmetic.ADD, dtypes.string, arithmetic.ADD_STRINGS)
_infix("sub", arithmetic.SUBTRACT)
_infix("mul", arithmetic.MULTIPLY, dtypes.bool_, compare.LOGICAL_AND)
_infix("floordiv", division.FLOORDIV)
_infix("mod", division.FLOORMOD)
_infix("pow", power.POW)
_infix("lt", compare.LESS, swaps=False)
_infix("le", compare.LESS_EQUAL, swaps=False)
_infix("gt", compare.GREATER, swaps=False)
_infix("ge", compare.GREATER_EQUAL, swaps=False)
_install("neg", lambda self: apply1(arithmetic.NEGATIVE, self))
_install("abs", lambda self: apply1(unary.ABS, self))


def _divide(self: Value, other: Any) -> Tensor:
    if type(other) is not Tensor and type(other) is not Variable:
        other = operand(other, None, self.dtype)
    if self._array.dtype.kind in "fcV":
        return apply2(arithmetic.DIVIDE, self, other)
    return arithmetic.divide_tensors(self, other)


def _divide_reflected(self: Value, other: float) -> Tensor:
    return arithmetic.divide_tensors(operand(other, None, self.dtype), self)


_install("truediv", _divide, _divide_reflected)


def _matmul(self: Value, other: Any) -> Tensor:
    if type(other) is not Tensor and type(other) is not Variable:
        other = operand(other, None, self.dtype)
        if not isinstance(other, Value):
            return tf.matmul(self, other)
    if rank_of(other) == 2 and (rank_of(self) or 0) >= 2:
        return apply2(MATMUL, self, other)
    return tf.matmul(self, other)


_install("matmul", _matmul, lambda self, other: _matmul(operand(other, None, self.dtype), self))


def _bits_or_truth(truth: Op, bits: Op) -> tuple[Any, Any]:
    """An operator that is logic for booleans and works on the bits of integers."""

    def forward(self: Tensor, other: Value | int) -> Tensor:
        other = operand(other, None, self.dtype)
        return apply2(truth if self.dtype is dtypes.bool_ else bits, self, other)

    def reflected(self: Tensor, other: int | Value) -> Tensor:
        other = operand(other, None, self.dtype)
        return apply2(truth if self.dtype is dtypes.bool_ else bits, other, self)

    return forward, reflected


_install("and", *_bits_or_truth(compare.LOGICAL_AND, compare.BITWISE_AND))
_install("or", *_bits_or_truth(compare.LOGICAL_OR, compare.BITWISE_OR))
_install("xor", *_bits_or_truth(compare.LOGICAL_XOR, compare.BITWISE_XOR))


def _invert(self: Value) -> Tensor:
    return apply1(compare.LOGICAL_NOT if self.dtype is dtypes.bool_ else compare.INVERT, self)


_install("invert", _invert)


def _equality(op: Op, in_graphs: Op, otherwise: bool) -> Any:
    """`==` or `!=`; shapes that do not broadcast are simply unequal, and so is `None`.

    `in_graphs` is the operation where only the run knows whether they broadcast.
    """

    def compare_all(self: Any, other: Any) -> Tensor | bool:
        if other is None:
            return otherwise
        if type(other) is not Tensor and type(other) is not Variable:
            other = operand(other, None, self.dtype)
        try:
            if type(self) is SymbolicTensor or type(other) is SymbolicTensor:
                return apply2(in_graphs if _may_fail(self, other) else op, self, other)
            return apply2(op, self, other)
        except InvalidArgumentError as error:
            if isinstance(error, InvalidTypeError) or _broadcast(self, other):
                raise
            return operand(otherwise)

    return compare_all


def _may_fail(x: Any, y: Any) -> bool:
    """Whether only the run knows if two shapes broadcast."""
    if x.shape.rank is None or y.shape.rank is None:
        return True
    pair = x._array.shape, y._array.shape
    return any(
        a != b and 1 not in (a, b) and not known_unequal(a, b)
        for a, b in zip(*[s[::-1] for s in pair], strict=False)
    )


def _broadcast(x: Tensor, y: Any) -> bool:
    try:
        broadcast("equal", tuple(x.shape), tuple(y.shape))
    except ValueError:
        return False
    return True


_install("eq", _equality(compare.EQUAL, compare.OPEN_EQUAL, False))
_install("ne", _equality(compare.NOT_EQUAL, compare.OPEN_NOT_EQUAL, True))


def _unhashable(self: Value) -> int:
    kind = "Variable" if isinstance(self, Variable) else "Tensor"
    raise TypeError(f"{kind} is unhashable. Instead, use {kind.lower()}.ref() as the key.")


_install("hash", _unhashable)
numpy_protocols.install()

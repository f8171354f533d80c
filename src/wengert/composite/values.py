"""What the composites share: reading a value that may be there already, and sizes of tensors."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from wengert.core.errors import OpError
from wengert.core.lowering_checks import checking
from wengert.core.types import CompositeTensor, TensorSpec, TypeSpec
from wengert.ops.declare import (
    DType,
    DTypeLike,
    IndexedSlices,
    InvalidArgumentError,
    Joint,
    Op,
    Tensor,
    TensorLike,
    Value,
    apply,
    dtypes,
    fail_if,
    invalid,
    is_dynamic,
    operand,
    require_dtype,
    tf,
    to_tensor,
)


def known(x: Any) -> np.ndarray | None:
    """The array of a tensor; `None` inside a trace, where it has no value yet."""
    if is_dynamic(x):  # a variable has one, but may have another when the function runs
        return None
    array = x._array
    return array if isinstance(array, np.ndarray) else None


Broken = Callable[..., Any]


class Requirement:
    """A rule about the numbers of tensors, which may be there only when a function runs.

    Each part is a condition under which the rule is broken, on arrays of NumPy or of JAX, and the
    rule in words, or a function of the arrays that gives them. Requirements belong to modules, so
    that graphs that do the same are known to.
    """

    def __init__(
        self,
        *parts: tuple[Broken, str | Callable[..., str]],
        help: str = "",
        kind: type[OpError] = InvalidArgumentError,
    ) -> None:
        self.parts, self.help, self.kind = parts, help, kind

    def check(self, name: str, *arrays: np.ndarray) -> None:
        """Raises for the first part that is broken."""
        for broken, words in self.parts:
            if np.any(broken(*arrays)):
                rule = words if isinstance(words, str) else words(*arrays)
                raise invalid(name, rule, help=self.help, kind=self.kind)


def unequal(x: Any, ours: Any, theirs: Any) -> Any:
    """Whether two arrays differ, for a requirement of `x`."""
    return ours.shape != theirs.shape or ours != theirs


def _look(*xs: np.ndarray, name: str, rule: Requirement) -> np.ndarray:
    rule.check(name, *xs)
    return xs[0]


def _lower_look(*xs: Any, name: str, rule: Requirement) -> Any:
    for broken, _ in rule.parts if checking() else ():
        fail_if(partial(broken, *xs))
    return xs[0]


# The first of some tensors, once the numbers of all have been looked at.
LOOKED_AT = Op(
    "looked_at",
    "*xs",
    kernel=_look,
    infer=lambda *xs, name, rule: xs[0],
    lower=_lower_look,
    grad=Joint(lambda g, needs: (g, *[None] * (len(needs) - 1))),
    match=(),
    register=False,
)


def demand(name: str, rule: Requirement, x: TensorLike, *others: TensorLike) -> Any:
    """`x`, if it and `others` keep a rule: checked now, or when the function runs."""
    arrays = [a for a in map(known, (x, *others)) if a is not None]
    if len(arrays) <= len(others):
        return apply(LOOKED_AT, x, *others, name=name, rule=rule)
    rule.check(name, *arrays)
    return x


def length(x: Any, axis: int = 0) -> Tensor | int:
    """The size of an axis: a number where it is known, else a tensor of int64."""
    size = x.shape[axis]
    return tf.shape(x, dtypes.int64)[axis] if size is None else size


def of_rank(x: Tensor, rank: int) -> Any:
    """A tensor of unknown rank as one of the rank that it must have."""
    return tf.ensure_shape(x, [None] * rank) if x.shape.rank is None else x


def int64_tensor(value: Any) -> Tensor:
    """Sizes or index tuples as int64; a list of scalar tensors is cast and stacked."""
    if isinstance(value, list | tuple) and any(isinstance(v, Value) for v in value):
        return tf.stack([tf.cast(operand(v, None, dtypes.int64), dtypes.int64) for v in value])
    return to_tensor(value, dtypes.int64)


def pick(x: Tensor, rows: Tensor | IndexedSlices) -> Tensor:
    """Rows of a tensor by number; unlike `gather`, its gradient is a dense tensor."""
    return tf.gather(tf.expand_dims(x, 0), rows, axis=1)[0]


def index_tensor(
    name: str,
    value: TensorLike,
    dtype: DTypeLike | None = None,
    hint: DType | DTypeLike | None = None,
) -> Any:
    """Row positions as an int32 or int64 tensor: int64 unless they come as int32."""
    wanted: DType | None = None if dtype is None else dtypes.as_dtype(dtype)
    if wanted is None and isinstance(value, np.ndarray):
        wanted = dtypes.int32 if value.dtype == np.int32 else dtypes.int64
    if wanted is not None and isinstance(value, Value) and value.dtype.is_integer:
        tensor = tf.cast(value, wanted)
    else:
        tensor = to_tensor(value, wanted, hint or dtypes.int64)
    require_dtype(
        tensor.dtype in (dtypes.int32, dtypes.int64),
        name,
        "row positions must be int32 or int64",
        tensor,
    )
    return tensor


def tensor_or_composite(value: Tensor | int | CompositeTensor) -> Tensor | CompositeTensor:
    """A composite as it is, anything else as a tensor."""
    return value if isinstance(value, CompositeTensor) else to_tensor(value)


def type_spec_from_value(value: Any) -> TypeSpec:
    """The type of a tensor, of a composite, or of what becomes a tensor."""
    if isinstance(value, CompositeTensor):
        return value._type_spec
    if isinstance(value, TypeSpec):
        raise invalid("type_spec_from_value", f"{value} is a type itself", kind=TypeError)
    if not isinstance(value, Value):
        value = to_tensor(value)
    return TensorSpec(value.shape, value.dtype)

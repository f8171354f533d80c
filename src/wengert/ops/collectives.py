"""Operations in which replicas meet: sums and means over all of them, joined tensors, numbers.

They make sense in the graph of a `replicated` node alone. In compiled code they are JAX's
collectives over the axis `AXIS`, whether the replicas are devices or rows of one program; the host
runs the replicas in lock step (`functions.replica_steps`) and never comes to their kernels.
"""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from wengert.ops.declare import (
    JaxArray,
    Op,
    ShapeDtype,
    Tensor,
    Value,
    apply,
    at_site,
    dtypes,
    lax,
    operand,
    require,
    tf,
)
from wengert.ops.updating import block

AXIS = "replica"
_NUMBERS = dtypes.NUMERIC


def _alone(*args: Any, **attrs: Any) -> NoReturn:
    raise at_site(
        RuntimeError(
            "all_reduce: there are no replicas here; a function that was traced in a replica runs "
            "in replicas only. Call it in a function given to strategy.run."
        )
    )


_REDUCE = {
    "sum": lambda x: lax.psum(x, AXIS),
    "mean": lambda x: lax.pmean(x, AXIS),
}

# all_reduce(x; kind): the sum or the mean of the values of all replicas.
ALL_REDUCE = Op(
    "all_reduce",
    "x",
    kernel=_alone,
    infer=lambda x, kind: x,
    lower=lambda x, kind: _REDUCE[kind](x),
    grad=lambda g, kind: apply(ALL_REDUCE, g, kind=kind),
    accepts=_NUMBERS,
    folds=False,
    replicas="joined",
    register=False,
)


def _infer_gather(x: ShapeDtype, axis: int, replicas: int) -> ShapeDtype:
    if x.shape is None:
        return x
    size = x.shape[axis]
    joined = None if size is None else size * replicas
    return ShapeDtype((*x.shape[:axis], joined, *x.shape[axis + 1 :]), x.dtype)


def _gather_grad(g: Tensor, axis: int, replicas: int, x_shape: Any) -> Tensor:
    size = operand(x_shape[axis], dtypes.int32)
    start = [replica_offset(size) if k == axis else 0 for k in range(len(x_shape))]
    return block(apply(ALL_REDUCE, g, kind="sum"), tf.stack(start), tuple(x_shape))


# all_gather(x; axis, replicas): the values of all replicas, one after the other along an axis.
ALL_GATHER = Op(
    "all_gather",
    "x",
    kernel=_alone,
    infer=_infer_gather,
    lower=lambda x, axis, replicas: lax.all_gather(x, AXIS, axis=axis, tiled=True),
    grad=_gather_grad,
    folds=False,
    moves=True,
    replicas="joined",
    register=False,
)

# replica_id(): the number of the replica.
REPLICA_ID = Op(
    "replica_id",
    "",
    kernel=_alone,
    infer=lambda: ShapeDtype((), dtypes.int32),
    lower=lambda: lax.convert_element_type(lax.axis_index(AXIS), np.int32),
    grad=(),
    folds=False,
    replicas="own",
    register=False,
)


def _lower_offset(size: JaxArray) -> JaxArray:
    number = lax.convert_element_type(lax.axis_index(AXIS), np.int32)
    return lax.mul(number, lax.convert_element_type(size, np.int32))


# replica_offset(size): where the part of the replica begins in what `all_gather` joins, if each
# has as many rows as it says.
REPLICA_OFFSET = Op(
    "replica_offset",
    "size",
    kernel=_alone,
    infer=lambda size: ShapeDtype((), dtypes.int32),
    lower=_lower_offset,
    grad=None,
    accepts=dtypes.nums("int32", "int64"),
    folds=False,
    replicas="own",
    register=False,
)


def all_reduce(x: Value, kind: str) -> Tensor:
    """The sum or the mean over all replicas."""
    return apply(ALL_REDUCE, x, kind=kind)


def all_gather(x: Any, axis: int, replicas: int) -> Tensor:
    """The values of all replicas, joined along an axis."""
    rank = x.shape.rank
    require(rank is not None, "all_gather", "the rank must be known", x, kind=ValueError)
    require(
        rank > 0, "all_gather", "a scalar has no axis", x,
        help="Use tf.expand_dims, or all_reduce.", kind=ValueError,
    )  # fmt: skip
    require(
        -rank <= axis < rank, "all_gather", f"axis {axis} is not in [{-rank}, {rank})", x,
        kind=ValueError,
    )  # fmt: skip
    return apply(ALL_GATHER, x, axis=axis % rank, replicas=replicas)


def replica_id() -> Tensor:
    """The number of the replica, as a tensor."""
    return apply(REPLICA_ID)


def replica_offset(size: Value) -> Tensor:
    """Where the part of this replica begins in what all replicas have together."""
    return apply(REPLICA_OFFSET, size)

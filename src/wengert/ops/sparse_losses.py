"""The cross-entropy of class numbers and logits: one operation, its gradient, and both at once.

The logits are kept and the softmax is worked out again in the gradient, for the reason that `losses`
gives; eagerly, that of small logits is kept, too. Logits of few classes are worked on by columns,
which NumPy does in a third of the time.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from wengert.core.op import PAIRS, Residual
from wengert.ops.declare import (
    JaxArray,
    Op,
    ShapeDtype,
    Tensor,
    apply,
    apply2,
    dtypes,
    fail_if,
    get_state,
    in_float32,
    invalid,
    lax,
    lower_in_float32,
    must_fit,
    operand,
    require,
    require_dtype,
    shapes,
    tf,
)
from wengert.ops.fast_reductions import fold
from wengert.ops.losses import last
from wengert.ops.sizes import checked
from wengert.ops.softmax import (
    SOFTMAX_GRAD,
    by_columns,
    is_narrow,
    lower_shifted,
    lower_softmax,
    row_sums,
    shifted,
    softmax_array,
    spread,
)

_UNSIGNED = {n: np.dtype(f"u{n}") for n in (4, 8)}


def _check_labels(labels: np.ndarray, classes: int) -> None:
    # Seen without a sign, negative labels are larger than any class: one pass finds both kinds.
    result = labels.view(_UNSIGNED[labels.itemsize])
    if result.size and result.item(result.argmax()) >= classes:
        bad = labels[(labels < 0) | (labels >= classes)].flat[0]
        raise invalid(
            "sparse_softmax_cross_entropy_with_logits",
            f"label {bad} is outside [0, {classes})",
            help="Labels count the classes from 0; check them against the width of the logits.",
        )


def _sparse_kernel(labels: np.ndarray, logits: np.ndarray) -> np.ndarray:
    must_fit(labels.shape == logits.shape[:-1])
    _check_labels(labels, logits.shape[-1])
    if not is_narrow(logits):
        return _wide_kernel(labels, logits)
    e, top, total = by_columns(logits)
    wanted = logits.size <= _SMALL and get_state() is not None
    if wanted:
        e /= total
    out = _less_picked(np.log(total, total), labels, logits, top)
    if wanted:
        _SOFTMAX.latest = out, e
    return out


@in_float32
def _wide_kernel(labels: np.ndarray, logits: np.ndarray) -> np.ndarray:
    z = shifted(logits, -1)
    out = np.log(row_sums(np.exp(z)).reshape(-1))
    out -= z.take(_places(labels, logits.shape[-1]))
    return out.reshape(labels.shape)


def _less_picked(
    out: np.ndarray, labels: np.ndarray, logits: np.ndarray, top: np.ndarray
) -> np.ndarray:
    """The logarithms of the sums less those of the exponentials that the labels name."""
    picked = logits.take(_places(labels, logits.shape[-1]))
    picked -= top
    out -= picked
    return out if labels.ndim == 1 else out.reshape(labels.shape)


def _one_hot(labels: JaxArray, shape: tuple[int, ...]) -> JaxArray:
    last = len(shape) - 1
    return lax.eq(lax.broadcasted_iota(labels.dtype, shape, last), spread(labels, shape, last))


def _fail_on_labels(labels: JaxArray, logits: JaxArray) -> None:
    fail_if(lambda: (labels < 0) | (labels >= logits.shape[-1]))


def _lower_sparse(labels: JaxArray, logits: JaxArray) -> JaxArray:
    last = logits.ndim - 1
    _fail_on_labels(labels, logits)
    z = lower_shifted(logits, last)
    total = lax.log(fold(lax.exp(z), 0, lax.add, (last,)))
    picked = lax.select(_one_hot(labels, z.shape), z, lax.full_like(z, 0))
    return lax.sub(total, fold(picked, 0, lax.add, (last,)))


# A function may want the gradient alone, so it looks at the labels, too.
def _sparse_grad_kernel(g: np.ndarray, labels: np.ndarray, logits: np.ndarray) -> np.ndarray:
    classes = logits.shape[-1]
    _check_labels(labels, classes)
    if is_narrow(logits):
        e, _, total = by_columns(logits)
        e /= total
        return _from_columns(g, labels, e)
    p = np.ascontiguousarray(softmax_array(logits, -1))
    p.reshape(-1)[_places(labels, logits.shape[-1])] -= 1
    p *= g[..., None]
    return p


def _from_columns(g: np.ndarray, labels: np.ndarray, p: np.ndarray) -> np.ndarray:
    """The gradient from the softmax by columns."""
    flat, scale = (labels, g) if labels.ndim == 1 else (labels.reshape(-1), g.reshape(-1))
    out = p - _table(len(p), p.dtype.char).take(flat, 1)
    out *= scale
    out = out.T.copy()
    return out if flat is labels else out.reshape(*labels.shape, len(p))


_SMALL = 1 << 14
_SOFTMAX = Residual(_from_columns)


def _lower_sparse_grad(g: JaxArray, labels: JaxArray, logits: JaxArray) -> JaxArray:
    _fail_on_labels(labels, logits)
    last = logits.ndim - 1
    hot = lax.convert_element_type(_one_hot(labels, logits.shape), logits.dtype)
    return lax.mul(spread(g, logits.shape, last), lax.sub(lower_softmax(logits, last), hot))


def _sparse_grad_grad_g(h: Tensor, labels: Tensor, logits: Tensor) -> Tensor:
    return tf.reduce_sum(h * tf.softmax(logits), -1) - tf.gather(
        h, labels, batch_dims=labels.ndim, axis=labels.ndim
    )


def _infer_sparse(labels: ShapeDtype, logits: ShapeDtype) -> ShapeDtype:
    if logits.shape is None:
        return ShapeDtype(labels.shape, logits.dtype)
    require(
        logits.shape and shapes.compatible(labels.shape, logits.shape[:-1]),
        "sparse_softmax_cross_entropy_with_logits",
        "`labels` must have the shape of `logits` without its last axis",
        labels,
        logits,
        help="Labels are class numbers; squeeze a last axis of size 1.",
    )
    return ShapeDtype(shapes.merge(labels.shape, logits.shape[:-1]), logits.dtype)


SPARSE_CROSS_ENTROPY_GRAD = Op(
    "sparse_softmax_cross_entropy_grad",
    "g labels logits",
    kernel=in_float32(_sparse_grad_kernel),
    infer=lambda g, labels, logits: logits,
    lower=lower_in_float32(_lower_sparse_grad),
    grad=(
        _sparse_grad_grad_g,
        None,
        lambda h, g, logits: (
            last(g) * apply(SOFTMAX_GRAD, h, tf.softmax(logits), axis=logits.ndim - 1)
        ),
    ),
    match=(0, 2),
)
SPARSE_CROSS_ENTROPY = Op(
    "sparse_softmax_cross_entropy",
    "labels logits",
    kernel=_sparse_kernel,
    infer=_infer_sparse,
    lower=checked(lower_in_float32(_lower_sparse), _infer_sparse),
    grad=(
        None,
        lambda g, labels, logits: apply(SPARSE_CROSS_ENTROPY_GRAD, g, labels, logits),
    ),
    match=(),
    residual=_SOFTMAX,
)


def _sparse_both_kernel(labels: np.ndarray, logits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    must_fit(labels.shape == logits.shape[:-1])
    _check_labels(labels, logits.shape[-1])
    if is_narrow(logits):
        e, top, total = by_columns(logits)
        e /= total
        loss = _less_picked(np.log(total, total), labels, logits, top)
        return loss, e.T.copy().reshape(logits.shape)
    z = shifted(logits, -1)
    p = np.exp(z)
    total = row_sums(p)
    p /= total[..., None]
    out = np.log(total.reshape(-1))
    out -= z.take(_places(labels, logits.shape[-1]))
    return out.reshape(labels.shape), p


def _places(labels: np.ndarray, classes: int) -> np.ndarray:
    """Where the entries of the labels stand in the flat scores."""
    rows, dtype = labels.size, labels.dtype
    if rows > 1 << 12 or classes > 1 << 12:
        return np.arange(rows) * classes + labels.reshape(-1)
    return _starts(rows, classes, dtype) + (labels if labels.ndim == 1 else labels.reshape(-1))


@functools.lru_cache(16)
def _starts(rows: int, classes: int, dtype: np.dtype) -> np.ndarray:
    return np.arange(rows, dtype=dtype) * dtype.type(classes)


@functools.lru_cache(64)
def _table(classes: int, dtype: str) -> np.ndarray:
    """The columns of a one for each class, not to be written to; there are few (`is_narrow`)."""
    return np.eye(classes, dtype=dtype)


def _sparse_from_kernel(g: np.ndarray, labels: np.ndarray, p: np.ndarray) -> np.ndarray:
    out = p.copy()
    out.reshape(-1)[_places(labels, p.shape[-1])] -= 1
    out *= g[..., None]
    return out


# The loss and its gradient where a host graph has both: the softmax is worked out once.
SPARSE_CROSS_ENTROPY_BOTH = Op(
    "sparse_softmax_cross_entropy_both",
    "labels logits",
    kernel=in_float32(_sparse_both_kernel),
    infer=lambda labels, logits: (_infer_sparse(labels, logits), logits),
    lower=None,
    grad=None,
    match=(),
    outputs=2,
    register=False,
)
SPARSE_CROSS_ENTROPY_FROM = Op(
    "sparse_softmax_cross_entropy_from",
    "g labels p",
    kernel=in_float32(_sparse_from_kernel),
    infer=lambda g, labels, p: p,
    lower=None,
    grad=None,
    match=(),
    register=False,
)
_WITH_GRADIENT = (
    SPARSE_CROSS_ENTROPY_GRAD, SPARSE_CROSS_ENTROPY_BOTH, SPARSE_CROSS_ENTROPY_FROM,
)  # fmt: skip
PAIRS.fill(__name__, {SPARSE_CROSS_ENTROPY: _WITH_GRADIENT})
_LABELS = dtypes.nums("int32", "int64")


def sparse_softmax_cross_entropy_with_logits(
    labels: Any, logits: Any, name: str | None = None
) -> Tensor:
    """-log_softmax(logits)[label] per row; a label outside the classes is an error.

    Args:
        labels: the classes, whole numbers `[...]`.
        logits: unnormalised log-probabilities `[..., classes]`.
        name: without effect.

    Returns:
        The loss of each row, `[...]`.

    Raises:
        InvalidArgumentError: a label is outside.
        ValueError: the shapes do not fit.

    >>> loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[1], logits=[[0.0, 0.0]])
    >>> round(float(loss[0]), 4)
    0.6931
    """
    name = "sparse_softmax_cross_entropy_with_logits"
    require(
        labels is not None and logits is not None, name, "both `labels` and `logits` must be given"
    )
    if type(logits) is not Tensor:
        logits = operand(logits)
    if type(labels) is not Tensor:
        labels = operand(labels, None, dtypes.int64)
    require_dtype(
        labels._array.dtype.num in _LABELS and logits._array.dtype.num in dtypes.FLOAT,
        name,
        "`labels` must be int32 or int64, `logits` floating",
        labels,
        logits,
        help="Cast with tf.cast, or use softmax_cross_entropy_with_logits for one-hot labels.",
    )
    return apply2(SPARSE_CROSS_ENTROPY, labels, logits)

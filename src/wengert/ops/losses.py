"""Cross-entropies and other losses, element by element or row by row.

The cross-entropies are one operation each. They keep the logits, which exist anyway, and work
out the softmax again in the gradient: a second array of the size of the logits would be the
largest thing on the tape of a language model.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.core.dims import broadcast
from wengert.core.hooks import Hook
from wengert.ops.declare import (
    JaxArray,
    Op,
    ShapeDtype,
    Tensor,
    TensorLike,
    Value,
    apply,
    apply2,
    dtypes,
    fallback,
    function_of,
    in_float32,
    invalid,
    known_unequal,
    lax,
    lower_in_float32,
    need_rank,
    operand,
    require,
    require_dtype,
    shapes,
    static,
    tf,
    with_fallback,
)
from wengert.ops.fast_reductions import fold, sum_of_squares
from wengert.ops.select import larger
from wengert.ops.sizes import agree
from wengert.ops.softmax import (
    SOFTMAX_GRAD,
    lower_shifted,
    lower_softmax,
    lower_sum,
    shifted,
    softmax_array,
    spread,
)
from wengert.ops.threads import in_parts


@with_fallback
def last(x: Tensor) -> Tensor:
    """The tensor with an axis of size 1 at the end."""
    return tf.reshape(x, (*x._array.shape, 1))


def _rows_times(g: np.ndarray, x: np.ndarray) -> np.ndarray:
    x *= g[..., None]
    return x


def _cross_entropy_kernel(labels: np.ndarray, logits: np.ndarray) -> np.ndarray:
    z = shifted(logits, -1)
    total = np.log(np.add.reduce(np.exp(z), -1, keepdims=True))
    return np.add.reduce(labels * (total - z), -1)


def _lower_cross_entropy(labels: JaxArray, logits: JaxArray) -> JaxArray:
    last = logits.ndim - 1
    z = lower_shifted(logits, last)
    total = lax.log(lower_sum(lax.exp(z), last))
    loss = lax.mul(labels, lax.sub(total, z))
    return fold(loss, 0, lax.add, (last,))


def _infer_rows(labels: ShapeDtype, logits: ShapeDtype) -> ShapeDtype:
    shape = shapes.merge(labels.shape, logits.shape)
    return ShapeDtype(None if shape is None else shape[:-1], logits.dtype)


CROSS_ENTROPY_GRAD = Op(
    "softmax_cross_entropy_grad",
    "g labels logits",
    kernel=in_float32(lambda g, labels, logits: _rows_times(g, softmax_array(logits, -1) - labels)),
    infer=lambda g, labels, logits: logits,
    lower=lower_in_float32(
        lambda g, labels, logits: lax.mul(
            spread(g, logits.shape, logits.ndim - 1),
            lax.sub(lower_softmax(logits, logits.ndim - 1), labels),
        )
    ),
    grad=(
        lambda h, labels, logits: tf.reduce_sum(h * (tf.softmax(logits) - labels), -1),
        lambda h, g: -h * last(g),
        lambda h, g, logits: (
            last(g) * apply(SOFTMAX_GRAD, h, tf.softmax(logits), axis=logits.ndim - 1)
        ),
    ),
    accepts=dtypes.FLOAT,
)


CROSS_ENTROPY = Op(
    "softmax_cross_entropy",
    "labels logits",
    kernel=in_float32(_cross_entropy_kernel),
    infer=_infer_rows,
    lower=lower_in_float32(_lower_cross_entropy),
    grad=(
        lambda g, logits: -last(g) * tf.log_softmax(logits),
        lambda g, labels, logits: apply(CROSS_ENTROPY_GRAD, g, labels, logits),
    ),
    accepts=dtypes.FLOAT,
)


def _same_kind(labels: Any, logits: Any) -> tuple[Any, Any]:
    """Both as tensors, the labels in the dtype of the logits."""
    logits = operand(logits)
    labels = operand(labels, None, logits.dtype)
    return labels if labels.dtype is logits.dtype else tf.cast(labels, logits.dtype), logits


def _in_shape(name: str, labels: Any, logits: Any, last: bool) -> Tensor:
    """The labels in the shape of the logits."""
    have, want = labels._array.shape, logits._array.shape
    if len(have) == len(want) or (last and len(have) == 1):
        shape = broadcast(name, have, want)
        if not any(map(known_unequal, shape, want)):
            return tf.broadcast_to(labels, want)
    elif last and have and have[-1] == want[-1] and shapes.size(have) == shapes.size(want):
        return tf.reshape(labels, want)  # the same rows, laid out otherwise
    raise invalid(name, "`labels` must have the shape of `logits`", labels, logits)


def softmax_cross_entropy_with_logits(
    labels: Any, logits: Any, axis: int = -1, name: str | None = None
) -> Tensor:
    """-sum(labels * log_softmax(logits)) along `axis`; labels with axes of size 1 broadcast.

    As in TensorFlow, the gradient takes each row of labels to add up to 1.

    Args:
        labels: the probability of each class.
        logits: unnormalised log-probabilities, in the same shape.
        axis: the axis of the classes.
        name: without effect.

    Returns:
        The loss of each row.

    Raises:
        InvalidArgumentError: the shapes do not fit.

    >>> loss = tf.nn.softmax_cross_entropy_with_logits(labels=[[1.0, 0.0]], logits=[[0.0, 0.0]])
    >>> round(float(loss[0]), 4)
    0.6931
    """
    try:
        labels, logits = _same_kind(labels, logits)
        name = "softmax_cross_entropy_with_logits"
        require(logits.ndim, name, "`logits` must have at least one axis", logits)
        axis = -1 if axis is None else static(name, axis)
        dim = shapes.check_axis(name, axis, logits.ndim)
        if labels._array.shape != logits._array.shape:
            labels = _in_shape(name, labels, logits, dim == logits.ndim - 1)
        if dim != logits.ndim - 1:
            order = [i for i in range(logits.ndim) if i != dim] + [dim]
            labels, logits = tf.transpose(labels, order), tf.transpose(logits, order)
        return apply2(CROSS_ENTROPY, labels, logits)
    except Exception as error:
        return fallback(softmax_cross_entropy_with_logits, error, (labels, logits, axis))


def _sigmoid_kernel(labels: np.ndarray, logits: np.ndarray) -> np.ndarray:
    soft = np.log1p(np.exp(-np.abs(logits)))
    return larger(logits, logits.dtype.type(0)) - logits * labels + soft


def _lower_sigmoid(labels: JaxArray, logits: JaxArray) -> JaxArray:
    soft = lax.log1p(lax.exp(lax.neg(lax.abs(logits))))
    above = lax.max(logits, lax.full_like(logits, 0))
    return lax.add(lax.sub(above, lax.mul(logits, labels)), soft)


SIGMOID_CROSS_ENTROPY = Op(
    "sigmoid_cross_entropy",
    "labels logits",
    kernel=in_parts(in_float32(_sigmoid_kernel)),
    infer=lambda labels, logits: ShapeDtype(shapes.merge(labels.shape, logits.shape), logits.dtype),
    lower=lower_in_float32(_lower_sigmoid),
    grad=(
        lambda g, logits: -g * logits,
        lambda g, labels, logits: g * (tf.sigmoid(logits) - labels),
    ),
    accepts=dtypes.FLOAT,
    elementwise=True,
)


def _same_shape(
    name: str, first: str, x: TensorLike | None, second: str, y: Any
) -> tuple[Any, Any]:
    require(x is not None and y is not None, name, f"both `{first}` and `{second}` must be given")
    y = operand(y)
    x = operand(x, None, y.dtype)
    return agree(name, f"`{first}` and `{second}` must have the same shape", x, y), y


@with_fallback
def sigmoid_cross_entropy_with_logits(
    labels: TensorLike | None = None, logits: TensorLike | None = None, name: str | None = None
) -> Tensor:
    """The cross-entropy of independent yes/no labels, element by element, without overflow.

    Args:
        labels: the probability of yes.
        logits: its log-odds, in the same shape.
        name: without effect.

    Returns:
        The loss of each element.

    Raises:
        ValueError: the shapes differ.

    >>> loss = tf.nn.sigmoid_cross_entropy_with_logits(labels=[1.0], logits=[0.0])
    >>> round(float(loss[0]), 4)
    0.6931
    """
    name = "sigmoid_cross_entropy_with_logits"
    return apply2(SIGMOID_CROSS_ENTROPY, *_same_shape(name, "labels", labels, "logits", logits))


@with_fallback
def weighted_cross_entropy_with_logits(
    labels: Any, logits: Any, pos_weight: TensorLike, name: str | None = None
) -> Tensor:
    """The sigmoid cross-entropy with errors on positive labels weighted by `pos_weight`."""
    name = "weighted_cross_entropy_with_logits"
    labels, logits = _same_shape(name, "labels", labels, "logits", logits)
    weight = 1.0 + (operand(pos_weight, None, logits.dtype) - 1.0) * labels
    return (1.0 - labels) * logits + weight * tf.softplus(-logits)


@with_fallback
def log_poisson_loss(
    targets: TensorLike,
    log_input: TensorLike,
    compute_full_loss: bool = False,
    name: str | None = None,
) -> Tensor:
    """exp(log_input) - targets * log_input; in full, with Stirling's log(targets!) above 1."""
    z, c = _same_shape("log_poisson_loss", "targets", targets, "log_input", log_input)
    loss = tf.exp(c) - c * z
    if not compute_full_loss:
        return loss
    safe = tf.where((z >= 0.0) & (z <= 1.0), 1.0, z)
    stirling = z * tf.log(safe) - z + 0.5 * tf.log(2.0 * np.pi * safe)
    return loss + tf.where((z >= 0.0) & (z <= 1.0), 0.0, stirling)


@function_of(
    Op(
        "l2_loss",
        "x",
        kernel=in_float32(lambda x: x.dtype.type(0.5) * sum_of_squares(x)),
        infer=lambda x: ShapeDtype((), x.dtype),
        lower=lower_in_float32(
            lambda x: lax.mul(
                x.dtype.type(0.5), fold(lax.mul(x, x), 0, lax.add, tuple(range(x.ndim)))
            )
        ),
        grad=lambda g, x: g * x,
        accepts=dtypes.FLOAT,
    )
)
def l2_loss(t: TensorLike, name: str | None = None) -> Any:
    """Half the sum of the squares."""


def compute_average_loss(
    per_example_loss: TensorLike,
    sample_weight: TensorLike | None = None,
    global_batch_size: TensorLike | None = None,
) -> Tensor:
    """The sum of the losses of examples, divided by how many there are in all; 0 for none.

    Args:
        per_example_loss: losses with an example in each row.
        sample_weight: weights of the examples.
        global_batch_size: how many examples all replicas have together; by default the rows here
            times the number of replicas of the strategy.

    Returns:
        A scalar; the sum over replicas is the mean of the global batch.

    Raises:
        RuntimeError: outside `strategy.run` in the scope of a strategy.

    >>> float(tf.nn.compute_average_loss([1.0, 3.0], global_batch_size=8))
    0.5
    """
    replicas = REPLICAS.call("compute_average_loss") if REPLICAS.is_filled() else 1
    loss = operand(per_example_loss)
    if sample_weight is not None:
        weight = tf.cast(operand(sample_weight), loss.dtype)
        while weight.shape.rank < loss.shape.rank:
            weight = tf.expand_dims(weight, -1)
        loss = loss * weight
    need_rank("compute_average_loss", loss, 1)
    if global_batch_size is None:
        count = tf.shape(loss)[0] * replicas
    else:
        count = _batch_size(global_batch_size)
    return tf.divide_no_nan(tf.reduce_sum(loss), tf.cast(count, loss.dtype))


def _batch_size(value: TensorLike) -> Value:
    """How many examples there are in all: one whole number, which is not negative."""
    from wengert.ops.checks import assert_non_negative

    what = "compute_average_loss"
    count = operand(value)
    require_dtype(count.dtype.is_integer, what, "`global_batch_size` must be a whole number", count)
    need_rank(what, count, 0, 0)
    assert_non_negative(count, f"{what}: `global_batch_size` must not be negative")
    return count


def scale_regularization_loss(regularization_loss: TensorLike) -> Tensor:
    """The sum of penalties, divided by the number of replicas, which all compute it.

    Raises:
        RuntimeError: outside `strategy.run` in the scope of a strategy.
    """
    replicas = REPLICAS.call("scale_regularization_loss") if REPLICAS.is_filled() else 1
    total = tf.reduce_sum(operand(regularization_loss))
    return total / replicas if replicas > 1 or total.dtype.is_integer else total


# How many replicas the code here is one of; without a strategy in use nobody fills it.
REPLICAS: Hook[Callable[[str], int]] = Hook("replicas in sync", "wengert.distribute.strategies")

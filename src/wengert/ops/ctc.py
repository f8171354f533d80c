"""Connectionist temporal classification: the loss of unaligned label sequences, and decoding.

The loss and its gradient are the forward and backward recursions over the states
`blank, l1, blank, l2, ..., blank`, in logarithms, for a whole batch at a time. The recursions are
written once over `np` or `jnp`; the kernel loops over time, the lowering scans.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from wengert.core.lazy_modules import Lazy
from wengert.ops.declare import (
    Dim,
    JaxArray,
    Op,
    ShapeDtype,
    Tensor,
    TensorLike,
    UnimplementedError,
    apply,
    dtypes,
    fail_if,
    in_float32,
    invalid,
    jnp,
    known_unequal,
    lax,
    lower_in_float32,
    need_rank,
    operand,
    require,
    require_dtype,
    static_int,
    tf,
    with_fallback,
)
from wengert.ops.sizes import checked


class _Problem(NamedTuple):
    """Log-probabilities [time, batch, classes], emissions [time, batch, state] and the lattice."""

    log_probs: Any
    emissions: Any
    states: Any
    skips: Any
    finals: Any
    lengths: Any


def _problem(
    xp: ModuleType | Lazy,
    logits: JaxArray | np.ndarray,
    labels: Any,
    label_length: Any,
    logit_length: Any,
    blank: int,
) -> _Problem:
    """The lattice of states for a batch."""
    top = logits.max(-1, keepdims=True)
    shifted = logits - top
    log_probs = shifted - xp.log(xp.exp(shifted).sum(-1, keepdims=True))
    batch, longest = labels.shape
    inside = xp.arange(longest)[None] < label_length[:, None]
    labels = xp.where(inside, labels, blank)
    blanks = xp.full((batch, longest + 1), blank, labels.dtype)
    states = xp.stack([blanks[:, :-1], labels], 2).reshape(batch, 2 * longest)
    states = xp.concatenate([states, blanks[:, -1:]], 1)
    # A label may follow the one before without a blank between them unless they are equal.
    differs = xp.concatenate([xp.zeros((batch, 2), bool), states[:, 2:] != states[:, :-2]], 1)
    position = xp.arange(2 * longest + 1)[None]
    skips = differs & (position % 2 == 1)
    ends = 2 * label_length[:, None]
    finals = xp.where((position == ends) | (position == ends - 1), 0.0, -np.inf).astype(
        logits.dtype
    )
    index = xp.broadcast_to(states[None], (logits.shape[0], *states.shape))
    emissions = xp.take_along_axis(log_probs, index, 2)
    return _Problem(log_probs, emissions, states, skips, finals, logit_length)


def _shift(xp: ModuleType, x: np.ndarray, by: int) -> np.ndarray:
    """Moves states along by one or two (back for a negative number); -inf comes in."""
    gap = xp.full((x.shape[0], min(abs(by), x.shape[1])), -np.inf, x.dtype)
    if by > 0:
        return xp.concatenate([gap, x[:, : x.shape[1] - gap.shape[1]]], 1)
    return xp.concatenate([x[:, gap.shape[1] :], gap], 1)


def _forward(xp: ModuleType, p: _Problem, alpha: Any, t: Any, emission: Any) -> np.ndarray:
    one = xp.logaddexp(alpha, _shift(xp, alpha, 1))
    two = xp.where(p.skips, _shift(xp, alpha, 2), -np.inf)
    live = (t < p.lengths)[:, None]
    return xp.where(live, emission + xp.logaddexp(one, two), alpha)


def _backward(xp: ModuleType, p: _Problem, beta: Any, t: Any, following: Any) -> np.ndarray:
    """What can still be emitted after frame `t`; `following` are the emissions of frame t + 1."""
    moved = beta + following
    one = xp.logaddexp(moved, _shift(xp, moved, -1))
    two = _shift(xp, xp.where(p.skips, moved, -np.inf), -2)
    last = (t == p.lengths - 1)[:, None]
    return xp.where(last, p.finals, xp.logaddexp(one, two))


def _first(xp: ModuleType | Lazy, p: _Problem, emission: JaxArray | np.ndarray) -> Any:
    position = xp.arange(p.states.shape[1])[None]
    live = (p.lengths > 0)[:, None]
    return xp.where(live & (position < 2), emission, -np.inf)


def _total(xp: ModuleType | Lazy, p: _Problem, alpha: JaxArray | np.ndarray) -> Any:
    """The log-likelihood: both last states of the label sequence end it."""
    ends = alpha + p.finals
    top = ends.max(1)
    safe = xp.where(top == -np.inf, 0.0, top)
    total = safe + xp.log(xp.exp(ends - safe[:, None]).sum(1))
    # Without frames only the empty label sequence is possible.
    empty = xp.where(p.finals[:, 0] == 0, 0.0, -np.inf).astype(alpha.dtype)
    return xp.where(p.lengths > 0, total, empty)


def _gradient(
    xp: ModuleType | Lazy,
    p: _Problem,
    alphas: JaxArray | np.ndarray,
    betas: JaxArray | np.ndarray,
    g: Any,
) -> Any:
    """Softmax less the expected number of times each class is emitted, per frame."""
    total = _total(xp, p, alphas[-1])
    possible = total != -np.inf  # NaN stays
    expected = xp.exp(alphas + betas - xp.where(possible, total, 0.0)[None, :, None])
    classes = xp.arange(p.log_probs.shape[2])
    hot = (p.states[:, :, None] == classes).astype(p.log_probs.dtype)
    counts = xp.matmul(expected.transpose(1, 0, 2), hot).transpose(1, 0, 2)
    frames = xp.arange(alphas.shape[0])[:, None] < p.lengths[None]
    used = (frames & possible[None])[:, :, None]
    return xp.where(used, xp.exp(p.log_probs) - counts, 0.0) * g[None, :, None]


def _check(
    logits: np.ndarray,
    labels: np.ndarray,
    label_length: np.ndarray,
    logit_length: np.ndarray,
    blank: int,
) -> None:
    frames, _, classes = logits.shape
    require(0 <= blank < classes, "ctc_loss", f"`blank_index` {blank} is outside [0, {classes})")
    inside = np.arange(labels.shape[1])[None] < label_length[:, None]
    used = labels[inside]
    if used.size and (used.min() < 0 or used.max() >= classes):
        bad = used[(used < 0) | (used >= classes)][0]
        raise invalid("ctc_loss", f"label {bad} is outside [0, {classes})")
    for what, lengths, most in (
        ("label_length", label_length, labels.shape[1]),
        ("logit_length", logit_length, frames),
    ):
        require(
            not lengths.size or (lengths.min() >= 0 and lengths.max() <= most),
            "ctc_loss",
            f"`{what}` must lie in [0, {most}]",
            lengths,
        )


def _wrong(logits: JaxArray, labels: Any, label_length: Any, logit_length: Any) -> JaxArray:
    """Per row of the batch, whether `_check` would object."""
    frames, _, classes = logits.shape
    inside = jnp.arange(labels.shape[1])[None] < label_length[:, None]
    outside = jnp.any(inside & ((labels < 0) | (labels >= classes)), axis=1)
    long = (label_length < 0) | (label_length > labels.shape[1])
    return outside | long | (logit_length < 0) | (logit_length > frames)


def _alphas(p: _Problem) -> list[np.ndarray]:
    alphas = [_first(np, p, p.emissions[0])]
    for t in range(1, len(p.emissions)):
        alphas.append(_forward(np, p, alphas[-1], t, p.emissions[t]))
    return alphas


def _loss_kernel(
    logits: np.ndarray,
    labels: np.ndarray,
    label_length: np.ndarray,
    logit_length: np.ndarray,
    blank: int,
) -> np.ndarray:
    _check(logits, labels, label_length, logit_length, blank)
    p = _problem(np, logits, labels, label_length, logit_length, blank)
    return -_total(np, p, _alphas(p)[-1])


def _grad_kernel(
    g: np.ndarray, logits: np.ndarray, labels: np.ndarray, label_length: np.ndarray, logit_length: np.ndarray,
    blank: int,
) -> np.ndarray:  # fmt: skip
    _check(logits, labels, label_length, logit_length, blank)
    p = _problem(np, logits, labels, label_length, logit_length, blank)
    alphas = np.stack(_alphas(p))
    betas = np.full_like(alphas, -np.inf)
    beta = betas[0]
    for t in range(len(alphas) - 1, -1, -1):
        following = p.emissions[min(t + 1, len(alphas) - 1)]
        beta = betas[t] = _backward(np, p, beta, t, following)
    return _gradient(np, p, alphas, betas, g)


# `jnp` rather than `lax`: the recursions are shared with the kernel, which speaks NumPy.
def _lower_alphas(p: _Problem) -> JaxArray:
    first = _first(jnp, p, p.emissions[0])

    def step(alpha: JaxArray, given: tuple[JaxArray, ...]) -> Any:
        new = _forward(jnp, p, alpha, *given)
        return new, new

    times = jnp.arange(1, p.emissions.shape[0])
    rest = lax.scan(step, first, (times, p.emissions[1:]))[1]
    return jnp.concatenate([first[None], rest])


def _lower_loss(
    logits: JaxArray, labels: JaxArray, label_length: JaxArray, logit_length: JaxArray, blank: int
) -> Any:
    fail_if(lambda: _wrong(logits, labels, label_length, logit_length))
    p = _problem(jnp, logits, labels, label_length, logit_length, blank)
    return -_total(jnp, p, _lower_alphas(p)[-1])


def _lower_grad(
    g: JaxArray,
    logits: JaxArray,
    labels: JaxArray,
    label_length: JaxArray,
    logit_length: JaxArray,
    blank: int,
) -> Any:
    fail_if(lambda: _wrong(logits, labels, label_length, logit_length))
    p = _problem(jnp, logits, labels, label_length, logit_length, blank)

    def step(beta: JaxArray, given: tuple[JaxArray, ...]) -> Any:
        new = _backward(jnp, p, beta, *given)
        return new, new

    following = jnp.concatenate([p.emissions[1:], p.emissions[-1:]])
    times = jnp.arange(p.emissions.shape[0])
    start = jnp.full_like(p.emissions[0], -np.inf)
    betas = lax.scan(step, start, (times, following), reverse=True)[1]
    return _gradient(jnp, p, _lower_alphas(p), betas, g)


def _no_second_order(h: Tensor) -> Any:
    raise invalid("ctc_loss", "there is no second derivative", kind=UnimplementedError)


def _grad_grad_g(
    h: Tensor,
    logits: Tensor,
    labels: Tensor,
    label_length: Tensor,
    logit_length: Tensor,
    blank: int,
) -> Tensor:
    unit = tf.ones((logits._array.shape[1],), logits.dtype)
    slope = apply(CTC_LOSS_GRAD, unit, logits, labels, label_length, logit_length, blank=blank)
    return tf.reduce_sum(h * slope, (0, 2))


def _infer_loss(
    logits: ShapeDtype,
    labels: ShapeDtype,
    label_length: ShapeDtype,
    logit_length: ShapeDtype,
    blank: int | None,
) -> ShapeDtype:
    batch = None if logits.shape is None else logits.shape[1]
    for what, given in (("label_length", label_length), ("logit_length", logit_length)):
        require(
            not known_unequal(given.shape, (batch,)),
            "ctc_loss",
            f"`{what}` must have one entry per batch row",
            given,
            logits,
        )
        batch = given.shape[0] if batch is None and given.shape is not None else batch
    require(
        labels.shape is None or not known_unequal(labels.shape[0], batch),
        "ctc_loss",
        "`labels` and `logits` must have the same batch",
        labels,
        logits,
    )
    return ShapeDtype((batch if labels.shape is None or batch is not None else labels.shape[0],),
                logits.dtype)  # fmt: skip


CTC_LOSS_GRAD = Op(
    "ctc_loss_grad",
    "g logits labels label_length logit_length",
    kernel=in_float32(_grad_kernel),
    infer=lambda g, logits, labels, label_length, logit_length, blank: logits,
    lower=lower_in_float32(_lower_grad),
    grad=(_grad_grad_g, _no_second_order, None, None, None),
    match=(0, 1),
)
CTC_LOSS = Op(
    "ctc_loss",
    "logits labels label_length logit_length",
    kernel=checked(in_float32(_loss_kernel), _infer_loss),
    infer=_infer_loss,
    lower=checked(lower_in_float32(_lower_loss), _infer_loss),
    grad=(
        lambda g, logits, labels, label_length, logit_length, blank: apply(
            CTC_LOSS_GRAD, g, logits, labels, label_length, logit_length, blank=blank
        ),
        None,
        None,
        None,
    ),
    match=(),
)


@with_fallback
def ctc_loss(
    labels: Any, logits: Any, label_length: TensorLike | None, logit_length: TensorLike,
    logits_time_major: bool = True, unique: Any = None, blank_index: TensorLike | None = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """-log of the probability that `logits` spell each row of `labels`, over all alignments.

    `logits` are `[time, batch, classes]`, or batch first with `logits_time_major=False`. Labels
    that cannot fit into their frames give infinity and no gradient. `unique` is not needed.
    """
    logits, labels = operand(logits), operand(labels)
    if not logits_time_major:
        logits = tf.transpose(logits, (1, 0, 2))
    require(
        logits.ndim == 3 and labels.ndim == 2 and logits.dtype.is_floating,
        "ctc_loss",
        "`logits` must be floating of rank 3, `labels` dense of rank 2",
        logits,
        labels,
    )
    require_dtype(labels.dtype.is_integer, "ctc_loss", "`labels` must be whole numbers", labels)
    lengths = []
    for what, given in (("label_length", label_length), ("logit_length", logit_length)):
        require(given is not None, "ctc_loss", f"`{what}` must be given")
        lengths.append(tf.cast(operand(given), dtypes.int32))
    blank = static_int("ctc_loss", blank_index, "blank_index", 0)
    blank = _counted("ctc_loss", blank, logits._array.shape[2])
    return apply(CTC_LOSS, logits, tf.cast(labels, dtypes.int32), *lengths, blank=blank)


def _counted(name: str, blank: int, classes: Any) -> Any:
    """The number of the blank class, counted from the end where it is negative."""
    require(
        type(classes) is Dim or -classes <= blank < classes,
        name,
        f"`blank_index` {blank} is outside [0, {classes})",
    )
    return blank + classes if blank < 0 else blank


class SparseValue(NamedTuple):
    """A ragged result as rows of indices, their values, and the shape they lie in."""

    indices: Any
    values: Any
    dense_shape: Any


def _decode(
    x: np.ndarray, length: np.ndarray, blank: int, merge: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    frames, batch, _ = x.shape
    require(
        not batch or (length.min() >= 0 and length.max() <= frames),
        "ctc_greedy_decoder",
        f"`sequence_length` must lie in [0, {frames}]",
        length,
    )
    best = x.argmax(2)
    live = np.arange(frames)[:, None] < length[None]
    before = np.concatenate([np.full((1, batch), -1), best[:-1]])
    keep = live & (best != blank)
    if merge:
        keep &= best != before
    rows, times = np.nonzero(keep.T)
    position = (np.cumsum(keep.T, 1) - 1)[rows, times]
    indices = np.stack([rows, position], 1).astype(np.int64).reshape(-1, 2)
    widest = int(position.max()) + 1 if len(position) else 0
    score = np.where(live, x.max(2), 0).sum(0, keepdims=True).T
    shape = np.array([batch, widest], np.int64)
    return indices, best.T[rows, times].astype(np.int64), shape, (-score).astype(x.dtype)


def _infer_decode(
    x: ShapeDtype, length: ShapeDtype, blank: int | None, merge: bool
) -> tuple[ShapeDtype, ...]:
    need_rank("ctc_greedy_decoder", x, 3, 3)
    batch = None if x.shape is None else x.shape[1]
    require(
        not known_unequal(length.shape, (batch,)),
        "ctc_greedy_decoder",
        "`sequence_length` must have one entry per batch row",
        length,
        x,
    )
    whole = dtypes.int64
    return (
        ShapeDtype((None, 2), whole), ShapeDtype((None,), whole), ShapeDtype((2,), whole), ShapeDtype((batch, 1), x.dtype)
    )  # fmt: skip


CTC_GREEDY_DECODER = Op(
    "ctc_greedy_decoder",
    "x length",
    kernel=checked(_decode, _infer_decode),
    infer=_infer_decode,
    lower=None,
    grad=None,
    outputs=4,
    match=(),
)


@with_fallback
def ctc_greedy_decoder(
    inputs: Tensor | np.ndarray,
    sequence_length: list[int],
    merge_repeated: bool = True,
    blank_index: int | None = None,
) -> tuple[list[SparseValue], Tensor]:
    """The best class of each frame, without blanks and (when merged) repetitions.

    Returns the labels as indices, values and shape, and minus the sum of the best logits. The
    blank is the last class unless given.
    """
    x = operand(inputs)
    need_rank("ctc_greedy_decoder", x, 3, 3)
    blank = static_int("ctc_greedy_decoder", blank_index, "blank", -1)
    blank = _counted("ctc_greedy_decoder", blank, x._array.shape[2])
    result = apply(
        CTC_GREEDY_DECODER, x, operand(sequence_length), blank=blank, merge=bool(merge_repeated)
    )
    return [SparseValue(*result[:3])], result[3]

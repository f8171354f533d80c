"""Label sequences of connectionist temporal classification: beam search, and repeats collapsed.

A beam is a sequence of labels with two probabilities: of the paths that end in a blank, and of
those that end in its last label. The blank is the last class. How long results are depends on the
labels.
"""

from __future__ import annotations

import numpy as np

from wengert.ops.ctc import SparseValue
from wengert.ops.declare import (
    Op,
    ShapeDtype,
    Tensor,
    TensorLike,
    apply,
    dtypes,
    integer_operand,
    known_unequal,
    need_rank,
    operand,
    require,
    static_int,
    tf,
)
from wengert.ops.sizes import checked

_NAME = "ctc_beam_search_decoder"


class _Beams:
    """The beams after some frames, likeliest first."""

    def __init__(self) -> None:
        self.labels: list[tuple[int, ...]] = [()]
        self.blank = np.zeros(1)
        self.label = np.full(1, -np.inf)

    def total(self) -> np.ndarray:
        return np.logaddexp(self.blank, self.label)

    def step(self, logs: np.ndarray, width: int) -> None:
        """One frame further: each beam stays as it is, or takes one more label."""
        classes = len(logs) - 1
        total = self.total()
        last = np.array([p[-1] if p else -1 for p in self.labels], np.intp)
        longer = total[:, None] + logs[None, :-1]
        rows = np.nonzero(last >= 0)[0]
        # The same label again is a new one only after a blank.
        longer[rows, last[rows]] = self.blank[rows] + logs[last[rows]]
        blank = total + logs[-1]
        label = np.full(len(total), -np.inf)
        label[rows] = self.label[rows] + logs[last[rows]]
        self._merge(longer, label)
        scores = np.concatenate([np.logaddexp(blank, label), longer.reshape(-1)])
        best = np.argsort(-scores, kind="stable")[:width]
        best = best[scores[best] > -np.inf]
        self._take(best, blank, label, longer.reshape(-1), classes)

    def _merge(self, longer: np.ndarray, label: np.ndarray) -> None:
        """Adds what reaches a beam from a shorter one to it."""
        index = {p: i for i, p in enumerate(self.labels)}
        for i, p in enumerate(self.labels):
            before = index.get(p[:-1]) if p else None
            if before is not None:
                label[i] = np.logaddexp(label[i], longer[before, p[-1]])
                longer[before, p[-1]] = -np.inf

    def _take(
        self, best: np.ndarray, blank: np.ndarray, label: np.ndarray, longer: np.ndarray, n: int
    ) -> None:
        count = len(blank)
        new = [
            self.labels[k] if k < count else (*self.labels[(k - count) // n], (k - count) % n)
            for k in best.tolist()
        ]
        stays = best < count
        self.blank = np.where(stays, blank[np.minimum(best, count - 1)], -np.inf)
        self.label = np.where(
            stays, label[np.minimum(best, count - 1)], longer[np.maximum(best - count, 0)]
        )
        self.labels = new


def _search(logits: np.ndarray, width: int) -> _Beams:
    x = logits.astype(np.float64)
    top = x.max(1, keepdims=True)
    logs = x - top - np.log(np.exp(x - top).sum(1, keepdims=True))
    beams = _Beams()
    for row in logs:
        beams.step(row, width)
    return beams


def _decode(x: np.ndarray, length: np.ndarray, width: int, paths: int) -> tuple[np.ndarray, ...]:
    frames, batch, _ = x.shape
    require(
        not batch or (length.min() >= 0 and length.max() <= frames),
        _NAME,
        f"`sequence_length` must lie in [0, {frames}]",
        length,
    )
    for b in range(batch):
        require(
            not np.isnan(x[: length[b], b]).any(),
            _NAME,
            f"`inputs` has NaN in batch row {b}: a score that is not a number puts no path before another",
            x,
        )
    results = [_search(x[: length[b], b], width) for b in range(batch)]
    for beams in results:
        require(
            len(beams.labels) >= paths,
            _NAME,
            f"there are fewer than {paths} paths",
            help="Ask for fewer.",
        )
    outs: list[np.ndarray] = []
    for k in range(paths):
        rows = [beams.labels[k] for beams in results]
        places = [(b, i) for b, row in enumerate(rows) for i in range(len(row))]
        outs.append(np.array(places, np.int64).reshape(-1, 2))
        outs.append(np.array([c for row in rows for c in row], np.int64))
        outs.append(np.array([batch, max(map(len, rows), default=0)], np.int64))
    scores = np.array([beams.total()[:paths] for beams in results]).reshape(batch, paths)
    return (*outs, scores.astype(x.dtype))


def _infer(x: ShapeDtype, length: ShapeDtype, width: int, paths: int) -> tuple[ShapeDtype, ...]:
    need_rank(_NAME, x, 3, 3)
    batch = None if x.shape is None else x.shape[1]
    require(
        not known_unequal(length.shape, (batch,)),
        _NAME,
        "`sequence_length` must have one entry per batch row",
        length,
        x,
    )
    whole = dtypes.int64
    path = (ShapeDtype((None, 2), whole), ShapeDtype((None,), whole), ShapeDtype((2,), whole))
    return (*(path * paths), ShapeDtype((batch, paths), x.dtype))


CTC_BEAM_SEARCH_DECODER = Op(
    "ctc_beam_search_decoder",
    "x length",
    kernel=checked(_decode, _infer),
    infer=_infer,
    lower=None,
    grad=None,
    outputs=None,
    match=(),
)


def ctc_beam_search_decoder(
    inputs: Tensor, sequence_length: list[int], beam_width: int = 100, top_paths: int = 1
) -> tuple[list[SparseValue], Tensor]:
    """The likeliest label sequences, as indices, values and shape, and their log probabilities."""
    width = static_int(_NAME, beam_width, "beam_width")
    paths = static_int(_NAME, top_paths, "top_paths")
    require(1 <= paths <= width, _NAME, f"`top_paths` must lie in [1, {width}]; got {paths}")
    x, length = operand(inputs), operand(sequence_length)
    result = apply(CTC_BEAM_SEARCH_DECODER, x, length, width=width, paths=paths)
    return [SparseValue(*result[3 * k : 3 * k + 3]) for k in range(paths)], result[-1]


def collapse_repeated(
    labels: TensorLike, seq_length: TensorLike, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Rows in which labels that follow their like are left out, and how long the rows are then.

    Only the first `seq_length` labels of a row count; shorter rows are filled up with zeros.

    >>> tf.nn.collapse_repeated([[1, 1, 2, 2, 1]], [5])[0].numpy().tolist()
    [[1, 2, 1]]
    """
    x, lengths = operand(labels), integer_operand(seq_length)
    need_rank("collapse_repeated", x, 2, 2)
    first = tf.ones(tf.shape(x[:, :1]), dtypes.bool_)
    new = tf.concat([first, tf.not_equal(x[:, 1:], x[:, :-1])], 1)
    kept = tf.logical_and(new, tf.sequence_mask(lengths, x._array.shape[1]))
    counts = tf.reduce_sum(tf.cast(kept, dtypes.int32), 1)
    filled = tf.sequence_mask(counts)
    result = tf.scatter_nd(
        tf.where(filled), tf.boolean_mask(x, kept), tf.shape(filled, dtypes.int64)
    )
    return result, tf.cast(counts, lengths.dtype)

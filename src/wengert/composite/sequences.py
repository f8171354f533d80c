"""Sequences in the rows of sparse tensors: the edit distance of two, and those that CTC decodes."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.composite.sparse_tensor import SparseTensor
from wengert.ops import beams, ctc
from wengert.ops.declare import (
    Op,
    ShapeDtype,
    Tensor,
    apply,
    at_site,
    dtypes,
    invalid,
    invalid_dtype,
)

_NAME = "edit_distance"


def _distance(x: np.ndarray, y: np.ndarray) -> int:
    """Levenshtein's distance, a row of his table at a time."""
    steps = np.arange(len(y) + 1)
    row = steps
    for k, element in enumerate(x):
        best = np.empty_like(row)
        best[0] = k + 1
        np.minimum(row[1:] + 1, row[:-1] + (y != element), out=best[1:])
        # An insertion costs 1 more than the place before: the least of all places to the left.
        row = np.minimum.accumulate(best - steps) + steps
    return int(row[-1])


def _sequences(indices: np.ndarray, values: np.ndarray, lead: tuple[int, ...]) -> list[np.ndarray]:
    """The values of each row, in the order in which they are given."""
    if ((indices[:, :-1] < 0) | (indices[:, :-1] >= lead)).any():
        rule = "an index lies outside of its dense_shape"
        raise invalid(_NAME, rule, help="Check `indices`; the last column counts along a sequence.")
    rows = np.zeros(len(indices), np.int64)
    for k, size in enumerate(lead):
        rows = rows * size + indices[:, k]
    order = np.argsort(rows, kind="stable")
    ends = np.searchsorted(rows[order], np.arange(1, int(np.prod(lead))))
    return np.split(values[order], ends)


def _kernel(
    hi: np.ndarray, hv: np.ndarray, hs: np.ndarray, ti: np.ndarray, tv: np.ndarray, ts: np.ndarray,
    normalize: bool,
) -> np.ndarray:  # fmt: skip
    lead = tuple(int(n) for n in np.maximum(hs, ts)[:-1])
    out = np.zeros(lead, np.float32)
    if not out.size:
        return out
    pairs = zip(_sequences(hi, hv, lead), _sequences(ti, tv, lead), strict=True)
    for i, (x, y) in enumerate(pairs):
        result = _distance(x, y)
        over = len(y) if normalize else 1
        out.flat[i] = result / over if over else np.inf if result else 0.0
    return out


def _infer(*parts: ShapeDtype, normalize: bool) -> ShapeDtype:
    shape = parts[0].shape
    rank = None if shape is None else shape[1]
    return ShapeDtype(None if rank is None else (None,) * (rank - 1), dtypes.float32)


EDIT_DISTANCE = Op(
    _NAME,
    "hi hv hs ti tv ts",
    kernel=_kernel,
    infer=_infer,
    lower=None,
    grad=None,
    match=(1, 4),
    register=False,  # the table of cases has no parts of sparse tensors
)


def edit_distance(
    hypothesis: Any, truth: Any, normalize: bool = True, name: str | None = None
) -> Tensor:
    """How many insertions, deletions and substitutions turn each row into that of the truth.

    Both are sparse; the last axis holds the sequences. Normalized, the number is divided by the
    length of the truth; without any truth it is infinite, or 0 for an empty hypothesis.
    """
    for x, what in ((hypothesis, "hypothesis"), (truth, "truth")):
        if not isinstance(x, SparseTensor):
            raise at_site(
                TypeError(
                    f"{_NAME}: `{what}` must be a SparseTensor; got {type(x).__name__}. Make one "
                    f"with tf.sparse.from_dense, or with `to_sparse` of a ragged tensor."
                )
            )
    if hypothesis.dtype is not truth.dtype:
        rule = "both must have the same dtype"
        raise invalid_dtype(_NAME, rule, hypothesis.values, truth.values, help="Use tf.cast.")
    ranks = [x.shape.rank for x in (hypothesis, truth)]
    if None not in ranks and (ranks[0] != ranks[1] or ranks[0] < 2):
        raise invalid(
            _NAME, f"both must have the same rank, 2 or more; got ranks {ranks[0]} and {ranks[1]}",
            help="The last axis holds the sequences, the others number them.",
        )  # fmt: skip
    parts = [p for x in (hypothesis, truth) for p in (x.indices, x.values, x.dense_shape)]
    return apply(EDIT_DISTANCE, *parts, normalize=bool(normalize))


def ctc_greedy_decoder(
    inputs: Any, sequence_length: Any, merge_repeated: bool = True, blank_index: Any = None
) -> tuple[list[SparseTensor], Tensor]:
    """The best class of each frame, without blanks and (when merged) repetitions.

    Returns the labels as a sparse tensor, and minus the sum of the best logits. The blank is the
    last class unless given.
    """
    result, score = ctc.ctc_greedy_decoder(inputs, sequence_length, merge_repeated, blank_index)
    return [SparseTensor.from_value(one) for one in result], score


def ctc_beam_search_decoder(
    inputs: Any, sequence_length: Any, beam_width: int = 100, top_paths: int = 1
) -> tuple[list[SparseTensor], Tensor]:
    """The likeliest label sequences as sparse tensors, and their log probabilities.

    The blank is the last class.
    """
    result, scores = beams.ctc_beam_search_decoder(inputs, sequence_length, beam_width, top_paths)
    return [SparseTensor.from_value(one) for one in result], scores

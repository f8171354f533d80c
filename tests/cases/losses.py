"""Cases for cross-entropies and other losses."""

from __future__ import annotations

import itertools

import numpy as np
from scipy import special

import wengert as tf
from tests.cases import Case, normal, positive, within

ALL = ("float16", "bfloat16", "float32", "float64")
LOGITS = normal(4, 3)
LABELS = np.array([0, 2, 1, 1], np.int32)
CHANCES = special.softmax(normal(4, 3, seed=1), -1)
YES = within(4, 3, low=0.0, high=1.0, seed=2)
TIME, BATCH, CLASSES = 5, 3, 4
SPELLED = np.array([[1, 2, 0], [3, 3, 1], [2, 0, 0]])
SPELLED_LENGTHS, FRAMES = np.array([2, 3, 1]), np.array([5, 4, 3])


def dense(labels, logits, axis=-1):
    return -np.sum(labels * special.log_softmax(logits, axis), axis)


def sparse(labels, logits):
    return -np.take_along_axis(special.log_softmax(logits, -1), labels[..., None], -1)[..., 0]


def binary(labels, logits, weight=1.0):
    yes, no = -np.logaddexp(0, -logits), -np.logaddexp(0, logits)
    return -(weight * labels * yes + (1 - labels) * no)


def poisson(targets, log_input, full):
    loss = np.exp(log_input) - log_input * targets
    if full:
        safe = np.maximum(targets, 1.0)
        stirling = safe * np.log(safe) - safe + 0.5 * np.log(2 * np.pi * safe)
        loss = loss + np.where(targets > 1, stirling, 0)
    return loss


def spelled(logits, labels, label_length, logit_length, blank=0):
    """The loss by going through every path of every row."""
    losses = []
    log_probs = special.log_softmax(logits, -1)
    for b in range(logits.shape[1]):
        want = list(labels[b, : label_length[b]])
        total = -np.inf
        for path in np.ndindex(*(logits.shape[2],) * int(logit_length[b])):
            merged = [c for i, c in enumerate(path) if i == 0 or c != path[i - 1]]
            if [c for c in merged if c != blank] == want:
                total = np.logaddexp(total, sum(log_probs[t, b, c] for t, c in enumerate(path)))
        losses.append(-total)
    return np.array(losses)


def ctc(logits, **options):
    return tf.nn.ctc_loss(SPELLED, logits, SPELLED_LENGTHS, FRAMES, **options)


def decoded(x):
    (found,), score = tf.nn.ctc_greedy_decoder(x, [5, 3])
    return [found.indices, found.values, found.dense_shape, score]


def likeliest(x: np.ndarray) -> list[np.ndarray]:
    """The two likeliest label sequences of each row, from all paths through its frames."""
    places, labels, widest, scores = [[], []], [[], []], [0, 0], np.zeros((2, 2))
    for b in range(2):
        logs = special.log_softmax(x[:, b], -1)
        total: dict[tuple[int, ...], float] = {}
        for path in itertools.product(range(x.shape[2]), repeat=len(x)):
            kept = tuple(c for c, _ in itertools.groupby(path) if c != x.shape[2] - 1)
            chance = sum(logs[t, c] for t, c in enumerate(path))
            total[kept] = np.logaddexp(total.get(kept, -np.inf), chance)
        for k, found in enumerate(sorted(total, key=lambda one: -total[one])[:2]):
            scores[b, k] = total[found]
            places[k] += [(b, i) for i in range(len(found))]
            labels[k] += found
            widest[k] = max(widest[k], len(found))
    return [np.array(part) for k in range(2) for part in (places[k], labels[k], [2, widest[k]])] + [
        scores
    ]


def searched(x):
    found, scores = tf.nn.ctc_beam_search_decoder(x, [4, 4], beam_width=99, top_paths=2)
    return [part for one in found for part in (one.indices, one.values, one.dense_shape)] + [scores]


CASES = [
    Case("softmax_cross_entropy", lambda x: tf.nn.softmax_cross_entropy_with_logits(CHANCES, x),
         (LOGITS,), lambda x: dense(CHANCES, x), dtypes=ALL),
    Case("softmax_cross_entropy_labels",
         lambda p, x: tf.nn.softmax_cross_entropy_with_logits(tf.nn.softmax(p), x),
         (normal(4, 3, seed=1), LOGITS), lambda p, x: dense(special.softmax(p, -1), x)),
    Case("softmax_cross_entropy_axis",
         lambda x: tf.nn.softmax_cross_entropy_with_logits(CHANCES.T, x, axis=0),
         (LOGITS.T,), lambda x: dense(CHANCES.T, x, 0)),
    Case("softmax_cross_entropy_broadcast",
         lambda x: tf.nn.softmax_cross_entropy_with_logits(CHANCES[:1], x),
         (LOGITS,), lambda x: dense(CHANCES[:1], x)),
    Case("sparse_softmax_cross_entropy", tf.nn.sparse_softmax_cross_entropy_with_logits,
         (LABELS, LOGITS), sparse, dtypes=ALL, order=3),
    Case("sparse_softmax_cross_entropy_3d", tf.nn.sparse_softmax_cross_entropy_with_logits,
         (LABELS.reshape(2, 2).astype(np.int64), LOGITS.reshape(2, 2, 3)), sparse),
    Case("sparse_softmax_cross_entropy_scalar", tf.nn.sparse_softmax_cross_entropy_with_logits,
         (LABELS[1], LOGITS[0]), sparse),
    Case("sparse_softmax_cross_entropy_empty", tf.nn.sparse_softmax_cross_entropy_with_logits,
         (LABELS[:0], LOGITS[:0]), lambda labels, x: np.zeros(0)),
    Case("sigmoid_cross_entropy", tf.nn.sigmoid_cross_entropy_with_logits, (YES, LOGITS), binary,
         dtypes=ALL),
    Case("sigmoid_cross_entropy_large",
         lambda y, x: tf.nn.sigmoid_cross_entropy_with_logits(y, 500.0 * x), (YES, LOGITS),
         lambda y, x: binary(y, 500.0 * x), order=0),
    Case("weighted_cross_entropy",
         lambda y, x: tf.nn.weighted_cross_entropy_with_logits(y, x, 3.0), (YES, LOGITS),
         lambda y, x: binary(y, x, 3.0)),
    Case("weighted_cross_entropy_tensor", tf.nn.weighted_cross_entropy_with_logits,
         (YES, LOGITS, positive(3)), binary),
    Case("log_poisson_loss", tf.nn.log_poisson_loss, (positive(4), normal(4)),
         lambda z, c: poisson(z, c, False)),
    Case("log_poisson_loss_full", lambda z, c: tf.nn.log_poisson_loss(z, c, True),
         (np.array([0.5, 1.5, 3.0, 7.0]), normal(4)), lambda z, c: poisson(z, c, True)),
    Case("l2_loss", tf.nn.l2_loss, (LOGITS,), lambda x: 0.5 * np.sum(x * x), dtypes=ALL),
    Case("l2_loss_empty", tf.nn.l2_loss, (normal(0, 2),), lambda x: 0.0),
    Case("ctc_loss", ctc, (normal(TIME, BATCH, CLASSES),), order=1,
         ref=lambda x: spelled(x, SPELLED, SPELLED_LENGTHS, FRAMES)),
    Case("ctc_loss_batch_major", lambda x: ctc(x, logits_time_major=False),
         (normal(BATCH, TIME, CLASSES),), order=1,
         ref=lambda x: spelled(x.transpose(1, 0, 2), SPELLED, SPELLED_LENGTHS, FRAMES)),
    Case("ctc_loss_blank",
         lambda x: tf.nn.ctc_loss(
             [[1, 2, 0], [0, 0, 1]], x, [2, 3], [3, 5], blank_index=-1),
         (normal(TIME, 2, CLASSES),), order=1,
         ref=lambda x: spelled(x, np.array([[1, 2, 0], [0, 0, 1]]), [2, 3], [3, 5], 3)),
    Case("ctc_loss_no_labels", lambda x: tf.nn.ctc_loss([[0], [0]], x, [0, 0], [3, 5]),
         (normal(TIME, 2, CLASSES),), order=1,
         ref=lambda x: spelled(x, np.array([[0], [0]]), [0, 0], [3, 5])),
    Case("ctc_loss_impossible", lambda x: tf.nn.ctc_loss([[1, 1], [1, 2]], x, [2, 2], [2, 2]),
         (normal(TIME, 2, CLASSES),), order=0,
         ref=lambda x: spelled(x, np.array([[1, 1], [1, 2]]), [2, 2], [2, 2])),
    Case("ctc_greedy_decoder", decoded,
         (np.eye(4)[np.array([[2, 3, 3, 1, 1], [0, 0, 2, 0, 3]]).T],), order=0, lowered=False,
         ref=lambda x: [np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), np.array([2, 1, 0, 2]),
                        np.array([2, 2]), np.array([[-5], [-3]])]),
    Case("ctc_beam_search_decoder", searched, (2 * normal(4, 2, 3),), order=0, lowered=False,
         ref=likeliest),
]  # fmt: skip

"""Cases for moments, normalisation, biases, dropout and embeddings."""

from __future__ import annotations

import numpy as np

import wengert as tf
from tests.cases import Case, normal, positive, whole

ALL = ("float16", "bfloat16", "float32", "float64")
X = normal(2, 3, 4)


def moments(x, axes, keepdims=False):
    return x.mean(axes, keepdims=keepdims), x.var(axes, keepdims=keepdims)


def weighted(x, axes, w):
    w = np.broadcast_to(w, x.shape)
    mean = (w * x).sum(axes, keepdims=True) / w.sum(axes, keepdims=True)
    variance = (w * (x - mean) ** 2).sum(axes) / w.sum(axes)
    return mean.reshape(variance.shape), variance


def lrn(x, radius, bias, alpha, beta):
    out = np.empty_like(x)
    for c in range(x.shape[-1]):
        near = x[..., max(0, c - radius) : c + radius + 1]
        out[..., c] = x[..., c] / (bias + alpha * (near**2).sum(-1)) ** beta
    return out


def l2_normalize(x, axis, epsilon=1e-12):
    return x / np.sqrt(np.maximum((np.abs(x) ** 2).sum(axis, keepdims=True), epsilon))


CASES = [
    Case("moments", lambda x: tf.nn.moments(x, [0, 2]), (X,), lambda x: moments(x, (0, 2)),
         dtypes=ALL, half_tolerance=4e-2),
    Case("moments_keepdims", lambda x: tf.nn.moments(x, -1, keepdims=True), (X,),
         lambda x: moments(x, -1, True)),
    Case("moments_all", lambda x: tf.nn.moments(x, None), (X,), lambda x: moments(x, None)),
    Case("moments_int", lambda x: tf.nn.moments(x, [0]), (whole(3, 2),), order=0,
         ref=lambda x: (x.sum(0) // 3, ((x - x.sum(0) // 3) ** 2).sum(0) // 3)),
    Case("weighted_moments", lambda x, w: tf.nn.weighted_moments(x, [0, 2], w), (X, positive(3, 1)),
         lambda x, w: weighted(x, (0, 2), w)),
    Case("batch_normalization",
         lambda x, m, v, o, s: tf.nn.batch_normalization(x, m, v, o, s, 1e-3),
         (X, normal(4, seed=1), positive(4), normal(4, seed=2), normal(4, seed=3)),
         lambda x, m, v, o, s: (x - m) / np.sqrt(v + 1e-3) * s + o),
    Case("batch_normalization_plain",
         lambda x, m, v: tf.nn.batch_normalization(x, m, v, None, None, 1e-3),
         (X, normal(4, seed=1), positive(4)), lambda x, m, v: (x - m) / np.sqrt(v + 1e-3)),
    Case("bias_add", tf.nn.bias_add, (X, normal(4, seed=1)), lambda x, b: x + b, dtypes=ALL),
    Case("bias_add_nchw", lambda x, b: tf.nn.bias_add(x, b, "NCW"), (X, normal(3, seed=1)),
         lambda x, b: x + b[:, None]),
    Case("bias_add_int", tf.nn.bias_add, (whole(2, 3), whole(3, seed=1)), lambda x, b: x + b,
         order=0),
    Case("l2_normalize", lambda x: tf.nn.l2_normalize(x, -1), (X,), lambda x: l2_normalize(x, -1)),
    Case("l2_normalize_all", lambda x: tf.math.l2_normalize(x, [0, 1, 2], epsilon=100.0), (X,),
         lambda x: l2_normalize(x, (0, 1, 2), 100.0)),
    Case("l2_normalize_complex", lambda x: tf.linalg.l2_normalize(x, 0),
         (normal(3, 2) + 1j * normal(3, 2, seed=1),), lambda x: l2_normalize(x, 0)),
    Case("lrn", lambda x: tf.nn.lrn(x, 1, 0.7, 0.4, 0.6), (normal(1, 2, 2, 5),),
         lambda x: lrn(x, 1, 0.7, 0.4, 0.6), dtypes=ALL),
    Case("lrn_default", tf.nn.local_response_normalization, (normal(1, 2, 2, 3),),
         lambda x: lrn(x, 5, 1.0, 1.0, 0.5)),
    Case("stateless_dropout",
         lambda x: tf.nn.experimental.stateless_dropout(x, 0.4, [1, 2]), (X,)),
    Case("embedding_lookup", lambda t: tf.nn.embedding_lookup(t, [[0, 2], [2, 4]]), (normal(5, 3),),
         lambda t: t[[[0, 2], [2, 4]]]),
    Case("embedding_lookup_max_norm", lambda t: tf.nn.embedding_lookup(t, [0, 2, 2], max_norm=0.5),
         (normal(5, 3),), lambda t: l2_normalize(t[[0, 2, 2]], -1) * 0.5),
]  # fmt: skip

"""Cases for making, padding, repeating and reordering tensors, and for blocks of space."""

from __future__ import annotations

from typing import Any

import numpy as np

import wengert as tf
from tests.cases import Case, normal
from wengert.core.apply import apply
from wengert.ops.padding import MIRROR_PAD_GRAD

ALL = ("float16", "bfloat16", "float32", "float64")
X = normal(2, 3)
IMAGE = normal(2, 4, 6, 3)


def _mirror_grad(mode: Any, shape: tuple[int, ...], paddings: list[tuple[int, int]]):
    """The transpose of mirror padding as a matrix, column by column."""

    def ref(g: np.ndarray) -> np.ndarray:
        out = np.zeros(shape)
        for i in np.ndindex(shape):
            unit = np.zeros(shape)
            unit[i] = 1.0
            out[i] = (np.pad(unit, paddings, mode) * g).sum()
        return out

    return ref


def _depth(x: np.ndarray) -> np.ndarray:
    n, h, w, c = x.shape
    cut = x.reshape(n, h // 2, 2, w // 2, 2, c).transpose(0, 1, 3, 2, 4, 5)
    return cut.reshape(n, h // 2, w // 2, 4 * c)


def _to_batch(x: np.ndarray) -> np.ndarray:
    parts = [x[:, i::2, j::3] for i in range(2) for j in range(3)]
    return np.concatenate(parts, 0)


def _reversed(x: np.ndarray, n: np.ndarray) -> np.ndarray:
    out = x.copy()
    for row, k in enumerate(n):
        out[:, row, :k] = x[:, row, :k][:, ::-1]
    return out


CASES = [
    Case("zeros_like", lambda x: tf.zeros_like(x), (X,), np.zeros_like, order=0),
    Case("ones_like", lambda x: tf.ones_like(x, tf.int32), (X,), lambda x: np.ones((2, 3), int),
         order=0),
    Case("fill", lambda x: tf.fill([2, 3], x), (np.array(2.5),), lambda x: np.full((2, 3), x)),
    Case("linspace", lambda x, y: tf.linspace(x, y, 5), (np.array(1.0), np.array(4.0)),
         lambda x, y: np.linspace(x, y, 5)),
    Case("linspace_axis", lambda x, y: tf.linspace(x, y, 4, axis=-1), (normal(2), np.array(4.0)),
         lambda x, y: np.linspace(x, y, 4, axis=-1)),
    Case("linspace_of_one", lambda x, y: [tf.linspace(x, y, 1), tf.linspace(x, y, 0)],
         (np.array(1.0), np.array(4.0)), lambda x, y: [np.array([1.0]), np.zeros(0)]),
    Case("meshgrid", lambda x, y: tf.meshgrid(x, y), (normal(2), normal(3)),
         lambda x, y: np.meshgrid(x, y)),
    Case("meshgrid_of_three", lambda x, y, z: tf.meshgrid(x, y, z), (normal(2), normal(3), normal(1)),
         lambda x, y, z: np.meshgrid(x, y, z)),
    Case("meshgrid_ij", lambda x, y: tf.meshgrid(x, y, indexing="ij"), (normal(2), normal(3)),
         lambda x, y: np.meshgrid(x, y, indexing="ij")),
    Case("pad", lambda x: tf.pad(x, [[1, 0], [2, 3]]), (X,), lambda x: np.pad(x, [(1, 0), (2, 3)]),
         dtypes=ALL),
    Case("pad_value", lambda x: tf.pad(x, [[1, 0], [0, 0]], constant_values=7), (X,),
         lambda x: np.pad(x, [(1, 0), (0, 0)], constant_values=7)),
    Case("pad_nothing", lambda x: tf.pad(x, [[1, 1], [0, 0]]), (normal(0, 2),),
         lambda x: np.zeros((2, 2))),
    Case("pad_booleans", lambda x: tf.pad(x, [[1, 1]], constant_values=True), (np.array([False]),),
         lambda x: np.array([True, False, True]), order=0),
    Case("pad_reflect", lambda x: tf.pad(x, [[1, 1], [2, 0]], "REFLECT"), (X,),
         lambda x: np.pad(x, [(1, 1), (2, 0)], "reflect"), dtypes=ALL),
    Case("pad_symmetric", lambda x: tf.pad(x, [[2, 1], [0, 3]], "SYMMETRIC"), (X,),
         lambda x: np.pad(x, [(2, 1), (0, 3)], "symmetric")),
    Case("mirror_pad_grad",
         lambda g: apply(MIRROR_PAD_GRAD, g, paddings=((1, 1), (2, 2)), skip=1), (normal(4, 7),),
         _mirror_grad("reflect", (2, 3), [(1, 1), (2, 2)])),
    Case("mirror_pad_grad_symmetric",
         lambda g: apply(MIRROR_PAD_GRAD, g, paddings=((0, 0), (3, 2)), skip=0), (normal(2, 8),),
         _mirror_grad("symmetric", (2, 3), [(0, 0), (3, 2)])),
    Case("tile", lambda x: tf.tile(x, [2, 3]), (X,), lambda x: np.tile(x, (2, 3)), dtypes=ALL),
    Case("tile_zero", lambda x: tf.tile(x, [2, 0]), (X,), lambda x: np.tile(x, (2, 0))),
    Case("tile_scalar", lambda x: tf.tile(x, []), (np.array(1.0),), lambda x: x),
    Case("repeat", lambda x: tf.repeat(x, 2, axis=-1), (X,), lambda x: np.repeat(x, 2, 1),
         dtypes=ALL),
    Case("repeat_flat", lambda x: tf.repeat(x, 3), (X,), lambda x: np.repeat(x, 3)),
    Case("repeat_each", lambda x: tf.repeat(x, [2, 0, 1], axis=1), (X,),
         lambda x: np.repeat(x, [2, 0, 1], 1)),
    Case("repeat_rows", lambda x: tf.repeat(x, [1, 2], axis=0), (X,),
         lambda x: np.repeat(x, [1, 2], 0)),
    Case("reverse", lambda x: tf.reverse(x, [0, -1]), (normal(2, 3, 4),), lambda x: np.flip(x, (0, 2)),
         dtypes=ALL),
    Case("reverse_nothing", lambda x: tf.reverse(x, []), (X,), lambda x: x),
    Case("reverse_sequence", lambda x, n: tf.reverse_sequence(x, n, seq_axis=2, batch_axis=1),
         (normal(2, 3, 4), np.array([0, 4, 2])), _reversed),
    Case("roll", lambda x: tf.roll(x, 1, 1), (X,), lambda x: np.roll(x, 1, 1), dtypes=ALL),
    Case("roll_axes", lambda x: tf.roll(x, [1, -5, 2], [0, 1, 1]), (X,),
         lambda x: np.roll(x, (1, -5, 2), (0, 1, 1))),
    Case("space_to_batch", lambda x: tf.space_to_batch(x, [2, 3], [[0, 0], [0, 0]]), (IMAGE,),
         _to_batch),
    Case("space_to_batch_padded", lambda x: tf.space_to_batch(x, [2, 3], [[1, 1], [2, 1]]), (IMAGE,),
         lambda x: _to_batch(np.pad(x, [(0, 0), (1, 1), (2, 1), (0, 0)]))),
    Case("batch_to_space", lambda x: tf.batch_to_space(x, [2, 3], [[1, 0], [0, 2]]),
         (normal(12, 2, 2, 3),),
         lambda x: x.reshape(2, 3, 2, 2, 2, 3).transpose(2, 3, 0, 4, 1, 5).reshape(2, 4, 6, 3)[
             :, 1:, :-2]),
    Case("space_to_depth", lambda x: tf.nn.space_to_depth(x, 2), (IMAGE,), _depth),
    Case("space_to_depth_nchw", lambda x: tf.nn.space_to_depth(x, 2, "NCHW"), (normal(2, 3, 4, 6),),
         lambda x: _depth(x.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2)),
    Case("depth_to_space", lambda x: tf.nn.depth_to_space(tf.nn.space_to_depth(x, 2) * 2.0, 2),
         (IMAGE,), lambda x: x * 2),
    Case("depth_to_space_nchw",
         lambda x: tf.nn.depth_to_space(tf.nn.space_to_depth(x, 2, "NCHW") * 2.0, 2, "NCHW"),
         (normal(2, 3, 4, 6),), lambda x: x * 2),
]  # fmt: skip

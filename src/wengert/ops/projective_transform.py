"""Projective transformation of images: each output pixel reads the image at a computed place."""

from __future__ import annotations

import functools
from types import ModuleType
from typing import Any

import numpy as np

from wengert.core.lazy_modules import Lazy
from wengert.ops.declare import (
    JaxArray,
    Op,
    ShapeDtype,
    ShapeLike,
    Tensor,
    TensorLike,
    apply,
    dtypes,
    jnp,
    operand,
    require,
    static,
)
from wengert.ops.sizes import checked

# The formulas take the array library as an argument and are written once for both engines.


def _reflect(m: ModuleType | Lazy, at: JaxArray | np.ndarray, size: int) -> JaxArray | np.ndarray:
    """Continues the axis by mirror images: 2 1 0 | 0 1 2 | 2 1 0."""
    at = at - m.floor(at / (2 * size)) * (2 * size)
    return m.clip(m.where(at >= size, 2 * size - 1 - at, at), 0, size - 1)


def _wrap(m: ModuleType | Lazy, at: JaxArray | np.ndarray, size: int) -> JaxArray | np.ndarray:
    """Continues the axis by copies of itself, as TensorFlow does."""
    if size <= 1:
        return m.zeros_like(at)
    below = at + size * (m.floor(-at / (size - 1)) + 1)
    above = at - size * m.floor(at / (size - 1))
    return m.clip(m.where(at < 0, below, m.where(at > size - 1, above, at)), 0, size - 1)


def _place(m: Any, at: np.ndarray, size: int, mode: str) -> Any:
    if mode == "REFLECT":
        return _reflect(m, at, size) if size > 1 else m.zeros_like(at)
    if mode == "WRAP":
        return _wrap(m, at, size)
    return m.clip(at, 0, size - 1) if mode == "NEAREST" else at


def _away(m: ModuleType | Lazy, x: JaxArray | np.ndarray) -> JaxArray | np.ndarray:
    """Rounds halves away from zero."""
    return m.sign(x) * m.floor(m.abs(x) + np.float32(0.5))


def _reads(
    m: ModuleType | Lazy,
    transforms: np.ndarray,
    old: tuple[int, int],
    new: tuple[int, int],
    mode: str,
    smooth: bool,
) -> tuple[Any, list[tuple[Any, Any, Any, Any]]]:
    """Which output pixels see something, and what they read: rows, columns, weights, and whether
    the place exists."""
    t = [transforms[:, i, None, None] for i in range(8)]
    y = np.arange(new[0], dtype=np.float32)[None, :, None]
    x = np.arange(new[1], dtype=np.float32)[None, None, :]
    depth = t[6] * x + t[7] * y + np.float32(1)
    safe = m.where(depth == 0, np.float32(1), depth)
    row = _place(m, (t[3] * x + t[4] * y + t[5]) / safe, old[0], mode)
    column = _place(m, (t[0] * x + t[1] * y + t[2]) / safe, old[1], mode)
    visible = depth != 0
    if not smooth:
        return visible, [_read(m, _away(m, row), _away(m, column), m.ones_like(row), visible, old)]
    top, left = m.floor(row), m.floor(column)
    down, right = row - top, column - left
    return visible, [
        _read(m, top + i, left + j, wy * wx, visible, old)
        for i, wy in ((0, 1 - down), (1, down))
        for j, wx in ((0, 1 - right), (1, right))
    ]


def _read(
    m: Any, row: Any, column: Any, weight: np.ndarray, visible: np.ndarray, old: tuple[int, int]
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    inside = (row >= 0) & (row < old[0]) & (column >= 0) & (column < old[1]) & visible
    rows = m.where(inside, row, 0).astype(np.int32)
    columns = m.where(inside, column, 0).astype(np.int32)
    return rows, columns, weight, inside


def _project(
    m: ModuleType | Lazy,
    x: Any,
    transforms: np.ndarray,
    fill: np.ndarray,
    shape: tuple[int, int],
    mode: str,
    smooth: bool,
) -> JaxArray | np.ndarray:
    wide = x.dtype if x.dtype.kind == "f" and x.dtype.itemsize >= 4 else np.float32
    batch = np.arange(x.shape[0])[:, None, None]
    empty = fill.astype(wide)
    visible, reads = _reads(m, transforms, x.shape[1:3], shape, mode, smooth)
    total: Any = 0.0
    for rows, columns, weight, inside in reads:
        seen = m.where(inside[..., None], x[batch, rows, columns].astype(wide), empty)
        total = total + seen * weight[..., None].astype(wide)
    return m.where(visible[..., None], total, empty).astype(x.dtype)


def _infer_project(
    x: ShapeDtype,
    transforms: ShapeDtype,
    fill: ShapeDtype,
    shape: tuple[int, int],
    mode: str,
    smooth: bool,
) -> ShapeDtype:
    if x.shape is None:
        return ShapeDtype((None, *shape, None), x.dtype)
    bad = len(x.shape) != 4 or (
        transforms.shape is not None
        and (
            len(transforms.shape) != 2
            or transforms.shape[1] not in (None, 8)
            or (None not in (x.shape[0], transforms.shape[0])
                and transforms.shape[0] not in (1, x.shape[0]))
        )
    )  # fmt: skip
    require(
        not bad,
        "image_projective_transform",
        "images of rank 4 and 8 numbers per image (or once for all) are needed",
        x,
        transforms,
    )
    return ShapeDtype((x.shape[0], *shape, x.shape[3]), x.dtype)


PROJECT = Op(
    "image_projective_transform",
    "x transforms fill",
    kernel=checked(functools.partial(_project, np), _infer_project),
    infer=_infer_project,
    # Advanced indexing in `jnp` builds the gathers that `lax.gather` would want spelled out.
    lower=checked(functools.partial(_project, jnp), _infer_project),
    grad=(
        lambda g, transforms, x_shape, mode, smooth: apply(
            PROJECT_GRAD, g, transforms, shape=tuple(x_shape), mode=mode, smooth=smooth
        ),
        None,
        None,
    ),
    accepts=dtypes.nums("uint8", "int32", "int64", "float16", "bfloat16", "float32", "float64"),
    match=(),
)


def _spread(
    m: ModuleType,
    g: np.ndarray,
    transforms: np.ndarray,
    shape: tuple[int, ...],
    mode: str,
    smooth: bool,
) -> np.ndarray:
    wide = g.dtype if g.dtype.itemsize >= 4 else np.float32
    batch = np.arange(shape[0])[:, None, None]
    out = m.zeros(shape, wide)
    _, reads = _reads(m, transforms, (shape[1], shape[2]), g.shape[1:3], mode, smooth)
    for rows, columns, weight, inside in reads:
        part = g.astype(wide) * (weight * inside)[..., None].astype(wide)
        if m is np:
            np.add.at(out, (batch, rows, columns), part)
        else:
            out = out.at[batch, rows, columns].add(part)
    return out.astype(g.dtype)


def _project_grad_grad(
    h: Tensor, transforms: Tensor, g_shape: tuple[int, ...], mode: str, smooth: bool
) -> Tensor:
    zero = operand(0.0, dtypes.float32)
    size = tuple(g_shape[1:3])
    return apply(PROJECT, h, transforms, zero, shape=size, mode=mode, smooth=smooth)


PROJECT_GRAD = Op(
    "image_projective_transform_grad",
    "g transforms",
    kernel=lambda g, transforms, **attrs: _spread(np, g, transforms, **attrs),
    infer=lambda g, transforms, shape, mode, smooth: ShapeDtype(shape, g.dtype),
    lower=lambda g, transforms, **attrs: _spread(jnp, g, transforms, **attrs),
    grad=(_project_grad_grad, None),
    match=(),
)


def image_projective_transform(
    images: TensorLike, transforms: TensorLike, output_shape: ShapeLike, fill_value: TensorLike = 0.0,
    interpolation: str = "NEAREST", fill_mode: str = "CONSTANT", name: str | None = None,
) -> Tensor:  # fmt: skip
    """Output (x, y) reads the input at ((a0 x + a1 y + a2) / k, (b0 x + b1 y + b2) / k).

    `transforms` holds a0 a1 a2 b0 b1 b2 c0 c1 per image, k = c0 x + c1 y + 1. Outside the image
    counts `fill_value`, or the image continued by "REFLECT", "WRAP" or "NEAREST". The gradient
    with respect to the images is exact.
    """
    x = operand(images)
    t = operand(transforms, None, dtypes.float32)
    require(
        interpolation in ("NEAREST", "BILINEAR"),
        "image_projective_transform",
        f"`interpolation` must be 'NEAREST' or 'BILINEAR'; got {interpolation!r}",
    )
    require(
        fill_mode in ("CONSTANT", "REFLECT", "WRAP", "NEAREST"),
        "image_projective_transform",
        f"`fill_mode` must be 'CONSTANT', 'REFLECT', 'WRAP' or 'NEAREST'; got {fill_mode!r}",
    )
    shape = static("image_projective_transform", output_shape)
    attrs = {"shape": shape, "mode": fill_mode, "smooth": interpolation == "BILINEAR"}
    fill = operand(fill_value, None, dtypes.float32)
    return apply(PROJECT, x, t, fill, **attrs)

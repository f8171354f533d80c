"""Complex numbers and their parts. Gradients follow TensorFlow: the conjugate of df/dz."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.ops.declare import (
    DType,
    Op,
    ShapeDtype,
    Tensor,
    TensorLike,
    Value,
    apply,
    apply1,
    broadcasting,
    dtypes,
    lax,
    operand,
    operands,
    require_dtype,
    shapes,
    tf,
    unary,
)


def _part(name: str, kernel: Any, lower: Any, grad: Any) -> Op:
    """An operation from complex numbers to the real type of their width."""
    return Op(
        name,
        "x",
        kernel=kernel,
        infer=lambda x: ShapeDtype(x.shape, x.dtype.real_dtype),
        lower=lower,
        grad=grad,
        accepts=dtypes.COMPLEX,
        holomorphic=False,
        elementwise=True,
    )


def _zeros(x: Value) -> Tensor:
    return tf.zeros_like(x)


def _complex(x: np.ndarray, y: np.ndarray, dtype: DType) -> np.ndarray:
    # A product with 1j would turn infinities into NaN.
    out = np.empty(np.broadcast_shapes(x.shape, y.shape), dtype.np)
    out.real = x
    out.imag = y
    return out


COMPLEX = Op(
    "complex",
    "x y",
    kernel=_complex,
    infer=lambda x, y, dtype: ShapeDtype(shapes.broadcast("complex", x.shape, y.shape), dtype),
    lower=broadcasting(lambda x, y, dtype: lax.complex(x, y)),
    grad=(lambda g: real(g), lambda g: imag(g)),
    accepts=dtypes.nums("float32", "float64"),
    broadcasts=True,
    holomorphic=False,
    elementwise=True,
)


def complex(real: TensorLike, imag: TensorLike, name: str | None = None) -> Tensor:
    """The complex numbers with the given parts, both float32 or both float64."""
    x, y = operands("complex", real, imag)
    kinds: dict[DType, DType] = {
        dtypes.float32: dtypes.complex64,
        dtypes.float64: dtypes.complex128,
    }
    require_dtype(
        x.dtype is y.dtype and x.dtype in kinds,
        "complex",
        "`real` and `imag` must both be float32 or float64",
        x,
        y,
    )
    return apply(COMPLEX, x, y, dtype=kinds[x.dtype])


REAL = _part("real", np.real, lambda x: lax.real(x), grad=lambda g: complex(g, _zeros(g)))


def real(input: TensorLike, name: str | None = None) -> Value:
    """The real part; a real tensor is its own."""
    x = operand(input)
    if x.dtype.is_complex:
        return apply1(REAL, x)
    require_dtype(x.dtype.is_numeric, "real", "numbers were expected", x)
    return x


IMAG = _part("imag", np.imag, lambda x: lax.imag(x), grad=lambda g: complex(_zeros(g), g))


def imag(input: TensorLike, name: str | None = None) -> Tensor:
    """The imaginary part; zeros for a real tensor."""
    x = operand(input)
    return apply1(IMAG, x) if x.dtype.is_complex else _zeros(x)


CONJ = unary(
    "conj",
    np.conj,
    lambda x: lax.conj(x),
    grad=lambda g: conj(g),
    accepts=dtypes.COMPLEX,
    holomorphic=False,
)


def conj(x: Any, name: str | None = None) -> Any:
    """The complex conjugate; a real tensor is its own."""
    x = operand(x)
    if x.dtype.is_complex:
        return apply1(CONJ, x)
    require_dtype(x.dtype.is_numeric, "conj", "numbers were expected", x)
    return x


ANGLE = _part(
    "angle",
    np.angle,
    lambda x: lax.atan2(lax.imag(x), lax.real(x)),
    grad=lambda g, x: complex(_zeros(g), g) / conj(x),
)


def angle(input: TensorLike, name: str | None = None) -> Tensor:
    """The argument in [-π, π]; for real numbers π below 0, else 0. Its gradient at 0 is NaN."""
    x = operand(input)
    if x.dtype.is_complex:
        return apply1(ANGLE, x)
    require_dtype(x.dtype.is_floating, "angle", "floats or complex numbers were expected", x)
    return tf.where(x < 0, operand(np.pi, None, x.dtype), 0)

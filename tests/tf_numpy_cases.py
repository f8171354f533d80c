"""Calls of `tf.experimental.numpy`, run on TensorFlow to record their answers, on Wengert to compare.

    python -m tests.tf_numpy_cases > tests/tf_numpy_answers.json

with an interpreter that has TensorFlow.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

UNARY = [
    "abs",
    "absolute",
    "angle",
    "arccosh",
    "arcsinh",
    "arctan",
    "around",
    "cbrt",
    "ceil",
    "conj",
    "conjugate",
    "copy",
    "cos",
    "cosh",
    "deg2rad",
    "exp",
    "exp2",
    "expm1",
    "fabs",
    "fix",
    "floor",
    "imag",
    "iscomplex",
    "isfinite",
    "isinf",
    "isnan",
    "isneginf",
    "isposinf",
    "isreal",
    "negative",
    "positive",
    "rad2deg",
    "ravel",
    "real",
    "reciprocal",
    "round",
    "sign",
    "signbit",
    "sin",
    "sinc",
    "sinh",
    "sqrt",
    "square",
    "tan",
    "tanh",
    "logical_not",
    "log1p",
    "ndim",
    "size",
    "shape",
    "isscalar",
    "iscomplexobj",
    "isrealobj",
    "ones_like",
    "zeros_like",
    "empty_like",
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "fliplr",
    "flipud",
    "transpose",
    "flatten",
    "nonzero",
    "trace",
    "diag",
    "diagonal",
    "tril",
    "triu",
    "squeeze",
    "max",
    "min",
    "amax",
    "amin",
    "mean",
    "median",
    "std",
    "var",
    "sum",
    "prod",
    "cumsum",
    "cumprod",
    "all",
    "any",
    "argmax",
    "argmin",
    "argsort",
    "sort",
    "ptp",
    "nansum",
    "nanmean",
    "nanprod",
    "count_nonzero",
    "average",
    "array",
    "asarray",
    "asanyarray",
    "ascontiguousarray",
    "rot90",
    "diff",
    "flip",
]
BINARY = [
    "add",
    "subtract",
    "multiply",
    "divide",
    "true_divide",
    "floor_divide",
    "mod",
    "remainder",
    "power",
    "float_power",
    "divmod",
    "maximum",
    "minimum",
    "arctan2",
    "hypot",
    "logaddexp",
    "logaddexp2",
    "equal",
    "not_equal",
    "less",
    "less_equal",
    "greater",
    "greater_equal",
    "logical_and",
    "logical_or",
    "logical_xor",
    "heaviside",
    "nextafter",
    "isclose",
    "allclose",
    "array_equal",
    "outer",
    "inner",
    "dot",
    "vdot",
    "kron",
    "append",
    "matmul",
    "cross",
]
WHOLE = ["bitwise_and", "bitwise_or", "bitwise_xor", "gcd", "lcm"]
OTHERS = """
arcsin(u); arccos(u); arctanh(u); log(p); log2(p); log10(p); bitwise_not(i); zeros([2, 3]); ones(2)
zeros([2], 'int32'); full([2, 2], 7); full([2], 1.5); empty(3); eye(3); eye(2, 3, 1); identity(2)
arange(5); arange(1, 7, 2); arange(2.5); arange(0, 1, 0.25, dtype='float32'); linspace(0, 1, 5)
linspace(0, 10, 4, endpoint=False); linspace(0, 1, 3, retstep=True); logspace(0, 2, 3)
geomspace(1, 1000, 4); tri(3); tri(2, 3, 1); vander([1, 2, 3]); vander([1, 2, 3], 2, True)
array([1, 2]); array([1.5, 2]); array(3); array([True]); array([1, 2], dtype='float32'); array([1 + 2j])
array([[1], [2]], ndmin=3); asarray([1, 2], 'int8'); full_like(i, 2.5); full_like(m, 3, dtype='int32')
broadcast_to(i, [2, 3]); broadcast_arrays(i, 1.5); concatenate([m, m]); concatenate([m, m], 1)
concatenate([m, i[None]], 0); concatenate([m, m], None); stack([i, i]); stack([i, f], 1); hstack([i, f])
vstack([i, f]); dstack([i, f]); split(i, 3); split(m, [1], 1); hsplit(m, 3); vsplit(m, 2); dsplit(c3, 2)
expand_dims(i, 0); expand_dims(i, -1); squeeze(m[None]); squeeze(m[None], 0); reshape(m, [3, 2])
reshape(m, -1); reshape(m, (3, -1)); swapaxes(m, 0, 1); moveaxis(c3, 0, 2); transpose(c3, [1, 0, 2])
tile(i, 2); tile(i, [2, 2]); repeat(i, 2); repeat(m, 2, 0); repeat(m, [1, 2], axis=0); roll(m, 1)
roll(m, 1, 0); roll(m, [1, 2], [0, 1]); flip(m, 1); rot90(m, 2); rot90(c3, 1, (1, 2)); pad(i, 1)
pad(m, [[1, 0], [0, 2]]); pad(i, [[1, 2]], mode='constant', constant_values=9)
pad(i, [[1, 2]], 'reflect'); pad(i, [[1, 2]], 'symmetric'); where(b, i, f); where(b); where(i > 1, 0, 1)
select([i > 2, i > 1], [i, -i], 9); clip(f, 1, 2); clip(i, 1.5, None); clip(m, 0, [1, 2, 3])
take(f, [0, 2]); take(m, [1], axis=0); take(m, 1, 1); take(m, [0, 5]); take(f, [3], mode='wrap')
take_along_axis(m, argsort(m, 1), 1); compress([True, False], m, 0); compress([0, 1, 1], f)
diag(f); diag(m); diag(m, 1); diag(f, -1); diagflat(m); diagonal(m, 1); diagonal(c3, 0, 1, 2)
diag_indices(2); trace(m, 1); trace(c3, 0, 1, 2); tril(m, 1); triu(m, -1); meshgrid(i, f)
meshgrid(i, f, indexing='ij'); ix_([0, 1], [2, 0]); sum(m, 0); sum(m, axis=1, keepdims=True)
sum(m, (0, 1)); sum(b); sum(i8); sum(f, dtype='float64'); prod(m, 0); prod(i8); mean(i); mean(m, 1)
mean(b); mean(f32); var(m, 1); var(m, ddof=1); std(m, 0); std(i); max(m, 0); min(m, 1, keepdims=True)
amax(m, (0, 1)); argmax(m); argmax(m, 0); argmin(m, 1); all(m, 0); any(m, 1); all(b); ptp(m, 0)
count_nonzero(m); count_nonzero(m, 0); cumsum(m); cumsum(m, 0); cumsum(m, 1, dtype='float32')
cumprod(m, 1); nansum(n); nanmean(n); nanprod(n); nanmean(n, keepdims=True); average(m, 0)
average(f, weights=[1, 2, 3]); average(m, 1, weights=[1, 2, 3], returned=True); sort(m, 0); sort(m, None)
argsort(m, 0); argsort(f, kind='stable'); diff(m); diff(m, 2); diff(m, 1, 0); polyval([1, 2, 3], 2)
polyval([1, 2, 3], f); cross([1, 2, 3], [3, 2, 1]); cross([1, 2], [3, 4]); kron(m, i); tensordot(m, m, 2)
tensordot(m, m, [[1], [1]]); einsum('ij,kj->ik', m, m); dot(m, i); dot(i, f); dot(2, i); dot(m, m.T)
matmul(m, i); matmul(m, transpose(m)); inner(m, m); outer(i, f); vdot(m, m); allclose(f, f + 1e-9)
isclose(f, f + 1e-3, 1e-2); array_equal(i, i); array_equal(i, f); round(f * 1.37, 1); around(m * 3.3, -1)
true_divide(i, i); floor_divide(i, 2); divide(i, 2); power(i, 2); power(2, f); mod(-i, 2); i + f; add(i8, 1)
add(i32, i); add(i8, i32); add(f32, f); add(f32, i); add(f32, 1); add(f32, 1.5); add(b, 1); add(b, b)
multiply(u8, i8); subtract(u8, 1); add(c, f); add(f32, c); maximum(i, 1.5); minimum(b, i); add(f16, 1)
add(f16, i8); negative(u8); sqrt(i); sqrt(i32); exp(b); sin(i8); abs(c); angle(c); angle(c, True); real(c)
imag(c); imag(f); conj(c); isreal(c); iscomplex(c); sign(c); square(c); mean(c); sum(c); prod(c)
promote_types('int32', 'float32'); result_type(i, f32); result_type('int8', 1.5); result_type(i8, 1)
issubdtype(float32, floating) if False else True; finfo('float32').eps; iinfo('int8').max; pi; e; inf
newaxis; isscalar(1); isscalar(i); size(m, 1); ndim(3.5); shape(m); atleast_3d(i); atleast_2d(3)
iscomplexobj(c); isrealobj(c); signbit(f - 2); heaviside(f - 2, 0.5); bitwise_and(i, 3); gcd(i, 4); lcm(i, 4)
logical_and(i, b); logical_not(f); append(i, 9); append(m, m, 0); insert if False else 0; nonzero(m)
float_power(i, 2); nextafter(f, 10.0); sinc(f / 2); fix(f - 2.5); reciprocal(f); reciprocal(i)
"""


def given(np_: Any) -> dict[str, Any]:
    """The names that the calls refer to."""
    make = lambda x, kind: np_.array(np.array(x), dtype=kind)
    return {
        "i": make([1, 2, 3], "int64"), "f": make([1.5, 2.0, -0.5], "float64"),
        "m": make([[3, 0, 2], [1, 5, -4]], "int64"), "b": make([True, False, True], "bool"),
        "f32": make([0.5, 2, 3], "float32"), "i32": make([4, -5, 6], "int32"),
        "i8": make([100, 2, -3], "int8"), "u8": make([200, 2, 3], "uint8"),
        "c": make([1 + 2j, -3j, 2], "complex128"), "u": make([0.5, -0.25, 0.0], "float64"),
        "p": make([0.5, 4.0, 1.0], "float64"), "n": make([1.0, np.nan, 3.0], "float64"),
        "c3": make(np.arange(12).reshape(2, 3, 2), "int64"), "f16": make([0.5, 2], "float16"),
        "w": make([[1.5, 2.5, 0.5], [3.5, -1.5, 2.0]], "float64"), "floating": np.floating,
    }  # fmt: skip


def calls() -> list[str]:
    """All calls, as text."""
    results = [f"{name}({x})" for name in UNARY for x in ("f", "m", "w", "i32")]
    results += [
        f"{name}({x}, {y})" for name in BINARY for x, y in (("f", "i"), ("i", "i"), ("f32", "b"))
    ]
    results += [f"{name}(m, m + 1)" for name in BINARY[:28]]
    results += [f"{name}({x})" for name in WHOLE for x in ("i, i + 4", "i32, i8", "m, 6")]
    for line in OTHERS.strip().splitlines():
        results += [one.strip() for one in line.split(";")]
    return [*dict.fromkeys(results)]


def shown(value: Any) -> Any:
    if isinstance(value, tuple | list) and not hasattr(value, "dtype"):
        return [type(value).__name__, *[shown(v) for v in value]]
    read: Any = getattr(value, "numpy", None)
    if read is not None and not isinstance(value, np.ndarray | np.generic):
        array: Any = np.asarray(read())
        kind = array.dtype.name
        if array.dtype.kind == "c":
            return ["tensor", kind, np.stack([array.real, array.imag]).tolist()]
        return ["tensor", kind, array.tolist()]
    if isinstance(value, np.ndarray | np.generic):
        return ["array", str(np.asarray(value).dtype), np.asarray(value).tolist()]
    return str(value)


def answer(call: str, namespace: dict[str, Any]) -> Any:
    """What a call gives, as JSON holds it."""
    try:
        return json.loads(json.dumps(shown(eval(call, namespace))))
    except Exception as error:
        return ["error", type(error).__name__]


def answers(tf: Any) -> dict[str, Any]:
    """The answers to all calls."""
    module = tf.experimental.numpy
    namespace = {n: getattr(module, n) for n in dir(module) if not n.startswith("_")}
    namespace.update(given(module))
    return {call: answer(call, dict(namespace)) for call in calls()}


if __name__ == "__main__":
    import tensorflow as tf  # pyright: ignore[reportMissingModuleSource]

    tf.experimental.numpy.experimental_enable_numpy_behavior()  # without it many fail inside
    rows = [f"{json.dumps(k)}: {json.dumps(v)}" for k, v in answers(tf).items()]
    print("{" + ",\n".join(rows) + "}")

"""Elementwise operations at the edges: values, gradients, refusals, measured on TensorFlow."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import wengert as tf

NAN, INF = float("nan"), float("inf")
Invalid = tf.errors.InvalidArgumentError


def gradient(f: Any, *args: Any, seed: Any = None) -> list[Any]:
    xs = [tf.constant(a) for a in args]
    with tf.GradientTape() as tape:
        tape.watch(xs)
        y = f(*xs)
    found = tape.gradient(y, xs, output_gradients=seed)
    return [None if g is None else g.numpy() for g in found]


GRADIENTS: dict[str, tuple[Any, tuple[Any, ...], tuple[Any, ...]]] = {
    "maximum ties and NaN": (
        tf.maximum, ([1.0, 2.0, NAN, 1.0], [1.0, 3.0, 1.0, NAN]),
        ([1, 0, 0, 0], [0, 1, 1, 1]),
    ),
    "minimum ties and NaN": (
        tf.minimum, ([1.0, 2.0, NAN], [1.0, 3.0, 1.0]), ([1, 1, 0], [0, 0, 1])
    ),
    "abs at 0": (tf.abs, ([0.0, -0.0, -2.0],), ([0, 0, -1],)),
    "sign": (tf.sign, ([0.0, 3.0],), ([0, 0],)),
    "floormod": (tf.math.floormod, ([5.5, -5.5], [2.0, 2.0]), ([1, 1], [-2, 3])),
    "pow": (
        tf.pow, ([0.0, 0.0, 0.0, 2.0, -2.0, -2.0], [0.0, 2.0, -1.0, 0.0, 2.0, 0.5]),
        ([NAN, 0, -INF, 0, -4, NAN], [0, 0, NAN, np.log(2.0), 0, NAN]),
    ),
    "sqrt": (tf.sqrt, ([0.0, 4.0, -1.0],), ([INF, 0.25, NAN],)),
    "rsqrt": (tf.math.rsqrt, ([0.0, 4.0, -1.0],), ([-INF, -0.0625, NAN],)),
    "xlogy": (tf.math.xlogy, ([0.0, 1.0], [0.0, 0.0]), ([0, -INF], [0, INF])),
    "xlog1py": (tf.math.xlog1py, ([0.0, 1.0], [-1.0, -1.0]), ([0, -INF], [0, INF])),
    "xdivy": (tf.math.xdivy, ([0.0, 1.0], [0.0, 0.0]), ([0, INF], [0, -INF])),
    "divide_no_nan": (tf.math.divide_no_nan, ([1.0, 6.0], [0.0, 2.0]), ([0, 0.5], [0, -1.5])),
    "multiply_no_nan": (
        tf.math.multiply_no_nan, ([2.0, INF], [0.0, 0.0]), ([0, 0], [2, INF])
    ),
    "nextafter": (tf.math.nextafter, ([0.0, 1.0], [1.0, 1.0]), ([1, 1], [0, 0])),
    "clip with NaN": (
        tf.clip_by_value, ([-1.0, 0.0, 1.0, 2.0, NAN], 0.0, 1.0), ([0, 1, 1, 0, 0], 2, 1)
    ),
    "clip with crossed bounds": (tf.clip_by_value, ([0.0, 5.0], 2.0, 1.0), ([0, 0], 2, 0)),
    "atan2 at the origin": (tf.atan2, (0.0, 0.0), (NAN, NAN)),
    "where": (lambda x, y: tf.where([[True, False]], x, y), ([[1.0], [2.0]], 3.0), ([[1], [1]], 2)),
    "saturate_cast": (lambda x: tf.saturate_cast(x, tf.float16), ([1e6, 2.0, -1e6],), ([0, 1, 0],)),
    "abs of complex": (tf.abs, ([3 + 4j, 0j],), ([0.6 + 0.8j, 0],)),
    "sign of complex": (tf.sign, ([3 + 4j, 0j],), ([0.128 - 0.096j, 0],)),
    "angle": (tf.math.angle, ([1 + 2j, -1 - 1j],), ([-0.4 + 0.2j, 0.5 - 0.5j],)),
}  # fmt: skip


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradient_at_an_edge(name):
    f, args, want = GRADIENTS[name]
    for got, expected in zip(gradient(f, *args), want, strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-6)


@pytest.mark.parametrize("f", [tf.floor, tf.math.ceil, tf.round, tf.math.rint])
def test_rounding_has_no_gradient(f):
    assert gradient(f, [0.5]) == [None]


@pytest.mark.parametrize("f", [tf.math.floordiv, tf.truncatediv])
def test_rounded_quotients_have_no_gradient(f):
    assert gradient(f, [5.5], [2.0]) == [None, None]


def test_roots_answer_zero_to_a_gradient_of_zero():
    for f in (tf.sqrt, tf.math.rsqrt):
        assert gradient(f, [0.0, -1.0], seed=tf.zeros([2]))[0].tolist() == [0, 0]


VALUES: dict[str, tuple[Any, Any]] = {
    "floordiv by infinity": (lambda: tf.constant([5.0, -5.0]) // INF, [0.0, -0.0]),
    "floormod by infinity": (lambda: tf.constant([5.0, -5.0]) % INF, [5.0, INF]),
    "floormod by -infinity": (lambda: tf.constant([5.0, -5.0]) % -INF, [-INF, -5.0]),
    "truncatemod": (lambda: tf.truncatemod([-7.5, 7.0], [2.0, -2.0]), [-1.5, 1.0]),
    "lowest // -1": (lambda: tf.constant(-128, tf.int8) // tf.constant(-1, tf.int8), -128),
    "lowest % -1": (lambda: tf.constant(-(2**31)) % -1, 0),
    "divide_no_nan": (lambda: tf.math.divide_no_nan([INF, NAN, 1.0], 0.0), [0, 0, 0]),
    "multiply_no_nan": (
        lambda: tf.math.multiply_no_nan([INF, NAN, 0.0], [0.0, 0, INF]), [0, 0, NAN]
    ),
    "clip with crossed bounds": (lambda: tf.clip_by_value([1.0, NAN, 5.0], 2.0, 1.0), [2, NAN, 2]),
    "shifts stop at the width": (
        lambda: tf.bitwise.left_shift([1, 1, 1], [31, 40, -1]), [-(2**31), -(2**31), 1]
    ),
    "right shift keeps the sign": (lambda: tf.bitwise.right_shift([-8, 8], [1, 32]), [-4, 0]),
    "angle of reals": (lambda: tf.math.angle([1.0, -1.0, 0.0, NAN]), [0, np.pi, 0, 0]),
    "complex to bool": (lambda: tf.cast(tf.constant([0j, 1j]), tf.bool), [False, False]),
    "saturate_cast to int32": (
        lambda: tf.saturate_cast([3e9, -3e9, INF], tf.int32), [2147483520, -(2**31), 2147483520]
    ),
    "saturate_cast of complex": (
        lambda: tf.saturate_cast(tf.constant([300.5 + 1j, -1]), tf.uint8), [255, 0]
    ),
    "polyval of nothing": (lambda: tf.math.polyval([], 2.0), 0.0),
    "squared modulus": (
        lambda: tf.math.squared_difference(tf.constant([1 + 2j]), tf.constant([2 + 0j])), [5]
    ),
    "sigmoid far out": (lambda: tf.sigmoid([-1000.0, 1000.0]), [0, 1]),
    "softplus far out": (lambda: tf.math.softplus([-1000.0, INF, NAN]), [0, INF, NAN]),
    "where takes Python values": (lambda: tf.where([True, False], [1, 2], 3), [1, 3]),
    "where adopts": (lambda: tf.where(True, 1, tf.constant(2.0)), 1.0),
    "imag of reals": (lambda: tf.math.imag([1.0, 2.0]), [0, 0]),
}  # fmt: skip


@pytest.mark.parametrize("name", VALUES)
def test_value_at_an_edge(name):
    call, want = VALUES[name]
    np.testing.assert_allclose(call(), want, rtol=1e-6)


REFUSALS: dict[str, tuple[Any, Any, str]] = {
    "int // 0": (
        lambda: tf.constant(1) // 0, Invalid,
        "floordiv: integer division by zero; got int32[] and int32[]. Replace the zeros with "
        "tf.where, or divide floats.",
    ),
    "int % 0": (lambda: tf.constant([1]) % [0], Invalid, "floormod: integer division by zero"),
    "truncated / 0": (lambda: tf.truncatediv(1, 0), Invalid, "truncatediv: integer division by"),
    "int ** -1": (
        lambda: tf.pow(2, -1), Invalid,
        "pow: an integer to a negative power is no integer; got int32[] and int32[]. Cast the base",
    ),
    "unsigned power": (
        lambda: tf.pow(tf.constant(2, tf.uint8), 3), Invalid, "pow: dtype uint8 is not supported"
    ),
    "sqrt of ints": (lambda: tf.sqrt(4), Invalid, "sqrt: dtype int32 is not supported"),
    "logic of ints": (lambda: tf.logical_and(1, True), TypeError, "dtype int32 is not supported"),
    "bits of bools": (lambda: tf.bitwise.invert(tf.constant(True)), Invalid, "dtype bool is not"),
    "where without y": (
        lambda: tf.where(True, 1.0), ValueError, "where: give both `x` and `y`, or neither."
    ),
    "where of ints": (
        lambda: tf.where(tf.constant([1, 0]), 1.0, 2.0), Invalid,
        "where: `condition` must be boolean; got int32[2]. Compare it, as x != 0.",
    ),
    "where shapes": (
        lambda: tf.where([True, False], tf.zeros([2]), tf.zeros([3])), Invalid,
        "where: shapes [2] and [2] and [3] do not broadcast",
    ),
    "clip bounds too large": (
        lambda: tf.clip_by_value([1.0, 2.0], [[0.0], [1.0]], 3.0), ValueError,
        "clip_by_value: the bounds must broadcast to the shape of the tensor; got float32[2] and "
        "float32[2,1] and float32[].",
    ),
    "clip dtype": (lambda: tf.clip_by_value([1, 2], 0.5, 1), TypeError, "must have the same dtype"),
    "add_n of nothing": (lambda: tf.add_n([]), ValueError, "add_n: `inputs` is empty"),
    "add_n shapes": (
        lambda: tf.add_n([tf.zeros([1]), tf.zeros([2])]), Invalid,
        "add_n: all tensors must have the same shape; got float32[1] and float32[2].",
    ),
    "accumulate_n shape": (
        lambda: tf.math.accumulate_n([tf.constant(1.0)], shape=[2]), ValueError,
        "accumulate_n: all tensors must have shape (2,); got float32[].",
    ),
    "accumulate_n dtype": (
        lambda: tf.math.accumulate_n([tf.constant(1.0)], tensor_dtype=tf.float64), TypeError,
        "`tensor_dtype`",
    ),
    "scalar_mul by a vector": (
        lambda: tf.scalar_mul(tf.constant([2.0]), 3.0), ValueError,
        "scalar_mul: `scalar` must have rank 0; got float32[1]. Use `*`.",
    ),
    "polyval of a tensor": (
        lambda: tf.math.polyval(tf.constant([1.0]), 2.0), ValueError,
        "polyval: `coeffs` must be a list; got float32[1].",
    ),
    "complex of two widths": (
        lambda: tf.complex(tf.constant(1.0), tf.constant(1.0, tf.float64)), TypeError,
        "complex: `real` and `imag` must both be float32 or float64; got float32[] and float64[].",
    ),
    "complex of ints": (lambda: tf.complex(1, 2), TypeError, "complex: `real` and `imag`"),
    "conj of bools": (lambda: tf.math.conj(tf.constant(True)), TypeError, "conj: numbers were"),
    "cast of strings": (
        lambda: tf.cast(tf.constant("1"), tf.int32), tf.errors.UnimplementedError,
        "cast: string does not convert to int32. Use tf.strings.to_number or tf.strings.as_string.",
    ),
    "saturate_cast of bools": (
        lambda: tf.saturate_cast(tf.constant(True), tf.int8), TypeError, "saturate_cast: numbers"
    ),
    "bitcast shape": (
        lambda: tf.bitcast([1, 2, 3], tf.int64), Invalid,
        "bitcast: the last size must be 2 to make int64 of int32; got int32[3]. Reshape the tensor",
    ),
    "bitcast to bool": (lambda: tf.bitcast([1.0], tf.bool), TypeError, "must hold numbers"),
    "ensure_shape": (
        lambda: tf.ensure_shape([1, 2], [None, 2]), Invalid,
        "ensure_shape: the shape (2,) is not (None, 2); got int32[2].",
    ),
    "approximate_equal shapes": (
        lambda: tf.math.approximate_equal([1.0], 1.0), Invalid, "must have the same shape"
    ),
    "equal shapes": (lambda: tf.equal([1, 2], [1, 2, 3]), Invalid, "equal: shapes [2] and [3]"),
    "no promotion": (
        lambda: tf.maximum(tf.constant(1), tf.constant(1.0)), Invalid,
        "there is no promotion between int32 and float32; got int32[] and float32[]. Cast the "
        "int32 one with tf.cast(x, tf.float32).",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSALS)
def test_refusal(name):
    call, kind, text = REFUSALS[name]
    with pytest.raises(kind) as caught:
        call()
    assert text in str(caught.value)


def test_indexed_slices_stay_sparse_where_that_is_right():
    g = tf.IndexedSlices(tf.constant([[1.0, 3.0]]), tf.constant([0]), tf.constant([3, 2]))
    for got, want in (
        (tf.scalar_mul(2.0, g), [[2, 6]]),
        (tf.clip_by_value(g, 0.0, 2.0), [[1, 2]]),
        (tf.cast(g, tf.float64), [[1, 3]]),
    ):
        assert isinstance(got, tf.IndexedSlices)
        np.testing.assert_array_equal(got.values, want)
    np.testing.assert_array_equal(tf.add_n([g, tf.ones([3, 2])]), [[2, 4], [1, 1], [1, 1]])


@pytest.mark.parametrize("dtype", ["float32", "float64", "int16", "int8", "complex128"])
def test_where_of_large_tensors_keeps_every_bit(dtype):
    rng = np.random.default_rng(0)
    x, y = (rng.integers(-99, 99, (90, 100)).astype(dtype) for _ in range(2))
    if dtype == "float32":
        x[0, :3] = NAN, -0.0, INF
    c = rng.random((90, 100)) > 0.5
    for a, b in ((x, y), (x, y[0]), (x, y[0, 0]), (np.zeros_like(x[0, 0]), y), (x, x[0, 0] * 0)):
        want = np.where(c, a, b)
        got = tf.where(c, tf.constant(a), tf.constant(b)).numpy()
        assert got.tobytes() == want.astype(dtype).tobytes()


@pytest.mark.parametrize("own", ["float16", "bfloat16", "float32", "float64", "complex64"])
@pytest.mark.parametrize("size", [1, 64])
@pytest.mark.parametrize("engine", ["host", "xla"])
def test_casts_to_narrow_integers_clip_the_int32(own, size, engine):
    x = tf.cast(np.repeat([-700.0, -200, -1.5, 127.5, 200, 256, 700, 28672, NAN, INF], size), own)
    narrow = ("int8", "uint8", "int16", "uint16")
    with tf.engine(engine):
        found = tf.function(lambda x: [tf.cast(x, name) for name in narrow])(x)
    for name, got in zip(narrow, found, strict=True):
        limits = np.iinfo(name)
        want = np.clip([-700, -200, -1, 127, 200, 256, 700, 28672], limits.min, limits.max)
        want = np.repeat([*want, limits.min, limits.min], size)
        np.testing.assert_array_equal(got, want)
        np.testing.assert_array_equal(got, tf.cast(x, name))


def test_cast_to_the_same_dtype_is_the_same_tensor():
    x = tf.constant([1.0])
    assert tf.cast(x, tf.float32) is x
    assert not isinstance(tf.cast(tf.Variable(1.0), tf.float32), tf.Variable)
    assert tf.math.real(x) is x
    assert tf.math.conj(x) is x


def test_division_of_integers_is_real():
    for dtype, want in (("int8", "float32"), ("uint16", "float32"), ("int32", "float64")):
        x = tf.constant([7], dtype)
        assert (x / 2).dtype == (2 / x).dtype == tf.math.divide_no_nan(x, x).dtype == want


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_precision_stays_half(dtype):
    x = tf.constant([0.5, 2.0], dtype)
    for f in (tf.sigmoid, tf.math.softplus, tf.math.log_sigmoid, tf.sqrt, tf.tanh, tf.abs, tf.sign):
        assert f(x).dtype == dtype
        (g,) = gradient(f, x.numpy())
        assert g.dtype == x.numpy().dtype
    assert (x**2).dtype == (x // 2).dtype == (x % 2).dtype == tf.add_n([x, x]).dtype == dtype


def test_dtypes_module_has_the_names():
    assert tf.dtypes.cast is tf.cast
    assert tf.dtypes.complex is tf.complex
    assert tf.dtypes.as_dtype("half") is tf.dtypes.half is tf.float16
    assert tf.dtypes.double is tf.float64
    assert isinstance(tf.dtypes.bool, tf.dtypes.DType)


def test_a_tensor_is_no_dtype():
    for x in (tf.constant([1.0]), tf.Variable([1.0])):
        assert tf.float32 != x
        with pytest.raises(TypeError, match=r"is not an element type\. Give its `\.dtype`"):
            tf.zeros([2], x)


@pytest.mark.parametrize("compiled", [False, True])
def test_steep_places_that_nothing_depends_on_have_no_gradient(compiled):
    """As in TensorFlow, so that `tf.where` can leave them out."""

    def f(x):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            rows = tf.stack([x, x], 1)
            found = [tf.sqrt(x), tf.math.rsqrt(x), tf.math.reciprocal(x), tf.norm(rows, axis=1)]
            found = [tf.where(x > 0, y, 0.0) for y in found]
        return [tape.gradient(y, x) for y in found]

    run = tf.function(f, jit_compile=True) if compiled else f
    want = [0.25, -0.0625, -0.0625, np.sqrt(2.0)]
    for g, slope in zip(run(tf.constant([0.0, 4.0])), want, strict=True):
        np.testing.assert_allclose(g, [0.0, slope], rtol=1e-6)

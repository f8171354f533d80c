"""Infinities and NaN come out where TensorFlow's eager code lets them out, on both engines."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import wengert as tf

NAN, INF = np.nan, np.inf
each_way = pytest.mark.parametrize("way", ["eager", "host", "xla"])


def run(way: str, f: Any, *xs: Any) -> Any:
    given = [tf.constant(x) for x in xs]
    if way == "eager":
        return f(*given)
    with tf.engine(way):
        return tf.function(f)(*given)


def slope(f: Any, seed: Any = None) -> Any:
    def run(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return tape.gradient(y, x, None if seed is None else tf.constant(seed, x.dtype))

    return run


@each_way
@pytest.mark.parametrize("dtype", [tf.float32, tf.float64, tf.bfloat16])
def test_a_mask_of_zeros_hides_neither_infinity_nor_nan(way: str, dtype: Any) -> None:
    def masked(x: Any, mask: Any) -> Any:
        return x * tf.cast(mask, x.dtype), tf.sequence_mask(2, 4, x.dtype) * x

    x = np.array([INF, -1.0, NAN, INF], dtype.as_numpy_dtype)
    by_cast, by_length = run(way, masked, x, [False, False, False, True])
    np.testing.assert_array_equal(tf.cast(by_cast, tf.float64), [NAN, 0, NAN, INF])
    np.testing.assert_array_equal(tf.cast(by_length, tf.float64), [INF, -1, NAN, NAN])


@each_way
def test_the_slope_of_a_root_of_nothing_is_not_hidden_by_relu(way: str) -> None:
    got = run(way, slope(lambda x: tf.sqrt(tf.nn.relu(x))), [0.0, -1.0, 4.0])
    np.testing.assert_array_equal(got, [NAN, NAN, 0.25])
    got = run(way, slope(tf.nn.relu6, [INF, INF, INF]), [-1.0, 3.0, 7.0])
    np.testing.assert_array_equal(got, [NAN, INF, NAN])


@each_way
@pytest.mark.parametrize("width", [4, 32], ids=["small", "wide"])
@pytest.mark.parametrize("stride", [1, 0], ids=["overlap", "tiles"])
def test_an_infinite_gradient_reaches_only_the_maximum_of_a_window(
    way: str, width: int, stride: int
) -> None:
    x = np.zeros([1, 1, width, 1], np.float32)
    x[0, 0, 2] = 5.0

    def pool(x: Any) -> Any:
        return tf.nn.max_pool2d(x, [1, width], [1, stride or width], "VALID")

    want = np.zeros(width)
    want[2] = INF
    got = run(way, slope(pool, np.full([1, 1, 1, 1], INF)), x)
    np.testing.assert_array_equal(tf.reshape(got, [-1]), want)


@each_way
@pytest.mark.parametrize("width", [4, 32], ids=["small", "wide"])
def test_nan_is_the_maximum_of_its_window(way: str, width: int) -> None:
    x = np.ones([1, 1, width, 1], np.float32)
    x[0, 0, 1:3] = NAN
    x[0, 0, 3] = INF

    def pool(x: Any) -> Any:
        size = [1, width]
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.nn.max_pool2d(x, size, size, "VALID")
        return y, tape.gradient(y, x), tf.nn.max_pool_with_argmax(x, size, size, "VALID")[1]

    y, g, place = run(way, pool, x)
    assert np.isnan(y) and int(tf.squeeze(place)) == 1
    np.testing.assert_array_equal(tf.reshape(g, [-1]), np.eye(width)[1])


@each_way
def test_an_infinite_gradient_reaches_only_the_extremes_of_a_segment(way: str) -> None:
    def largest(x: Any) -> Any:
        return tf.math.unsorted_segment_max(x, [0, 0, 1, 0], 2)

    got = run(way, slope(largest, [INF, 2.0]), [3.0, 1.0, 2.0, 3.0])
    np.testing.assert_array_equal(got, [INF, 0, 2, INF])


@each_way
@pytest.mark.parametrize(
    "method", ["nearest", "bilinear", "bicubic", "area", "lanczos3", "gaussian", "mitchellcubic"]
)
@pytest.mark.parametrize("size", [(6, 8), (24, 30)])
def test_a_missing_pixel_spoils_its_neighbours_only(
    way: str, method: str, size: tuple[int, int]
) -> None:
    x = np.random.default_rng(0).random([1, 12, 16, 2]).astype(np.float32)
    x[0, 3, 5, 1] = NAN

    def resize(x: Any) -> Any:
        return tf.image.resize(x, size, method)

    got, want = run(way, resize, x), resize(tf.constant(x))
    np.testing.assert_allclose(got, want, 1e-5, 1e-6)
    spoilt = np.isnan(want.numpy())
    assert spoilt.any() and spoilt.mean() < 0.2 and not spoilt[..., 0].any()


FACTORS = {
    "svd": tf.linalg.svd,
    "singular values": lambda x: (tf.linalg.svd(x, compute_uv=False),),
    "eigh": tf.linalg.eigh,
    "eigvalsh": lambda x: (tf.linalg.eigvalsh(x),),
    "eig": tf.linalg.eig,
    "eigvals": lambda x: (tf.linalg.eigvals(x),),
    "pinv": lambda x: (tf.linalg.pinv(x),),
    "expm": lambda x: (tf.linalg.expm(x),),
    "sqrtm": lambda x: (tf.linalg.sqrtm(x),),
    "qr": tf.linalg.qr,
    "cholesky": lambda x: (tf.linalg.cholesky(x),),
    "norm": lambda x: (tf.norm(x, 2, axis=(-2, -1)),),
}


@each_way
@pytest.mark.parametrize("name", FACTORS)
@pytest.mark.parametrize("bad", [(INF,), (INF, -INF), (NAN,), (NAN, INF)], ids=str)
def test_a_matrix_that_is_not_finite_has_no_factors_but_others_of_its_stack_do(
    way: str, name: str, bad: tuple[float, ...]
) -> None:
    rng = np.random.default_rng(0)
    x = rng.standard_normal([3, 4, 4])
    x = x @ x.swapaxes(1, 2)
    fine = FACTORS[name](tf.constant(x))
    for k, b in enumerate(bad):
        x[1, 3, k] = b
    found = run(way, FACTORS[name], x)
    for got, want in zip(found, fine, strict=True):
        assert np.isnan(got[1].numpy()).any()
        for i in (0, 2):
            np.testing.assert_allclose(tf.abs(got[i]), tf.abs(want[i]), 1e-6, 1e-9)


@each_way
def test_eigh_does_not_look_above_the_diagonal(way: str) -> None:
    x = np.array([[2.0, NAN], [1.0, 3.0]])
    e, v = run(way, tf.linalg.eigh, x)
    want, _ = np.linalg.eigh([[2.0, 1.0], [1.0, 3.0]])
    np.testing.assert_allclose(e, want, 1e-6)
    assert np.isfinite(v.numpy()).all()


@each_way
@pytest.mark.parametrize("method", ["nearest", "bilinear", "area", "lanczos3"])
def test_a_gradient_that_is_not_finite_reaches_what_was_read_only(way: str, method: str) -> None:
    def resize(x: Any) -> Any:
        return tf.image.resize(x, [3, 4], method)

    seed = np.ones([1, 3, 4, 1])
    seed[0, 0, 0] = NAN
    got = run(way, slope(resize, seed), np.ones([1, 12, 16, 1], np.float32)).numpy()
    assert (
        np.isnan(got).any() and np.isfinite(got[0, 6:]).all() and np.isfinite(got[0, :, 8:]).all()
    )


@each_way
def test_moments_without_weight_are_zero(way: str) -> None:
    def moments(x: Any, w: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch([x, w])
            found = tf.nn.weighted_moments(x, [0], w)
        return *found, *tape.gradient(found, [x, w])

    for got in run(way, moments, [[1.0, 2.0], [3.0, 5.0]], np.zeros([2, 2], np.float32)):
        np.testing.assert_array_equal(got, np.zeros(got.shape))


@each_way
def test_nan_in_the_scores_of_ctc_comes_out_of_the_gradient(way: str) -> None:
    def loss(x: Any) -> Any:
        return tf.nn.ctc_loss([[1, 2]], x, [2], [4], logits_time_major=False, blank_index=0)

    x = np.random.default_rng(0).standard_normal([1, 5, 3])
    x[0, 1, 1] = NAN
    assert np.isnan(run(way, loss, x)).all()
    got = run(way, slope(loss), x)
    assert np.isnan(got[0, :4]).all() and not np.any(got[0, 4])


@each_way
def test_gamma_of_an_infinite_shape_is_infinite(way: str) -> None:
    got = run(way, lambda a: tf.random.stateless_gamma([2, 4], [1, 2], a), [INF, NAN, 0.0, -1.0])
    np.testing.assert_array_equal(got, [[INF, NAN, np.finfo(np.float32).tiny, NAN]] * 2)


@each_way
@pytest.mark.parametrize("y", [3.0, 1.5, -0.5, 5.0])
def test_the_logarithm_of_a_negative_power_is_nan(way: str, y: float) -> None:
    x = np.array([-3.0, -0.5, 2.0, 1.0], np.float32)
    want = [NAN, NAN, y * np.log(2.0), 0]
    got = run(way, lambda x: tf.math.log(tf.pow(x, y)), x)
    np.testing.assert_allclose(got, want, 1e-6)
    got = run(way, lambda x, y: tf.math.log(x**y), x, np.full(4, y, np.float32))
    np.testing.assert_allclose(got, want, 1e-6)


@each_way
def test_one_to_any_power_and_anything_to_the_power_0_is_1(way: str) -> None:
    x = np.array([0.0, 0.0, INF, -INF, 1.0], np.float32)
    y = np.array([INF, NAN, 0.0, 0.0, 0.0], np.float32)
    np.testing.assert_array_equal(run(way, lambda x, y: tf.exp(x) ** y, x, y), np.ones(5))


SOLUTIONS = {
    "det": lambda x: (tf.linalg.det(x),),
    "slogdet": tf.linalg.slogdet,
    "inv": lambda x: (tf.linalg.inv(x),),
    "solve": lambda x: (tf.linalg.solve(x, x[..., :1]),),
    "lu": lambda x: (tf.linalg.lu(x).lu,),
}


@each_way
@pytest.mark.parametrize("name", SOLUTIONS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64])
@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_a_matrix_with_nan_has_no_solution_but_others_of_its_stack_do(
    way: str, name: str, dtype: Any, n: int
) -> None:
    f = SOLUTIONS[name]
    x = (np.random.default_rng(0).standard_normal([2 * n * n, n, n]) + 4 * np.eye(n)).astype(dtype)
    fine = f(tf.constant(x))
    bad = np.arange(n * n)
    x[2 * bad, bad // n, bad % n] = NAN  # each place of its own matrix
    x[2 * bad[-1], 0, 0] = 0 if n > 1 else NAN
    for got, want in zip(run(way, f, x), fine, strict=True):
        assert np.isnan(got[::2]).all()
        np.testing.assert_allclose(got[1::2], want[1::2], 1e-4, 1e-5)


@each_way
@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_the_determinant_of_an_infinite_matrix_is_never_finite(way: str, n: int) -> None:
    rng = np.random.default_rng(n)
    x = rng.choice([0.0, 1.0, -2.0], [60, n, n])
    x[np.arange(60), rng.integers(n, size=60), rng.integers(n, size=60)] = INF
    det, (sign, size) = (run(way, f, x) for f in (tf.linalg.det, tf.linalg.slogdet))
    for got in (det.numpy(), size.numpy()):
        assert not np.isfinite(got).any()
    assert not np.isneginf(size).any()
    np.testing.assert_array_equal(np.isnan(sign), np.isnan(size))
    alone = [tf.linalg.det(row).numpy() for row in x]
    np.testing.assert_array_equal(det, alone)


@each_way
def test_determinants_of_infinity_are_those_of_tensorflow(way: str) -> None:
    x = np.array([[[INF, 1.0], [1.0, 2.0]], [[2.0, INF], [1.0, -INF]], [[0.0, 1.0], [1.0, NAN]]])
    np.testing.assert_array_equal(run(way, tf.linalg.det, x), [INF, -INF, NAN])

"""Very large, very small and empty arguments, on both engines."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import wengert as tf
from tests.test_not_finite import each_way, run, slope


@each_way
@pytest.mark.parametrize(
    ("dtype", "scale"),
    [
        (np.float32, 1e13),
        (np.float32, 1e-15),
        (np.complex64, 1e13),
        (np.float64, 1e140),
        (np.float64, 1e-140),
        (np.float64, 1.0),
    ],
)
def test_eigenvalues_scale_with_the_matrix(way: str, dtype: Any, scale: float) -> None:
    a = np.array([[1.0, 2, 3], [4, 5, 6], [7, 8, 10]])
    want = np.sort(np.linalg.eigvals(a).real)
    x = (a * scale).astype(dtype)
    tolerance = 1e-5 if x.dtype.itemsize < 16 and dtype is not np.float64 else 1e-12
    e, v = run(way, tf.linalg.eig, x)
    for found in (e, run(way, tf.linalg.eigvals, x)):
        np.testing.assert_allclose(np.sort(found.numpy().real) / scale, want, tolerance)
    again = v.numpy() @ np.diag(e.numpy() / scale) @ np.linalg.inv(v.numpy())
    np.testing.assert_allclose(again, a, 1e-4, 1e-4)


@each_way
def test_the_sigmoid_of_complex_numbers_does_not_overflow(way: str) -> None:
    x = np.array([-100 + 1j, 0.3 + 2j, 100 - 1j, -1e25 + 1j], np.complex64)
    wide = x.astype(np.complex128)[:3]
    got = run(way, tf.sigmoid, x)
    np.testing.assert_allclose(got[:3], 1 / (1 + np.exp(-wide)), 1e-6, 1e-12)
    assert got[3].numpy() == 0
    assert np.isfinite(run(way, slope(tf.sigmoid), x).numpy()).all()


@each_way
@pytest.mark.parametrize("reverse", [False, True])
def test_what_no_product_depends_on_has_no_gradient(way: str, reverse: bool) -> None:
    def products(x: Any) -> Any:
        return tf.math.cumprod(x, exclusive=True, reverse=reverse)

    x = np.array([1e30, 1e30, 3.0], np.float32)
    got = run(way, slope(products), x[::-1].copy() if reverse else x).numpy()
    np.testing.assert_allclose(got[::-1] if reverse else got, [1e30, 1e30, 0], 1e-6)


@each_way
def test_fresnel_integrals_of_huge_numbers_are_a_half(way: str) -> None:
    x = np.array([1e150, 1e160, -1e300])
    for f in (tf.math.special.fresnel_cos, tf.math.special.fresnel_sin):
        np.testing.assert_allclose(run(way, f, x), [0.5, 0.5, -0.5])


@each_way
@pytest.mark.parametrize("kind", [tf.complex64, tf.float32, tf.int64, tf.uint8, tf.complex128])
def test_complex_numbers_are_seen_as_other_types(way: str, kind: Any) -> None:
    x = np.array([1 + 2j, 3j], np.complex64)
    want = x.view(kind.as_numpy_dtype)
    shape = {tf.complex64: [2], tf.float32: [2, 2], tf.int64: [2], tf.uint8: [2, 8]}.get(kind, [])
    np.testing.assert_array_equal(
        run(way, lambda x: tf.bitcast(x, kind), x), want.reshape(shape), strict=True
    )


IMAGES = [[2, 6, 0, 4], [2, 0, 5, 4], [0, 6, 5, 4], [2, 6, 5, 0], [2, 0, 0, 4], [2, 6, 0, 1]]


@each_way
@pytest.mark.parametrize("image", IMAGES, ids=str)
@pytest.mark.parametrize("kernel", [[3, 3, 4, 2], [3, 3, 1, 4], [3, 3, 2, 4]], ids=str)
@pytest.mark.parametrize("strides", [1, 2])
def test_a_convolution_of_an_empty_image_is_empty_or_zero(
    way: str, image: list[int], kernel: list[int], strides: int
) -> None:
    if image[-1] % kernel[-2]:
        pytest.skip("the channels do not fit")

    def step(x: Any, w: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch([x, w])
            y = tf.nn.conv2d(x, w, strides, "SAME")
        return y, *tape.gradient(y, [x, w])

    x, w = np.ones(image, np.float32), np.ones(kernel, np.float32)
    y, gx, gw = run(way, step, x, w)
    sizes = [-(-n // strides) for n in image[1:3]]
    assert y.shape == [image[0], *sizes, kernel[-1]]
    assert gx.shape == image and gw.shape == kernel
    assert not any(np.any(z) for z in (y, gw))


@each_way
@pytest.mark.parametrize("shape", [[1, 0, 4, 1], [0, 4, 4, 1], [1, 4, 4, 0]], ids=str)
def test_pooling_an_empty_image(way: str, shape: list[int]) -> None:
    def step(x: Any) -> Any:
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = tf.nn.max_pool2d(x, 2, 2, "SAME")
                squares = y * y
            g = tape.gradient(squares, x)
        place = tf.nn.max_pool_with_argmax(x, 2, 2, "SAME")[1]
        return y, g, outer.gradient(g, x), place

    y, g, second, place = run(way, step, np.zeros(shape, np.float32))
    assert g.shape == second.shape == shape
    assert y.shape == place.shape == [shape[0], *[-(-n // 2) for n in shape[1:3]], shape[3]]


def test_images_of_other_ranks_are_compared() -> None:
    x, y = tf.ones([2, 12, 12, 3]), tf.ones([12, 12, 3])
    np.testing.assert_allclose(tf.image.ssim(x, y, 1.0), [1, 1], 1e-6)
    np.testing.assert_allclose(tf.image.ssim(y, x, 1.0), [1, 1], 1e-6)


@pytest.mark.parametrize("kind", [tf.float16, tf.bfloat16])
def test_filters_and_colours_of_half_precision_are_rounded_once(kind: Any) -> None:
    x = tf.random.stateless_uniform([1, 6, 7, 3], [1, 2], -3e4, 3e4)
    x = tf.cast(x, kind)
    for f in (tf.image.sobel_edges, tf.image.rgb_to_hsv, tf.image.hsv_to_rgb):
        want = tf.cast(f(tf.cast(x, tf.float32)), kind)
        np.testing.assert_array_equal(tf.cast(f(x), tf.float32), tf.cast(want, tf.float32))


def test_an_image_without_pixels_cannot_be_standardized() -> None:
    with pytest.raises(ValueError, match="no pixels"):
        tf.image.per_image_standardization(tf.zeros([0, 4, 3]))

"""Convolutions and pooling: values recorded from TensorFlow, bad input, compiled kernels."""

from __future__ import annotations

import jax
import numpy as np
import pytest

import wengert as tf
from wengert.core.apply import apply
from wengert.core.process_settings import PROCESS
from wengert.ops import compiled, convolution, convolution_lowerings
from wengert.ops.sliding import Windows

IMAGE = np.arange(30.0, dtype=np.float32).reshape(1, 5, 6, 1)
ODD = (np.arange(9.0, dtype=np.float32) - 3).reshape(3, 3, 1, 1)
EVEN = (np.arange(4.0, dtype=np.float32) - 1).reshape(2, 2, 1, 1)
SMALL = np.arange(1.0, 7.0, dtype=np.float32).reshape(1, 2, 3, 1)


def plane(x):
    """The only channel of the only image."""
    return x.numpy()[0, ..., 0].tolist()


@pytest.mark.parametrize(
    ("filters", "strides", "padding", "dilations", "want"),
    [
        (ODD, 2, "SAME", 1, [[91, 121, 79], [231, 249, 123], [-35, -41, -83]]),
        (ODD, 3, "SAME", 1, [[177, 204], [-35, -44]]),
        (ODD, [1, 2], "VALID", 1, [[177, 195], [231, 249], [285, 303]]),
        (ODD, 2, [[0, 0], [0, 1], [2, 0], [0, 0]], 1, [[72, 177, 195], [144, 285, 303]]),
        (ODD, 1, "SAME", 2,
         [[122, 134, 182, 197, 110, 118], [194, 206, 272, 287, 158, 166],
          [264, 273, 354, 363, 192, 195], [38, 38, 20, 17, -22, -26], [38, 38, 2, -1, -46, -50]]),
        (EVEN, 2, "SAME", 1, [[20, 24, 28], [44, 48, 52], [-24, -26, -28]]),
    ],
)  # fmt: skip
def test_conv2d_gives_the_values_of_tensorflow(filters, strides, padding, dilations, want):
    got = tf.nn.conv2d(IMAGE, filters, strides, padding, dilations=dilations)
    assert plane(got) == want
    if isinstance(padding, str):
        got = tf.nn.conv2d(
            IMAGE.transpose(0, 3, 1, 2), filters, strides, padding, "NCHW", dilations
        )
        assert got.numpy()[0, 0].tolist() == want


def test_transposed_convolutions_give_the_values_of_tensorflow():
    got = tf.nn.conv2d_transpose(SMALL, ODD, [1, 4, 6, 1], 2)
    want = [[-3, -2, -7, -4, -11, -6], [0, 1, 2, 2, 4, 3], [-9, -4, -8, -2, -4, 0],
            [0, 4, 8, 5, 10, 6]]  # fmt: skip
    assert plane(got) == want
    got = tf.nn.conv2d_transpose(SMALL, ODD, [1, 3, 5, 1], 2)
    assert plane(got) == [[1, 2, 2, 4, 3], [-4, -8, -2, -4, 0], [4, 8, 5, 10, 6]]
    assert tf.nn.conv2d_transpose(SMALL, ODD, [4, 6], 2).shape == [1, 4, 6, 1]


def test_depthwise_and_separable_give_the_values_of_tensorflow():
    w = np.arange(8.0, dtype=np.float32).reshape(2, 2, 1, 2)
    got = tf.nn.depthwise_conv2d(SMALL, w, [1, 1, 1, 1], "SAME")
    want = [[[50, 62], [62, 78], [24, 33]], [[10, 19], [12, 23], [0, 6]]]
    assert got.numpy()[0].tolist() == want
    point = np.array([1.0, -1.0], np.float32).reshape(1, 1, 2, 1)
    assert plane(tf.nn.separable_conv2d(SMALL, w, point, [1, 1, 1, 1], "VALID")) == [[-12, -16]]


def test_average_pooling_leaves_padding_out_of_the_count():
    got = tf.nn.avg_pool2d(IMAGE * 12, 3, 2, "SAME")
    assert plane(got) == [[48, 72, 90], [156, 180, 198], [264, 288, 306]]


def test_the_first_of_equal_maxima_takes_the_gradient():
    x = tf.constant([[1.0, 3, 3, 2], [3, 3, 0, 1], [2, 2, 2, 2]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.nn.max_pool2d(tf.reshape(x, (1, 3, 4, 1)), 2, 1, "VALID")
    want = [[0, 2, 1, 0], [1, 1, 0, 0], [0, 0, 1, 0]]
    assert tape.gradient(y, x).numpy().tolist() == want


@pytest.mark.parametrize("size", [4, 128], ids=["by loops", "compiled"])
def test_tiled_windows_with_ties_agree_on_both_paths(size):
    x = tf.constant(np.random.default_rng(0).integers(0, 2, (1, size, size, 3)).astype(np.float32))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.nn.max_pool2d(x, 2, 2, "VALID")
    g = tape.gradient(y, x).numpy().reshape(size // 2, 2, size // 2, 2, 3)
    first = np.argmax(
        x.numpy().reshape(size // 2, 2, size // 2, 2, 3).transpose(0, 2, 4, 1, 3).reshape(-1, 4), 1
    )
    assert np.array_equal(np.argmax(g.transpose(0, 2, 4, 1, 3).reshape(-1, 4), 1), first)
    assert g.sum() == y.numpy().size


@pytest.mark.parametrize("strides", [2, 1])
def test_a_compiled_maximum_of_what_xla_computes_twice_keeps_its_gradient(strides):
    rng = np.random.default_rng(0)
    shapes = [(4, 8, 8, 1), (3, 3, 1, 4), (3, 3, 4, 1)]
    x, w, depthwise = (tf.constant(rng.standard_normal(s), tf.float32) for s in shapes)

    def slope(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.nn.conv2d(x, w, 2, "SAME")
            y = tf.nn.relu(tf.nn.batch_normalization(y, *tf.nn.moments(y, [0, 1, 2]), 0, 1, 1e-3))
            y = tf.nn.depthwise_conv2d(y, depthwise, [1, 1, 1, 1], "SAME")
            y = tf.sin(tf.nn.max_pool2d(y, 2, strides, "VALID"))
        return tape.gradient(y, x)

    want = slope(x).numpy()
    np.testing.assert_allclose(tf.function(slope, jit_compile=True)(x), want, rtol=1e-3, atol=1e-4)


def test_max_pooling_keeps_infinities_and_nan():
    low = tf.fill([1, 2, 2, 1], -np.inf)
    assert tf.nn.max_pool2d(low, 2, 2, "SAME").numpy().ravel().tolist() == [-np.inf]
    x = tf.constant([1.0, np.nan, 2.0, 3.0], shape=(1, 4, 1))
    got = tf.nn.max_pool1d(x, 2, 2, "VALID").numpy().ravel()
    assert np.isnan(got[0])
    assert got[1] == 3


def test_argmax_counts_within_the_image_or_the_batch():
    x = tf.constant(np.arange(16.0).reshape(2, 2, 2, 2))
    y, place = tf.nn.max_pool_with_argmax(x, 2, 2, "VALID")
    assert place.dtype == tf.int64
    assert place.numpy().ravel().tolist() == [6, 7, 6, 7]
    _, place = tf.nn.max_pool_with_argmax(
        x, 2, 2, "VALID", output_dtype=tf.int32, include_batch_in_index=True
    )
    assert place.numpy().ravel().tolist() == [6, 7, 14, 15]
    assert y.numpy().ravel().tolist() == [6, 7, 14, 15]


X, W = np.zeros((2, 6, 5, 4), np.float32), np.zeros((3, 3, 4, 8), np.float32)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: tf.nn.conv2d(X, W[:, :, :3], 1, "SAME"),
         "conv: the input channels must be a multiple of the filter's; got float32[2,6,5,4] and "
         "float32[3,3,3,8]. The filter takes 3 channels, the input has 4."),
        (lambda: tf.nn.conv2d(X, W[:, :, :2, :7], 1, "SAME"),
         "conv: the input has 4 channels and the filter takes 2, which makes 2 groups, and its 7 "
         "outputs do not divide by that; got float32[2,6,5,4] and "
         "float32[3,3,2,7]. Check the filter's shape: [..., in, out]."),
        (lambda: tf.nn.conv2d(X[0], W, 1, "SAME"),
         "conv2d: `input` must have rank 4 or more, `filters` rank 4; got float32[6,5,4] and "
         "float32[3,3,4,8]. An image is [batch, height, width, channels]; add an axis with "
         "tf.newaxis."),
        (lambda: tf.nn.conv2d(X[:, :1], W, 1, "VALID"),
         "conv: a window of 3 does not fit into a size of 1. Use a smaller window, or padding "
         "'SAME'."),
        (lambda: tf.nn.conv2d(X, W, 0, "SAME"), "conv2d: `strides` must be positive; got [1, 0, 0, 1]."),
        (lambda: tf.nn.conv2d(X, W, [2, 1, 1, 1], "SAME"),
         "conv2d: `strides` over the batch or channel axis must be 1; got [2, 1, 1, 1]."),
        (lambda: tf.nn.conv2d(X, W, [1, 1, 1], "SAME"),
         "conv2d: `strides` must have 1, 2 or 4 entries; got [1, 1, 1]."),
        (lambda: tf.nn.conv2d(X, W, 1, "same"),
         "conv2d: `padding` must be 'SAME', 'VALID' or a list; got 'same'."),
        (lambda: tf.nn.conv2d(X, W, 1, [[0, 0], [-1, 1], [0, 0], [0, 0]]),
         "conv2d: `padding` must not be negative; got [[0, 0], [-1, 1], [0, 0], [0, 0]]."),
        (lambda: tf.nn.conv2d(X, W, 1, "SAME", "NHCW"),
         "conv2d: `data_format` must be 'NHWC' or 'NCHW'; got 'NHCW'. For 2 spatial axes these "
         "are the two orders of axes."),
        (lambda: tf.nn.conv2d_transpose(X, W.transpose(0, 1, 3, 2), [2, 14, 10, 8], 2),
         "conv_transpose: an output of shape [2, 14, 10, 8] does not come from this input and "
         "filter; got float32[2,6,5,4] and float32[3,3,8,4]. The input would have to be "
         "[2, 7, 5, 4]."),
        (lambda: tf.nn.max_pool2d(X, 2, 0, "SAME"),
         "max_pool2d: `strides` must be positive; got [1, 0, 0, 1]."),
        (lambda: tf.nn.max_pool2d(X, 7, 1, "VALID"),
         "pool: a window of 7 does not fit into a size of 5. Use a smaller window, or padding "
         "'SAME'."),
        (lambda: tf.nn.max_pool2d(X, 2, 2, [[0, 0], [3, 0], [0, 0], [0, 0]]),
         "max_pool2d: `padding` must be smaller than the window; got "
         "[[0, 0], [3, 0], [0, 0], [0, 0]]."),
        (lambda: tf.nn.pool(X, [2, 2], "SUM"),
         "pool: `pooling_type` must be 'MAX' or 'AVG'; got 'SUM'."),
        (lambda: tf.nn.avg_pool(X[0, 0], 2, 2, "SAME"),
         "avg_pool: `input` must have rank 3, 4 or 5; got float32[5,4]."),
    ],
)  # fmt: skip
def test_bad_arguments_are_explained(call, text):
    with pytest.raises(tf.errors.OpError) as caught:
        call()
    assert str(caught.value) == text


def test_average_pooling_of_whole_numbers_is_refused():
    with pytest.raises(TypeError, match="avg_pool: dtype int32 is not supported"):
        tf.nn.avg_pool2d(np.ones((1, 2, 2, 1), np.int32), 2, 2, "SAME")


def test_compiled_kernels_are_reused_and_bounded(monkeypatch):
    monkeypatch.setattr(compiled, "MOST", 3)
    compiled._cache.clear()
    w = tf.ones([2, 2, 1, 1])
    for size in range(4, 10):
        tf.nn.conv2d(tf.ones([1, size, size, 1]), w, 1, "SAME")
    assert len(compiled._cache) == 3
    kept = list(compiled._cache)
    tf.nn.conv2d(tf.ones([1, 9, 9, 1]), w, 1, "SAME")
    assert list(compiled._cache) == kept


def test_convolutions_in_double_precision_leave_the_global_mode_alone():
    import jax.numpy as jnp

    x = tf.constant(np.full((1, 3, 3, 1), 1 / 3))
    y = tf.nn.conv2d(x, tf.ones([3, 3, 1, 1], tf.float64), 1, "VALID")
    assert y.dtype == tf.float64
    assert abs(float(y[0, 0, 0, 0]) - 3.0) < 1e-15
    assert jnp.ones(1).dtype == np.float32


def test_a_convolution_result_may_become_a_variable():
    v = tf.Variable(tf.zeros([1, 2, 2, 1]))
    v.assign(tf.nn.conv2d(tf.ones([1, 2, 2, 1]), tf.ones([1, 1, 1, 1]), 1, "SAME"))
    v.assign_add(tf.ones([1, 2, 2, 1]))
    assert v.numpy().ravel().tolist() == [2, 2, 2, 2]


def test_a_forked_process_gets_a_clear_error_instead_of_waiting(monkeypatch):
    monkeypatch.setattr(PROCESS, "lost_xla", True)
    with pytest.raises(RuntimeError, match="compiled kernels: this process was forked from one"):
        tf.nn.conv2d(tf.ones([1, 2, 2, 1]), tf.ones([1, 1, 1, 1]), 1, "SAME")


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize(
    ("window", "padding", "strides", "dilations"),
    [
        ((1, 2), [[0, 0], [2, 0]], 1, 1),
        ((2, 2), [[3, 0], [0, 5]], 2, 1),
        ((2, 3), [[6, 1], [1, 6]], 1, 2),
        ((1, 1), [[1, 2], [3, 1]], 3, 1),
    ],
)
def test_padding_wider_than_the_window(window, padding, strides, dilations, compiled):
    """The numbers around the image give and get nothing, however many they are."""
    rng = np.random.default_rng(0)
    image, kernel = rng.normal(size=(2, 6, 7, 3)), rng.normal(size=(*window, 3, 4))
    whole = [[0, 0], *padding, [0, 0]]

    def gradients(x, w):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch([x, w])
            y = tf.nn.conv2d(x, w, strides, whole, dilations=dilations)
            z = tf.nn.conv2d(tf.pad(x, whole), w, strides, "VALID", dilations=dilations)
            y, z = (tf.reduce_sum(tf.sin(v)) for v in (y, z))
        return tape.gradient(y, [x, w]), tape.gradient(z, [x, w])

    run = tf.function(gradients, jit_compile=True) if compiled else gradients
    for dtype, near in ((tf.float32, 1e-4), (tf.float64, 1e-11)):
        got, want = run(tf.constant(image, dtype), tf.constant(kernel, dtype))
        for a, b in zip(got, want, strict=True):
            np.testing.assert_allclose(a, b, atol=near)


def _in_space(seed):
    """A convolution in space of random sizes, strides, dilations, padding and data format."""
    r = np.random.default_rng(seed)
    first = bool(r.integers(2))
    batch, inner, outer = (int(n) for n in r.integers(1, 4, 3))
    sizes, window = r.integers(3, 8, 3).tolist(), r.integers(1, 4, 3).tolist()
    strides = tuple(r.integers(1, 4, 3).tolist())
    dilations = tuple(r.integers(1, 3, 3).tolist())
    explicit = tuple(tuple(pair) for pair in r.integers(1, 6, (3, 2)).tolist())
    at = Windows(strides, ("SAME", explicit)[seed % 2], dilations, first)
    shape = (batch, inner, *sizes) if first else (batch, *sizes, inner)
    return r, at, shape, (*window, inner, outer)


@pytest.mark.parametrize("seed", range(12))
def test_layers_of_a_convolution_in_space(seed):
    r, at, shape, window = _in_space(seed)
    x, w, other_x, other_w = (r.normal(size=s) for s in (shape, window, shape, window))
    with jax.enable_x64(True):
        wanted = np.asarray(convolution_lowerings._plain(x, w, at, 1))
    given = [tf.constant(v) for v in (x, w)]
    found = apply(convolution.CONV, *given, **at._asdict())
    np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-10)
    g = r.normal(size=wanted.shape)
    with tf.GradientTape() as tape:
        tape.watch(given)
        y = apply(convolution.CONV, *given, **at._asdict())
    by_x, by_w = tape.gradient(y, given, tf.constant(g))
    # A gradient of a linear map is its transpose: <A z, g> = <z, Aᵀ g> for any z.
    with jax.enable_x64(True):
        of_x = np.sum(convolution_lowerings._plain(other_x, w, at, 1) * g)
        of_w = np.sum(convolution_lowerings._plain(x, other_w, at, 1) * g)
    np.testing.assert_allclose(np.sum(by_x * other_x), of_x, rtol=1e-8)
    np.testing.assert_allclose(np.sum(by_w * other_w), of_w, rtol=1e-8)

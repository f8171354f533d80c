"""What is known of the shapes of results in a function whose batch (or image) size is open.

Every row was measured on TensorFlow 2.21: `WENGERT_TEST_AGAINST=tensorflow` runs them there. The
sizes that are known must be the real ones when the function runs, and the values those of eager
code.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.semantics.api import AGAINST_TENSORFLOW, tf

KINDS = {"f": tf.float32, "i": tf.int32, "u": tf.uint8, "c": tf.complex64}
# Arguments, the shapes of the results (? is unknown), the function.
ROWS: list[tuple[str, str, str, Any]] = [
    (
        "conv2d_same",
        "f(?,28,28,1)",
        "[?,28,28,8]",
        lambda a: tf.nn.conv2d(a, tf.zeros([3, 3, 1, 8]), 1, "SAME"),
    ),
    (
        "conv2d_valid_strides",
        "f(?,28,28,3)",
        "[?,12,12,8]",
        lambda a: tf.nn.conv2d(a, tf.zeros([5, 5, 3, 8]), 2, "VALID"),
    ),
    (
        "conv2d_dilations",
        "f(?,28,28,3)",
        "[?,24,24,8]",
        lambda a: tf.nn.conv2d(a, tf.zeros([3, 3, 3, 8]), 1, "VALID", dilations=2),
    ),
    (
        "conv2d_explicit",
        "f(?,28,28,3)",
        "[?,29,29,8]",
        lambda a: tf.nn.conv2d(a, tf.zeros([3, 3, 3, 8]), 1, [[0, 0], [1, 2], [0, 3], [0, 0]]),
    ),
    (
        "conv2d_groups",
        "f(?,8,8,4)",
        "[?,8,8,6]",
        lambda a: tf.nn.conv2d(a, tf.zeros([3, 3, 2, 6]), 1, "SAME"),
    ),
    (
        "conv2d_open_image",
        "f(?,?,?,3)",
        "[?,?,?,8]",
        lambda a: tf.nn.conv2d(a, tf.zeros([3, 3, 3, 8]), 1, "SAME"),
    ),
    (
        "conv2d_open_filter",
        "f(2,5,7,3) f(?,?,3,4)",
        "[2,3,4,4]",
        lambda a, w: tf.nn.conv2d(a, w, 2, "SAME"),
    ),
    (
        "conv1d_open_filter",
        "f(2,5,3) f(?,3,4)",
        "[2,3,4]",
        lambda a, w: tf.nn.conv1d(a, w, 2, "SAME"),
    ),
    (
        "conv3d_open_filter",
        "f(2,5,6,7,3) f(?,?,?,3,4)",
        "[2,3,3,4,4]",
        lambda a, w: tf.nn.conv3d(a, w, [1, 2, 2, 2, 1], "SAME"),
    ),
    (
        "depthwise_conv2d_open_filter",
        "f(2,5,7,3) f(?,?,3,4)",
        "[2,3,4,12]",
        lambda a, w: tf.nn.depthwise_conv2d(a, w, [1, 2, 2, 1], "SAME"),
    ),
    (
        "separable_conv2d_open_filter",
        "f(2,5,7,3) f(?,?,3,2) f(1,1,6,4)",
        "[2,3,4,4]",
        lambda a, w, p: tf.nn.separable_conv2d(a, w, p, [1, 2, 2, 1], "SAME"),
    ),
    (
        "bias_add_channels_of_the_bias",
        "f(?,?,?) f(4)",
        "[?,?,4]",
        lambda a, b: tf.nn.bias_add(a, b),
    ),
    (
        "bias_add_first_channels_of_the_bias",
        "f(?,?,?,?) f(4)",
        "[?,4,?,?]",
        lambda a, b: tf.nn.bias_add(a, b, "NCHW"),
    ),
    (
        "conv2d_open_height",
        "f(?,?,28,3)",
        "[?,?,13,8]",
        lambda a: tf.nn.conv2d(a, tf.zeros([3, 3, 3, 8]), 2, "VALID"),
    ),
    (
        "conv2d_open_filter",
        "f(?,28,28,3) f(?,3,3,8)",
        "[?,?,26,8]",
        lambda a, b: tf.nn.conv2d(a, b, 1, "VALID"),
    ),
    (
        "conv1d",
        "f(?,100,4)",
        "[?,48,6]",
        lambda a: tf.nn.conv1d(a, tf.zeros([5, 4, 6]), 2, "VALID"),
    ),
    (
        "conv3d",
        "f(?,8,9,10,2)",
        "[?,8,5,10,4]",
        lambda a: tf.nn.conv3d(a, tf.zeros([3, 3, 3, 2, 4]), [1, 1, 2, 1, 1], "SAME"),
    ),
    (
        "convolution",
        "f(?,30,4)",
        "[?,26,6]",
        lambda a: tf.nn.convolution(a, tf.zeros([5, 4, 6]), padding="VALID"),
    ),
    (
        "atrous_conv2d",
        "f(?,28,28,3)",
        "[?,24,24,8]",
        lambda a: tf.nn.atrous_conv2d(a, tf.zeros([3, 3, 3, 8]), 2, "VALID"),
    ),
    (
        "depthwise_conv2d",
        "f(?,28,28,3)",
        "[?,14,14,6]",
        lambda a: tf.nn.depthwise_conv2d(a, tf.zeros([3, 3, 3, 2]), [1, 2, 2, 1], "SAME"),
    ),
    (
        "depthwise_conv2d_open_image",
        "f(?,?,?,3)",
        "[?,?,?,6]",
        lambda a: tf.nn.depthwise_conv2d(a, tf.zeros([3, 3, 3, 2]), [1, 1, 1, 1], "VALID"),
    ),
    (
        "separable_conv2d",
        "f(?,28,28,3)",
        "[?,26,26,5]",
        lambda a: tf.nn.separable_conv2d(
            a, tf.zeros([3, 3, 3, 2]), tf.zeros([1, 1, 6, 5]), [1, 1, 1, 1], "VALID"
        ),
    ),
    (
        "conv2d_transpose",
        "f(?,7,7,8)",
        "[?,14,14,4]",
        lambda a: tf.nn.conv2d_transpose(
            a, tf.zeros([3, 3, 4, 8]), tf.stack([tf.shape(a)[0], 14, 14, 4]), 2
        ),
    ),
    (
        "conv2d_transpose_computed",
        "f(?,7,7,8)",
        "[?,14,14,4]",
        lambda a: tf.nn.conv2d_transpose(
            a, tf.zeros([3, 3, 4, 8]), [tf.shape(a)[0], tf.shape(a)[1] * 2, 14, 4], 2
        ),
    ),
    (
        "conv1d_transpose",
        "f(?,7,8)",
        "[?,14,4]",
        lambda a: tf.nn.conv1d_transpose(a, tf.zeros([3, 4, 8]), [tf.shape(a)[0], 14, 4], 2),
    ),
    (
        "conv3d_transpose",
        "f(?,4,4,4,8)",
        "[?,8,8,8,2]",
        lambda a: tf.nn.conv3d_transpose(
            a, tf.zeros([3, 3, 3, 2, 8]), [tf.shape(a)[0], 8, 8, 8, 2], 2
        ),
    ),
    ("max_pool2d", "f(?,28,28,3)", "[?,14,14,3]", lambda a: tf.nn.max_pool2d(a, 2, 2, "VALID")),
    ("max_pool2d_same", "f(?,27,27,3)", "[?,14,14,3]", lambda a: tf.nn.max_pool2d(a, 3, 2, "SAME")),
    ("avg_pool2d", "f(?,28,28,3)", "[?,26,26,3]", lambda a: tf.nn.avg_pool2d(a, 3, 1, "VALID")),
    (
        "avg_pool2d_open_width",
        "f(?,28,?,3)",
        "[?,13,?,3]",
        lambda a: tf.nn.avg_pool2d(a, 3, 2, "VALID"),
    ),
    ("max_pool1d", "f(?,28,3)", "[?,14,3]", lambda a: tf.nn.max_pool1d(a, 2, 2, "VALID")),
    ("avg_pool3d", "f(?,8,8,8,3)", "[?,4,4,4,3]", lambda a: tf.nn.avg_pool3d(a, 2, 2, "VALID")),
    (
        "pool",
        "f(?,8,8,3)",
        "[?,4,8,3]",
        lambda a: tf.nn.pool(a, [2, 3], "MAX", padding="SAME", strides=[2, 1]),
    ),
    (
        "max_pool_with_argmax",
        "f(?,28,28,3)",
        "[?,14,14,3] [?,14,14,3]",
        lambda a: tf.nn.max_pool_with_argmax(a, 2, 2, "VALID"),
    ),
    (
        "fractional_max_pool",
        "f(?,28,?,3)",
        "[?,20,?,3] [21] [?]",
        lambda a: tf.nn.fractional_max_pool(a, 1.4, seed=1),
    ),
    (
        "dilation2d",
        "f(?,28,?,3) f(3,2,3)",
        "[?,13,?,3]",
        lambda a, b: tf.nn.dilation2d(a, b, [1, 2, 1, 1], "VALID", "NHWC", [1, 1, 1, 1]),
    ),
    ("relu", "f(?,4)", "[?,4]", lambda a: tf.nn.relu(a)),
    ("leaky_relu", "f(?,4)", "[?,4]", lambda a: tf.nn.leaky_relu(a)),
    ("gelu", "f(?,4)", "[?,4]", lambda a: tf.nn.gelu(a)),
    ("crelu", "f(?,4)", "[?,8]", lambda a: tf.nn.crelu(a)),
    ("softmax", "f(?,10)", "[?,10]", lambda a: tf.nn.softmax(a)),
    ("log_softmax", "f(?,?,10)", "[?,?,10]", lambda a: tf.nn.log_softmax(a, 1)),
    (
        "softmax_cross_entropy",
        "f(?,10) f(?,10)",
        "[?]",
        lambda a, b: tf.nn.softmax_cross_entropy_with_logits(a, b),
    ),
    (
        "softmax_cross_entropy_axis",
        "f(?,10,4) f(?,10,4)",
        "[?,4]",
        lambda a, b: tf.nn.softmax_cross_entropy_with_logits(a, b, axis=1),
    ),
    (
        "sparse_softmax_cross_entropy",
        "i(?) f(?,10)",
        "[?]",
        lambda a, b: tf.nn.sparse_softmax_cross_entropy_with_logits(a, b),
    ),
    (
        "sparse_softmax_cross_entropy_closed",
        "i(?) f(32,10)",
        "[32]",
        lambda a, b: tf.nn.sparse_softmax_cross_entropy_with_logits(a, b),
    ),
    (
        "sparse_softmax_cross_entropy_time",
        "i(?,7) f(?,?,10)",
        "[?,7]",
        lambda a, b: tf.nn.sparse_softmax_cross_entropy_with_logits(a, b),
    ),
    (
        "sigmoid_cross_entropy",
        "f(?,3) f(?,3)",
        "[?,3]",
        lambda a, b: tf.nn.sigmoid_cross_entropy_with_logits(a, b),
    ),
    (
        "weighted_cross_entropy",
        "f(?,3) f(?,3)",
        "[?,3]",
        lambda a, b: tf.nn.weighted_cross_entropy_with_logits(a, b, 2.0),
    ),
    ("log_poisson_loss", "f(?,3) f(?,3)", "[?,3]", lambda a, b: tf.nn.log_poisson_loss(a, b)),
    ("l2_loss", "f(?,3)", "[]", lambda a: tf.nn.l2_loss(a)),
    (
        "ctc_loss",
        "i(?,5) f(?,20,7) i(?) i(?)",
        "[?]",
        lambda a, b, c, d: tf.nn.ctc_loss(a, b, c, d, logits_time_major=False, blank_index=0),
    ),
    ("moments", "f(?,28,28,3)", "[3] [3]", lambda a: tf.nn.moments(a, [0, 1, 2])),
    (
        "moments_keepdims",
        "f(?,28,28,3)",
        "[?,1,1,3] [?,1,1,3]",
        lambda a: tf.nn.moments(a, [1, 2], keepdims=True),
    ),
    ("weighted_moments", "f(?,8,3)", "[3] [3]", lambda a: tf.nn.weighted_moments(a, [0, 1], 1.0)),
    (
        "batch_normalization",
        "f(?,28,28,3)",
        "[?,28,28,3]",
        lambda a: tf.nn.batch_normalization(
            a, tf.zeros([3]), tf.ones([3]), tf.zeros([3]), tf.ones([3]), 1e-3
        ),
    ),
    (
        "batch_normalization_moments",
        "f(?,28,28,3)",
        "[?,28,28,3]",
        lambda a: tf.nn.batch_normalization(
            a, *tf.nn.moments(a, [1, 2], keepdims=True), None, None, 1e-3
        ),
    ),
    ("bias_add", "f(?,28,28,3)", "[?,28,28,3]", lambda a: tf.nn.bias_add(a, tf.zeros([3]))),
    ("l2_normalize", "f(?,8)", "[?,8]", lambda a: tf.nn.l2_normalize(a, 1)),
    ("lrn", "f(?,8,8,5)", "[?,8,8,5]", lambda a: tf.nn.local_response_normalization(a)),
    ("dropout", "f(?,8)", "[?,8]", lambda a: tf.nn.dropout(a, 0.5)),
    (
        "dropout_noise",
        "f(?,8,4)",
        "[?,8,4]",
        lambda a: tf.nn.dropout(a, 0.5, noise_shape=[tf.shape(a)[0], 1, 4]),
    ),
    (
        "stateless_dropout",
        "f(?,8)",
        "[?,8]",
        lambda a: tf.nn.experimental.stateless_dropout(a, 0.5, [1, 2]),
    ),
    ("one_hot", "i(?)", "[?,10]", lambda a: tf.one_hot(a, 10)),
    ("one_hot_axis", "i(?,4)", "[?,10,4]", lambda a: tf.one_hot(a, 10, axis=1)),
    (
        "embedding_lookup",
        "i(?,7)",
        "[?,7,16]",
        lambda a: tf.nn.embedding_lookup(tf.zeros([100, 16]), a),
    ),
    ("space_to_depth", "f(?,8,8,3)", "[?,4,4,12]", lambda a: tf.nn.space_to_depth(a, 2)),
    ("depth_to_space", "f(?,8,8,12)", "[?,16,16,3]", lambda a: tf.nn.depth_to_space(a, 2)),
    (
        "space_to_batch",
        "f(?,8,8,3)",
        "[?,4,5,3]",
        lambda a: tf.space_to_batch(a, [2, 2], [[0, 0], [2, 0]]),
    ),
    (
        "batch_to_space",
        "f(?,4,5,3)",
        "[?,8,9,3]",
        lambda a: tf.batch_to_space(a, [2, 2], [[0, 0], [1, 0]]),
    ),
    ("resize", "f(?,28,28,3)", "[?,14,20,3]", lambda a: tf.image.resize(a, [14, 20])),
    (
        "resize_open_image",
        "f(?,?,?,3)",
        "[?,14,20,3]",
        lambda a: tf.image.resize(a, [14, 20], method="bicubic"),
    ),
    (
        "resize_nearest",
        "u(?,28,28,3)",
        "[?,14,20,3]",
        lambda a: tf.image.resize(a, [14, 20], method="nearest"),
    ),
    (
        "resize_to_shape",
        "f(?,28,28,3) f(?,7,9,3)",
        "[?,7,9,3]",
        lambda a, b: tf.image.resize(a, tf.shape(b)[1:3]),
    ),
    (
        "resize_tensor",
        "f(?,28,28,3)",
        "[?,56,9,3]",
        lambda a: tf.image.resize(a, [tf.shape(a)[1] * 2, 9]),
    ),
    ("resize_single", "f(?,?,3)", "[14,20,3]", lambda a: tf.image.resize(a, [14, 20])),
    ("resize_with_pad", "f(?,?,?,3)", "[?,14,20,3]", lambda a: tf.image.resize_with_pad(a, 14, 20)),
    (
        "resize_with_crop_or_pad",
        "f(?,?,?,3)",
        "[?,14,20,3]",
        lambda a: tf.image.resize_with_crop_or_pad(a, 14, 20),
    ),
    ("central_crop", "f(?,28,28,3)", "[?,14,14,3]", lambda a: tf.image.central_crop(a, 0.5)),
    (
        "crop_to_bounding_box",
        "f(?,?,?,3)",
        "[?,14,20,3]",
        lambda a: tf.image.crop_to_bounding_box(a, 1, 2, 14, 20),
    ),
    (
        "pad_to_bounding_box",
        "f(?,?,?,3)",
        "[?,14,20,3]",
        lambda a: tf.image.pad_to_bounding_box(a, 1, 2, 14, 20),
    ),
    (
        "crop_and_resize",
        "f(?,28,28,3) f(?,4) i(?)",
        "[?,7,9,3]",
        lambda a, b, c: tf.image.crop_and_resize(a, b, c, [7, 9]),
    ),
    (
        "extract_patches",
        "f(?,28,28,3)",
        "[?,13,13,27]",
        lambda a: tf.image.extract_patches(a, [1, 3, 3, 1], [1, 2, 2, 1], [1, 1, 1, 1], "VALID"),
    ),
    ("flip_left_right", "f(?,28,28,3)", "[?,28,28,3]", lambda a: tf.image.flip_left_right(a)),
    (
        "random_flip_left_right",
        "f(?,28,28,3)",
        "[?,28,28,3]",
        lambda a: tf.image.random_flip_left_right(a),
    ),
    ("random_flip_single", "f(28,?,3)", "[28,?,3]", lambda a: tf.image.random_flip_up_down(a)),
    ("transpose", "f(?,28,14,3)", "[?,14,28,3]", lambda a: tf.image.transpose(a)),
    ("random_crop", "f(?,?,3)", "[24,24,3]", lambda a: tf.image.random_crop(a, [24, 24, 3])),
    (
        "random_brightness",
        "f(?,28,28,3)",
        "[?,28,28,3]",
        lambda a: tf.image.random_brightness(a, 0.2),
    ),
    ("random_hue", "f(?,28,28,3)", "[?,28,28,3]", lambda a: tf.image.random_hue(a, 0.2)),
    ("adjust_contrast", "u(?,28,28,3)", "[?,28,28,3]", lambda a: tf.image.adjust_contrast(a, 0.5)),
    ("rgb_to_grayscale", "f(?,28,28,3)", "[?,28,28,1]", lambda a: tf.image.rgb_to_grayscale(a)),
    ("grayscale_to_rgb", "f(?,28,28,1)", "[?,28,28,3]", lambda a: tf.image.grayscale_to_rgb(a)),
    ("rgb_to_hsv", "f(?,28,28,3)", "[?,28,28,3]", lambda a: tf.image.rgb_to_hsv(a)),
    ("rgb_to_yuv", "f(?,28,28,3)", "[?,28,28,3]", lambda a: tf.image.rgb_to_yuv(a)),
    (
        "convert_image_dtype",
        "u(?,28,28,3)",
        "[?,28,28,3]",
        lambda a: tf.image.convert_image_dtype(a, tf.float32),
    ),
    (
        "per_image_standardization",
        "f(?,28,28,3)",
        "[?,28,28,3]",
        lambda a: tf.image.per_image_standardization(a),
    ),
    (
        "image_gradients",
        "f(?,28,28,3)",
        "[?,28,28,3] [?,28,28,3]",
        lambda a: tf.image.image_gradients(a),
    ),
    ("sobel_edges", "f(?,28,28,3)", "[?,28,28,3,2]", lambda a: tf.image.sobel_edges(a)),
    ("total_variation", "f(?,28,28,3)", "[?]", lambda a: tf.image.total_variation(a)),
    ("psnr", "f(?,28,28,3) f(?,28,28,3)", "[?]", lambda a, b: tf.image.psnr(a, b, 1.0)),
    ("ssim", "f(?,28,28,3) f(?,28,28,3)", "[?]", lambda a, b: tf.image.ssim(a, b, 1.0)),
    (
        "non_max_suppression",
        "f(?,4) f(?)",
        "[?]",
        lambda a, b: tf.image.non_max_suppression(a, b, 5),
    ),
    ("random_uniform", "f(?,4)", "[?,4]", lambda a: tf.random.uniform(tf.shape(a))),
    ("random_normal", "f(?,4)", "[?,3]", lambda a: tf.random.normal([tf.shape(a)[0], 3])),
    ("random_gamma", "f(?,4)", "[3,?,4]", lambda a: tf.random.gamma([3], a)),
    ("random_poisson", "f(?,4)", "[2,?,4]", lambda a: tf.random.poisson([2], a)),
    ("random_categorical", "f(?,4)", "[?,5]", lambda a: tf.random.categorical(a, 5)),
    ("random_shuffle", "f(?,4)", "[?,4]", lambda a: tf.random.shuffle(a)),
    (
        "stateless_uniform",
        "f(?,4)",
        "[?,4]",
        lambda a: tf.random.stateless_uniform(tf.shape(a), [1, 2]),
    ),
    ("frame", "f(?,100)", "[?,19,10]", lambda a: tf.signal.frame(a, 10, 5)),
    ("frame_open", "f(?,?)", "[?,?,10]", lambda a: tf.signal.frame(a, 10, 5)),
    ("stft", "f(?,100)", "[?,9,17]", lambda a: tf.signal.stft(a, 20, 10)),
    ("inverse_stft", "c(?,9,17)", "[?,100]", lambda a: tf.signal.inverse_stft(a, 20, 10)),
    ("overlap_and_add", "f(?,9,20)", "[?,100]", lambda a: tf.signal.overlap_and_add(a, 10)),
    ("rfft", "f(?,16)", "[?,9]", lambda a: tf.signal.rfft(a)),
    ("rfft_length", "f(?,?)", "[?,5]", lambda a: tf.signal.rfft(a, [8])),
    ("irfft", "c(?,9)", "[?,16]", lambda a: tf.signal.irfft(a)),
    ("fft2d", "c(?,8,8)", "[?,8,8]", lambda a: tf.signal.fft2d(a)),
    ("fftshift", "f(?,8)", "[?,8]", lambda a: tf.signal.fftshift(a)),
    ("dct", "f(?,8)", "[?,8]", lambda a: tf.signal.dct(a, norm="ortho")),
    ("mfccs", "f(?,20)", "[?,20]", lambda a: tf.signal.mfccs_from_log_mel_spectrograms(a)),
    ("reduce_variance", "f(?,8)", "[?]", lambda a: tf.math.reduce_variance(a, 1)),
    ("reduce_logsumexp", "f(?,8)", "[8]", lambda a: tf.reduce_logsumexp(a, 0)),
    ("lgamma", "f(?,8)", "[?,8]", lambda a: tf.math.lgamma(a)),
    ("betainc", "f(?,8) f(?,8) f(?,8)", "[?,8]", lambda a, b, c: tf.math.betainc(a, b, c)),
]
# The size that stands for every open one when the function runs, where 3 does not do.
SIZES = {
    "conv2d_open_image": 6, "conv2d_open_height": 6, "resize_open_image": 6, "frame_open": 30,
    "crop_to_bounding_box": 25, "pad_to_bounding_box": 9, "random_crop": 30, "batch_to_space": 8,
    "bias_add_channels_of_the_bias": 4, "bias_add_first_channels_of_the_bias": 4,
    "sparse_softmax_cross_entropy_closed": 32, "sparse_softmax_cross_entropy_time": 7,
}  # fmt: skip
RANDOM = ("random_", "dropout")
each_row = pytest.mark.parametrize(
    ("name", "given", "shapes", "call"), ROWS, ids=[row[0] for row in ROWS]
)


def sizes(text: str) -> list[int | None]:
    inner = text.strip("fiuc()[]")
    return [None if d == "?" else int(d) for d in inner.split(",") if d]


def specs(given: str) -> list[Any]:
    return [tf.TensorSpec(sizes(part), KINDS[part[0]]) for part in given.split()]


def flat(y: Any) -> list[Any]:
    return [s for v in y for s in flat(v)] if isinstance(y, list | tuple) else [y]


def tensors(name: str, given: str) -> list[Any]:
    rng = np.random.default_rng(0)
    found = []
    for spec in specs(given):
        shape = [SIZES.get(name, 3) if d is None else d for d in spec.shape]
        found.append(tf.cast(rng.uniform(0.1, 0.9, shape), spec.dtype))
    return found


@each_row
def test_known_sizes(name: str, given: str, shapes: str, call: Any) -> None:
    found = []

    def run(*xs: Any) -> Any:
        found[:] = [list(y.shape) for y in flat(call(*xs))]

    tf.function(run, input_signature=specs(given), autograph=False).get_concrete_function()
    assert found == [sizes(s) for s in shapes.split(" ")]


@pytest.mark.skipif(AGAINST_TENSORFLOW, reason="the values are compared with our own eager ones")
@each_row
def test_values_with_open_sizes(name: str, given: str, shapes: str, call: Any) -> None:
    traced = tf.function(call, input_signature=specs(given), autograph=False)
    xs = tensors(name, given)
    with tf.engine("host"):
        got, want = flat(traced(*xs)), flat(call(*xs))
    for g, w, known in zip(got, want, shapes.split(" "), strict=True):
        assert g.shape == w.shape
        assert g.shape.is_compatible_with(sizes(known))
        if not name.startswith(RANDOM):
            np.testing.assert_allclose(g.numpy(), w.numpy(), rtol=1e-5, atol=1e-5)


def test_turned_images_keep_their_sizes() -> None:
    # TensorFlow knows the channels alone.
    def run(x: Any) -> Any:
        found.append(list(tf.image.rot90(x).shape))

    found: list[Any] = []
    spec = tf.TensorSpec([None, 28, 14, 3])
    tf.function(run, input_signature=[spec], autograph=False).get_concrete_function()
    assert found[0] == ([None, None, None, 3] if AGAINST_TENSORFLOW else [None, 14, 28, 3])

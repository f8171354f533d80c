"""Images: values recorded from TensorFlow 2.21, dtypes, random changes, and bad input."""
# Some arguments are none that a checker accepts.
# pyright: reportArgumentType=false

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import wengert as tf
from wengert.core.errors import InvalidArgumentError, OutOfRangeError
from wengert.ops.projective_transform import image_projective_transform

I = tf.image  # as short as the calls are many
RAMP = np.arange(12, dtype=np.float32).reshape(1, 3, 4, 1)
PIXEL = np.array([[[100, 50, 200]]], np.uint8)
ROOM = np.random.default_rng(0).uniform(0, 1, (2, 5, 7, 3)).astype(np.float32)


def flat(x: Any) -> list[float]:
    return np.asarray(x, np.float64).ravel().tolist()


def near(x: Any, want: Any, tolerance: float = 1e-5) -> bool:
    return np.allclose(flat(x), want, atol=tolerance, rtol=tolerance)


# Resizing.


@pytest.mark.parametrize(
    ("method", "plain", "smooth"),
    [
        ("bilinear", [1.16667, 2.5, 3.83333, 7.16667, 8.5, 9.83333],
         [2.21429, 3.78572, 7.21429, 8.78572]),
        ("nearest", [0, 2, 3, 8, 10, 11], [1, 3, 9, 11]),
        ("bicubic", [0.77461, 2.17153, 3.56845, 7.43155, 8.82847, 10.22538],
         [1.82594, 3.65239, 7.34761, 9.17406]),
        ("area", [1.58333, 2.83333, 4.08333, 6.91667, 8.16667, 9.41667],
         [1.83333, 3.83333, 7.16667, 9.16667]),
        ("lanczos3", [0.57865, 1.99286, 3.40706, 7.59294, 9.00714, 10.42135],
         [1.63393, 3.55767, 7.44233, 9.36607]),
        ("gaussian", [1.28437, 2.57577, 3.86716, 7.13284, 8.42423, 9.71563],
         [2.60392, 4.04447, 6.95553, 8.39607]),
        ("mitchellcubic", [1.04471, 2.3855, 3.72628, 7.27372, 8.6145, 9.95529],
         [2.20816, 3.84584, 7.15416, 8.79184]),
    ],
)  # fmt: skip
def test_resizing_is_tensorflows(method: str, plain: list[float], smooth: list[float]) -> None:
    assert near(I.resize(RAMP, [2, 3], method), plain)
    assert near(I.resize(RAMP, [2, 2], method, antialias=True), smooth)


def test_resizing_gives_float32_except_for_nearest() -> None:
    for dtype in (np.uint8, np.int32, np.float16, np.float64):
        x = ROOM.astype(dtype)
        assert I.resize(x, [3, 3]).dtype == tf.float32
        assert I.resize(x, [5, 7], "area").dtype == tf.float32
        assert I.resize(x, [3, 3], "nearest").dtype.as_numpy_dtype == dtype


def test_sizes_that_keep_the_aspect_ratio() -> None:
    assert I.resize(ROOM, [10, 10], preserve_aspect_ratio=True).shape == (2, 7, 10, 3)
    assert I.resize(ROOM[0], [10, 30], preserve_aspect_ratio=True).shape == (10, 14, 3)
    assert I.resize_with_pad(ROOM, 8, 8).shape == (2, 8, 8, 3)
    assert not I.resize_with_pad(ROOM, 8, 8).numpy()[:, 0].any()
    assert I.resize_with_crop_or_pad(ROOM, 3, 9).shape == (2, 3, 9, 3)
    assert I.central_crop(ROOM, 0.3).shape == (2, 3, 3, 3)


def test_a_constant_image_stays_constant() -> None:
    x = np.full((1, 9, 11, 1), 3.5, np.float32)
    for method in (
        "bilinear",
        "bicubic",
        "area",
        "lanczos3",
        "lanczos5",
        "gaussian",
        "mitchellcubic",
    ):
        for size in ([4, 5], [20, 31], [1, 1]):
            for antialias in (False, True):
                found = I.resize(x, size, method, antialias=antialias)
                assert np.allclose(found, 3.5, atol=1e-5), (method, size, antialias)


# Colours.


def test_adjustments_of_bytes_are_tensorflows() -> None:
    assert flat(I.adjust_hue(PIXEL, 0.3)) == [200, 70, 50]
    assert flat(I.adjust_saturation(PIXEL, 0.5)) == [150, 125, 200]
    assert flat(I.adjust_brightness(PIXEL, 0.3)) == [176, 126, 255]
    assert flat(I.rgb_to_grayscale(PIXEL)) == [82]
    two = np.array([[[100, 50, 200], [0, 9, 255]]], np.uint8)
    assert flat(I.adjust_contrast(two, 2.0)) == [150, 70, 172, 0, 0, 255]
    assert I.adjust_gamma(PIXEL, 2.0).dtype == tf.uint8


def test_hues_outside_the_circle_are_red() -> None:
    assert flat(I.hsv_to_rgb(tf.constant([1.5, 0.5, 0.5]))) == [0.5, 0.25, 0.25]
    assert flat(I.hsv_to_rgb(tf.constant([-0.3, 0.5, 0.5]))) == [0.5, 0.25, 0.25]
    grey = I.rgb_to_hsv(tf.constant([[0.0, 0, 0], [1, 1, 1]]))
    assert grey.numpy().tolist() == [[0, 0, 0], [0, 0, 1]]


def test_grey_pixels_have_finite_gradients() -> None:
    x = tf.constant([[0.0, 0, 0], [0.5, 0.5, 0.5]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = I.rgb_to_hsv(x)
    assert np.isfinite(tape.gradient(y, x).numpy()).all()


@pytest.mark.parametrize(
    ("value", "dtype", "want"),
    [
        (np.array(139, np.uint8), tf.float32, 139 / 255),
        (np.array(0.5488, np.float32), tf.uint8, 140),
        (np.array(139, np.uint8), tf.uint16, 139 * 256),
        (np.array(139, np.uint8), tf.int16, 139 * 128),
        (np.array(139, np.uint8), tf.int8, 69),
        (np.array(27800, np.uint16), tf.uint8, 108),
        (np.array(139, np.uint8), tf.int32, 139 * 2**23),
    ],
)
def test_number_types_have_scales(value: np.ndarray, dtype: Any, want: float) -> None:
    found = I.convert_image_dtype(value, dtype)
    assert found.dtype == dtype
    assert np.isclose(float(found), want)


def test_saturation_cuts_off() -> None:
    x = np.array([-0.3, 0.5, 1.7], np.float32)
    assert flat(I.convert_image_dtype(x, tf.uint8, saturate=True)) == [0, 127, 255]


def test_standard_images() -> None:
    assert I.per_image_standardization(PIXEL).dtype == tf.float32
    assert not I.per_image_standardization(tf.ones([2, 2, 3])).numpy().any()


# Geometry.


@pytest.mark.parametrize(
    ("interpolation", "mode", "want"),
    [
        ("NEAREST", "CONSTANT", [0.5, 0.5, 1, 2, 3, 0.5, 0.5, 5, 6, 7]),
        ("NEAREST", "REFLECT", [1, 0, 1, 2, 3, 5, 4, 5, 6, 7]),
        ("NEAREST", "WRAP", [3, 3, 1, 2, 3, 7, 7, 5, 6, 7]),
        ("NEAREST", "NEAREST", [0, 0, 1, 2, 3, 4, 4, 5, 6, 7]),
        ("BILINEAR", "CONSTANT", [0.5, 0.75, 1.5, 2.5, 3.5, 0.5, 2.75, 5.5, 6.5, 7.5]),
        ("BILINEAR", "REFLECT", [1.5, 1, 1.5, 2.5, 3.5, 5.5, 5, 5.5, 6.5, 7.5]),
        ("BILINEAR", "WRAP", [3.5, 4, 1.5, 2.5, 3.5, 7.5, 8, 5.5, 6.5, 7.5]),
        ("BILINEAR", "NEAREST", [1, 1, 1.5, 2.5, 3.5, 5, 5, 5.5, 6.5, 7.5]),
    ],
)
def test_projective_transforms_are_tensorflows(
    interpolation: str, mode: str, want: list[float]
) -> None:
    shift = [[1, 0, -1.5, 0, 1, 0.25, 0, 0]]
    found = image_projective_transform(RAMP, shift, [2, 5], 0.5, interpolation, mode)
    assert near(found, want)


def test_a_vanishing_depth_is_filled() -> None:
    flat_depth = [[1, 0, 0, 0, 1, 0, -1, 0]]
    found = image_projective_transform(RAMP, flat_depth, [2, 5], 0.5, "BILINEAR")
    assert flat(found) == [0, 0.5, 0.5, 0.5, 0.5, 4, 0.5, 0.5, 0.5, 0.5]
    assert image_projective_transform(RAMP.astype(np.uint8), flat_depth, [2, 5]).dtype == tf.uint8


def test_crops_read_between_pixels_and_outside() -> None:
    boxes = [[0.0, 0.0, 1.0, 1.0], [1.0, 1.0, 0.0, 0.0], [0.5, 0.5, 1.5, 1.5]]
    found = I.crop_and_resize(RAMP, boxes, [0, 0, 0], [2, 2], extrapolation_value=-1.0)
    assert flat(found) == [0, 3, 8, 11, 11, 8, 3, 0, 5.5, -1, -1, -1]
    middle = I.crop_and_resize(RAMP.astype(np.uint8), boxes[:1], [0], [1, 1])
    assert flat(middle) == [5.5]
    assert middle.dtype == tf.float32


def test_boxes_that_overlap_are_left_out() -> None:
    boxes = [[0.0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, 2, 1, 3], [1, 3, 0, 2]]
    scores = [0.9, 0.8, 0.7, 0.95]
    assert I.non_max_suppression(boxes, scores, 10).numpy().tolist() == [3, 0]
    assert I.non_max_suppression(boxes[:3], scores[:3], 10, 0.9, 0.75).numpy().tolist() == [0, 1]
    assert I.non_max_suppression(boxes[:1] * 2, [0.9, 0.9], 1).numpy().tolist() == [0]
    assert I.non_max_suppression(tf.zeros([0, 4]), tf.zeros([0]), 3).shape == (0,)


def test_turns() -> None:
    for k in range(-4, 5):
        assert np.array_equal(I.rot90(ROOM, k), np.rot90(ROOM, k, (1, 2)))
        assert np.array_equal(I.rot90(ROOM[0], k), np.rot90(ROOM[0], k))


# Measures.


def test_measures_are_tensorflows() -> None:
    assert np.isinf(I.psnr(ROOM, ROOM, 1.0).numpy()).all()
    assert np.allclose(
        I.psnr(ROOM, ROOM * 0.9, 1.0), I.psnr(ROOM[:, :, ::-1] * 0.9, ROOM[:, :, ::-1], 1.0)
    )
    large = np.tile(ROOM, (1, 3, 3, 1))
    assert np.allclose(I.ssim(large, large, 1.0), 1.0)
    index = I.ssim(large, large * 0.9, 1.0, return_index_map=True)
    assert index.shape == (2, 5, 11)
    assert np.allclose(np.mean(index.numpy(), (1, 2)), I.ssim(large, large * 0.9, 1.0), atol=1e-5)
    assert I.total_variation(ROOM[0]).shape == ()


def test_similarity_at_several_sizes_is_tensorflows() -> None:
    r = np.random.default_rng(0)
    x = r.random((2, 181, 177, 3)).astype(np.float32)
    y = (0.7 * x + 0.3 * r.random(x.shape)).astype(np.float32)
    np.testing.assert_allclose(I.ssim_multiscale(x, y, 1.0), [0.9059127, 0.91068965], 1e-5)
    assert I.ssim_multiscale(1 - x, x, 1.0).numpy().tolist() == [0, 0]
    a, b = (255 * x[0]).astype(np.uint8), (255 * y[0]).astype(np.uint8)
    found = I.ssim_multiscale(a, b, 255, power_factors=[0.3, 0.7], filter_size=5)
    np.testing.assert_allclose(found, 0.8817225, 1e-5)
    z = tf.constant(y)
    with tf.GradientTape() as tape:
        tape.watch(z)
        total = tf.reduce_sum(I.ssim_multiscale(x, z, 1.0))
    np.testing.assert_allclose(np.abs(tape.gradient(total, z)).sum(), 8.798887, 1e-4)


def test_edges_and_variation_of_images() -> None:
    assert I.total_variation(ROOM[0]).shape == ()
    assert I.sobel_edges(ROOM).shape == (2, 5, 7, 3, 2)


# Random changes.


def test_random_changes_follow_their_seed() -> None:
    for change in (
        lambda x, s: I.stateless_random_flip_left_right(x, s),
        lambda x, s: I.stateless_random_flip_up_down(x, s),
        lambda x, s: I.stateless_random_crop(x, [2, 3, 3, 3], s),
        lambda x, s: I.stateless_random_brightness(x, 0.3, s),
        lambda x, s: I.stateless_random_contrast(x, 0.3, 0.9, s),
        lambda x, s: I.stateless_random_saturation(x, 0.3, 0.9, s),
        lambda x, s: I.stateless_random_hue(x, 0.3, s),
    ):
        first = change(ROOM, [1, 2]).numpy()
        assert np.array_equal(first, change(ROOM, [1, 2]))
        assert any(not np.array_equal(first, change(ROOM, [1, i])) for i in range(3, 9))


def test_flips_are_decided_image_by_image() -> None:
    many = np.repeat(ROOM[:1], 64, 0)
    found = I.random_flip_left_right(many, seed=3).numpy()
    flipped = [np.array_equal(x, ROOM[0, :, ::-1]) for x in found]
    same = [np.array_equal(x, ROOM[0]) for x in found]
    assert sum(flipped) + sum(same) == 64
    assert 10 < sum(flipped) < 54


def test_random_changes_keep_shape_and_type() -> None:
    x = (ROOM * 255).astype(np.uint8)
    for found in (
        I.random_flip_left_right(x), I.random_flip_up_down(x[0]), I.random_brightness(x, 0.1),
        I.random_contrast(x, 0.5, 1.5), I.random_saturation(x, 0.5, 1.5), I.random_hue(x, 0.1),
    ):  # fmt: skip
        assert found.dtype == tf.uint8
        assert found.shape[-3:] == (5, 7, 3)
    assert I.random_crop(x, [1, 2, 3, 3]).shape == (1, 2, 3, 3)


# Bad input.

BOX = [[0.0, 0.0, 1.0, 1.0]]


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda: I.resize(ROOM[0, 0], [4, 4]), ValueError,
         "resize: images have rank 3 or 4; got float32[7,3]."),
        (lambda: I.resize(ROOM, [4]), ValueError, "resize: `size` must be two whole numbers"),
        (lambda: I.resize(ROOM, [4, 4.0]), ValueError, "`size` must be two whole numbers"),
        (lambda: I.resize(ROOM, [0, 4]), InvalidArgumentError,
         "resize: `size` must be positive; got [0, 4]."),
        (lambda: I.resize(ROOM, [4, 4], "cubic"), ValueError, "resize: `method` must be one of"),
        (lambda: I.resize(ROOM[:, :0], [4, 4]), InvalidArgumentError, "zero size"),
        (lambda: I.resize(ROOM > 0.5, [4, 4]), InvalidArgumentError, "must be real numbers"),
        (lambda: I.crop_to_bounding_box(ROOM, 1, 2, 5, 4), ValueError,
         "crop_to_bounding_box: offset plus target [6, 6] lies outside an image of [5, 7]."),
        (lambda: I.crop_to_bounding_box(ROOM, -1, 2, 3, 4), ValueError,
         "`offset_height` must be 0 or more; got -1"),
        (lambda: I.pad_to_bounding_box(ROOM, 1, 2, 5, 10), ValueError, "does not fit into [5, 10]"),
        (lambda: I.central_crop(ROOM, 1.5), ValueError, "must be within (0, 1]; got 1.5"),
        (lambda: I.resize_with_crop_or_pad(ROOM, 0, 9), ValueError,
         "`target_height` must be positive; got 0"),
        (lambda: I.extract_patches(ROOM, [3, 3], [1] * 4, [1] * 4, "SAME"), InvalidArgumentError,
         "`sizes` must be [1, rows, columns, 1]; got [3, 3]"),
        (lambda: I.extract_patches(ROOM, [1] * 4, [1, 0, 1, 1], [1] * 4, "SAME"), OutOfRangeError,
         "`strides` must be positive"),
        (lambda: I.extract_patches(ROOM, [1] * 4, [1] * 4, [1] * 4, "FULL"), InvalidArgumentError,
         "`padding` must be 'SAME' or 'VALID'; got 'FULL'"),
        (lambda: I.rgb_to_grayscale(ROOM[..., :2]), InvalidArgumentError, "must hold 3 channels"),
        (lambda: I.rgb_to_yiq(PIXEL), TypeError, "rgb_to_yiq: floating images are needed"),
        (lambda: I.grayscale_to_rgb(ROOM), ValueError, "the last axis must have size 1"),
        (lambda: I.rgb_to_hsv(tf.constant(PIXEL)), InvalidArgumentError, "must be floating"),
        (lambda: I.flip_left_right(ROOM[0, 0]), ValueError, "images have rank 3 or 4"),
        (lambda: I.adjust_hue(ROOM, 1.2), ValueError, "`delta` must be within [-1, 1]; got 1.2"),
        (lambda: I.adjust_hue(ROOM[..., :2], 0.2), InvalidArgumentError, "must hold 3 channels"),
        (lambda: I.adjust_gamma(ROOM, -1), ValueError, "`gamma` must not be negative; got -1"),
        (lambda: I.convert_image_dtype(ROOM, tf.bool), AttributeError, "got bool"),
        (lambda: I.crop_and_resize(ROOM, BOX, [3], [3, 4]), OutOfRangeError,
         "crop_and_resize: an index lies outside [0, 2)"),
        (lambda: I.crop_and_resize(ROOM, BOX, [0, 1], [3, 4]), InvalidArgumentError,
         "each box needs one index"),
        (lambda: I.crop_and_resize(ROOM, BOX, [0], [0, 4]), InvalidArgumentError,
         "`crop_size` must be two positive numbers"),
        (lambda: I.crop_and_resize(ROOM, [[np.nan, 0, 1, 1]], [0], [2, 2]), InvalidArgumentError,
         "not finite"),
        (lambda: I.crop_and_resize(ROOM, BOX, [0], [2, 2], "cubic"), InvalidArgumentError,
         "`method` must be 'bilinear' or 'nearest'; got 'cubic'"),
        (lambda: I.non_max_suppression(BOX, [0.9], 1, 1.9), InvalidArgumentError,
         "`iou_threshold` must be within [0, 1]; got 1.9"),
        (lambda: I.non_max_suppression(BOX, [0.9, 0.8], 1), InvalidArgumentError,
         "boxes [n, 4] and as many scores"),
        (lambda: I.psnr(ROOM, ROOM[:, :4], 1.0), InvalidArgumentError, "the same size"),
        (lambda: I.ssim(ROOM, ROOM, 1.0), InvalidArgumentError, "at least 11 (`filter_size`)"),
        (lambda: I.ssim_multiscale(ROOM, ROOM, 1.0, filter_size=4), InvalidArgumentError,
         "at least 4 (`filter_size`) high and wide at scale 2"),
        (lambda: I.random_crop(ROOM, [2, 9, 3, 3]), InvalidArgumentError,
         "random_crop: `size` [2, 9, 3, 3] does not fit into the value; got float32[2,5,7,3]."),
        (lambda: I.random_brightness(ROOM, -0.1), ValueError, "`max_delta` must not be negative"),
        (lambda: I.random_hue(ROOM, 0.6), ValueError, "`max_delta` must not exceed 0.5; got 0.6"),
        (lambda: I.random_contrast(ROOM, 2, 1), ValueError, "`upper` 1 must exceed `lower` 2"),
        (lambda: image_projective_transform(ROOM, np.zeros((3, 8)), [2, 2]), InvalidArgumentError,
         "8 numbers per image"),
        (lambda: image_projective_transform(ROOM, np.zeros((1, 8)), [2, 2], 0.0, "CUBIC"),
         InvalidArgumentError, "`interpolation` must be 'NEAREST' or 'BILINEAR'; got 'CUBIC'"),
    ],
)  # fmt: skip
def test_bad_input_is_said_plainly(call: Any, kind: Any, message: str) -> None:
    with pytest.raises(kind) as caught:
        call()
    assert message in str(caught.value)


# Dtypes, ranks and sizes that only a few programs have.

BYTES = (np.arange(768).reshape(1, 16, 16, 3) * 7 % 256).astype(np.uint8)
NEAR = np.clip(BYTES.astype(int) + np.arange(768).reshape(1, 16, 16, 3) % 9 - 4, 0, 255)


def test_the_largest_value_is_one_of_the_images_numbers() -> None:
    a, b = BYTES, NEAR.astype(np.uint8)
    for top in (255, 255.0, tf.constant(255), tf.constant(255.0)):
        assert near(I.psnr(a, b, top), [39.924068])
        assert near(I.ssim(a, b, top), [0.999438])
    assert near(I.ssim_multiscale(a, b, 255.0, [0.5, 0.5], filter_size=4), [0.999645])
    assert near(I.psnr(a.astype(np.int32), b.astype(np.int32), 255.0), [39.924072])
    assert near(I.psnr(a, b.astype(np.float32), 255.0), [-43.333969])
    for measure in (I.ssim, I.ssim_multiscale):
        with pytest.raises(InvalidArgumentError, match="the images must have one dtype"):
            measure(a, b.astype(np.float32), 255.0)


def test_edges_of_whole_numbers_are_refused() -> None:
    for dtype in (np.uint8, np.int32):
        with pytest.raises(InvalidArgumentError, match="sobel_edges: images must be floating"):
            I.sobel_edges(BYTES.astype(dtype))


def test_stacks_of_batches_of_images() -> None:
    x = ROOM.reshape(1, 2, 1, 5, 7, 3)
    changes = {
        "adjust_hue": lambda x: I.adjust_hue(x, 0.2),
        "adjust_saturation": lambda x: I.adjust_saturation(x, 0.5),
        "random_hue": lambda x: I.random_hue(x, 0.0),
        "stateless_random_hue": lambda x: I.stateless_random_hue(x, 0.2, (1, 2)),
        "stateless_random_saturation": lambda x: I.stateless_random_saturation(x, 0.5, 1.5, (1, 2)),
        "per_image_standardization": I.per_image_standardization,
    }
    for name, change in changes.items():
        found = change(x)
        assert found.shape == x.shape, name
        np.testing.assert_allclose(found[0, :, 0], change(ROOM), 1e-6, 1e-6, err_msg=name)
    assert I.random_saturation(x, 0.5, 1.5).shape == x.shape
    with pytest.raises(ValueError, match="per_image_standardization: images have rank 3 or more"):
        I.per_image_standardization(ROOM[0, 0])


def test_an_image_of_unknown_rank_is_a_single_one() -> None:
    changes = [
        lambda x: I.resize_with_crop_or_pad(x, 4, 5),
        lambda x: I.crop_to_bounding_box(x, 0, 1, 4, 5),
        lambda x: I.pad_to_bounding_box(x, 1, 0, 6, 8),
        lambda x: I.resize_with_pad(x, 4, 5),
    ]
    for change in changes:
        f = tf.function(change, input_signature=[tf.TensorSpec(None, tf.float32)])
        height, width, _ = change(ROOM[0]).shape
        assert f.get_concrete_function().output_shapes.as_list() == [height, width, None]
        np.testing.assert_allclose(f(ROOM[0]), change(ROOM[0]), 1e-6)


GRID = np.arange(50, dtype=np.float32).reshape(1, 5, 5, 2)
# Size, offsets, centered, normalized, and which pixels TensorFlow shows; -1 lies outside.
GLIMPSES = [
    ([2, 3], [0.0, 0.0], True, True, [[6, 7, 8], [11, 12, 13]]),
    ([3, 3], [0.3, -0.4], True, True, [[5, 6, 7], [10, 11, 12], [15, 16, 17]]),
    ([3, 3], [-1.0, -1.0], True, True, [[-1] * 3, [-1, 0, 1], [-1, 5, 6]]),
    ([3, 3], [1.0, 1.0], True, True, [[18, 19, -1], [23, 24, -1], [-1] * 3]),
    ([2, 2], [0.5, 0.5], False, True, [[12, 13], [17, 18]]),
    ([2, 2], [1.5, 2.5], False, False, [[7, 8], [12, 13]]),
    ([2, 2], [2.0, 2.0], True, False, [[24, -1], [-1, -1]]),
    ([2, 2], [-7.0, 0.0], False, False, [[-1, -1], [-1, -1]]),
]


@pytest.mark.parametrize(("size", "offsets", "centered", "normalized", "pixels"), GLIMPSES)
def test_glimpses(size: Any, offsets: Any, centered: bool, normalized: bool, pixels: Any) -> None:
    wanted = np.where(np.array(pixels) < 0, 0, GRID[0, ..., 0].ravel()[pixels])
    specs = [tf.TensorSpec([None, None, None, 2]), tf.TensorSpec([None, 2])]

    def look(x: Any, o: Any) -> Any:
        return I.extract_glimpse(x, size, o, centered, normalized, "zero")

    for call in (
        look,
        tf.function(look, input_signature=specs),
        tf.function(look, jit_compile=True),
    ):
        found = call(tf.constant(GRID), tf.constant([offsets]))
        assert found.numpy()[0, ..., 0].tolist() == wanted.tolist()


def test_glimpses_beyond_the_image_show_noise() -> None:
    tf.random.set_seed(3)
    for noise in ("uniform", "gaussian"):
        found = I.extract_glimpse(GRID, [40, 40], [[0.0, 0.0]], noise=noise)
        np.testing.assert_array_equal(found[:, 17:22, 17:22], GRID)
        assert abs(float(tf.reduce_mean(found)) - 24.5) < 2
        assert 12 < np.std(found) < 17
    with pytest.raises(InvalidArgumentError, match="`noise` must be"):
        I.extract_glimpse(GRID, [2, 2], [[0.0, 0.0]], noise="none")
    with pytest.raises(InvalidArgumentError, match="a pair of numbers for each image"):
        I.extract_glimpse(GRID, [2, 2], [[0.0, 0.0], [0.0, 0.0]])


MARKED = np.array([[[0.1, 0.2, 0.5, 0.9]]], np.float32)


def test_sampled_windows_are_as_they_should_be() -> None:
    sample = tf.function(
        lambda seed: I.stateless_sample_distorted_bounding_box(
            [40, 60, 3], MARKED, seed, 0.4, [0.8, 1.25], [0.1, 0.9]
        )
    )
    seen = set()
    for k in range(200):
        begin, size, box = (x.numpy() for x in sample(tf.constant([k, 1])))
        (top, left, _), (height, width, rest) = begin.tolist(), size.tolist()
        seen.add((top, left, height, width))
        assert rest == -1
        assert 0 <= top <= 40 - height
        assert 0 <= left <= 60 - width
        assert 0.1 <= height * width / 2400 <= 0.9
        assert round(height * 0.8) <= width <= round(height * 1.25)
        down = min(top + height, 20) - max(top, 4)
        across = min(left + width, 54) - max(left, 12)
        assert max(down, 0) * max(across, 0) >= 0.4 * 16 * 42
        want = [top / 40, left / 60, (top + height) / 40, (left + width) / 60]
        np.testing.assert_allclose(box, [[want]], rtol=1e-6)
    assert len(seen) > 150


def test_sampled_windows_where_there_is_no_choice() -> None:
    whole = {"aspect_ratio_range": [1.0, 1.0], "area_range": [1.0, 1.0]}
    begin, size, box = I.sample_distorted_bounding_box(
        tf.constant([10, 10, 3], tf.int64), MARKED, seed=1, **whole
    )
    assert (begin.dtype, size.dtype, box.dtype) == (tf.int64, tf.int64, tf.float32)
    assert (flat(begin), flat(size), flat(box)) == ([0, 0, 0], [10, 10, -1], [0, 0, 1, 1])
    none = np.zeros((1, 0, 4), np.float32)
    with pytest.raises(InvalidArgumentError, match="there are no boxes"):
        I.sample_distorted_bounding_box([10, 10, 3], none)
    found = I.sample_distorted_bounding_box(
        [10, 10, 3], none, use_image_if_no_bounding_boxes=True, **whole
    )
    assert flat(found.size) == [10, 10, -1]
    # Golden: an area and a ratio that leave one size; one that no window has.
    for ratio, area, size in ((2.0, 0.25, [5, 10, -1]), (0.5, 0.125, [10, 20, -1])):
        found = I.sample_distorted_bounding_box(
            [10, 20, 3], MARKED, 1, 0.0, [ratio, ratio], [area, area]
        )
        assert flat(found.size) == size


@pytest.mark.parametrize(
    "given",
    [
        {"image_size": [10, 10]}, {"bounding_boxes": MARKED[0]}, {"bounding_boxes": MARKED * 3},
        {"min_object_covered": -1.0}, {"area_range": [0.5, 2.0]}, {"area_range": [0.0, 1.0]},
        {"aspect_ratio_range": [0.5]}, {"max_attempts": 0}, {"image_size": [10.0, 10.0, 3.0]},
    ],
)  # fmt: skip
def test_windows_that_cannot_be_sampled(given: Any) -> None:
    with pytest.raises(InvalidArgumentError, match="sample_distorted_bounding_box"):
        I.sample_distorted_bounding_box(
            **{"image_size": [10, 10, 3], "bounding_boxes": MARKED} | given
        )

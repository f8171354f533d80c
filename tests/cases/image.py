"""Cases for images: resizing, colours, patches, boxes and measures."""

from __future__ import annotations

import colorsys
from typing import Any

import numpy as np

import wengert as tf
from tests.cases import Case, normal, within
from wengert.ops import boxes, color, projective_transform, quality, resample, resize

I = tf.image  # as short as the calls are many
IMAGE = within(2, 5, 4, 3, low=0.05, high=0.95)
# No place read lies on a pixel, where the gradient jumps.
BOXES = np.array([[0.13, 0.05, 0.9, 0.8], [0.83, 0.9, 0.2, 0.33], [-0.2, 0.3, 0.61, 1.3]])
ROWS = np.array([0, 1, 1], np.int32)
TRANSFORMS = np.array(
    [[1.1, 0.2, -0.5, -0.1, 0.9, 0.7, 0.01, 0.02], [0.7, -0.3, 1.0, 0.4, 1.2, -2.0, 0.0, 0.0]],
    np.float32,
)


def by_matrix(x: np.ndarray, size: tuple[int, int], method: str, antialias: bool) -> np.ndarray:
    """Resizing with the weights as matrices."""
    for axis in (1, 2):
        places, weights = resample.taps(method, x.shape[axis], size[axis - 1], antialias, False)
        matrix = np.zeros((size[axis - 1], x.shape[axis]))
        np.add.at(matrix, (np.arange(len(places))[:, None], places), weights)
        x = np.moveaxis(np.tensordot(matrix, x, (1, axis)), 0, axis)
    return x


def resize_case(method: str, size: tuple[int, int], antialias: bool = False) -> Case:
    return Case(
        f"resize_{method}_{size[0]}x{size[1]}{'_antialias' * antialias}",
        lambda x: resize.resampled(x, size, method, antialias),
        (IMAGE,),
        lambda x: by_matrix(x, size, method, antialias),
        dtypes=("float16", "bfloat16", "float32", "float64"),
    )


def every_pixel(convert: Any) -> Any:
    return lambda x: np.apply_along_axis(lambda p: np.array(convert(*p)), -1, x)


def patches(
    x: np.ndarray, size: tuple[int, int], stride: int, rate: int, pad: list[tuple[int, int]]
) -> np.ndarray:
    x = np.pad(x, [(0, 0), *pad, (0, 0)])
    reach = [(n - 1) * rate + 1 for n in size]
    rows = range(0, x.shape[1] - reach[0] + 1, stride)
    columns = range(0, x.shape[2] - reach[1] + 1, stride)
    return np.stack(
        [
            np.stack(
                [
                    x[:, i : i + reach[0] : rate, j : j + reach[1] : rate].reshape(len(x), -1)
                    for j in columns
                ],
                1,
            )
            for i in rows
        ],
        1,
    )


def extract(size: tuple[int, int], stride: int, rate: int, padding: str) -> Any:
    return lambda x: I.extract_patches(
        x, [1, *size, 1], [1, stride, stride, 1], [1, rate, rate, 1], padding
    )


def crop(method: str, size: tuple[int, int]) -> Any:
    return lambda x, b, r: boxes.crops(x, b, r, size, method, 0.5)


def projective(interpolation: str, mode: str) -> Any:
    return lambda x: projective_transform.image_projective_transform(
        x, TRANSFORMS, [4, 6], 0.25, interpolation, mode
    )


def sobel(x: np.ndarray) -> np.ndarray:
    p = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)), "reflect")
    smooth = p[:, :, :-2] + 2 * p[:, :, 1:-1] + p[:, :, 2:]
    across = p[:, :-2] + 2 * p[:, 1:-1] + p[:, 2:]
    return np.stack([smooth[:, 2:] - smooth[:, :-2], across[:, :, 2:] - across[:, :, :-2]], -1)


def turned(r: float, g: float, b: float, hue: float, saturation: float) -> tuple[float, ...]:
    """One pixel with its hue moved and its saturation scaled."""
    h, s, v = colorsys.rgb_to_hsv(r, g, b)
    return colorsys.hsv_to_rgb((h + hue) % 1.0, s * saturation, v)


# Boxes and their scores.
FOUND = (
    np.array([[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, 2, 1, 3], [5, 5, 6, 6.0]]),
    np.array([0.8, 0.9, 0.3, 0.5]),
)

CASES = [
    *(
        resize_case(m, (7, 3))
        for m in ("bilinear", "bicubic", "area", "lanczos3", "lanczos5", "gaussian",
                  "mitchellcubic", "nearest")
    ),
    resize_case("bilinear", (2, 9)),
    resize_case("bicubic", (11, 2)),
    resize_case("nearest", (1, 1)),
    *(resize_case(m, (2, 3), True) for m in ("bilinear", "bicubic", "lanczos3", "gaussian")),
    Case("resize_float32", lambda x: I.resize(x, [3, 6]), (IMAGE,),
         lambda x: by_matrix(x, (3, 6), "bilinear", False), order=0, tolerance=1e-6,
         dtypes=("float32",)),
    Case("resize_single", lambda x: I.resize(x[0], [3, 6], "nearest"), (IMAGE,),
         lambda x: by_matrix(x, (3, 6), "nearest", False)[0]),
    Case("resize_whole", lambda x: I.resize(x, [3, 6], "nearest"),
         (np.arange(40, dtype=np.int32).reshape(1, 5, 8, 1),),
         lambda x: by_matrix(x, (3, 6), "nearest", False).astype(np.int32), order=0),
    Case("resize_empty", lambda x: I.resize(x, [3, 6], "nearest"), (np.zeros((0, 2, 2, 3)),),
         lambda x: np.zeros((0, 3, 6, 3)), order=0),
    Case("filter_reflect", lambda x: resample.filtered(x, 1, (1.0, -3.0, 2.0), "reflect"),
         (IMAGE,), lambda x: sum(
             w * np.pad(x, ((0, 0), (1, 1), (0, 0), (0, 0)), "reflect")[:, i : i + 5]
             for i, w in enumerate((1.0, -3.0, 2.0)))),
    Case("resize_with_pad", lambda x: I.resize_with_pad(x, 9, 5, "nearest"), (IMAGE,)),
    Case("resize_with_crop_or_pad", lambda x: I.resize_with_crop_or_pad(x, 2, 7), (IMAGE,),
         lambda x: np.pad(x[:, 1:3], ((0, 0), (0, 0), (1, 2), (0, 0)))),
    Case("central_crop", lambda x: I.central_crop(x, 0.5), (IMAGE,), lambda x: x[:, 1:4, 1:3]),
    Case("crop_to_bounding_box", lambda x: I.crop_to_bounding_box(x, 1, 2, 3, 2), (IMAGE,),
         lambda x: x[:, 1:4, 2:4]),
    Case("pad_to_bounding_box", lambda x: I.pad_to_bounding_box(x, 1, 2, 8, 7), (IMAGE,),
         lambda x: np.pad(x, ((0, 0), (1, 2), (2, 1), (0, 0)))),
    Case("extract_patches", extract((3, 2), 1, 1, "VALID"), (IMAGE,),
         lambda x: patches(x, (3, 2), 1, 1, [(0, 0), (0, 0)])),
    Case("extract_patches_same", extract((3, 2), 2, 1, "SAME"), (IMAGE,),
         lambda x: patches(x, (3, 2), 2, 1, [(1, 1), (0, 0)])),
    Case("extract_patches_rates", extract((2, 2), 1, 2, "SAME"), (IMAGE,),
         lambda x: patches(x, (2, 2), 1, 2, [(1, 1), (1, 1)])),
    Case("extract_patches_gaps", extract((1, 1), 3, 1, "VALID"), (IMAGE,),
         lambda x: patches(x, (1, 1), 3, 1, [(0, 0), (0, 0)])),
    Case("extract_patches_none", extract((6, 1), 1, 1, "VALID"), (IMAGE,),
         lambda x: np.zeros((2, 0, 4, 18)), order=0),
    Case("rgb_to_hsv", I.rgb_to_hsv, (IMAGE,), every_pixel(colorsys.rgb_to_hsv),
         half_tolerance=0.05, dtypes=("float16", "float32", "float64")),
    Case("hsv_to_rgb", I.hsv_to_rgb, (IMAGE,), every_pixel(colorsys.hsv_to_rgb)),
    Case("rgb_to_grayscale", I.rgb_to_grayscale, (IMAGE,),
         lambda x: x @ np.array([[0.2989], [0.587], [0.114]])),
    Case("grayscale_to_rgb", I.grayscale_to_rgb, (IMAGE[..., :1],),
         lambda x: np.repeat(x, 3, -1)),
    Case("yiq", lambda x: I.yiq_to_rgb(I.rgb_to_yiq(x)), (IMAGE,),
         lambda x: x @ np.array(color._YIQ) @ np.array(color._FROM_YIQ)),
    Case("yuv", lambda x: I.yuv_to_rgb(I.rgb_to_yuv(x)), (IMAGE,),
         lambda x: x @ np.array(color._YUV) @ np.array(color._FROM_YUV)),
    Case("flip_left_right", I.flip_left_right, (IMAGE,), lambda x: x[:, :, ::-1]),
    Case("flip_up_down", I.flip_up_down, (IMAGE,), lambda x: x[:, ::-1]),
    Case("image_transpose", I.transpose, (IMAGE,), lambda x: x.transpose(0, 2, 1, 3)),
    Case("rot90", lambda x: I.rot90(x, 3), (IMAGE,), lambda x: np.rot90(x, 3, (1, 2))),
    Case("adjust_brightness", lambda x, d: I.adjust_brightness(x, d), (IMAGE, np.array(0.2)),
         lambda x, d: x + d),
    Case("adjust_contrast", lambda x, f: I.adjust_contrast(x, f), (IMAGE, np.array(1.3)),
         lambda x, f: (x - x.mean((1, 2), keepdims=True)) * f + x.mean((1, 2), keepdims=True)),
    Case("adjust_gamma", lambda x: I.adjust_gamma(x, 1.7, 0.9), (IMAGE,), lambda x: 0.9 * x**1.7),
    Case("adjust_hue", lambda x: I.adjust_hue(x, 0.3), (IMAGE,),
         every_pixel(lambda r, g, b: turned(r, g, b, 0.3, 1.0))),
    Case("adjust_saturation", lambda x: I.adjust_saturation(x, 0.7), (IMAGE,),
         every_pixel(lambda r, g, b: turned(r, g, b, 0.0, 0.7))),
    Case("standardized", color.standardized, (IMAGE,),
         lambda x: (x - x.mean((1, 2, 3), keepdims=True)) / x.std((1, 2, 3), keepdims=True)),
    Case("convert_image_dtype", lambda x: I.convert_image_dtype(x, tf.uint8), (IMAGE,),
         lambda x: (x * 255.5).astype(np.uint8), order=0, dtypes=("float64",)),
    Case("crop_and_resize", crop("bilinear", (3, 4)), (IMAGE, BOXES, ROWS)),
    Case("crop_and_resize_middle", crop("bilinear", (1, 1)), (IMAGE, BOXES, ROWS)),
    Case("crop_and_resize_nearest", crop("nearest", (3, 4)), (IMAGE, BOXES, ROWS)),
    Case("crop_and_resize_float32",
         lambda x, r: I.crop_and_resize(x, [[0.0, 0.0, 1.0, 1.0]] * 3, r, [5, 4]), (IMAGE, ROWS),
         lambda x, r: x[r], order=0),
    *(
        Case(f"projective_{i}_{m}".lower(), projective(i, m), (IMAGE,))
        for i in ("NEAREST", "BILINEAR")
        for m in ("CONSTANT", "REFLECT", "WRAP", "NEAREST")
    ),
    Case("projective_identity",
         lambda x: projective_transform.image_projective_transform(
             x, np.array([[1, 0, 0, 0, 1, 0, 0, 0]], np.float32), [5, 4]), (IMAGE,),
         lambda x: x),
    Case("sobel_edges", I.sobel_edges, (IMAGE,), sobel),
    Case("image_gradients", I.image_gradients, (IMAGE,),
         lambda x: (np.diff(x, axis=1, append=x[:, -1:]), np.diff(x, axis=2, append=x[:, :, -1:]))),
    Case("total_variation", I.total_variation, (IMAGE,),
         lambda x: np.abs(np.diff(x, axis=1)).sum((1, 2, 3))
         + np.abs(np.diff(x, axis=2)).sum((1, 2, 3))),
    Case("psnr", lambda x, y: I.psnr(x, y, 1.0), (IMAGE, IMAGE**2),
         lambda x, y: -10 * np.log10(((x - y) ** 2).mean((1, 2, 3))), order=0),
    Case("ssim", lambda x, y: I.ssim(x, y, 1.0, filter_size=3), (IMAGE, IMAGE**2), order=0),
    Case("ssim_multiscale",
         lambda x, y: I.ssim_multiscale(x, y, 1.0, (0.4, 0.6), filter_size=2),
         (IMAGE, 0.8 * IMAGE), order=0),
    Case("ssim_parts",
         lambda x, y: quality.similarity(x, y, tf.constant(1.0, x.dtype), 3, 1.5, 0.01, 0.03),
         (IMAGE, IMAGE**2)),
    Case("non_max_suppression",
         lambda b, s: I.non_max_suppression(b, s, 3, 0.4),
         FOUND, lambda b, s: np.array([1, 3, 2], np.int32), order=0, lowered=False),
    Case("scored_suppression",
         lambda b, s: I.non_max_suppression_with_scores(b, s, 3, soft_nms_sigma=0.5), FOUND,
         order=0, lowered=False),
    Case("padded_suppression", lambda b, s: I.non_max_suppression_padded(b, s, 3, 0.4), FOUND,
         lambda b, s: (np.array([1, 3, 2], np.int32), np.array(3, np.int32)), order=0,
         lowered=False),
    Case("table_suppression",
         lambda a, s: I.non_max_suppression_overlaps(a, s, 3, 0.4), (np.eye(4), FOUND[1]),
         lambda a, s: np.array([1, 0, 3], np.int32), order=0, lowered=False),
    Case("combined_suppression",
         lambda b, s: I.combined_non_max_suppression(
             tf.cast(b, tf.float32)[None, :, None], tf.cast(s, tf.float32)[None, :, None], 2, 3),
         FOUND, order=0, lowered=False),
    Case("draw_bounding_boxes",
         lambda x: I.draw_bounding_boxes(x, np.full((2, 1, 4), [0.0, 0.0, 1.0, 1.0])), (IMAGE,),
         order=0, lowered=False),
    Case("sample_distorted_bounding_box",
         lambda b: I.stateless_sample_distorted_bounding_box(
             [40, 60, 3], tf.cast(b, tf.float32), [3, 4], 0.5),
         (np.array([[[0.1, 0.2, 0.5, 0.9]]]),), order=0),
    Case("extract_glimpse",
         lambda x, o: tf.cast(I.extract_glimpse(
             tf.cast(x, tf.float32), [2, 3], tf.cast(o, tf.float32), noise="zero"), x.dtype),
         (IMAGE, np.array([[0.0, 0.0], [-0.9, 0.8]])), order=0),
    Case("random_flip", lambda x: I.stateless_random_flip_left_right(x, [3, 4]), (IMAGE,)),
    Case("random_crop", lambda x: I.stateless_random_crop(x, [2, 3, 2, 3], [3, 4]), (IMAGE,)),
    Case("random_brightness",
         lambda x: I.stateless_random_brightness(x, 0.2, [3, 4]), (normal(2, 3, 3, 3),)),
]  # fmt: skip

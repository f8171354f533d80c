"""The names of `tf.image`."""

from wengert.core.missing_names import namespace as _namespace
from wengert.io.images import (
    decode_and_crop_jpeg,
    decode_bmp,
    decode_gif,
    decode_image,
    decode_jpeg,
    decode_png,
    decode_webp,
    encode_jpeg,
    encode_png,
    extract_jpeg_shape,
    is_jpeg,
)
from wengert.io.jpeg_quality import (
    adjust_jpeg_quality,
    random_jpeg_quality,
    stateless_random_jpeg_quality,
)
from wengert.ops.boxes import crop_and_resize, non_max_suppression
from wengert.ops.color import (
    adjust_brightness,
    adjust_contrast,
    adjust_gamma,
    adjust_hue,
    adjust_saturation,
    convert_image_dtype,
    grayscale_to_rgb,
    hsv_to_rgb,
    per_image_standardization,
    rgb_to_grayscale,
    rgb_to_hsv,
    rgb_to_yiq,
    rgb_to_yuv,
    yiq_to_rgb,
    yuv_to_rgb,
)
from wengert.ops.detections import (
    combined_non_max_suppression,
    draw_bounding_boxes,
    non_max_suppression_overlaps,
    non_max_suppression_padded,
    non_max_suppression_with_scores,
)
from wengert.ops.image import (
    flip_left_right,
    flip_up_down,
    random_brightness,
    random_contrast,
    random_crop,
    random_flip_left_right,
    random_flip_up_down,
    random_hue,
    random_saturation,
    rot90,
    stateless_random_brightness,
    stateless_random_contrast,
    stateless_random_crop,
    stateless_random_flip_left_right,
    stateless_random_flip_up_down,
    stateless_random_hue,
    stateless_random_saturation,
    transpose,
)
from wengert.ops.patches import extract_glimpse, extract_patches
from wengert.ops.quality import (
    image_gradients,
    psnr,
    sobel_edges,
    ssim,
    ssim_multiscale,
    total_variation,
)  # fmt: skip
from wengert.ops.resize import (
    ResizeMethod,
    central_crop,
    crop_to_bounding_box,
    pad_to_bounding_box,
    resize,
    resize_with_crop_or_pad,
    resize_with_pad,
)
from wengert.ops.sampled_box import (
    sample_distorted_bounding_box,
    stateless_sample_distorted_bounding_box,
)

__getattr__, __dir__ = _namespace("tf.image", globals())

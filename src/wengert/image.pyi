"""Made by `python -m tools.stubs`: the names that checkers and editors see."""

from wengert.io.images import decode_and_crop_jpeg as decode_and_crop_jpeg
from wengert.io.images import decode_bmp as decode_bmp
from wengert.io.images import decode_gif as decode_gif
from wengert.io.images import decode_image as decode_image
from wengert.io.images import decode_jpeg as decode_jpeg
from wengert.io.images import decode_png as decode_png
from wengert.io.images import decode_webp as decode_webp
from wengert.io.images import encode_jpeg as encode_jpeg
from wengert.io.images import encode_png as encode_png
from wengert.io.images import extract_jpeg_shape as extract_jpeg_shape
from wengert.io.images import is_jpeg as is_jpeg
from wengert.io.jpeg_quality import adjust_jpeg_quality as adjust_jpeg_quality
from wengert.io.jpeg_quality import random_jpeg_quality as random_jpeg_quality
from wengert.io.jpeg_quality import stateless_random_jpeg_quality as stateless_random_jpeg_quality
from wengert.ops.boxes import crop_and_resize as crop_and_resize
from wengert.ops.boxes import non_max_suppression as non_max_suppression
from wengert.ops.color import adjust_brightness as adjust_brightness
from wengert.ops.color import adjust_contrast as adjust_contrast
from wengert.ops.color import adjust_gamma as adjust_gamma
from wengert.ops.color import adjust_hue as adjust_hue
from wengert.ops.color import adjust_saturation as adjust_saturation
from wengert.ops.color import convert_image_dtype as convert_image_dtype
from wengert.ops.color import grayscale_to_rgb as grayscale_to_rgb
from wengert.ops.color import hsv_to_rgb as hsv_to_rgb
from wengert.ops.color import per_image_standardization as per_image_standardization
from wengert.ops.color import rgb_to_grayscale as rgb_to_grayscale
from wengert.ops.color import rgb_to_hsv as rgb_to_hsv
from wengert.ops.color import rgb_to_yiq as rgb_to_yiq
from wengert.ops.color import rgb_to_yuv as rgb_to_yuv
from wengert.ops.color import yiq_to_rgb as yiq_to_rgb
from wengert.ops.color import yuv_to_rgb as yuv_to_rgb
from wengert.ops.detections import combined_non_max_suppression as combined_non_max_suppression
from wengert.ops.detections import draw_bounding_boxes as draw_bounding_boxes
from wengert.ops.detections import non_max_suppression_overlaps as non_max_suppression_overlaps
from wengert.ops.detections import non_max_suppression_padded as non_max_suppression_padded
from wengert.ops.detections import (
    non_max_suppression_with_scores as non_max_suppression_with_scores,
)
from wengert.ops.image import flip_left_right as flip_left_right
from wengert.ops.image import flip_up_down as flip_up_down
from wengert.ops.image import random_brightness as random_brightness
from wengert.ops.image import random_contrast as random_contrast
from wengert.ops.image import random_crop as random_crop
from wengert.ops.image import random_flip_left_right as random_flip_left_right
from wengert.ops.image import random_flip_up_down as random_flip_up_down
from wengert.ops.image import random_hue as random_hue
from wengert.ops.image import random_saturation as random_saturation
from wengert.ops.image import rot90 as rot90
from wengert.ops.image import stateless_random_brightness as stateless_random_brightness
from wengert.ops.image import stateless_random_contrast as stateless_random_contrast
from wengert.ops.image import stateless_random_crop as stateless_random_crop
from wengert.ops.image import stateless_random_flip_left_right as stateless_random_flip_left_right
from wengert.ops.image import stateless_random_flip_up_down as stateless_random_flip_up_down
from wengert.ops.image import stateless_random_hue as stateless_random_hue
from wengert.ops.image import stateless_random_saturation as stateless_random_saturation
from wengert.ops.image import transpose as transpose
from wengert.ops.patches import extract_glimpse as extract_glimpse
from wengert.ops.patches import extract_patches as extract_patches
from wengert.ops.quality import image_gradients as image_gradients
from wengert.ops.quality import psnr as psnr
from wengert.ops.quality import sobel_edges as sobel_edges
from wengert.ops.quality import ssim as ssim
from wengert.ops.quality import ssim_multiscale as ssim_multiscale
from wengert.ops.quality import total_variation as total_variation
from wengert.ops.resize import ResizeMethod as ResizeMethod
from wengert.ops.resize import central_crop as central_crop
from wengert.ops.resize import crop_to_bounding_box as crop_to_bounding_box
from wengert.ops.resize import pad_to_bounding_box as pad_to_bounding_box
from wengert.ops.resize import resize as resize
from wengert.ops.resize import resize_with_crop_or_pad as resize_with_crop_or_pad
from wengert.ops.resize import resize_with_pad as resize_with_pad
from wengert.ops.sampled_box import sample_distorted_bounding_box as sample_distorted_bounding_box
from wengert.ops.sampled_box import (
    stateless_sample_distorted_bounding_box as stateless_sample_distorted_bounding_box,
)

"""The names of `tf.io`: files and folders on this machine, and bytes as numbers."""

from wengert.core.missing import missing as _missing
from wengert.io import gfile
from wengert.io.encodings import decode_base64, decode_raw, encode_base64
from wengert.io.files import matching_files, read_file, write_file
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

__getattr__ = _missing(
    "tf.io",
    globals(),
    hidden=("encodings", "files", "handle", "images", "paths", "tree"),
)

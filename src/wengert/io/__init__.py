"""The names of `tf.io`: files and folders on this machine, and bytes as numbers."""

from wengert.core.missing_names import namespace as _namespace
from wengert.io import gfile
from wengert.io.csv_fields import decode_csv
from wengert.io.encodings import decode_base64, decode_compressed, decode_raw, encode_base64
from wengert.io.features import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    RaggedFeature,
    SparseFeature,
    VarLenFeature,
)
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
from wengert.io.parsing import (
    parse_example,
    parse_single_example,
)
from wengert.io.sequences import parse_sequence_example, parse_single_sequence_example
from wengert.io.tensors import parse_tensor, serialize_tensor
from wengert.io.tfrecord import TFRecordOptions, TFRecordWriter

__getattr__, __dir__ = _namespace("tf.io", globals())

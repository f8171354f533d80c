"""The names of `tf.io`: files and folders on this machine, and bytes as numbers."""

from wengert.core.missing import missing as _missing
from wengert.io import gfile
from wengert.io.encodings import decode_base64, decode_raw, encode_base64
from wengert.io.files import matching_files, read_file, write_file

__getattr__ = _missing(
    "tf.io",
    globals(),
    hidden=("encodings", "files", "handle", "paths", "tree"),
)

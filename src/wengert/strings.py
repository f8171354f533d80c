"""The names of `tf.strings`."""

from wengert.composite.ragged_strings import bytes_split, ngrams, split, unsorted_segment_join
from wengert.composite.unicode import (
    unicode_decode,
    unicode_decode_with_offsets,
    unicode_encode,
    unicode_split,
    unicode_split_with_offsets,
    unicode_transcode,
)
from wengert.core.missing_names import namespace as _namespace
from wengert.ops.hashing import to_hash_bucket, to_hash_bucket_fast, to_hash_bucket_strong
from wengert.ops.strings import (
    as_string,
    join,
    length,
    lower,
    reduce_join,
    regex_full_match,
    regex_replace,
    strip,
    substr,
    to_number,
    upper,
)
from wengert.ops.strings import string_format as format

__all__ = [
    "as_string",
    "bytes_split",
    "format",
    "join",
    "length",
    "lower",
    "ngrams",
    "reduce_join",
    "regex_full_match",
    "regex_replace",
    "split",
    "strip",
    "substr",
    "to_hash_bucket",
    "to_hash_bucket_fast",
    "to_hash_bucket_strong",
    "to_number",
    "unicode_decode",
    "unicode_decode_with_offsets",
    "unicode_encode",
    "unicode_split",
    "unicode_split_with_offsets",
    "unicode_transcode",
    "unsorted_segment_join",
    "upper",
]

__getattr__, __dir__ = _namespace("tf.strings", globals())

"""Made by `python -m tools.stubs`: the names that checkers and editors see."""

from wengert.composite.ragged_strings import bytes_split as bytes_split
from wengert.composite.ragged_strings import ngrams as ngrams
from wengert.composite.ragged_strings import split as split
from wengert.composite.ragged_strings import unsorted_segment_join as unsorted_segment_join
from wengert.composite.unicode import unicode_decode as unicode_decode
from wengert.composite.unicode import unicode_decode_with_offsets as unicode_decode_with_offsets
from wengert.composite.unicode import unicode_encode as unicode_encode
from wengert.composite.unicode import unicode_split as unicode_split
from wengert.composite.unicode import unicode_split_with_offsets as unicode_split_with_offsets
from wengert.composite.unicode import unicode_transcode as unicode_transcode
from wengert.ops.hashing import to_hash_bucket as to_hash_bucket
from wengert.ops.hashing import to_hash_bucket_fast as to_hash_bucket_fast
from wengert.ops.hashing import to_hash_bucket_strong as to_hash_bucket_strong
from wengert.ops.strings import as_string as as_string
from wengert.ops.strings import join as join
from wengert.ops.strings import length as length
from wengert.ops.strings import lower as lower
from wengert.ops.strings import reduce_join as reduce_join
from wengert.ops.strings import regex_full_match as regex_full_match
from wengert.ops.strings import regex_replace as regex_replace
from wengert.ops.strings import string_format as _format
from wengert.ops.strings import strip as strip
from wengert.ops.strings import substr as substr
from wengert.ops.strings import to_number as to_number
from wengert.ops.strings import upper as upper

format = _format

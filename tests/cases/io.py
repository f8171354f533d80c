"""Cases for bytes as numbers and as text; they never compile and have no gradients."""

from __future__ import annotations

import base64

import numpy as np

import wengert as tf
from tests.cases.strings import WORDS, _map, _text

PAIRS = np.array([[b"abcd", b"efgh"]], object)

CASES = [
    _text("decode_raw", lambda x: tf.io.decode_raw(x, tf.uint8), (PAIRS,),
          lambda x: np.arange(97, 105, dtype=np.uint8).reshape(1, 2, 4)),
    _text("decode_raw_fixed", lambda x: tf.io.decode_raw(x, tf.int16, fixed_length=2), (PAIRS,),
          lambda x: np.array([[[0x6261], [0x6665]]], np.int16)),
    _text("encode_base64", lambda x: tf.io.encode_base64(x, pad=True), (WORDS,),
          _map(base64.urlsafe_b64encode)),
    _text("decode_base64", lambda x: tf.io.decode_base64(x), (np.array([b"YWI="], object),),
          lambda x: np.array([b"ab"], object)),
]  # fmt: skip

"""Cases for numbers rounded as if they had been quantised; their gradients are no slopes."""

from __future__ import annotations

import wengert as tf
from tests.cases import Case, normal
from wengert.core.apply import apply
from wengert.ops.fake_quantize import IN_PLACE_OF

CASES = [
    Case("in_place_of", lambda x, y: apply(IN_PLACE_OF, x, y), (normal(2, 3), normal(2, 3, seed=1)),
         lambda x, y: y, order=0),
    Case("fake_quant", lambda x: tf.quantization.fake_quant_with_min_max_args(
        tf.cast(x, tf.float32), -1.0, 1.0, num_bits=4), (normal(3, 4),), order=0),
]  # fmt: skip

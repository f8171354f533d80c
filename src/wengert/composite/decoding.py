"""Decoders whose answers are sparse tensors."""

from __future__ import annotations

from typing import Any

from wengert.composite.sparse_tensor import SparseTensor
from wengert.ops import ctc


def ctc_greedy_decoder(
    inputs: Any, sequence_length: Any, merge_repeated: bool = True, blank_index: Any = None
) -> tuple[list[SparseTensor], Any]:
    """The best class of each frame, without blanks and (when merged) repetitions.

    Returns the labels as a sparse tensor, and minus the sum of the best logits. The blank is the
    last class unless given.
    """
    found, score = ctc.ctc_greedy_decoder(inputs, sequence_length, merge_repeated, blank_index)
    return [SparseTensor.from_value(one) for one in found], score

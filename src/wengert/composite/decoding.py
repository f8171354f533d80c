"""Decoders whose answers are sparse tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wengert.composite.sparse_tensor import SparseTensor
from wengert.ops import beams, ctc

if TYPE_CHECKING:
    from wengert.core.tensor import Tensor


def ctc_greedy_decoder(
    inputs: Any, sequence_length: Any, merge_repeated: bool = True, blank_index: Any = None
) -> tuple[list[SparseTensor], Tensor]:
    """The best class of each frame, without blanks and (when merged) repetitions.

    Returns the labels as a sparse tensor, and minus the sum of the best logits. The blank is the
    last class unless given.
    """
    result, score = ctc.ctc_greedy_decoder(inputs, sequence_length, merge_repeated, blank_index)
    return [SparseTensor.from_value(one) for one in result], score


def ctc_beam_search_decoder(
    inputs: Any, sequence_length: Any, beam_width: int = 100, top_paths: int = 1
) -> tuple[list[SparseTensor], Tensor]:
    """The likeliest label sequences as sparse tensors, and their log probabilities.

    The blank is the last class.
    """
    result, scores = beams.ctc_beam_search_decoder(inputs, sequence_length, beam_width, top_paths)
    return [SparseTensor.from_value(one) for one in result], scores

"""Why operations are slower than TensorFlow's, where the reason is known."""

from __future__ import annotations

from typing import Any

_PASSES = "eagerly several passes of NumPy; in a function one of XLA"
_ONE_BY_ONE = "an algorithm that goes on number by number, in Python"
_ONE_THREAD = "NumPy counts and scatters on one thread"
# By the start of the name; the longest that fits counts.
_REASONS = {
    "strings.": "Python makes an object of each string",
    "as_string": "Python makes an object of each string",
    "io.": "Python makes an object of each string",
    "math.in_top_k": "TensorFlow leaves a row after k larger numbers; NumPy compares all",
    "nn.isotonic_regression": _ONE_BY_ONE,
    "image.non_max_suppression": _ONE_BY_ONE,
    "image.combined_non_max_suppression": _ONE_BY_ONE,
    "nn.dilation2d": "a pass of NumPy over the images for each place of the filter",
    "nn.erosion2d": "a pass of NumPy over the images for each place of the filter",
    "math.segment_prod": "products of all others, right with any number of zeros",
    "math.unsorted_segment_prod": "products of all others, right with any number of zeros",
    "math.cumprod": "a recurrence that never divides, right with any number of zeros",
    "math.digamma": "the gradient is a general polygamma function",
    "math.bincount": _ONE_THREAD,
    "histogram_fixed_width": _ONE_THREAD,
    "math.invert_permutation": _ONE_THREAD,
    "math.confusion_matrix": _ONE_THREAD,
    "image.adjust_": _PASSES,
    "image.random_": _PASSES,
    "image.sobel_edges": _PASSES,
    "quantization.": _PASSES,
    "random.categorical": "sums of probabilities in float64, the same on both engines",
    "sort": "XLA sorts on one thread, number by number; alone it stays with NumPy",
    "argsort": "XLA sorts on one thread, number by number; alone it stays with NumPy",
}
# Linear functions and those that make constants.
_KNOWN = {
    "add", "add_n", "subtract", "negative", "scalar_mul", "identity", "identity_n",
    "math.accumulate_n", "complex", "math.conj", "math.real", "math.imag", "reshape",
    "expand_dims", "squeeze", "ensure_shape", "roll", "reverse", "transpose", "concat",
    "stack", "split", "pad", "repeat", "tile", "slice", "strided_slice", "broadcast_to",
    "batch_to_space", "space_to_batch", "nn.depth_to_space", "nn.space_to_depth",
    "nn.embedding_lookup", "gather", "gather_nd", "cumsum", "linalg.band_part",
    "linalg.set_diag", "linalg.adjoint", "linalg.matrix_transpose", "linalg.diag",
    "linalg.diag_part", "linalg.trace", "signal.fft", "signal.ifft", "signal.fft2d",
    "signal.ifft2d", "signal.fft3d", "signal.ifft3d", "signal.fftshift", "signal.ifftshift",
    "reduce_sum", "reduce_mean", "sign", "math.multiply_no_nan", "math.nextafter", "abs",
    "nn.bias_add",
}  # fmt: skip
_MADE = {
    "ones", "zeros", "fill", "ones_like", "zeros_like", "eye", "range", "linspace",
}  # fmt: skip


def reason(cell: dict[str, Any]) -> str:
    """What is known of a cell, or nothing."""
    name = cell["name"]
    if cell["traced"] and name in (_KNOWN if cell["gradient"] else _MADE):
        return "the same for any numbers: TensorFlow keeps it from the first call on"
    starts = [start for start in _REASONS if name.startswith(start)]
    return _REASONS[max(starts, key=len)] if starts else ""

"""The names of `tf.quantization`: rounding as quantised numbers would, in floating point."""

from wengert.core.missing_names import namespace as _namespace
from wengert.ops.fake_quantize import (
    fake_quant_with_min_max_args,
    fake_quant_with_min_max_args_gradient,
    fake_quant_with_min_max_vars,
    fake_quant_with_min_max_vars_gradient,
    fake_quant_with_min_max_vars_per_channel,
    fake_quant_with_min_max_vars_per_channel_gradient,
)
from wengert.ops.quantize_dequantize import quantize_and_dequantize, quantize_and_dequantize_v2

__all__ = [
    "fake_quant_with_min_max_args",
    "fake_quant_with_min_max_args_gradient",
    "fake_quant_with_min_max_vars",
    "fake_quant_with_min_max_vars_gradient",
    "fake_quant_with_min_max_vars_per_channel",
    "fake_quant_with_min_max_vars_per_channel_gradient",
    "quantize_and_dequantize",
    "quantize_and_dequantize_v2",
]

__getattr__, __dir__ = _namespace("tf.quantization", globals())

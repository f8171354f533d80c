"""Made by `python -m tools.stubs`: the names that checkers and editors see."""

from wengert.ops.fake_quantize import fake_quant_with_min_max_args as fake_quant_with_min_max_args
from wengert.ops.fake_quantize import (
    fake_quant_with_min_max_args_gradient as fake_quant_with_min_max_args_gradient,
)
from wengert.ops.fake_quantize import fake_quant_with_min_max_vars as fake_quant_with_min_max_vars
from wengert.ops.fake_quantize import (
    fake_quant_with_min_max_vars_gradient as fake_quant_with_min_max_vars_gradient,
)
from wengert.ops.fake_quantize import (
    fake_quant_with_min_max_vars_per_channel as fake_quant_with_min_max_vars_per_channel,
)
from wengert.ops.fake_quantize import (
    fake_quant_with_min_max_vars_per_channel_gradient as fake_quant_with_min_max_vars_per_channel_gradient,
)
from wengert.ops.quantize_dequantize import quantize_and_dequantize as quantize_and_dequantize
from wengert.ops.quantize_dequantize import quantize_and_dequantize_v2 as quantize_and_dequantize_v2

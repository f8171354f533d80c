"""Made by `python -m tools.stubs`: the names that checkers and editors see."""

from unittest import main as main

from wengert.runtime.builds import gpu_device_name as gpu_device_name
from wengert.runtime.builds import is_built_with_cuda as is_built_with_cuda
from wengert.runtime.builds import is_built_with_gpu_support as is_built_with_gpu_support
from wengert.runtime.builds import is_built_with_rocm as is_built_with_rocm
from wengert.runtime.builds import is_built_with_xla as is_built_with_xla
from wengert.runtime.builds import is_gpu_available as is_gpu_available
from wengert.testing.cases import TestCase as TestCase
from wengert.testing.jacobian_check import compute_gradient as compute_gradient

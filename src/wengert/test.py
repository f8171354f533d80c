"""The names of `tf.test`."""

from unittest import main

from wengert.core.missing_names import namespace as _namespace
from wengert.runtime.builds import (
    gpu_device_name,
    is_built_with_cuda,
    is_built_with_gpu_support,
    is_built_with_rocm,
    is_built_with_xla,
    is_gpu_available,
)
from wengert.testing.cases import TestCase
from wengert.testing.jacobian_check import compute_gradient

__getattr__, __dir__ = _namespace("tf.test", globals())

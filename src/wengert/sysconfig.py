"""`tf.sysconfig`: what the installation was built with; there is nothing to compile against."""

from __future__ import annotations

from wengert import test as _test
from wengert.core.missing import missing as _missing


def get_build_info() -> dict[str, bool]:
    """What programs ask before they use a device; XLA brings its own libraries."""
    return {
        "is_cuda_build": _test.is_built_with_cuda(),
        "is_rocm_build": _test.is_built_with_rocm(),
        "is_tensorrt_build": False,
    }


__all__ = ["get_build_info"]
__getattr__ = _missing("tf.sysconfig", globals())

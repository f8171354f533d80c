"""What Wengert was built with, and which devices this machine has, as programs ask for it."""

from __future__ import annotations

from typing import Any

from wengert.runtime.hardware import list_logical_devices


def is_gpu_available(cuda_only: bool = False, min_cuda_compute_capability: Any = None) -> bool:
    """Whether there is a GPU."""
    return bool(list_logical_devices("GPU"))


def gpu_device_name() -> str:
    """The name of the first GPU, or nothing."""
    result = list_logical_devices("GPU")
    return result[0].name if result else ""


def is_built_with_cuda() -> bool:
    """Whether a GPU of NVIDIA's can be used; JAX's plugins decide."""
    return is_gpu_available()


def is_built_with_gpu_support() -> bool:
    """Whether a GPU can be used; JAX's plugins decide."""
    return is_gpu_available()


def is_built_with_rocm() -> bool:
    """Whether a GPU of AMD's can be used."""
    return False


def is_built_with_xla() -> bool:
    """Whether functions can be compiled."""
    return True


def get_build_info() -> dict[str, bool]:
    """What programs ask before they use a device; XLA brings its own libraries."""
    return {
        "is_cuda_build": is_built_with_cuda(),
        "is_rocm_build": is_built_with_rocm(),
        "is_tensorrt_build": False,
    }

"""`tf.experimental.dlpack`: tensors to and from other libraries without a detour through files.

Tensors also speak the protocol themselves: `np.from_dlpack(t)`, `torch.from_dlpack(t)`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from wengert.core.apply import wrap
from wengert.core.convert import operand
from wengert.core.dtypes import as_dtype, bfloat16
from wengert.core.errors import invalid, invalid_dtype
from wengert.core.lazy_modules import jax
from wengert.core.missing_names import namespace as _namespace
from wengert.core.sites import caller
from wengert.core.tensor import Tensor

__all__ = ["from_dlpack", "to_dlpack"]

_CPU = (1, 0)


class _Capsule:
    """Gives a bare capsule the methods that NumPy asks for."""

    def __init__(self, capsule: Any) -> None:
        self._capsule = capsule

    def __dlpack__(self, **kwargs: Any) -> Any:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return _CPU


def to_dlpack(tf_tensor: Tensor) -> Any:
    """A DLPack capsule with a copy of the tensor's value; strings have none."""
    x = operand(tf_tensor)
    try:
        if x.dtype == bfloat16:  # unknown to NumPy, not to JAX
            near = jax.local_devices(backend="cpu")[0]
            return jax.device_put(x._array.copy(), near).__dlpack__()
        return x.__dlpack__()
    except BufferError as error:
        raise invalid_dtype("to_dlpack", f"{x.dtype.name} cannot be exported", x) from error


def from_dlpack(dlcapsule: Any) -> Tensor:
    """A tensor with the value of a DLPack capsule, or of an array that can make one."""
    source = dlcapsule if hasattr(dlcapsule, "__dlpack__") else _Capsule(dlcapsule)
    try:
        array = _imported(source)
    except (AttributeError, BufferError, RuntimeError, TypeError, ValueError) as error:
        raise invalid(
            "from_dlpack", "this is no DLPack capsule of an array in main memory"
        ) from error
    return wrap(np.array(array, as_dtype(array.dtype).np), caller())


def _imported(source: np.ndarray | _Capsule) -> np.ndarray:
    try:
        return np.from_dlpack(source)
    except (BufferError, RuntimeError) as error:  # the one from NumPy 2.5 on, the other before
        if "dtype" not in str(error):
            raise
        return np.asarray(jax.dlpack.from_dlpack(source))  # bfloat16


if not TYPE_CHECKING:  # a checker knows what is missing
    __getattr__, __dir__ = _namespace("tf.experimental.dlpack", globals())

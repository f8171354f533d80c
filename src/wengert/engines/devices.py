"""The devices that compiled functions run on, and where values are.

A machine without an accelerator has nothing to choose: everything here says so at once. Otherwise
functions run on the first accelerator, or where `tf.device` says; values stay there until
somebody looks at them. Eager operations compute on the CPU, which is said once.
"""

from __future__ import annotations

import functools
import logging
import sys
from contextlib import nullcontext
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from wengert.core.apply import wrap
from wengert.core.context import Scoped
from wengert.core.lazy_modules import jax, module
from wengert.core.tensor import DEVICE_NAME, DeviceTensor, fresh
from wengert.core.types import JaxArray, RawSite, Tensor, Variable
from wengert.core.variable import TAKEN

if TYPE_CHECKING:
    from wengert.ops.row_list import Rows


KINDS = {"gpu": "GPU", "cuda": "GPU", "rocm": "GPU", "metal": "GPU", "tpu": "TPU"}
WISHED: Scoped[Any] = Scoped("wengert_device", None)  # by `tf.device`


@functools.cache
def accelerators() -> dict[str, Any]:
    """JAX's devices other than CPUs by their names, such as `GPU:0`.

    JAX, which takes a second to load, is asked only where a plugin for an accelerator is there.
    """
    if not _has_plugin():
        return {}
    try:
        result = module("jax").local_devices()
    except (ImportError, RuntimeError):  # no JAX, or a driver that does not answer
        return {}
    named: dict[str, Any] = {}
    for device in result:
        kind = KINDS.get(device.platform.lower())
        if kind is not None:
            named[f"{kind}:{sum(n.startswith(kind) for n in named)}"] = device
    if named:
        _say(next(iter(named)))
    return named


def _has_plugin() -> bool:
    return bool(find_spec("jax_plugins") or find_spec("libtpu"))


def cpu() -> Any:
    """JAX's device for the CPU."""
    return module("jax").local_devices(backend="cpu")[0]


def _say(name: str) -> None:
    logging.getLogger("wengert").warning(
        "Functions (@tf.function) run on %s; eager operations compute on the CPU.", name
    )


def target() -> Any:
    """The device of JAX that a function called here runs on; `None` where there is no choice."""
    result = accelerators()
    if not result:
        return None
    wished = WISHED.get()
    if wished is not None:
        return wished
    return jax.config.jax_default_device or next(iter(result.values()))


def far() -> bool:
    """Whether functions called here run away from NumPy's memory."""
    result = accelerators()
    return bool(result) and target() in result.values()


def scope(device: Any) -> Any:
    """A block in which JAX compiles and computes on a device."""
    return nullcontext() if device is None else jax.default_device(device)


def moved(arrays: Any, device: Any) -> list[Any]:
    """Arrays for a program that runs on a device; those of other devices are copied to it."""
    return [
        put(a, device) if hasattr(a, "devices") and a.devices() != {device} else a for a in arrays
    ]


def home(variable: Variable, taken: bool) -> Any:
    """The value of a variable where functions run, put there if need be, and kept there.

    A step that has `taken` it uses its memory again, which must then be nobody else's.
    """
    place = target()
    result = variable._device
    if result is TAKEN:
        return result
    if result is None or place not in result.devices():
        result = put(result if variable._host is None else variable._host, place)
        variable._device = result
    # The variable, the name here and the argument of the count itself.
    return jax.numpy.copy(result) if taken and sys.getrefcount(result) > 3 else result


def ready(variables: list[Variable], taken: list[bool], place: Any) -> list[Any] | None:
    """The values of variables on a device, or `None` if one must first be brought or copied."""
    results = []
    for v, mine in zip(variables, taken, strict=True):
        value = v._device
        if value is None or value is TAKEN or place not in value.devices():
            return None
        if mine and sys.getrefcount(value) > 3:
            return None
        results.append(value)
    return results


def put(array: Any, place: Any) -> Any:
    """An array on a device; JAX would make those of 64 bits narrow if it were not told."""
    if array.dtype.itemsize < 8:
        return jax.device_put(array, place)
    with jax.enable_x64(True):
        return jax.device_put(array, place)


def given(x: Any) -> Any:
    """The value of a tensor where it is."""
    return x._device if type(x) is DeviceTensor else x._array


def tensor(array: JaxArray | np.ndarray | Rows, site: RawSite) -> Tensor:
    """A tensor of an engine's result, which stays where it is until somebody looks."""
    if isinstance(array, np.ndarray):
        return wrap(array, site)
    return fresh(array, site) if name_of(array) is None else DeviceTensor.make(array, site)


def near_tensor(array: Any, site: RawSite) -> Tensor:
    """The same where there is no accelerator."""
    return wrap(array, site) if type(array) is np.ndarray else fresh(array, site)


def name_of(array: Any) -> str | None:
    """The name of the accelerator that an array of JAX is on; `None` for all that is on the CPU.

    That may be an array of JAX as well as what the host engine has: numbers, lists of rows.
    """
    result = accelerators()
    if not result or not hasattr(array, "devices"):
        return None
    places = array.devices()
    return next((name for name, device in result.items() if device in places), None)


DEVICE_NAME.fill(name_of)

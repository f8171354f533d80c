"""The devices of this machine under TensorFlow's names, and which of them are in use.

The CPU is always there. JAX is asked for others, but only when a program asks, and only where a
plugin for an accelerator is installed, since JAX takes a second to load.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from wengert.core.errors import at_site, describe
from wengert.engines.devices import accelerators

_NAME = re.compile(r"(?:.*[/:])?(CPU|GPU|TPU):(\d+)", re.IGNORECASE)


class PhysicalDevice(NamedTuple):
    """A device of this machine."""

    name: str
    device_type: str


class LogicalDevice(NamedTuple):
    """A device as programs address it."""

    name: str
    device_type: str


class LogicalDeviceConfiguration(NamedTuple):
    """One of the logical devices that a physical one is shown as; limits are not enforced."""

    memory_limit: int | None = None
    experimental_priority: int | None = None
    experimental_device_ordinal: int | None = None


_CPU = PhysicalDevice("/physical_device:CPU:0", "CPU")
_hidden: set[PhysicalDevice] = set()
_logical: dict[PhysicalDevice, list[LogicalDeviceConfiguration]] = {}
_growth: dict[PhysicalDevice, bool] = {}


def _accelerators() -> dict[PhysicalDevice, Any]:
    """JAX's devices other than CPUs, under their names here."""
    return {
        PhysicalDevice(f"/physical_device:{name}", name.partition(":")[0]): device
        for name, device in accelerators().items()
    }


def list_physical_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """The devices of this machine, of one type (`"CPU"`, `"GPU"`, `"TPU"`) or all.

    Args:
        device_type: "CPU", "GPU" or "TPU".

    Returns:
        A list of `tf.config.PhysicalDevice`.

    Raises:
        Nothing: a type of which there is none gives an empty list.

    >>> [device.device_type for device in tf.config.list_physical_devices("CPU")]
    ['CPU']
    """
    if device_type == "CPU":
        return [_CPU]
    results = [_CPU, *_accelerators()]
    return [d for d in results if device_type in (None, d.device_type)]


def get_visible_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """The devices in use."""
    return [d for d in list_physical_devices(device_type) if d not in _hidden]


def set_visible_devices(devices: Any, device_type: str | None = None) -> None:
    """Chooses the devices in use, of one type or all; `([], "GPU")` leaves GPUs alone.

    Compiled functions run on the first accelerator that is left, or on the CPU, which is always
    in use.
    """
    several = isinstance(devices, list | tuple) and not isinstance(devices, PhysicalDevice)
    chosen = list(devices) if several else [devices]
    known = list_physical_devices(device_type)
    for device in chosen:
        if device not in known:
            raise at_site(
                ValueError(f"set_visible_devices: there is no device {describe(device)}.")
            )
    _hidden.difference_update(known)
    _hidden.update(d for d in known if d not in chosen and d != _CPU)
    _place()


def _place() -> None:
    """Tells JAX where to compute, where there is a choice."""
    result = _accelerators()
    if not result:
        return
    import jax

    left = [device for d, device in result.items() if d not in _hidden]
    target = left[0] if left else jax.local_devices(backend="cpu")[0]
    jax.config.update("jax_default_device", target)


def list_logical_devices(device_type: str | None = None) -> list[LogicalDevice]:
    """The devices in use, under the names by which programs address them."""
    kinds = ((f"/device:{name}", name.partition(":")[0]) for name in addressable(device_type))
    return [LogicalDevice(name, kind) for name, kind in kinds]


def addressable(device_type: str | None = None) -> dict[str, Any]:
    """The logical devices by short names such as `GPU:1`, with JAX's device, `None` for a CPU."""
    results: dict[str, Any] = {}
    known = _accelerators() if device_type != "CPU" else {}
    for device in get_visible_devices(device_type):
        kind = device.device_type
        for _ in _logical.get(device, [None]):
            number = sum(name.startswith(f"{kind}:") for name in results)
            results[f"{kind}:{number}"] = known.get(device)
    return results


def _known(name: str, device: Any) -> PhysicalDevice:
    if device not in list_physical_devices():
        raise at_site(ValueError(f"{name}: there is no device {describe(device)}."))
    return device


def get_logical_device_configuration(device: Any) -> list[LogicalDeviceConfiguration] | None:
    """How a device is shown, or `None` if that was not said."""
    return _logical.get(_known("get_logical_device_configuration", device))


def set_logical_device_configuration(device: Any, logical_devices: Any) -> None:
    """Shows a device as several, on each of which a strategy can have a replica.

    Replicas on logical devices of one physical device run on it together. Unlike in TensorFlow,
    the number may change at any time; strategies keep the devices that they were made with.

    Args:
        device: one of `list_physical_devices`.
        logical_devices: a list of `LogicalDeviceConfiguration`, one for each.

    Raises:
        ValueError: there is no such device, the list is not of that kind, or limits memory of
            the CPU.

    >>> cpu = tf.config.list_physical_devices("CPU")[0]
    >>> tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
    >>> [device.name for device in tf.config.list_logical_devices("CPU")]
    ['/device:CPU:0', '/device:CPU:1']
    >>> tf.config.set_logical_device_configuration(cpu, None)
    """
    name = "set_logical_device_configuration"
    known = _known(name, device)
    if logical_devices is None:  # as it was
        _logical.pop(known, None)
        return
    listed = list(logical_devices)
    if not listed or not all(isinstance(d, LogicalDeviceConfiguration) for d in listed):
        text = f"{name}: `logical_devices` is a list of tf.config.LogicalDeviceConfiguration()"
        raise at_site(ValueError(f"{text}, one for each device; got {describe(logical_devices)}."))
    if known == _CPU and any(d.memory_limit is not None for d in listed):
        text = f"{name}: the memory of CPUs has no limit. Leave out `memory_limit`."
        raise at_site(ValueError(text))
    _logical[known] = listed


def set_memory_growth(device: Any, enable: bool) -> None:
    """Accepted for accelerators; JAX decides when it starts (`XLA_PYTHON_CLIENT_PREALLOCATE`)."""
    if _known("set_memory_growth", device) == _CPU:
        raise at_site(ValueError("set_memory_growth: the memory of the CPU always grows."))
    _growth[device] = bool(enable)


def get_memory_growth(device: Any) -> bool:
    """What `set_memory_growth` was told; `KeyError` for the CPU."""
    if _known("get_memory_growth", device) == _CPU:
        raise at_site(KeyError(device))
    return _growth.get(device, False)


def get_device_details(device: Any) -> dict[str, Any]:
    """The model and, of NVIDIA's, the compute capability of an accelerator; nothing of a CPU."""
    if not isinstance(device, PhysicalDevice):
        raise at_site(
            ValueError(f"get_device_details: a physical device is needed; got {describe(device)}.")
        )
    cached = _accelerators().get(device)
    if cached is None:
        return {}
    details: dict[str, Any] = {"device_name": cached.device_kind}
    capability = getattr(cached, "compute_capability", None)
    if capability is not None:
        details["compute_capability"] = tuple(int(n) for n in str(capability).split("."))
    return details


def _addressed(name: str, device: str) -> PhysicalDevice:
    """The device of a name such as `"GPU:0"`."""
    match = _NAME.fullmatch(device)
    if match is None:
        raise at_site(
            ValueError(f'{name}: a device is named like "GPU:0"; got {describe(device)}.')
        )
    wanted = PhysicalDevice(f"/physical_device:{match[1].upper()}:{match[2]}", match[1].upper())
    if wanted not in list_physical_devices():
        raise at_site(ValueError(f"{name}: there is no device {device}."))
    return wanted


def get_memory_info(device: str) -> dict[str, int]:
    """The bytes in use on an accelerator, now and at most; 0 for the CPU."""
    cached = _accelerators().get(_addressed("get_memory_info", device))
    stats = (cached.memory_stats() if cached is not None else None) or {}
    return {"current": stats.get("bytes_in_use", 0), "peak": stats.get("peak_bytes_in_use", 0)}


def get_memory_usage(device: str) -> int:
    """The bytes in use on an accelerator; 0 for the CPU."""
    return get_memory_info(device)["current"]


def reset_memory_stats(device: str) -> None:
    """Accepted; JAX keeps the peak from the start of the program."""
    _addressed("reset_memory_stats", device)

"""The devices of replicas: names checked, spelt out in full, and what of JAX stands behind them.

Several logical devices may share one physical device; their replicas then run on it together.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from wengert.core.errors import at_site, describe
from wengert.core.tensor import full_name
from wengert.runtime.hardware import (
    addressable,
    get_logical_device_configuration,
    list_physical_devices,
)
from wengert.runtime.placement import parse_device
from wengert.runtime.settings import get_soft_device_placement


def replica_device(name: str, device: Any) -> str:
    """The full name of a device, given by a name or as a device of `tf.config`.

    Raises:
        ValueError: it is not the name of a device, or there is no such device here.
    """
    parsed = parse_device(name, device)
    if parsed is None:
        text = f'{name}: a device is named like "GPU:0"; got {describe(device)}.'
        raise at_site(ValueError(text))
    kind, number = parsed
    short = f"{kind}:{number}"
    known = addressable()
    if short not in known and not (kind == "CPU" and _is_free()):
        raise at_site(ValueError(f"{name}: {_unknown(short, kind, known)}"))
    return full_name(short)


def _is_free() -> bool:
    """Whether nobody has said how many CPUs there are: then there are as many as are named.

    TensorFlow puts replicas of CPUs that are not there on one that is, while placement is soft.
    """
    cpu = list_physical_devices("CPU")[0]
    return get_soft_device_placement() and get_logical_device_configuration(cpu) is None


def _unknown(short: str, kind: str, known: dict[str, Any]) -> str:
    text = f"there is no device {short}; there are {', '.join(known)}."
    if kind == "CPU":
        text += (
            " To show the CPU as so many devices, call"
            ' tf.config.set_logical_device_configuration(tf.config.list_physical_devices("CPU")[0],'
            " [tf.config.LogicalDeviceConfiguration()] * 4) before."
        )
    return text


def replica_devices(name: str, devices: Iterable[Any] | None) -> tuple[str, ...]:
    """The full names of a list of devices; of all that there are where none are listed."""
    if devices is None:
        return default_devices()
    if isinstance(devices, str) or not isinstance(devices, Iterable):
        text = f'{name}: `devices` is a list of names, such as ["GPU:0", "GPU:1"]'
        raise at_site(TypeError(f"{text}; got {describe(devices)}."))
    results = tuple(replica_device(name, d) for d in devices)
    twice = [d for k, d in enumerate(results) if d in results[:k]]
    if twice:
        text = f"{name}: each device has one replica; got {twice[0]} twice. Name each device once."
        raise at_site(ValueError(text))
    return results or default_devices()


def default_devices() -> tuple[str, ...]:
    """All accelerators, or all logical CPUs where there is none."""
    known = addressable()
    accelerators = [d for d in known if not d.startswith("CPU")]
    return tuple(full_name(d) for d in accelerators or known)


def devices_of_kind(kind: str) -> tuple[str, ...]:
    """All devices of one kind."""
    return tuple(full_name(d) for d in addressable() if d.startswith(f"{kind}:"))


def jax_devices(devices: Iterable[str]) -> tuple[Any, ...]:
    """JAX's device behind each name; `None` for a CPU."""
    known = addressable()
    return tuple(known.get(d.rpartition("device:")[2]) for d in devices)

"""The names of `tf.config` that eager programs use: which devices there are."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, NamedTuple

from wengert.core.missing import missing as _missing


class PhysicalDevice(NamedTuple):
    """A device of this machine."""

    name: str
    device_type: str


class LogicalDevice(NamedTuple):
    """A device as programs address it."""

    name: str
    device_type: str


def list_physical_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """The devices that eager operations compute on: the CPU."""
    found = [PhysicalDevice("/physical_device:CPU:0", "CPU")]
    return [d for d in found if device_type in (None, d.device_type)]


def list_logical_devices(device_type: str | None = None) -> list[LogicalDevice]:
    """The devices that eager operations compute on, under their logical names."""
    found = [LogicalDevice("/device:CPU:0", "CPU")]
    return [d for d in found if device_type in (None, d.device_type)]


def get_visible_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """The devices in use."""
    return list_physical_devices(device_type)


def set_visible_devices(devices: Any, device_type: str | None = None) -> None:
    """Accepted; there is one device, and it is in use."""


def _set_memory_growth(device: Any, enable: bool) -> None:
    """Accepted; memory grows as it is needed."""


def _enable_op_determinism() -> None:
    """Accepted; the same program gives the same numbers as it is."""


experimental = SimpleNamespace(
    enable_op_determinism=_enable_op_determinism,
    list_physical_devices=list_physical_devices,
    list_logical_devices=list_logical_devices,
    set_memory_growth=_set_memory_growth,
)

__getattr__ = _missing("tf.config", globals())

"""`tf.device` and its kin: accepted everywhere, since eager operations run on the CPU."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def device(device_name: Any) -> Iterator[None]:
    """Names a device for a block; eager operations compute on the CPU whatever it says."""
    yield


@contextmanager
def control_dependencies(control_inputs: Any) -> Iterator[None]:
    """Orders operations in TensorFlow's graphs; eager code is in order as it is."""
    yield

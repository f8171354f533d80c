"""Classes of `tf.experimental.dtensor` of which there are no objects: Keras 2 tells others by them."""

from __future__ import annotations

from typing import Any

from wengert.core.errors import at_site


class _Absent:
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        text = f"{type(self).__name__}: Wengert has no DTensors. See tf.distribute."
        raise at_site(NotImplementedError(text))


class DTensorDataset(_Absent):
    """A dataset over a mesh of devices; Keras 2 tells it from other datasets."""


class DVariable(_Absent):
    """A variable over a mesh of devices; Keras 2 tells it from other variables."""

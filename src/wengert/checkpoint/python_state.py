"""`PythonState`: state that is no variable, kept in a checkpoint as a string."""

from __future__ import annotations

import abc
from typing import TYPE_CHECKING

from wengert.checkpoint.trackable import Trackable

if TYPE_CHECKING:
    from wengert.core.tensor import Tensor


_NAME = "py_state"


class PythonState(Trackable, abc.ABC):
    """The base of objects that turn their state into a string and back."""

    @abc.abstractmethod
    def serialize(self) -> str | bytes:
        """The state as a string."""

    @abc.abstractmethod
    def deserialize(self, string_value: bytes) -> None:
        """Takes a state that `serialize` made."""

    def _serialize_to_tensors(self) -> dict[str, Tensor]:
        from wengert.core.convert import to_tensor

        return {_NAME: to_tensor(self.serialize())}

    def _restore_from_tensors(self, restored_tensors: dict[str, Tensor]) -> None:
        self.deserialize(restored_tensors[_NAME].numpy())

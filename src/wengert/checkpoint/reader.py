"""Reading tensors out of a checkpoint by their keys, without any objects."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from wengert.checkpoint.format import Reader
from wengert.checkpoint.state_file import latest_checkpoint
from wengert.core.errors import NotFoundError, at_site, describe
from wengert.core.types import DType
from wengert.io.paths import local, refused

if TYPE_CHECKING:
    import numpy as np

    from wengert.core.types import NumpyValue


class CheckpointReader:
    """The tensors of a checkpoint, or of another safetensors file."""

    def __init__(self, name: str, path: str) -> None:
        self._reader = Reader(name, path)

    def get_variable_to_shape_map(self) -> dict[str, list[int]]:
        """The shape of each tensor by its key."""
        return {k: list(e.shape) for k, e in sorted(self._reader.entries.items())}

    def get_variable_to_dtype_map(self) -> dict[str, DType]:
        """The dtype of each tensor by its key."""
        return {k: e.dtype for k, e in sorted(self._reader.entries.items())}

    def has_tensor(self, tensor_str: str) -> bool:
        """Whether there is such a key."""
        return tensor_str in self._reader.entries

    def get_tensor(self, tensor_str: str) -> bytes | np.generic | np.ndarray:
        """The tensor as a NumPy array, or a NumPy scalar for rank 0."""
        if tensor_str not in self._reader.entries:
            rule = f"there is no tensor {tensor_str!r} in this file"
            advice = "tf.train.list_variables(path) lists them."
            raise refused("load_checkpoint", rule, self._reader.path, advice, NotFoundError)
        array = self._reader.read(tensor_str)
        return array if array.ndim else array[()]

    def debug_string(self) -> bytes:
        """A line for each tensor: key, dtype and shape."""
        lines = [f"{k} ({e.dtype.name}) {list(e.shape)}" for k, e in self._reader.entries.items()]
        return "\n".join(sorted(lines)).encode()


def _find(name: str, ckpt_dir_or_file: Any) -> CheckpointReader:
    path = local(name, ckpt_dir_or_file)
    if os.path.isdir(path):
        latest = latest_checkpoint(path)
        if latest is None:
            raise at_site(ValueError(f"{name}: there is no checkpoint in the folder {path}."))
        path = latest
    return CheckpointReader(name, path)


def load_checkpoint(ckpt_dir_or_file: Any) -> CheckpointReader:
    """Opens a checkpoint, or the latest of a folder, to read tensors by their keys."""
    return _find("load_checkpoint", ckpt_dir_or_file)


def list_variables(ckpt_dir_or_file: Any) -> list[tuple[str, list[int]]]:
    """The keys and shapes of a checkpoint, or of the latest of a folder."""
    return list(_find("list_variables", ckpt_dir_or_file).get_variable_to_shape_map().items())


def load_variable(ckpt_dir_or_file: Any, name: str) -> NumpyValue:
    """The value under a key, as a NumPy array."""
    if not isinstance(name, str):
        raise at_site(TypeError(f"load_variable: `name` must be a string; got {describe(name)}."))
    value: Any = _find("load_variable", ckpt_dir_or_file).get_tensor(name.removesuffix(":0"))
    return value

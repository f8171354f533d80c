"""Composites as `tf.print` and `tf.strings.format` show them."""

from __future__ import annotations

from typing import Any

from wengert.composite.ragged_tensor import RaggedTensor
from wengert.composite.sparse_tensor import SparseTensor
from wengert.core import nest
from wengert.ops import public as tf
from wengert.ops.text import structure_text


class _Text:
    """Something that is shown as it stands."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


def print_(*inputs: Any, summarize: int = 3, **options: Any) -> None:
    """Prints tensors, composites and anything else."""
    tf.print_(*_shown(inputs, summarize), summarize=summarize, **options)


def string_format(
    template: str, inputs: Any, placeholder: str = "{}", summarize: int = 3, name: Any = None
) -> Any:
    """Puts tensors and composites into a text, each at its placeholder."""
    values = inputs if isinstance(inputs, list | tuple) else [inputs]
    return tf.string_format(template, list(_shown(values, summarize)), placeholder, summarize)


def _shown(values: Any, summarize: int) -> Any:
    return nest.map_structure(lambda v: _one(v, summarize), values)


def _one(value: Any, summarize: int) -> Any:
    if isinstance(value, RaggedTensor):
        return _Text(_rows(value.to_list(), summarize))
    if isinstance(value, SparseTensor):
        parts = [structure_text(p, summarize) for p in (value.indices, value.values)]
        shape = structure_text(value.dense_shape, summarize)
        return _Text(f"'SparseTensor(indices={parts[0]}, values={parts[1]}, shape={shape})'")
    return value


def _rows(value: Any, summarize: int) -> str:
    if isinstance(value, list):
        shown = [_rows(v, summarize) for v in value]
        if 0 <= 2 * summarize < len(shown):
            shown = [*shown[:summarize], "...", *shown[len(shown) - summarize :]]
        return f"[{', '.join(shown)}]"
    if isinstance(value, bytes):
        return repr(value.decode(errors="replace"))
    return f"{value:.6f}" if isinstance(value, float) else str(value)

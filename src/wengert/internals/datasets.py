"""What `tf.compat.v1.data` asks of datasets and iterators, as far as it runs eagerly."""

from __future__ import annotations

from typing import Any

from wengert.core import nest


def get_output_shapes(dataset_or_iterator: Any) -> Any:
    """The shapes of the elements."""
    return _of_specs(dataset_or_iterator, lambda spec: spec.shape)


def get_output_types(dataset_or_iterator: Any) -> Any:
    """The dtypes of the elements."""
    return _of_specs(dataset_or_iterator, lambda spec: spec.dtype)


def get_output_classes(dataset_or_iterator: Any) -> Any:
    """The classes of the elements."""
    return _of_specs(dataset_or_iterator, lambda spec: spec.value_type)


def _of_specs(source: Any, part: Any) -> Any:
    return nest.map_structure(part, source.element_spec)


def make_one_shot_iterator(dataset: Any) -> Any:
    """An iterator over the dataset."""
    return iter(dataset)

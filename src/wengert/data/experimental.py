"""The names of `tf.data.experimental` that programs use, most of them older forms of methods."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from wengert.composite.optional import Optional, OptionalSpec
from wengert.core import nest
from wengert.core.apply import wrap
from wengert.core.errors import OutOfRangeError, at_site, describe, invalid, require, unexpected
from wengert.core.missing_names import namespace as _namespace
from wengert.data.batching import common_spec
from wengert.data.csv_datasets import CsvDataset, make_csv_dataset
from wengert.data.dataset import Dataset
from wengert.data.dataset_options import (
    AutoShardPolicy,
    AutotuneAlgorithm,
    AutotuneOptions,
    DistributeOptions,
    ExternalStatePolicy,
    OptimizationOptions,
    ServiceOptions,
    ThreadingOptions,
)
from wengert.data.elementwise import AssertCardinality
from wengert.data.grouping import GroupByReducer, Reducer
from wengert.data.plan import AUTOTUNE, INFINITE_CARDINALITY, UNKNOWN_CARDINALITY, static_int
from wengert.data.sources import Tensors
from wengert.data.structure import blank, normalize

if TYPE_CHECKING:
    from wengert.core.types import Tensor, TensorSpec


__all__ = [
    "AUTOTUNE", "AutoShardPolicy", "AutotuneAlgorithm", "AutotuneOptions", "Counter",
    "CsvDataset", "DistributeOptions", "ExternalStatePolicy", "INFINITE_CARDINALITY",
    "OptimizationOptions", "Optional", "OptionalSpec", "RandomDataset", "Reducer", "ServiceOptions", "ThreadingOptions",
    "UNKNOWN_CARDINALITY", "assert_cardinality", "at", "bucket_by_sequence_length", "cardinality",
    "choose_from_datasets", "copy_to_device", "dense_to_ragged_batch", "dense_to_sparse_batch",
    "enable_debug_mode", "enumerate_dataset", "from_list", "get_next_as_optional",
    "get_single_element", "get_structure", "group_by_reducer", "group_by_window", "ignore_errors", "load",
    "make_csv_dataset", "map_and_batch", "pad_to_cardinality", "parallel_interleave",
    "prefetch_to_device", "rejection_resample", "sample_from_datasets", "save", "scan", "shuffle_and_repeat", "snapshot",
    "take_while", "unbatch", "unique",
]  # fmt: skip

Step = Callable[[Dataset], Dataset]

Counter = Dataset.counter
RandomDataset = Dataset.random
sample_from_datasets = Dataset.sample_from_datasets


def choose_from_datasets(
    datasets: Any, choice_dataset: Dataset, stop_on_empty_dataset: bool = False
) -> Dataset:
    """Elements of several datasets; the elements of `choice_dataset` say of which."""
    return Dataset.choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset)


def cardinality(dataset: Dataset) -> Tensor:
    """The number of elements of a dataset."""
    return _known("cardinality", dataset).cardinality()


def assert_cardinality(expected_cardinality: int) -> Step:
    """A step for `apply` that says how many elements there are, and checks it."""
    expected = static_int("assert_cardinality", "expected_cardinality", expected_cardinality)
    return lambda dataset: Dataset(AssertCardinality(dataset._plan, expected))


def at(dataset: Dataset, index: int) -> Tensor:
    """The element at an index."""
    position = static_int("at", "index", index)
    _known("at", dataset)
    count = dataset._plan.cardinality()
    if position >= 0 and (count < 0 or position < count):
        for element in islice(dataset, position, None):
            return element
    raise invalid("at", f"there is no element {position}", kind=OutOfRangeError)


def from_list(elements: list[tuple[int, str]], name: str | None = None) -> Dataset:
    """A dataset of the elements of a list."""
    if not isinstance(elements, list | tuple):
        raise unexpected("from_list", "a list of elements", elements)
    require(elements, "from_list", "give at least one element", kind=ValueError)
    parts = [Tensors([normalize(e)]) for e in elements]
    return Dataset(Tensors([p.values[0] for p in parts], common_spec("from_list", parts)))


def get_next_as_optional(iterator: Any) -> Optional:
    """The next element of an iterator as an optional."""
    if not hasattr(iterator, "get_next_as_optional"):
        raise unexpected("get_next_as_optional", "an iterator of a dataset", iterator)
    return iterator.get_next_as_optional()


def get_single_element(dataset: Dataset) -> Any:
    """The only element of a dataset."""
    return _known("get_single_element", dataset).get_single_element()


def _known(name: str, dataset: Dataset) -> Dataset:
    require(
        isinstance(dataset, Dataset), name, "a tf.data.Dataset is needed", dataset, kind=TypeError
    )
    return dataset


def get_structure(dataset_or_iterator: Dataset) -> TensorSpec:
    """The spec of the elements."""
    if not hasattr(dataset_or_iterator, "element_spec"):
        words = "get_structure: a dataset or an iterator is needed"
        raise at_site(TypeError(f"{words}; got {describe(dataset_or_iterator)}."))
    return dataset_or_iterator.element_spec


def prefetch_to_device(device: Any, buffer_size: Any = None) -> Step:
    """A step for `apply` that makes elements ahead of time; functions move them to the device."""
    return lambda dataset: dataset.prefetch(AUTOTUNE if buffer_size is None else buffer_size)


def copy_to_device(target_device: Any, source_device: str = "/cpu:0") -> Step:
    """A step for `apply` that leaves the elements where they are: functions move them."""
    return lambda dataset: dataset


def enable_debug_mode() -> None:
    """Accepted: the functions of a dataset are called eagerly as it is."""


def enumerate_dataset(start: int = 0) -> Step:
    """`Dataset.enumerate` as a step for `apply`."""
    return lambda dataset: dataset.enumerate(start)


def ignore_errors(log_warning: bool = False) -> Step:
    """`Dataset.ignore_errors` as a step for `apply`."""
    return lambda dataset: dataset.ignore_errors(log_warning)


def scan(initial_state: Any, scan_func: Callable[..., Any]) -> Step:
    """`Dataset.scan` as a step for `apply`."""
    return lambda dataset: dataset.scan(initial_state, scan_func)


def take_while(predicate: Callable[..., Any]) -> Step:
    """`Dataset.take_while` as a step for `apply`."""
    return lambda dataset: dataset.take_while(predicate)


def unbatch() -> Step:
    """`Dataset.unbatch` as a step for `apply`."""
    return lambda dataset: dataset.unbatch()


def unique() -> Step:
    """`Dataset.unique` as a step for `apply`."""
    return lambda dataset: dataset.unique()


def dense_to_ragged_batch(
    batch_size: Any, drop_remainder: bool = False, row_splits_dtype: str = "int64"
) -> Step:
    """`Dataset.ragged_batch` as a step for `apply`."""
    return lambda dataset: dataset.ragged_batch(batch_size, drop_remainder, row_splits_dtype)


def dense_to_sparse_batch(batch_size: Any, row_shape: Any) -> Step:
    """`Dataset.sparse_batch` as a step for `apply`."""
    return lambda dataset: dataset.sparse_batch(batch_size, row_shape)


def rejection_resample(
    class_func: Callable[..., Any], target_dist: Any, initial_dist: Any = None, seed: Any = None
) -> Step:
    """`Dataset.rejection_resample` as a step for `apply`."""
    return lambda dataset: dataset.rejection_resample(class_func, target_dist, initial_dist, seed)


def snapshot(path: Any, compression: str | None = "AUTO", *args: Any, **kwargs: Any) -> Step:
    """`Dataset.snapshot` as a step for `apply`."""
    return lambda dataset: dataset.snapshot(path, compression, *args, **kwargs)


def save(dataset: Dataset, path: Any, *args: Any, **kwargs: Any) -> None:
    """Writes the elements of a dataset to a folder."""
    if not isinstance(dataset, Dataset):
        raise unexpected("save", "a dataset", dataset)
    dataset.save(path, *args, **kwargs)


load = Dataset.load


def map_and_batch(
    map_func: Callable[..., Any],
    batch_size: Any,
    num_parallel_batches: Any = None,
    drop_remainder: bool = False,
    num_parallel_calls: Any = None,
) -> Step:
    """`Dataset.map` and `Dataset.batch` as a step for `apply`."""
    return lambda dataset: dataset.map(map_func, num_parallel_calls).batch(
        batch_size, drop_remainder
    )


def shuffle_and_repeat(buffer_size: Any, count: Any = None, seed: Any = None) -> Step:
    """`Dataset.shuffle` and `Dataset.repeat` as a step for `apply`."""
    return lambda dataset: dataset.shuffle(buffer_size, seed).repeat(count)


def parallel_interleave(
    map_func: Callable[..., Any],
    cycle_length: Any,
    block_length: int = 1,
    sloppy: bool = False,
    buffer_output_elements: Any = None,
    prefetch_input_elements: Any = None,
) -> Step:
    """`Dataset.interleave` with threads as a step for `apply`."""
    return lambda dataset: dataset.interleave(map_func, cycle_length, block_length, cycle_length)


def group_by_reducer(key_func: Callable[..., Any], reducer: Reducer) -> Step:
    """A step for `apply` that reduces the elements of each key to one."""
    return lambda dataset: Dataset(GroupByReducer(dataset._plan, key_func, reducer))


def group_by_window(
    key_func: Callable[..., Any],
    reduce_func: Callable[..., Any],
    window_size: Any = None,
    window_size_func: Callable[..., Any] | None = None,
) -> Step:
    """`Dataset.group_by_window` as a step for `apply`."""
    return lambda dataset: dataset.group_by_window(
        key_func, reduce_func, window_size, window_size_func
    )


def bucket_by_sequence_length(*args: Any, **kwargs: Any) -> Step:
    """`Dataset.bucket_by_sequence_length` as a step for `apply`."""
    return lambda dataset: dataset.bucket_by_sequence_length(*args, **kwargs)


def pad_to_cardinality(cardinality: int, mask_key: str = "valid") -> Step:
    """A step for `apply` that fills up with zeros; `mask_key` says which elements are real."""
    wanted = static_int("pad_to_cardinality", "cardinality", cardinality)

    def padded(dataset: Dataset) -> Dataset:
        def marked(element: dict[str, Any]) -> dict[str, Tensor | np.generic]:
            return {**element, mask_key: np.True_}

        def zeros(x: Tensor) -> Tensor:
            return wrap(blank(x._array.shape, x._array.dtype))

        count = len(dataset)
        require(
            count <= wanted,
            "pad_to_cardinality",
            f"there are {count} elements, more than the {wanted} asked",
            kind=ValueError,
        )
        filling = nest.map_structure(zeros, normalize(marked(dataset._plan.sample())))
        rest = Dataset.from_tensors(filling).repeat(wanted - count)
        return dataset.map(marked).concatenate(rest)

    return padded


if not TYPE_CHECKING:  # a checker knows what is missing
    __getattr__, __dir__ = _namespace("tf.data.experimental", globals())

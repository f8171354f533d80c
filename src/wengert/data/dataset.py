"""`tf.data.Dataset`, whose methods describe a pipeline step by step.

The methods check their arguments and make plans; nothing is computed until somebody iterates.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from wengert.core import dtypes
from wengert.core.apply import wrap
from wengert.core.errors import at_site, invalid, require
from wengert.core.resources import Resource
from wengert.core.types import DTypeLike, Tensor, TensorLike, Value, Values
from wengert.data import buckets, dataset_arguments, elementwise, grouping, mixing, ordering
from wengert.data.batching import Batch, Rebatch, Unbatch
from wengert.data.dataset_options import Options
from wengert.data.factories import Factories
from wengert.data.graph_iterators import (
    TracedIterator,
    bound,
    not_in_python,
    reduced,
    single,
    started,
)  # fmt: skip
from wengert.data.iterator import NumpyIterator, OwnedIterator
from wengert.data.iterator_specs import DatasetSpec
from wengert.data.padding import PaddedBatch
from wengert.data.parallel import Prefetch
from wengert.data.plan import (
    AUTOTUNE,
    INFINITE_CARDINALITY,
    UNKNOWN_CARDINALITY,
    Plan,
    Run,
    positive,
    static_int,
    workers,
)
from wengert.data.ragged_batches import RaggedBatch, SparseBatch
from wengert.data.resampling import Resample
from wengert.data.save import OnDisk, Saving
from wengert.data.structure import normalize, spec_of
from wengert.data.user_functions import UserFunction
from wengert.graph.builder import building
from wengert.io.paths import local
from wengert.ops.declare import static_tuple

if TYPE_CHECKING:
    from wengert.data.captured_tensors import Captured
    from wengert.data.dataset_arguments import DatasetArgument, DatasetSignature


class DatasetV2:
    """A base without contents: Keras knows a dataset by this name and module among its bases."""

    __module__ = "tensorflow.python.data.ops.dataset_ops"


class Dataset(Factories, Saving, Resource, DatasetV2):
    """Elements that are made one after the other, as often as somebody iterates.

    Args:
        plan: what the functions `from_...`, `range` and the methods make; programs call those.

    Raises:
        TypeError: something else is given.

    >>> dataset = tf.data.Dataset.range(6).map(lambda x: x * x).batch(4)
    >>> [batch.numpy().tolist() for batch in dataset]
    [[0, 1, 4, 9], [16, 25]]
    """

    _what = "a dataset"
    _remedy = "Build it in the process that uses it, or write its elements with save()."

    _plan: Plan

    def __init__(self, plan: Plan) -> None:
        if not isinstance(plan, Plan):
            raise TypeError("Dataset: use Dataset.from_tensor_slices and its kin to make one.")
        self._plan = plan
        self._number: Any = None

    # As an argument of functions; see `dataset_arguments`.

    def __tf_flatten__(self) -> tuple[DatasetSignature, list[Tensor]]:
        return dataset_arguments.flatten_dataset(self, bound)

    @classmethod
    def __tf_unflatten__(cls, rest: DatasetSignature, parts: list[Tensor]) -> Dataset:
        return dataset_arguments.unflatten_dataset(cls, rest, parts)

    # What is asked of a dataset.

    @property
    def element_spec(self) -> Any:
        """The shapes and dtypes of the elements.

        After `map` they are found by running the function once without values, or on the first
        element where it needs values.
        """
        return self._plan.spec

    @property
    def _type_spec(self) -> DatasetSpec:
        return DatasetSpec(self.element_spec)

    def cardinality(self) -> Tensor:
        """The number of elements, or `INFINITE_CARDINALITY` or `UNKNOWN_CARDINALITY`."""
        return wrap(np.array(self._plan.cardinality(), np.int64))

    def __len__(self) -> int:
        count = self._plan.cardinality()
        require(count != INFINITE_CARDINALITY, "len", "the dataset is infinite", kind=TypeError)
        require(
            count != UNKNOWN_CARDINALITY,
            "len",
            "the length of the dataset is unknown",
            kind=TypeError,
        )
        return count

    def __bool__(self) -> bool:
        return True

    def __iter__(self) -> OwnedIterator:
        if building() is not None:
            raise at_site(not_in_python("dataset"))
        return OwnedIterator(self._plan)

    def traced_steps(self) -> TracedIterator:
        """The iteration of a loop in a converted function."""
        return started(self, OwnedIterator)

    def __repr__(self) -> str:
        spec = self._plan.spec if self._plan.spec_known else "..."
        return f"<{self._plan.kind} element_spec={spec}>"

    def as_numpy_iterator(self) -> NumpyIterator:
        """The elements as NumPy values."""
        return NumpyIterator(self)

    def get_single_element(self, name: str | None = None) -> Any:
        """The only element; an error where there are none or more."""
        if building() is not None:
            return single(self)
        return self._single(None)

    def _single(
        self, given: dict[Captured | DatasetArgument, list[Tensor] | Dataset] | None
    ) -> Any:
        result = self._plan.start(Run(self._plan.options, given))
        missing = object()
        element = next(result, missing)
        require(element is not missing, "get_single_element", "the dataset is empty")
        require(
            next(result, missing) is missing,
            "get_single_element",
            "the dataset has more than one element",
        )
        return element

    def reduce(
        self,
        initial_state: Values,
        reduce_func: Callable[..., Any],
        name: str | None = None,
    ) -> Any:
        """Takes all elements together: `reduce_func(state, element)` gives the next state."""
        function = UserFunction("reduce", reduce_func, "reduce_func")
        state = normalize(initial_state)
        if building() is not None:
            return reduced(self, state, spec_of(state), function)
        return self._reduced(state, function, None)

    def _reduced(
        self,
        state: Tensor | tuple[Tensor, ...],
        function: UserFunction,
        given: dict[Captured | DatasetArgument, list[Tensor] | Dataset] | None,
    ) -> Any:
        form, kind = state, spec_of(state)
        run = Run(self._plan.options, given)
        draws = function.draws(run)
        for element in self._plan.start(run):
            state = elementwise.shaped_like(form, function((state, element), next(draws)))
            kind = elementwise.same_state(function, kind, state)
        return state

    # Steps that look at single elements.

    def map(
        self,
        map_func: Callable[..., Any],
        num_parallel_calls: int | None = None,
        deterministic: bool | None = None,
        synchronous: bool | None = None,
        use_unbounded_threadpool: bool = False,
        name: str | None = None,
    ) -> Dataset:
        """Applies a function to every element.

        Here it runs once on tensors without values, for the spec of its results and its errors.
        `num_parallel_calls` is how many calls may run at once, in threads; their results keep
        their order unless `deterministic=False`. Quick functions are called in place.

        Args:
            map_func: a function of an element; of the parts of a tuple, one argument each.
            num_parallel_calls: how many calls may run at once, or `tf.data.AUTOTUNE`.
            deterministic: with `False` results may change their order.
            synchronous, use_unbounded_threadpool: without effect.
            name: without effect.

        Returns:
            A dataset.

        Raises:
            ValueError: `map_func` is not callable.
            ValueError: `num_parallel_calls` is no positive number.

        >>> [int(x) for x in tf.data.Dataset.range(3).map(lambda x: x * 10)]
        [0, 10, 20]
        """
        function = UserFunction("map", map_func)
        most = workers("map", num_parallel_calls)
        return Dataset(elementwise.Map(self._plan, function, most, deterministic))

    def filter(self, predicate: Callable[..., Any], name: str | None = None) -> Dataset:
        """The elements for which a function returns true.

        Args:
            predicate: a function of an element that gives one truth.
            name: without effect.

        Returns:
            A dataset of unknown length.

        Raises:
            ValueError: `predicate` is not callable.
            ValueError: it does not give a scalar truth.

        >>> [int(x) for x in tf.data.Dataset.range(5).filter(lambda x: x % 2 == 0)]
        [0, 2, 4]
        """
        function = UserFunction("filter", predicate, "predicate")
        return Dataset(elementwise.Filter(self._plan, function))

    def take_while(self, predicate: Callable[..., Any], name: str | None = None) -> Dataset:
        """The elements before the first for which a function returns false."""
        function = UserFunction("take_while", predicate, "predicate")
        return Dataset(elementwise.TakeWhile(self._plan, function))

    def scan(
        self, initial_state: Tensor | float, scan_func: Callable[..., Any], name: str | None = None
    ) -> Dataset:
        """Maps with a memory: `scan_func(state, element)` gives the next state and a result."""
        function = UserFunction("scan", scan_func, "scan_func")
        return Dataset(elementwise.Scan(self._plan, initial_state, function))

    def ignore_errors(self, log_warning: bool = False, name: str | None = None) -> Dataset:
        """Leaves out the elements that raise an error."""
        return Dataset(elementwise.IgnoreErrors(self._plan, log_warning))

    # Steps that choose and order.

    def take(self, count: int, name: str | None = None) -> Dataset:
        """The first `count` elements; all of them for -1.

        Args:
            count: how many.
            name: without effect.

        Returns:
            A dataset.

        Raises:
            TypeError: `count` is no whole number.

        >>> [int(x) for x in tf.data.Dataset.range(5).take(2)]
        [0, 1]
        """
        number = static_int("take", "count", count)
        return Dataset(ordering.Cut("_TakeDataset", self._plan, 0, None if number < 0 else number))

    def skip(self, count: int, name: str | None = None) -> Dataset:
        """All but the first `count` elements; none for -1.

        Args:
            count: how many.
            name: without effect.

        Returns:
            A dataset.

        Raises:
            TypeError: `count` is no whole number.

        >>> [int(x) for x in tf.data.Dataset.range(5).skip(3)]
        [3, 4]
        """
        number = static_int("skip", "count", count)
        if number < 0:
            return Dataset(ordering.nothing(self._plan))
        return Dataset(ordering.Cut("_SkipDataset", self._plan, number, None))

    def shard(self, num_shards: int, index: int, name: str | None = None) -> Dataset:
        """Every `num_shards`-th element, from number `index` on."""
        count, first = (
            static_int("shard", "num_shards", num_shards),
            static_int("shard", "index", index),
        )
        return Dataset(ordering.shard(self._plan, count, first))

    def repeat(self, count: int | None = None, name: str | None = None) -> Dataset:
        """The elements `count` times over, or without end.

        Args:
            count: how often; `None` or -1 is without end.
            name: without effect.

        Returns:
            A dataset.

        Raises:
            TypeError: `count` is no whole number.

        >>> [int(x) for x in tf.data.Dataset.range(2).repeat(2)]
        [0, 1, 0, 1]
        """
        number = -1 if count is None else static_int("repeat", "count", count)
        return Dataset(ordering.Repeat(self._plan, number))

    def shuffle(
        self,
        buffer_size: int,
        seed: int | str | None = None,
        reshuffle_each_iteration: bool | None = True,
        name: str | None = None,
    ) -> Dataset:
        """The elements in random order, drawn from a buffer of `buffer_size` of them.

        The order is uniform when the buffer holds the whole dataset. Every iteration has a new
        order unless `reshuffle_each_iteration=False`; seeds make the orders repeat from run to
        run.

        Args:
            buffer_size: how many elements wait to be drawn, at least 1.
            seed: a seed; the global one counts, too.
            reshuffle_each_iteration: with `False` every iteration has the same order.
            name: without effect.

        Returns:
            A dataset.

        Raises:
            InvalidArgumentError: `buffer_size` is below 1.

        >>> sorted(int(x) for x in tf.data.Dataset.range(4).shuffle(4, seed=1))
        [0, 1, 2, 3]
        """
        size = static_int("shuffle", "buffer_size", buffer_size)
        if size != UNKNOWN_CARDINALITY:
            positive("shuffle", "buffer_size", size)
        again = reshuffle_each_iteration is not False
        return Dataset(ordering.Shuffle(self._plan, size, seed, again))

    def cache(self, filename: TensorLike = "", name: str | None = None) -> Dataset:
        """Keeps the elements once they were all seen: in memory, or in a file of this name.

        Args:
            filename: where to keep them; in memory by default.
            name: without effect.

        Returns:
            A dataset.

        Raises:
            NotFoundError: the folder of the file is not there, when somebody iterates.

        >>> dataset = tf.data.Dataset.range(2).cache()
        >>> [int(x) for x in dataset], [int(x) for x in dataset]
        ([0, 1], [0, 1])
        """
        if isinstance(filename, Value):
            filename = filename.numpy()
        if filename:
            return Dataset(OnDisk("cache", self._plan, f"{local('cache', filename)}.zip"))
        return Dataset(ordering.Cache(self._plan))

    def prefetch(self, buffer_size: int, name: str | None = None) -> Dataset:
        """Makes up to `buffer_size` elements ahead of time in a background thread.

        Args:
            buffer_size: how many elements, or `tf.data.AUTOTUNE`.
            name: without effect.

        Returns:
            A dataset.

        Raises:
            InvalidArgumentError: `buffer_size` is negative.

        >>> [int(x) for x in tf.data.Dataset.range(3).prefetch(tf.data.AUTOTUNE)]
        [0, 1, 2]
        """
        size = static_int("prefetch", "buffer_size", buffer_size)
        require(
            size >= 0 or size == AUTOTUNE,
            "prefetch",
            "`buffer_size` must not be negative, except AUTOTUNE",
            str(size),
        )
        return Dataset(Prefetch(self._plan, size))

    def unique(self, name: str | None = None) -> Dataset:
        """Each value once, where it first appears."""
        return Dataset(grouping.Unique(self._plan))

    # Steps that put together and take apart.

    def batch(
        self,
        batch_size: float,
        drop_remainder: bool = False,
        num_parallel_calls: Any = None,
        deterministic: bool | None = None,
        name: str | None = None,
    ) -> Dataset:
        """Consecutive elements together, with a new first axis.

        The last batch may be smaller; `drop_remainder` leaves it out, and makes the size of the
        batches part of the `element_spec`.

        Args:
            batch_size: how many elements, at least 1.
            drop_remainder: whether to leave out a last batch that is smaller.
            num_parallel_calls, deterministic: without effect; rows are cut at once.
            name: without effect.

        Returns:
            A dataset.

        Raises:
            InvalidArgumentError: `batch_size` is below 1, or shapes of elements differ.

        >>> [x.numpy().tolist() for x in tf.data.Dataset.range(5).batch(2)]
        [[0, 1], [2, 3], [4]]
        """
        workers("batch", num_parallel_calls)
        size = positive("batch", "batch_size", batch_size)
        return Dataset(Batch(self._plan, size, bool(drop_remainder)))

    def padded_batch(
        self,
        batch_size: int,
        padded_shapes: Any = None,
        padding_values: Tensor | float | str | None = None,
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> Dataset:
        """Batches of elements of unequal sizes, filled up at the ends.

        A size of `None` (or -1) in `padded_shapes` grows to the largest element of the batch.

        Args:
            batch_size: how many elements, at least 1.
            padded_shapes: the shape of an element in the batch; the largest by default.
            padding_values: what to fill up with; zero or the empty string by default.
            drop_remainder: whether to leave out a last batch that is smaller.
            name: without effect.

        Returns:
            A dataset.

        Raises:
            InvalidArgumentError: `batch_size` is below 1.
            ValueError: an element does not fit `padded_shapes`.

        >>> rows = tf.data.Dataset.range(1, 4).map(lambda n: tf.fill([n], n))
        >>> [x.numpy().tolist() for x in rows.padded_batch(2)]
        [[[1, 0], [2, 2]], [[3, 3, 3]]]
        """
        size = positive("padded_batch", "batch_size", batch_size)
        drop = bool(drop_remainder)
        return Dataset(PaddedBatch(self._plan, size, padded_shapes, padding_values, drop))

    def ragged_batch(
        self,
        batch_size: int,
        drop_remainder: bool = False,
        row_splits_dtype: DTypeLike = dtypes.int64,
        name: str | None = None,
    ) -> Dataset:
        """Batches of elements of unequal sizes, as ragged tensors where sizes are not known."""
        size = positive("ragged_batch", "batch_size", batch_size)
        splits = dtypes.as_dtype(row_splits_dtype)
        return Dataset(RaggedBatch(self._plan, size, bool(drop_remainder), splits))

    def sparse_batch(
        self, batch_size: int, row_shape: list[int], name: str | None = None
    ) -> Dataset:
        """Batches of elements of unequal sizes, as sparse tensors with rows of a given shape."""
        size = positive("sparse_batch", "batch_size", batch_size)
        return Dataset(SparseBatch(self._plan, size, row_shape))

    def unbatch(self, name: str | None = None) -> Dataset:
        """The rows of each element as elements."""
        return Dataset(Unbatch(self._plan))

    def rebatch(
        self, batch_size: int | list[int], drop_remainder: bool = False, name: str | None = None
    ) -> Dataset:
        """The rows of each element in batches of another size, or of several sizes in turn."""
        sizes = list(static_tuple("rebatch", batch_size, "batch_size"))
        if not sizes or min(sizes) < 0 or not any(sizes):
            raise invalid("rebatch", "`batch_size` must be greater than zero", str(batch_size))
        return Dataset(Rebatch(self._plan, sizes, bool(drop_remainder)))

    def window(
        self,
        size: int,
        shift: int | None = None,
        stride: int = 1,
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> Dataset:
        """Datasets of `size` neighbouring elements, one for each leaf of the elements."""
        length = positive("window", "size", size)
        step = length if shift is None else positive("window", "shift", shift)
        apart = positive("window", "stride", stride)
        plan = grouping.Window(self._plan, length, step, apart, bool(drop_remainder), Dataset)
        return Dataset(plan)

    def group_by_window(
        self,
        key_func: Callable[..., Any],
        reduce_func: Callable[..., Any],
        window_size: int | None = None,
        window_size_func: Callable[..., Any] | None = None,
        name: str | None = None,
    ) -> Dataset:
        """Groups elements by key; `reduce_func(key, dataset)` makes a dataset of each window."""
        return Dataset(
            buckets.windows(
                self._plan, key_func, reduce_func, window_size, window_size_func, Dataset
            )
        )

    def bucket_by_sequence_length(
        self,
        element_length_func: Callable[..., Any],
        bucket_boundaries: list[int],
        bucket_batch_sizes: list[int],
        padded_shapes: list[int] | None = None,
        padding_values: Any = None,
        pad_to_bucket_boundary: bool = False,
        no_padding: bool = False,
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> Dataset:
        """Batches elements of similar length, padded to the longest of the batch."""
        made = buckets.Buckets(element_length_func, bucket_boundaries, bucket_batch_sizes)
        made.pad(padded_shapes, padding_values, pad_to_bucket_boundary, no_padding, drop_remainder)
        return Dataset(made.plan(self._plan, Dataset))

    # Steps that draw on other datasets.

    def rejection_resample(
        self,
        class_func: Callable[..., Any],
        target_dist: list[float],
        initial_dist: list[float] | None = None,
        seed: int | None = None,
        name: str | None = None,
    ) -> Dataset:
        """Leaves out elements at random, so that classes come as often as `target_dist` says.

        The elements are pairs: the class that `class_func` gives, and the element. Without
        `initial_dist` the classes are counted as they come.
        """
        function = UserFunction("rejection_resample", class_func, "class_func")
        return Dataset(Resample(self._plan, function, target_dist, initial_dist, seed))

    def concatenate(self, dataset: Dataset, name: str | None = None) -> Dataset:
        """The elements of this dataset, then those of another."""
        _, plans = mixing.flatten_plans("concatenate", (self, dataset))
        return Dataset(mixing.Concatenate(*plans))

    def enumerate(self, start: int = 0, name: str | None = None) -> Dataset:
        """Pairs of a number, counting from `start`, and an element."""
        first, count = static_int("enumerate", "start", start), self._plan.cardinality()
        numbers = Dataset.range(first, first + count) if count >= 0 else Dataset.counter(first)
        return Dataset.zip((numbers, self))

    def flat_map(self, map_func: Callable[..., Any], name: str | None = None) -> Dataset:
        """The elements of the datasets that a function makes, one dataset after the other."""
        function = UserFunction("flat_map", map_func)
        return Dataset(mixing.Interleave(self._plan, function, 1, 1, False))

    def interleave(
        self,
        map_func: Callable[..., Any],
        cycle_length: int | None = None,
        block_length: int | None = None,
        num_parallel_calls: int | None = None,
        deterministic: bool | None = None,
        name: str | None = None,
    ) -> Dataset:
        """The elements of the datasets that a function makes, by blocks from several in turn.

        With `num_parallel_calls` each dataset is read by a thread of its own.
        """
        function = UserFunction("interleave", map_func)
        threads = workers("interleave", num_parallel_calls) not in (None, 1)
        auto = (
            cycle_length is None
            or static_int("interleave", "cycle_length", cycle_length) == AUTOTUNE
        )
        cycle = (
            (os.cpu_count() or 1) if auto else positive("interleave", "cycle_length", cycle_length)
        )
        block = 1 if block_length is None else positive("interleave", "block_length", block_length)
        return Dataset(mixing.Interleave(self._plan, function, cycle, block, threads))

    def apply(self, transformation_func: Callable[[Dataset], Dataset]) -> Dataset:
        """Gives the dataset to a function that returns another: for steps of one's own."""
        require(
            callable(transformation_func),
            "apply",
            "`transformation_func` must be callable",
            transformation_func,
            kind=TypeError,
        )
        result = transformation_func(self)
        require(
            isinstance(result, Dataset),
            "apply",
            "`transformation_func` must return a tf.data.Dataset",
            result,
            kind=TypeError,
        )
        return result

    # Settings.

    def with_options(self, options: Options, name: str | None = None) -> Dataset:
        """The same elements, with settings for the whole dataset."""
        require(
            isinstance(options, Options),
            "with_options",
            "give a tf.data.Options",
            options,
            kind=TypeError,
        )
        return Dataset(ordering.WithOptions(self._plan, options))

    def options(self) -> Options:
        """The settings of this dataset and of what it is made from."""
        return self._plan.options

"""The static methods of `tf.data.Dataset`, which make datasets of tensors, functions and files."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from wengert.core import dtypes
from wengert.core.convert import to_tensor
from wengert.core.errors import at_site, describe, require
from wengert.core.process_settings import PROCESS
from wengert.core.types import DType, TensorSpec
from wengert.data import choosing, file_datasets, graph_iterators, mixing, sources
from wengert.data.from_generator import Generator, signature
from wengert.data.plan import UNKNOWN_CARDINALITY, Plan, static_int

if TYPE_CHECKING:
    from wengert.data.dataset import Dataset


def _dataset(plan: Plan) -> Dataset:
    from wengert.data.dataset import Dataset

    return Dataset(plan)


class Factories:
    """The static methods of `tf.data.Dataset`."""

    @staticmethod
    def from_tensors(tensors: Any, name: str | None = None) -> Dataset:
        """The whole value as the only element."""
        asker = sys._getframe(1).f_globals.get("__name__")
        if asker == PROCESS.array_lender:
            tensors = sources.lent(tensors)
        if graph_iterators.is_symbolic(tensors):
            return _dataset(
                graph_iterators.made(
                    Factories.from_tensors, tensors, graph_iterators.spec_of(tensors), 1
                )
            )
        return _dataset(sources.one_element(tensors))

    @staticmethod
    def from_tensor_slices(tensors: Any, name: str | None = None) -> Dataset:
        """The rows of a tensor, or of tensors in tuples and dicts, one element each.

        Args:
            tensors: a tensor, array, list, or tuples and dicts of them with as many rows each.
            name: without effect.

        Returns:
            A dataset of the rows, in the same structure.

        Raises:
            ValueError: a tensor is a scalar, or the numbers of rows differ.

        >>> dataset = tf.data.Dataset.from_tensor_slices(([1, 2], ["a", "b"]))
        >>> [(int(n), s.numpy()) for n, s in dataset]
        [(1, b'a'), (2, b'b')]
        """
        if graph_iterators.is_symbolic(tensors):
            return _dataset(graph_iterators.made_of_rows(Factories.from_tensor_slices, tensors))
        return _dataset(sources.Slices(tensors))

    @staticmethod
    def from_generator(
        generator: Callable[..., Any],
        output_types: dict[str, DType] | DType | None = None,
        output_shapes: Any = None,
        args: tuple[int, ...] | None = None,
        output_signature: Any = None,
        name: str | None = None,
    ) -> Dataset:
        """What a Python generator function yields, which must fit `output_signature`.

        The function is called with `args`, as NumPy values, at the start of every iteration.

        Args:
            generator: a function that gives an iterable.
            output_types, output_shapes: an older form of `output_signature`.
            args: arguments for the function, tensors.
            output_signature: the spec of an element, `tf.TensorSpec` in a structure.
            name: without effect.

        Returns:
            A dataset of unknown length.

        Raises:
            TypeError: `generator` is not callable, or there is no signature.

        >>> def squares(n):
        ...     for i in range(n):
        ...         yield i * i
        >>> spec = tf.TensorSpec([], tf.int32)
        >>> dataset = tf.data.Dataset.from_generator(squares, args=[3], output_signature=spec)
        >>> [int(x) for x in dataset]
        [0, 1, 4]
        """
        if not callable(generator):
            raise at_site(
                TypeError(
                    f"from_generator: `generator` must be callable; got {describe(generator)}. "
                    f"Wrap an iterable in a function: lambda: iterable."
                )
            )
        spec = signature(output_signature, output_types, output_shapes)
        given = tuple(to_tensor(a) for a in args or ())
        return _dataset(Generator(generator, given, spec))

    @staticmethod
    def range(*args: Any, output_type: DType = dtypes.int64, name: str | None = None) -> Dataset:
        """Whole numbers: `range(stop)`, `range(start, stop)` or `range(start, stop, step)`."""
        if not 1 <= len(args) <= 3:
            raise at_site(ValueError(f"range: give one to three numbers; got {len(args)}."))
        kind = dtypes.as_dtype(output_type)
        if graph_iterators.is_symbolic(args):
            make = lambda numbers: Factories.range(*numbers, output_type=kind)
            spec = TensorSpec((), kind)
            return _dataset(graph_iterators.made(make, tuple(args), spec, UNKNOWN_CARDINALITY))
        numbers = [static_int("range", "args", a) for a in args]
        start, stop, step = ([0, *numbers, 1] if len(args) == 1 else [*numbers, 1])[:3]
        require(step != 0, "range", "`step` must not be zero")
        return _dataset(sources.Range(start, stop, step, kind))

    @staticmethod
    def counter(
        start: int = 0, step: int = 1, dtype: DType = dtypes.int64, name: str | None = None
    ) -> Dataset:
        """Whole numbers from `start` in steps, without end."""
        first, by = static_int("counter", "start", start), static_int("counter", "step", step)
        return _dataset(sources.Range(first, None, by, dtypes.as_dtype(dtype)))

    @staticmethod
    def random(
        seed: int | None = None,
        rerandomize_each_iteration: bool | None = None,
        name: str | None = None,
    ) -> Dataset:
        """Random int64 numbers from 0 to 2**32 - 1, without end."""
        return _dataset(sources.Random(seed, bool(rerandomize_each_iteration)))

    @staticmethod
    def zip(
        *args: Any, datasets: tuple[Dataset, ...] | None = None, name: str | None = None
    ) -> Dataset:
        """Datasets side by side: `zip(a, b)`, or `zip((a, b))`, or any nest of datasets.

        Args:
            *args: the datasets, or one structure of them.
            datasets: an older form of the same.
            name: without effect.

        Returns:
            A dataset of tuples, as long as the shortest.

        Raises:
            TypeError: something else than a dataset is given.

        >>> numbers = tf.data.Dataset.range(3)
        >>> [(int(x), int(y)) for x, y in tf.data.Dataset.zip(numbers, numbers.skip(1))]
        [(0, 1), (1, 2)]
        """
        require(
            not args or datasets is None,
            "zip",
            "give `datasets` or arguments, but not both",
            kind=TypeError,
        )
        require(args or datasets is not None, "zip", "give at least one dataset", kind=TypeError)
        nested = datasets if not args else args[0] if len(args) == 1 else args
        structure, plans = mixing.flatten_plans("zip", nested)
        require(plans, "zip", "give at least one dataset", nested)
        return _dataset(mixing.Zip(structure, plans))

    @staticmethod
    def choose_from_datasets(
        datasets: list[Dataset], choice_dataset: Dataset, stop_on_empty_dataset: bool = True
    ) -> Dataset:
        """Elements of several datasets; the elements of `choice_dataset` say of which."""
        name = "choose_from_datasets"
        plans = _several(name, datasets)
        _, (choices,) = mixing.flatten_plans(name, (choice_dataset,))
        return _dataset(choosing.Choose(name, choices, plans, stop_on_empty_dataset))

    @staticmethod
    def sample_from_datasets(
        datasets: list[Dataset],
        weights: list[float] | None = None,
        seed: int | None = None,
        stop_on_empty_dataset: bool = False,
        rerandomize_each_iteration: bool | None = None,
    ) -> Dataset:
        """Elements of several datasets, chosen at random with the given weights."""
        name = "sample_from_datasets"
        plans = _several(name, datasets)
        chances = getattr(weights, "_plan", None)
        if chances is None:
            chances = np.ones(len(plans)) if weights is None else _chances(name, weights)
            if chances.shape != (len(plans),):
                raise at_site(
                    ValueError(
                        f"{name}: there are {len(plans)} datasets; got `weights` of shape "
                        f"{chances.shape}."
                    )
                )
        again = bool(rerandomize_each_iteration)
        return _dataset(choosing.Sample(chances, plans, seed, stop_on_empty_dataset, again))

    @staticmethod
    def list_files(
        file_pattern: str,
        shuffle: bool | None = None,
        seed: int | None = None,
        name: str | None = None,
    ) -> Dataset:
        """The names of the files that match a pattern, in random order unless `shuffle=False`."""
        result = sources.Slices(file_datasets.matching(file_pattern))
        dataset = _dataset(result)
        return dataset if shuffle is False else dataset.shuffle(max(1, len(dataset)), seed)


def _chances(name: str, weights: list[float]) -> np.ndarray:
    try:
        return np.asarray(weights, np.float64)
    except (TypeError, ValueError):
        raise at_site(
            TypeError(
                f"{name}: `weights` must be numbers, one per dataset; got {describe(weights)}."
            )
        ) from None


def _several(name: str, datasets: list[Dataset]) -> list[Plan]:
    require(
        hasattr(datasets or (), "__iter__"),
        name,
        "a list of datasets is needed",
        datasets,
        kind=TypeError,
    )
    require(datasets, name, "give at least one dataset", kind=ValueError)
    return mixing.flatten_plans(name, tuple(datasets))[1]

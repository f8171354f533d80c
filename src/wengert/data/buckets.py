"""`group_by_window` from its arguments, and `bucket_by_sequence_length` on top of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from wengert.core.errors import at_site, describe, invalid, require
from wengert.core.symbolic import is_symbolic
from wengert.data.grouping import GroupByWindow
from wengert.data.plan import Plan, positive
from wengert.data.structure import map_spec
from wengert.data.user_functions import UserFunction

if TYPE_CHECKING:
    from wengert.core.types import Tensor, TensorShape
    from wengert.data.dataset import Dataset


_NAME = "bucket_by_sequence_length"


def windows(
    plan: Plan, key: Any, reduce: Any, size: int | None, size_function: Any, dataset: type
) -> GroupByWindow:
    """The plan of `group_by_window`."""
    name = "group_by_window"
    require(
        (size is None) != (size_function is None),
        name,
        "give either `window_size` or `window_size_func`",
        kind=ValueError,
    )
    if size is not None:
        fixed = positive(name, "window_size", size)
        size_function = lambda _: np.int64(fixed)
    return GroupByWindow(
        plan,
        UserFunction(name, key, "key_func"),
        UserFunction(name, reduce, "reduce_func"),
        UserFunction(name, size_function, "window_size_func"),
        dataset,
    )


class Buckets:
    """Batches of elements of similar length."""

    def __init__(self, length: Any, boundaries: list[int], sizes: list[int]) -> None:
        self._length = UserFunction(_NAME, length, "element_length_func")
        self._boundaries = _numbers("bucket_boundaries", boundaries)
        self._sizes = _numbers("bucket_batch_sizes", sizes)
        if len(self._sizes) != len(self._boundaries) + 1:
            raise at_site(
                ValueError(
                    f"{_NAME}: there must be one more `bucket_batch_sizes` than "
                    f"`bucket_boundaries`; got {len(self._sizes)} and {len(self._boundaries)}."
                )
            )

    def pad(
        self, shapes: list[int] | None, values: Any, to_boundary: bool, no_padding: bool, drop: bool
    ) -> None:
        """Sets the padding of the batches."""
        self._shapes, self._values, self._to_boundary = shapes, values, to_boundary
        self._no_padding, self._drop = no_padding, drop

    def plan(self, source: Plan, dataset: type) -> GroupByWindow:
        def bucket(*element: Tensor) -> np.generic:
            length = int(self._length(element))
            return np.int64(np.searchsorted(self._boundaries, length, side="right"))

        def size(key: Tensor) -> np.generic:
            return np.int64(self._sizes[int(key)])

        def batches(key: Tensor, window: Dataset) -> Dataset:
            if is_symbolic(key):
                return self._any_bucket(source, window)
            number = int(key)
            if self._no_padding:
                return window.batch(self._sizes[number], self._drop)
            shapes = self._padded_shapes(source, number)
            return window.padded_batch(self._sizes[number], shapes, self._values, self._drop)

        return windows(source, bucket, batches, None, size, dataset)

    def _any_bucket(self, source: Plan, window: Dataset) -> Dataset:
        """Batches of which only that is known which holds for every bucket."""
        if self._no_padding:
            return window.batch(1)
        return window.padded_batch(1, self._given_shapes(source), self._values)

    def _given_shapes(self, source: Plan) -> list[int] | TensorShape:
        if self._shapes is None:
            return map_spec(lambda s: s.shape, source.spec)
        return self._shapes

    def _padded_shapes(self, source: Plan, bucket: int) -> list[int] | TensorShape:
        shapes = self._given_shapes(source)
        if not self._to_boundary:
            return shapes
        if bucket == len(self._boundaries):
            raise invalid(
                _NAME,
                f"an element is longer than the last boundary {self._boundaries[-1]}",
                help="Add a boundary, or leave `pad_to_bucket_boundary` out.",
            )
        room = self._boundaries[bucket] - 1
        return _filled(shapes, room)


def _numbers(argument: str, given: list[int]) -> list[int]:
    try:
        return [int(n) for n in given]
    except (TypeError, ValueError):
        words = f"{_NAME}: `{argument}` must be a list of whole numbers; got {describe(given)}."
        raise at_site(TypeError(words)) from None


def _filled(shapes: Any, room: int) -> Any:
    """Shapes with every open size set."""
    if isinstance(shapes, dict):
        return {k: _filled(v, room) for k, v in shapes.items()}
    if isinstance(shapes, tuple):
        return tuple(_filled(v, room) for v in shapes)
    return [room if d is None or int(d) == -1 else d for d in shapes]

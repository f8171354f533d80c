"""Lists that grow inside a loop of the graph: arrays with one element per `append`."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, NoReturn

from wengert.core import nest
from wengert.core.convert import operand, to_tensor
from wengert.core.errors import InvalidArgumentError, at_site, describe, invalid, say
from wengert.core.sites import RawSite, caller
from wengert.core.types import IndexedSlices, SymbolicTensor, Tensor, TensorShape, TensorSpec
from wengert.ops.dims import shape
from wengert.ops.joining import concat, unstack
from wengert.ops.reordering import reverse
from wengert.ops.select import clip_by_value
from wengert.ops.shaping import reshape, transpose


def _array_type() -> type:
    return import_module("wengert.functions.tensor_array").TensorArray


def is_array(value: Any) -> bool:
    """Whether a value is a `TensorArray`."""
    return type(value).__name__ == "TensorArray" and isinstance(value, _array_type())


class TracedList:
    """A list of tensors whose length is known only when the graph runs.

    All elements have one form; `append`, indexing, `len` and loops work as for a list, and
    `tf.stack` and `tf.concat` join the elements.
    """

    __slots__ = ("arrays", "element")

    def __init__(self, element: Any, arrays: list[Any]) -> None:
        # What an element is like, as a tree of specs; and an array for each of its leaves.
        self.element = element
        self.arrays = arrays

    @classmethod
    def of_stacks(
        cls,
        element: tuple[TensorSpec, ...] | TensorSpec,
        stacks: list[SymbolicTensor] | list[Tensor] | list[Tensor | IndexedSlices],
    ) -> TracedList:
        """A list whose elements are the rows of tensors."""
        empty = cls.start(element, [])
        pairs = zip(empty.arrays, stacks, strict=True)
        return cls(element, [a.unstack(x) for a, x in pairs])

    @classmethod
    def start(cls, element: Any, values: list[Any]) -> TracedList:
        """A growing list that begins with the elements of a Python list."""
        made = _array_type()
        arrays = [
            made(s.dtype, size=0, dynamic_size=True, clear_after_read=False, element_shape=s.shape)
            for s in nest.flatten(element)
        ]
        new = cls(element, arrays)
        new.extend(values)
        return new

    def copy(self) -> TracedList:
        return TracedList(self.element, list(self.arrays))

    def length(self) -> Tensor:
        """The number of elements, as a tensor."""
        return self.arrays[0].size()

    def known_length(self) -> int | None:
        """The number of elements, where the trace knows it."""
        shape = self.arrays[0].stack().shape
        return None if shape.rank is None else shape.as_list()[0]

    def append(self, value: Any) -> None:
        """Adds an element at the end."""
        self._write(self.length(), stacked(value))

    def extend(self, values: Any) -> None:
        """Adds elements at the end."""
        for value in values:
            self.append(value)

    def _write(self, index: Tensor | int, value: Any) -> None:
        leaves = self.leaves(value)
        self.arrays = [a.write(index, x) for a, x in zip(self.arrays, leaves, strict=True)]

    def leaves(self, value: Any, site: RawSite | None = None) -> list[Tensor]:
        """An element as tensors of the right kinds; `site` is where it was appended."""
        specs = nest.flatten(self.element)
        try:
            nest.assert_same_structure(self.element, value)
            pairs = zip(nest.flatten(value), specs, strict=True)
            leaves = [operand(x, None, s.dtype) for x, s in pairs]
        except (TypeError, ValueError):
            raise self._unlike(value, site) from None
        for x, s in zip(leaves, specs, strict=True):
            if x.dtype is not s.dtype or not TensorShape(x.shape).is_compatible_with(s.shape):
                raise self._unlike(value, site)
        return leaves

    def _unlike(self, value: Any, site: Any) -> Exception:
        text = say(
            "append",
            "the elements of a list that grows in a loop on tensors must have one shape and dtype",
            _shown(self.element),
            _shown(value),
            help="Pad or cast them, or keep them in two lists.",
        )
        return at_site(InvalidArgumentError(None, None, text), site)

    def __add__(self, other: Any) -> TracedList:
        if not isinstance(other, list | tuple):
            return NotImplemented
        new = self.copy()
        new.extend(other)
        return new

    def __iadd__(self, other: Any) -> TracedList:
        self.extend(other)
        return self

    def stack(self) -> Any:
        """The elements along a new first axis."""
        return self._packed([a.stack() for a in self.arrays])

    def concat(self, axis: int = 0) -> Tensor:
        """The elements joined along one of their axes."""
        if axis == 0:
            return self._packed([a.concat() for a in self.arrays])
        return nest.map_structure(lambda x: _joined(x, axis), self.stack())

    def _packed(self, leaves: list[Tensor]) -> Tensor:
        return nest.pack_sequence_as(self.element, leaves)

    def _from_start(self, i: int | Tensor) -> Any:
        return self.length() + i if isinstance(i, int) and i < 0 else i

    def __getitem__(self, i: int | Tensor) -> Tensor:
        """The element at an index, which is a number or a tensor."""
        if isinstance(i, slice):
            return nest.map_structure(lambda x: x[i], self.stack())
        index = self._from_start(i)
        return self._packed([a.read(index) for a in self.arrays])

    def __setitem__(self, i: SymbolicTensor | int, value: Any) -> None:
        self._write(self._from_start(i), value)

    def __tf_tensor__(self, dtype: Any = None, name: str | None = None) -> Any:
        return to_tensor(self.stack(), dtype)

    def elements(self, what: str) -> list[SymbolicTensor] | list[Tensor]:
        """The elements as a Python list, for `what`, which needs their number while tracing."""
        known = self.known_length()
        if known is None:
            raise self._unknown(what, "Use tf.stack(x), and operations on its rows.")
        return [self[i] for i in range(known)]

    def _unknown(self, what: str, help: str) -> Any:
        return at_site(
            TypeError(
                f"{what}: the list has grown in a loop on tensors, so its length is known only "
                f"when the function runs. {help}"
            )
        )

    def __len__(self) -> int:
        raise self._unknown("len", "Use tf.shape(tf.stack(x))[0].")

    def __bool__(self) -> bool:
        raise self._unknown("bool", "Test tf.shape(tf.stack(x))[0] > 0.")

    def __iter__(self) -> Any:
        raise self._unknown("iteration", "Loop over tf.stack(x).")

    def pop(self, i: int = -1) -> Any:
        """Takes an element out, the last one unless told otherwise."""
        index = self._from_start(i)
        shorter = [a.without(index) for a in self.arrays]  # first, so that it speaks of the list
        result, self.arrays = self[index], shorter
        return result

    def __delitem__(self, i: int) -> None:
        self.pop(i)

    def insert(self, i: int, value: SymbolicTensor) -> None:
        """Puts an element before another."""
        leaves, length = self.leaves(stacked(value)), self.length()
        index = clip_by_value(self._from_start(i), 0, length)
        self.arrays = [a.with_more(index, x) for a, x in zip(self.arrays, leaves, strict=True)]

    def reverse(self) -> None:
        """Turns the order of the elements round."""
        turned = [reverse(a.stack(), [0]) for a in self.arrays]
        self.arrays = [a.unstack(x) for a, x in zip(self.arrays, turned, strict=True)]

    def clear(self) -> None:
        """Takes all elements out."""
        self.arrays = TracedList.start(self.element, []).arrays

    def __repr__(self) -> str:
        return f"<growing list of {_shown(self.element)}>"

    # As a part of what a function returns: eagerly it is a plain list again.

    def __tf_flatten__(self) -> tuple[TensorSpec, list[SymbolicTensor]]:
        return self.element, nest.flatten(self.stack())

    @classmethod
    def __tf_unflatten__(cls, element: TensorSpec, parts: list[Tensor]) -> Any:
        if all(isinstance(p, SymbolicTensor) for p in parts):
            return cls.of_stacks(element, parts)
        if not all(isinstance(p, Tensor) for p in parts):
            return _Parts(element, parts)
        columns = [unstack(p) for p in parts]
        return [nest.pack_sequence_as(element, list(row)) for row in zip(*columns, strict=True)]


class _Parts:
    """The structure of a growing list whose leaves are no tensors."""

    def __init__(self, element: Any, parts: list[Any]) -> None:
        self.element = element
        self.parts = parts

    def __tf_flatten__(self) -> tuple[Any, list[Any]]:
        return self.element, self.parts

    __tf_unflatten__ = TracedList.__tf_unflatten__


def stacked(value: Any) -> Any:
    """An element of a growing list: a growing list in it becomes a tensor of its elements."""
    if isinstance(value, TracedList):
        return value.stack()
    if type(value) in (list, tuple):
        return type(value)(map(stacked, value))
    return {k: stacked(v) for k, v in value.items()} if type(value) is dict else value


def _joined(x: Any, axis: int) -> Any:
    """The rows of a tensor side by side along an axis of theirs."""
    rank = x.shape.rank
    if rank is None or not -rank < axis < rank - 1:
        raise invalid("concat", f"`axis` is {axis}; the elements have rank {(rank or 1) - 1}", x)
    axis = axis % (rank - 1)
    order = [*range(1, axis + 1), 0, *range(axis + 1, rank)]
    turned = transpose(x, order)
    sizes = shape(turned)
    return reshape(turned, concat([sizes[:axis], [-1], sizes[axis + 2 :]], 0))


def _shown(value: Any) -> str:
    return ", ".join(describe(x) for x in nest.flatten(value))


class FillingList:
    """A list in the body of a counted loop that only appends to it.

    What an iteration appends becomes rows that the loop stacks. Any other use of the list needs its
    elements, and so aborts the trace that made this guess.
    """

    __slots__ = ("_give_up", "items", "sites")

    def __init__(self, give_up: Callable[[], BaseException]) -> None:
        self.items: list[Any] = []
        self.sites: list[Any] = []
        self._give_up = give_up

    def append(self, value: Any) -> None:
        """Adds an element at the end."""
        self.items.append(stacked(value))
        self.sites.append(caller())

    def extend(self, values: Any) -> None:
        """Adds elements at the end."""
        for value in values:
            self.append(value)

    def __iadd__(self, values: Any) -> FillingList:
        self.extend(values)
        return self

    def used(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Anything that needs the elements."""
        raise self._give_up()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name != "__tf_tensor__":
            raise AttributeError(name)
        raise self._give_up()

    __getitem__ = __setitem__ = __delitem__ = __len__ = __bool__ = __iter__ = used
    __contains__ = __add__ = __mul__ = __radd__ = __reversed__ = used

"""How a loop carries one value of its state.

Each plan makes the value for an iteration from the carried tensors (`fill`), and takes the value
after it apart into tensors (`match`). If the new value does not fit, `match` records a hint, and
the loop is traced again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from wengert.autograph import value_trees
from wengert.autograph.lists import FillingList, TracedList, is_array
from wengert.autograph.retrace import AsList, AsTensor, FirstTurn, Growing, Learn, StandIn, Wider
from wengert.autograph.undefined import EMPTY, UNSET, MixedError, Undefined
from wengert.core import nest
from wengert.core.errors import at_site, invalid_dtype
from wengert.core.failures import failures
from wengert.core.types import IndexedSlices, SymbolicTensor, Tensor, TensorShape, TensorSpec
from wengert.ops.dims import shape
from wengert.ops.joining import concat, stack
from wengert.ops.shaping import reshape

if TYPE_CHECKING:
    from wengert.autograph.conversion_unit import Construct
    from wengert.autograph.loop_state import Slots
    from wengert.autograph.undefined import _Nothing
    from wengert.functions.tensor_array import TensorArray


Path = tuple[int, ...]


class Local:
    """A name that is dead at the end of an iteration."""

    def __init__(self, name: str, site: Construct) -> None:
        self.reason = (
            f"{site.kind}: {name} belongs to the turns of the loop at line {site.line}. Give it a "
            f"value before the loop to use it after."
        )
        self.done = False

    def fill(self, tensors: Sequence[Any]) -> Undefined | _Nothing:
        return Undefined(self.reason, True) if self.done else EMPTY

    def match(self, value: Any, by_slot: dict[int, Any]) -> None:
        self.done = True


class _Plan:
    """How the value at one path of the state is carried."""

    def __init__(self, slots: Slots, path: Path, value: Any) -> None:
        self.slots = slots
        self.path = path
        self.value = value


class Fixed(_Plan):
    """A Python value that the loop does not change."""

    def fill(self, tensors: Sequence[Any]) -> Any:
        return self.value

    def match(self, value: Any, by_slot: dict[int, Any]) -> None:
        old = self.value
        if value is old or _equal(old, value):
            return
        if is_missing(old):
            self._appeared(value)
        elif value_trees.is_variable(old) and value_trees.has_value(value):
            self.slots.learn(self.path, AsTensor())
        elif not value_trees.can_stand_in(value):
            raise at_site(MixedError(self._text(value)))
        elif old is None:
            self.slots.learn(self.path[:1], FirstTurn())
        elif value_trees.is_constant(old) and not value_trees.is_tree(value):
            self.slots.learn(self.path, _as_tensor(value))
        else:
            raise at_site(MixedError(self._text(value)))

    def _appeared(self, value: Tensor | tuple[Tensor, ...]) -> None:
        if value_trees.can_stand_in(value):
            self.slots.learn(self.path, StandIn(value_trees.specs(value)))
        elif isinstance(value, Undefined):
            self.value = value
        else:
            site = self.slots.state.site
            self.value = Undefined(
                f"{site.kind}: `{self.slots.name(self.path)}` gets {value_trees.described(value)} in the "
                f"loop at line {site.line}; only tensors come out of a loop on tensors."
            )

    def _text(self, value: type) -> str:
        return self.slots.changed(
            self.path, "structure", self.value, value, "Only tensors may change in such a loop."
        )


def _as_tensor(value: Any) -> AsTensor:
    tensor = value_trees.as_tensor(value)
    return AsTensor(tensor.dtype, value_trees.shape_of(tensor) or None)


class Carried:
    """A tensor, or a `TensorArray`."""

    def __init__(self, slots: Slots, number: int) -> None:
        self.slots = slots
        self.number = number
        self.given: Any = None

    def fill(self, tensors: Sequence[Any]) -> Tensor | TensorArray:
        self.given = tensors[self.number]
        return self.given

    def match(self, value: Any, by_slot: dict[int, Any]) -> None:
        slot = self.slots.slots[self.number]
        if isinstance(value, Undefined) and value.dead:
            value = self.given  # the turn ends in a jump to where nobody reads it
        by_slot[self.number] = value
        if isinstance(value, Undefined):
            raise value.fail()
        if is_array(slot.start) and is_array(value):
            return
        if not value_trees.has_value(value):
            kind = ValueError if value is None else MixedError
            raise at_site(kind(self.slots.changed(slot.path, "structure", slot.given, value)))
        by_slot[self.number] = value = value_trees.as_tensor(value, slot.start.dtype)
        if value.dtype is not slot.start.dtype:
            self._other_dtype(slot, value)
        elif not TensorShape(value_trees.shape_of(value)).is_subtype_of(TensorShape(slot.shape)):
            self._other_shape(slot, value)

    def _is_free(self, slot: Any) -> bool:
        """Whether a Python number may still become a tensor of another dtype."""
        return value_trees.is_number(slot.given) and slot.path not in self.slots.hints

    def _other_dtype(self, slot: Any, value: Any) -> None:
        if self._is_free(slot):
            self.slots.learn(slot.path, _as_tensor(value))
            return
        text = self.slots.changed(slot.path, "dtype", slot.given, value)
        kind, _, rule = text.partition(": ")
        raise invalid_dtype(
            kind,
            rule.rstrip("."),
            help=f"Cast it with tf.cast(x, tf.{slot.start.dtype.name}) in the loop.",
        )

    def _other_shape(self, slot: Any, value: Any) -> None:
        new = value_trees.shape_of(value)
        hint = self.slots.hints.get(slot.path)
        if isinstance(hint, Wider) and hint.told:
            text = self.slots.breaks(slot.path, hint.shape, "after one turn", value)
            raise at_site(ValueError(text))
        if self._is_free(slot):
            if new is not None and None not in new:
                self.slots.learn(slot.path, _as_tensor(value))
            else:
                self.slots.learn(slot.path[:1], FirstTurn())
            return
        if new is None or slot.shape is None or len(new) != len(slot.shape):
            raise at_site(ValueError(self.slots.changed(slot.path, "rank", slot.given, value)))
        pairs = zip(slot.shape, new, strict=True)
        wider = tuple([a if a == b else None for a, b in pairs])
        self.slots.learn(slot.path, Wider(wider))


class Many(_Plan):
    """A container whose parts are carried each in its own way."""

    def __init__(self, slots: Slots, path: Path, value: Any, inner: list[Any]) -> None:
        super().__init__(slots, path, value)
        self.inner = inner
        # Elements that were appended during tracing as a Python side effect.
        self.added: list[Any] = []

    def fill(self, tensors: Sequence[Any]) -> Any:
        result = value_trees.with_parts(self.value, [p.fill(tensors) for p in self.inner])
        return [*result, *self.added] if self.added else result

    def match(self, value: Any, by_slot: dict[int, Any]) -> None:
        if isinstance(value, Undefined):
            raise value.fail()
        if isinstance(self.value, list):
            if self._is_effect(value):
                self.added = value[len(self.value) :]
                value = value[: len(self.value)]
            element = self._growth(value)
            if element is not None:
                self.slots.learn(self.path, Growing(element))
                return
        if not value_trees.is_tree(value) or not value_trees.same_kind(self.value, value):
            text = self.slots.changed(self.path, "structure", self.value, value)
            raise at_site(MixedError(text))
        for plan, part in zip(self.inner, value_trees.parts(value), strict=True):
            plan.match(part, by_slot)

    def _is_effect(self, value: Any) -> bool:
        added = value[len(self.value) :] if isinstance(value, list) else []
        return bool(added) and self.slots.state.is_effect(self.path[0], added)

    def _growth(self, value: Any) -> Any:
        """The specs of the elements of a list, if it has grown or shrunk."""
        if isinstance(value, TracedList):
            return value.element
        if not isinstance(value, list) or len(value) == len(self.value):
            return None
        count = len(self.value)
        one = value[count] if len(value) > count else self.value[-1]
        return value_trees.specs(one) if value_trees.can_stand_in(one) else None


class Grown(_Plan):
    """A list that grows, carried as one `TensorArray` for each leaf of its elements."""

    def __init__(self, slots: Slots, path: Path, value: TracedList) -> None:
        super().__init__(slots, path, value)
        self.element = value.element
        pairs = zip(value.arrays, nest.flatten(value.element), strict=True)
        self.inner = [
            slots.carry((*path, i), a, a, rows_shape(s.shape)) for i, (a, s) in enumerate(pairs)
        ]

    def fill(self, tensors: Sequence[Any]) -> TracedList:
        return TracedList(self.element, [p.fill(tensors) for p in self.inner])

    def match(self, value: TracedList, by_slot: dict[int, Any]) -> None:
        if isinstance(value, list):
            value = TracedList.start(self.element, value)
        if not isinstance(value, TracedList):
            text = self.slots.changed(self.path, "structure", self.fill(self.slots.start), value)
            raise at_site(MixedError(text))
        for plan, array in zip(self.inner, value.arrays, strict=True):
            plan.match(array, by_slot)


class Filled(_Plan):
    """A list that every iteration appends to: its new elements are rows that the loop stacks."""

    def __init__(self, slots: Slots, path: Path, value: Any) -> None:
        super().__init__(slots, path, value)
        self.given: FillingList | None = None
        self.element: Any = None
        self.each = 0
        self.added: list[Any] = []

    def fill(self, tensors: Sequence[Any]) -> FillingList:
        self.given = FillingList(lambda: Learn(self.slots.owner, {self.path: AsList()}))
        return self.given

    def rows(self, value: FillingList) -> list[Any]:
        if value is not self.given:
            self.slots.learn(self.path, AsList())
            return []
        if isinstance(self.value, list) and self.slots.state.is_effect(self.path[0], value.items):
            self.added = list(value.items)
            return []
        self.each = len(value.items)
        if not value.items:
            return []
        self.element = self._element(value.items)
        if self.element is None:
            self.slots.learn(self.path, AsList())
            return []
        like = TracedList(self.element, [])
        given = zip(value.items, value.sites, strict=True)
        columns = zip(*[like.leaves(v, site) for v, site in given], strict=True)
        return [c[0] if self.each == 1 else stack(list(c)) for c in columns]

    def _element(
        self, items: list[Tensor | tuple[SymbolicTensor, ...]]
    ) -> tuple[TensorSpec, TensorSpec] | TensorSpec | None:
        if isinstance(self.value, TracedList):
            return self.value.element
        examples = [*self.value, *items]
        return value_trees.specs(items[0]) if all(map(value_trees.can_stand_in, examples)) else None

    def final(self, stacks: Iterator[Any]) -> Any:
        if not self.each:
            return [*self.value, *self.added] if self.added else self.value
        results = [_flat(next(stacks), self.each) for _ in nest.flatten(self.element)]
        if isinstance(self.value, TracedList):
            before = nest.flatten(self.value.stack())
        elif self.value:
            like = TracedList(self.element, [])
            before = [stack(list(c)) for c in zip(*map(like.leaves, self.value), strict=True)]
        else:
            return TracedList.of_stacks(self.element, results)
        joined = [concat(list(pair), 0) for pair in zip(before, results, strict=True)]
        return TracedList.of_stacks(self.element, joined)


def rows_shape(row: TensorShape) -> tuple[int | None, ...] | None:
    """The static shape of an array that grows, given that of its elements."""
    return None if row.rank is None else (None, *row.as_list())


def _flat(x: SymbolicTensor | Tensor | IndexedSlices, each: int) -> Tensor | IndexedSlices:
    """Elements of all turns in one row, where a turn gave several."""
    if each == 1:
        return x
    return reshape(x, concat([[-1], shape(x)[2:]], 0))


def is_missing(value: Any) -> bool:
    if value is EMPTY or value is UNSET or isinstance(value, Undefined):
        return True
    return value_trees.is_stale(value)


def _equal(a: Any, b: Any) -> bool:
    if type(a) is not type(b) or value_trees.is_tree(a):
        return False
    try:
        return bool(a == b)
    except failures():
        return False

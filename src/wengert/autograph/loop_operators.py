"""The operators of loops: one on Python values is unrolled, one on a tensor is a graph loop.

The state of a loop is the variables that its body changes and that are read later. It is traced
with a guess of the type of each; if the body contradicts the guess, the loop is traced again with
what was learned (`retrace`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from wengert.autograph import primitives, value_trees
from wengert.autograph.branch_operators import choose_branch, if_, stopped
from wengert.autograph.closure_state import Cells, State
from wengert.autograph.conversion_unit import Construct, extended
from wengert.autograph.iteration import Numbers, Source, Steps
from wengert.autograph.logic import and_test, not_
from wengert.autograph.loop_options import OPTIONS, LoopOptions, collecting
from wengert.autograph.loop_state import Slots
from wengert.autograph.name_analysis import Symbol
from wengert.autograph.object_state import OBJECTS, learn_of, put_back, watch
from wengert.autograph.retrace import (
    FirstTurn,
    Hints,
    Learn,
    Owner,
    Rotated,
    Wider,
    inside,
    retrying,
)
from wengert.autograph.state_plans import is_missing
from wengert.autograph.traced_values import looping
from wengert.core.apply import wrap
from wengert.core.errors import at_site
from wengert.core.failures import failures
from wengert.core.types import IndexedSlices, SymbolicTensor, Tensor, Value

if TYPE_CHECKING:
    from wengert.functions.tensor_array import TensorArray


RESUME = object()
# A Python loop whose `break` hangs on a tensor must be unrolled to its end.
_MOST_UNROLLED = 10_000
ROTATED = "rotated"


def while_(site: Construct, cells: Cells, t: Any, test: Any, body: Any) -> None:
    """Runs a `while` loop, given the condition of its first turn."""
    if t is RESUME:
        t = _again(site, cells, test)
    while not looping(t):
        if not t:
            return
        body()
        t = _again(site, cells, test)
    _While(site, cells, t, test, body).run()


def _again(site: Construct, cells: Cells, test: Any) -> Any:
    """Whether to make another turn: not after a `break`."""
    stop = stopped(site, cells)
    if stop is True:
        return False
    return test() if stop is False else and_test(not_(stop), test)


def for_(site: Construct, cells: Cells, rows: Any, body: Any) -> None:
    """Runs a `for` loop over a source of ours, or over anything that Python can."""
    if isinstance(rows, Steps):
        steps = rows.steps
        while_(site, cells, steps.has_more(), steps.has_more, lambda: body(steps.get_next()))
        return
    if isinstance(rows, Source):
        loop = _For(site, cells, rows, body)
        loop.begin()
        if not isinstance(loop.turns, int) or loop.turns > 0:
            loop.run()
        return
    guarded = 0
    for item in rows:
        stop = stopped(site, cells)
        if stop is True:
            return
        if stop is False:
            body(item)
            continue
        guarded += 1
        if guarded > _MOST_UNROLLED:
            raise _endless()
        choose_branch(site, cells, not_(stop), lambda item=item: body(item), _nothing)


def _nothing() -> None:
    pass


def _endless() -> Exception:
    return at_site(
        RuntimeError(
            "for: whether this Python loop stops depends on a tensor, so it is unrolled to its "
            f"end, and there was none after {_MOST_UNROLLED} turns. Loop over tf.range or a tensor."
        )
    )


class _GraphLoop:
    """A loop being traced: its own state, and that of the user's function."""

    kind = "loop"

    def __init__(self, site: Construct, cells: Cells) -> None:
        # The construct as written, and extended by the symbols that calls change.
        self.shown = self.site = site
        self.cells = cells
        site.met = True

    def counted(self) -> bool:
        """Whether the number of turns is fixed before the first."""
        return False

    def count(self) -> Any:
        """The most turns there can be, or `None`."""
        return None

    def stacks(self) -> list[Any]:
        """The tensors of which each turn gets a row."""
        return []

    def own(self, hints: Hints) -> list[Any]:
        """The state that is the loop's own, at its start."""
        return []

    def goes_on(self, own: list[Any]) -> Any:
        """Whether there is another turn."""
        raise NotImplementedError

    def turn(self, i: Any, own: list[Any], rows: list[Any]) -> list[Any]:
        """Runs the body once and returns the loop's own state after it."""
        raise NotImplementedError

    def first(self) -> Any:
        """Whether there is a first turn: a truth value or a tensor."""
        raise NotImplementedError

    def peel(self, numbers: frozenset[int]) -> None:
        """Peels the first iteration off, since some of the state begins as `None`."""
        raise NotImplementedError

    def run(self) -> None:
        retrying(self.site.learned, self._key(), self._attempt)

    def _key(self, *more: str) -> Any:
        before = map(value_trees.form, State(self.site, self.cells).before)
        return (self.kind, *more, *before, self.cells.forms())

    def _attempt(self, hints: Hints, owner: Owner) -> None:
        self.site = extended(self.shown, hints.get(OBJECTS, ()))
        peeled = frozenset(k[0] for k, h in hints.items() if isinstance(h, FirstTurn))
        if not peeled:
            self._trace(hints, owner)
            return
        self._check_turn([str(self.site.symbols[k]) for k in sorted(peeled)], "is None")
        self.peel(peeled)
        self.shown = self.site
        retrying(self.site.learned, self._key("rest"), self._trace)

    def _trace(self, hints: Hints, owner: Owner) -> None:
        """Traces the loop on a guess of what its state is."""
        self.site = extended(self.shown, hints.get(OBJECTS, ()))
        state = State(self.site, self.cells)
        slots = Slots(state, hints, owner, self.counted())
        try:
            self._traced(state, slots)
        except BaseException as error:
            state.restore()
            lesson = slots.lesson_of(error)
            if lesson:
                raise Learn(owner, lesson) from None
            # A number that took the wrong dtype may be the cause: try the body on the number.
            if isinstance(error, TypeError) and slots.has_numbers:
                self._loosely(state, Slots(state, hints, owner, self.counted(), loose=True))
            raise

    def _loosely(self, state: State, slots: Slots) -> None:
        """Traces the body with Python numbers kept as they are, for hints only; ignores errors."""
        try:
            self._traced(state, slots)
        except failures():
            pass
        finally:
            state.restore()

    def _traced(self, state: State, slots: Slots) -> None:
        own = self.own(slots.hints)
        n = len(own)
        watched = watch(self.cells)
        options = slots.hints.get(OPTIONS) or LoopOptions()

        def test(i: Tensor, flat: list[Any]) -> Value | bool | IndexedSlices:
            given = slots.values(flat[n:])
            state.write(given)
            with inside():
                answer = self.goes_on(flat[:n])
            self._must_be_pure(state, given, slots)
            answer = primitives.truth(answer)
            if options.most(self.count()) is None:
                self._must_end(answer, slots)
            return answer

        def body(
            i: SymbolicTensor, flat: list[SymbolicTensor | TensorArray], rows: list[SymbolicTensor]
        ) -> tuple[list[Tensor | TensorArray], list[SymbolicTensor]]:
            state.write(slots.values(flat[n:]))
            with inside(), collecting(options, slots, flat[n:]):
                mine = self.turn(i, flat[:n], rows)
            states, made = slots.outcome(state.read())
            state.restore()
            learn_of(watched, state, slots.hints.get(OBJECTS, ()), slots.owner)
            return [*mine, *states], made

        self._check_turn(slots.standing_in, "has no value")
        start, shapes = [*own, *slots.start], [x.shape for x in own] + slots.shapes()
        asked = None if self.counted() and options.maximum_iterations is None else test
        plan = primitives.LoopPlan(
            asked, body, start, shapes, options.most(self.count()), self.stacks()
        )
        try:
            result, stacks = primitives.loop(plan)
        except BaseException:
            put_back(watched)
            raise
        new = slots.final(result[n:], stacks)
        state.write(
            [value_trees.put_back(old, v) for old, v in zip(state.before, new, strict=True)]
        )

    def _must_be_pure(self, state: State, given: list[Any], slots: Slots) -> None:
        """A condition that changes something must run as often as Python would run it."""
        if ROTATED in slots.hints:
            return
        changed = any(a is not b for a, b in zip(given, state.read(), strict=True))
        if changed or primitives.has_effects():
            raise Learn(slots.owner, {ROTATED: Rotated()})

    def _must_end(self, answer: Any, slots: Slots) -> None:
        """Refuses an endless loop whose state changes its shape."""
        names = [slots.name(path) for path, hint in slots.hints.items() if isinstance(hint, Wider)]
        if names and not isinstance(answer, SymbolicTensor) and bool(answer):
            shown = " and ".join(f"`{n}`" for n in dict.fromkeys(names))
            raise at_site(
                ValueError(
                    f"{self.site.kind}: {shown} must keep its shape from turn to turn in a loop "
                    f"whose condition is always true; got another shape after one turn. Give the "
                    f"loop a condition that a turn makes false, or a `break`."
                )
            )

    def _check_turn(self, names: list[str], what: str) -> None:
        """Checks that the loop runs at least once, where names get their first value in it.

        Attributes and items (`o.x`, `d['k']`) may be read wherever their object is known.
        """
        names = [n for n in names if n in self.site.after or not n.isidentifier()]
        first = self.first() if names else True
        if first is True:
            return
        shown = " and ".join(f"`{n}`" for n in names)
        used = "is used" if all(map(str.isidentifier, names)) else "may be used"
        primitives.check(
            first,
            f"{self.site.kind}: {shown} {what} before the loop at line {self.site.line}, {used} "
            f"after it, and the loop made no turn. Give it a value before the loop.",
        )


class _While(_GraphLoop):
    kind = "while"

    def __init__(self, site: Construct, cells: Cells, t: Tensor, test: Any, body: Any) -> None:
        super().__init__(site, cells)
        self.t = primitives.truth(t)
        self.test = test
        self.body = body
        self.peeled = False

    def own(self, hints: Hints) -> list[Any]:
        return [self.t] if self.peeled or ROTATED in hints else []

    def goes_on(self, own: list[SymbolicTensor]) -> Any:
        return own[0] if own else _again(self.site, self.cells, self.test)

    def turn(self, i: Tensor | int, own: list[Any], rows: list[Any]) -> list[Any]:
        self.body()
        return [primitives.truth(_again(self.site, self.cells, self.test))] if own else []

    def first(self) -> Value | bool | IndexedSlices:
        return self.t

    def peel(self, numbers: frozenset[int]) -> None:
        # The condition of the second iteration is computed inside the branch: it joins the state.
        self.peeled = True
        name = self.cells.add(False)
        site = replace(
            self.site,
            symbols=(*self.site.symbols, Symbol(name)),
            live=self.site.live | {name},
            learned={},
        )

        def turn() -> None:
            self.cells.set(name, self.turn(0, [self.t], [])[0])

        choose_branch(site, self.cells, self.t, turn, _nothing, numbers)
        self.t = primitives.truth(self.cells.get(name))


class _For(_GraphLoop):
    kind = "for"

    def __init__(self, site: Construct, cells: Cells, rows: Source, body: Any) -> None:
        super().__init__(site, cells)
        self.rows = rows
        self.turns = rows.count()
        self.body = body

    def begin(self) -> None:
        """Gives the name of the item the start of a range, which it keeps if there is no turn."""
        name, rows = self.site.item, self.rows
        if name not in self.site.after or not isinstance(rows, Numbers):
            return
        if is_missing(self.cells.get(name)):
            self.cells.set(name, rows.first())

    def counted(self) -> bool:
        return not self.site.flags

    def count(self) -> Any:
        return self.turns

    def stacks(self) -> list[Tensor]:
        return self.rows.stacks()

    def goes_on(self, own: list[Any]) -> Any:
        stop = stopped(self.site, self.cells)
        return wrap(np.asarray(True)) if stop is False else not_(stop)

    def turn(self, i: SymbolicTensor, own: list[Any], rows: list[SymbolicTensor]) -> list[Any]:
        self.body(self.rows.item(i, rows))
        return []

    def first(self) -> Any:
        return self.turns > 0

    def peel(self, numbers: frozenset[int]) -> None:
        first = self.first()
        if first is True:
            self.body(self.rows.first())
        else:
            site = replace(self.site, learned={})
            run = lambda: self.body(self.rows.first())
            choose_branch(site, self.cells, first, run, _nothing, numbers)
        self.rows = self.rows.rest()
        self.turns = self.rows.count()


def comprehend(
    sites: tuple[Construct, Construct], rows: Tensor | Source, element: Any, condition: Any, form: Any,
    as_python: Any,
) -> Any:  # fmt: skip
    """A comprehension over a source of ours: a list that grows, filled in a loop."""
    if not isinstance(rows, Source):
        return as_python(rows)
    return _filled([(sites, None, condition, form)], rows, element)


def comprehend_all(clauses: Any, element: Any, as_python: Any) -> Any:
    """A comprehension of several clauses, or one with a condition that may be a tensor.

    A clause has its constructs, a function from the names of the clauses before it to its source,
    a condition on the names up to its own, and the form of its target. A generator whose first
    source is Python's stays one.
    """
    rows = clauses[0][1]()
    if as_python is not None and not isinstance(rows, Source):
        return as_python(rows)
    return _filled(clauses, rows, element)


def _filled(clauses: Any, rows: Tensor | list[Tensor] | range | Source, element: Any) -> Any:
    results: list[Any] = []

    def every() -> Any:
        return results

    cells = Cells(every)  # type: ignore[arg-type]  # a function is one

    def run(
        k: int, known: tuple[Tensor | int, ...], rows: Tensor | list[Tensor] | range | Source
    ) -> None:
        (loop, branch), _, condition, form = clauses[k]

        def body(item: Any) -> None:
            given = (*known, *_spread(item, form))

            def inside() -> None:
                if k + 1 == len(clauses):
                    results.append(element(*given))
                else:
                    run(k + 1, given, clauses[k + 1][1](*given))

            if condition is None:
                inside()
            else:
                if_(branch, cells, condition(*given), inside, _nothing)

        for_(loop, cells, rows, body)

    run(0, (), rows)
    return results


def _spread(item: Any, form: Any) -> Any:
    """The parts of an item for the names of a target."""
    if form is None:
        return (item,)
    parts = tuple(item)
    if len(parts) != len(form):
        few = "not enough" if len(parts) < len(form) else "too many"
        raise ValueError(f"{few} values to unpack (expected {len(form)}, got {len(parts)})")
    return [x for part, inner in zip(parts, form, strict=True) for x in _spread(part, inner)]

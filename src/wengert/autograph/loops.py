"""Loops at run time: one that Python decides is unrolled; one on a tensor is traced as a loop.

The state of a loop is what its body changes and what is read again later. A guess is made of what
each variable is; a body that makes something else of it teaches a better guess (`learning`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from wengert.autograph import primitives, trees
from wengert.autograph.branches import choose_branch, if_, stopped
from wengert.autograph.learning import FirstTurn, Learn, Rotated, inside, retrying
from wengert.autograph.logic import and_, not_
from wengert.autograph.names import Symbol
from wengert.autograph.options import OPTIONS, LoopOptions, collecting
from wengert.autograph.rows import Source
from wengert.autograph.slots import Slots
from wengert.autograph.state import Cells, State
from wengert.autograph.unit import Construct
from wengert.autograph.values import looping
from wengert.core.apply import wrap
from wengert.core.context import get_state
from wengert.core.errors import at_site

RESUME = object()
# A Python loop whose `break` hangs on a tensor must be unrolled to its end.
_MOST_UNROLLED = 10_000
ROTATED = "rotated"
Hints = dict[Any, Any]


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
    return test() if stop is False else and_(not_(stop), test)


def for_(site: Construct, cells: Cells, rows: Any, body: Any) -> None:
    """Runs a `for` loop over a source of ours, or over anything that Python can."""
    if isinstance(rows, Source):
        loop = _For(site, cells, rows, body)
        if not isinstance(loop.count, int) or loop.count > 0:
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
    """One loop on its way into the graph: its own state, and that of the user's function."""

    kind = "loop"

    def __init__(self, site: Construct, cells: Cells) -> None:
        self.site = site
        self.cells = cells
        site.met = True

    def own(self, hints: Hints) -> list[Any]:
        """The state that is the loop's own, at its start."""
        raise NotImplementedError

    def goes_on(self, own: list[Any], hints: Hints) -> Any:
        """Whether there is another turn."""
        raise NotImplementedError

    def turn(self, own: list[Any], hints: Hints) -> list[Any]:
        """Makes a turn and returns the loop's own state after it."""
        raise NotImplementedError

    def limit(self) -> Any:
        """The most turns there can be, or `None`."""
        return None

    def first(self) -> Any:
        """Whether there is a first turn: a truth value or a tensor."""
        raise NotImplementedError

    def peel(self, numbers: frozenset[int]) -> None:
        """Makes the first turn on its own, since some of the state begins as `None`."""
        raise NotImplementedError

    def run(self) -> None:
        retrying(self.site.learned, self._key(), self._attempt)

    def _key(self, *more: Any) -> Any:
        return (self.kind, *more, *map(trees.form, State(self.site, self.cells).before))

    def _attempt(self, hints: Hints) -> None:
        peeled = frozenset(k for k, h in hints.items() if isinstance(h, FirstTurn))
        if not peeled:
            self._trace(hints)
            return
        names = [str(self.site.symbols[k]) for k in sorted(peeled)]
        self._check_turn(names, "is None")
        self.peel(peeled)
        retrying(self.site.learned, self._key("rest"), self._trace)

    def _trace(self, hints: Hints) -> None:
        """Traces the loop on a guess of what its state is."""
        state = State(self.site, self.cells)
        slots = Slots(state, hints)
        try:
            self._traced(state, slots, hints)
        except BaseException as error:
            state.restore()
            # A number that took the wrong dtype may be the cause: try the body on the number.
            if isinstance(error, Exception) and slots.has_numbers:
                self._loosely(state, hints)
            raise

    def _loosely(self, state: State, hints: Hints) -> None:
        """Learns what the body makes of numbers that stay numbers; says nothing if it fails."""
        try:
            self._traced(state, Slots(state, hints, loose=True), hints)
        except Exception:
            pass
        finally:
            state.restore()

    def _traced(self, state: State, slots: Slots, hints: Hints) -> None:
        own = self.own(hints)
        count = len(own)
        options = hints.get(OPTIONS) or LoopOptions()

        def test(*flat: Any) -> Any:
            given = slots.values(flat[count:])
            state.write(given)
            with inside():
                answer = self.goes_on(list(flat[:count]), hints)
            self._must_be_pure(state, given, hints)
            return primitives.truth(answer)

        def body(*flat: Any) -> Any:
            state.write(slots.values(flat[count:]))
            with inside(), collecting(options, slots, flat[count:]):
                mine = self.turn(list(flat[:count]), hints)
            return [*mine, *slots.outcome(state.read())]

        self._check_turn([s for s in slots.standing_in if s in self.site.after], "has no value")
        found = primitives.loop(
            test,
            body,
            [*own, *slots.start],
            [x.shape for x in own] + slots.shapes(),
            options.given(self.limit()),
        )
        self._settle(state, slots, found[count:])

    def _must_be_pure(self, state: State, given: list[Any], hints: Hints) -> None:
        """A condition that changes something must run as often as Python would run it."""
        if ROTATED in hints:
            return
        now = get_state()
        graph = None if now is None else now.graph
        changed = any(a is not b for a, b in zip(given, state.read(), strict=True))
        if changed or any(n.op.effect for n in (() if graph is None else graph.nodes)):
            raise Learn({ROTATED: Rotated()})

    def _check_turn(self, names: list[str], what: str) -> None:
        """Checks that there is a turn, which some names need to get a value."""
        names = [n for n in names if n in self.site.after]
        if not names or self.first() is True:
            return
        shown = " and ".join(f"`{n}`" for n in names)
        primitives.check(
            self.first(),
            f"{self.site.kind}: {shown} {what} before the loop at line {self.site.line}, is used "
            f"after it, and the loop made no turn. Give it a value before the loop.",
        )

    def _settle(self, state: State, slots: Slots, found: list[Any]) -> None:
        values = slots.values(found)
        state.write([trees.put_back(old, v) for old, v in zip(state.before, values, strict=True)])


class _While(_GraphLoop):
    kind = "while"

    def __init__(self, site: Construct, cells: Cells, t: Any, test: Any, body: Any) -> None:
        super().__init__(site, cells)
        self.t = primitives.truth(t)
        self.test = test
        self.body = body
        self.peeled = False

    def _rotated(self, hints: Hints) -> bool:
        return self.peeled or ROTATED in hints

    def own(self, hints: Hints) -> list[Any]:
        return [self.t] if self._rotated(hints) else []

    def goes_on(self, own: list[Any], hints: Hints) -> Any:
        return own[0] if own else _again(self.site, self.cells, self.test)

    def turn(self, own: list[Any], hints: Hints) -> list[Any]:
        self.body()
        if not own:
            return []
        return [primitives.truth(_again(self.site, self.cells, self.test))]

    def first(self) -> Any:
        return self.t

    def peel(self, numbers: frozenset[int]) -> None:
        # The condition of the second turn is found inside the branch, so it joins the state.
        self.peeled = True
        name = self.cells.add(False)
        site = replace(
            self.site,
            symbols=(*self.site.symbols, Symbol(name)),
            live=self.site.live | {name},
            learned={},
        )

        def turn() -> None:
            self.cells.set(name, self.turn([self.t], {})[0])

        choose_branch(site, self.cells, self.t, turn, _nothing, numbers)
        self.t = primitives.truth(self.cells.get(name))


class _For(_GraphLoop):
    kind = "for"

    def __init__(self, site: Construct, cells: Cells, rows: Source, body: Any) -> None:
        super().__init__(site, cells)
        self.rows = rows
        self.count = rows.count()
        self.body = body
        self.start = 0

    def own(self, hints: Hints) -> list[Any]:
        return [wrap(np.array(self.start, np.int32))]

    def goes_on(self, own: list[Any], hints: Hints) -> Any:
        more = own[0] < self.count
        stop = stopped(self.site, self.cells)
        return more if stop is False else more & not_(stop)

    def turn(self, own: list[Any], hints: Hints) -> list[Any]:
        self.body(self.rows.item(own[0]))
        return [own[0] + 1]

    def limit(self) -> Any:
        return self.count - self.start

    def first(self) -> Any:
        return self.count > 0

    def peel(self, numbers: frozenset[int]) -> None:
        first = self.first()
        if first is True:
            self.body(self.rows.item(0))
        else:
            site = replace(self.site, learned={})
            choose_branch(
                site, self.cells, first, lambda: self.body(self.rows.item(0)), _nothing, numbers
            )
        self.start = 1


def comprehend(
    sites: tuple[Construct, Construct], rows: Any, element: Any, condition: Any, unpack: bool,
    as_python: Any,
) -> Any:  # fmt: skip
    """A comprehension over a source of ours: a list that grows, filled in a loop."""
    if not isinstance(rows, Source):
        return as_python(rows)
    found: list[Any] = []

    def every() -> Any:
        return found

    cells = Cells(every)  # type: ignore[arg-type]  # a function is one

    def add(given: Any) -> None:
        found.append(element(*given))

    def body(item: Any) -> None:
        given = tuple(item) if unpack else (item,)
        if condition is None:
            add(given)
        else:
            if_(sites[1], cells, condition(*given), lambda: add(given), _nothing)

    for_(sites[0], cells, rows, body)
    return found

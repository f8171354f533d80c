"""Writing down everything that happens: operations, values that leave the tensors, assignments.

On only under the doctor and inside `explain.nan`, since it costs as much as the operations. It is
a listener like a tape, in every thread; what is not an operation is seen by standing in for the
methods of tensors and variables for as long as it runs.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from threading import get_ident
from typing import Any, NamedTuple

import numpy as np

from wengert.core import dtypes, sites
from wengert.core.context import Listener, add_listener, get_state, remove_listener
from wengert.core.observers import subscribe, unsubscribe
from wengert.core.tensor import Tensor, Value, new_id
from wengert.core.types import IndexedSlices, Op, RawSite, Variable
from wengert.explain import source
from wengert.explain.arrivals import Arrivals
from wengert.explain.numerics import Numerics
from wengert.explain.places import written
from wengert.tape import history
from wengert.tape.history import Step

Sample = tuple[int, np.ndarray | None]

MOST = 200_000
_SAMPLE = 64
_FUNCTIONS = 1000


class Left(NamedTuple):
    """A value that left the tensors."""

    clock: int
    tensor: int
    site: Any
    sample: Sample


class History(Listener):
    """What happened, oldest first, up to a bound."""

    everywhere = True

    def __init__(self, numerics: bool = True) -> None:
        self._rows: deque[Any] = deque(maxlen=MOST)
        self._count = 0
        self._left: deque[Left] = deque(maxlen=MOST // 20)
        self._assigned: deque[Step] = deque(maxlen=MOST // 20)
        self._called: deque[Step] = deque(maxlen=MOST // 20)
        self.inside: dict[tuple[int, ...], tuple[Any, dict[int, int]]] = {}  # graphs of calls
        self._given: dict[int, tuple[Any, Sample, int]] = {}  # constants: site, sample, clock
        self._made: set[int] = set()
        self.numerics = Numerics() if numerics else None
        self.arrivals = None if self.numerics is None else Arrivals(self.numerics)

    @property
    def complete(self) -> bool:
        """Whether nothing was forgotten."""
        return self._count <= MOST

    # As a listener. Calls of functions are told by `called`, whoever follows them.

    def record(
        self,
        op: Op,
        inputs: tuple[Value, ...],
        outputs: tuple[Tensor, ...],
        attrs: Any,
        site: RawSite,
    ) -> None:
        made = self._made
        ids = tuple([x._id if x._id in made else self._id_of(x, site) for x in inputs])
        if len(outputs) == 1:
            out = outputs[0]
            outs = (out._id,)
            made.add(out._id)
            whole = out._array.dtype.num not in dtypes.INEXACT
        else:
            outs = tuple([o._id for o in outputs])
            made.update(outs)
            whole = bool(outs) and outputs[0]._array.dtype.num not in dtypes.INEXACT
        self._count += 1
        if self._count % MOST == 0:
            self._forget()
        self._rows.append((op, ids, outs, site, get_ident(), whole))
        if self.numerics is not None and not whole:
            state = get_state()
            backward = state is not None and state.site is not None
            given, made_ = [x._array for x in inputs], [o._array for o in outputs]
            self.numerics.check(op, given, made_, ids, outs, site, backward, inputs)

    def _forget(self) -> None:
        """Drops what belongs to rows that are gone."""
        self._made = {o for row in self._rows for o in row[2]}
        self._given = dict(list(self._given.items())[-MOST:])

    def _id_of(self, x: Value, site: RawSite) -> int:
        """The id of an input; constants are noted, and Python numbers get an id for each use."""
        if type(x) is not Tensor or not self._left:
            return x._id  # before anything has left the tensors, nothing can have come back
        if x._site is None and not x._array.ndim:
            number = -new_id()
            self._given[number] = site, _sample(x._array), -number
            return number
        if x._id not in self._given:
            self._given[x._id] = x._site, _sample(x._array), x._id
        return x._id

    def note(self, tensors: list[Tensor] | list[Value]) -> None:
        """Notes tensors that no operation has used yet, such as a target made of a number."""
        for x in tensors:
            if type(x) is Tensor and x._id not in self._made:
                self._given.setdefault(x._id, (x._site, _sample(x._array), x._id))

    # What is not an operation.

    def left(self, value: Value) -> None:
        """Notes that the value of a tensor is taken out."""
        if isinstance(value._array, np.ndarray):
            site = sites.caller(1)
            self._left.append(Left(new_id(), value._id, site, _sample(value._array)))

    def assigned(self, variable: Variable, value: Any) -> None:
        """Notes that a variable gets a tensor's value."""
        if isinstance(value, Value):
            site = sites.caller(1)
            step = Step(
                "", (value._id,), (variable._id,), (False,), site, False, get_ident(), "assign"
            )
            self._assigned.append(step._replace(name=str(new_id())))

    def stored(self, variable: Variable, value: Any, count: int) -> None:
        """Notes that a variable has got a value; `count` is that of `numerics` before."""
        if self.arrivals is not None:
            self.arrivals.assigned(variable, value, count, sites.caller(1))

    @property
    def count(self) -> int:
        """How many results have not been finite so far, though what they were made of was."""
        return 0 if self.numerics is None else self.numerics.count

    def called(self, trace: Any, leaves: list[Tensor], outs: list[Any], site: RawSite) -> None:
        """Notes the call of a traced function as one step."""
        graph = trace.graph
        given = dict(zip(graph.inputs, leaves, strict=False))
        given |= {v: s for s, v in graph.captures.values() if isinstance(s, Value)}
        given |= {h.initial: h.variable for h in graph.read_variables()}
        ids, made = tuple([x._id for x in given.values()]), tuple([o._id for o in outs])
        self._made.update(made)
        self._called.append(
            Step(graph.name, ids, made, (True,) * len(ids), site, False, get_ident())
        )
        values = {x._id: v for v, x in given.items()}
        values |= dict(zip(made, graph.outputs, strict=False))
        self.inside[made] = graph, values
        if len(self.inside) > _FUNCTIONS:
            del self.inside[next(iter(self.inside))]

    # What tapes are told.

    def steps(self, evidence: history.Evidence) -> Iterator[Step]:
        """Everything as steps, with the ways that values took outside the operations."""
        for op, ids, outs, site, thread, whole in self._rows:
            yield history.step_of(op, ids, outs, site, whole, thread=thread)
        yield from self._called
        for step in self._assigned:
            moment = int(step.name)
            if _open(evidence, moment):
                yield step._replace(name=written(step.site))
        yield from self._ways_back()
        yield from self._frozen()

    def _ways_back(self) -> Iterator[Step]:
        """Values that left and came back as constants."""
        gone = list(self._left)
        for number, (site, sample, moment) in self._given.items():
            for one in _sources(gone, moment, sample, site):
                yield Step(
                    written(one.site), (one.tensor,), (number,), (False,), one.site, False,
                    get_ident(), "left",
                )  # fmt: skip

    def _frozen(self) -> Iterator[Step]:
        """Values that left and became constants of a trace."""
        gone = list(self._left)
        for made, (graph, _) in self.inside.items() if gone else ():
            for value, array in graph.constants.items():
                sample = _sample(array)
                one = next((x for x in reversed(gone) if _same(x.sample, sample)), None)
                if one is not None:
                    reader = next((n for n in graph.nodes if value in n.inputs), None)
                    site = one.site if reader is None else reader.site
                    yield Step(
                        written(one.site), (one.tensor,), made, (False,), site, False,
                        get_ident(), "frozen",
                    )  # fmt: skip


def _sources(gone: list[Left], moment: int, sample: Sample, site: RawSite) -> Iterator[Left]:
    """The values that a constant was made of: the last with its numbers, or all from one place."""
    place: Any = None
    for one in reversed(gone):
        if one.clock >= moment:
            continue
        if place is not None:
            if one.site == place:
                yield one
        elif _same(one.sample, sample):
            yield one
            return
        elif _leads(one.site, site):
            place = one.site
            yield one


def _open(evidence: history.Evidence, moment: int) -> bool:
    from wengert.explain import clock

    return clock.when(evidence, moment)[0] == clock.RECORDING


def _sample(array: np.ndarray) -> Sample:
    """A few elements and the size, to know a value again by."""
    if not isinstance(array, np.ndarray) or array.dtype.kind not in "fc":
        return 0, None
    return array.size, array.reshape(-1)[:_SAMPLE].copy()


def _same(left: Sample, given: Sample) -> bool:
    """Whether a constant is the value that left, and not just a common number."""
    if left[0] != given[0] or not left[0] or not np.array_equal(left[1], given[1]):  # type: ignore[arg-type]  # a size of 0 has no elements
        return False
    numbers = np.real(np.asarray(given[1]))
    common = np.abs(numbers) <= 100
    return not (common & (numbers == np.round(numbers * 4) / 4)).all()


def _leads(start: RawSite, end: RawSite) -> bool:
    """Whether the source text leads from the place where a value left to a constant."""
    if start is None or end is None:
        return False
    a, b = sites.locate(start), sites.locate(end)
    if a is None or b is None or a.file != b.file:
        return False
    if a.line == b.line:
        return start[0] is end[0]
    return any(f.kind == "left" and f.site.line == a.line for f in _slice(b).found)


def _slice(site: sites.Site) -> source.Slice:
    return source.Slice(site)


_LEAVING = ("numpy", "__array__", "__float__", "__int__", "__complex__", "__index__")
# Methods that store something in a variable, and the place of what they store.
_ASSIGNING = {"assign": 0, "assign_add": 0, "assign_sub": 0, "_assign_slice": 1}
_ASSIGNING |= {f"scatter_{how}": 0 for how in ("add", "sub", "mul", "div", "max", "min", "update")}
_ASSIGNING |= {f"scatter_nd_{how}": 1 for how in ("add", "sub", "max", "min", "update")}


@contextmanager
def watching(seen: History) -> Iterator[History]:
    """Writes down what happens in a block, in this thread and those it starts."""
    undo: list[Callable[[], None]] = []
    try:
        add_listener(seen)
        if seen.arrivals is not None:
            subscribe(seen.arrivals)
        _stand_in(seen, undo)
        yield seen
    finally:
        remove_listener(seen)
        if seen.arrivals is not None:
            unsubscribe(seen.arrivals)
        for put_back in reversed(undo):
            put_back()


def _stand_in(seen: History, undo: list[Callable[[], None]]) -> None:
    for owner in (Value, Variable):
        for name in _LEAVING:
            if name in vars(owner):
                _replace(owner, name, _leaving(vars(owner)[name], seen), undo)
    for name in ("item", "tolist"):
        _replace(Tensor, name, _leaving(vars(Tensor)[name], seen), undo)
    for name, place in _ASSIGNING.items():
        owner = next((k for k in Variable.__mro__ if name in vars(k)), None)
        if owner is not None:
            _replace(owner, name, _assigning(vars(owner)[name], seen, place), undo)
    _replace(Variable, "__init__", _making(Variable.__init__, seen), undo)
    _replace(threading.Thread, "start", _starting(threading.Thread.start, seen), undo)


def _replace(owner: type, name: str, new: Any, undo: list[Callable[[], None]]) -> None:
    old = vars(owner)[name]
    setattr(owner, name, new)
    undo.append(lambda: setattr(owner, name, old))


def _leaving(old: Any, seen: History) -> Any:
    @wraps(old)
    def method(self: Value, *args: Any, **kwargs: Any) -> float | np.generic | np.ndarray:
        seen.left(self)
        return old(self, *args, **kwargs)

    return method


def _assigning(old: Any, seen: History, place: int) -> Any:
    @wraps(old)
    def method(self: Variable, *args: Any, **kwargs: Any) -> Variable:
        given = [*args, *kwargs.values()]
        stored = given[place] if len(given) > place else None
        stored = stored.values if isinstance(stored, IndexedSlices) else stored
        seen.assigned(self, stored)
        count = seen.count
        result = old(self, *args, **kwargs)
        seen.stored(self, stored, count)
        return result

    return method


def _making(old: Any, seen: History) -> Any:
    @wraps(old)
    def method(
        self: Variable,
        initial_value: Tensor | float | list[float | list[float]] | None = None,
        *args: Any,
        **kwargs: Any,
    ) -> None:
        count = seen.count
        old(self, initial_value, *args, **kwargs)
        seen.assigned(self, initial_value)
        seen.stored(self, initial_value, count)

    return method


def _starting(old: Any, seen: History) -> Any:
    @wraps(old)
    def start(self: Any) -> None:
        run = self.run

        def listened() -> None:
            try:
                add_listener(seen)
                run()
            finally:
                remove_listener(seen)

        self.run = listened
        old(self)

    return start

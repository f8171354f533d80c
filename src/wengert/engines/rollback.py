"""Variables stay as they were when a run fails: in compiled code by choice, on the host by a log.

Compiled code chooses between old and new values by the flag of failed checks (`Keeper`). On the
host, variables get their values so far before Python looks at them in the middle of a run; if the
run fails later, the undo log puts the old ones back (`undoing`).
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from wengert.core.lazy_modules import lax
from wengert.core.lowering_checks import gathering
from wengert.core.padded_stacks import Padded
from wengert.core.types import JaxArray, Variable
from wengert.core.variable import put_values
from wengert.graph.ir import Graph, Node

if TYPE_CHECKING:
    from wengert.engines.lower import Lowering


def anywhere(flag: JaxArray | np.ndarray) -> Any:
    flag = flag if hasattr(flag, "ndim") else np.asarray(flag)
    return lax.reduce_or(flag, tuple(range(flag.ndim))) if flag.ndim else flag


def either(flags: list[JaxArray | np.generic]) -> JaxArray | np.ndarray:
    result: Any = np.zeros((), bool)
    for flag in flags:
        result = lax.bitwise_or(result, flag)
    return result


class Keeper:
    """Keeps variables as they were where a check has failed by the time they get a new value.

    Later nodes read the value that was chosen. If they read the new one and only the program's
    result were chosen, XLA would compute it twice and copy the variable before it.
    """

    def __init__(self, graph: Graph, given: Any, checks: list[Any], low: Lowering) -> None:
        self._low, self._checks = low, checks
        places = {v: k for k, v in enumerate(graph.all_inputs())}
        self._starts = [
            None if h.initial is None else given[places[h.initial]] for h in graph.written()
        ]
        values = [h.current for h in graph.written()]
        self._values = values
        self._early = {
            v: s for v, s in zip(values, self._starts, strict=True) if values.count(v) == 1
        }
        self._chosen: set[tuple[Any, int]] = set()
        self._rows: dict[int, tuple[Any, Any]] = {}  # places and old rows of sparse updates
        self._bad: tuple[int, Any] = (0, None)

    def bad(self) -> tuple[int, JaxArray | None]:
        """How many conditions there are by now, and whether one of them is met."""
        count = len(self._checks) + len(self._low.wanted)
        if count != self._bad[0]:
            wishes = [w > np.int32(room) for w, _, room in self._low.wanted]
            self._bad = count, either([anywhere(c) for c in self._checks] + wishes)
        return self._bad

    def choose(self, node: Node, env: dict[int, Any]) -> None:
        """Chooses for those results of a node that are new values of variables."""
        for value in node.outputs:
            start, new = self._early.get(value), env[value]
            if start is None or type(new) in (np.ndarray, Padded) or new.shape != start.shape:
                continue
            count, bad = self.bad()
            places = _places(node, start, env)
            if places is not None:
                self._rows[value] = places, start.at[_index(places)].get(mode="clip")
                env[value] = _updated(node, start, env, bad) if count else new
            elif count:
                env[value] = lax.select(bad, start, new)
            self._chosen.add((value, count))

    def kept(self, news: list[Any]) -> list[JaxArray]:
        """The values of the variables after the step."""
        return [
            self._last(value, start, new)
            for value, start, new in zip(self._values, self._starts, news, strict=True)
        ]

    def _last(self, value: int | None, start: Any, new: JaxArray) -> JaxArray:
        """One of them; what was chosen must be undone if a check failed that came after it."""
        count, bad = self.bad()
        if start is None or (value, count) in self._chosen:
            return new
        if value not in self._rows:
            return lax.select(bad, start, new)
        places, rows = self._rows[value]
        back = lax.select(bad, places, _outside(places))
        return new.at[_index(back)].set(rows, mode="drop")


# Sparse updates. A choice between old and new would go through a whole table for the sake of a few
# rows; so where a check fails they update nothing, or the old rows are put back.


def _places(node: Node, start: Any, env: dict[int, JaxArray | np.ndarray]) -> Any:
    """The index tuples of a node that updates rows of a variable, `None` for other nodes."""
    if not node.op.scatters or env[node.inputs[0]] is not start:
        return None
    result = env[node.inputs[1]]
    return result if result.size and result.shape[-1] else None


def _outside(places: Any) -> JaxArray:
    return lax.full(places.shape, np.iinfo(places.dtype).max, places.dtype)


def _index(places: JaxArray) -> tuple[JaxArray, ...]:
    return tuple(places[..., k] for k in range(places.shape[-1]))


def _updated(node: Node, start: Any, env: dict[int, JaxArray | np.ndarray], bad: Any) -> JaxArray:
    lower: Any = node.op.lower
    places = env[node.inputs[1]]
    with gathering():  # the places were looked at before
        return lower(start, lax.select(bad, _outside(places), places), env[node.inputs[2]])


R = TypeVar("R")
# Variables with where their values were, by number.
_log: ContextVar[dict[int, tuple[Variable, object, object]] | None] = ContextVar(
    "wengert_undo", default=None
)


def note(variable: Variable) -> None:
    """Remembers what a variable holds, the first time in a run."""
    log = _log.get()
    if log is not None and variable._id not in log:
        log[variable._id] = (variable, variable._host, variable._device)


def undoing(run: Callable[..., R], *given: object) -> R:
    """What `run` returns; if it fails, all variables are put back that it has changed."""
    if _log.get() is not None:
        return run(*given)
    log: dict[int, tuple[Variable, object, object]] = {}
    try:
        _log.set(log)
        return run(*given)
    except BaseException:
        if log:
            put_values(*zip(*log.values(), strict=True))
        raise
    finally:
        _log.set(None)

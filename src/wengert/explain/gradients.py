"""Why a gradient is `None`: from what a tape noted to one reason for a source.

First what the clock and the tape's own notes prove, then the best path through all that is known
to have happened, and only where those are silent what the source text makes likely.
"""

from __future__ import annotations

from inspect import CO_ASYNC_GENERATOR, CO_COROUTINE
from typing import TYPE_CHECKING, Any

from wengert.core.sites import Site, locate
from wengert.core.types import Tensor, Value, Variable
from wengert.explain import clock, paths, source
from wengert.explain.causes import WHEN, Telling
from wengert.explain.explanation import Explanation
from wengert.explain.graph_paths import cut_inside
from wengert.explain.places import written
from wengert.tape import history
from wengert.tape.gradient_tape import GradientTape
from wengert.tape.history import Step

if TYPE_CHECKING:
    from wengert.tape.history import Event


class Case(Telling):
    """Decides which reasons hold."""

    def explain(self) -> list[Explanation]:
        """The reasons, each of which has to be removed; nearest to the target first."""
        if not self.source.dtype.is_differentiable:
            return [self._whole(self.source, "source")]
        results = [*self._certain(), *self._by_path()]
        return _once(results or self._likely() or [self._independent()])

    # What the tape's own notes prove.

    def _certain(self) -> list[Explanation]:
        if all(not t.dtype.is_differentiable for t in self.targets):
            return [self._whole(self.targets[0], "target")]
        outside = [self._outside(t._id, t._site, self._word(t)) for t in self.targets if _is_new(t)]
        result = [e for e in outside if e is not None] if all(outside) else []
        return [*result[:1], *self._unwatched()]

    def _outside(self, number: int, site: Any, word: str, **rest: Any) -> Explanation | None:
        """The reason for a tensor that was made while the tape did not record."""
        state, event = clock.when(self.evidence, number)
        if state == clock.RECORDING or number in self.evidence.tracked:
            return None
        site = history.asked_at(number) or site
        other = self._other_tape(number) if state != clock.PAUSED else None
        if other is not None:
            return self._elsewhere(site, word, other, **rest)
        if state == clock.AFTER and _in_task(site):
            return self._late_task(site, word, **rest)
        return self._when(state, event, site, word, **rest)

    def _other_tape(self, number: int) -> str | None:
        """The name of another tape near the call that recorded this tensor."""
        for name, other in self.names.others(GradientTape):
            seen = other._evidence.tracked if other._evidence is not None else other._tracked
            if other is not self.tape and number in seen:
                return name
        return None

    def changed(self) -> Explanation:
        """What is another than in an earlier call from the same line, which had a gradient."""
        told = clock.watched(self.evidence, self.source._id) is not None
        if not told and not isinstance(self.source, Variable):
            return self._never_watched(before=True)
        return self.not_taken(self.branch_around())

    def _unwatched(self) -> list[Explanation]:
        """Reasons why the tape does not follow the source at all."""
        s = self.source
        if s._id in self.evidence.tracked:
            return self._watched_late()
        if not isinstance(s, Variable):
            reset = self._forgotten(s._id)
            return [self._never_watched() if reset is None else self._watch_forgotten(reset)]
        if not self.evidence.watches_variables:
            return [self._watches_nothing()]
        return [] if s.trainable else [self._not_trainable()]

    def _forgotten(self, number: int) -> Event | None:
        """The reset that forgot a watched tensor."""
        told = [e for e in self.evidence.events if e.kind == clock.WATCHED and e.about == number]
        later = [e for e in self.evidence.events if e.kind == clock.RESET]
        return next((r for r in later if told and r.clock > told[-1].clock), None)

    def _watched_late(self) -> list[Explanation]:
        event = clock.watched(self.evidence, self.source._id)
        if event is None or any(not _is_new(t) or t._id > event.clock for t in self.targets):
            return []
        return [self._late_watch(event, self.targets[0]._site, certain=True)]

    # The best path through what happened.

    def _by_path(self) -> list[Explanation]:
        trail = paths.search(
            self.steps, [t._id for t in self.targets], self.source._id, self._blocked
        )
        if trail.edges is None:
            return []
        late = self._used_early(trail)
        breaks = [self._broken(trail, k) for k in self._breaks(trail)]
        if not breaks and not late:
            inside = self._inside_a_call(trail)
            if inside or self.source._id not in self.evidence.tracked:
                return inside
            return self._silent_rule(trail) or self._unheard(trail)
        return [*breaks, *late]

    def _breaks(self, trail: paths.Trail) -> list[int]:
        """Where the path breaks, one place for each kind of break.

        Of an operation that only ignores this input (the condition of `where`) nothing is said if
        what made the input has no gradient either.
        """
        assert trail.edges is not None, "a broken path is a path"
        table: dict[str, int] = {}
        for k in trail.broken:
            if trail.on_integers(k):
                continue  # what made it an integer is to blame
            edge = trail.edges[k]
            before = table.get(edge.block)
            if before is None or (
                _ignores(trail.edges[before]) and not _ignores(edge) and edge.block == "cut"
            ):
                table[edge.block] = k
        return sorted(table.values())

    def _used_early(self, trail: paths.Trail) -> list[Explanation]:
        """A path on which the source was used before it was watched."""
        event = clock.watched(self.evidence, self.source._id)
        first = (trail.edges or [None])[-1]
        if event is None or first is None or first.step.outputs[0] > event.clock:
            return []
        return [self._late_watch(event, first.step.site, certain=True)]

    def _blocked(self, step: Step, k: int) -> str:
        if step.kind:
            return step.kind
        state, _ = clock.when(self.evidence, step.outputs[0])
        if state == clock.FORGOTTEN:
            return clock.FORGOTTEN
        if step.thread:
            if step.thread != self.evidence.thread and state == clock.RECORDING:
                return "thread"
            if state != clock.RECORDING:
                return state
        return "" if step.passes[k] and not step.whole else "cut"

    def _broken(self, trail: paths.Trail, k: int) -> Explanation:
        assert trail.edges is not None, "a broken path is a path"
        edge = trail.edges[k]
        step, number = edge.step, edge.step.outputs[0]
        rest: dict[str, Any] = {"reached": self._reached(trail.edges[:k])}
        word = self._named(number, step)
        if edge.block in WHEN:
            result = self._outside(number, step.site, word, **rest)
            if result is not None:
                return result
        if edge.block == "thread":
            return self._thread(step.site, word, certain=True, **rest)
        if edge.block in ("left", "assign", "frozen"):
            text = step.name or written(step.site)
            return self._carried(edge.block, step.site, text, certain=True, **rest)
        return self._cut(step, **rest)

    def _silent_rule(self, trail: paths.Trail) -> list[Explanation]:
        """All operations on the path pass gradients, so a rule of the user's did not."""
        edges = trail.edges or []
        custom = [e for e in edges if e.step.user]
        if not custom:
            return []
        reached = self._reached(edges[: edges.index(custom[0])])
        return [self._answered_none(custom[0], reached=reached, certain=len(custom) == 1)]

    def _inside_a_call(self, trail: paths.Trail) -> list[Explanation]:
        """The path leads through a traced function, and is cut inside it."""
        for k, edge in enumerate(trail.edges or ()):
            graph, values = self.calls.get(edge.step.outputs, (None, {}))
            start = values.get(edge.input)
            for end in [values[o] for o in edge.step.outputs if o in values] if graph else ():
                result = cut_inside(graph, start, end) if start is not None else None
                if result is not None:
                    step, behind = result
                    passed = (k + len(behind), behind[-1] if behind else None)
                    return [self._cut(step, reached=passed)]
        return []

    def _unheard(self, trail: paths.Trail) -> list[Explanation]:
        """The tape was open, but not for the code that ran: a task with a context of its own."""
        for edge in reversed(trail.edges or ()):
            number = edge.step.outputs[0]
            if number not in self.evidence.tracked:
                word = self._named(number, edge.step)
                return [self._other_task(edge.step.site, word)]
        return []

    # What the source text makes likely.

    def _likely(self) -> list[Explanation]:
        result = self._branch() or self._read_source() or self._dead_end()
        return [result] if result is not None else []

    def _branch(self) -> Explanation | None:
        branch = self.branch_around()
        return self.not_taken(branch) if self.before or branch is not None else None

    def _read_source(self) -> Explanation | None:
        name = self.names.python(self.source)
        for t in self.targets:
            site = place_of(t)
            if site is None:
                continue
            read = source.Slice(site)
            # Without a mention of the source the slice would only be a guess.
            if name is not None and not read.mentions(name):
                continue
            result = self._from_slice(read, site, t)
            if result is not None:
                return result
        return None

    def _from_slice(self, read: source.Slice, site: Site, t: Tensor) -> Explanation | None:
        own = isinstance(self.source, Variable)  # the source may be made on the way itself
        for one in read.found:
            if one.kind != "stop" and not (own and "Variable(" in one.text):
                return self._carried(one.kind, one.site, one.text, certain=False)
        event = clock.watched(self.evidence, self.source._id)
        for name, _ in read.names:
            value = self.names.value(name)
            if not isinstance(value, Tensor) or value._id == self.source._id:
                continue
            inner = place_of(value)
            if inner is None or not source.Slice(inner).mentions(self.names.python(self.source)):
                continue
            result = self._outside(value._id, value._site, f"`{name}`", certain=False)
            if result is not None:
                return result
            for step in self.steps.get(value._id, ()):
                if not any(step.passes):
                    return self._cut(step, certain=False)
            if event is not None and value._id < event.clock and _is_new(value):
                return self._late_watch(event, value._site, certain=False)
        asks_itself = t._site is not None and self.asked is not None and t._site[0] is self.asked[0]
        if not asks_itself and source.runs_in_a_thread(site) is not None:
            return self._thread(t._site, self._word(t), certain=False)
        if t._id not in self.evidence.tracked and _in_task(t._site):
            return self._other_task(t._site, self._word(t), certain=False)
        # A stop may stand on another path, so it is said only where nothing else is found.
        stops = [one for one in read.found if one.kind == "stop"]
        return self._stopped(stops[0].site, certain=False) if stops else None

    def _dead_end(self) -> Explanation | None:
        """An operation without gradient at which all that came of the source ended."""
        carried, last = {self.source._id}, None
        for step in sorted({s for made in self.steps.values() for s in made}, key=_when_made):
            if not carried.isdisjoint(step.inputs):
                if any(step.passes) and not step.whole:
                    carried.update(step.outputs)
                else:
                    last = step
        return None if last is None else self._cut(last, certain=False)

    def _reached(self, edges: list[paths.Edge]) -> tuple[int, Step | None]:
        return len(edges), edges[-1].step if edges else None


def _ignores(edge: paths.Edge) -> bool:
    """Whether the operation has a gradient, but not with respect to the input on the path."""
    return any(edge.step.passes) and not edge.step.whole


def _is_new(t: Value) -> bool:
    """Whether a target was made by some operation; a variable is there at all times."""
    return isinstance(t, Tensor)


def place_of(t: Value) -> Site | None:
    return locate(t._site) if isinstance(t, Tensor) else None


def _in_task(site: Any) -> bool:
    return site is not None and bool(site[0].co_flags & (CO_COROUTINE | CO_ASYNC_GENERATOR))


def _when_made(step: Step) -> int:
    return step.outputs[0] if step.outputs else 0


def _once(found: list[Explanation]) -> list[Explanation]:
    """Each code and place once."""
    kept: dict[Any, Explanation] = {}
    for e in found:
        kept.setdefault((e.code, e.line), e)
    return list(kept.values())

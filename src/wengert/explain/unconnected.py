"""What tapes ask this room: reasons for missing gradients, grouped, warned of or raised."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from wengert.core import sites
from wengert.core.context import executing_eagerly, outside, restoring, using
from wengert.core.errors import at_site, coded, describe
from wengert.core.failures import failures
from wengert.core.types import RawSite, Tensor, Value, Variable
from wengert.explain import findings
from wengert.explain.explanation import Explanation, Report, reason
from wengert.explain.gradients import Case
from wengert.explain.memory import memory_report
from wengert.explain.naming import Names
from wengert.explain.paths import makers, search
from wengert.explain.places import known, place
from wengert.explain.settings import NoGradientWarning, settings
from wengert.tape import history
from wengert.tape.arguments import UnconnectedGradients

if TYPE_CHECKING:
    from wengert.tape.gradient_tape import GradientTape
    from wengert.tape.history import Evidence


_log = logging.getLogger("wengert")


def explain(tape: GradientTape, targets: list[Tensor], sources: list[Value]) -> Report:
    """The reasons for those of the sources that get no gradient, grouped by cause."""
    evidence = tape._evidence
    if tape._used is None:
        evidence = history.take(tape)
    else:
        history.Taking.always = True  # whoever asks once will ask again
    if evidence is None:
        raise coded(
            RuntimeError(
                f"explain: the tape was used at {sites.locate(tape._used)} and has let go of "
                f"what it knew. Call explain before gradient, or make the tape with "
                f"persistent=True."
            ),
            "WG401",
            tape._used,
        )
    missing = [s for s in sources if not _connected(tape, evidence, targets, s)]
    return Report(
        reasons(tape, evidence, targets, missing, sites.caller(1), Names(2)),
        f"A gradient reaches {'the source' if len(sources) == 1 else 'all sources'}.",
    )


@restoring
def _connected(
    tape: GradientTape, evidence: history.Evidence, targets: list[Tensor], source: Value
) -> bool:
    """Whether a gradient reaches the source."""
    if tape._used is None:
        with using(outside()):
            seeds = [None] * len(targets)
            return tape._differentiate(targets, seeds, [source], release=False)[0] is not None
    if source._id in evidence.missing or not source.dtype.is_differentiable:
        return False
    made = makers(s for s in evidence.steps if s.outputs[0] > _last_reset(evidence))
    passed = search(made, [t._id for t in targets], source._id, _closed)
    return passed.edges is not None and not passed.broken


def _last_reset(evidence: history.Evidence) -> int:
    return max((e.clock for e in evidence.events if e.kind == history.RESET), default=0)


def _closed(step: history.Step, k: int) -> str:
    return "" if step.passes[k] else "cut"


def reasons(
    tape: GradientTape, evidence: Evidence | None, targets: list[Value] | list[Tensor], missing: list[Value], asked: Any, names: Names,
    before: bool | None = None,
) -> list[Explanation]:  # fmt: skip
    """One explanation for each cause, naming all sources that share it.

    Without evidence the line is known to have gone well before: something was not done this time.
    """
    if evidence is None:
        evidence = history.take(tape)
        cases = [Case(tape, evidence, targets, s, names, asked, {}) for s in missing]
        return grouped([case.changed() for case in cases])
    # While a function is traced nobody listens but the tapes inside it.
    past = findings.history() if executing_eagerly() else None
    if past is not None:
        past.note(targets)
    steps = makers(_all_steps(evidence, past))
    cases = [
        Case(
            tape, evidence, targets, s, names, asked, steps,
            complete=past is not None and past.complete, before=before,
            calls=past.inside if past is not None else {},
        )
        for s in missing
    ]  # fmt: skip
    return grouped([e for case in cases for e in case.explain()])


def _all_steps(evidence: Evidence, past: Any) -> list[history.Step]:
    """What is known to have happened: what the tape noted, and what else was written down."""
    if past is None:
        return list(evidence.steps)
    known = {o for s in evidence.steps for o in s.outputs}
    steps = list(evidence.steps)
    for step in past.steps(evidence):
        if step.kind or known.isdisjoint(step.outputs):
            steps.append(step)
        elif any(i < 0 for i in step.inputs):  # Python numbers, which a tape does not tell apart
            numbers = tuple([i for i in step.inputs if i < 0])
            steps.append(step._replace(inputs=numbers, passes=(True,) * len(numbers)))
    return steps


def grouped(found: list[Explanation]) -> list[Explanation]:
    """Explanations with the same code at the same place as one."""
    groups: dict[Any, list[Explanation]] = {}
    for e in found:
        broke = e.sites[0].site if e.code not in _ABOUT_SOURCES and e.sites else None
        groups.setdefault((e.code, broke), []).append(e)
    return [_merged(group) for group in groups.values()]


_ABOUT_SOURCES = ("WG101", "WG103", "WG104", "WG118", "WG120")


def _merged(group: list[Explanation]) -> Explanation:
    first, names = group[0], [e.details.pop("source") for e in group]
    cause = first.cause
    if len(group) > 1:
        listed = names[1:] if first.code in _ABOUT_SOURCES else names
        cause += f"; {'likewise' if listed is not names else 'the sources are'} {_list(listed)}"
    return replace(
        first,
        cause=cause,
        details={**first.details, "sources": [n.replace("`", "") for n in names]},
        certain=all(e.certain for e in group),
    )


def _list(words: list[str]) -> str:
    """`a`, `b` and 3 more."""
    shown = words[:4] if len(words) > 5 else words
    rest = [f"{len(words) - 4} more"] if len(words) > 5 else []
    *most, last = [*shown, *rest]
    return f"{', '.join(most)} and {last}" if most else last


def unconnected(
    tape: GradientTape,
    targets: list[Value],
    missing: list[Value],
    mode: UnconnectedGradients,
    asked: RawSite,
) -> None:
    """Says why `gradient` found no gradient for some sources (called by tapes)."""
    well = history.went_well(asked)
    history.after(asked, False)
    raising = mode is UnconnectedGradients.ERROR or settings.none_gradients == "error"
    collecting = findings.collecting()
    if settings.none_gradients == "off" and not raising and not collecting:
        return
    result = _found(tape, tape._evidence, targets, missing, asked, well)
    if collecting:
        findings.add(result)
    if raising:
        raise _error(result[0], missing[0])
    if not collecting:
        _warn(result)


def _found(
    tape: GradientTape,
    evidence: Evidence | None,
    targets: list[Value],
    missing: list[Value],
    asked: RawSite,
    well: bool | None,
) -> list[Explanation]:
    """The reasons; a program that got its `None` must not fail because we cannot explain it."""
    try:
        return reasons(tape, evidence, targets, missing, asked, Names(3), before=well)
    except failures():
        _log.debug("gradient: None could not be explained.", exc_info=True)
        cause = "nothing on the tape leads from the target to it"
        return [reason("WG120", cause, *known(place(asked, "asked here")), certain=False)]


def _error(e: Explanation, source: Value) -> Exception:
    name = f" ({source.name})" if isinstance(source, Variable) else ""
    likely = "" if e.certain else "probably, "
    error = ValueError(
        f"gradient: the target does not depend on the source {describe(source)}{name}: {likely}"
        f"{e.cause}. {e.remedy}"
    )
    where = e.sites[0].site if e.sites else None
    error = coded(at_site(error, where), e.code)
    error.explanation = e
    return error


def _warn(found: list[Explanation]) -> None:
    """One warning for the line that asked."""
    first = found[0]
    count = len(found) - 1
    more = f" (and {count} more cause{'s' if count > 1 else ''})" if count else ""
    message = f"gradient: None. {first.summary}{more}. {first.remedy} Ask tape.explain for more."
    sites.warn(NoGradientWarning(message))


history.UNCONNECTED.fill(unconnected)
history.EXPLAIN.fill(explain)
history.MEMORY_REPORT.fill(memory_report)

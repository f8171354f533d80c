"""Every faulty program of the catalogue gives its code at its line; every corrected one is silent."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

from tests.explain.catalogue import cuts, moments, numbers, sources
from tests.explain.catalogue import functions as traced
from wengert.explain import Explanation, doctor, findings
from wengert.functions import trace_log
from wengert.tape import history

MODULES = (sources, moments, cuts, numbers, traced)
MARK = re.compile(r"  # (WG\d+)(?: \((\w+)\))?$")
ELSEWHERE = re.compile(r"  # (WG\d+) in (\w+): (.+)$")


def functions(start: str, modules: Any = MODULES) -> list[Any]:
    return [
        pytest.param(f, id=name.removeprefix(start))
        for module in modules
        for name, f in vars(module).items()
        if name.startswith(start)
    ]


def expected(f: Any) -> tuple[str, int, str]:
    """Code, line and mark of the fault; the mark may stand in a helper right above."""
    module = inspect.getmodule(f)
    assert isinstance(module, ModuleType)
    lines, first = inspect.getsourcelines(f)
    everything = inspect.getsource(module).splitlines()
    for number in [*range(first, first + len(lines)), *range(first - 1, 0, -1)]:
        found = ELSEWHERE.search(everything[number - 1])
        if found:
            return found[1], _line_in(everything, found[2], found[3]), "certain"
        found = MARK.search(everything[number - 1])
        if found:
            return found[1], number, found[2] or "certain"
    raise AssertionError(f"{f.__name__} has no mark")


def _line_in(lines: list[str], function: str, text: str) -> int:
    """The first line of a function that holds a text."""
    start = max(k for k, line in enumerate(lines) if f"def {function}(" in line)
    return next(k + 1 for k in range(start + 1, len(lines)) if f"{text}" in lines[k])


# The counters of the functions in the catalogue, also when the table has been emptied.
AT_FIRST = tuple(trace_log._counters.values())


@pytest.fixture(autouse=True)
def fresh() -> None:
    """Neither lines nor functions remember what other tests did."""
    history.SEEN.clear()
    for counter in {*AT_FIRST, *trace_log._counters.values()}:
        counter.traced.clear()
        counter.warned = 0


@pytest.fixture
def plainly() -> Iterator[findings.Findings]:
    """Collects explanations without writing down what happens."""
    taken = findings.Findings()
    before = findings.begin(taken)
    try:
        yield taken
    finally:
        findings.begin(before)


def told(found: list[Explanation]) -> list[tuple[str, int | None]]:
    return [(e.code, e.line) for e in found]


# Numbers are looked at only where that was asked for.
@pytest.mark.parametrize("bad", functions("bad_", (sources, moments, cuts)))
def test_a_fault_is_found_by_what_tapes_note_anyway(bad: Any, plainly: Any) -> None:
    code, line, mark = expected(bad)
    bad()
    assert told(plainly.all()) == [(code, line)]
    assert plainly.all()[0].certain is (mark == "certain")


@pytest.mark.parametrize("bad", functions("bad_"))
def test_a_fault_is_certain_where_everything_is_written_down(bad: Any) -> None:
    code, line, mark = expected(bad)
    with doctor() as found:
        bad()
    assert told(list(found.report())) == [(code, line)]
    assert found.report()[0].certain is (mark != "guess")


@pytest.mark.parametrize("good", functions("good_"))
def test_the_corrected_program_is_silent(good: Any, plainly: Any) -> None:
    good()
    assert told(plainly.all()) == []
    with doctor() as found:
        good()
    assert told(list(found.report())) == []


def test_every_fault_has_its_correction() -> None:
    for module in MODULES:
        bad = {n.removeprefix("bad_") for n in vars(module) if n.startswith("bad_")}
        good = {n.removeprefix("good_") for n in vars(module) if n.startswith("good_")}
        assert bad == good

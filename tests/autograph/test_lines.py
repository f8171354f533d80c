"""Converted code is at the user's own lines: for debuggers, tracebacks and coverage tools."""

from __future__ import annotations

import io
import linecache
import pdb
import sys
import traceback
from typing import Any

import pytest

import wengert as tf
from tests.autograph.programs import CASES, Case
from tests.autograph.test_programs import tensors
from wengert.autograph.conversion import convert

HERE = __file__


def line_events(function: Any, args: Any, file: str) -> list[int]:
    """The lines of a file that Python reports while a function runs, each visit once."""
    found: list[int] = []

    def tracer(frame: Any, event: str, arg: Any) -> Any:
        if frame.f_code.co_filename != file:
            return None
        if event == "line" and (not found or found[-1] != frame.f_lineno):
            found.append(frame.f_lineno)
        return tracer

    old = sys.gettrace()
    sys.settrace(tracer)
    try:
        function(*args)
    finally:
        sys.settrace(old)
    return found


# A function of its own is traced once only, by whoever calls it first.
STEPPED = [c for c in CASES if c.name != "functions_in_functions"]


@pytest.mark.parametrize("case", STEPPED, ids=lambda c: c.name)
def test_a_debugger_steps_through_the_same_lines(case: Case) -> None:
    converted, _ = convert(case.function)
    file = case.function.__code__.co_filename
    for run in case.runs:
        case.reset()
        wanted = line_events(case.function, tensors(run), file)
        case.reset()
        assert line_events(converted, tensors(run), file) == wanted


def branches(x):
    y = x
    if x > 0.0:
        y = y * 2.0
        for v in tf.range(3):
            y = y + tf.cast(v, tf.float32)
    else:
        y = y - 1.0
    return y


def test_tracing_stops_in_both_branches_and_in_loop_bodies() -> None:
    first = branches.__code__.co_firstlineno
    lines = line_events(tf.function(branches), [tf.constant(1.0)], HERE)
    assert {n - first for n in lines if first <= n <= first + 8} == {1, 2, 3, 4, 5, 7, 8}


def debugged(function: Any, commands: list[str]) -> str:
    """What a session of the debugger prints."""
    out = io.StringIO()
    session = pdb.Pdb(stdin=io.StringIO("\n".join(commands) + "\n"), stdout=out, readrc=False)
    session.use_rawinput = False
    session.prompt = ""
    session.runcall(function)
    return out.getvalue()


def test_a_breakpoint_in_a_branch_stops_there() -> None:
    line = branches.__code__.co_firstlineno + 3
    traced = tf.function(branches)
    told = debugged(
        lambda: traced(tf.constant(1.0)),
        [f"break {HERE}:{line}", "continue", "print('y is', y)", "continue", "clear 1", "continue"],
    )
    assert f"{HERE}({line})branches()" in told
    assert "-> y = y * 2.0" in told
    assert "y is Tensor(" in told


def test_a_breakpoint_in_plain_python_sees_the_variables() -> None:
    line = branches.__code__.co_firstlineno + 7
    converted, _ = convert(branches)
    told = debugged(
        lambda: converted(tf.constant(-1.0)),
        [f"break {HERE}:{line}", "continue", "print(float(y))", "continue", "continue"],
    )
    assert f"{HERE}({line})branches()" in told
    assert "-1.0" in told


def failing(x, wrong):
    total = x
    while total < 10.0:
        if total > 5.0:
            total = total + tf.constant([1.0, 2.0]) @ wrong
        total = total + 1.0
    return total


def frames(function: Any, *args: Any) -> list[tuple[str, int, str]]:
    """Function, line and text of each frame of this file in a traceback."""
    with pytest.raises(ValueError, match="matmul") as caught:
        function(*args)
    found = traceback.extract_tb(caught.value.__traceback__)
    return [(f.name, f.lineno or 0, f.line or "") for f in found if f.filename == HERE][1:]


def test_tracebacks_show_the_users_lines() -> None:
    wrong = tf.zeros([3, 3])
    converted, _ = convert(failing)
    wanted = frames(failing, tf.constant(5.5), wrong)
    assert frames(converted, tf.constant(5.5), wrong) == wanted
    traced = frames(tf.function(failing), tf.constant(5.5), wrong)
    assert traced[-1] == wanted[-1]
    assert {name for name, _, _ in traced} == {"failing"}
    assert [text.split(":")[0] for _, _, text in traced][:2] == ["while total < 10.0"] * 2


def test_columns_are_kept() -> None:
    converted, _ = convert(failing)
    wanted = {p for p in failing.__code__.co_positions() if p[0] == p[1]}
    found = set(converted.__code__.co_positions())
    assert wanted - found <= {p for p in wanted if p[2] == p[3]}


def test_conversion_leaves_no_files_and_no_names_behind() -> None:
    before = set(linecache.cache), set(globals())
    convert(lambda x: x if x > 0 else -x)
    assert (set(linecache.cache), set(globals())) == before


def test_names_are_the_users() -> None:
    converted, _ = convert(failing)
    assert (converted.__name__, converted.__qualname__) == ("failing", "failing")
    assert converted.__code__.co_filename == HERE
    assert converted.__globals__ is globals()


def local_names(x):
    if x > 0:
        y = 1
    else:
        y = 2
    return sorted(locals()), y


def test_locals_shows_only_what_the_user_named() -> None:
    converted, _ = convert(local_names)
    assert converted(3) == local_names(3) == (["x", "y"], 1)

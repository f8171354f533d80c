"""Random programs agree in all modes (`tools/fuzz`), and the harness finds faults put in on purpose."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import wengert as tf
from tools.fuzz.checking import Checker, script
from tools.fuzz.coverage import State, load, report
from tools.fuzz.generator import CONSTRUCTS, generate
from tools.fuzz.minimise import minimise
from tools.fuzz.program import Program, repeatable_rows
from tools.fuzz.running import run
from wengert.core.op import REGISTRY

HOST, XLA = 156, 6
SOUND = 7  # a program that all modes can run
CASES = repeatable_rows()


def check(seed: int, modes: list[str]) -> None:
    program = generate(seed, CASES)
    found = Checker(tf, modes).check(program)
    assert not found, script(program, found[0])


@pytest.mark.parametrize("part", range(12))
def test_the_host_engine_agrees_with_eager_code(part: int) -> None:
    for seed in range(part * HOST // 12, (part + 1) * HOST // 12):
        check(seed, ["eager", "host", "around", "open"])


@pytest.mark.parametrize("part", range(2))
def test_replicas_agree_with_eager_code(part: int) -> None:
    for seed in range(part * 12, part * 12 + 12):
        check(seed, ["eager", "replicas"])


@pytest.mark.parametrize("seed", range(XLA))
def test_xla_agrees_with_eager_code(seed: int) -> None:
    check(seed, ["eager", "xla"])


# Faults on purpose: each is found, and what shows it is a program of a few lines.


def _programs(*lines: str) -> Program:
    """A program with the lines of the fault among others that have nothing to do with it."""
    text = generate(SOUND, None).text
    inner = "".join(f"    {line}\n" for line in lines)
    start = text[: text.rindex("    return [")]
    return Program(f"{start}{inner}    return [x, found]\n", SOUND, order=1)


def _found(program: Program, mode: str) -> str:
    """The body of the minimised program; the harness must have found a difference."""
    checker = Checker(tf, ["eager", mode])
    (d,) = checker.check(program)
    shorter = checker.minimise(program, d)
    assert d.text.splitlines()[0] in script(shorter, d)
    return shorter.text.split("program(x, m, s, r, n):\n")[1]


def test_a_wrong_lowering_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    right: Any = REGISTRY["softplus"].lower
    wrong: Callable[..., Any] = lambda x: right(x) * 1.001
    monkeypatch.setattr(REGISTRY["softplus"], "lower", wrong)
    body = _found(_programs("found = [tf.nn.softplus(x + k) for k in (1.0, 2.0)]"), "xla")
    assert "softplus" in body and body.count("\n") <= 3


def test_a_wrong_gradient_in_functions_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    right: Any = tf.math.erf

    @tf.custom_gradient
    def wrong(x: Any) -> Any:
        return right(x), lambda g: g * 0.5

    monkeypatch.setattr(tf.math, "erf", lambda x: right(x) if tf.executing_eagerly() else wrong(x))
    lines = (
        "found = x",
        "for i in tf.range(n):",
        "    if s > -9.0:",
        "        found = tf.math.erf(x)",
    )
    body = _found(_programs(*lines), "host")
    assert "erf" in body and body.count("\n") <= 3


def test_a_padded_list_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    right: Any = tf.stack

    def wrong(rows: Any) -> Any:
        found = right(rows)
        return found if tf.executing_eagerly() else tf.concat([found, tf.zeros([1, 3], F)], 0)

    F = tf.float64
    monkeypatch.setattr(tf, "stack", wrong)
    lines = (
        "rows = []",
        "for i in tf.range(n):",
        "    rows.append(x * 2.0)",
        "found = tf.stack(rows)",
    )
    body = _found(_programs(*lines), "host")
    assert "stack" in body and body.count("\n") <= 5


def test_a_missed_error_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    gather: Any = tf.gather
    clipped = lambda x, i: gather(x, i if tf.executing_eagerly() else tf.minimum(i, 2))
    monkeypatch.setattr(tf, "gather", clipped)
    program = _programs("found = tf.gather(x, n + 2) * s")
    body = _found(replace(program, needs=frozenset({"errors"})), "host")
    assert "gather" in body and body.count("\n") <= 3


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_program_that_does_not_end_is_found() -> None:
    lines = ("found = x", "while tf.executing_eagerly() or n > 0:", "    found = tf.sin(found)")
    program = _programs(*lines)
    assert run(tf, program, "eager", limit=0.2)[0].error == "Endless"


def test_rounding_that_a_program_amplifies_is_no_difference() -> None:
    text = generate(0, None).text.split("def program(")[0]
    text += "def program(x, m, s, r, n):\n    return [tf.sin(1e16 * tf.reduce_sum(tf.exp(x)))]\n"
    assert not Checker(tf, ["eager", "xla"]).check(Program(text, 0, order=0))


def test_a_program_shrinks_to_the_statement_that_fails() -> None:
    lines = "".join(f"    t{k} = tf.sin(x) + {k}\n" for k in range(30))
    text = f"def program(x):\n{lines}    return [t1, t17, t29]\n"
    shorter = minimise(text, lambda t: "t17 = " in t and "return" in t)
    assert shorter.count("\n") <= 2 and "t17" in shorter


def test_a_program_is_determined_by_its_seed() -> None:
    for seed in range(30):
        assert generate(seed, CASES).text == generate(seed, CASES).text


def test_a_full_run_meets_every_row_and_construct() -> None:
    """The share of each in a sample says that 20,000 programs meet it often enough."""
    met = sum((generate(seed, CASES).used for seed in range(1200)), start=generate(0, CASES).used)
    assert all(met[f"case {name}"] for name in CASES)
    assert all(met[name] >= 200 * 1200 / 20_000 for name in CONSTRUCTS)


def test_a_run_goes_on_where_it_was(tmp_path: Any) -> None:
    state = State(next=5)
    state.ran(generate(5, CASES))
    state.mode("host")
    state.save(tmp_path / "state.json")
    again = load(tmp_path / "state.json", 0)
    assert again == state and again.next == 6
    assert "1 programs" in report(again, CASES, list(CONSTRUCTS))


def test_open_sizes_and_no_rows_at_all_are_among_the_arguments() -> None:
    rows_of = [Program("", seed).arguments(1)[3].shape[0] for seed in range(50)]
    assert {0, 1, 4} <= set(rows_of)
    assert all(np.isfinite(a).all() for a in Program("", 3).arguments())


def test_an_error_of_a_program_that_is_no_mistake_is_found() -> None:
    checker = Checker(tf, ["eager", "host"])
    program = _programs("found = tf.constant({}[0])")
    (d,) = checker.check(program)
    assert d.kind == "raised KeyError" and d.mode == "eager"
    assert not checker.check(replace(program, needs=frozenset({"errors"})))


def test_an_error_that_comes_after_outcome_is_none() -> None:
    """A size that only the run knows: `outcome` has returned when the function fails."""
    line = "found = outcome(lambda: tf.bitcast(tf.cast(r[0] > 0.0, tf.uint8)[: n * 0 + 3], tf.int32), F)"
    assert not Checker(tf, ["eager", "host", "open"]).check(_programs(line))

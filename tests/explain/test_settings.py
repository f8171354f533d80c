"""Every code is found in four settings: eagerly, in a function, in `fit` and in a dataset.

The programs of the pages are moved into each setting (`settings.in_setting`) and the doctor must name
the same code at the same line. Where it does not, the table says what it finds instead, and why.
"""

from __future__ import annotations

from importlib.util import find_spec

import pytest

import wengert as tf
from tests.explain.programs import PAGES, Page, examined
from tests.explain.settings import DATASET, EAGER, FIT, FUNCTION, in_setting
from wengert.explain import CODES, Report, doctor

TRACED = FUNCTION, FIT
INLINED = "a function that is called while another is traced is part of that trace, made once"
EFFECT = "the list that the program fills while it is traced is a fault of its own there"
NO_VALUE = "a tensor of a trace has no value, and the error says so at the line"

# What the doctor finds where it is not the code alone.
OTHERWISE: dict[tuple[str, str], tuple[list[str], str]] = {
    **{(code, setting): ([code, "WG302"], EFFECT) for code in ("WG110", "WG111", "WG118")
       for setting in TRACED},
    **{(code, setting): ([], INLINED) for code in ("WG201", "WG202", "WG203", "WG205", "WG206")
       for setting in TRACED},
    **{("WG204", setting): (["WG302"], f"{INLINED}; the list that grows is a fault of its own")
       for setting in TRACED},
    **{(code, DATASET): ([], "the trace that infers what `map` makes has called it for all sizes")
       for code in ("WG201", "WG202", "WG203")},
    **{("WG113", setting): (["NoValueError"], NO_VALUE) for setting in TRACED},
    **{("WG119", setting): (["WG113"], "nothing is frozen apart from the outer trace; the line where "
                            "the value left is named") for setting in TRACED},
    **{("WG301", setting): (["WG302"], "the value changes while tracing, which is the fault there")
       for setting in TRACED},
    **{("WG405", setting): (["WG405", "WG405"], "it leaves two traces, the inner and the outer one")
       for setting in TRACED},
    **{("WG411", setting): ([], "a tape of a trace keeps nothing: the graph keeps what it reads")
       for setting in TRACED},
    **{("WG702", setting): (["WG405"], "the program keeps the state of its loop in a global variable, "
                            "and a function that is called in another's trace costs no call of its own")
       for setting in (*TRACED, DATASET)},
    ("WG110", DATASET): (["WG110", "WG106"], "the second element finds what the first has left in the list"),
    ("WG601", DATASET): (["WG601"] * 3, "the program counts on, so each of three calls differs in other words"),
    ("WG119", DATASET): (["WG113", "WG119"], "the trace that infers what `map` makes finds the former"),
}  # fmt: skip


def found(text: str) -> tuple[list[str], list[str]]:
    """The codes, or the error that ended the program, and the source lines of the findings."""
    try:
        report: Report = examined(text)
    except Exception as error:
        return [type(error).__name__], []
    lines = text.splitlines()
    return report.codes, [lines[e.line - 1].strip() for e in report if e.line]


@pytest.mark.parametrize("setting", [FUNCTION, FIT, DATASET])
@pytest.mark.parametrize("code", CODES)
@pytest.mark.filterwarnings("ignore")
def test_the_code_is_found_in_each_setting(code: str, setting: str) -> None:
    if setting == FIT and find_spec("keras") is None:
        pytest.skip("Keras is not installed")
    program = Page(PAGES / f"{code}.md").programs[0]
    codes, lines = found(in_setting(program, setting))
    wanted, why = OTHERWISE.get((code, setting), ([code], ""))
    assert codes == wanted, why
    if wanted == [code]:
        here = [line for line in found(in_setting(program, EAGER))[1] if "print" not in line]
        assert set(here) <= set(lines)


def test_the_table_names_no_more_than_there_is() -> None:
    assert {code for code, _ in OTHERWISE} <= set(CODES)
    assert all(wanted != [code] and why for (code, _), (wanted, why) in OTHERWISE.items())


@pytest.mark.filterwarnings("ignore")
def test_a_nan_of_the_ordinary_loop_is_found_though_it_begins_late() -> None:
    program = """
import wengert as tf

x = tf.Variable([2.0, 3.0])

@tf.function
def step(rate):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.math.log(x))
    x.assign_sub(rate * tape.gradient(loss, x))

for rate in (0.1, 0.1, 10.0, 0.1):
    step(tf.constant(rate))
"""
    assert found(program) == (["WG501"], ["loss = tf.reduce_sum(tf.math.log(x))"])


@pytest.mark.filterwarnings("ignore")
def test_a_nan_inside_a_loop_of_a_function_that_another_calls() -> None:
    program = """
import wengert as tf

z = tf.Variable([1.0, 0.0])

@tf.function
def inner(n):
    y = z
    for i in tf.range(n):
        if i > 0:
            y = tf.math.sqrt(y * 1.0)
    return tf.reduce_sum(y)

@tf.function
def step(n):
    with tf.GradientTape() as tape:
        loss = inner(n)
    z.assign_sub(tape.gradient(loss, z))

step(tf.constant(3))
"""
    assert found(program) == (["WG507"], ["y = tf.math.sqrt(y * 1.0)"])


def test_random_numbers_are_the_same_under_the_doctor() -> None:
    @tf.function
    def step(x: float) -> tf.Tensor:
        return tf.random.normal([2]) * x

    def drawn() -> list[list[float]]:
        tf.random.set_seed(7)
        return [step(1.0).numpy().tolist() for _ in range(3)]

    plain = drawn()
    with doctor():
        assert drawn() == plain

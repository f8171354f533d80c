"""Jumps and exceptions in each part of `try`, in loops and branches, mean what Python means.

Where a handler would have to run for some values of a tensor only, the function is refused.
"""
# What functions return is for the test to say.
# pyright: reportArgumentType=false

# Programs with mistakes are the point here.
# ruff: noqa: B007, B012, E722, RET508, SIM102
# pyright: reportPossiblyUnboundVariable=false, reportOptionalOperand=false
from __future__ import annotations

import contextlib
import itertools
import linecache
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest

import wengert as tf

ACTIONS = {
    "plain": ["y = y * 2 + {k}"],
    "return": ["return y * 10 + {k}"],
    "break": ["break"],
    "continue": ["continue"],
    "raise": ["raise ValueError"],
    "if return": ["if x > {t}:", "    return y * 10 + {k}", "y = y * 2 + {k}"],
    "if break": ["if x > {t}:", "    break", "y = y * 2 + {k}"],
    "if continue": ["if x > {t}:", "    continue", "y = y * 2 + {k}"],
    "flag raise": ["if flag:", "    raise ValueError", "y = y * 2 + {k}"],
}
AROUND = {
    "nothing": [],
    "tensor for": ["for i in tf.range(3):", "    y = y + i"],
    "python for": ["for i in range(3):", "    y = y + i"],
    "while": ["j = 0", "while j < x:", "    j = j + 1", "    y = y + j"],
    "if": ["if x > 1:", "    y = y + 1"],
    "try": ["try:"],
}
LOOPS = ("tensor for", "python for", "while")


class Program(NamedTuple):
    """What is around a `try`, and what each part of it does."""

    around: str
    body: str
    handler: str | None
    orelse: str | None
    final: str | None

    def text(self) -> str:
        lines = ["try:", *_part(self.body, 1)]
        for head, name, k in (
            ("except ValueError:", self.handler, 2),
            ("else:", self.orelse, 3),
            ("finally:", self.final, 4),
        ):
            lines += [] if name is None else [head, *_part(name, k)]
        lines.append("y = y + 7")
        if self.around != "nothing":
            lines = [*AROUND[self.around], *_indented(lines)]
        if self.around == "try":
            lines += ["except ValueError:", "    y = y + 1000"]
        whole = ["y = x + 1", *lines, "return y + 100000"]
        return "\n".join(["def f(x, flag):", *_indented(whole), ""])


def _part(name: str, k: int) -> list[str]:
    return _indented([line.format(k=k, t=k % 3) for line in ACTIONS[name]])


def _indented(lines: list[str]) -> list[str]:
    return ["    " + line for line in lines]


def _programs() -> Iterator[Program]:
    for around in AROUND:
        names = [n for n in ACTIONS if around in LOOPS or not n.endswith(("break", "continue"))]
        parts: Any = itertools.product(names, [None, *names], [None, *names], [None, *names])
        for body, handler, orelse, final in parts:
            if (handler or final) and (handler or not orelse):
                yield Program(around, body, handler, orelse, final)


PROGRAMS = list(_programs())


def load(text: str) -> Callable[..., Any]:
    name = f"<try {hash(text)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    found: dict[str, Any] = {"tf": tf}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        exec(compile(text, name, "exec"), found)
    return found["f"]


def outcome(f: Callable[..., Any], *args: Any) -> Any:
    try:
        return int(f(*args))
    except (ValueError, RuntimeError) as error:
        return type(error)


@pytest.mark.parametrize("around", AROUND)
def test_each_jump_in_each_part_means_what_python_means(around: str) -> None:
    refused = agreed = 0
    for program in [p for p in PROGRAMS if p.around == around][::127]:
        text = program.text()
        f = load(text)
        function = tf.function(f)
        for x, flag in itertools.product((0, 3), (False, True)):
            if around == "while" and x == 0:
                continue  # a `raise` in a loop on tensors is raised while tracing
            args = tf.constant(x), flag
            with tf.engine("host"):
                got = outcome(function, *args)
            if got is RuntimeError:
                refused += 1
                assert program.around == "try" or program.handler is not None, text
                continue
            assert got == outcome(f, *args), (text, x, flag)
            agreed += 1
    assert agreed > 20 and refused < agreed / 10


def returns_in_finally(x):
    try:
        return 2
    finally:
        if x > 0:
            return 1


def returns_instead_of_an_error(x):
    try:
        {}["missing"]
    finally:
        if x > 0:
            return 1


def breaks_or_continues_after_an_error(x):
    y = x
    for i in tf.range(3):
        try:
            y += 1
            raise ValueError
        finally:
            if i > 0:
                break
            else:
                continue
    return y


def breaks_an_endless_loop(x):
    while True:
        try:
            x = x + 1
            if x > 5:
                return x
        finally:
            if x > 3:
                break
    return x * 100


def raises_and_catches_in_a_branch(x):
    if x > 0:
        try:
            raise ValueError("h")
        except ValueError:
            return 7
    return x


def swallows_in_a_branch(x):
    if x > 0:
        with contextlib.suppress(KeyError):
            raise KeyError
        y = 3
    else:
        y = 4
    return y


def catches_nothing_of_its_own(x):
    out = []
    for i in tf.range(3):
        try:
            out.append(i + x)
        except:
            out.append(-1)
    return tf.reduce_sum(tf.stack(out))


def loops_in_finally_after_a_return(x):
    try:
        if x > 2:
            return x * 10
    finally:
        for i in range(2):
            if x % 3 == 0:
                continue
            x = x + i
    for _ in tf.range(2):
        x = x + 1
        if x > 1:
            return x * 100
    return x


def binds_names_in_the_second_form_only(x):
    try:
        if x > 2:
            return x
        {}["missing"] if x is None else x
    except KeyError as error:
        return len(str(error))
    else:
        y = x + 1
    return y
    for z in range(3):
        if x > z:
            y = z
    return y


def reads_in_the_else_of_a_loop(x):
    z = j = y = x
    while j < x + 1:
        j = j + 1
        for i in tf.range(3):
            y = y + i
            z = y
    else:
        z = y
        y = y + z
    return y


def raises_where_it_has_not_returned(x):
    if x > 2:
        x = x + 1
    else:
        try:
            x = x - 3
        except ValueError:
            x = x * 2
        else:
            if x < 1:
                return x * 10
        raise ValueError
    return x + 100


@pytest.mark.parametrize("engine", ["host", "xla"])
@pytest.mark.parametrize(
    "program",
    [
        loops_in_finally_after_a_return,
        binds_names_in_the_second_form_only,
        reads_in_the_else_of_a_loop,
        raises_where_it_has_not_returned,
        returns_in_finally,
        breaks_or_continues_after_an_error,
        breaks_an_endless_loop,
        raises_and_catches_in_a_branch,
        swallows_in_a_branch,
        catches_nothing_of_its_own,
    ],
)
def test_on_both_engines(program: Callable[..., Any], engine: str) -> None:
    function = tf.function(program)
    for x in (0, 3):
        with tf.engine(engine):
            found = int(function(tf.constant(x)))
        assert found == int(program(tf.constant(x)))


def always_ends_a_turn_by_returning(x, flag):
    y = x + 1
    for _ in tf.range(2):
        if flag:
            if y % 3 == 0:
                return y + x
        try:
            y = y + x
        finally:
            y = y * 2 + 1
            if not flag:
                return y * 10
    return y


@pytest.mark.parametrize("flag", [False, True])
def test_every_turn_may_end_in_a_return(flag: bool) -> None:
    function = tf.function(always_ends_a_turn_by_returning)
    for x in (0, 3):
        wanted = always_ends_a_turn_by_returning(tf.constant(x), flag)
        assert int(function(tf.constant(x), flag)) == int(wanted)


def returns_or_raises(x):
    for _ in tf.range(3):
        try:
            x = x - 3
        except KeyError:
            for _ in tf.range(3):
                if x > 1:
                    return x * 10
    raise ValueError("at the end")


def test_a_function_that_only_raises() -> None:
    with pytest.raises(ValueError, match="at the end"):
        tf.function(returns_or_raises)(tf.constant(3))


def test_an_error_waits_for_the_end_of_finally() -> None:
    function = tf.function(returns_instead_of_an_error)
    assert int(function(tf.constant(3))) == 1
    with pytest.raises(KeyError, match="missing"):
        function(tf.constant(0))


def raises_for_some(x):
    try:
        if x > 0:
            raise ValueError
    except ValueError:
        return 2
    return 3


def fails_for_some(x):
    try:
        if x > 0:
            return 1
        {}["missing"]
    except KeyError:
        return 2
    return 3


def fails_in_an_operand(x):
    try:
        y = {}["missing"] if x > 0 else 1
    except (KeyError, ValueError):
        y = 2
    return y


def raises_in_the_second_turn(x):
    y = 0
    try:
        for i in tf.range(x):
            y = y + 1
            raise ValueError
    except ValueError:
        return y
    return 10


def check(x):
    if x > 0:
        raise ValueError
    return x


def calls_what_raises_for_some(x):
    try:
        return check(x)
    except ValueError:
        return 100


def swallows_for_some(x):
    with contextlib.suppress(KeyError):
        if x > 0:
            {}["missing"]
        return 5
    return 3


def returns_whatever_is_raised(x):
    try:
        if x > 0:
            raise ValueError
    finally:
        return 5


def raises_another_in_finally(x):
    try:
        try:
            if x > 1:
                raise ValueError
        finally:
            if x is not None:
                raise KeyError
    except (KeyError, ValueError):
        return x + 1
    return x


@pytest.mark.parametrize(
    ("program", "line"),
    [
        (raises_for_some, "except ValueError:"),
        (fails_for_some, "except KeyError:"),
        (fails_in_an_operand, "except (KeyError, ValueError):"),
        (raises_in_the_second_turn, "except ValueError:"),
        (calls_what_raises_for_some, "except ValueError:"),
        (swallows_for_some, "with contextlib.suppress(KeyError):"),
        (returns_whatever_is_raised, "return 5"),
        (raises_another_in_finally, "except (KeyError, ValueError):"),
    ],
)
def test_a_handler_for_some_values_is_refused(program: Callable[..., Any], line: str) -> None:
    with pytest.raises(RuntimeError, match="depends on a tensor, but what handles") as caught:
        tf.function(program)(tf.constant(3))
    assert line in caught.value.__notes__[0]


def raises_what_is_not_caught(x):
    try:
        if x > 0:
            raise ValueError("kept")
        return x
    except KeyError:
        return 100


def test_a_handler_of_other_types_is_not_asked() -> None:
    function = tf.function(raises_what_is_not_caught)
    assert int(function(tf.constant(0))) == 0
    with pytest.raises(ValueError, match="kept"):
        function(tf.constant(3))


def test_handlers_outside_the_function_catch() -> None:
    function = tf.function(check)

    def f(x):
        try:
            return function(x)
        except ValueError:
            return tf.constant(100)

    assert int(f(tf.constant(3))) == 100


def test_a_refusal_of_an_earlier_trace_does_not_matter() -> None:
    def f(x):
        try:
            raise ValueError
        except ValueError:
            return x + 1

    try:
        tf.function(fails_for_some)(tf.constant(3))
    except RuntimeError:
        assert int(tf.function(f)(tf.constant(3))) == 4

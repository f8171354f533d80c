"""Each construct alone, in each other, and three deep, with each kind of jump inside."""

from __future__ import annotations

import itertools
import linecache
from typing import Any

import pytest

import wengert as tf
from tests.autograph import fakes
from tests.autograph.generator import scope
from tests.autograph.test_programs import check_equal
from wengert.autograph.conversion import convert

# A construct by its lines; the last one is followed by its body, set in.
CONSTRUCTS = {
    "if": ["if x > {k}:"],
    "else": ["if x > {k}:", "    y = y + 1", "else:"],
    "while": ["j{k} = 0", "while j{k} < x - {k}:", "    j{k} = j{k} + 1", "    if True:"],
    "for": ["for v{k} in rows:", "    y = y + v{k}", "    if True:"],
    "range": ["for v{k} in tf.range(x):", "    y = y + v{k}", "    if True:"],
    "unrolled": ["for v{k} in range(2):", "    y = y + v{k}", "    if True:"],
    "with": ["with scope():"],
    "try": ["try:"],
    "inner": ["for f in [lambda u: u + 1 if u > {k} else u]:", "    y = f(y)", "    if True:"],
}
CLOSED_BY = {"try": ["finally:", "    y = y + 100"]}
JUMPS = {
    "plain": ["y = y * 3"],
    "break": ["if y % 3 == 1:", "    break", "y = y * 3"],
    "continue": ["if y % 2 == 0:", "    continue", "y = y * 3"],
    "return": ["if y > 7:", "    return y * 1000", "y = y * 3"],
}
IN_LOOPS = ("break", "continue")


def is_loop(construct: str) -> bool:
    return construct in ("while", "for", "range", "unrolled", "inner")


def text_of(path: tuple[str, ...], jump: str) -> str:
    """A program with the constructs of a path inside each other, and a jump in the innermost."""
    lines = ["def f(x, rows):", "    y = x"]
    closing: list[str] = []
    pad = "    "
    for k, construct in enumerate(path):
        lines += [pad + line.format(k=k) for line in CONSTRUCTS[construct]]
        closing = [pad + line for line in CLOSED_BY.get(construct, [])] + closing
        pad += "        " if CONSTRUCTS[construct][-1].startswith("    ") else "    "
    lines += [pad + line for line in JUMPS[jump]]
    return "\n".join([*lines, *closing, "    return y", ""])


def load(text: str) -> Any:
    name = f"<nesting {hash(text)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    found: dict[str, Any] = {"tf": tf, "scope": scope}
    exec(compile(text, name, "exec"), found)
    return found["f"]


def programs(depth: int, every: int = 1) -> list[tuple[tuple[str, ...], str]]:
    paths = itertools.product(CONSTRUCTS, repeat=depth)
    found = [
        (path, jump)
        for path, jump in itertools.product(paths, JUMPS)
        if jump not in IN_LOOPS or any(map(is_loop, path))
    ]
    return found[::every]


ALONE, PAIRS, TRIPLES = programs(1), programs(2), programs(3, every=41)


def check(path: tuple[str, ...], jump: str, run: Any) -> None:
    f = load(text_of(path, jump))
    for x in (0, 3):
        args = tf.constant(x), tf.constant([1, 2])
        check_equal(run(f)(*args), f(*args))


@pytest.mark.parametrize("depth", [ALONE, PAIRS, TRIPLES], ids=["alone", "pairs", "triples"])
def test_as_python(depth: Any) -> None:
    for path, jump in depth:
        check(path, jump, lambda f: convert(f)[0])


@pytest.mark.parametrize("depth", [ALONE, PAIRS, TRIPLES], ids=["alone", "pairs", "triples"])
def test_under_tensors(depth: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    fakes.install(monkeypatch)
    for path, jump in depth:
        check(path, jump, lambda f: convert(f)[0])


@pytest.mark.parametrize(("path", "jump"), [*ALONE, *PAIRS[::9]], ids=str)
def test_in_a_function(path: tuple[str, ...], jump: str) -> None:
    check(path, jump, tf.function)


def test_there_is_something_of_each_kind() -> None:
    assert len(ALONE) > 25 and len(PAIRS) > 250 and len(TRIPLES) > 50
    assert {jump for _, jump in PAIRS[::9]} == set(JUMPS)

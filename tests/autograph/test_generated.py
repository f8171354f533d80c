"""Random programs mean the same converted: on numbers, on stand-ins of the graph, in functions."""

from __future__ import annotations

import linecache
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import wengert as tf
from tests.autograph import fakes
from tests.autograph.generator import Box, program, scope
from wengert.autograph.conversion import convert

ARGUMENTS = ((1, 2, [1, 2, 3]), (0, -1, [0]), (5, 3, [4, 0]))


def helper(u, v):
    if u > v:
        return u - v
    return v + 1


def load(seed: int) -> Callable[..., Any]:
    """The function of a generated program, with its text where Python looks for it."""
    text = program(seed)
    name = f"<generated {seed}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    scope_of: dict[str, Any] = {"tf": tf, "Box": Box, "scope": scope, "helper": helper}
    exec(compile(text, name, "exec"), scope_of)
    return scope_of["f"]


def outcome(function: Any, *args: Any) -> Any:
    """The numbers that a program returns, or the kind of its error."""
    try:
        *numbers, out = function(*args)
        return [*map(int, numbers), *np.asarray(out).tolist()]
    except (ValueError, IndexError) as error:
        return type(error)


def mixtures(x: int, n: int, rows: list[int]) -> Iterator[tuple[Any, ...]]:
    """The arguments as tensors, all or some of them."""
    vector = tf.constant(rows)
    yield tf.constant(x), tf.constant(n), vector
    yield tf.constant(x), n, vector
    yield x, tf.constant(n), vector


@pytest.mark.parametrize("block", range(3))
def test_on_numbers(block: int) -> None:
    for seed in range(40 * block, 40 * block + 40):
        f = load(seed)
        converted, reason = convert(f)
        assert reason is None
        for x, n, rows in ARGUMENTS:
            wanted = outcome(f, x, n, list(rows))
            assert outcome(converted, x, n, list(rows)) == wanted, program(seed)


@pytest.mark.parametrize("block", range(2))
def test_on_stand_ins_of_the_graph(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    functions = {seed: load(seed) for seed in range(1000 + 12 * block, 1012 + 12 * block)}
    fakes.install(monkeypatch)
    for seed, f in functions.items():
        converted, _ = convert(f)
        for given in ARGUMENTS:
            for args in mixtures(*given):
                assert outcome(converted, *args) == outcome(f, *args), program(seed)


@pytest.mark.parametrize("seed", range(2000, 2010))
def test_in_a_function(seed: int) -> None:
    f = load(seed)
    function = tf.function(f)
    for given in ARGUMENTS:
        for args in mixtures(*given):
            assert outcome(function, *args) == outcome(f, *args), program(seed)

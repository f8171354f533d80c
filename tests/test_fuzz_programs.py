"""Random programs agree in all modes (`tools/fuzz`), and the harness finds faults put in on purpose."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import wengert as tf
from tools.fuzz.checking import Checker, script
from tools.fuzz.coverage import State, load, report
from tools.fuzz.generator import CONSTRUCTS, generate
from tools.fuzz.minimise import minimise
from tools.fuzz.program import Program, rows
from wengert.core.op import REGISTRY

HOST, XLA = 120, 4
CASES = sorted(n for n in rows() if not n.startswith("random"))


def check(seed: int, modes: list[str]) -> None:
    program = generate(seed, CASES)
    found = Checker(tf, modes).check(program)
    assert not found, script(program, found[0])


@pytest.mark.parametrize("part", range(12))
def test_the_host_engine_agrees_with_eager_code(part: int) -> None:
    for seed in range(part * HOST // 12, (part + 1) * HOST // 12):
        check(seed, ["eager", "host", "around", "open"])


@pytest.mark.parametrize("seed", range(XLA))
def test_xla_agrees_with_eager_code(seed: int) -> None:
    check(seed, ["eager", "xla"])

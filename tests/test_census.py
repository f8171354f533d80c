"""How much of the source is typed, as `tools/census.py` counts it."""

from __future__ import annotations

import ast
import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

TOOL = Path(__file__).parent.parent / "tools" / "census.py"
MOST_UNTYPED = 0.24
MOST_IGNORED = 60


@pytest.fixture(scope="module")
def census() -> ModuleType:
    spec = importlib.util.spec_from_file_location("census", TOOL)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_parameters_and_results_have_types(census: ModuleType) -> None:
    found = census.count()
    share = found["of them untyped"] / found["parameters and returns"]
    assert share <= MOST_UNTYPED, f"{share:.1%} are `Any`, `object` or nothing. Give them types"
    assert found["cast"] == 0
    assert found["type: ignore"] <= MOST_IGNORED


@pytest.mark.parametrize("annotation", ["Any", "object", "list[Any]", "Entry", "'Any | None'"])
def test_an_annotation_that_says_nothing_is_counted(census: ModuleType, annotation: str) -> None:
    tree = ast.parse(f"Entry = tuple[Any, ...]\ndef f(x: {annotation}) -> int: ...")
    function = tree.body[1]
    nothing = census.aliases_of_any([tree])
    assert [census.says_nothing(s, nothing) for s in census.slots(function, False)] == [True, False]


def test_a_real_type_is_not_counted(census: ModuleType) -> None:
    function = ast.parse("def f(x: dict[str, int], *y: Tensor) -> None: ...").body[0]
    assert not any(census.says_nothing(s, {"Any"}) for s in census.slots(function, False))

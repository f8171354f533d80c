"""An operation's name is for messages, printing and fingerprints: outside `ops` nobody decides by it."""

from __future__ import annotations

import ast
import importlib
import pkgutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import wengert.ops
from wengert.core.op import REGISTRY

PACKAGE = Path(__file__).parent.parent / "src" / "wengert"
for family in pkgutil.iter_modules(wengert.ops.__path__):
    importlib.import_module(f"wengert.ops.{family.name}")

# Where the name of an operation may be read outside `ops`, and what for.
READERS = {
    "composite/ragged_map.py": "messages",
    "core/apply.py": "messages of the door",
    "core/symbolic.py": "how a symbolic tensor prints",
    "engines/memory_errors.py": "messages",
    "engines/lower.py": "messages",
    "explain/agreement.py": "messages",
    "explain/checking.py": "messages",
    "explain/memory.py": "rows of a report",
    "explain/numerics.py": "messages",
    "explain/verdicts.py": "messages",
    "functions/coverage.py": "messages",
    "functions/export.py": "messages",
    "functions/replica_analysis.py": "messages",
    "graph/ir.py": "labels of values",
    "graph/printer.py": "the text of a graph",
    "graph/verify.py": "messages",
    "profiler/timing.py": "the names of spans",
    "summary/graphs.py": "the names of TensorBoard's nodes",
    "tape/entries.py": "messages",
    "tape/history.py": "what messages call a step",
    "tape/gradient_values.py": "messages",
}
DECIDING = {"get", "pop", "startswith", "endswith", "removeprefix", "removesuffix", "partition"}
# TensorFlow's names for users are strings there; nobody asks which operation they are.
TABLES = ("compat/", "cli/")


def modules() -> list[str]:
    files = [f.relative_to(PACKAGE).as_posix() for f in sorted(PACKAGE.rglob("*.py"))]
    return [f for f in files if not f.startswith("ops/")]


def tree(module: str) -> ast.Module:
    return ast.parse((PACKAGE / module).read_text(encoding="utf-8"))


def is_operation(node: ast.expr) -> bool:
    """Whether an expression is an operation, by how it is written."""
    if isinstance(node, ast.Attribute):
        return node.attr == "op"
    if isinstance(node, ast.Subscript):
        return ast.unparse(node) == "entry[0]"
    return isinstance(node, ast.Name) and (node.id in ("op", "operation") or node.id.isupper())


def names_read(module: ast.AST) -> Iterator[tuple[ast.Attribute, list[tuple[ast.AST, str]]]]:
    """Reads of an operation's name, each with what it stands in: nodes and fields, inmost first."""

    def walk(node: ast.AST, way: list[tuple[ast.AST, str]]) -> Iterator[object]:
        if isinstance(node, ast.Attribute) and node.attr == "name" and is_operation(node.value):
            yield node, way
        for field, value in ast.iter_fields(node):
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    yield from walk(child, [(node, field), *way])

    yield from walk(module, [])  # type: ignore[misc]


def decides(way: list[tuple[ast.AST, str]]) -> str:
    """What in an expression makes a decision of a name; empty if nothing does."""
    for node, field in way:
        if isinstance(node, ast.stmt | ast.JoinedStr):
            return ""
        if isinstance(node, ast.Compare):
            return "compared"
        if isinstance(node, ast.Subscript) and field == "slice":
            return "looked up"
        if isinstance(node, ast.Dict) and field == "keys":
            return "a key"
        if isinstance(node, ast.Attribute) and node.attr in DECIDING:
            return node.attr
        called = node.func if isinstance(node, ast.Call) and field == "args" else None
        if isinstance(called, ast.Attribute) and called.attr in DECIDING:
            return called.attr
    return ""


def words(node: ast.AST) -> list[str]:
    """The strings of a collection, or the words of a string."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value.split()
    if isinstance(node, ast.Dict):
        items = node.keys
    elif isinstance(node, ast.Set | ast.List | ast.Tuple):
        items = node.elts
    else:
        return []
    return [i.value for i in items if isinstance(i, ast.Constant) and isinstance(i.value, str)]


def lists_operations(found: list[str]) -> bool:
    """Whether strings are names of operations, and not methods of lists or parts of messages."""
    known = [w for w in found if w in REGISTRY]
    return len(known) >= 2 and len(known) * 2 > len(found)


@pytest.mark.parametrize("module", modules())
def test_names_are_read_where_the_table_says(module: str) -> None:
    reads = list(names_read(tree(module)))
    assert (module in READERS) == bool(reads), (
        f"{module}: lines {[n.lineno for n, _ in reads]}. Ask the operation for a fact; who writes "
        "messages belongs into READERS"
    )
    for node, way in reads:
        assert not decides(way), f"{module}:{node.lineno}: {decides(way)}. Ask for a fact instead"


@pytest.mark.parametrize("module", [m for m in modules() if "/" in m and not m.startswith(TABLES)])
def test_no_module_lists_operations_by_name(module: str) -> None:
    for node in ast.walk(tree(module)):
        found = words(node)
        assert not lists_operations(found), f"{module}:{node.lineno}: {found}. Make it a fact"  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "text",
    [
        'if node.op.name == "matmul": pass',
        'slow = op.name in {"exp", "log"}',
        "cost = COSTS[node.op.name]",
        "cost = COSTS.get(node.op.name, 1)",
        'ends = op.name.endswith("_grad")',
        "table = {ADD.name: 1}",
    ],
)
def test_decisions_are_seen(text: str) -> None:
    ((_, way),) = names_read(ast.parse(text))
    assert decides(way)


@pytest.mark.parametrize(
    "text", ['raise say(f"{node.op.name} failed")', "note(entry[0].name, 1)", "self.name = op.name"]
)
def test_messages_are_let_be(text: str) -> None:
    ((_, way),) = names_read(ast.parse(text))
    assert not decides(way)


def test_lists_are_seen() -> None:
    def listed(text: str) -> bool:
        return any(lists_operations(words(n)) for n in ast.walk(ast.parse(text)))

    assert listed('X = frozenset({"exp", "log", "matmul"})')
    assert listed('X = {"reshape": 1, "transpose": 2}')
    assert listed('X = "exp log tanh".split()')
    assert not listed('X = {"append", "insert", "remove", "sort", "reverse"}')
    assert not listed('X = ("shape", "of", "size", "the")')

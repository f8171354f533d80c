"""Imports point one way, from the public face down to the core, and heavy libraries are lazy."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "src" / "wengert"

# From the bottom up; a module directly in the package is a top module.
ROOMS = [
    "core",
    "graph",
    "ops",
    "tape",
    "composite",
    "engines",
    "functions",
    "autograph",
    "explain",
    "top",
    "cli",
]
HEAVY = {"jax", "jaxlib", "re2", "scipy", "keras", "rich", "safetensors", "tensorboard"}
FILES = sorted(PACKAGE.rglob("*.py"))


def room(parts: tuple[str, ...]) -> str:
    """The room of a module given by its dotted parts below the package."""
    if parts[:1] == ("__main__.py",):
        return "cli"
    return parts[0] if parts and parts[0] in ROOMS else "top"


def is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def imports(node: ast.AST, package: list[str], *, lazy: bool) -> Iterator[tuple[int, list[str]]]:
    """Line and dotted parts of what `node` imports; with `lazy`, inside functions too."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            yield from ((child.lineno, alias.name.split(".")) for alias in child.names)
        elif isinstance(child, ast.ImportFrom):
            base = package[: len(package) - child.level + 1] if child.level else []
            base = base + (child.module.split(".") if child.module else [])
            # `from wengert import nn` names a module, so the names count too.
            yield from ((child.lineno, [*base, alias.name]) for alias in child.names)
        elif is_type_checking(child):
            continue
        elif lazy or not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield from imports(child, package, lazy=lazy)


def imports_of(file: Path, *, lazy: bool) -> Iterator[tuple[int, list[str]]]:
    package = ["wengert", *file.relative_to(PACKAGE).parent.parts]
    return imports(ast.parse(file.read_text(encoding="utf-8")), package, lazy=lazy)


def where(file: Path, line: int) -> str:
    return f"{file.relative_to(PACKAGE)}:{line}"


def test_there_is_something_to_check():
    assert {room(f.relative_to(PACKAGE).parts) for f in FILES} >= {"core", "ops", "tape", "top"}


@pytest.mark.parametrize("file", FILES, ids=lambda f: str(f.relative_to(PACKAGE)))
def test_imports_point_down(file):
    own = ROOMS.index(room(file.relative_to(PACKAGE).parts))
    for line, parts in imports_of(file, lazy=True):
        if parts[0] == "wengert" and parts[1:2] != ["_version"]:
            other = room(tuple(parts[1:]))
            assert ROOMS.index(other) <= own, (
                f"{where(file, line)}: {ROOMS[own]} must not import {'.'.join(parts)} ({other})"
            )


@pytest.mark.parametrize("file", FILES, ids=lambda f: str(f.relative_to(PACKAGE)))
def test_heavy_libraries_are_imported_inside_functions(file):
    for line, parts in imports_of(file, lazy=False):
        assert parts[0] not in HEAVY, f"{where(file, line)}: import {parts[0]} where it is used"


def test_the_walk_tells_lazy_from_eager():
    source = "from . import sites\nif TYPE_CHECKING:\n    import jax\ndef f():\n    import scipy.special\n"
    tree = ast.parse(source)
    package = ["wengert", "core"]
    assert list(imports(tree, package, lazy=False)) == [(1, ["wengert", "core", "sites"])]
    assert (5, ["scipy", "special"]) in list(imports(tree, package, lazy=True))


def test_the_stub_of_public_functions_has_what_the_table_has():
    from wengert.core.tables import read
    from wengert.ops.public import TABLE

    stub = ast.parse((PACKAGE / "ops" / "public.pyi").read_text(encoding="utf-8"))
    found = [n for n in stub.body if isinstance(n, ast.ImportFrom)]
    typed = {a.asname: (n.module, a.name) for n in found for a in n.names}
    assert typed == read(TABLE)

"""Imports point one way, from the public face down to the core, and heavy libraries are lazy."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "src" / "wengert"

# From the bottom up: a room imports from itself and from rooms above it in this list.
ROOMS = [
    "core",
    "graph",
    "ops",
    "tape",
    "composite",
    "engines",
    "functions",
    "autograph",
    "io",
    "checkpoint",
    "linear_operators",
    "runtime",
    "lookup",
    "data",
    "distribute",
    "saved_model",
    "explain",
    "profiler",
    "summary",
    "testing",
    "experimental",
    "compat",
    "surface",
    "internals",
    "keras_glue",
    "cli",
]
# The modules directly in the package: TensorFlow's names as tables, which define nothing.
SURFACE = {
    "__init__", "audio", "autodiff", "bitwise", "config", "debugging", "dtypes", "errors", "image",
    "initializers", "linalg", "math", "nest", "nn", "quantization", "ragged", "random", "raw_ops", "sets",
    "signal", "sparse", "special", "strings", "sysconfig", "test", "tpu", "train", "types",
    "version",
}  # fmt: skip
# Modules directly in the package that are no tables: `_version` belongs to every room.
BESIDE = {"__main__": "cli", "_version": "core", "keras": "keras_glue"}
HEAVY = {"jax", "jaxlib", "re2", "scipy", "keras", "rich", "safetensors", "tensorboard"}
FILES = sorted(PACKAGE.rglob("*.py"))


def room(parts: tuple[str, ...]) -> str:
    """The room of a module, or of a name, given by its dotted parts below the package."""
    first = parts[0].removesuffix(".py") if parts else "__init__"
    if first in ROOMS:
        return first
    if first in BESIDE:
        return BESIDE[first]
    assert first in SURFACE or not is_module(first), (
        f"{'.'.join(parts)}: no room is known for it. Put it into a room of ROOMS, or enter the "
        "room where its imports allow it; a table of TensorFlow's names belongs into SURFACE"
    )
    return "surface"


def is_module(name: str) -> bool:
    """Whether a name in the package is a module or a package of its own."""
    return (PACKAGE / name).is_dir() or (PACKAGE / f"{name}.py").exists()


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


def test_every_room_is_there():
    assert {room(f.relative_to(PACKAGE).parts) for f in FILES} == set(ROOMS)
    assert all(is_module(m) for m in SURFACE | set(BESIDE))


def test_an_unknown_room_fails(monkeypatch):
    monkeypatch.setitem(globals(), "is_module", lambda name: True)
    for parts in (("attic", "boxes.py"), ("attic.py",)):
        with pytest.raises(AssertionError, match="no room is known"):
            room(parts)


@pytest.mark.parametrize("module", sorted(SURFACE))
def test_tables_define_nothing(module):
    """A table may only say what else it has in `__dir__`."""
    tree = ast.parse((PACKAGE / f"{module}.py").read_text(encoding="utf-8"))
    defined = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
    names = [getattr(n, "name", "lambda") for n in ast.walk(tree) if isinstance(n, defined)]
    assert set(names) <= {"__dir__"}, f"{module}.py defines {names}. Move them into a room"


@pytest.mark.parametrize("file", FILES, ids=lambda f: str(f.relative_to(PACKAGE)))
def test_imports_point_down(file):
    own = ROOMS.index(room(file.relative_to(PACKAGE).parts))
    for line, parts in imports_of(file, lazy=True):
        if parts[0] == "wengert":
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
    from wengert.core.name_tables import read
    from wengert.ops.public import TABLE

    stub = ast.parse((PACKAGE / "ops" / "public.pyi").read_text(encoding="utf-8"))
    found = [n for n in stub.body if isinstance(n, ast.ImportFrom)]
    typed = {a.asname: (n.module, a.name) for n in found for a in n.names}
    assert typed == read(TABLE)

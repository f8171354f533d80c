"""Writes the stub of every namespace: what type checkers and editors see of a table of names.

Names load on first use, so a checker that reads `wengert/__init__.py` sees none of them. The stub
`__init__.pyi` beside it says where each name is defined, from the sources that Python itself uses:
the tables of `wengert.core.name_tables` and the import statements of the module. What a namespace
shows is what `dir` shows. Run `python -m tools.stubs` after a change; `tests/test_names.py` fails
until then.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType, SimpleNamespace
from typing import Any

import wengert
from wengert.core.name_tables import read
from wengert.ops import public

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = Path(wengert.__file__).parent
KERAS = "keras._tf_keras.keras"
HEADER = '"""Made by `python -m tools.stubs`: the names that checkers and editors see."""\n'
# Namespaces that define what they show are their own stubs; Keras's are Keras's.
OWN = (
    "wengert.data.experimental",
    "wengert.experimental.dlpack",
    "wengert.compat.v1",
)
OF_KERAS = ("keras", "losses", "metrics", "optimizers")


def namespaces() -> dict[Path, str]:
    """The text of each stub, by its path."""
    keras = "\n".join(_of_keras(KERAS, dir(wengert.keras)))
    result: dict[Path, str] = {PACKAGE / "keras.pyi": keras}
    for module in sorted({*_modules(wengert)}, key=lambda m: m.__name__):
        lines = sorted(_lines(module), key=lambda line: not line.startswith(("from", "import")))
        result[_stub(module)] = "\n".join(lines)
    lines = [line for name, (m, n) in read(public.TABLE).items() for line in _import(m, n, name)]
    result[_stub(public)] = "\n".join([*lines, "TABLE: dict[str, str]"])
    return _formatted(result)


def _modules(module: ModuleType) -> Iterator[ModuleType]:
    yield module
    for name in dir(module):
        if name in OF_KERAS or f"{module.__name__}.{name}" in (*OWN, "wengert.compat.v2"):
            continue
        value = getattr(module, name)
        if isinstance(value, ModuleType) and "__dir__" in vars(value):
            yield from () if value.__name__ in OWN else _modules(value)


def _stub(module: ModuleType) -> Path:
    assert module.__file__ is not None
    return Path(module.__file__).with_suffix(".pyi")


def _lines(module: ModuleType) -> Iterator[str]:
    assert module.__file__ is not None
    tree = ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
    places: dict[str, tuple[str, str]] = dict(_imports(tree)) | getattr(module, "_PLACES", {})
    values = dict(_assignments(tree))
    if module is wengert:
        places["__version__"] = "wengert._version", "__version__"
    if "_or_of_keras" in places:
        theirs = f"{KERAS}.{module.__name__.rpartition('.')[2]}"
        names = [n for n in dir(module) if n in places]
        yield from _of_keras(theirs, [n for n in dir(module) if n not in places])
    else:
        names = dir(module)
    for name in [n for n in [*names, "__version__"] if n in places]:
        if name in OF_KERAS and module is wengert and name != "keras":
            yield f"from {KERAS} import {name} as {name}"
        else:
            source, inner = places[name]
            yield from _import(source, inner, name)
    for name, (source, inner) in places.items():
        if name != "_Namespace" and any(_uses(values[n], name) for n in names if n in values):
            yield f"from {source} import {inner} as {_private(name)}"
    for name in names:
        if name not in places:
            yield from _declared(name, values[name], getattr(module, name))


def _of_keras(module: str, names: list[str]) -> Iterator[str]:
    """Keras's names, all at once and one by one.

    Pyright reads Keras's sources. Mypy does not, since Keras has no `py.typed`: to it a name that is
    imported by itself may be anything, and the names of a `*` are none.
    """
    yield f"# Those of Keras {version('keras')}, one by one for mypy."
    yield f"from {module} import *"
    yield from (f"from {module} import {name} as {name}" for name in names if name[0] != "_")


def _imports(tree: ast.Module) -> Iterator[tuple[str, tuple[str, str]]]:
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                yield alias.asname or alias.name, (node.module, alias.name)


def _assignments(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    for node in tree.body:
        if not isinstance(node, ast.Assign):
            continue
        for target in node.targets:
            if isinstance(target, ast.Name):
                yield target.id, node.value
            elif isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                for one, value in zip(target.elts, node.value.elts, strict=True):
                    yield ast.unparse(one), value


def _uses(value: ast.expr, name: str) -> bool:
    """Whether a namespace within the module, which is a class of the stub, refers to a name."""
    return isinstance(value, ast.Call | ast.Name) and any(
        isinstance(n, ast.Name) and n.id == name for n in ast.walk(value)
    )


def _import(module: str, inner: str, name: str) -> Iterator[str]:
    """The statements that hand on a name; a stub hands on an import that keeps its name."""
    if inner == "*":
        module, _, inner = module.rpartition(".")
    statement = f"from {module} import {inner}" if module else f"import {inner}"
    if inner == name:
        yield f"{statement} as {name}"
    else:
        yield f"{statement} as _{name}"
        yield f"{name} = _{name}"


def _declared(name: str, node: ast.expr, value: Any) -> Iterator[str]:
    """A name that the module gives a value itself."""
    if isinstance(value, SimpleNamespace):
        assert isinstance(node, ast.Call)
        yield f"class {name}:"
        for word in node.keywords:
            assert word.arg is not None
            inside = _declared(word.arg, word.value, getattr(value, word.arg))
            yield from (f"    {line}" for line in inside)
    elif isinstance(node, ast.Name) and not callable(value):
        yield f"{name} = {_private(node.id)}"
    elif isinstance(value, type):
        yield f"{name} = {_private(ast.unparse(node))}"
    elif callable(value):
        yield f"{name} = staticmethod({_private(ast.unparse(node))})"
    else:
        yield f"{name}: {'None' if value is None else type(value).__name__}"


def _private(name: str) -> str:
    """The name under which a stub imports what it only refers to."""
    return name if name.startswith("_") else f"_{name}"


def _formatted(texts: dict[Path, str]) -> dict[Path, str]:
    """The texts as `ruff` sorts and formats them."""
    with TemporaryDirectory() as name:
        copies = {path: Path(name, f"{k}.pyi") for k, path in enumerate(texts)}
        for path, copy in copies.items():
            copy.write_text(HEADER + texts[path], encoding="utf-8")
        settings = ["--config", str(ROOT / "pyproject.toml"), name]
        for command in (["check", "--select", "I", "--fix", "--quiet"], ["format", "--quiet"]):
            subprocess.run([sys.executable, "-m", "ruff", *command, *settings], check=True)
        return {path: copy.read_text(encoding="utf-8") for path, copy in copies.items()}


def main() -> None:
    for path, text in namespaces().items():
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

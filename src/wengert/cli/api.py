"""`wengert api`: which `tf.` names a program uses, and which of them Wengert does not have."""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import wengert
from wengert.cli.programs import CommandError, read
from wengert.core.errors import InvalidArgumentError

_ROOTS = ("tensorflow", "wengert")


class Use(NamedTuple):
    """A name and the line where it stands."""

    name: str
    line: int


@cache
def tensorflow_names() -> frozenset[str]:
    """All public names of TensorFlow 2.21, as `tf.math.abs`."""
    result = set()
    text = (Path(__file__).parent / "tensorflow_names.txt").read_text(encoding="utf-8")
    for row in text.splitlines():
        prefix, _, names = row.partition(": ")
        result.update(f"{prefix}.{name}" for name in names.split())
    return frozenset(result)


@cache
def has(name: str) -> bool:
    """Whether Wengert has a name such as `tf.math.abs`."""
    result: Any = wengert
    for part in name.split(".")[1:]:
        try:
            result = getattr(result, part)
        except (AttributeError, ImportError, InvalidArgumentError):
            return False
    return True


def uses(text: str, file: str = "<program>") -> list[Use]:
    """The `tf.` names in a program, each at its first line, in the order of lines."""
    reader = _Reader()
    try:
        reader.visit(ast.parse(text, file))
    except SyntaxError as error:
        raise CommandError(f"{file}:{error.lineno}: {error.msg}") from None
    first: dict[str, int] = {}
    for use in sorted(reader.found, key=lambda u: u.line):
        first.setdefault(use.name, use.line)
    return [Use(name, line) for name, line in first.items()]


class _Reader(ast.NodeVisitor):
    """Follows imports and simple renamings, and collects dotted names below TensorFlow."""

    def __init__(self) -> None:
        self._alias: dict[str, str] = {}
        self.found: list[Use] = []

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            root = alias.name.split(".")[0]
            if root in _ROOTS:
                full = _public(alias.name)
                self._alias[alias.asname or root] = full if alias.asname else "tf"
                if full != "tf":
                    self.found.append(Use(full, node.lineno))

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        if node.level or (node.module or "").split(".")[0] not in _ROOTS:
            return
        for alias in node.names:
            full = _public(f"{node.module}.{alias.name}")
            self._alias[alias.asname or alias.name] = full
            if alias.name != "*":
                self.found.append(Use(full, node.lineno))

    def visit_Assign(self, node: ast.Assign) -> None:
        self.generic_visit(node)
        full = self._dotted(node.value)
        if full is not None and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            self._alias[node.targets[0].id] = full

    def visit_Attribute(self, node: ast.Attribute) -> None:
        full = self._dotted(node)
        if full is None:
            self.generic_visit(node)
        else:
            self.found.append(Use(full, node.lineno))

    def _dotted(self, node: ast.AST) -> str | None:
        if isinstance(node, ast.Name):
            return self._alias.get(node.id)
        if isinstance(node, ast.Attribute):
            inner = self._dotted(node.value)
            return None if inner is None else _public(f"{inner}.{node.attr}")
        return None


def _public(name: str) -> str:
    """`tensorflow.keras.layers` and `tf.compat.v2.math` by their short names."""
    parts = name.split(".")
    parts[0] = "tf"
    if parts[1:3] == ["compat", "v2"]:
        del parts[1:3]
    return ".".join(parts)


def shortened(use: Use) -> Use | None:
    """The part of a name that is TensorFlow's: `tf.keras.Model.fit` is about `tf.keras.Model`.

    `None` for an attribute of something that is not in the table, such as `tf.__version__`.
    """
    known = tensorflow_names()
    name = use.name
    if name.rpartition(".")[2].startswith("__"):
        return None
    while name.count(".") > 1 and name not in known and _leaf_owner(name) in known:
        name = name.rpartition(".")[0]
    return Use(name, use.line) if name != "tf" else None


def _leaf_owner(name: str) -> str:
    """The name above, if it is no module; what hangs below a class or function is not listed."""
    above = name.rpartition(".")[0]
    return above if above not in _modules() else ""


@cache
def _modules() -> frozenset[str]:
    return frozenset(n.rpartition(".")[0] for n in tensorflow_names())


def tell(scripts: list[str], missing: bool, as_json: bool) -> int:
    """Prints the answer; 1 if a program uses names that Wengert does not have."""
    if not scripts:
        return _tell_all(missing, as_json)
    rows = [(s, u) for s in scripts for u in _of_script(s)]
    lacking = [(s, u) for s, u in rows if not has(u.name)]
    shown = lacking if missing else rows
    if as_json:
        print(json.dumps([_row(s, u) for s, u in shown], indent=2))
    else:
        for script, use in shown:
            print(f"{script}:{use.line}: {use.name}{_remark(use.name)}")
        print(f"{len(rows)} names, {len(lacking)} missing", file=sys.stderr)
    return 1 if lacking else 0


def _of_script(script: str) -> Iterator[Use]:
    seen = set()
    for use in uses(read(script), script):
        short = shortened(use)
        if short is not None and short.name not in seen:
            seen.add(short.name)
            yield short


def _row(script: str, use: Use) -> dict[str, Any]:
    row = {"file": script, "line": use.line, "name": use.name, "present": has(use.name)}
    return row if row["present"] else {**row, "remedy": advice(use.name)}


def _remark(name: str) -> str:
    return "" if has(name) else f"  MISSING  {advice(name)}".rstrip()


def advice(name: str) -> str:
    """What Wengert says when the name is touched."""
    result: Any = wengert
    for part in name.split(".")[1:]:
        try:
            result = getattr(result, part)
        except (AttributeError, ImportError) as error:
            return str(error)
    return ""


def _tell_all(missing: bool, as_json: bool) -> int:
    names = sorted(tensorflow_names())
    present = {n for n in names if has(n)}
    if as_json:
        print(json.dumps({n: n in present for n in names if not (missing and n in present)}))
        return 0
    for n in names:
        if not (missing and n in present):
            print(n if n in present else f"{n}  MISSING")
    print(f"{len(present)} of {len(names)} names of TensorFlow 2.21", file=sys.stderr)
    return 0

"""`python tools/census.py [COMMIT]`: how large `src` is, and how much of it is typed.

Counts over the syntax trees: statements; branches (each `if`, loop, `except`, `case`, conditional
expression, comprehension condition and operand of `and`/`or`); the share of parameters and returns
whose type says nothing (`Any`, also inside another type or behind an alias of it; bare `object`; no
annotation); uses of `cast` and `type: ignore`. With a commit the same of it, beside this tree.
Docstrings are no statements. `self` and `cls` are no parameters.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_BRANCHES = (
    ast.If, ast.For, ast.AsyncFor, ast.While, ast.ExceptHandler, ast.IfExp, ast.match_case,
)  # fmt: skip


def sources(commit: str | None) -> Iterator[str]:
    """The texts of the modules of the package, of this tree or of a commit."""
    if commit is None:
        for file in sorted((ROOT / "src").rglob("*.py")):
            yield file.read_text(encoding="utf-8")
        return
    git = ["git", "-C", str(ROOT)]
    names = subprocess.run(
        [*git, "ls-tree", "-r", "--name-only", commit, "src"], capture_output=True, text=True, check=True
    ).stdout.split()  # fmt: skip
    for name in names:
        if name.endswith(".py"):
            yield subprocess.run(
                [*git, "show", f"{commit}:{name}"], capture_output=True, text=True, check=True
            ).stdout


def is_docstring(node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def branches(node: ast.AST) -> int:
    if isinstance(node, ast.BoolOp):
        return len(node.values) - 1
    if isinstance(node, ast.comprehension):
        return len(node.ifs)
    return int(isinstance(node, _BRANCHES))


def aliases_of_any(trees: list[ast.Module]) -> set[str]:
    """Names that modules give to a type made of `Any`, such as `Entry = tuple[Any, ...]`."""
    names = {"Any"}
    while True:
        more = {
            name
            for tree in trees
            for name, value in assigned(tree)
            if name.lstrip("_")[:1].isupper() and not name.isupper()
            if is_type(value) and says_nothing(value, names)
        }
        if more <= names:
            return names
        names |= more


def assigned(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    """The names that a module gives to expressions."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and not isinstance(node.value, ast.Constant):
            yield from ((t.id, node.value) for t in node.targets if isinstance(t, ast.Name))


def is_type(node: ast.AST) -> bool:
    """Whether an expression can be a type: names, subscripts, unions, tuples and lists of them."""
    allowed = (
        ast.Name, ast.Attribute, ast.Subscript, ast.Tuple, ast.List, ast.BinOp, ast.BitOr,
        ast.Constant, ast.Load,
    )  # fmt: skip
    return all(isinstance(n, allowed) for n in ast.walk(node))


def says_nothing(annotation: ast.AST | None, nothing: set[str]) -> bool:
    """Whether an annotation has `Any` in it, is `object`, or is missing."""
    if annotation is None:
        return True
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        annotation = ast.parse(annotation.value, mode="eval").body
    if isinstance(annotation, ast.Name) and annotation.id == "object":
        return True
    names = (n.id for n in ast.walk(annotation) if isinstance(n, ast.Name))
    return any(name in nothing for name in names)


def slots(
    function: ast.FunctionDef | ast.AsyncFunctionDef, method: bool
) -> Iterator[ast.AST | None]:
    """The annotations of a function's parameters and of what it returns."""
    a = function.args
    positional = [*a.posonlyargs, *a.args]
    static = any(
        isinstance(d, ast.Name) and d.id == "staticmethod" for d in function.decorator_list
    )
    if method and not static:
        positional = positional[1:]
    for parameter in [*positional, *a.kwonlyargs, *filter(None, (a.vararg, a.kwarg))]:
        yield parameter.annotation
    yield function.returns


def count(commit: str | None = None) -> Counter[str]:
    texts = list(sources(commit))
    trees = [ast.parse(text) for text in texts]
    nothing = aliases_of_any(trees)
    result: Counter[str] = Counter(modules=len(trees), lines=sum(t.count("\n") for t in texts))
    for text in texts:
        result["type: ignore"] += text.count("# type: ignore") + text.count("# pyright: ignore")
    for tree in trees:
        _count_tree(tree, nothing, result)
    return result


def _count_tree(tree: ast.Module, nothing: set[str], found: Counter[str]) -> None:
    methods = {
        id(f) for c in ast.walk(tree) if isinstance(c, ast.ClassDef) for f in c.body
    }  # fmt: skip
    casts = any(
        isinstance(n, ast.ImportFrom)
        and n.module == "typing"
        and "cast" in {a.name for a in n.names}
        for n in tree.body
    )
    for node in ast.walk(tree):
        found["branches"] += branches(node)
        if isinstance(node, ast.stmt) and not is_docstring(node):
            found["statements"] += 1
        if casts and isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            found["cast"] += node.func.id == "cast"
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for annotation in slots(node, id(node) in methods):
                found["parameters and returns"] += 1
                found["of them untyped"] += says_nothing(annotation, nothing)


def main() -> None:
    columns = {"this tree": count()}
    if len(sys.argv) > 1:
        columns[sys.argv[1]] = count(sys.argv[1])
    rows = [
        "modules", "lines", "statements", "branches", "parameters and returns", "of them untyped",
        "cast", "type: ignore",
    ]  # fmt: skip
    print(f"{'':24}", *(f"{name:>14.14}" for name in columns))
    for row in rows:
        print(f"{row:24}", *(f"{c[row]:>14,}" for c in columns.values()))
    share = [c["of them untyped"] / c["parameters and returns"] for c in columns.values()]
    print(f"{'untyped':24}", *(f"{s:>14.1%}" for s in share))
    if len(columns) == 2:
        now, before = columns.values()
        both = [c["statements"] + c["branches"] for c in (now, before)]
        print(f"statements and branches: {both[0] / both[1] - 1:+.1%}")


if __name__ == "__main__":
    main()

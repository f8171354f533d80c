"""Finds the syntax tree of a function object.

The text comes from `linecache`, so from files, notebooks, and whatever a program has put there. A
lambda is told from others on its line by the columns that its code object remembers.
"""

from __future__ import annotations

import ast
import linecache
from types import CodeType, FunctionType
from typing import Any

from wengert.autograph.name_analysis import parameters, walk

_LARGEST_CACHE = 8
_files: dict[str, tuple[tuple[str, ...], ast.Module]] = {}


class NoSource(Exception):
    """The text of a function cannot be found; the message says why."""


def find(f: FunctionType) -> ast.AST:
    """The `def` or `lambda` that made `f`, at its lines and columns in the user's file."""
    code = f.__code__
    lines = linecache.getlines(code.co_filename, f.__globals__)
    if not lines:
        raise NoSource(f"Python no longer has the text of {code.co_filename!r}")
    if code.co_name == "<lambda>":
        node = _lambda(code, lines)
    else:
        node = _function(code, lines)
    if not _fits(node, code):
        raise NoSource(f"{code.co_filename!r} has changed since the function was made")
    return node


def enclosing_class(f: FunctionType) -> str | None:
    """The class in whose body a function was written, which private names are mangled by."""
    parts = f.__code__.co_qualname.split(".")[:-1]
    while parts and parts[-1] == "<locals>":
        del parts[-2:]
    return parts[-1] if parts else None


def _function(code: CodeType, lines: list[str]) -> Any:
    first = code.co_firstlineno
    indent = _indent(lines[first - 1]) if first <= len(lines) else 0
    for last in _ends(lines, _last_line(code), indent):
        text = "".join(lines[first - 1 : last])
        # Text that is set in keeps its columns under a block of its own; empty lines in front of
        # it make its line numbers those of the file.
        before = "if 1:" if indent else ""
        try:
            tree = ast.parse(_at_line(first, before, text))
        except SyntaxError:
            continue
        body = tree.body[0].body if indent else tree.body  # type: ignore[attr-defined]  # an `if`
        node = body[0]
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == code.co_name:
            return node
        break
    raise NoSource(f"there is no function {code.co_name!r} at line {first} of {code.co_filename!r}")


def _at_line(first: int, before: str, text: str) -> str:
    if first == 1:
        return f"{before} {text.lstrip()}" if before else text
    return "\n" * (first - 2) + before + "\n" + text


def _last_line(code: CodeType) -> int:
    """The last line that a function has instructions on."""
    last = max((line for *_, line in code.co_lines() if line is not None), default=0)
    return max([last, *(_last_line(c) for c in code.co_consts if isinstance(c, CodeType))])


def _ends(lines: list[str], last: int, indent: int) -> Any:
    """The lines before which a function may end: those that are not indented further."""
    for end in range(last, len(lines)):
        text = lines[end]
        if text.strip() and not text.lstrip().startswith("#") and _indent(text) <= indent:
            yield end
    yield len(lines)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _lambda(code: CodeType, lines: list[str]) -> ast.Lambda:
    results = [n for n in walk(_parsed(code.co_filename, lines)) if isinstance(n, ast.Lambda)]
    spans = [p for p in code.co_positions() if None not in p and p[2:] != (0, 0)]
    if spans:
        span = (
            *min((line, column) for line, _, column, _ in spans),
            *max((line, column) for _, line, _, column in spans),
        )
        for node in results:
            body = node.body
            if span == (body.lineno, body.col_offset, body.end_lineno, body.end_col_offset):
                return node
    # A lambda that is just a constant may have no columns; equal ones are as good.
    near = [n for n in results if n.lineno == code.co_firstlineno and _fits(n, code)]
    if not spans and len(near) > 1:
        near = [n for n in near if _is_constant(n.body, code)][:1]
    if len(near) == 1:
        return near[0]
    raise NoSource(f"no lambda at line {code.co_firstlineno} of {code.co_filename!r} fits")


def _is_constant(body: ast.expr, code: CodeType) -> bool:
    return isinstance(body, ast.Constant) and any(
        type(c) is type(body.value) and c == body.value for c in code.co_consts
    )


def _parsed(filename: str, lines: list[str]) -> ast.Module:
    text = tuple(lines)
    kept = _files.get(filename)
    if kept is not None and kept[0] == text:
        return kept[1]
    try:
        tree = ast.parse("".join(lines))
    except SyntaxError as error:
        raise NoSource(f"the text of {filename!r} is not Python: {error}") from None
    if len(_files) >= _LARGEST_CACHE:
        _files.clear()
    _files[filename] = (text, tree)
    return tree


def _fits(node: Any, code: CodeType) -> bool:
    """Whether a function in the text may be the one that runs: the file may have been edited."""
    count = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 4)
    count += bool(code.co_flags & 8)
    if parameters(node.args) != set(code.co_varnames[:count]):
        return False
    known: set[str] = set()
    lines: set[int] = set()
    for n in walk(node):
        line = getattr(n, "lineno", None)
        if line is not None:
            lines.update((line, n.end_lineno))  # type: ignore[attr-defined]  # it has a place
        for field in ("id", "attr", "name", "asname", "arg", "rest", "module"):
            text = getattr(n, field, None)
            if isinstance(text, str):
                known.update((text, *text.split(".")))
        known.update(getattr(n, "names", ()) if isinstance(n, ast.Global | ast.Nonlocal) else ())
    here = {line for *_, line in code.co_lines() if line}
    if not here <= lines | {code.co_firstlineno}:
        return False
    names = {*code.co_names, *code.co_varnames}
    # Test runners rewrite assertions; one of the names they use says so.
    return any(n.startswith("@") for n in names) or _named(names, known)


def _named(names: set[str], known: set[str]) -> bool:
    """Whether the names of a piece of code stand in the text."""
    members = {n for n in names if n.isidentifier()}
    mangled = {n for n in members if n.startswith("_") and "__" in n[1:]}
    return members - known - mangled <= {"__class__", "AssertionError", "__annotations__"}

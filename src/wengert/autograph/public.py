"""The public functions of autograph: converted code as text or function, and opting out."""

from __future__ import annotations

import enum
import functools
import inspect
import logging
import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from wengert.autograph.conversion import OPT_OUT, conversion, convert
from wengert.autograph.conversion_unit import Construct

if TYPE_CHECKING:
    from wengert.core.types import TensorLike
    from wengert.functions.function import Function


_log = logging.getLogger("wengert.autograph")


class Feature(enum.Enum):
    """Parts of conversion that TensorFlow lets a program choose; here all are always on."""

    ALL = "ALL"
    AUTO_CONTROL_DEPS = "AUTO_CONTROL_DEPS"
    ASSERT_STATEMENTS = "ASSERT_STATEMENTS"
    BUILTIN_FUNCTIONS = "BUILTIN_FUNCTIONS"
    EQUALITY_OPERATORS = "EQUALITY_OPERATORS"
    LISTS = "LISTS"
    NAME_SCOPES = "NAME_SCOPES"

    @classmethod
    def all(cls) -> tuple[Feature, ...]:
        """All features."""
        return tuple(cls)

    @classmethod
    def all_but(cls, exclude: Any) -> tuple[Feature, ...]:
        """All features except these."""
        left_out = exclude if isinstance(exclude, list | tuple | set) else (exclude,)
        return tuple(f for f in cls if f not in left_out)


def do_not_convert(func: Callable[..., Any] | None = None) -> Any:
    """Marks a function to be run as it is, together with what it calls."""
    if func is None:
        return do_not_convert
    if inspect.isclass(func):
        setattr(func, OPT_OUT, True)
        return func

    @functools.wraps(func)
    def unconverted(*args: Any, **kwargs: Any) -> Any:
        return func(*args, **kwargs)

    setattr(unconverted, OPT_OUT, True)
    return unconverted


def to_graph(
    entity: Any, recursive: bool = True, experimental_optional_features: Any = None
) -> Any:
    """The converted form of a function; `ValueError` where it has none."""
    result, reason = convert(getattr(entity, "python_function", entity))
    if reason is not None:
        raise ValueError(f"to_graph: {entity!r} is not converted, because {reason}.")
    return result


def to_code(entity: Any, recursive: bool = True, experimental_optional_features: Any = None) -> str:
    """The source of a function, with a comment wherever control flow may depend on tensors.

    The comment says what becomes of the statement then, and which variables it carries.
    """
    function = inspect.unwrap(getattr(entity, "python_function", entity))
    function = getattr(function, "__func__", function)
    if not inspect.isfunction(function):
        raise ValueError(f"to_code: only functions have code to show; got {entity!r}.")
    result = conversion(function)
    if result.code is None:
        raise ValueError(f"to_code: {entity!r} is not converted, because {result.reason}.")
    lines, first = inspect.getsourcelines(function)
    for line, texts in _comments(result.sites).items():
        index = line - first
        if 0 <= index < len(lines):
            text = lines[index].rstrip("\n")
            lines[index] = f"{text}  # {'; '.join(texts)}\n"
    return inspect.cleandoc("\n" + "".join(lines)) + "\n"


def _comments(sites: list[Construct]) -> dict[int, list[str]]:
    table: dict[int, list[str]] = {}
    for site in sites:
        text = _explained(site)
        if text and text not in table.setdefault(site.line, []):
            table[site.line].append(text)
    return {line: texts for line, texts in table.items() if texts}


def _explained(site: Construct) -> str:
    """How one construct is traced if its condition or iterable is a tensor."""
    names = [str(s) for s in site.symbols if not s.base.startswith(("ag__", "_ag__"))]
    carried = [n for n in names if n in site.live or "." in n or "[" in n]
    local = [n for n in names if n not in carried]
    if site.kind == "if":
        return "if a tensor: both branches" + (f", giving {', '.join(carried)}" if carried else "")
    if site.kind in ("while", "for"):
        text = f"{'if a tensor' if site.kind == 'while' else 'over a tensor'}: a loop"
        text += f" carrying {', '.join(carried)}" if carried else ""
        return text + (f"; {', '.join(local)} of each turn" if local else "")
    return ""


class Placed(NamedTuple):
    """A statement that may depend on tensors: its line, its kind, and whether it has so far."""

    line: int
    kind: str
    in_graph: bool


def constructs(entity: Function) -> list[Placed]:
    """The `if`s and loops of a function, and which of them met a tensor in a trace so far."""
    function = inspect.unwrap(getattr(entity, "python_function", entity))
    function = getattr(function, "__func__", function)
    if not inspect.isfunction(function):
        return []
    table: dict[tuple[int, str], bool] = {}
    for site in conversion(function).sites:
        if site.kind in ("if", "while", "for"):
            key = (site.line, site.kind)
            table[key] = table.get(key, False) or site.met
    return [Placed(line, kind, met) for (line, kind), met in sorted(table.items())]


def set_verbosity(level: int, alsologtostdout: bool = False) -> None:
    """Says how much is logged about conversion: nothing at 0, every function from 1 on.

    The environment variable AUTOGRAPH_VERBOSITY sets it at the start.
    """
    _log.setLevel(logging.WARNING if level <= 0 else logging.DEBUG)
    if alsologtostdout and not any(isinstance(h, logging.StreamHandler) for h in _log.handlers):
        _log.addHandler(logging.StreamHandler(sys.stdout))


def trace(*args: TensorLike) -> None:
    """Prints its arguments while a function is being traced."""
    print(*args)


if os.environ.get("AUTOGRAPH_VERBOSITY", "0").isdigit():
    set_verbosity(int(os.environ.get("AUTOGRAPH_VERBOSITY", "0")))

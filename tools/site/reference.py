"""The reference: a page for each namespace, from signatures and docstrings.

A function with several names stands under one of them, and the others are said there. What Keras
brings is not repeated.
"""

from __future__ import annotations

import inspect
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cache
from html import escape
from typing import Any, NamedTuple

from tools.site import markdown
from tools.site.contents import relative
from tools.site.tensorflow import names, value_of

# Names that TensorFlow has not.
OWN = (
    "tf.config.experimental.set_compile_cache",
    "tf.engine",
    "tf.explain.Explanation",
    "tf.explain.MemoryReport",
    "tf.explain.Report",
    "tf.explain.doctor",
    "tf.explain.nan",
    "tf.explain.parity",
    "tf.explain.retraces",
    "tf.testing.check_gradients",
)
INDEX = "reference/index.html"


class Item(NamedTuple):
    """A function or class under the first of its names."""

    name: str
    value: Any
    others: tuple[str, ...]

    @property
    def space(self) -> str:
        return self.name.rpartition(".")[0]


@cache
def items() -> dict[str, list[Item]]:
    """What stands on the page of each namespace."""
    known: dict[int, tuple[Any, list[str]]] = {}
    for name in [*(n.name for n in names() if n.present), *OWN]:
        value = value_of(name)
        if callable(value) and not _of_keras(value):
            known.setdefault(id(value), (value, []))[1].append(name)
    result: dict[str, list[Item]] = defaultdict(list)
    for value, found in known.values():
        first, *others = sorted(found, key=_preference)
        item = Item(first, value, tuple(others))
        result[item.space].append(item)
    return {space: sorted(rows, key=_alphabetical) for space, rows in sorted(result.items())}


def _of_keras(value: Any) -> bool:
    return str(getattr(value, "__module__", "")).startswith("keras")


def _preference(name: str) -> tuple[bool, int, str]:
    """Short names that are no experiments come first: a user writes `tf.add`."""
    return "experimental" in name or "compat" in name, name.count("."), name


def _alphabetical(item: Item) -> str:
    return item.name.casefold()


def page_of(space: str) -> str:
    return f"reference/{space}.html"


@cache
def places() -> dict[str, str]:
    """The page and anchor of every name."""
    return {
        name: f"{page_of(space)}#{item.name}"
        for space, rows in items().items()
        for item in rows
        for name in (item.name, *item.others)
    }


def index() -> str:
    """The page that lists the namespaces, and all names of each."""
    parts = [
        "<h1>Reference</h1><p>Functions and classes, made from their signatures and docstrings. "
        "<code>tf</code> is <code>import wengert as tf</code>. "
        'What TensorFlow has beyond this is in <a href="../names.html">the table of its names</a>; '
        "<code>tf.keras</code> is Keras 3, which has its own documentation.</p>"
    ]
    for space, rows in items().items():
        links = _links(rows, relative(page_of(space), INDEX))
        parts.append(f'<h2 id="{space}"><code>{space}</code></h2>{links}')
    return "".join(parts)


def _links(rows: list[Item], target: str) -> str:
    links = "".join(
        f'<li><a href="{target}#{item.name}"><code>{item.name.rpartition(".")[2]}</code></a>'
        for item in rows
    )
    return f'<ul class="names">{links}</ul>'


def page(space: str) -> str:
    """The page of a namespace."""
    here = page_of(space)
    rows = items()[space]
    entries = "".join(_entry(item, lambda target: target) for item in rows)
    links = _links(rows, "") + _linked_from(space, here)
    return f"<h1><code>{space}</code></h1>{links}{entries}"


def _linked_from(space: str, here: str) -> str:
    """Names of this namespace that stand under a shorter one."""
    rows = [
        f'<li><a href="{relative(place, here)}"><code>{name}</code></a>'
        for name, place in places().items()
        if name.rpartition(".")[0] == space and not place.startswith(f"{here}#")
    ]
    if not rows:
        return ""
    return f'<p>Under a shorter name elsewhere:</p><ul class="names">{"".join(sorted(rows))}</ul>'


def _entry(item: Item, link: Callable[[str], str]) -> str:
    others = f'<p class="also">Also {_codes(item.others)}.</p>' if item.others else ""
    members = "".join(_member(item.name, *m, link) for m in _members(item.value))
    return (
        f'<section class="entry" id="{item.name}"><h2><code>{item.name}</code></h2>'
        f"{_signature(item.name, item.value)}{others}{_text(item.value, link)}{members}</section>"
    )


def _codes(words: tuple[str, ...]) -> str:
    return ", ".join(f"<code>{word}</code>" for word in words)


def _text(value: Any, link: Callable[[str], str]) -> str:
    text = inspect.getdoc(value)
    if text is None or (isinstance(value, type) and not value.__doc__):
        return ""
    return markdown.docstring(text, link)


def _signature(name: str, value: Any, bound: bool = False) -> str:
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return ""
    rows = list(signature.parameters.values())[1 if bound else 0 :]
    plain = [_parameter(p) for p in rows]
    result = str(signature.return_annotation).strip("'")
    arrow = "" if isinstance(value, type) or result in _UNSAID else f" -> {result}"
    text = f"{name}({', '.join(plain)}){arrow}"
    if len(text) > 80:
        text = f"{name}(\n    " + ",\n    ".join(plain) + f",\n){arrow}"
    return f'<pre class="signature"><code>{markdown.coloured(text, "python")}</code></pre>'


_UNSAID = ("Any", "None", f"{inspect.Signature.empty}")


def _parameter(parameter: inspect.Parameter) -> str:
    """A parameter as it is written; a default without a short form is `…`."""
    kind = str(parameter.annotation).strip("'")
    said = "" if kind in _UNSAID else f": {kind}"
    star = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
    text = f"{star}{parameter.name}{said}"
    if parameter.default is parameter.empty:
        return text
    default = repr(parameter.default)
    if re.search(r" at 0x|^<", default):
        default = "…"
    return f"{text} = {default}" if said else f"{text}={default}"


def _members(value: Any) -> Iterator[tuple[str, Any]]:
    """The public methods and properties that a class of Wengert's defines or inherits from one."""
    if not isinstance(value, type) or issubclass(value, BaseException):
        return
    seen = set()
    for base in value.__mro__:
        if not base.__module__.startswith("wengert"):
            continue
        for name, member in vars(base).items():
            if name.startswith("_") or name in seen:
                continue
            seen.add(name)
            if isinstance(member, property) or callable(getattr(value, name, None)):
                yield name, member


def _member(owner: str, name: str, member: Any, link: Callable[[str], str]) -> str:
    inner = member.__func__ if isinstance(member, (classmethod, staticmethod)) else member
    text = _text(inner.fget if isinstance(inner, property) else inner, link)
    if not text:  # what has no sentence of its own does what its name says in TensorFlow
        return ""
    full = f"{owner}.{name}"
    bound = not isinstance(member, staticmethod)
    shown = "" if isinstance(inner, property) else _signature(name, inner, bound)
    return (
        f'<section class="entry" id="{escape(full)}"><h3><code>{full}</code></h3>'
        f"{shown}{text}</section>"
    )

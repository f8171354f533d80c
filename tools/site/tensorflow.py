"""TensorFlow's names: which are there, which lack parameters or members, which are missing.

Names of Keras are left out: `tf.keras` is Keras itself.
"""

from __future__ import annotations

import inspect
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import wengert
from tools.site import markdown
from wengert.cli import names as api

_NOISE = ("experimental_", "ClearExtension", "DESCRIPTOR", "DiscardUnknown", "Extensions")


class Name(NamedTuple):
    """A name of TensorFlow's and what Wengert's lacks of it."""

    name: str
    present: bool
    parameters: tuple[str, ...] = ()
    members: tuple[str, ...] = ()

    @property
    def whole(self) -> bool:
        return self.present and not self.parameters and not self.members


def value_of(name: str) -> Any:
    """What Wengert has under a name such as `tf.math.abs`."""
    value: Any = wengert
    for part in name.split(".")[1:]:
        value = getattr(value, part)
    return value


@cache
def names() -> tuple[Name, ...]:
    """All of them, in the order of the alphabet, whatever the case."""
    recorded = dict(_recorded())
    return tuple(
        _compared(name, *recorded.get(name, ((), ())))
        for name in sorted(api.tensorflow_names(), key=str.casefold)
        if not f"{name}.".startswith("tf.keras.")
    )


def _recorded() -> Iterator[tuple[str, tuple[tuple[str, ...], tuple[str, ...]]]]:
    file = Path(__file__).parent / "tensorflow_members.txt"
    for row in file.read_text(encoding="utf-8").splitlines():
        name, _, rest = row.partition(":")
        parameters, _, members = rest.partition("|")
        yield name, (tuple(parameters.split()), tuple(members.split()))


def _compared(name: str, parameters: tuple[str, ...], members: tuple[str, ...]) -> Name:
    try:
        value = value_of(name)
    except AttributeError:  # also where a library could import it, as a private module
        return Name(name, False)
    lacking = () if isinstance(value, type) else _parameters(value, parameters)
    return Name(name, True, lacking, _members(value, members))


def _parameters(value: Any, wanted: tuple[str, ...]) -> tuple[str, ...]:
    try:
        own = inspect.signature(value).parameters
    except (TypeError, ValueError):
        return ()
    if any(p.kind is p.VAR_KEYWORD for p in own.values()):
        return ()
    return tuple(name for name in wanted if name not in own)


def _members(value: Any, wanted: tuple[str, ...]) -> tuple[str, ...]:
    """The members that a class lacks; options have theirs in the instance."""
    if not isinstance(value, type):
        return ()
    instance = value() if value.__name__.endswith("Options") else value
    return tuple(
        name
        for name in wanted
        if not name.startswith(_NOISE) and not hasattr(value, name) and not hasattr(instance, name)
    )


def table(link: Callable[[str], str | None]) -> str:
    """The page; `link` gives the reference's place of a name, if it has one."""
    groups: dict[str, list[Name]] = defaultdict(list)
    for name in names():
        groups[name.name.rpartition(".")[0]].append(name)
    present = sum(name.present for name in names())
    partly = sum(name.present and not name.whole for name in names())
    opening = (
        "<h1>TensorFlow's names</h1>"
        f"<p>Of the {len(names()):,} public names of TensorFlow 2.21 (without Keras, which is Keras "
        f"itself), {present:,} are there. Of these, {partly} are there in part: a function without "
        "some parameter, a class without some member. What a missing name answers is in its row; "
        "<code>wengert api script.py</code> says which of them a program uses.</p>"
        "<p>Results that differ on purpose are on a page of their own: "
        '<a href="differences.html">differences</a>.</p>'
    )
    return opening + "".join(_group(prefix, rows, link) for prefix, rows in sorted(groups.items()))


def _group(prefix: str, rows: list[Name], link: Callable[[str], str | None]) -> str:
    count = sum(row.present for row in rows)
    parts = [f'<h2 id="{prefix}"><code>{prefix}</code></h2><p>{count} of {len(rows)}</p>']
    there = [f"<li>{_linked(row.name, link)}" for row in rows if row.whole]
    if there:
        parts.append(f'<ul class="names">{"".join(there)}</ul>')
    lacking = [
        f"<tr><td>{_linked(row.name, link)}<td>{_said(row)}" for row in rows if not row.whole
    ]
    if lacking:
        head = "<tr><th>in part, or missing<th>"
        parts.append(f'<div class="wide"><table>{head}{"".join(lacking)}</table></div>')
    return "".join(parts)


def _linked(name: str, link: Callable[[str], str | None]) -> str:
    target = link(name)
    code = f"<code>{name.rpartition('.')[2]}</code>"
    return code if target is None else f'<a href="{target}">{code}</a>'


def _said(row: Name) -> str:
    if not row.present:
        advice = api.advice(row.name).removeprefix(f"Wengert has no `{row.name}`")
        return "missing. " + markdown.sentence(advice.removeprefix(" yet").lstrip(". "))
    parts = []
    if row.parameters:
        parts.append(f"without the parameters {_listed(row.parameters)}")
    if row.members:
        parts.append(f"without the members {_listed(row.members)}")
    return "in part: " + " and ".join(parts)


def _listed(words: tuple[str, ...]) -> str:
    shown = ", ".join(f"<code>{word}</code>" for word in words[:8])
    return shown + (f" and {len(words) - 8} more" if len(words) > 8 else "")

"""From raw call sites to places in the user's source, with columns that count characters."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import Any

from wengert.core.sites import RawSite, Site, locate
from wengert.explain.explanation import Place


def exact(site: RawSite | Site | None) -> Site | None:
    """Like `locate`, with columns in characters, and no end column on another line."""
    where = locate(site)
    if where is None or where.column is None:
        return where
    end = where.end_column
    if not isinstance(site, Site) and _last_line(site) != where.line:
        end = None
    text = where.text.encode()
    column = len(text[: where.column].decode(errors="replace"))
    return replace(
        where,
        column=column,
        end_column=None if end is None else len(text[:end].decode(errors="replace")),
    )


def _last_line(site: Any) -> int | None:
    code, offset = site
    return next(islice(code.co_positions(), offset // 2, None), (None, None))[1]


def place(site: RawSite | Site | None, label: str = "") -> Place | None:
    """A labelled place, or nothing where the site is unknown."""
    where = exact(site)
    return None if where is None else Place(where, label)


def written(site: RawSite | Site | None) -> str:
    """The expression at a place, as it is written there."""
    where = exact(site)
    if where is None or where.column is None or not where.text:
        return "it"
    text = where.text
    return text[where.column : where.end_column] if where.end_column else text.strip()


def known(*places: Place | None) -> tuple[Place, ...]:
    """Those places that are known, each line and column once."""
    table: dict[Any, Place] = {}
    for one in places:
        if one is not None:
            table.setdefault((one.site.file, one.site.line, one.site.column), one)
    return tuple(table.values())

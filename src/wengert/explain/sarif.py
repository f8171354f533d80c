"""Explanations in SARIF 2.1.0, the format that code hosts and editors read findings in."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from wengert._version import __version__
from wengert.explain import code_pages
from wengert.explain.codes import CODES
from wengert.explain.explanation import Explanation, Place
from wengert.explain.terminal import level, short, span

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def log(explanations: Sequence[Explanation]) -> dict[str, Any]:
    """A log with one run."""
    codes = sorted({e.code for e in explanations})
    driver = {
        "name": "wengert",
        "version": __version__,
        "rules": [_rule(code) for code in codes],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(e, codes.index(e.code)) for e in explanations],
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(code: str) -> dict[str, dict[str, str] | str]:
    rule: dict[str, Any] = {"id": code, "shortDescription": {"text": CODES[code]}}
    text = code_pages.read(code)
    if text is not None:
        rule["help"] = {"text": text, "markdown": text}
    return rule


def _result(e: Explanation, index: int) -> dict[str, Any]:
    words = f"{e.title}. {e.cause[:1].upper()}{e.cause[1:]}."
    result: dict[str, Any] = {
        "ruleId": e.code,
        "ruleIndex": index,
        "level": level(e) if e.certain else "note",
        "message": {"text": f"{words} {e.remedy}".strip()},
        "properties": {"certain": e.certain},
    }
    if e.sites:
        result["locations"] = [_location(e.sites[0])]
        result["relatedLocations"] = [
            {"id": i, **_location(p), "message": {"text": p.label}}
            for i, p in enumerate(e.sites[1:], 1)
        ]
    return result


def _location(one: Place) -> dict[str, Any]:
    text = one.site.text
    region: dict[str, Any] = {"startLine": one.site.line}
    if one.site.column is not None and text:
        start, end = span(one.site, text)
        region |= {"startColumn": start + 1, "endColumn": end + 1}
    if text:
        region["snippet"] = {"text": text}
    return {
        "physicalLocation": {"artifactLocation": {"uri": _uri(one.site.file)}, "region": region}
    }


def _uri(file: str) -> str:
    """Relative where the file lies below the working directory, as code hosts want it."""
    from urllib.parse import quote

    near = short(file)
    if near.startswith("<"):
        return quote(near)
    path = Path(near)
    return path.as_uri() if path.is_absolute() else quote(path.as_posix())

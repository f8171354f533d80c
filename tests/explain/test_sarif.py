"""The SARIF log against the rules of SARIF 2.1.0.

What the format says about the objects that we write stands here in a table. With
`WENGERT_SARIF_SCHEMA=sarif-schema-2.1.0.json` and `jsonschema` installed, logs are validated
against the official schema too; `npm pack @microsoft/jest-sarif` is one package that carries it.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.explain.programs import Page, examined, pages
from wengert.core.sites import Site
from wengert.explain import CODES, Explanation, Place, Report
from wengert.explain.explanation import reason

# Each object: its properties with what they hold ("*" a list of them), and those that must be there.
OBJECTS: dict[str, tuple[dict[str, Any], set[str]]] = {
    "log": ({"$schema": "uri", "version": "2.1.0", "runs": "*run"}, {"version", "runs"}),
    "run": (
        {"tool": "tool", "columnKind": ("utf16CodeUnits", "unicodeCodePoints"), "results": "*result"},
        {"tool"},
    ),
    "tool": ({"driver": "component"}, {"driver"}),
    "component": ({"name": str, "version": str, "rules": "*rule"}, {"name"}),
    "rule": ({"id": str, "shortDescription": "text", "help": "text"}, {"id"}),
    "text": ({"text": str, "markdown": str}, {"text"}),
    "result": (
        {
            "ruleId": str,
            "ruleIndex": int,
            "level": ("none", "note", "warning", "error"),
            "message": "text",
            "locations": "*location",
            "relatedLocations": "*location",
            "properties": dict,
        },
        {"message"},
    ),
    "location": ({"id": int, "physicalLocation": "physical", "message": "text"}, set()),
    "physical": ({"artifactLocation": "artifact", "region": "region"}, {"artifactLocation"}),
    "artifact": ({"uri": "uri"}, set()),
    "region": (
        {"startLine": int, "startColumn": int, "endColumn": int, "snippet": "content"},
        {"startLine"},
    ),
    "content": ({"text": str}, set()),
}  # fmt: skip


def conforms(value: Any, rule: Any, at: str) -> None:
    if isinstance(rule, tuple):
        assert value in rule, at
    elif isinstance(rule, type):
        assert type(value) is rule, at
        assert rule is not int or value >= (1 if at.endswith(("Line", "Column")) else 0), at
    elif rule == "uri":
        assert isinstance(value, str) and value.isascii() and " " not in value, at
        assert urlsplit(value).scheme in ("", "file", "https"), at
    elif rule == "2.1.0":
        assert value == rule, at
    elif rule.startswith("*"):
        assert isinstance(value, list), at
        assert len({json.dumps(v, sort_keys=True) for v in value}) == len(value), f"{at}: twice"
        for k, one in enumerate(value):
            conforms(one, rule[1:], f"{at}[{k}]")
    else:
        properties, required = OBJECTS[rule]
        assert value.keys() <= properties.keys(), f"{at}: {value.keys() - properties.keys()}"
        assert required <= value.keys(), at
        for name, one in value.items():
            conforms(one, properties[name], f"{at}.{name}")


def validated(report: Report) -> dict[str, Any]:
    log = json.loads(json.dumps(report.to_sarif()))
    conforms(log, "log", "log")
    for result in log["runs"][0]["results"]:
        rules = log["runs"][0]["tool"]["driver"]["rules"]
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        for where in (*result.get("locations", ()), *result.get("relatedLocations", ())):
            region = where["physicalLocation"]["region"]
            assert region.get("endColumn", 2) > region.get("startColumn", 1)
    _officially(log)
    return log


def _officially(log: dict[str, Any]) -> None:
    """By the schema that the standard's authors publish, where it is at hand."""
    file = os.environ.get("WENGERT_SARIF_SCHEMA")
    if file:
        jsonschema: Any = pytest.importorskip("jsonschema")
        schema = json.loads(Path(file).read_text(encoding="utf-8"))
        jsonschema.validate(log, schema, format_checker=jsonschema.FormatChecker())


@pytest.mark.parametrize("page", pages(), ids=lambda p: p.stem)
def test_what_the_pages_say(page: Path) -> None:
    log = validated(examined(Page(page).programs[0]))
    assert page.stem in [r["ruleId"] for r in log["runs"][0]["results"]]


ODD = [
    reason("WG120", "nowhere at all"),
    reason("WG120", "in a console", Place(Site("<stdin>", 1, "<module>"), "here")),
    reason("WG120", "spaces and accents", Place(Site("/söme where/ä #1.py", 7, "f", 3, 9), "")),
    reason("WG405", "two places", Place(Site("a.py", 1, "f"), "x"), Place(Site("b.py", 2, "f"))),
]


@pytest.mark.parametrize("found", [[], ODD, [reason(c, "a cause") for c in CODES]])
def test_odd_places_and_all_codes(found: list[Explanation]) -> None:
    validated(Report(found))

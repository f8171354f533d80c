"""How an explanation looks: as text, in colours, as JSON, SARIF and HTML. Texts are pinned."""

from __future__ import annotations

import html
import json
import linecache
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any

import pytest

from wengert.core.sites import Site
from wengert.explain import CODES, Explanation, Place, Report
from wengert.explain.explanation import reason
from wengert.explain.places import exact

PROGRAM = """\
x = tf.constant(3.0)
größe, y = 1, x * x
\tz = tf.reduce_sum(
    y)
g = tape.gradient(z, x)
"""
OTHER = "def helper(x):\n    return x * 2.0\n"


@pytest.fixture(autouse=True)
def texts() -> Iterator[None]:
    for file, text in (("program.py", PROGRAM), ("other.py", OTHER)):
        linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    yield
    for file in ("program.py", "other.py"):
        linecache.cache.pop(file, None)


def at(
    line: int, column: int | None, end: int | None, label: str, file: str = "program.py"
) -> Place:
    return Place(Site(file, line, "f", column, end), label)


@pytest.fixture
def simple() -> Explanation:
    return reason(
        "WG101",
        "`x` is a plain tensor",
        at(1, 4, 20, "made here"),
        at(5, 4, 23, "asked here"),
        remedy="Call `tape.watch(x)`.",
    )


def test_text(simple: Explanation) -> None:
    assert str(simple) == simple.to_text() == (
        "warning[WG101]: no gradient: the source was never watched\n"
        " --> program.py:1:5\n"
        "   |\n"
        " 1 | x = tf.constant(3.0)\n"
        "   |     ^^^^^^^^^^^^^^^^ made here\n"
        "...\n"
        " 5 | g = tape.gradient(z, x)\n"
        "   |     ------------------- asked here\n"
        "   |\n"
        "   = note: `x` is a plain tensor\n"
        "   = help: Call `tape.watch(x)`.\n"
        "   = more: wengert explain WG101"
    )  # fmt: skip


def test_other_files_tabs_wide_letters_and_long_notes() -> None:
    found = Explanation(
        "WG401",
        "a tape was asked twice",
        "this is said at such length that it does not fit on one line of a terminal and has to go "
        "on in the next",
        (
            at(3, 1, None, "over several lines"),
            at(2, 11, 16, "the product"),
            at(2, None, None, "the whole line", "other.py"),
        ),
        certain=False,
    )
    assert found.to_text() == (
        "error[WG401]: a tape was asked twice\n"
        " --> program.py:3:2\n"
        "   |\n"
        " 2 | größe, y = 1, x * x\n"
        "   |            ----- the product\n"
        " 3 |     z = tf.reduce_sum(\n"
        "   |     ^^^^^^^^^^^^^^^^^^ over several lines\n"
        "   |\n"
        " ::: other.py:2\n"
        "   |\n"
        " 2 |     return x * 2.0\n"
        "   |     -------------- the whole line\n"
        "   |\n"
        "   = note: likely, not certain: this is said at such length that it does not fit on one line of a\n"
        "           terminal and has to go on in the next\n"
        "   = more: wengert explain WG401"
    )  # fmt: skip


def test_columns_count_characters_not_bytes() -> None:
    code = compile("größe = 1; größe * größe\n", "program.py", "exec")
    text = "größe = 1; größe * größe\n"
    linecache.cache["program.py"] = (len(text), None, [text], "program.py")
    offsets = [i * 2 for i, p in enumerate(code.co_positions()) if p[2] == 13]
    where = exact((code, offsets[-1]))
    assert where is not None
    assert text[where.column : where.end_column] in ("größe", "größe * größe")


def test_without_source_there_are_lines_only() -> None:
    found = reason("WG120", "cause", Place(Site("<gone>", 7, "f"), "here"))
    assert " --> <gone>:7\n" in found.to_text()
    assert reason("WG120", "cause").to_text().count("-->") == 0


def test_colours(simple: Explanation) -> None:
    painted = simple.to_text(color=True)
    assert "\x1b[1;33mwarning[WG101]\x1b[0m" in painted
    assert re.sub(r"\x1b\[[0-9;]*m", "", painted) == simple.to_text()


def test_a_summary_is_one_line(simple: Explanation) -> None:
    assert simple.summary == "WG101: `x` is a plain tensor (program.py:1)"
    likely = reason("WG101", "cause", certain=False)
    assert likely.summary == "WG101: probably, cause"


def test_json(simple: Explanation) -> None:
    data = json.loads(Report([simple]).to_json())
    (one,) = data["explanations"]
    assert data["version"] == 1
    assert one["code"] == "WG101"
    assert one["title"] == CODES["WG101"]
    assert one["certain"] is True
    assert one["remedy"] == "Call `tape.watch(x)`."
    assert one["sites"][0] == {
        "file": "program.py", "line": 1, "column": 4, "end_column": 20, "function": "f",
        "text": "x = tf.constant(3.0)", "label": "made here",
    }  # fmt: skip


def test_an_empty_report_says_so() -> None:
    assert str(Report()) == "Nothing to explain."
    assert "Nothing to explain." in Report()._repr_html_()
    assert not Report()
    assert Report().to_sarif()["runs"][0]["results"] == []


class Checked(HTMLParser):
    """Checks that tags are closed in order and that nothing is loaded from elsewhere."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        assert not {"src", "href"} & dict(attrs).keys()
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def test_html(simple: Explanation) -> None:
    for text in (simple._repr_html_(), Report([simple]).to_html("A <title>")):
        parser = Checked()
        parser.feed(text)
        assert parser.open == []
        assert "url(" not in text
        shown = "".join(parser.text)
        assert simple.to_text() in shown
    assert html.escape("A <title>") in text
    assert "1 finding<" in text


class TestSarif:
    """The parts of the schema of SARIF 2.1.0 that these logs use."""

    def test_the_log(self, simple: Explanation) -> None:
        log = Report([simple, reason("WG120", "cause", certain=False)]).to_sarif()
        assert set(log) == {"$schema", "version", "runs"}
        assert log["version"] == "2.1.0"
        (run,) = log["runs"]
        assert set(run) == {"tool", "columnKind", "results"}
        assert run["columnKind"] in ("utf16CodeUnits", "unicodeCodePoints")
        driver = run["tool"]["driver"]
        assert driver["name"] == "wengert"
        assert [r["id"] for r in driver["rules"]] == ["WG101", "WG120"]
        for rule in driver["rules"]:
            assert set(rule) == {"id", "shortDescription", "help"}
            assert rule["shortDescription"]["text"] == CODES[rule["id"]]
            assert rule["help"]["text"] == rule["help"]["markdown"]

    def test_results_point_to_rules_and_places(self, simple: Explanation) -> None:
        run = Report([simple, reason("WG120", "cause", certain=False)]).to_sarif()["runs"][0]
        rules = run["tool"]["driver"]["rules"]
        for result in run["results"]:
            assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
            assert result["level"] in ("none", "note", "warning", "error")
            assert set(result["message"]) == {"text"}
        first, second = run["results"]
        assert (first["level"], second["level"]) == ("warning", "note")
        assert "locations" not in second
        (location,) = first["locations"]
        physical = location["physicalLocation"]
        assert physical["artifactLocation"] == {"uri": "program.py"}
        assert physical["region"] == {
            "startLine": 1, "startColumn": 5, "endColumn": 21,
            "snippet": {"text": "x = tf.constant(3.0)"},
        }  # fmt: skip
        (related,) = first["relatedLocations"]
        assert (related["id"], related["message"]) == (1, {"text": "asked here"})

    def test_files_elsewhere_are_uris(self) -> None:
        found = reason("WG120", "cause", Place(Site("/some where/a.py", 7, "f"), "here"))
        result = Report([found]).to_sarif()["runs"][0]["results"][0]
        location = result["locations"][0]["physicalLocation"]
        assert location["artifactLocation"]["uri"] == "file:///some%20where/a.py"
        assert location["region"] == {"startLine": 7}

    def test_it_is_json(self, simple: Explanation) -> None:
        json.dumps(Report([simple]).to_sarif())

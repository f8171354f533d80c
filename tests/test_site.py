"""The site: it is made whole, its links lead somewhere, and it needs nothing from the network."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tools.site import reference, tensorflow
from tools.site.__main__ import build
from tools.site.contents import PAGES, ROOT
from tools.site.markdown import docstring, render


class Reader(HTMLParser):
    """The anchors of a page, its links, and what it loads."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value for name, value in attrs if value is not None}
        if "id" in values:
            assert values["id"] not in self.anchors, values["id"]
            self.anchors.add(values["id"])
        if tag == "a":
            self.links.append(values["href"])
        elif "href" in values or "src" in values or tag in ("script", "iframe"):
            self.loads.append(values.get("href") or values.get("src") or tag)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("site")
    build(out)
    return out


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Reader]:
    return {path: Reader(path) for path in sorted(site.rglob("*.html"))}


def test_links_lead_to_pages_and_to_places_in_them(pages: dict[Path, Reader]) -> None:
    broken = []
    for path, page in pages.items():
        for link in page.links:
            if link.startswith(("https://", "http://")):
                continue
            file, _, anchor = link.partition("#")
            target = (path.parent / file).resolve() if file else path
            if target not in pages or (anchor and anchor not in pages[target].anchors):
                broken.append(f"{path.name}: {link}")
    assert broken == []


def test_nothing_is_loaded_but_the_style_and_pictures_of_the_site(
    site: Path, pages: dict[Path, Reader]
) -> None:
    for path, page in pages.items():
        for target in page.loads:
            assert ":" not in target and target.endswith((".css", ".svg", ".png")), target
            assert (path.parent / target).resolve().is_relative_to(site)
            assert (path.parent / target).exists(), target
    style = (site / "style.css").read_text(encoding="utf-8")
    assert "url(" not in style and "@import" not in style
    assert "prefers-color-scheme: dark" in style


def test_every_page_of_the_guides_is_on_the_site() -> None:
    written = {path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md")}
    assert written <= set(PAGES)


def test_every_guide_answers_a_question_of_the_index() -> None:
    text = (ROOT / "docs/index.md").read_text(encoding="utf-8")
    asked = set(re.findall(r"\]\(([\w/-]+\.md)", text))
    guides = {path.name for path in (ROOT / "docs").glob("*.md")} - {"index.md"}
    assert guides <= asked


def test_the_site_is_small(site: Path) -> None:
    assert sum(path.stat().st_size for path in site.rglob("*") if path.is_file()) < 8 << 20


class TestReference:
    def test_every_function_that_is_there_has_a_place(self) -> None:
        places = reference.places()
        there = [n.name for n in tensorflow.names() if n.present]
        lost = [
            name
            for name in there
            if name not in places
            and callable(value := tensorflow.value_of(name))
            and str(getattr(value, "__module__", "")).startswith("wengert")
        ]
        assert lost == []

    def test_a_function_stands_under_its_short_name(self) -> None:
        assert reference.places()["tf.math.add"] == "reference/tf.html#tf.add"

    def test_an_entry_has_signature_and_sentence(self, site: Path) -> None:
        text = (site / "reference/tf.html").read_text(encoding="utf-8")
        entry = text.partition('id="tf.reduce_sum"')[2].partition("<section")[0]
        plain = re.sub(r"<[^>]+>", "", entry)
        assert "input_tensor" in plain and "keepdims" in plain and "The sum over axis" in plain


class TestNames:
    def test_what_lacks_something_says_what(self) -> None:
        by_name = {n.name: n for n in tensorflow.names()}
        assert by_name["tf.matmul"].whole
        assert not by_name["tf.lite.Interpreter"].present
        assert "eval" in by_name["tf.Variable"].members

    def test_a_parameter_that_is_lacking_counts(self) -> None:
        def shorter(x: int) -> int:
            return x

        assert tensorflow._parameters(shorter, ("x", "y")) == ("y",)
        assert tensorflow._parameters(lambda **options: None, ("x",)) == ()

    def test_keras_is_left_out(self) -> None:
        assert not any(n.name.startswith("tf.keras") for n in tensorflow.names())


class TestMarkdown:
    def test_headings_have_the_anchors_of_forges(self) -> None:
        html = render("## What `it` is\n\n## What it is\n", str)
        assert re.findall(r'id="([^"]+)"', html) == ["what-it-is", "what-it-is-1"]

    def test_relative_links_are_asked_for_and_others_are_kept(self) -> None:
        html = render("[a](b.md#c) [d](https://e) [f](#g)", lambda target: f"page:{target}")
        assert re.findall(r'href="([^"]+)"', html) == ["page:b.md#c", "https://e", "#g"]

    def test_arguments_in_docstrings_are_a_list(self) -> None:
        text = (
            "One.\n\nArgs:\n    a, b: what\n        it is.\n    c: else.\n\nReturns:\n    A sum.\n"
        )
        html = docstring(text, str)
        assert re.findall(r"<li><code>(.*?)</code>", html) == ["a, b", "c"]
        assert "what\nit is.</li>" in html
        assert "<p><strong>Returns</strong></p>\n<p>A sum.</p>" in html

    def test_programs_in_docstrings_keep_their_lines(self) -> None:
        html = docstring("One.\n\n>>> x = 1\n>>> x\n1\n\nTwo.", str)
        assert html.count("<pre>") == 1 and "blockquote" not in html
        assert html.endswith("<p>Two.</p>\n")

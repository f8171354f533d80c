"""The Python of README and docs runs; the README's also prints what its comments say."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
TEXT = README.read_text(encoding="utf-8")
BLOCKS = [
    pytest.param(
        TEXT[: match.start(1)].count("\n"),
        match[1],
        id=f"line{TEXT[: match.start()].count(chr(10)) + 1}",
    )
    for match in re.finditer(r"^```python\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
]


def test_python_comes_early():
    assert "```python" in "\n".join(TEXT.splitlines()[:10])


def test_links_lead_somewhere():
    for target in re.findall(r"\]\((?!http|#)([^)#]+)", TEXT):
        assert (README.parent / target).exists(), f"README.md links to {target}, which is not there"


@pytest.mark.parametrize(("line", "code"), BLOCKS)
def test_block(line, code, capsys):
    # Empty lines in front make a traceback name the README's own lines.
    exec(compile("\n" * line + code, str(README), "exec"), {"__name__": "readme"})
    expected = re.findall(r"^ *print\(.*\)  # (.*)$", code, re.MULTILINE)
    assert capsys.readouterr().out.splitlines() == expected


@pytest.mark.parametrize("page", sorted((ROOT / "docs").glob("*.md")), ids=lambda p: p.name)
def test_page(page):
    text = page.read_text(encoding="utf-8")
    if "tf.keras" in text and find_spec("keras") is None:
        pytest.skip("Keras is not installed")
    for match in re.finditer(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        if "import wengert" in match[1]:
            line = text[: match.start(1)].count("\n")
            exec(compile("\n" * line + match[1], str(page), "exec"), {"__name__": page.stem})
    for target in re.findall(r"\]\((?!http|#)([^)#]+)", text):
        assert (page.parent / target).exists(), f"{page.name} links to {target}, not there"

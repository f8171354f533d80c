"""The Python of README and docs runs; the README's also prints what its comments say.

What the doctor is said to answer is compared with what it answers, and the table of figures with the
one of the results.
"""

from __future__ import annotations

import re
import subprocess
import sys
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


def test_the_doctor_says_what_the_readme_shows(tmp_path: Path) -> None:
    [(program, said)] = re.findall(
        r"^```python\n([^`]*)^```\n\nand what `wengert doctor program.py` says about it:\n\n"
        r"^```text\n(.*?)^```$",
        TEXT,
        re.MULTILINE | re.DOTALL,
    )
    (tmp_path / "program.py").write_text(program, encoding="utf-8")
    command = [sys.executable, "-m", "wengert", "doctor", "program.py"]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert result.returncode == 1
    assert said.strip() in result.stderr


def test_the_table_of_figures_is_that_of_the_results() -> None:
    [table] = re.findall(r"^\| one step is .*?(?=\n\n)", TEXT, re.MULTILINE | re.DOTALL)
    assert table in (ROOT / "benchmarks" / "RESULTS.md").read_text(encoding="utf-8")


# Keras's variables have an `__array__` of the days before NumPy 2.
@pytest.mark.filterwarnings("ignore:__array__ implementation doesn't accept:DeprecationWarning")
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

"""Programs as users write them for TensorFlow: what is wrong is found at its line, and no more.

Each section of `scripts/*.txt` is one program in two versions: lines that end in `#-` belong to the
faulty one alone, those that end in `#+` to the corrected one. `# WG105` marks the line and code that
the doctor finds (with `likely` where it is not certain), `#! words` the line and words of an error.
Programs without marks are correct.
"""

from __future__ import annotations

import linecache
import re
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from wengert.explain import Report, doctor
from wengert.keras_glue.alias import as_tensorflow

SCRIPTS = Path(__file__).parent / "scripts"
MARK = re.compile(r"  # (WG\d+)( likely)?(?=  #|$)")
ERROR = re.compile(r"  #! (.+?)(?=  #|$)")
FILE = "program.py"
HAS_KERAS = find_spec("keras") is not None

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def programs() -> list[Any]:
    found = []
    for file in sorted(SCRIPTS.glob("*.txt")):
        sections = re.split(r"^### (\w+)\n", file.read_text(encoding="utf-8"), flags=re.MULTILINE)
        lacking = "keras" in file.stem and not HAS_KERAS
        marks = [pytest.mark.skip(reason="Keras is not installed")] if lacking else []
        for name, text in zip(sections[1::2], sections[2::2], strict=True):
            found.append(pytest.param(text.rstrip().splitlines(), id=name, marks=marks))
    return found


def version(lines: list[str], other: str) -> list[str]:
    """The program without the lines of the other version."""
    return [re.sub(r"  #[-+]$", "", line) for line in lines if not line.endswith(f"  {other}")]


def run(lines: list[str]) -> tuple[Report, Exception | None]:
    """What the doctor says about a program, and the error that ended it."""
    text = "".join(f"{re.sub(r'  #!? .*$', '', line)}\n" for line in lines)
    linecache.cache[FILE] = (len(text), None, text.splitlines(keepends=True), FILE)
    main = ModuleType("__main__")
    failed = None
    try:
        with as_tensorflow(), doctor() as found:
            try:
                exec(compile(text, FILE, "exec", dont_inherit=True), main.__dict__)
            except Exception as error:
                failed = error
                found.examine(error)
            return found.report(), failed
    finally:
        linecache.cache.pop(FILE, None)


@pytest.mark.parametrize("lines", programs())
def test_what_is_wrong_is_found_at_its_line(lines: list[str]) -> None:
    bad = version(lines, "#+")
    marks = [(MARK.search(line), n) for n, line in enumerate(bad, 1)]
    wanted = [(m[1], n, not m[2]) for m, n in marks if m]
    report, failed = run(bad)
    assert [(e.code, e.line, e.certain) for e in report] == wanted
    assert all(e.remedy for e in report)
    errors = [(m[1], n) for n, line in enumerate(bad, 1) for m in [ERROR.search(line)] if m]
    if not errors:
        assert failed is None or wanted, failed
    for words, line in errors:
        said = "\n".join([str(failed), *getattr(failed, "__notes__", ())])
        assert words in said
        assert f"{FILE}:{line}:" in said


@pytest.mark.parametrize("lines", programs())
def test_the_corrected_program_is_silent(lines: list[str]) -> None:
    report, failed = run(version(lines, "#-"))
    assert failed is None
    assert report.codes == []

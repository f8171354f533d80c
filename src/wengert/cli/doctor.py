"""`wengert doctor`: runs a program with all detectors on and ends with a report."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from wengert.cli import running
from wengert.cli.children import examined
from wengert.explain import terminal
from wengert.explain.examining import doctor
from wengert.explain.explanation import Explanation, Report


def examine(
    script: str, args: list[str], module: bool = False, form: str | None = None,
    output: str | None = None,
) -> int:  # fmt: skip
    """Runs the program, writes the report, and answers 1 if something certain was found."""
    shown: list[Explanation] = []  # what the error says that ended the program
    with doctor() as result, examined(result):
        failed = lambda error: shown.extend(result.examine(error))
        ended = running.run(script, args, module, failed=failed)
    report = result.report()
    _write(report, form, output, shown)
    return 1 if report.certain else ended


def _write(report: Report, form: str | None, output: str | None, shown: list[Explanation]) -> None:
    """Writes the report; a terminal has shown the error that ended the program already."""
    if form is None and output is None:
        terminal.write(Report([e for e in report if e not in shown], ""), sys.stderr)
        print(_verdict(report, len(shown)), file=sys.stderr)
        return
    text = {
        None: report.to_text,
        "json": report.to_json,
        "sarif": lambda: json.dumps(report.to_sarif(), indent=2),
        "html": report.to_html,
    }[form]()
    if output is None or output == "-":
        print(text)
    else:
        Path(output).write_text(text + "\n", encoding="utf-8")


def _verdict(report: Report, shown: int) -> str:
    if not report:
        return "wengert doctor: nothing found"
    likely = len(report) - len(report.certain)
    words = f"{len(report)} finding{'s' if len(report) > 1 else ''}"
    words += ", one of them the error above" if shown and len(report) > 1 else ""
    words += ", the error above" if shown and len(report) == 1 else ""
    return f"wengert doctor: {words}" + (f", {likely} of them likely, not certain" * bool(likely))

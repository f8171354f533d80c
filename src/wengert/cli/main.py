"""The command line: what each command is given, and what it answers."""

from __future__ import annotations

import argparse
import os
import sys
from typing import Any

from wengert._version import __version__


def main(argv: list[str] | None = None) -> int:
    """Runs a command; its answer is the exit status."""
    parser = _parser()
    given = parser.parse_args(sys.argv[1:] if argv is None else argv)
    if not hasattr(given, "command"):
        parser.print_help()
        return 2
    try:
        return given.command(given)
    except BrokenPipeError:  # whoever read the output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="wengert", description="TensorFlow-2-style programs on NumPy and XLA, explained."
    )
    parser.add_argument("--version", action="version", version=f"wengert {__version__}")
    commands = parser.add_subparsers(metavar="command")
    run = commands.add_parser("run", help="run a TensorFlow program on Wengert")
    _add_program(run)
    run.set_defaults(command=_run)
    doctor = commands.add_parser("doctor", help="run a program with all detectors on, and report")
    form = doctor.add_mutually_exclusive_group()
    for name in ("json", "sarif", "html"):
        form.add_argument(f"--{name}", dest="form", action="store_const", const=name)
    doctor.add_argument("-o", "--output", metavar="FILE", help="write the report here")
    _add_program(doctor)
    doctor.set_defaults(command=_doctor)
    explain = commands.add_parser("explain", help="print the page of a code, such as WG101")
    explain.add_argument("code", nargs="?", help="without one, all codes are listed")
    explain.set_defaults(command=_explain)
    api = commands.add_parser("api", help="which tf. names a program uses, and which are missing")
    api.add_argument("--missing", action="store_true", help="only what Wengert does not have")
    api.add_argument("--json", action="store_true", help="as JSON")
    api.add_argument("scripts", nargs="*", metavar="script.py")
    api.set_defaults(command=_api)
    return parser


def _add_program(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-m", dest="module", action="store_true", help="run a module by name")
    parser.add_argument("script", help="the program")
    parser.add_argument("args", nargs=argparse.REMAINDER, help="its arguments")


def _run(given: Any) -> int:
    from wengert.cli.running import run

    return run(given.script, given.args, given.module)


def _doctor(given: Any) -> int:
    from wengert.cli.doctor import examine

    return examine(given.script, given.args, given.module, given.form, given.output)


def _explain(given: Any) -> int:
    from wengert.cli.pages import show

    return show(given.code)


def _api(given: Any) -> int:
    from wengert.cli.api import tell

    return tell(given.scripts, given.missing, given.json)

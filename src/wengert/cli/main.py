"""The command line: what each command is given, and what it answers."""

from __future__ import annotations

import argparse
import os
import sys
from importlib import import_module

from wengert._version import __version__
from wengert.cli.programs import CommandError


def main(argv: list[str] | None = None) -> int:
    """Runs a command; its answer is the exit status."""
    parser = _parser()
    given = vars(parser.parse_args(sys.argv[1:] if argv is None else argv))
    if "command" not in given:
        parser.print_help()
        return 2
    module, name = given.pop("command").split(".")
    try:
        return getattr(import_module(f"wengert.cli.{module}"), name)(**given)
    except CommandError as error:
        print(f"wengert: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # whoever read the output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _parser() -> argparse.ArgumentParser:
    """Each command names the function that is called with its arguments."""
    parser = argparse.ArgumentParser(
        prog="wengert", description="TensorFlow-2-style programs on NumPy and XLA, explained."
    )
    parser.add_argument("--version", action="version", version=f"wengert {__version__}")
    commands = parser.add_subparsers(metavar="command")
    run = commands.add_parser("run", help="run a TensorFlow program on Wengert")
    _add_program(run)
    run.set_defaults(command="running.run")
    doctor = commands.add_parser("doctor", help="run a program with all detectors on, and report")
    form = doctor.add_mutually_exclusive_group()
    for name in ("json", "sarif", "html"):
        form.add_argument(f"--{name}", dest="form", action="store_const", const=name)
    doctor.add_argument("-o", "--output", metavar="FILE", help="write the report here")
    _add_program(doctor)
    doctor.set_defaults(command="doctor.examine")
    explain = commands.add_parser("explain", help="print the page of a code, such as WG101")
    explain.add_argument("code", nargs="?", help="without one, all codes are listed")
    explain.set_defaults(command="pages.show")
    alias = commands.add_parser(
        "alias", help="put Wengert in TensorFlow's place for a whole virtual environment"
    )
    change = alias.add_mutually_exclusive_group()
    for name, what in (("install", "write it"), ("remove", "take it away")):
        change.add_argument(f"--{name}", dest="change", action="store_const", const=name, help=what)
    alias.set_defaults(command="environment.alias")
    api = commands.add_parser("api", help="which tf. names a program uses, and which are missing")
    api.add_argument("--missing", action="store_true", help="only what Wengert does not have")
    api.add_argument("--json", dest="as_json", action="store_true", help="as JSON")
    api.add_argument("scripts", nargs="*", metavar="script.py")
    api.set_defaults(command="api.tell")
    return parser


def _add_program(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-m", dest="module", action="store_true", help="run a module by name")
    parser.add_argument("script", help="the program")
    parser.add_argument("args", nargs=argparse.REMAINDER, help="its arguments")

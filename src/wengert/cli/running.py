"""Runs a script as Python would, with `tensorflow` resolved to Wengert."""

from __future__ import annotations

import builtins
import os
import runpy
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType, TracebackType

from wengert.cli.children import alias_in_children
from wengert.cli.programs import CommandError, check_module, read
from wengert.core.process_settings import PROCESS
from wengert.core.tracebacks import shown
from wengert.core.user_code import is_user
from wengert.keras_glue.alias import as_tensorflow


def run(
    script: str, args: list[str], module: bool = False,
    failed: Callable[[BaseException], None] | None = None,
) -> int:  # fmt: skip
    """Runs a script, or a module by name, and answers its exit status.

    An error is shown as Python does, after `failed` has seen it.
    """
    try:
        with as_tensorflow(), _arguments(script, args, module), alias_in_children():
            if module:
                check_module(script)
                runpy.run_module(script, run_name="__main__", alter_sys=True)
            else:
                _execute(script)
    except SystemExit as end:
        return status(end)
    except CommandError:
        raise
    except Exception as error:
        if failed is not None:
            failed(error)
        show(error)
        return 1
    return 0


def status(end: SystemExit) -> int:
    """The exit status that Python would give; a message is printed, as Python does."""
    if end.code is None:
        return 0
    if isinstance(end.code, int):
        return end.code
    print(end.code, file=sys.stderr)
    return 1


@contextmanager
def _arguments(script: str, args: list[str], module: bool) -> Iterator[None]:
    argv, path = sys.argv, list(sys.path)
    sys.argv = [script, *args]
    first = os.getcwd() if module else os.path.dirname(os.path.abspath(script))
    # The folder of the command gives way to that of the script, as with `python script.py`.
    sys.path[:1] = [first]
    try:
        yield
    finally:
        sys.argv, sys.path[:] = argv, path


def _execute(script: str) -> None:
    text = read(script)
    main = ModuleType("__main__")
    main.__file__ = script
    main.__dict__["__builtins__"] = builtins
    before = sys.modules["__main__"]
    sys.modules["__main__"] = main
    try:
        exec(compile(text, script, "exec", dont_inherit=True), main.__dict__)
    finally:
        sys.modules["__main__"] = before


def show(error: BaseException) -> None:
    """Prints an error as Python does, without the frames of this command."""
    if PROCESS.filters_tracebacks:
        with shown(error):
            traceback.print_exception(error)
    else:
        traceback.print_exception(type(error), error, _own_part(error.__traceback__))


def _own_part(tb: TracebackType | None) -> TracebackType | None:
    """The frames from the program on."""
    while tb is not None and not is_user(tb.tb_frame.f_code.co_filename):
        tb = tb.tb_next
    return tb

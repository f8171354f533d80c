"""The programs that commands are given: read, or refused in one line."""

from __future__ import annotations

import importlib.util
import io
import os


class CommandError(Exception):
    """A command cannot do what it was asked to; its words are for the terminal."""


def read(script: str) -> str:
    """The text of a script, decoded as Python does."""
    try:
        with io.open_code(os.path.abspath(script)) as file:
            return importlib.util.decode_source(file.read())
    except OSError as error:
        raise CommandError(f"cannot open {script}: {error.strerror}") from None
    except (SyntaxError, UnicodeError) as error:
        raise CommandError(f"cannot read {script}: {error}") from None


def check_module(name: str) -> None:
    """Refuses a module that cannot be found."""
    try:
        known = importlib.util.find_spec(name) is not None
    except (ImportError, ValueError) as error:
        raise CommandError(f"cannot find the module {name}: {error}") from None
    if not known:
        raise CommandError(f"cannot find the module {name}")

"""Tapes that are used in a trace which may yet be given up and made again: then they are as before.

A branch or loop is traced with a guess of what its variables are (`autograph.learning`). A tape
from outside that was asked for a gradient in a trace that proved a wrong guess can be asked again.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from wengert.tape.gradient_tape import GradientTape


_Use = tuple[Any, dict[str, Any]]
_uses: ContextVar[list[_Use] | None] = ContextVar("wengert_tape_uses", default=None)
noted = _uses.get  # `None` where no trace may be given up, as in all eager code


@contextmanager
def attempt() -> Iterator[None]:
    """Puts tapes back that were used inside, if the block is left by an exception."""
    outer, mine = _uses.get(), []
    token = _uses.set(mine)
    try:
        yield
    except BaseException:
        for tape, state in reversed(mine):
            vars(tape).update(state)
        raise
    finally:
        _uses.reset(token)
    if outer is not None:
        outer += mine


def used(tape: GradientTape, *names: str) -> None:
    """Notes the attributes of a tape before its use changes them, where `noted` says so."""
    uses = noted()
    if uses is not None:
        uses.append((tape, {name: getattr(tape, name) for name in names}))

"""Restores tapes used inside a speculative trace that is abandoned.

A branch or loop is traced on a guess about its variables (`autograph.retrace`). If the guess proves
wrong, the trace is made again, and a tape from outside can be asked again for the same gradient.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from wengert.tape.gradient_tape import GradientTape


from wengert.core.context import Setting, own_variable

_Use = tuple[Any, dict[str, Any]]
_uses: ContextVar[list[_Use] | None] = own_variable("wengert_tape_uses", None)
noted = _uses.get  # `None` where no trace may be given up, as in all eager code


class attempt(Setting[list[_Use] | None, None]):
    """Restores the tapes that were used in a block, if it ends with an exception."""

    def __init__(self) -> None:
        self._mine: list[_Use] = []
        super().__init__(_uses, self._mine)

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        super().__exit__(kind)
        if kind is None:
            if self._before is not None:
                self._before.extend(self._mine)
        else:
            for tape, state in reversed(self._mine):
                vars(tape).update(state)


def used(tape: GradientTape, *names: str) -> None:
    """Notes the attributes of a tape before its use changes them, where `noted` says so."""
    uses = noted()
    if uses is not None:
        uses.append((tape, {name: getattr(tape, name) for name in names}))

"""What the user calls things: the Python names of tensors, variables and tapes near a call.

Looks only into the frames that are on the stack when an explanation is made, and keeps none.
"""

from __future__ import annotations

import sys
from inspect import CO_OPTIMIZED
from itertools import islice
from types import FrameType, ModuleType
from typing import TYPE_CHECKING, Any

from wengert.core.errors import describe
from wengert.core.sites import user_frames
from wengert.core.types import Tensor, Value, Variable

if TYPE_CHECKING:
    from wengert.tape.gradient_tape import GradientTape


_FRAMES = 6
_SOLE = 4  # references to a frame's copy: the frame's, two of functions here, the question's own
_ATTRIBUTES = 200


class Names:
    """Names of values as the user's frames know them, innermost first."""

    def __init__(self, depth: int = 1) -> None:
        self._found: dict[int, str] = {}
        self._tensors: dict[int, Any] = {}
        self._by_name: dict[str, Any] = {}
        for frame in islice(user_frames(sys._getframe(depth)), _FRAMES):
            names = frame.f_locals
            self._read(names)
            if names is not frame.f_globals:
                self._read(frame.f_globals)
            _let_go(frame, names)

    def _read(self, names: dict[str, Any]) -> None:
        for name, value in list(names.items()):
            if name.startswith("_") or isinstance(value, ModuleType | type):
                continue
            self._by_name.setdefault(name, value)
            self._note(name, value)
            if isinstance(value, list | tuple) and len(value) <= _ATTRIBUTES:
                for i, item in enumerate(value):
                    self._note(f"{name}[{i}]", item)
            elif isinstance(value, dict) and len(value) <= _ATTRIBUTES:
                for key, item in list(value.items()):
                    self._note(f"{name}[{key!r}]", item)
            elif not isinstance(value, Value):
                for key, item in list(inside(value).items())[:_ATTRIBUTES]:
                    self._note(f"{name}.{key}", item)

    def _note(self, name: str, value: Any) -> None:
        if type(value).__module__.startswith("keras."):
            value = inside(value).get("_value", value)  # the variable in Keras's own
        self._found.setdefault(id(value), name)
        if isinstance(value, Value):
            self._tensors.setdefault(value._id, value)

    def python(self, value: Value | GradientTape) -> str | None:
        """The Python name of an object, without quotes."""
        return self._found.get(id(value))

    def of(self, value: Value) -> str:
        """A word for a tensor or variable in a sentence."""
        name = self.python(value)
        if isinstance(value, Variable) and (name is None or value._name != "Variable"):
            return f"variable `{value.name}`"
        return f"`{name}`" if name else f"a {describe(value)} tensor"

    def tape(self, tape: GradientTape) -> str:
        """A tape in a line of code."""
        return self.python(tape) or "tape"

    def code(self, value: Value) -> str:
        """A tensor or variable in a line of code."""
        return self.python(value) or "x"

    def value(self, name: str) -> Any:
        """What a name stands for near the call."""
        return self._by_name.get(name)

    def tensor(self, number: int) -> Value | None:
        """The tensor or variable of this id, if some frame holds it."""
        return self._tensors.get(number)

    def site(self, number: int) -> Any:
        """Where the tensor of this id was made, if some frame holds it."""
        cached = self._tensors.get(number)
        return cached._site if isinstance(cached, Tensor) else None

    def others(self, kind: type) -> list[tuple[str, GradientTape]]:
        """All named objects of a type."""
        return [(n, v) for n, v in self._by_name.items() if isinstance(v, kind)]


def inside(value: Any) -> dict[str, Any]:
    """What lies in an object, without running any code of its class."""
    try:
        return object.__getattribute__(value, "__dict__")
    except AttributeError:
        return {}


def _let_go(frame: FrameType, names: dict[str, Any]) -> None:
    """Empties Python's copy of a function's variables, which would keep tensors alive.

    Before Python 3.13 a frame holds on to the copy that it once made. Where somebody else holds
    it too (the result of `locals()`), it is left as it is.
    """
    copied = sys.version_info < (3, 13) and frame.f_code.co_flags & CO_OPTIMIZED
    if copied and sys.getrefcount(names) <= _SOLE:
        names.clear()

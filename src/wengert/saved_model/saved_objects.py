"""The objects of a program as a saved model sees them: what is below a root, by name.

Like a checkpoint it sees variables, modules and containers, and besides them the functions that
are attributes or methods.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wengert.checkpoint.trackable import Trackable, children, is_trackable, variable_of
from wengert.core.variable import Variable
from wengert.functions.concrete import ConcreteFunction
from wengert.functions.function import Function
from wengert.saved_model.restored import RestoredFunction

if TYPE_CHECKING:
    from wengert.checkpoint.trackable import AutoTrackable


FUNCTIONS = (Function, ConcreteFunction, RestoredFunction)


class ObjectTree:
    """The objects below a root, breadth first, each once, and the names of their children."""

    def __init__(self, root: Any) -> None:
        self.objects: list[Any] = []
        self.names: list[dict[str, int]] = []
        self._numbers: dict[int, int] = {}
        # Bound methods are made anew at every look, so what is numbered is also kept.
        self._add(root)
        k = 0
        while k < len(self.objects):
            for name, child in parts(self.objects[k]).items():
                self.names[k][name] = self._add(child)
            k += 1

    def _add(self, x: Any) -> int:
        inner = variable_of(x)
        x = x if inner is None else inner
        key = hash(x) if isinstance(x, Function) else id(x)
        if key not in self._numbers:
            self._numbers[key] = len(self.objects)
            self.objects.append(x)
            self.names.append({})
        return self._numbers[key]


def parts(x: Any) -> dict[str, Any]:
    """The children of an object by name: those of a checkpoint, and functions."""
    if isinstance(x, FUNCTIONS) or variable_of(x) is not None:
        return {}
    if isinstance(x, dict | list | tuple):
        plain = children(x)
        items = x.items() if isinstance(x, dict) else enumerate(x)
        return plain | {str(k): v for k, v in items if isinstance(v, FUNCTIONS)}
    result = _children(x)
    for name in dir(type(x)):
        if isinstance(_static(type(x), name), Function):
            result[name] = getattr(x, name)
    own = getattr(x, "__dict__", {})
    result |= {k: v for k, v in own.items() if isinstance(v, FUNCTIONS) and not _hidden(x, k)}
    return dict(sorted(result.items()))


def _children(x: Any) -> dict[str, Any]:
    if not hasattr(type(x), "_trackable_children"):
        return children(x)
    if hasattr(type(x), "_trackable_saved_model_saver"):  # of Keras 2: TensorFlow's own form
        result = x._trackable_children()
    else:
        result = x._trackable_children("savedmodel")
    return {n: c for n, c in result.items() if is_trackable(c) or isinstance(c, FUNCTIONS)}


def _hidden(x: AutoTrackable, name: str) -> bool:
    # Keras's own loops; it leaves them out of its children when a model is saved.
    return name in ("train_function", "test_function", "predict_function") and hasattr(
        x, "_convert_tracked_collections"
    )


def _static(kind: type, name: str) -> Any:
    for base in kind.__mro__:
        if name in base.__dict__:
            return base.__dict__[name]
    return None


def can_be_saved(x: Any) -> bool:
    """Whether an object may be the root of a saved model."""
    return isinstance(x, (Trackable, Variable, *FUNCTIONS))


def kind_of(x: Any) -> str:
    """The kind as which an object is restored."""
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        return "object"
    kinds: Any = {"variable": Variable, "function": FUNCTIONS, "dict": dict, "list": list}
    kinds["tuple"] = tuple
    return next((word for word, kind in kinds.items() if isinstance(x, kind)), "object")

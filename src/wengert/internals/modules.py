"""The modules of TensorFlow's inside, made from the table when somebody imports them."""

from __future__ import annotations

import functools
import sys
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from wengert.core.missing_names import absent
from wengert.core.name_tables import read
from wengert.internals.table import INSIDE

_PUBLIC = ("__operators__", "compat.v1")  # whose functions libraries dispatch
_ABSENT = "wengert.internals.absent"
_MESSAGES = "core."  # of these modules TensorBoard has copies


@functools.cache
def _modules() -> dict[str, dict[str, tuple[str, str]]]:
    """Where the names of each module are found, by its dotted name below `tensorflow`."""
    return {name: read(names) for name, (_, names) in INSIDE.items()}


@functools.cache
def _packages() -> frozenset[str]:
    """All dotted names that are modules, or stand above one."""
    parts = [name.split(".") for name in INSIDE]
    return frozenset(".".join(p[:k]) for p in parts for k in range(1, len(p) + 1))


def names_module(name: str) -> bool:
    """Whether the table has a row for this very module."""
    return name in INSIDE


def module(name: str) -> ModuleType | None:
    """The module of a dotted name below `tensorflow`, or `None`."""
    if name not in _packages():
        if not (name.startswith(_MESSAGES) and name.endswith("_pb2")):
            return None
        copy = _messages(name)
        if copy is not None:
            return copy
    result = ModuleType(f"tensorflow.{name}", "A part of TensorFlow's inside that libraries use.")
    result.__path__ = []
    result.__dict__["__getattr__"] = functools.partial(_member, result, name)
    result.__dict__["__dir__"] = lambda: sorted(_modules().get(name, ()))
    return result


def _messages(name: str) -> ModuleType | None:
    """TensorBoard's copy of a module of protobuf messages."""
    last = name.rpartition(".")[2]
    copy = f"tensorboard.compat.proto.{last}"
    there = find_spec("tensorboard") is not None and find_spec(copy) is not None
    return import_module(copy) if there else None


def holds(name: str) -> bool:
    """Whether a dotted name below `tensorflow` is in the table, and more than refused."""
    owner, _, last = name.rpartition(".")
    place = _modules().get(owner, {}).get(last, (_ABSENT, ""))
    return name in _packages() or place[0] != _ABSENT


def extra(owner: str, name: str) -> Any:
    """What libraries ask of a public namespace that has no such name: a value or a module."""
    place = _modules().get(owner, {}).get(name)
    if place is not None:
        return getattr(import_module(place[0]), place[1])
    below = f"{owner}.{name}"
    return import_module(f"tensorflow.{below}") if owner and below in INSIDE else None


def _member(owner: ModuleType, parent: str, name: str) -> Any:
    below = f"{parent}.{name}"
    place = _modules().get(parent, {}).get(name)
    if place is not None:
        value = import_module(place[0])
        if place[1] != "*":
            value = getattr(value, place[1])
    elif below == "compat.v2":
        return import_module("tensorflow")
    elif below in _packages() or f"{below}_".endswith("_pb2_"):
        return import_module(f"tensorflow.{below}")
    elif name.startswith("__"):
        raise AttributeError(f"module 'tensorflow.{parent}' has no attribute {name!r}")
    elif parent.split(".")[0] == "compat":
        value = _public(parent, name)
    else:
        raise absent(
            f"Wengert has no `tensorflow.{below}`. It is a name of TensorFlow's inside; use the "
            "public name under `tf.`."
        )
    if parent in _PUBLIC and "wengert.internals.dispatch" in sys.modules:
        value = import_module("wengert.internals.dispatch").for_libraries(value)
    setattr(owner, name, value)
    return value


def _public(parent: str, name: str) -> Any:
    """A public name of `tf.compat`, or of a namespace below it."""
    value: Any = import_module("wengert")
    for part in (*parent.split("."), name):
        value = getattr(value, part)
    return value

"""Lets `import tensorflow` and its submodules find Wengert, for programs that are run unchanged.

The finder stands first in line, so a real TensorFlow is never looked at. `tensorflow` is a module
of its own, which has Wengert's names and the version whose behaviour they follow; submodules are
Wengert's own modules.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import wengert

VERSION = "2.21.0"  # of TensorFlow: the one that Wengert's answers are compared with


class TensorFlow(ModuleType):
    """The module `tensorflow`: Wengert under another name."""

    def __init__(self) -> None:
        super().__init__("tensorflow", wengert.__doc__)
        self.__path__ = []
        self.__version__ = VERSION

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        value = getattr(wengert, name)
        setattr(self, name, value)
        return value

    def __dir__(self) -> list[str]:
        return sorted({*dir(wengert), "__version__"})


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds `tensorflow` and everything below it."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: Any = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != "tensorflow" and not fullname.startswith("tensorflow."):
            return None
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        return TensorFlow() if spec.name == "tensorflow" else resolve(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        own = getattr(module, "__wengert_spec__", None)
        if own is not None:  # a module of ours keeps saying where it comes from
            module.__spec__ = own
            module.__loader__ = own.loader


def resolve(fullname: str) -> ModuleType:
    """The module behind a dotted name below `tensorflow`."""
    parts = fullname.split(".")[1:]
    if parts == ["compat"]:
        return ModuleType(fullname, "Names by TensorFlow's version; here there is the second.")
    if parts[:2] == ["compat", "v2"]:
        parts = parts[2:]
    found: Any = wengert if parts else sys.modules["tensorflow"]
    for part in parts:
        try:
            found = getattr(found, part)
        except AttributeError as error:
            raise _missing(fullname, str(error)) from None
    if not isinstance(found, ModuleType):
        found = _as_module(fullname, found)
    found.__dict__.setdefault("__wengert_spec__", found.__spec__)
    return found


def _as_module(fullname: str, value: Any) -> ModuleType:
    """A namespace that is no module, as one."""
    names = getattr(value, "__dict__", {})
    if isinstance(value, type) or callable(value) or not names:
        raise _missing(fullname, f"{fullname.replace('tensorflow', 'tf', 1)} is not a module.")
    module = ModuleType(fullname, getattr(value, "__doc__", None))
    module.__dict__.update(names)
    return module


def _missing(fullname: str, why: str) -> ModuleNotFoundError:
    if fullname.startswith("tensorflow.python"):
        why = "`tensorflow.python` is TensorFlow's inside; use the public name under `tf.`."
    # Under its own name Python would take the error for "not a module" and hide the words.
    return ModuleNotFoundError(f"No module named {fullname!r}: {why}", name="tensorflow")


@contextmanager
def as_tensorflow() -> Iterator[None]:
    """Resolves `tensorflow` to Wengert inside the block, and as it was before after it."""
    finder = Finder()
    before = {n: m for n, m in sys.modules.items() if _is_tensorflow(n)}
    for name in before:
        del sys.modules[name]
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        for name in [n for n in sys.modules if _is_tensorflow(n)]:
            del sys.modules[name]
        sys.modules.update(before)


def _is_tensorflow(name: str) -> bool:
    return name == "tensorflow" or name.startswith("tensorflow.")

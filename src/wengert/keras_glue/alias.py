"""Lets `import tensorflow` and its submodules find Wengert.

The finder stands first in line, so a real TensorFlow is never looked at. `tensorflow` is a module
of its own, which has Wengert's names and the version whose behaviour they follow; submodules are
Wengert's own modules, those of `tf.keras` are Keras's, and the few private ones that Keras asks
for stand in `wengert.internals`.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType, SimpleNamespace
from typing import Any

import wengert
from wengert.keras_glue.refused_packages import refusal

VERSION = "2.21.0"  # of TensorFlow: the one that Wengert's answers are compared with
KERAS = "keras._tf_keras.keras"  # where Keras keeps what TensorFlow hands out as `tf.keras`
# Of these, the table of `wengert.internals` has some names.
PRIVATE = (
    "__internal__", "__operators__", "compat", "compiler", "core", "dtensor", "python", "tools",
)  # fmt: skip


class TensorFlow(ModuleType):
    """The module `tensorflow`: Wengert under another name."""

    def __init__(self) -> None:
        super().__init__("tensorflow", wengert.__doc__)
        self.__path__ = []
        self.__version__ = VERSION

    def __getattr__(self, name: str) -> Any:
        if name in PRIVATE:
            value = import_module(f"tensorflow.{name}")
        elif name.startswith("__"):
            raise AttributeError(name)
        else:
            value = _root_name(name)
            if self._dispatches:
                value = _dispatching(f"tensorflow.{name}", value)
        setattr(self, name, value)
        return value

    def dispatch(self) -> None:
        """Lets functions found here from now on ask a library's dispatchers where they fail."""
        if not self._dispatches:
            self.__dict__["_dispatches"] = True
            for name in [n for n in vars(self) if n in _public_names()]:
                delattr(self, name)

    _dispatches = False

    def __dir__(self) -> list[str]:
        return sorted({*dir(wengert), "__version__"})


def _root_name(name: str) -> Any:
    try:
        return getattr(wengert, name)
    except AttributeError:
        value = import_module("wengert.internals.modules").extra("", name)
        if value is None:
            raise
        return value


class Namespace(ModuleType):
    """A namespace of Wengert's whose functions ask a library's dispatchers where they fail."""

    def __init__(self, name: str, inner: Any) -> None:
        super().__init__(name, getattr(inner, "__doc__", None))
        self.__path__ = []
        self.__dict__["_inner"] = inner

    def __getattr__(self, name: str) -> Any:
        try:
            value = getattr(self._inner, name)
        except AttributeError:
            modules = import_module("wengert.internals.modules")
            value = modules.extra(self.__name__.removeprefix("tensorflow."), name)
            if value is None:
                raise
        value = _dispatching(f"{self.__name__}.{name}", value)
        setattr(self, name, value)
        return value

    def __dir__(self) -> list[str]:
        return dir(self._inner)


def _dispatching(name: str, value: Any) -> Any:
    """A function that dispatches, or a namespace of such."""
    is_keras = isinstance(value, ModuleType) and value.__name__.startswith("keras.")
    if isinstance(value, ModuleType | SimpleNamespace) and not is_keras:
        return Namespace(name, value)
    return import_module("wengert.internals.dispatch").for_libraries(value)


def _public_names() -> set[str]:
    return set(dir(wengert))


# The modules by which a library asks for dispatch.
_DISPATCH = (["__internal__", "dispatch"], ["python", "util", "dispatch"])


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds `tensorflow` and everything below it, and the submodules of `wengert.keras`."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: Any = None
    ) -> importlib.machinery.ModuleSpec | None:
        if not _is_tensorflow(fullname) and not fullname.startswith("wengert.keras."):
            return refusal(fullname, path)
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        if spec.name == "tensorflow":
            return TensorFlow()
        result = resolve(spec.name)
        result.__dict__.setdefault("__wengert_spec__", result.__spec__)
        return result

    def exec_module(self, module: ModuleType) -> None:
        own = getattr(module, "__wengert_spec__", None)
        if own is not None:  # a module of ours keeps saying where it comes from
            module.__spec__ = own
            module.__loader__ = own.loader


def resolve(fullname: str) -> ModuleType:
    """The module behind a dotted name below `tensorflow` or `wengert.keras`."""
    parts = fullname.split(".")[1:]
    if parts[:2] == ["compat", "v2"]:
        parts = parts[2:]
    if parts[:1] == ["keras"]:
        return _of_keras(parts[1:])
    if parts and (parts[0] in PRIVATE or _is_extra(parts)):
        import_module("wengert.keras_glue.private_names").introduce()
        result = import_module("wengert.internals.modules").module(".".join(parts))
        if parts in _DISPATCH:
            sys.modules["tensorflow"].dispatch()
        if result is not None:
            return result
        if parts[0] != "compat":
            raise _missing(fullname, "")
    return _public(fullname, parts)


def _is_extra(parts: list[str]) -> bool:
    """Whether a module below a public namespace exists only because libraries ask for it."""
    known = len(parts) > 1 and "wengert.internals.dispatch" in sys.modules
    return known and import_module("wengert.internals.modules").names_module(".".join(parts))


def _of_keras(parts: list[str]) -> ModuleType:
    root = import_module("wengert.keras")
    return import_module(".".join([KERAS, *parts])) if parts else root


def _public(fullname: str, parts: list[str]) -> ModuleType:
    result: Any = wengert if parts else sys.modules["tensorflow"]
    for part in parts:
        try:
            result = getattr(result, part)
        except AttributeError as error:
            raise _missing(fullname, str(error)) from None
    return result if isinstance(result, ModuleType) else _as_module(fullname, result)


def _as_module(fullname: str, value: Any) -> ModuleType:
    """A namespace that is no module, as one."""
    names = getattr(value, "__dict__", {})
    if isinstance(value, type) or callable(value) or not names:
        raise _missing(fullname, f"{fullname.replace('tensorflow', 'tf', 1)} is not a module.")
    module = ModuleType(fullname, getattr(value, "__doc__", None))
    module.__dict__.update(names)
    return module


def _missing(fullname: str, why: str) -> ModuleNotFoundError:
    inside = ".".join(fullname.split(".")[:2])
    if inside.removeprefix("tensorflow.") in PRIVATE and inside != "tensorflow.compat":
        why = f"`{inside}` is TensorFlow's inside; use the public name under `tf.`."
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
        # Keras that was loaded in the block needs what it imported there.
        if _FINDER not in sys.meta_path or before:
            for name in [n for n in sys.modules if _is_tensorflow(n)]:
                del sys.modules[name]
            sys.modules.update(before)


_FINDER = Finder()  # stays on `sys.meta_path` once Keras is loaded


def install() -> None:
    """Resolves `tensorflow` to Wengert from here on; an error if another one is imported."""
    cached = sys.modules.get("tensorflow")
    if cached is not None and not isinstance(cached, TensorFlow):
        raise ImportError(
            "tensorflow: another TensorFlow is imported already, and one process can have only "
            "one. Import wengert.keras first, take `import tensorflow` out of the program, or run "
            "the program with `wengert run`."
        )
    if _FINDER not in sys.meta_path:
        sys.meta_path.insert(0, _FINDER)
    # TensorBoard looks for this module to know that it must read files by its own means.
    sys.modules.setdefault("tensorboard.compat.notf", ModuleType("tensorboard.compat.notf"))


def _is_tensorflow(name: str) -> bool:
    return name == "tensorflow" or name.startswith("tensorflow.")

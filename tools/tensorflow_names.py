"""Writes what TensorFlow has to standard output: its public names, or their parameters.

`wengert api` reads the names from `src/wengert/cli/tensorflow_names.txt`, a module a line. The table
of names on the site reads the parameters from `tools/site/tensorflow_members.txt`, a function or
class a line, with the public members of a class after a bar. Run both with an interpreter that has
TensorFlow:

    python tools/tensorflow_names.py > src/wengert/cli/tensorflow_names.txt
    python tools/tensorflow_names.py --members > tools/site/tensorflow_members.txt
"""

from __future__ import annotations

import inspect
import sys
import types
from collections import defaultdict
from typing import Any

WHOLE = ("tf.compat", "tf.raw_ops")  # named, but not gone through
PUBLIC = ("tensorflow._api", "tensorflow.keras", "keras")
MARKERS = ("VAR_POSITIONAL", "VAR_KEYWORD")


def is_module(value: Any) -> bool:
    return isinstance(value, types.ModuleType) or type(value).__name__ == "KerasLazyLoader"


def collect(module: Any, prefix: str, found: dict[str, list[str]]) -> None:
    """Notes the names of a module, and those of the public modules in it."""
    for name in sorted(set(dir(module))):
        if name.startswith("_") or name == "annotations" or not hasattr(module, name):
            continue
        value = getattr(module, name)
        full = f"{prefix}.{name}"
        if is_module(value) and full not in WHOLE:
            if not getattr(value, "__name__", "").startswith(PUBLIC):
                continue
            collect(value, full, found)
        found[prefix].append(name)


def parameters(value: Any) -> list[str]:
    """The names of what a function takes; none where Python cannot tell."""
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return []
    taken = (p.name for p in signature.parameters.values() if p.kind.name not in MARKERS)
    return [name for name in taken if not name.startswith("_")]


def members(value: type) -> list[str]:
    """The public methods and properties of a class, without those of exceptions and enums."""
    if issubclass(value, BaseException):
        return []
    return sorted(n for n in dir(value) if not n.startswith("_") and n not in dir(object))


def write_members(tf: Any, result: dict[str, list[str]]) -> None:
    for prefix in sorted(result):
        if prefix.startswith("tf.keras"):  # Keras is Keras, here and there
            continue
        for name in result[prefix]:
            value: Any = tf
            for part in f"{prefix}.{name}".split(".")[1:]:
                value = getattr(value, part)
            if is_module(value) or not callable(value):
                continue
            words = [f"{prefix}.{name}:", *parameters(value)]
            if isinstance(value, type):
                words += ["|", *members(value)]
            print(*words)


def main() -> None:
    import tensorflow as tf

    result: dict[str, list[str]] = defaultdict(list)
    collect(tf, "tf", result)
    if "--members" in sys.argv[1:]:
        write_members(tf, result)
        return
    for prefix in sorted(result):
        print(f"{prefix}: {' '.join(result[prefix])}")


if __name__ == "__main__":
    main()

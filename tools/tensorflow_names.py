"""Writes the public names of TensorFlow to standard output, one module a line.

`wengert api` reads them from `src/wengert/cli/tensorflow_names.txt`. Run it with an interpreter that
has TensorFlow: `python tools/tensorflow_names.py > src/wengert/cli/tensorflow_names.txt`.
"""

from __future__ import annotations

import types
from collections import defaultdict
from typing import Any

WHOLE = ("tf.compat", "tf.raw_ops")  # named, but not gone through
PUBLIC = ("tensorflow._api", "tensorflow.keras", "keras")


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


def main() -> None:
    import tensorflow as tf

    result: dict[str, list[str]] = defaultdict(list)
    collect(tf, "tf", result)
    for prefix in sorted(result):
        print(f"{prefix}: {' '.join(result[prefix])}")


if __name__ == "__main__":
    main()

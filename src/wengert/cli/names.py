"""TensorFlow's names, and whether Wengert has them: public ones, private ones, and methods."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import wengert
from wengert.core.errors import InvalidArgumentError
from wengert.internals.public_names import tensorflow_names

ROOTS = ("tensorflow", "wengert")
PYTHON = "tf.python."
# An object of each kind whose methods are followed.
_SAMPLES: dict[str, Callable[[], Any]] = {
    "tf.Tensor": lambda: wengert.constant(0.0),
    "tf.TensorShape": lambda: wengert.TensorShape([1]),
    "tf.Variable": lambda: wengert.Variable(0.0),
    "tf.GradientTape": lambda: wengert.GradientTape(),
    "tf.data.Dataset": lambda: wengert.data.Dataset.range(1),
    "tf.data.Iterator": lambda: iter(wengert.data.Dataset.range(1)),
}
_KINDS = {name.rpartition(".")[2]: name for name in _SAMPLES} | {
    "OwnedIterator": "tf.data.Iterator"
}


class Found(NamedTuple):
    """What stands under a name, or why nothing does."""

    value: Any = None
    error: str = ""
    is_there: bool = True


def public_name(name: str) -> str:
    """`tensorflow.keras.layers` and `tf.compat.v2.math` by their short names."""
    parts = name.split(".")
    parts[0] = "tf"
    if parts[1:3] == ["compat", "v2"]:
        del parts[1:3]
    return ".".join(parts)


@cache
def modules() -> frozenset[str]:
    """Those of TensorFlow's names that hold others."""
    return frozenset(n.rpartition(".")[0] for n in tensorflow_names())


def has(name: str, member: bool = False) -> bool:
    """Whether Wengert has a name such as `tf.math.abs`, or an object a method."""
    return _find(name, member).is_there


def advice(name: str, member: bool = False) -> str:
    """What to do about a name that Wengert does not have."""
    error = _find(name, member).error
    if not name.startswith(PYTHON):
        return error
    known = _published(name)
    return "`tensorflow.python` is TensorFlow's inside; use " + (
        f"`{known}`." if known else "the public name under `tf.`."
    )


def is_kind(name: str) -> bool:
    """Whether a name is that of objects whose methods are followed."""
    return name in _SAMPLES


def members(name: str) -> list[str]:
    """What `from … import *` gives of a module."""
    value = _find(name, False).value
    return [n for n in dir(value) if not n.startswith("_")]


def kind_of_result(name: str, called: bool = True) -> str | None:
    """The kind of object that a call gives, or that a property is."""
    if called and name in _SAMPLES:
        return name
    owner, _, last = name.rpartition(".")
    if owner in _SAMPLES:
        value = inspect.getattr_static(type(_sample(owner)), last, None)
    else:
        value = _find(name, False).value
    if value is None and called and owner == _KINDS["Dataset"]:
        return owner  # as nearly all methods of datasets do
    if value is None or isinstance(value, property) == called:
        return None
    function = value.fget if isinstance(value, property) else getattr(value, "__func__", value)
    text = str(getattr(function, "__annotations__", {}).get("return", "")).strip("'\"")
    return owner if text == "Self" else _KINDS.get(text.rpartition(".")[2])


@cache
def _sample(kind: str) -> Any:
    return _SAMPLES[kind]()


@cache
def _find(name: str, member: bool) -> Found:
    kind = next((k for k in _SAMPLES if name.startswith(f"{k}.")), "tf") if member else "tf"
    result: Any = wengert if kind == "tf" else _sample(kind)
    for part in filter(None, name[len(kind) + 1 :].split(".")):
        try:
            result = getattr(result, part)
        except (AttributeError, ImportError, InvalidArgumentError) as error:
            there = _is_private(name) or (kind == "tf.Tensor" and _is_of_composites(part))
            return Found(error=str(error), is_there=there)
    return Found(result)


def _is_of_composites(name: str) -> bool:
    """Whether ragged or sparse tensors have it: what gives a tensor may give one of these."""
    return hasattr(wengert.RaggedTensor, name) or hasattr(wengert.SparseTensor, name)


def _is_private(name: str) -> bool:
    """Whether a name below `tf.python` or `tf.__internal__` is in the table of inside names."""
    from wengert.internals.modules import holds
    from wengert.keras_glue.alias import PRIVATE

    inner = name.removeprefix("tf.")
    return inner.split(".")[0] in PRIVATE and holds(inner)


def _published(name: str) -> str | None:
    """The public name for one of TensorFlow's inside, if one is called the same."""
    if name.startswith(f"{PYTHON}keras"):
        return name.replace(PYTHON, "tf.", 1)
    owner, _, last = name.rpartition(".")
    public = (n for n in tensorflow_names() - modules() if "raw_ops" not in n)
    same = [n for n in public if n.endswith(f".{last}")]
    module = f"tf.{re.sub('_ops$', '', owner.rpartition('.')[2])}"
    same.sort(key=lambda n: (n.rpartition(".")[0] not in ("tf", module), n.count("."), n))
    stem = f"tf.{re.sub('_ops$', '', last)}"
    return next(iter(same), stem if stem in modules() else None)

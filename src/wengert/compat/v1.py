"""The names of `tf.compat.v1` that programs of TensorFlow 2 use.

What has the same name and meaning in TensorFlow 2 is found here too. What only graphs and sessions
had is not, and says how to do without.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from wengert.compat import v1_changed
from wengert.compat import v1_logging as logging
from wengert.compat.v1_changed import Variable, where
from wengert.compat.v1_changed import while_loop as while_loop
from wengert.core.context import executing_eagerly
from wengert.core.missing_names import absent
from wengert.core.remedies import remedy
from wengert.core.tensor import Tensor
from wengert.ops.cast import cast
from wengert.ops.seeds import set_seed as set_random_seed

__all__ = [
    "Variable",
    "enable_control_flow_v2",
    "enable_eager_execution",
    "enable_resource_variables",
    "enable_tensor_equality",
    "enable_v2_behavior",
    "enable_v2_tensorshape",
    "executing_eagerly",
    "executing_eagerly_outside_functions",
    "logging",
    "set_random_seed",
    "to_double",
    "to_float",
    "to_int32",
    "to_int64",
    "where",
]

# The same names stood for other things in TensorFlow 1.
_OTHERS = frozenset(
    [
        "Graph",
        "Session",
        "data",
        "device_lib",
        "estimator",
        "get_variable",
        "gradients",
        "initializers",
        "layers",
        "losses",
        "metrics",
        "placeholder",
        "saved_model",
        "summary",
        "train",
        "variable_scope",
    ]
)


def enable_eager_execution(*args: Any, **kwargs: Any) -> None:
    """Nothing: operations run at once as it is."""


enable_v2_behavior = enable_eager_execution
enable_v2_tensorshape = enable_eager_execution
enable_control_flow_v2 = enable_eager_execution
enable_resource_variables = enable_eager_execution
enable_tensor_equality = enable_eager_execution


def executing_eagerly_outside_functions() -> bool:
    """Always: there is no other mode."""
    return True


def to_float(x: Any, name: str | None = None) -> Tensor:
    """`x` as float32."""
    return cast(x, "float32")


def to_double(x: Any, name: str | None = None) -> Tensor:
    """`x` as float64."""
    return cast(x, "float64")


def to_int32(x: Any, name: str | None = None) -> Tensor:
    """`x` as int32."""
    return cast(x, "int32")


def to_int64(x: Any, name: str | None = None) -> Tensor:
    """`x` as int64."""
    return cast(x, "int64")


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    root: Any = import_module("wengert")
    if name in v1_changed.HOMES:
        return v1_changed.Home(name)
    if name in v1_changed.REFUSED:
        raise v1_changed.refused(name)
    if name not in _OTHERS and hasattr(root, name):
        return getattr(root, name)
    help = remedy(f"tf.{name}") or remedy(f"tf.compat.v1.{name}")
    raise absent(f"Wengert has no `tf.compat.v1.{name}`. {help}")


def __dir__() -> list[str]:
    same = [n for n in dir(import_module("wengert")) if n not in _OTHERS | v1_changed.REFUSED]
    return sorted({*__all__, *v1_changed.HOMES, *same})

"""Names of `tf.compat.v1` whose arguments or meaning were others in TensorFlow 1.

Those that programs still use are here in their old form; the rest is refused, since the new form
would take the old arguments and answer something else.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from wengert.core import nest
from wengert.core import variable as core_variable
from wengert.core.context import executing_eagerly
from wengert.core.convert import operand
from wengert.core.errors import at_site
from wengert.core.missing_names import absent
from wengert.ops import select
from wengert.ops.shaping import reshape, stop_gradient

if TYPE_CHECKING:
    from wengert.core.types import Tensor


class _VariableType(type):
    def __call__(
        cls, initial_value: Any = None, trainable: bool | None = None, collections: Any = None,
        validate_shape: bool = True, caching_device: Any = None, name: str | None = None,
        variable_def: Any = None, dtype: Any = None, expected_shape: Any = None,
        import_scope: Any = None, constraint: Any = None, use_resource: bool | None = None,
        **options: Any,
    ) -> Any:  # fmt: skip
        return core_variable.Variable(
            initial_value, trainable, validate_shape, caching_device, name, variable_def, dtype,
            import_scope, constraint, **{n: v for n, v in options.items() if v is not None},
        )  # fmt: skip

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, core_variable.Variable)


class Variable(metaclass=_VariableType):
    """`tf.Variable` with the arguments that only TensorFlow 1 had, which have no effect."""


def where(
    condition: list[bool], x: Tensor | None = None, y: Tensor | None = None, name: str | None = None
) -> Any:
    """`tf.where`, but a vector of conditions chooses whole rows of `x` and `y`."""
    if x is None or y is None:
        return select.where(condition, x, y)
    test, chosen = operand(condition), operand(x)
    rank = chosen._array.ndim
    if test._array.ndim == 1 and rank > 1:
        test = reshape(test, (-1, *(1,) * (rank - 1)))
    return select.where(test, chosen, y)


def dropout(
    x: Tensor, keep_prob: Any = None, noise_shape: Any = None, seed: Any = None, name: str | None = None,
    rate: Any = None,
) -> Tensor:  # fmt: skip
    """`tf.nn.dropout` with the share to keep in the place of the share to drop."""
    from wengert.ops.dropout import dropout as dropped

    if (keep_prob is None) == (rate is None):
        text = (
            "dropout: give one of `keep_prob` and `rate`. TensorFlow 2's tf.nn.dropout has `rate`."
        )
        raise at_site(ValueError(text))
    return dropped(x, 1.0 - keep_prob if rate is None else rate, noise_shape, seed)


def in_top_k(
    predictions: list[list[float]], targets: list[int], k: int, name: str | None = None
) -> Tensor:
    """`tf.math.in_top_k` with the predictions first."""
    return import_module("wengert.math").in_top_k(targets, predictions, k)


def softmax_cross_entropy_with_logits(
    labels: Any = None,
    logits: list[list[float]] | None = None,
    dim: int = -1,
    name: str | None = None,
    axis: Any = None,
) -> Tensor:
    """`tf.nn.softmax_cross_entropy_with_logits` without a gradient for the labels."""
    from wengert.ops.losses import softmax_cross_entropy_with_logits as new

    return new(stop_gradient(operand(labels)), logits, dim if axis is None else axis)


def _fused_batch_norm(*args: Any, **kwargs: Any) -> Any:
    """Normalised values, mean and variance; see `wengert.ops.fused_batch_norm`."""
    from wengert.ops.fused_batch_norm import fused_batch_norm

    return fused_batch_norm(*args, **kwargs)


def while_loop(
    cond: Any, body: Any, loop_vars: Any, *options: Any, return_same_structure: bool = False,
    **named: Any,
) -> Any:  # fmt: skip
    """`tf.while_loop`, but in a function a single loop variable comes without its structure."""
    from wengert.functions.while_loop import while_loop as new

    result = new(cond, body, loop_vars, *options, **named)
    flat = nest.flatten(result)
    unpacked = not return_same_structure and not executing_eagerly() and len(flat) == 1
    return flat[0] if unpacked else result


REFUSED = frozenset(["batch_to_space", "constant_initializer", "space_to_batch"])
_OLD = {
    "image": {"resize": None},
    "math": {"in_top_k": in_top_k},
    "nn": {
        "convolution": None,
        "ctc_loss": None,
        "dilation2d": None,
        "dropout": dropout,
        "embedding_lookup": None,
        "embedding_lookup_sparse": None,
        "erosion2d": None,
        "fractional_avg_pool": None,
        "fractional_max_pool": None,
        "fused_batch_norm": _fused_batch_norm,
        "in_top_k": in_top_k,
        "pool": None,
        "softmax_cross_entropy_with_logits": softmax_cross_entropy_with_logits,
        "space_to_batch": None,
    },
    "random": {"poisson": None},
    "strings": {"split": None},
}
HOMES = frozenset(_OLD)


def refused(name: str) -> Exception:
    """The error for a name that only TensorFlow 2's form has."""
    return absent(
        f"Wengert has no `tf.compat.v1.{name}`. Its arguments or meaning were others in "
        f"TensorFlow 1. Use tf.{name}, and read its arguments."
    )


class Home:
    """A module of `tf.compat.v1`: what is the same in TensorFlow 2, and what is above."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        old = _OLD[self._name]
        if name in old:
            if old[name] is None:
                raise refused(f"{self._name}.{name}")
            return old[name]
        return getattr(import_module(f"wengert.{self._name}"), name)

    def __dir__(self) -> list[str]:
        return [n for n in dir(import_module(f"wengert.{self._name}")) if not n.startswith("_")]

"""The operations of `tf.raw_ops` by which the optimizers of Keras 2 update variables.

A rule gives the new value of a variable and of its slots for a gradient; the dense operation assigns
them, and the sparse one writes the rows of `indices`, which must be distinct.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wengert.core.indexed_slices import IndexedSlices
from wengert.ops import public as tf
from wengert.ops.declare import Tensor, operand

Rule = Callable[..., "tuple[Tensor, ...]"]


def _gradient_descent(var: Tensor, *, alpha: Tensor, delta: Tensor) -> tuple[Tensor, ...]:
    return (var - alpha * delta,)


def _momentum(
    var: Tensor, accum: Tensor, *, lr: Tensor, grad: Tensor, momentum: Tensor,
    use_nesterov: bool = False,
) -> tuple[Tensor, ...]:  # fmt: skip
    accum = accum * momentum + grad
    return var - lr * (grad + momentum * accum if use_nesterov else accum), accum


def _keras_momentum(
    var: Tensor, accum: Tensor, *, lr: Tensor, grad: Tensor, momentum: Tensor,
    use_nesterov: bool = False,
) -> tuple[Tensor, ...]:  # fmt: skip
    accum = accum * momentum - lr * grad
    return var + (accum * momentum - lr * grad if use_nesterov else accum), accum


def _adam(
    var: Tensor, m: Tensor, v: Tensor, *, beta1_power: Tensor, beta2_power: Tensor, lr: Tensor,
    beta1: Tensor, beta2: Tensor, epsilon: Tensor, grad: Tensor, use_nesterov: bool = False,
) -> tuple[Tensor, ...]:  # fmt: skip
    rate = lr * tf.sqrt(1.0 - beta2_power) / (1.0 - beta1_power)
    m = m + (grad - m) * (1.0 - beta1)
    v = v + (grad * grad - v) * (1.0 - beta2)
    step = grad * (1.0 - beta1) + beta1 * m if use_nesterov else m
    return var - step * rate / (tf.sqrt(v) + epsilon), m, v


def _adam_with_amsgrad(
    var: Tensor, m: Tensor, v: Tensor, vhat: Tensor, *, beta1_power: Tensor, beta2_power: Tensor,
    lr: Tensor, beta1: Tensor, beta2: Tensor, epsilon: Tensor, grad: Tensor,
) -> tuple[Tensor, ...]:  # fmt: skip
    rate = lr * tf.sqrt(1.0 - beta2_power) / (1.0 - beta1_power)
    m = m + (grad - m) * (1.0 - beta1)
    v = v + (grad * grad - v) * (1.0 - beta2)
    vhat = tf.maximum(vhat, v)
    return var - m * rate / (tf.sqrt(vhat) + epsilon), m, v, vhat


def _adamax(
    var: Tensor, m: Tensor, v: Tensor, *, beta1_power: Tensor, lr: Tensor, beta1: Tensor,
    beta2: Tensor, epsilon: Tensor, grad: Tensor,
) -> tuple[Tensor, ...]:  # fmt: skip
    m = m + (grad - m) * (1.0 - beta1)
    v = tf.maximum(beta2 * v, tf.abs(grad))
    return var - lr / (1.0 - beta1_power) * (m / (v + epsilon)), m, v


def _adagrad(
    var: Tensor, accum: Tensor, *, lr: Tensor, epsilon: Tensor, grad: Tensor,
    update_slots: bool = True,
) -> tuple[Tensor, ...]:  # fmt: skip
    accum = accum + grad * grad if update_slots else accum
    return var - lr * grad / (tf.sqrt(accum) + epsilon), accum


def _adadelta(
    var: Tensor, accum: Tensor, accum_update: Tensor, *, lr: Tensor, rho: Tensor, epsilon: Tensor,
    grad: Tensor,
) -> tuple[Tensor, ...]:  # fmt: skip
    accum = rho * accum + (1.0 - rho) * grad * grad
    step = tf.sqrt(accum_update + epsilon) / tf.sqrt(accum + epsilon) * grad
    return var - lr * step, accum, rho * accum_update + (1.0 - rho) * step * step


def _rms_prop(
    var: Tensor, ms: Tensor, mom: Tensor, *, lr: Tensor, rho: Tensor, momentum: Tensor,
    epsilon: Tensor, grad: Tensor,
) -> tuple[Tensor, ...]:  # fmt: skip
    ms = ms + (grad * grad - ms) * (1.0 - rho)
    mom = mom * momentum + lr * grad / tf.sqrt(ms + epsilon)
    return var - mom, ms, mom


def _centered_rms_prop(
    var: Tensor, mg: Tensor, ms: Tensor, mom: Tensor, *, lr: Tensor, rho: Tensor,
    momentum: Tensor, epsilon: Tensor, grad: Tensor,
) -> tuple[Tensor, ...]:  # fmt: skip
    ms = ms + (grad * grad - ms) * (1.0 - rho)
    mg = mg + (grad - mg) * (1.0 - rho)
    mom = mom * momentum + lr * grad / tf.sqrt(ms - mg * mg + epsilon)
    return var - mom, mg, ms, mom


def _ftrl(
    var: Tensor, accum: Tensor, linear: Tensor, *, lr: Tensor, l1: Tensor, l2: Tensor,
    lr_power: Tensor, grad: Tensor, l2_shrinkage: Any = 0.0, multiply_linear_by_lr: bool = False,
) -> tuple[Tensor, ...]:  # fmt: skip
    total = accum + grad * grad
    new, old = tf.pow(total, -lr_power), tf.pow(accum, -lr_power)
    linear = linear + grad + 2.0 * l2_shrinkage * var - (new - old) / lr * var
    step = (tf.sign(linear) * l1 - linear) / (new / lr + 2.0 * l2)
    return tf.where(tf.abs(linear) > l1, step, tf.zeros_like(var)), total, linear


_COUNTED = ("use_nesterov", "update_slots", "multiply_linear_by_lr")


def _operation(name: str, rule: Rule, slots: str, rows: bool) -> Any:
    """The operation of a rule, whose first arguments are the variable and its slots."""

    def operation(**given: Any) -> None:
        given.pop("use_locking", None)
        given.pop("name", None)
        variables = [given.pop(slot) for slot in slots.split()]
        indices = given.pop("indices", None)
        kind = variables[0].dtype
        rest = {n: x if n in _COUNTED else tf.cast(operand(x), kind) for n, x in given.items()}
        if rows:
            parts = [tf.gather(v, indices) for v in variables]
            for variable, part in zip(variables, rule(*parts, **rest), strict=True):
                variable.scatter_update(IndexedSlices(part, indices))
            return
        values = [v.read_value() for v in variables]
        for variable, value in zip(variables, rule(*values, **rest), strict=True):
            variable.assign(value)

    operation.__name__ = operation.__qualname__ = name
    operation.__doc__ = "Updates a variable and its slots by a gradient."
    return operation


ResourceApplyGradientDescent = _operation(
    "ResourceApplyGradientDescent", _gradient_descent, "var", False
)
ResourceApplyMomentum = _operation("ResourceApplyMomentum", _momentum, "var accum", False)
ResourceApplyKerasMomentum = _operation(
    "ResourceApplyKerasMomentum", _keras_momentum, "var accum", False
)
ResourceApplyAdam = _operation("ResourceApplyAdam", _adam, "var m v", False)
ResourceApplyAdamWithAmsgrad = _operation(
    "ResourceApplyAdamWithAmsgrad", _adam_with_amsgrad, "var m v vhat", False
)
ResourceApplyAdaMax = _operation("ResourceApplyAdaMax", _adamax, "var m v", False)
ResourceApplyAdagradV2 = _operation("ResourceApplyAdagradV2", _adagrad, "var accum", False)
ResourceApplyAdadelta = _operation(
    "ResourceApplyAdadelta", _adadelta, "var accum accum_update", False
)
ResourceApplyRMSProp = _operation("ResourceApplyRMSProp", _rms_prop, "var ms mom", False)
ResourceApplyCenteredRMSProp = _operation(
    "ResourceApplyCenteredRMSProp", _centered_rms_prop, "var mg ms mom", False
)
ResourceApplyFtrl = _operation("ResourceApplyFtrl", _ftrl, "var accum linear", False)
ResourceApplyFtrlV2 = _operation("ResourceApplyFtrlV2", _ftrl, "var accum linear", False)
ResourceSparseApplyMomentum = _operation(
    "ResourceSparseApplyMomentum", _momentum, "var accum", True
)
ResourceSparseApplyKerasMomentum = _operation(
    "ResourceSparseApplyKerasMomentum", _keras_momentum, "var accum", True
)
ResourceSparseApplyAdagradV2 = _operation(
    "ResourceSparseApplyAdagradV2", _adagrad, "var accum", True
)
ResourceSparseApplyAdadelta = _operation(
    "ResourceSparseApplyAdadelta", _adadelta, "var accum accum_update", True
)
ResourceSparseApplyRMSProp = _operation("ResourceSparseApplyRMSProp", _rms_prop, "var ms mom", True)
ResourceSparseApplyCenteredRMSProp = _operation(
    "ResourceSparseApplyCenteredRMSProp", _centered_rms_prop, "var mg ms mom", True
)
ResourceSparseApplyFtrl = _operation("ResourceSparseApplyFtrl", _ftrl, "var accum linear", True)
ResourceSparseApplyFtrlV2 = _operation("ResourceSparseApplyFtrlV2", _ftrl, "var accum linear", True)


def ResourceScatterAdd(*, resource: Any, indices: Any, updates: Any, name: Any = None) -> None:
    """Adds to rows of a variable."""
    resource.scatter_add(IndexedSlices(updates, indices))


def ResourceScatterUpdate(*, resource: Any, indices: Any, updates: Any, name: Any = None) -> None:
    """Replaces rows of a variable."""
    resource.scatter_update(IndexedSlices(updates, indices))

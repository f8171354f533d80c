"""What the cases of `tf.distribute` are given, and how an answer is written down.

Each case is a function of an `Env`: the module (`tf`), a `MirroredStrategy` over four logical CPUs
(`s`), and whether replicas run eagerly or in a function. The same functions ran on TensorFlow
2.21, whose answers stand in `answers.json`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

REPLICAS = 4
Case = Callable[["Env"], Any]
CASES: dict[str, Case] = {}


class Env:
    """The module under test and a strategy with four replicas."""

    def __init__(self, tf: Any, traced: bool) -> None:
        self.tf: Any = tf
        self.d: Any = tf.distribute
        self.s: Any = tf.distribute.MirroredStrategy([f"CPU:{k}" for k in range(REPLICAS)])
        self.traced = traced

    def run(self, fn: Any, *args: Any, **kwargs: Any) -> Any:
        """The results of `fn` in all replicas, run eagerly or in a function."""
        if not self.traced:
            return self.s.run(fn, args=args, kwargs=kwargs)
        whole = self.tf.function(lambda *a, **k: self.s.run(fn, args=a, kwargs=k), autograph=False)
        return whole(*args, **kwargs)

    def function(self, fn: Any) -> Any:
        """A function in the mode of the case."""
        return self.tf.function(fn) if self.traced else fn

    def ids(self) -> Any:
        """A value that is 0, 1, 2, 3 in the replicas."""
        return self.s.experimental_distribute_values_from_function(
            lambda c: self.tf.constant(float(c.replica_id_in_sync_group))
        )

    def values(self, make: Any) -> Any:
        """A value made of the number of each replica."""
        return self.s.experimental_distribute_values_from_function(
            lambda c: make(c.replica_id_in_sync_group)
        )

    @property
    def context(self) -> Any:
        return self.d.get_replica_context()

    def id(self) -> Any:
        """The number of the replica, in a replica."""
        return self.tf.cast(self.context.replica_id_in_sync_group, self.tf.float32)

    def all(self, value: Any) -> Any:
        """What each replica has of a value."""
        return Local(show(self.tf, v) for v in self.s.experimental_local_results(value))


class Local(list[Any]):
    """What each replica has, as JSON."""


def case(f: Case) -> Case:
    """Registers a case under its name."""
    assert f.__name__ not in CASES, f.__name__
    CASES[f.__name__] = f
    return f


def show(tf: Any, value: Any) -> Any:
    """A value as JSON: tensors with dtype, shape and numbers; per-replica values one by one."""
    if isinstance(value, Local):
        return ["local", *value]
    if isinstance(value, tf.Variable) or type(value).__name__ in _VARIABLES:
        return ["variable", show(tf, value.read_value())]
    if isinstance(value, tf.distribute.DistributedValues):
        return [type(value).__name__, *(show(tf, v) for v in value.values)]
    if isinstance(value, tf.RaggedTensor):
        return ["ragged", value.dtype.name, value.to_list()]
    if isinstance(value, tf.SparseTensor):
        return ["sparse", value.dtype.name, show(tf, tf.sparse.to_dense(value))]
    if isinstance(value, tf.IndexedSlices):
        return ["slices", show(tf, tf.convert_to_tensor(value))]
    if tf.is_tensor(value):
        return [value.dtype.name, list(value.shape), _numbers(np.asarray(value.numpy()))]
    if isinstance(value, dict):
        return {k: show(tf, v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [type(value).__name__, *(show(tf, v) for v in value)]
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, tf.TensorShape | tf.DType) or type(value).__name__ == "ReduceOp":
        return repr(value)
    return value


_VARIABLES = ("MirroredVariable", "SyncOnReadVariable", "AggregatingVariable")


def _numbers(array: np.ndarray) -> Any:
    if array.dtype == object:
        return [v.decode() for v in array.ravel().tolist()]
    flat = array.astype(np.float64).ravel().tolist() if array.dtype.kind not in "biu" else array
    return [v if isinstance(v, int | bool) else float(f"{v:.5g}") for v in np.ravel(flat).tolist()]


def answer(tf: Any, name: str, traced: bool) -> Any:
    """What the module answers to a case; an error by its type."""
    try:
        return show(tf, CASES[name](Env(tf, traced)))
    except Exception as error:
        return ["error", *(kind.__name__ for kind in type(error).__mro__[:-2])]

"""`strategy.extended`: what libraries ask a strategy for, between replicas.

In `merge_call` values are tensors that stand for those of all replicas; elsewhere they are
per-replica values. Variables are the same for all replicas, so an update is one call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from wengert.core import dtypes, nest
from wengert.core.errors import at_site, require
from wengert.core.types import Tensor, Values, Variable
from wengert.core.variable_aliases import plain
from wengert.distribute.reduce_ops import CommunicationOptions, ReduceOp, as_reduce_op
from wengert.distribute.reductions import gather_values, local_results, reduce_values
from wengert.distribute.replica_context import Here, demand_crossing, here, within
from wengert.ops import collectives
from wengert.ops import public as tf

if TYPE_CHECKING:
    from wengert.distribute.strategies import Strategy


class StrategyExtended:
    """What libraries ask a strategy for."""

    worker_devices: tuple[str, ...]
    parameter_devices: tuple[str, ...]
    should_checkpoint = should_save_summary = True
    experimental_require_static_shapes = False

    def __init__(self, strategy: Strategy) -> None:
        self._strategy = strategy

    def __repr__(self) -> str:
        return f"<StrategyExtended of {self._strategy!r}>"

    @property
    def _num_replicas_in_sync(self) -> int:
        return self._strategy.num_replicas_in_sync

    # Updates.

    def update(
        self,
        var: Variable,
        fn: Callable[..., Any],
        args: Sequence[Values] = (),
        kwargs: Mapping[str, Values] | None = None,
        group: bool = True,
    ) -> Any:
        """Runs `fn` on a variable, between replicas: what it assigns holds for all of them.

        Args:
            var: the variable.
            fn: a function of the variable and the other arguments.
            args, kwargs: its other arguments.
            group: whether to give the result itself, and not a tuple of it.

        Returns:
            What `fn` returns.

        Raises:
            ValueError: the variable is none of this strategy.
        """
        require(
            isinstance(var, Variable), "update", "`var` must be a variable", var, kind=TypeError
        )
        if not self.variable_created_in_scope(var):
            raise _foreign("update", var)
        if here().replicas and not here().crossing:
            return fn(var, *args, **(kwargs or {}))
        place = Here(self._strategy, True, here().replicas)
        result = within(place, fn, var, *args, **(kwargs or {}))
        return result if group else (result,)

    def update_non_slot(
        self,
        colocate_with: Values,
        fn: Callable[..., Any],
        args: Sequence[Values] = (),
        kwargs: Mapping[str, Values] | None = None,
        group: bool = True,
    ) -> Any:
        """Runs `fn` once, between replicas."""
        demand_crossing("update_non_slot")
        place = Here(self._strategy, True, here().replicas)
        result = within(place, fn, *args, **(kwargs or {}))
        return result if group else (result,)

    def non_slot_devices(self, var_list: Sequence[Variable]) -> tuple[str, ...]:
        """Where variables of an optimizer are that belong to no other variable."""
        return self.parameter_devices

    # Reductions.

    def reduce_to(
        self,
        reduce_op: ReduceOp | str,
        value: Values,
        destinations: Values | None,
        options: CommunicationOptions | None = None,
    ) -> Tensor:
        """The sum or mean of the values of all replicas.

        Args:
            reduce_op: `tf.distribute.ReduceOp.SUM` or `MEAN`, or its name.
            value: a per-replica value, or in `merge_call` a tensor; or a nest of them.
            destinations: without effect; the result is there for all replicas.
            options: without effect.

        Returns:
            Tensors in the structure of `value`.

        Raises:
            RuntimeError: the code runs in a replica.
        """
        demand_crossing("reduce_to")
        return reduce_values(as_reduce_op("reduce_to", reduce_op), value, self._strategy)

    def batch_reduce_to(
        self,
        reduce_op: ReduceOp | str,
        value_destination_pairs: Sequence[tuple[Values, Values | None]],
        options: CommunicationOptions | None = None,
    ) -> list[Tensor]:
        """`reduce_to` for the first of each pair."""
        return [self.reduce_to(reduce_op, value, to) for value, to in value_destination_pairs]

    def _reduce(self, reduce_op: ReduceOp | str, value: Values) -> Tensor:
        return self.reduce_to(reduce_op, value, None)

    def _gather_to(
        self,
        value: Values,
        destinations: Values | None,
        axis: int,
        options: CommunicationOptions | None = None,
    ) -> Tensor:
        return gather_values(value, axis, self._strategy)

    def broadcast_to(self, tensor: Tensor, destinations: Values | None) -> Tensor:
        """The tensor, which all replicas read."""
        return tensor

    def _local_results(self, value: Values) -> tuple[Tensor, ...]:
        return local_results(value, self._strategy)

    # Variables and replicas.

    def call_for_each_replica(
        self,
        fn: Callable[..., Any],
        args: Sequence[Values] = (),
        kwargs: Mapping[str, Values] | None = None,
    ) -> Tensor:
        """`Strategy.run`; in `merge_call` the replicas go on in `fn`.

        A flag that `fn` returns there is true where it is true in all replicas, so that they can
        branch on it together. (TensorFlow asks the first replica alone.)
        """
        if not here().replicas:
            return self._strategy.run(fn, args, kwargs)
        place = Here(self._strategy, False, here().replicas)
        return nest.map_structure(_in_all, within(place, fn, *args, **(kwargs or {})))

    @contextmanager
    def colocate_vars_with(self, colocate_with_variable: Variable) -> Iterator[None]:
        """A block whose variables are where another one is, which is everywhere."""
        if not self.variable_created_in_scope(colocate_with_variable):
            raise _foreign("colocate_vars_with", colocate_with_variable)
        yield

    def variable_created_in_scope(self, v: Variable) -> bool:
        """Whether a variable belongs to this strategy."""
        if self._strategy._default:
            return True
        return plain(v)._distribute_strategy is self._strategy

    def read_var(self, v: Variable) -> Tensor:
        """The value of a variable."""
        return v.read_value()

    def value_container(self, value: Variable) -> Variable:
        """The variable itself: it is one for all replicas."""
        return value

    def _unwrap(self, value: Values) -> tuple[Tensor, ...]:
        return self._local_results(value)

    def _group(self, value: Values, name: str | None = None) -> Tensor:
        return nest.map_structure(lambda x: x, value)

    def _in_multi_worker_mode(self) -> bool:
        return False

    def _use_merge_call(self) -> bool:
        return False


def _foreign(name: str, variable: Variable) -> Exception:
    return at_site(
        ValueError(
            f"{name}: {variable.name!r} is no variable of this strategy. Make it under "
            f"strategy.scope()."
        )
    )


def _in_all(value: Any) -> Any:
    """A flag of each replica as one of all."""
    if not isinstance(value, Tensor) or value.dtype is not dtypes.bool_ or value.shape.rank != 0:
        return value
    return collectives.all_reduce(tf.cast(value, dtypes.float32), "mean") == 1.0

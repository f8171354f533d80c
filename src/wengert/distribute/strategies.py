"""Strategies for one device: each holds one replica, and answers what it is asked.

Programs written for strategies run, on one device. Several replicas are refused, with a message.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from wengert.core.context import Scoped
from wengert.core.convert import operand
from wengert.core.errors import at_site, describe
from wengert.core.tensor import full_name
from wengert.core.variable import Variable
from wengert.distribute.distributed_dataset import datasets_from_function, distribute_dataset
from wengert.distribute.input_options import InputContext, InputOptions
from wengert.distribute.reduce_ops import ReduceOp, as_reduce_op
from wengert.ops.losses import REPLICAS

if TYPE_CHECKING:
    from wengert.core.types import IndexedSlices, Tensor
    from wengert.data.dataset import Dataset


class DistributedValues:
    """A value for each replica; there is one replica, so nothing is of this type."""


class ReplicaContext:
    """What code that runs in the replica sees."""

    def __init__(self, strategy: Strategy) -> None:
        self.strategy = strategy

    replica_id_in_sync_group = 0
    num_replicas_in_sync = 1

    def all_reduce(
        self, reduce_op: ReduceOp, value: list[Tensor | IndexedSlices], options: Any = None
    ) -> list[Tensor | IndexedSlices]:
        """The value, which is that of all replicas."""
        return value

    def all_gather(self, value: Any, axis: int, options: Any = None) -> Any:
        """The value, which is that of all replicas."""
        return value

    def merge_call(self, merge_fn: Callable[..., Any], args: Any = (), kwargs: Any = None) -> Any:
        """The result of `merge_fn`, which gets the strategy first."""
        return merge_fn(self.strategy, *args, **(kwargs or {}))


class StrategyExtended:
    """What libraries ask a strategy for."""

    def __init__(self, strategy: Strategy) -> None:
        self._strategy = strategy

    worker_devices: tuple[str, ...]
    parameter_devices: tuple[str, ...]
    should_checkpoint = should_save_summary = True

    def update(
        self,
        var: Variable,
        fn: Callable[..., Any],
        args: Any = (),
        kwargs: Any = None,
        group: bool = True,
    ) -> Any:
        """Runs `fn` on a variable."""
        return fn(var, *args, **(kwargs or {}))

    def reduce_to(self, reduce_op: Any, value: Any, destinations: Any, options: Any = None) -> Any:
        """The value, which is that of all replicas."""
        return value

    @contextmanager
    def colocate_vars_with(self, colocate_with_variable: Variable) -> Iterator[None]:
        """Makes variables where another one is."""
        yield

    def variable_created_in_scope(self, v: Any) -> bool:
        """Whether a variable belongs to this strategy."""
        return True

    def _in_multi_worker_mode(self) -> bool:
        return False

    def _use_merge_call(self) -> bool:
        return False


class Strategy:
    """A strategy with one replica."""

    num_replicas_in_sync = 1
    cluster_resolver = None
    _default = False

    _should_use_with_coordinator = False  # Keras 2 asks; there are no parameter servers

    def __init__(self, devices: tuple[str, ...] = (full_name(None),)) -> None:
        if len(devices) > 1:
            name, got = type(self).__name__, describe(list(devices))
            text = f"{name}: Wengert runs one replica; got {got}. Name one device."
            raise at_site(NotImplementedError(text))
        self.extended = StrategyExtended(self)
        self.extended.worker_devices = self.extended.parameter_devices = devices
        self._context = ReplicaContext(self)

    def __repr__(self) -> str:
        name = "Strategy" if self._default else type(self).__name__
        return f"<{name}: {self.num_replicas_in_sync} replica>"

    @contextmanager
    def scope(self) -> Iterator[Strategy]:
        """Makes this the strategy of a block."""
        block = object()
        try:
            _current.enter(block, (self, not self._default))
            yield self
        finally:
            _current.leave(block)

    def run(
        self, fn: Callable[..., Any], args: Any = (), kwargs: Any = None, options: Any = None
    ) -> Any:
        """The result of `fn` in the replica."""
        if self._default:
            return fn(*args, **(kwargs or {}))
        block = object()
        try:
            _current.enter(block, (self, False))
            return fn(*args, **(kwargs or {}))
        finally:
            _current.leave(block)

    def reduce(self, reduce_op: str | ReduceOp, value: Tensor, axis: int | None) -> Tensor:
        """The value of the replica, reduced over an axis if one is given."""
        from wengert.ops.reduce import reduce_mean, reduce_sum

        mean = as_reduce_op("reduce", reduce_op) is ReduceOp.MEAN
        if axis is None:
            return operand(value)
        return (reduce_mean if mean else reduce_sum)(value, axis)

    def gather(self, value: Any, axis: int) -> Any:
        """The value, which is that of all replicas."""
        return operand(value)

    def experimental_distribute_dataset(
        self, dataset: Dataset, options: InputOptions | None = None
    ) -> Any:
        """A dataset whose batches, meant for all replicas together, are split among them.

        Args:
            dataset: a batched dataset; a batch of n rows gives ceil(n / replicas) to each replica,
                fewer or none to the last ones.
            options: a `tf.distribute.InputOptions`.

        Returns:
            A `tf.distribute.DistributedDataset`.
        """
        return distribute_dataset(dataset, self.num_replicas_in_sync, options)

    def distribute_datasets_from_function(
        self, dataset_fn: Callable[[InputContext], Any], options: InputOptions | None = None
    ) -> Any:
        """The dataset of batches for one replica that a function makes, dealt out to replicas.

        Args:
            dataset_fn: gets a `tf.distribute.InputContext`, returns a `tf.data.Dataset`.
            options: a `tf.distribute.InputOptions`; `InputReplicationMode.PER_REPLICA` calls the
                function for each replica.

        Returns:
            A `tf.distribute.DistributedDataset`.
        """
        return datasets_from_function(dataset_fn, self.num_replicas_in_sync, options)

    def experimental_distribute_datasets_from_function(
        self, dataset_fn: Callable[[InputContext], Any], options: InputOptions | None = None
    ) -> Any:
        """The old name of `distribute_datasets_from_function`."""
        return self.distribute_datasets_from_function(dataset_fn, options)

    def experimental_distribute_values_from_function(self, value_fn: Callable[..., Any]) -> Any:
        """The value that a function makes for the replica."""
        return value_fn(self._context)

    def experimental_local_results(self, value: Tensor) -> tuple[Tensor, ...]:
        """The values of the replicas here."""
        return (value,)


class _Default(Strategy):
    _default = True

    def experimental_distribute_dataset(self, dataset: Any, options: Any = None) -> Any:
        """The dataset itself."""
        return dataset

    def distribute_datasets_from_function(self, dataset_fn: Any, options: Any = None) -> Any:
        """The dataset that the function makes."""
        return dataset_fn(InputContext())


_DEFAULT = _Default()
# The strategy here, and whether we are between replicas rather than in one.
_current: Scoped[tuple[Strategy, bool]] = Scoped("wengert_strategy", (_DEFAULT, False))


def get_strategy() -> Strategy:
    """The strategy of the block around; a default one outside."""
    return _current.get()[0]


def has_strategy() -> bool:
    """Whether there is a strategy other than the default one."""
    return not _current.get()[0]._default


def in_cross_replica_context() -> bool:
    """Whether this is outside `Strategy.run` in the scope of a strategy."""
    return _current.get()[1]


def get_replica_context() -> ReplicaContext | None:
    """What the replica sees; `None` outside `Strategy.run` in the scope of a strategy."""
    strategy, crossing = _current.get()
    return None if crossing else strategy._context


def experimental_set_strategy(strategy: Strategy | None) -> None:
    """Makes a strategy the one of this thread from here on, and of tasks that start in it."""
    _current.put((_DEFAULT, False) if strategy is None else (strategy, True))


def _replicas_here(name: str) -> int:
    """How many replicas the code here is one of; `name` asks."""
    context = get_replica_context()
    if context is None:
        text = f"{name}: a loss belongs to one replica; the scope of a strategy is outside of them"
        raise at_site(RuntimeError(f"{text}. Call it in a function for strategy.run."))
    return context.num_replicas_in_sync


REPLICAS.fill(_replicas_here)

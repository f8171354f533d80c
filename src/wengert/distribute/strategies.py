"""`Strategy`: replicas of a program that work together, and the scope in which its variables are made.

With one replica a function runs as it is. With several it is traced once for all of them
(`replica_run`). On which devices they run the subclasses say (`mirrored`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from wengert.core.errors import at_site, require
from wengert.core.observers import OBSERVERS, observed
from wengert.core.sites import caller
from wengert.core.tensor import full_name
from wengert.distribute.distributed_dataset import datasets_from_function, distribute_dataset
from wengert.distribute.extended import StrategyExtended as StrategyExtended
from wengert.distribute.input_options import InputContext, InputOptions, RunOptions, ValueContext
from wengert.distribute.reduce_ops import ReduceOp, as_reduce_op
from wengert.distribute.reductions import gather_values, local_results, reduce_axis, reduce_values
from wengert.distribute.replica_context import (
    Here,
    ReplicaContext,
    demand_crossing,
    enter,
    here,
    in_block,
    leave,
    put,
    within,
)
from wengert.distribute.replica_run import emit_run, run_now
from wengert.distribute.values import DistributedValues as DistributedValues
from wengert.distribute.values import regroup
from wengert.distribute.variables import hear_of_variables
from wengert.functions.function import Function, function
from wengert.graph.builder import building
from wengert.ops.losses import REPLICAS

if TYPE_CHECKING:
    from wengert.core.types import RawSite, Tensor, Values
    from wengert.data.dataset import Dataset


class Strategy:
    """Replicas of a program that work together on a batch, one for each device.

    Args:
        devices: the names of their devices.
    """

    cluster_resolver: Any = None
    _default = False

    _should_use_with_coordinator = False  # Keras 2 asks; there are no parameter servers

    def __init__(self, devices: tuple[str, ...] = (full_name(None),)) -> None:
        self.extended = StrategyExtended(self)
        self.extended.worker_devices = self.extended.parameter_devices = devices
        self._context = ReplicaContext(self)
        self._key = object()  # by which functions know it
        if not self._default:
            hear_of_variables()

    @property
    def num_replicas_in_sync(self) -> int:
        """How many replicas there are."""
        return len(self.extended.worker_devices)

    def __repr__(self) -> str:
        name = "Strategy" if self._default else type(self).__name__
        count = self.num_replicas_in_sync
        return f"<{name}: {count} replica{'s' if count > 1 else ''}>"

    def __deepcopy__(self, memo: Any) -> Strategy:
        return self

    @contextmanager
    def scope(self) -> Iterator[Strategy]:
        """Makes this the strategy of a block: variables made there belong to it.

        Raises:
            RuntimeError: another strategy holds here, or this is a replica.
        """
        _check_scope(self)
        block = object()
        try:
            enter(block, Here(self, not self._default))
            yield self
        finally:
            leave(block)

    def run(
        self,
        fn: Callable[..., Any],
        args: Sequence[Values] = (),
        kwargs: Mapping[str, Values] | None = None,
        options: RunOptions | None = None,
    ) -> Any:
        """Runs a function in each replica, on the values that replica has.

        The function is traced once for all replicas; one that is a `tf.function` keeps its traces.

        Args:
            fn: the function.
            args, kwargs: its arguments; of a per-replica value each replica gets its own.
            options: a `tf.distribute.RunOptions`, without effect.

        Returns:
            With several replicas, per-replica values in the structure of the result.

        Raises:
            RuntimeError: this is a replica.
            ValueError: replicas assign different values to a variable without aggregation.

        >>> strategy = tf.distribute.OneDeviceStrategy("CPU:0")
        >>> float(strategy.run(lambda x: x * 2.0, args=(tf.constant(3.0),)))
        6.0
        """
        kwargs = kwargs or {}
        require(
            isinstance(args, list | tuple),
            "run",
            "`args` must be a tuple or list of arguments",
            args,
            help="Write args=(x,).",
            kind=ValueError,
        )
        if self._default:
            return fn(*args, **kwargs)
        _check_scope(self)
        require(callable(fn), "run", "`fn` must be a function", fn, kind=TypeError)
        if self.num_replicas_in_sync == 1:
            return within(Here(self, False), fn, *args, **kwargs)
        if OBSERVERS:
            return observed("replicate", Strategy._run, self, fn, args, kwargs, caller(1))
        return self._run(fn, args, kwargs, caller(1))

    def _run(
        self, fn: Callable[..., Any], args: Any, kwargs: Mapping[str, Any], site: RawSite | None
    ) -> Any:
        """`run` in several replicas."""
        if building() is not None:
            return within(Here(self, True), emit_run, self, fn, args, kwargs)
        if isinstance(fn, Function):
            return within(Here(self, True), _runner(self, fn), *args, **kwargs)
        return within(Here(self, True), run_now, self, fn, args, kwargs, site)

    def reduce(
        self, reduce_op: str | ReduceOp, value: Values, axis: int | Sequence[int] | None
    ) -> Tensor:
        """The sum or mean of the values of all replicas.

        Args:
            reduce_op: `"SUM"`, `"MEAN"` or a `tf.distribute.ReduceOp`.
            value: what `run` returned, or a nest of such values.
            axis: an axis of each value, along which elements are reduced, too: each counts the same
                for a mean, whichever replica it is of. `None` reduces over replicas alone.

        Returns:
            Tensors in the structure of `value`.

        Raises:
            RuntimeError: this is a replica.
            ValueError: a sum of what does not differ by replica, or no such axis.
        """
        kind = as_reduce_op("reduce", reduce_op)
        demand_crossing("reduce")
        if axis is None:
            return reduce_values(kind, value, self)
        return reduce_axis(kind, value, axis, self)

    def gather(self, value: Values, axis: int) -> Tensor:
        """The values of all replicas, joined along an axis.

        Args:
            value: what `run` returned, or a nest of such values.
            axis: along which; sizes along other axes must agree.

        Returns:
            Tensors in the structure of `value`.

        Raises:
            RuntimeError: this is a replica.
            ValueError: a value is a scalar.
        """
        demand_crossing("gather")
        return gather_values(value, axis, self)

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
        """A per-replica value, made by a function of each replica's `ValueContext`."""
        count = self.num_replicas_in_sync
        values = [value_fn(ValueContext(k, count)) for k in range(count)]
        return values[0] if count == 1 else regroup(values)

    def unwrap(self, value: Values) -> tuple[Tensor, ...]:
        """The old name of `experimental_local_results`."""
        return self.experimental_local_results(value)

    def group(self, value: Values, name: str | None = None) -> None:
        """Nothing: what `run` returned has been computed."""

    def experimental_local_results(self, value: Values) -> tuple[Tensor, ...]:
        """What each replica here has of a value."""
        return local_results(value, self)


def _runner(strategy: Strategy, fn: Function) -> Function:
    """A function that runs another in all replicas, whose traces are kept with the other."""
    runs = fn._store.runs
    cached = runs.get(strategy._key)
    if cached is None:

        def run(*args: Any, **kwargs: Any) -> Any:
            return emit_run(strategy, fn, args, kwargs)

        run.__name__ = fn.name
        cached = runs[strategy._key] = function(run, autograph=False)
    return cached


def _check_scope(strategy: Strategy) -> None:
    """Refuses a strategy within another, and within a replica."""
    place = here()
    if place.strategy is None or place.strategy._default:
        return
    demand_crossing("Strategy.scope and Strategy.run")
    if place.strategy is not strategy and not strategy._default:
        raise at_site(
            RuntimeError(
                f"Strategy: {place.strategy!r} holds here, and strategies do not nest; got "
                f"{strategy!r}. Leave its scope first, or use tf.distribute.get_strategy()."
            )
        )


class _Default(Strategy):
    _default = True

    def experimental_distribute_dataset(
        self, dataset: Any, options: InputOptions | None = None
    ) -> Any:
        """The dataset itself."""
        return dataset

    def distribute_datasets_from_function(
        self, dataset_fn: Any, options: InputOptions | None = None
    ) -> Any:
        """The dataset that the function makes."""
        return dataset_fn(InputContext())


_DEFAULT = _Default()


def get_strategy() -> Strategy:
    """The strategy of the block around; a default one outside."""
    return here().strategy or _DEFAULT


def has_strategy() -> bool:
    """Whether there is a strategy other than the default one."""
    return not get_strategy()._default


def in_cross_replica_context() -> bool:
    """Whether this is outside `Strategy.run` in the scope of a strategy."""
    return here().crossing


def get_replica_context() -> ReplicaContext | None:
    """What the replica sees; `None` outside `Strategy.run` in the scope of a strategy."""
    return None if here().crossing else get_strategy()._context


def experimental_set_strategy(strategy: Strategy | None) -> None:
    """Makes a strategy the one of this thread from here on, and of tasks that start in it."""
    require(
        not in_block(),
        "experimental_set_strategy",
        "it is not for the scope of a strategy, nor for replicas",
        help="Call it outside.",
        kind=RuntimeError,
    )
    put(Here() if strategy is None else Here(strategy, not strategy._default))


def _replicas_here(name: str) -> int:
    """How many replicas the code here is one of; `name` asks."""
    context = get_replica_context()
    if context is None:
        text = f"{name}: a loss belongs to one replica; the scope of a strategy is outside of them"
        raise at_site(RuntimeError(f"{text}. Call it in a function for strategy.run."))
    return context.num_replicas_in_sync


REPLICAS.fill(_replicas_here)

"""Which strategy holds here, and whether code runs in a replica or between replicas.

A replica's code is traced once for all of them, so there a value is a tensor of the trace. In
`merge_call` the same tensors stand for the values of all replicas, and reductions are collectives.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from wengert.core import nest
from wengert.core.context import Scoped, restoring
from wengert.core.convert import operand
from wengert.core.errors import at_site
from wengert.core.process_settings import PROCESS
from wengert.core.types import CompositeTensor, IndexedSlices, Values, Variable
from wengert.distribute.reduce_ops import CommunicationOptions, ReduceOp, as_reduce_op
from wengert.functions.tracing_state import CONTEXT, enter_context
from wengert.ops import collectives
from wengert.ops import public as tf

if TYPE_CHECKING:
    from wengert.core.types import Tensor
    from wengert.distribute.strategies import Strategy


R = TypeVar("R")


class Here(NamedTuple):
    """The strategy, whether code runs between replicas, and how many replicas its trace is for.

    `replicas` is 0 outside the trace of a replica, and where there is one replica only.
    """

    strategy: Strategy | None = None
    crossing: bool = False
    replicas: int = 0


_here: Scoped[Here] = Scoped("wengert_strategy", Here())
here = _here.get


@restoring
def within(place: Here, function: Callable[..., R], *args: object, **kwargs: object) -> R:
    """Calls a function at another place."""
    block = object()
    try:
        enter(block, place)
        return function(*args, **kwargs)
    finally:
        leave(block)


def enter(block: object, place: Here) -> None:
    """Begins a block at a place; functions traced there are traced for it."""
    _here.enter(block, place)
    if _key(place) is not None or CONTEXT.get() is not None:
        enter_context(block, _key(place))


def leave(block: object) -> None:
    """Ends a block."""
    CONTEXT.leave(block)
    _here.leave(block)


def in_block() -> bool:
    """Whether a block around decides where code is."""
    return _here.in_block()


def put(place: Here) -> None:
    """Sets the place from here on."""
    _here.put(place)
    PROCESS.calls_in_full = True
    CONTEXT.put(_key(place))


def _key(place: Here) -> Any:
    """What tells the traces of functions for one place from those for another."""
    if place.strategy is None or place.strategy.num_replicas_in_sync == 1:
        return None
    return (place.strategy._key, place.crossing, place.replicas)


class ReplicaContext:
    """What code in a replica is told: `tf.distribute.get_replica_context()`."""

    def __init__(self, strategy: Strategy, replica_id_in_sync_group: Any = None) -> None:
        self._strategy = strategy
        self._number = replica_id_in_sync_group

    @property
    def strategy(self) -> Strategy:
        return self._strategy

    @property
    def num_replicas_in_sync(self) -> int:
        """How many replicas there are."""
        return self._strategy.num_replicas_in_sync

    @property
    def replica_id_in_sync_group(self) -> Any:
        """The number of the replica; a tensor where there are several."""
        if self._number is not None:
            return self._number
        return collectives.replica_id() if here().replicas else 0

    @property
    def devices(self) -> tuple[str, ...]:
        """The device of the replica, as far as it is known while tracing."""
        return self._strategy.extended.worker_devices[:1]

    def __repr__(self) -> str:
        return f"<ReplicaContext of {self._strategy!r}>"

    def __enter__(self) -> ReplicaContext:
        enter(self, Here(self._strategy, False, here().replicas))
        return self

    def __exit__(self, *exc: object) -> None:
        leave(self)

    def all_reduce(
        self, reduce_op: ReduceOp | str, value: Values, options: CommunicationOptions | None = None
    ) -> Tensor:
        """The sum or the mean of the values of all replicas, in each of them.

        Args:
            reduce_op: `tf.distribute.ReduceOp.SUM` or `MEAN`, or its name.
            value: a tensor or `IndexedSlices`, or a nest of them.
            options: a `CommunicationOptions`, without effect.

        Returns:
            The same in all replicas, in the structure of `value`. Gradients pass through it.

        Raises:
            RuntimeError: the code does not run in a replica.
        """
        kind = as_reduce_op("all_reduce", reduce_op)
        _demand_replica("all_reduce")
        if not here().replicas:
            return nest.map_structure(_tensor, value)
        return nest.map_structure(lambda x: reduced(kind, x, self.num_replicas_in_sync), value)

    def all_gather(
        self, value: Values, axis: int, options: CommunicationOptions | None = None
    ) -> Tensor:
        """The values of all replicas, joined along an axis, in each of them.

        Args:
            value: a tensor, or a nest of them; other sizes than that of the axis must agree.
            axis: along which.
            options: a `CommunicationOptions`, without effect.

        Returns:
            The same in all replicas, in the structure of `value`. Gradients pass through it.

        Raises:
            RuntimeError: the code does not run in a replica.
            NotImplementedError: a value is `IndexedSlices`.
        """
        _demand_replica("all_gather")
        count = here().replicas
        return nest.map_structure(lambda x: gathered("all_gather", x, axis, count), value)

    def merge_call(
        self,
        merge_fn: Callable[..., R],
        args: Sequence[Values] = (),
        kwargs: Mapping[str, Values] | None = None,
    ) -> Any:
        """The result of `merge_fn`, which runs between replicas and gets the strategy first.

        Tensors among the arguments stand for the values of all replicas there: `strategy.reduce`
        and `strategy.extended.reduce_to` reduce them, and assignments hold for all replicas.
        """
        _demand_replica("merge_call")
        place = Here(self._strategy, True, here().replicas)
        return within(place, merge_fn, self._strategy, *args, **(kwargs or {}))

    def _update(
        self, var: Variable, fn: Callable[..., Any], args: Sequence[Values] = (), kwargs: Mapping[str, Values] | None = None, group: bool = True
    ) -> Any:  # fmt: skip
        place = Here(self._strategy, True, here().replicas)
        return within(place, fn, var, *args, **(kwargs or {}))


def _demand_replica(what: str) -> None:
    if here().crossing:
        raise at_site(
            RuntimeError(
                f"{what}: it is for code in a replica; this is between replicas. Call it in the "
                f"function given to strategy.run, or use strategy.reduce."
            )
        )


def demand_crossing(what: str) -> None:
    """Refuses what only code outside of replicas may do."""
    place = here()
    if place.strategy is not None and not place.crossing and not place.strategy._default:
        raise at_site(
            RuntimeError(
                f"{what}: it is for code outside of replicas; this runs in a replica. Use "
                f"tf.distribute.get_replica_context().merge_call(function), or all_reduce."
            )
        )


def _tensor(value: Values) -> Any:
    return value if isinstance(value, CompositeTensor) else operand(value)


def reduced(kind: ReduceOp, value: Values, count: int) -> Any:
    """The sum or mean over all replicas of a value of the trace."""
    if isinstance(value, IndexedSlices):
        return reduced_slices(kind, value, count)
    if isinstance(value, CompositeTensor):
        raise at_site(
            NotImplementedError(
                f"all_reduce: a {type(value).__name__} has no sum over replicas. Reduce its values, "
                f"or make it dense."
            )
        )
    x: Tensor = operand(value)
    if kind is ReduceOp.MEAN and x.dtype.is_floating:
        return collectives.all_reduce(x, "mean")
    total = collectives.all_reduce(x, "sum")
    return total if kind is ReduceOp.SUM else total / count


def reduced_slices(kind: ReduceOp, value: IndexedSlices, count: int) -> IndexedSlices:
    """The rows of all replicas; rows at the same place add up."""
    values = collectives.all_gather(operand(value.values), 0, count)
    indices = collectives.all_gather(operand(value.indices), 0, count)
    if kind is ReduceOp.MEAN:
        values = values / tf.cast(count, values.dtype)
    return IndexedSlices(values, indices, value._dense_shape)


def gathered(what: str, value: Values, axis: int, count: int) -> Any:
    """The values of all replicas, joined; with no replicas (0) the value itself."""
    if isinstance(value, CompositeTensor):
        raise at_site(
            NotImplementedError(
                f"{what}: only dense tensors are joined; got {type(value).__name__}. Gather its "
                f"parts."
            )
        )
    x = operand(value)
    return collectives.all_gather(x, axis, count) if count else x

"""How values of replicas become one: the reductions, and the options that TensorFlow has for them.

XLA chooses the algorithm of a collective, so the classes and options that name one are checked and
kept, and change no result.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from wengert.core.errors import at_site, describe
from wengert.core.variable import VariableAggregation

if TYPE_CHECKING:
    from wengert.distribute.strategies import Strategy


class ReduceOp(enum.Enum):
    """How the values of several replicas become one."""

    SUM = "SUM"
    MEAN = "MEAN"

    @staticmethod
    def from_variable_aggregation(aggregation: VariableAggregation) -> ReduceOp:
        """The reduction that an aggregation of variables means.

        Raises:
            ValueError: the aggregation is no reduction.
        """
        if aggregation in (VariableAggregation.SUM, VariableAggregation.MEAN):
            return ReduceOp[aggregation.name]
        text = f"ReduceOp: only SUM and MEAN are reductions; got {describe(aggregation)}."
        raise at_site(ValueError(text))


def as_reduce_op(name: str, value: Any) -> ReduceOp:
    """A reduction, or its name in either case; `name` is the caller's, for the message."""
    if isinstance(value, ReduceOp):
        return value
    if isinstance(value, str) and value.upper() in ReduceOp.__members__:
        return ReduceOp[value.upper()]
    text = f'{name}: `reduce_op` is "SUM" or "MEAN"; got {describe(value)}.'
    raise at_site(ValueError(text))


class CommunicationImplementation(enum.Enum):
    """Names of collective algorithms; XLA chooses one itself."""

    AUTO = "AUTO"
    RING = "RING"
    NCCL = "NCCL"


class CommunicationOptions:
    """Hints for collectives, which are checked and change no result.

    Args:
        bytes_per_pack: the most bytes reduced at once; 0 leaves it to the compiler.
        timeout_seconds: how long a collective may take.
        implementation: a `CommunicationImplementation` or its name.
    """

    def __init__(
        self,
        bytes_per_pack: int = 0,
        timeout_seconds: float | None = None,
        implementation: CommunicationImplementation | str = CommunicationImplementation.AUTO,
    ) -> None:
        if bytes_per_pack < 0:
            raise _negative("CommunicationOptions", "bytes_per_pack", bytes_per_pack)
        if isinstance(implementation, str):
            known = CommunicationImplementation.__members__
            if implementation.upper() not in known:
                text = "CommunicationOptions: `implementation` is one of "
                text += f"{', '.join(known)}; got {describe(implementation)}."
                raise at_site(ValueError(text))
            implementation = known[implementation.upper()]
        self.bytes_per_pack = bytes_per_pack
        self.timeout_seconds = timeout_seconds
        self.implementation = implementation


class CollectiveHints(CommunicationOptions):
    """The old name of `CommunicationOptions`."""

    def __init__(self, bytes_per_pack: int = 0, timeout_seconds: float | None = None) -> None:
        super().__init__(bytes_per_pack, timeout_seconds)


class CrossDeviceOps:
    """Reduces and copies values of replicas; the base of the classes that name an algorithm."""

    def __init__(self) -> None:
        pass

    def reduce(
        self,
        reduce_op: ReduceOp | str,
        per_replica_value: Any,
        destinations: Any,
        options: Any = None,
    ) -> Any:
        """The values of the replicas as one."""
        return _strategy_of(per_replica_value).extended.reduce_to(
            as_reduce_op("CrossDeviceOps.reduce", reduce_op), per_replica_value, destinations
        )

    def batch_reduce(
        self, reduce_op: ReduceOp | str, value_destination_pairs: Any, options: Any = None
    ) -> list[Any]:
        """Each value of the pairs reduced."""
        return [self.reduce(reduce_op, value, to) for value, to in value_destination_pairs]

    def broadcast(self, tensor: Any, destinations: Any) -> Any:
        """The tensor, which every replica reads."""
        return tensor


def _strategy_of(value: Any) -> Strategy:
    from wengert.distribute.strategies import get_strategy

    return getattr(value, "_strategy", None) or get_strategy()


class ReductionToOneDevice(CrossDeviceOps):
    """Copies values to one device and reduces them there."""

    def __init__(
        self, reduce_to_device: str | None = None, accumulation_fn: Callable[..., Any] | None = None
    ) -> None:
        self.reduce_to_device = reduce_to_device
        self.accumulation_fn = accumulation_fn


class _AllReduce(CrossDeviceOps):
    def __init__(self, num_packs: int = 1) -> None:
        if num_packs < 0:
            raise _negative(type(self).__name__, "num_packs", num_packs)
        self._num_packs = num_packs


class NcclAllReduce(_AllReduce):
    """All-reduce by NCCL, which XLA uses on GPUs of NVIDIA."""


class HierarchicalCopyAllReduce(_AllReduce):
    """All-reduce in two levels of copies."""


def _negative(name: str, argument: str, value: Any) -> Exception:
    text = f"{name}: `{argument}` must not be negative; got {describe(value)}. Leave it out."
    return at_site(ValueError(text))

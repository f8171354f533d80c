"""Variables under a strategy: ordinary ones that know their strategy, and updates in replicas.

An update in a replica is aggregated first, so that all replicas have the same variable. Of a
variable with `ON_READ` synchronization each replica has a copy, a row of one array; reading it
between replicas reduces them.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from wengert.core.context import UPDATES, Setting
from wengert.core.convert import operand
from wengert.core.errors import at_site, coded
from wengert.core.types import IndexedSlices, SymbolicTensor, Variable
from wengert.core.user_code import is_installed, is_wengert
from wengert.core.variable import BORN, VariableAggregation
from wengert.core.variable_aliases import Alias, plain
from wengert.distribute.reduce_ops import ReduceOp
from wengert.distribute.replica_context import here, reduced, reduced_slices
from wengert.distribute.replica_copies import MAKING, keep_copies
from wengert.graph.builder import Builder
from wengert.ops import collectives
from wengert.ops import public as tf
from wengert.ops.updates import ASSIGNED

if TYPE_CHECKING:
    from wengert.graph.ir import Graph

NONE, SUM, MEAN, FIRST = (
    VariableAggregation[k] for k in ("NONE", "SUM", "MEAN", "ONLY_FIRST_REPLICA")
)
_SUMS = ("assign_add", "assign_sub", "scatter_add", "scatter_sub")


def copies_of(variable: Variable) -> Variable | None:
    """The copies of a variable of which each replica has its own; `None` of any other."""
    return plain(variable)._copies


def replica_updates(graph: Builder) -> Setting[Any, None]:
    """A block in which updates of variables are aggregated over the replicas."""
    return Setting(UPDATES, aggregated)


def aggregated(variable: Variable, method: str, given: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments of an update in a replica, after the variable's aggregation."""
    place = here()
    if not place.replicas or copies_of(variable) is not None:
        return given
    if plain(variable)._aggregation is NONE and _by_library():
        plain(variable)._drifts = True
    if place.crossing:
        return given
    if type(variable) is Alias:  # what becomes of the update depends on the variable
        variable._identity.asked = True
    _demand_own(variable)
    kind = _kind(variable, method)
    if kind is NONE or method == "assign_slice":
        return given
    if kind is MEAN and not variable.dtype.is_floating:
        raise at_site(
            ValueError(
                f"variable {variable.name!r}: the mean over replicas is for floating-point "
                f"variables; it is {variable.dtype.name}. Choose another `aggregation`, or assign "
                f"outside strategy.run."
            )
        )
    value, *rest = given
    if isinstance(value, IndexedSlices):
        return (_slices(variable, method, kind, value, place.replicas), *rest)
    if method.startswith("scatter"):
        return given
    return (_joined(kind, operand(value, variable.dtype), place.replicas), *rest)


def _demand_own(variable: Variable) -> None:
    owner, strategy = plain(variable)._distribute_strategy, here().strategy
    if owner is not None and owner is not strategy:
        raise at_site(
            RuntimeError(
                f"variable {variable.name!r}: it belongs to another strategy, {owner!r}, and is "
                f"changed in a replica of {strategy!r}. Make it under the scope of this one."
            )
        )


def _kind(variable: Variable, method: str) -> VariableAggregation:
    """How an update is aggregated; each replica adds to a variable of no strategy."""
    if plain(variable)._distribute_strategy is None:
        return SUM if method in _SUMS else NONE
    return variable.aggregation


def _joined(kind: VariableAggregation, x: Any, replicas: int) -> Any:
    if not _differs(x):
        return x * tf.cast(replicas, x.dtype) if kind is SUM else x
    if kind is SUM:
        return reduced(ReduceOp.SUM, x, replicas)
    return reduced(ReduceOp.MEAN, x, replicas) if kind is MEAN else first_replica(x, replicas)


def _differs(x: Any) -> bool:
    """Whether a value may differ by replica; a trace within that of the replicas does not know."""
    if not isinstance(x, SymbolicTensor):
        return False
    following = x._graph.for_replica if isinstance(x._graph, Builder) else None
    return following is None or following.differs(x._value)


def first_replica(x: Any, replicas: int) -> Any:
    """What the first replica has."""
    return collectives.all_gather(tf.expand_dims(x, 0), 0, replicas)[0]


def _slices(
    variable: Variable, method: str, kind: VariableAggregation, value: IndexedSlices, replicas: int
) -> IndexedSlices:
    if kind is FIRST:
        rows, places = (first_replica(operand(x), replicas) for x in (value.values, value.indices))
        return IndexedSlices(rows, places, value._dense_shape)
    if method not in ("assign", *_SUMS):
        raise at_site(
            NotImplementedError(
                f"{method}: in a replica it is for variables with aggregation NONE or "
                f"ONLY_FIRST_REPLICA; {variable.name!r} has {kind.name}. Choose another "
                f"`aggregation`, or gather the rows and update outside."
            )
        )
    return reduced_slices(ReduceOp[kind.name], value, replicas)


def _by_library() -> bool:
    """Whether an installed package assigns to a variable here, and not the program itself."""
    frame: Any = sys._getframe(2)
    while frame is not None and is_wengert(frame.f_code.co_filename):
        frame = frame.f_back
    return frame is not None and is_installed(frame.f_code.co_filename)


def check_aggregated(graph: Graph, differing: list[Variable], replicas: int) -> bool:
    """Refuses variables that would be another in each replica; whether some got copies now.

    TensorFlow lets the copies of a variable without aggregation drift apart. Libraries count on it
    (batch normalisation), so theirs do; in a program it is rather a mistake.
    """
    apart = False
    for variable in differing:
        if copies_of(variable) is not None:
            continue
        owner = plain(variable)
        if owner._drifts and owner._distribute_strategy is not None:
            keep_copies(owner, replicas)
            apart = True
            continue
        nodes = [n for n in graph.walk() if n.op is ASSIGNED]
        mine = [n for n in nodes if plain(n.attrs["variable"]) is plain(variable)]
        site = mine[-1].site if mine else None
        owned = plain(variable)._distribute_strategy is not None
        help = (
            "Give it an `aggregation`, such as tf.VariableAggregation.MEAN, or "
            "synchronization=tf.VariableSynchronization.ON_READ for a copy in each replica"
            if owned
            else "Make it under strategy.scope() with an `aggregation`, or assign what "
            "all_reduce gives"
        )
        error = ValueError(
            f"variable {variable.name!r}: replicas assign different values to it, and it has no "
            f"aggregation that makes them one. {help}."
        )
        raise coded(at_site(error, site), "WG901")
    return apart


def adopt(variable: Variable) -> None:
    """Makes a new variable one of the strategy here."""
    strategy = here().strategy
    if strategy is None or strategy._default or MAKING.get():
        return
    when, how = variable._synchronization, variable._aggregation
    if when.name == "NONE":
        raise at_site(
            ValueError(
                "Variable: under a strategy `synchronization` cannot be NONE. Leave it out, or use "
                "tf.VariableSynchronization.ON_READ for a copy in each replica."
            )
        )
    if when.name == "ON_READ":
        if how.name == "MEAN" and not variable.dtype.is_floating:
            raise at_site(
                ValueError(
                    f"Variable: the mean over replicas is for floating-point variables; got "
                    f"{variable.dtype.name}. Choose another `aggregation`, or another dtype."
                )
            )
        if strategy.num_replicas_in_sync > 1:
            keep_copies(variable, strategy.num_replicas_in_sync)
    elif when.name == "AUTO":
        variable._synchronization = type(when)["ON_WRITE"]
    variable._distribute_strategy = strategy


def hear_of_variables() -> None:
    """Has `adopt` hear of new variables from here on."""
    if adopt not in BORN:
        BORN.append(adopt)

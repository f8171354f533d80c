"""Variables of which each replica has a copy, `synchronization=ON_READ`: what metrics count in.

The copies are the rows of another variable. In a replica the variable is its copy; outside, reading
reduces the copies by the variable's aggregation, and assigning gives each what makes that value.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from wengert.core.context import State, building_graph, own_variable, restoring, run_under
from wengert.core.convert import operand
from wengert.core.errors import at_site
from wengert.core.types import IndexedSlices, Tensor, Variable
from wengert.core.variable import TAKEN
from wengert.distribute.reduce_ops import ReduceOp
from wengert.distribute.replica_context import here, reduced
from wengert.ops import public as tf

if TYPE_CHECKING:
    from wengert.core.types import TensorLike


_HOST: Any = Variable.__dict__["_host"]
_DEVICE: Any = Variable.__dict__["_device"]
MAKING = own_variable("wengert_making_copies", False)


class CopiedVariable(Variable):
    """A variable with a copy in each replica."""

    __slots__ = ()

    # Reading.

    # What a plain variable has in these slots is here a value that somebody put there, such as a
    # step that was compiled before: the copies take it over when they are looked at.

    @property
    def _copies(self) -> Variable:
        rows: Variable = self.__dict__["_rows"]
        host, device = _HOST.__get__(self), _DEVICE.__get__(self)
        if device is not TAKEN and (host is not None or device is not None):
            _HOST.__set__(self, None)
            _DEVICE.__set__(self, None)
            rows._array = self._spread(np.asarray(device if host is None else host), rows)
        return rows

    @property
    def _host(self) -> np.ndarray | None:
        return None if _DEVICE.__get__(self) is TAKEN else self._array

    @_host.setter
    def _host(self, array: np.ndarray | None) -> None:
        _HOST.__set__(self, array)

    @property
    def _array(self) -> np.ndarray:
        graph = building_graph()
        if graph is not None:
            return graph.tensor(graph.read(self))._array
        return self._whole()._array

    @_array.setter
    def _array(self, array: np.ndarray) -> None:
        _HOST.__set__(self, array)
        _DEVICE.__set__(self, None)

    def _fetch(self) -> np.ndarray:
        return self._array

    def _in_replica(self) -> bool:
        graph = building_graph()
        return graph is not None and graph.in_replica()

    def read_value(self) -> Tensor:
        """The value: in a replica that of its copy, outside what all copies make."""
        place = here()
        if not self._in_replica():
            return self._whole()
        own = super().read_value()
        if not place.crossing or self._aggregation.name not in ("SUM", "MEAN"):
            return own
        return reduced(ReduceOp[self._aggregation.name], own, place.replicas)

    value = read_value
    initialized_value = read_value

    def _whole(self) -> Tensor:
        """What the copies make."""
        rows = self._copies.read_value()
        kind = self._aggregation.name
        if kind == "NONE" and not self._drifts:
            raise at_site(
                ValueError(
                    f"variable {self.name!r}: it has a copy in each replica and no aggregation that "
                    f"makes them one. Give it an `aggregation`, or read the copies by "
                    f"strategy.experimental_local_results."
                )
            )
        if kind in ("ONLY_FIRST_REPLICA", "NONE"):
            return rows[0]
        return tf.reduce_sum(rows, 0) if kind == "SUM" else tf.reduce_mean(rows, 0)

    def _snapshot(self) -> Tensor:
        graph = building_graph()
        if graph is not None:
            return graph.snapshot(self)
        tensor = self._whole()
        tensor._id = self._id
        return tensor

    def numpy(self) -> Any:
        """The value as a NumPy array."""
        if building_graph() is not None:
            return super().numpy()
        return self._whole().numpy()

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy in Python's sense is a variable like others, with the value."""
        restore, (_, *state) = super().__reduce__()
        return restore, (Variable, *state)

    # Writing.

    def _spread(self, array: np.ndarray, rows: Variable) -> np.ndarray:
        count = len(rows._array)
        part = (array / count).astype(array.dtype) if self._aggregation.name == "SUM" else array
        return np.broadcast_to(part, (count, *array.shape)).copy()

    def _update(self, method: str, *given: Any) -> Variable:
        """An update in a graph: in a replica of its copy, outside of all."""
        if self._in_replica():
            return super()._update(method, *given)
        return self._update_all(method, *given)

    def assign(
        self,
        value: TensorLike,
        use_locking: bool = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> Any:
        """Replaces the value: in a replica that of its copy, outside those of all."""
        self._update("assign", value)
        return self if read_value else None

    def assign_add(
        self,
        delta: TensorLike,
        use_locking: bool = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> Any:
        """Adds to the value: in a replica to that of its copy, outside to those of all."""
        self._update("assign_add", delta)
        return self if read_value else None

    def assign_sub(
        self,
        delta: TensorLike,
        use_locking: bool = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> Any:
        """Subtracts from the value: in a replica from that of its copy, outside from those of all."""
        self._update("assign_sub", delta)
        return self if read_value else None

    @restoring
    def _update_all(self, method: str, *given: Any) -> Variable:
        kind = self._aggregation.name
        if method not in ("assign", "assign_add", "assign_sub") or isinstance(
            given[0], IndexedSlices
        ):
            raise self._refused(method, NotImplementedError, "a part of it is")
        if kind == "SUM" and method != "assign":
            raise self._refused(method, ValueError, "a sum of copies is")
        value = operand(given[0], self._dtype)
        if kind == "SUM":
            count = self._copies.shape[0]
            value = tf.cast(value / count, self._dtype)
        rows = tf.broadcast_to(tf.expand_dims(value, 0), self._copies.shape)
        getattr(self._copies, method)(rows)
        return self

    def _refused(self, method: str, kind: Callable[[str], Exception], what: str) -> Exception:
        return at_site(
            kind(
                f"{method}: each replica has a copy of variable {self.name!r}, and {what} changed in "
                f"a replica only. Update it in a function given to strategy.run, or use assign."
            )
        )

    def _modify(self, change: Callable[[np.ndarray], None]) -> Variable:
        raise self._refused("scatter", NotImplementedError, "a part of it is")

    def _assign_slice(
        self, index: Any, value: TensorLike, ufunc: np.ufunc | None = None
    ) -> Variable:
        if self._in_replica():
            return super()._assign_slice(index, value, ufunc)
        raise self._refused("assign", NotImplementedError, "a part of it is")


@restoring
def keep_copies(variable: Variable, replicas: int) -> None:
    """Gives a new variable a copy for each replica, all with its value."""
    MAKING.set(True)
    array = variable._array if variable._host is None else variable._host
    shape = variable._declared
    declared = None if shape.rank is None else [replicas, *shape.as_list()]
    rows = np.broadcast_to(array, (replicas, *array.shape)).copy()
    variable.__dict__["_rows"] = run_under(
        State(), lambda: Variable(rows, False, name=f"{variable._name}_copies", shape=declared)
    )
    variable._host = variable._device = None
    variable.__class__ = CopiedVariable

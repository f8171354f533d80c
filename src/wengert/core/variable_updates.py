"""Updates of a variable: by sums and differences in place, and at some of its places only.

The array of a variable may be written over if nobody else holds it; then an update costs no memory.
How many references that is depends on the version of Python, so it is measured. Every method checks
its arguments before the value is touched.
"""

from __future__ import annotations

from collections.abc import Callable
from sys import getrefcount
from typing import TYPE_CHECKING, Any

import numpy as np

from wengert.core.context import building_graph, get_state
from wengert.core.errors import InvalidIndexError, invalid, require, unexpected
from wengert.core.indexed_slices import IndexedSlices
from wengert.core.locks import ALONGSIDE, HOST_CALLS, while_holding
from wengert.core.tensor import Tensor, Value

if TYPE_CHECKING:
    from wengert.core.variable import Variable


class _Probe:
    def __init__(self) -> None:
        self._array: np.ndarray = np.empty(1)

    def count(self) -> int:
        array = self._array
        return getrefcount(array)


# How many references an array has that only its variable holds; Python versions count differently.
SOLE = _Probe().count()


def has_company(array: np.ndarray) -> bool:
    """Whether other arrays may use the memory of a view: it is not the only one, or overlaps."""
    base: Any = array.base
    alone = type(base) is np.ndarray and base.flags.owndata and getrefcount(base) <= SOLE
    return not (alone and array.flags.c_contiguous)


_ARGUMENTS = """

    Args:
        delta: a tensor or what becomes one, of the variable's dtype and shape; `IndexedSlices` cost
            their rows only.
        use_locking: without effect; every update holds the variable's lock.
        name: without effect.
        read_value: with `False` nothing is returned.

    Returns:
        The variable.

    Raises:
        InvalidArgumentError: the shape or the dtype does not fit; the variable is unchanged.
"""


def updating(method: str, ufunc: np.ufunc, text: str) -> Callable[..., Any]:
    """A method of variables that changes the value by as much as it is given."""

    def update(
        self: Variable,
        delta: Any,
        use_locking: bool = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> Variable | None:
        state = get_state()
        if state is not None and state.graph is not None:
            return self._update(method, delta)
        if type(delta) is Tensor:
            array = delta._array
        elif isinstance(delta, IndexedSlices):  # costs its rows, not the whole
            (self.scatter_add if ufunc is np.add else self.scatter_sub)(delta)
            return self if read_value else None
        else:  # not under the lock, since it may wait for that of another variable
            array = self._incoming(method, delta, self._array.shape)
        if HOST_CALLS:
            while_holding((self._lock,), ALONGSIDE, change, self, delta, array)
        else:
            with self._lock:
                change(self, delta, array)
        return self if read_value else None

    def change(self: Any, delta: Any, array: np.ndarray) -> None:
        old = self._host
        if old is None:
            old = self._fetch()
        if (array.dtype is not old.dtype or array.shape != old.shape) and type(delta) is Tensor:
            array = self._incoming(method, delta, old.shape)
        shared = getrefcount(old) > SOLE or (old.base is not None and has_company(old))
        new = np.empty_like(old) if shared else old
        try:
            ufunc(old, array, new)
        except (RuntimeWarning, FloatingPointError):
            pass  # where a program wants exceptions, NumPy raises when all is computed
        except ValueError:  # the array cannot be written to
            with np.errstate(all="ignore"):
                new = np.asarray(ufunc(old, array))
        self._host, self._device = new, None

    update.__name__, update.__qualname__ = method, f"Variable.{method}"
    update.__doc__ = (
        text
        + _ARGUMENTS
        + f"""
    >>> v = tf.Variable(1.0)
    >>> float(v.{method}(2.0)) == {float(ufunc(1, 2))}
    True
    """
    )
    return update


class Scattered(Value):
    """The scattered writes of a `Variable`."""

    __slots__ = ()

    if TYPE_CHECKING:  # what a variable brings

        def _update(self, method: str, *given: Any) -> Any: ...
        def _incoming(self, method: str, value: Any, shape: Any = None) -> np.ndarray: ...
        def _modify(self, change: Callable[[np.ndarray], None]) -> Any: ...

    def scatter_add(
        self,
        sparse_delta: IndexedSlices,
        use_locking: bool = False,
        name: str | None = None,
    ) -> Variable:
        """Adds rows; rows named twice are added twice."""
        return self._scatter("scatter_add", sparse_delta, np.add)

    def scatter_sub(
        self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None
    ) -> Variable:
        """Subtracts rows; rows named twice are subtracted twice."""
        return self._scatter("scatter_sub", sparse_delta, np.subtract)

    def scatter_mul(
        self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None
    ) -> Variable:
        """Multiplies rows."""
        return self._scatter("scatter_mul", sparse_delta, np.multiply)

    def scatter_div(
        self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None
    ) -> Variable:
        """Divides rows."""
        return self._scatter("scatter_div", sparse_delta, quotient)

    def scatter_max(
        self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None
    ) -> Variable:
        """Takes the larger of the present and the given rows."""
        return self._scatter("scatter_max", sparse_delta, np.maximum)

    def scatter_min(
        self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None
    ) -> Variable:
        """Takes the smaller of the present and the given rows."""
        return self._scatter("scatter_min", sparse_delta, np.minimum)

    def scatter_update(
        self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None
    ) -> Variable:
        """Replaces rows; of rows named twice the last wins."""
        return self._scatter("scatter_update", sparse_delta, None)

    def _scatter(self, method: str, delta: IndexedSlices, ufunc: Any) -> Variable:
        _demand_slices(method, delta)
        if building_graph() is not None:
            return self._update(method, delta)
        rows = _whole(method, delta.indices)
        require(self._array.ndim, method, "a scalar variable has no rows", self, help="Use assign.")
        _check_range(method, rows, self._array.shape[0])
        values = self._incoming(method, delta.values, (*rows.shape, *self._array.shape[1:]))
        if ufunc is quotient:
            require_divisors(method, values)
        return self._modify(lambda array: _put(array, rows, values, ufunc))

    def batch_scatter_update(
        self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None
    ) -> Variable:
        """Replaces slices along the last indexed axis, batch by batch."""
        _demand_slices("batch_scatter_update", sparse_delta)
        if building_graph() is not None:
            return self._update("batch_scatter_update", sparse_delta)
        rows = _whole("batch_scatter_update", sparse_delta.indices)
        batch = rows.ndim - 1
        if not 0 <= batch < self._array.ndim:
            words = "the indices must have from one axis to as many as the variable"
            raise invalid("batch_scatter_update", words, self)
        _check_range("batch_scatter_update", rows, self._array.shape[batch])
        grid = np.ogrid[tuple(slice(0, d) for d in rows.shape)]
        where = (*grid[:-1], rows)
        values = self._incoming(
            "batch_scatter_update",
            sparse_delta.values,
            (*rows.shape, *self._array.shape[batch + 1 :]),
        )
        return self._modify(lambda array: _put(array, where, values, None))

    def scatter_nd_add(
        self, indices: list[list[int]] | int, updates: Any, name: str | None = None
    ) -> Variable:
        """Adds slices at index tuples."""
        return self._scatter_nd("scatter_nd_add", indices, updates, np.add)

    def scatter_nd_sub(
        self, indices: list[list[int]], updates: list[float], name: str | None = None
    ) -> Variable:
        """Subtracts slices at index tuples."""
        return self._scatter_nd("scatter_nd_sub", indices, updates, np.subtract)

    def scatter_nd_max(
        self, indices: list[list[int]], updates: list[float], name: str | None = None
    ) -> Variable:
        """Takes the larger of present and given slices at index tuples."""
        return self._scatter_nd("scatter_nd_max", indices, updates, np.maximum)

    def scatter_nd_min(
        self, indices: list[list[int]], updates: list[float], name: str | None = None
    ) -> Variable:
        """Takes the smaller of present and given slices at index tuples."""
        return self._scatter_nd("scatter_nd_min", indices, updates, np.minimum)

    def scatter_nd_update(
        self, indices: list[list[int]], updates: list[float], name: str | None = None
    ) -> Variable:
        """Replaces slices at index tuples."""
        return self._scatter_nd("scatter_nd_update", indices, updates, None)

    def _scatter_nd(self, method: str, indices: Any, updates: Any, ufunc: Any) -> Variable:
        if building_graph() is not None:
            return self._update(method, indices, updates)
        tuples = _whole(method, indices)
        require(
            tuples.ndim, method, "`indices` must hold index tuples in its last dimension", tuples
        )
        depth = tuples.shape[-1]
        require(
            depth <= self._array.ndim,
            method,
            lambda: f"index tuples of length {depth} are too long for rank {self._array.ndim}",
        )
        for i in range(depth):
            _check_range(method, tuples[..., i], self._array.shape[i])
        shape = (*tuples.shape[:-1], *self._array.shape[depth:])
        values = self._incoming(method, updates, shape)
        where = tuple(np.moveaxis(tuples, -1, 0))
        return self._modify(lambda array: _put(array, where, values, ufunc))


def quotient(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """`x / y` in the dtype of `x`: whole numbers are rounded towards zero."""
    if x.dtype.kind not in "iu":
        return np.asarray(np.true_divide(x, y)).astype(x.dtype)
    down = np.floor_divide(x, y)
    return down + ((down * y != x) & ((x < 0) != (y < 0)))


def require_divisors(method: str, values: np.ndarray) -> None:
    """Refuses whole numbers among which is a 0, by which nothing can be divided."""
    fine = values.dtype.kind not in "iu" or bool(values.all())
    require(fine, method, "integer division by zero", help="Leave out the rows with zeros.")


def _whole(method: str, indices: Any) -> np.ndarray:
    from wengert.core.convert import operand

    array = np.asarray(operand(indices)._array)
    require(
        array.dtype.kind in "iu", method, "indices must be whole numbers", indices, kind=TypeError
    )
    return array


def _check_range(method: str, index: np.ndarray, size: int) -> None:
    bad = (index < 0) | (index >= size)
    require(
        not bad.any(),
        method,
        lambda: f"index {index[bad].flat[0]} is outside [0, {size})",
        help="The variable is unchanged.",
        kind=InvalidIndexError,
    )


def _put(
    array: np.ndarray, where: np.ndarray | tuple[np.ndarray, ...], values: np.ndarray, ufunc: Any
) -> None:
    """Combines `values` into `array[where]`, repeated places one after the other."""
    if ufunc is None:
        array[where] = values
        return
    places = where if isinstance(where, tuple) else (where,)
    if not isinstance(ufunc, np.ufunc) or array.dtype.kind == "V":
        spread = np.broadcast_arrays(*places)
        for i in np.ndindex(spread[0].shape):
            place = tuple(p[i] for p in spread)
            array[place] = ufunc(array[place], values[i])
    elif array.flags.c_contiguous and len(places) < array.ndim and values.size:
        # NumPy combines single elements several times faster than rows.
        depth = len(places)
        rows = np.ravel_multi_index(places, array.shape[:depth]).reshape(-1, 1)
        width = values.size // rows.size
        ufunc.at(
            array.reshape(-1), (rows * width + np.arange(width)).reshape(-1), values.reshape(-1)
        )
    else:
        ufunc.at(array, where, values)


def _demand_slices(method: str, delta: Any) -> None:
    if not isinstance(delta, IndexedSlices):
        raise unexpected(method, "an IndexedSlices", delta)

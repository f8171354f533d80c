"""Updates of variables inside a graph: each makes a new value by operations.

The methods of `Variable` come here while a graph is being built; eagerly they work in place.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from wengert.core import late_operations as late
from wengert.core.shapes import without_leading_ones
from wengert.core.types import RawSite
from wengert.ops.declare import (
    IndexedSlices,
    Op,
    ShapeDtype,
    SymbolicTensor,
    Tensor,
    Value,
    Variable,
    apply,
    dtypes,
    get_state,
    invalid,
    operand,
    tf,
)
from wengert.ops.gather import densify
from wengert.ops.scatter import (
    DIV,
    MUL,
    tensor_scatter_nd_add,
    tensor_scatter_nd_max,
    tensor_scatter_nd_min,
    tensor_scatter_nd_sub,
    tensor_scatter_nd_update,
)
from wengert.ops.shape_checks import like, of_shape

# Marks where a variable gets a value, so that a replay of the graph sees reads after it.
ASSIGNED = Op(
    "assigned",
    "x",
    kernel=lambda x, variable: x,
    infer=lambda x, variable: x,
    lower=lambda x, variable: x,
    grad=None,
    effect=False,
    register=False,
    unchanged=lambda x, variable: True,
)


_MISFIT = (
    "the value's shape {given} does not fit shape {wanted} of variable NAME. Reshape the value"
)


def _rule(variable: Variable) -> str:
    """The sentence for a value of another shape."""
    # Not `name`: asking an alias for it tells that the function knows which variable it is.
    return _MISFIT.replace("NAME", repr(f"{variable._name}:0"))


def _write(variable: Variable, method: str, value: Value | float) -> None:
    from wengert.core.symbolic import symbolic

    state: Any = get_state()
    graph = state.graph
    x = of_shape(operand(value, variable.dtype), variable.shape._dims, method, _rule(variable))
    spec = graph.specs[graph.value_of(x)]
    site = state.site or _caller()
    if variable.dtype.np.num in dtypes.INEXACT:
        # Later reads count towards the variable, which must be an input for that.
        graph.read(variable)
    (new,) = graph.emit(
        ASSIGNED,
        (graph.value_of(x),),
        {"variable": variable},
        [ShapeDtype(spec.shape, spec.dtype)],
        site,
    )
    graph.write(variable, symbolic(graph, graph.specs[new], site, new))


def _caller() -> RawSite | None:
    from wengert.core.sites import caller

    return caller(1)


# What an update by row-sparse values is: it costs its rows and not the whole.
_BY_ROWS = {"assign_add": "scatter_add", "assign_sub": "scatter_sub"}


def update(variable: Variable, method: str, *given: Any) -> None:
    """Records one update of a variable in the graph being built."""
    if isinstance(given[0], IndexedSlices) and method in _BY_ROWS:
        method = _BY_ROWS[method]
    elif isinstance(given[0], IndexedSlices) and method == "assign":
        given = (densify(given[0]),)
    state: Any = get_state()
    now = state.graph.tensor(state.graph.read(variable)) if method != "assign" else None
    if now is not None and method in _BY_ROWS:
        given = (like(operand(given[0], variable.dtype), now, method, _rule(variable)),)
    _write(variable, method, _UPDATES[method](now, *given))


def _rows(change: Any) -> Any:
    """An update of whole rows, by an update at index tuples."""

    def scatter(now: SymbolicTensor, delta: IndexedSlices) -> Tensor:
        indices = operand(delta.indices)
        return change(now, tf.expand_dims(indices, -1), operand(delta.values, now.dtype))

    return scatter


def _batches(now: Any, delta: Any) -> Any:
    rows = operand(delta.indices)
    sizes = rows._array.shape
    grid = np.indices(sizes)[:-1] if all(type(d) is int for d in sizes) else None
    if grid is None:
        raise invalid("batch_scatter_update", "in a function the shape must be known", rows)
    parts = [operand(g.astype(rows.dtype.np)) for g in grid]
    return tensor_scatter_nd_update(
        now, tf.stack([*parts, rows], -1), operand(delta.values, now.dtype)
    )


def _slice(
    now: SymbolicTensor,
    index: int | slice | tuple[SymbolicTensor | slice, SymbolicTensor | int],
    value: SymbolicTensor | list[float],
    ufunc: Any,
) -> Tensor:
    """Writes a part: a mask of the part chooses between old and new."""
    from wengert.ops.slicing import depends_on_data, normalise
    from wengert.ops.strides import SLICE_GRAD

    old = now[index]
    new = operand(value, now.dtype)
    if new.shape.rank is not None and old.shape.rank is not None:
        own = new._array.shape
        cut = without_leading_ones(own, old.shape.rank)
        new = new if cut is own else tf.reshape(new, cut)
    if ufunc is np.add:
        new = old + new
    elif ufunc is np.subtract:
        new = old - new
    new = tf.broadcast_to(new, old._array.shape)
    if depends_on_data(index):
        return _at_positions(now, index, new)
    plain, shape = normalise(index), now._array.shape
    spread = apply(SLICE_GRAD, new, index=plain, shape=shape)
    touched = apply(SLICE_GRAD, tf.ones_like(old, dtypes.bool_), index=plain, shape=shape)
    return tf.where(touched, spread, now)


def _at_positions(now: SymbolicTensor, index: Any, new: Tensor) -> Tensor:
    """Writes a part that depends on data, by the numbers that its elements have in a row."""
    places = tf.reshape(tf.range(tf.size(now)), tf.shape(now))[index]
    flat = tensor_scatter_nd_update(
        tf.reshape(now, [-1]), tf.reshape(places, [-1, 1]), tf.reshape(new, [-1])
    )
    return tf.reshape(flat, tf.shape(now))


_UPDATES: dict[str, Any] = {
    "assign": lambda now, value: value,
    "assign_add": lambda now, delta: now + delta,
    "assign_sub": lambda now, delta: now - delta,
    "assign_slice": _slice,
    "batch_scatter_update": _batches,
    "scatter_nd_add": tensor_scatter_nd_add,
    "scatter_nd_sub": tensor_scatter_nd_sub,
    "scatter_nd_max": tensor_scatter_nd_max,
    "scatter_nd_min": tensor_scatter_nd_min,
    "scatter_nd_update": tensor_scatter_nd_update,
    "scatter_add": _rows(tensor_scatter_nd_add),
    "scatter_sub": _rows(tensor_scatter_nd_sub),
    "scatter_max": _rows(tensor_scatter_nd_max),
    "scatter_min": _rows(tensor_scatter_nd_min),
    "scatter_update": _rows(tensor_scatter_nd_update),
    "scatter_mul": _rows(functools.partial(apply, MUL)),
    "scatter_div": _rows(functools.partial(apply, DIV)),
}
late.UPDATE.fill(update)

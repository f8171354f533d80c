"""Some operators of a stack, by an index into its leading axes."""

from __future__ import annotations

from typing import Any

from wengert.core.convert import to_tensor
from wengert.core.errors import at_site
from wengert.linear_operators.base import LinearOperator
from wengert.linear_operators.batches import spread


def batch_slice(operator: LinearOperator, slices: Any) -> LinearOperator:
    """The operator whose tensors are those of a stack at an index."""
    index = slices if isinstance(slices, tuple) else (slices,)
    if Ellipsis not in [i for i in index if not hasattr(i, "shape")]:
        index = (*index, Ellipsis)
    batch = operator.batch_shape
    if not batch.is_fully_defined():
        words = "indexing needs leading axes of known sizes"
        raise at_site(NotImplementedError(f"{operator.name}[...]: {words}; got {batch}."))
    changed = dict(operator.parameters)
    for name, axes in operator._experimental_parameter_ndims_to_matrix_ndims.items():
        value = getattr(operator, name, None)
        if value is not None:
            changed[name] = _sliced(value, axes, index, batch.as_list())
    return type(operator)(**changed)


def _sliced(value: Any, axes: Any, index: tuple[Any, ...], batch: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_sliced(v, a, index, batch) for v, a in zip(value, axes, strict=True)]
    if isinstance(value, LinearOperator):
        own = value.batch_shape.as_list()
        if not own:
            return value
        if own != batch:
            words = f"its part {value.name} has other leading axes, {own}"
            raise at_site(NotImplementedError(f"LinearOperator[...]: {words}, than {batch}."))
        return value[index]
    return spread(to_tensor(value), batch, axes)[(*index, *[slice(None)] * axes)]

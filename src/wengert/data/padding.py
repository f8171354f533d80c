"""`padded_batch`: elements of unequal sizes, filled up to a common shape."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from wengert.core import nest
from wengert.core.apply import wrap
from wengert.core.convert import to_tensor
from wengert.core.errors import DataLossError, at_site, describe, exhausted, invalid
from wengert.core.shapes import TensorShape, as_shape, brief
from wengert.core.types import RawSite, Tensor, TensorSpec, Value
from wengert.data.batching import Batching
from wengert.data.plan import Plan
from wengert.data.structure import blank, columns, packer

_NAME = "padded_batch"


class PaddedBatch(Batching):
    """Batches whose tensors are padded at the end of each dimension."""

    kind = "_PaddedBatchDataset"

    def __init__(
        self,
        source: Plan,
        size: int,
        shapes: dict[str, list[int]] | list[Tensor | int | None] | TensorShape | None,
        values: Any,
        drop: bool,
    ) -> None:
        super().__init__(source, size, drop)
        self._shapes, self._values = shapes, values
        if source.spec_known:
            self._targets()

    def _targets(self) -> list[tuple[Any, np.ndarray]]:
        """For each leaf its padded shape (`None` sizes grow to the largest) and its filling."""
        spec = self.input.spec
        specs = nest.flatten(spec)
        shapes = [_open(s) for s in specs] if self._shapes is None else _up_to(spec, self._shapes)
        values = _spread(spec, self._values)
        return [
            (s, None) if not isinstance(s, TensorSpec) else (_target(s, a), _filling(s, v))
            for s, a, v in zip(specs, shapes, values, strict=True)
        ]  # type: ignore[return-value]  # a leaf that is no tensor is not padded

    def combiner(self) -> Callable[[list[Any]], Any]:
        targets = self._targets()
        return lambda elements: combine(elements, targets, self.site)

    def find_spec(self) -> TensorSpec:
        padded = self.input.spec
        if self._shapes is not None:
            flat = [
                TensorSpec(t, s.dtype) if isinstance(s, TensorSpec) else s
                for s, (t, _) in zip(nest.flatten(padded), self._targets(), strict=True)
            ]
            padded = nest.pack_sequence_as(padded, flat)
        return self.batched(padded)


def combine(
    elements: list[Tensor | dict[str, Tensor]], targets: list[Any], site: Any
) -> Tensor | dict[str, Tensor]:
    """One padded batch."""
    leaves = [
        _pad(values, shape, filling, site) if isinstance(values[0], Tensor) else None
        for values, (shape, filling) in zip(columns(elements), targets, strict=True)
    ]
    return packer(elements[0])(leaves)


def _pad(
    values: list[Tensor] | tuple[Tensor, ...],
    target: tuple[int | None, ...],
    filling: np.ndarray,
    site: RawSite,
) -> Tensor:
    arrays = [v._array for v in values]
    for a in arrays:
        if a.ndim != len(target):
            raise invalid(
                _NAME, f"the padded shape {brief(target)} has another rank than an element", a
            )
    sizes = [
        max(a.shape[axis] for a in arrays) if size is None else size
        for axis, size in enumerate(target)
    ]
    try:
        out = np.empty((len(arrays), *sizes), arrays[0].dtype)
    except MemoryError as error:
        raise exhausted(_NAME, error, site=site) from None
    out[...] = filling
    for row, a in zip(out, arrays, strict=True) if sizes else ():
        if any(have > room for have, room in zip(a.shape, sizes, strict=True)):
            raise invalid(
                _NAME,
                f"an element is larger than the padded shape {brief(tuple(sizes))}",
                a,
                help="Use None for sizes that should follow the largest element.",
                kind=DataLossError,
            )
        row[tuple(map(slice, a.shape))] = a
    if not sizes:
        out[:] = [a[()] for a in arrays]
    return wrap(out, site)


def _open(spec: TensorSpec) -> Any:
    """A shape of which every size follows the largest element."""
    if not isinstance(spec, TensorSpec):
        return None
    if spec.shape.rank is None:
        raise at_site(
            ValueError(f"{_NAME}: give `padded_shapes`; the rank of the elements is not known.")
        )
    return [None] * spec.shape.rank


def _target(spec: TensorSpec, shape: Any) -> tuple[int | None, ...]:
    """The padded shape of one leaf, checked against what is known of its own."""
    if isinstance(shape, Value):
        shape = shape.numpy()
    if not isinstance(shape, TensorShape) and shape is not None:
        shape = _sizes(shape)
    dims = as_shape(shape)
    own = spec.shape
    if dims is None:
        raise at_site(ValueError(f"{_NAME}: `padded_shapes` must have a rank; got {shape}."))
    fits = own.rank is None or (
        len(dims) == own.rank
        and all(d is None or o is None or o <= d for d, o in zip(dims, own, strict=True))
    )
    if not fits:
        raise at_site(
            ValueError(
                f"{_NAME}: the padded shape {TensorShape(dims)} does not hold elements of shape "
                f"{own}."
            )
        )
    return dims


def _sizes(shape: Any) -> list[Any]:
    """A list of sizes, in which -1 stands for `None`; a single size is one too."""
    single = hasattr(shape, "__index__") and not np.ndim(shape)
    try:
        if single and int(shape) >= 0:
            return [int(shape)]
        letters = isinstance(shape, str | bytes)
        given: Any = None if letters else shape
        return [None if d is None or int(d) == -1 else d for d in given]
    except (TypeError, ValueError):
        words = f"{_NAME}: `padded_shapes` must hold lists of sizes; got {describe(shape)}."
        raise at_site(ValueError(words)) from None


def _filling(spec: TensorSpec, value: Tensor | float | str | None) -> np.ndarray:
    if value is None:
        return blank((), spec.dtype.np)
    tensor = to_tensor(value)
    if tensor.ndim:
        raise at_site(ValueError(f"{_NAME}: `padding_values` must be scalars; got {tensor.shape}."))
    if tensor.dtype != spec.dtype:
        raise at_site(
            TypeError(
                f"{_NAME}: `padding_values` has dtype {tensor.dtype.name}, but the elements have "
                f"{spec.dtype.name}. Use tf.constant(value, tf.{spec.dtype.name})."
            )
        )
    return tensor._array


def _up_to(spec: Any, given: Any) -> list[Any]:
    """The argument for each leaf of a spec; it may itself be a list."""
    if isinstance(spec, Mapping):
        if not isinstance(given, Mapping) or set(spec) != set(given):
            kind = ValueError if isinstance(given, Mapping) else TypeError
            raise at_site(kind(f"{_NAME}: `padded_shapes` must have the keys {list(spec)}."))
        return [x for k in sorted(spec) for x in _up_to(spec[k], given[k])]
    if nest.is_nested(spec):
        if not isinstance(given, tuple) or len(given) != len(spec):
            raise at_site(
                TypeError(f"{_NAME}: the elements are tuples of {len(spec)}; got {given!r}.")
            )
        return [x for s, g in zip(spec, given, strict=True) for x in _up_to(s, g)]
    return [given]


def _spread(
    spec: dict[str, TensorSpec] | TensorSpec, given: Tensor | float | str | None
) -> list[Any]:
    """One value for all leaves, or one for each."""
    if given is None or not nest.is_nested(given):
        return [given] * len(nest.flatten(spec))
    return _up_to(spec, given)

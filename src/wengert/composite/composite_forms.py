"""Nests of tensors and composites as flat lists of tensors, by the spec of the nest."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from wengert.core import nest
from wengert.core.types import CompositeSpec, CompositeTensor, TensorSpec
from wengert.ops.declare import Tensor, at_site, wrap


class Form:
    """How elements of a spec are taken apart into tensors and put together again."""

    def __init__(self, step: str, spec: Any) -> None:
        self.spec = spec
        self.parts: list[TensorSpec] = []
        self.rests: list[Any] = []
        self.leaves = nest.flatten(spec)
        for one in self.leaves:
            if isinstance(one, CompositeSpec):
                rest, parts = one.__tf_flatten__()
            elif isinstance(one, TensorSpec):
                rest, parts = None, [one]
            elif one is None or getattr(one, "value_type", None) is type(None):
                rest, parts = None, []
            else:
                raise at_site(
                    TypeError(
                        f"{step}: what goes in and out of functions must be tensors, ragged or "
                        f"sparse tensors; got {one!r}. Use it outside the function."
                    )
                )
            self.parts.extend(parts)
            self.rests.append((rest, len(parts)))

    def apart(self, element: Any) -> list[Tensor]:
        """The tensors of an element."""
        results: list[Any] = []
        for spec, one in zip(self.leaves, nest.flatten(element), strict=True):
            if isinstance(one, CompositeTensor):
                given = spec._fitted(one) if isinstance(spec, CompositeSpec) else one
                results.extend(given.__tf_flatten__()[1])
            elif one is not None:
                results.append(one)
        return results

    def together(self, tensors: list[Any]) -> Any:
        """The element of these tensors."""
        left = iter(tensors)
        made = []
        for rest, count in self.rests:
            parts = list(itertools.islice(left, count))
            if rest is not None:
                made.append(CompositeTensor.__tf_unflatten__(rest, parts))
            else:
                made.append(parts[0] if parts else None)
        return nest.pack_sequence_as(self.spec, made)

    def nothing(self) -> list[Tensor]:
        """Tensors that stand where there is no element."""
        return [
            wrap(np.zeros([d or 0 for d in s.shape._dims or ()], s.dtype.np)) for s in self.parts
        ]

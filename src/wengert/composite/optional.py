"""`tf.experimental.Optional`: a value that may be missing, like the next element of a dataset."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.composite.composite_forms import Form
from wengert.composite.values import tensor_or_composite, type_spec_from_value
from wengert.core import nest
from wengert.core.composite import StaticSpec
from wengert.core.types import TensorSpec
from wengert.ops.declare import SymbolicTensor, Tensor, is_symbolic, require, tf, wrap


class Optional:
    """A nest of tensors, or nothing; make one with `from_value` or `empty`.

    >>> int(tf.experimental.Optional.from_value(3).get_value())
    3
    """

    def __init__(
        self,
        element_spec: TensorSpec | None,
        value: Any,
        full: SymbolicTensor | bool,
        find_spec: Callable[[], Any] | None = None,
    ) -> None:
        if find_spec is None:
            self._element_spec = element_spec
        self._find_spec = find_spec
        self._value = value
        self._full = full

    def __getattr__(self, name: str) -> Any:
        """The spec, where it is worked out only when somebody asks."""
        if name != "_element_spec":
            raise AttributeError(f"Optional has no attribute {name!r}.")
        assert self._find_spec is not None, "an optional knows its spec, or how to find it"
        self._element_spec = self._find_spec()
        return self._element_spec

    @staticmethod
    def from_value(value: Any) -> Optional:
        """An optional that holds a tensor, a composite, or a nest of them."""
        held = dict(value) if _is_plain(value) else nest.map_structure(tensor_or_composite, value)
        return Optional(None, held, True, lambda: nest.map_structure(type_spec_from_value, held))

    @staticmethod
    def empty(element_spec: TensorSpec | None) -> Optional:
        """An optional without a value; `element_spec` says what it could hold."""
        return Optional(element_spec, None, False)

    def has_value(self, name: str | None = None) -> Tensor:
        """Whether there is a value, as a scalar tensor."""
        return wrap(np.array(self._full)) if isinstance(self._full, bool) else self._full

    def get_value(self, name: str | None = None) -> Any:
        """The value; an error where there is none."""
        if is_symbolic(self._full):
            tf.Assert(self._full, ["get_value: this optional has no value."])
            return self._value
        require(
            self._full, "get_value", "this optional has no value", help="Ask has_value() first."
        )
        return self._value

    @property
    def element_spec(self) -> Any:
        """The type of the value: a nest of specs."""
        return self._element_spec

    @property
    def _type_spec(self) -> OptionalSpec:
        return OptionalSpec(self._element_spec)

    # How functions take it apart and put it together again.

    def __tf_flatten__(self) -> tuple[Any, list[Any]]:
        form = Form("Optional", self.element_spec)
        there = self._full is not False
        parts = form.apart(self._value) if there else form.nothing()
        return self._type_spec, [self.has_value(), *parts]

    @staticmethod
    def __tf_unflatten__(spec: OptionalSpec, parts: list[Tensor]) -> Optional:
        form = Form("Optional", spec.element_spec)
        full = parts[0] if is_symbolic(parts[0]) else bool(parts[0])
        return Optional(spec.element_spec, form.together(parts[1:]), full)


def _is_plain(value: Any) -> bool:
    """Whether a value is a dict of tensors, as steps of training return it."""
    return type(value) is dict and all(type(v) is Tensor for v in value.values())


class OptionalSpec(StaticSpec):
    """The type of an optional: that of its value."""

    __slots__ = ("_element_spec",)

    def __init__(self, element_spec: TensorSpec | None) -> None:
        self._element_spec = element_spec

    @property
    def element_spec(self) -> TensorSpec | None:
        return self._element_spec

    @property
    def value_type(self) -> type:
        return Optional

    def _serialize(self) -> tuple[TensorSpec | None, ...]:
        return (self._element_spec,)

    def __repr__(self) -> str:
        return f"OptionalSpec({self._element_spec!r},)"

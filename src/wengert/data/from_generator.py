"""`from_generator`: elements that a Python generator of the user's yields, checked one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from wengert.core import context, nest, sites
from wengert.core.apply import wrap
from wengert.core.convert import to_array
from wengert.core.dtypes import DType, string
from wengert.core.errors import (
    InvalidArgumentError,
    InvalidTypeError,
    OpError,
    OutOfRangeError,
    ResourceExhaustedError,
    UnimplementedError,
    UnknownError,
    at_site,
    describe,
    invalid,
)
from wengert.core.failures import failures
from wengert.core.observers import OBSERVERS, observed
from wengert.core.sites import raised_at
from wengert.core.types import RawSite, Tensor, TensorSpec, TypeSpec
from wengert.data.plan import UNKNOWN_CARDINALITY, Plan, Run
from wengert.data.structure import NoneTensorSpec, example, normalize, rebuild, show_spec

_NAME = "from_generator"
# As TensorFlow names what Python code raises inside a dataset.
_KINDS: list[tuple[type[Exception], type[OpError]]] = [
    (OpError, OpError),
    (TypeError, InvalidTypeError),
    (ValueError, InvalidArgumentError),
    (MemoryError, ResourceExhaustedError),
    (NotImplementedError, UnimplementedError),
]


class Generator(Plan):
    """What a generator function yields, started anew for each iteration."""

    kind = "_FlatMapDataset"

    def __init__(self, function: Callable[..., Any], args: tuple[Tensor, ...], spec: Any) -> None:
        super().__init__(spec=spec)
        self._function, self._args = function, args
        self._kept: _Items | None = None

    def start(self, run: Run) -> Iterator[Any]:
        kept, self._kept = self._kept, None
        return kept or self._begin()

    def _begin(self) -> _Items:
        return _Items(self, self._function, self._args)

    def sample(self) -> Tensor:
        """The first element, kept for the next iteration: a generator may not be repeatable."""
        kept = self._kept = self._kept or self._begin()
        try:
            return kept.peek()
        except StopIteration:
            return example(self.spec)

    def cardinality(self) -> int:
        return UNKNOWN_CARDINALITY


class _Items(Iterator[Any]):
    """One run of the user's generator."""

    def __init__(self, plan: Generator, function: Any, args: tuple[Tensor, ...]) -> None:
        self._plan, self._function = plan, function
        self._begin = lambda: iter(function(*[a.numpy() for a in args]))
        self._spec, self._site = plan.spec, plan.site
        self._items: Iterator[Any] | None = None
        self._ahead: list[Any] = []

    def peek(self) -> Tensor:
        if not self._ahead:
            self._ahead.append(next(self))
        return self._ahead[0]

    def __next__(self) -> Any:
        if self._ahead:
            return self._ahead.pop()
        if context.get_state() is not None:
            return context.run_under(context.detached(), self._observed)
        return self._observed()

    def _observed(self) -> Any:
        if not OBSERVERS:
            return self._pull()
        return observed("python", lambda *_: self._pull(), self._plan, self._function, ())

    def _pull(self) -> Any:
        if self._items is None:
            # A generator that fails to start is not started again.
            self._items, begin = iter(()), self._begin
            self._items = self._guarded(begin)
        value = self._guarded(lambda: next(self._items))  # type: ignore[arg-type]  # set above
        return convert_like(self._spec, value, self._site)

    def _guarded(self, action: Callable[[], Any]) -> Any:
        try:
            return action()
        except StopIteration:
            raise
        except failures() as error:
            raise _translated(error, self._site) from error


def _translated(error: Exception, site: RawSite | None) -> OpError:
    """A user's exception as TensorFlow's, with the user's line and the dataset's."""
    kind = next((ours for theirs, ours in _KINDS if isinstance(error, theirs)), UnknownError)
    if kind is OpError:
        kind = type(error) if not isinstance(error, OutOfRangeError) else InvalidArgumentError
    text = f"{_NAME}: the generator raised {type(error).__name__}: {error}"
    raised = at_site(kind(None, None, text), raised_at(error))  # type: ignore[arg-type]
    raised.add_note(f"  in the generator of {_NAME}, made at {sites.locate(site)}")
    return raised


def convert_like(spec: Any, value: Any, site: RawSite | None = None) -> Any:
    """A yielded value as an element of the given spec."""
    if isinstance(spec, TensorSpec):
        return _tensor(spec, value, site)
    if isinstance(spec, NoneTensorSpec) and value is None:
        return None
    if isinstance(spec, Mapping) and isinstance(value, Mapping) and set(spec) == set(value):
        pairs = [(k, convert_like(one, value[k], site)) for k, one in spec.items()]
        return type(spec)(pairs)  # type: ignore[call-arg]  # mappings are made from pairs
    if isinstance(spec, tuple) and isinstance(value, tuple) and len(spec) == len(value):
        members = [convert_like(one, v, site) for one, v in zip(spec, value, strict=True)]
        kind: Any = type(spec)
        return kind(*members) if hasattr(kind, "_fields") else tuple(members)
    if isinstance(spec, TypeSpec):
        result = normalize(value)
        if spec.is_compatible_with(getattr(result, "_type_spec", result)):  # type: ignore[attr-defined]
            return result
    raise _wrong(f"the element must have the structure {show_spec(spec)}", value, site)


def _tensor(
    spec: TensorSpec, value: float | list[float | str] | np.ndarray | str | None, site: Any
) -> Tensor:
    wanted = spec.dtype
    if type(value) is Tensor and value.dtype is wanted:
        array = value._array
    else:
        array = _array(spec, value, site)
    if not spec.shape.is_compatible_with(array.shape):
        raise _wrong(f"an element of shape {spec.shape} was expected", array, site)
    return wrap(array, site)


def _array(
    spec: TensorSpec, value: float | list[float | str] | np.ndarray | str | None, site: RawSite
) -> np.ndarray:
    try:
        if spec.dtype is string:
            return to_array(value, string)
        if value is None:
            raise TypeError("None is not a number")
        return np.array(value, spec.dtype.np)
    except (TypeError, ValueError, OverflowError):
        raise _wrong(f"the element must convert to {spec.dtype.name}", value, site) from None


def _wrong(rule: str, value: Any, site: Any) -> OpError:
    error = invalid(_NAME, f"{rule}, but the generator yielded {describe(value)}")
    error.add_note(f"  in the generator of {_NAME}, made at {sites.locate(site)}")
    return error


def signature(
    output_signature: Any, output_types: dict[str, DType] | DType | None, output_shapes: Any
) -> Any:
    """The spec of the elements from either way of giving it."""
    if output_signature is None:
        if output_types is None:
            raise at_site(TypeError(f"{_NAME}: give `output_signature`."))
        if output_shapes is None:
            output_shapes = nest.map_structure(lambda _: None, output_types)
        return _from_types(output_types, output_shapes)
    if output_types is not None or output_shapes is not None:
        which = "output_shapes" if output_types is None else "output_types"
        raise at_site(TypeError(f"{_NAME}: give `output_signature` or `{which}`, but not both."))
    return _checked(output_signature)


def _checked(spec: Any) -> Any:
    if nest.is_nested(spec) and not isinstance(spec, list):
        return rebuild(spec, _checked)
    if not isinstance(spec, TypeSpec):
        raise at_site(
            TypeError(
                f"{_NAME}: `output_signature` must be made of tf.TensorSpec and its kin, in tuples "
                f"and dicts; got {describe(spec)}."
            )
        )
    return spec


def _from_types(types: dict[str, DType] | DType, shapes: Any) -> Any:
    """Specs from dtypes, with a shape in the place of each."""
    if isinstance(types, Mapping):
        pairs = [(k, _from_types(t, shapes[k])) for k, t in types.items()]
        return type(types)(pairs)  # type: ignore[call-arg]  # mappings are made from pairs
    if isinstance(types, tuple | list):
        members = [_from_types(t, s) for t, s in zip(types, shapes, strict=True)]
        kind: Any = type(types)
        return kind(*members) if hasattr(kind, "_fields") else tuple(members)
    return TensorSpec(shapes, types)

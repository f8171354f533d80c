"""`tf.experimental.ExtensionType`: classes of one's own that are made of tensors.

The annotations of a class are its fields. Its values cannot change, pass through functions,
control flow, datasets and nests like tensors, and have a type of their own, `Class.Spec`. What
operations do with them is registered in `composite.api_dispatch`.
"""

from __future__ import annotations

import inspect
import sys
import typing
from collections.abc import Iterator
from typing import Any, NoReturn

import numpy as np

from wengert.composite import extension_fields as fields
from wengert.composite.extension_fields import MISSING, Field
from wengert.core.apply import wrap
from wengert.core.composite import CompositeSpec, CompositeTensor
from wengert.core.composite_operands import CompositeOperand
from wengert.core.errors import at_site
from wengert.core.types import TensorShape, TensorSpec, TypeSpec
from wengert.ops import public as tf

_OPEN = "_self_open"  # the attribute of a value whose constructor runs
_KEPT = ("__validate__", "__name__", "__batch_encoder__")


class ExtensionTypeMetaclass(type):
    """Makes fields of annotations, and the class of the specs."""

    def __init__(cls, name: str, bases: tuple[type, ...], members: dict[str, Any]) -> None:
        super().__init__(name, bases, members)
        if not any(isinstance(b, ExtensionTypeMetaclass) for b in bases):
            return
        own = _annotations(cls)
        for key, value in members.items():
            plain = key.startswith("_") or key == "Spec" or callable(value)
            described = isinstance(value, property | staticmethod | classmethod)
            if not (plain or described or key in own):
                raise at_site(
                    ValueError(
                        f"{name}: field `{key}` is missing a type annotation. Write `{key}: "
                        f"{type(value).__name__} = ...`."
                    )
                )
        found = {f.name: f for base in reversed(cls.__mro__[1:]) for f in _own_fields(base)}
        for key, kind in own.items():
            if not isinstance(kind, str):
                _checked(name, key, kind)
            default = members.get(key, MISSING)
            if default is not MISSING and not isinstance(kind, str):
                default = _in_words(fields.fitted, default, kind, f"default value for {key}")
            found[key] = Field(key, kind, default)
            setattr(cls, key, _reader(key))
        cls._self_own_fields = tuple(found[k] for k in own)
        cls._self_fields = tuple(found.values())
        cls._self_resolved = not any(isinstance(f.kind, str) for f in found.values())
        if not cls._self_resolved:
            frame = sys._getframe(1)  # of the class statement
            cls._self_place = {**frame.f_globals, **frame.f_locals}
        setattr(cls, "Spec", _spec_class(cls, members.get("Spec")))  # noqa: B010  # no annotation
        cls.__signature__ = _signature(cls._self_fields)

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        """Makes a value: runs the constructor, fits the fields to their types, validates."""
        self: Any = object.__new__(cls)
        object.__setattr__(self, _OPEN, True)
        self.__init__(*args, **kwargs)
        for field in fields_of(cls):
            value = self.__dict__.get(field.name, field.default)
            if value is MISSING:
                raise at_site(
                    TypeError(f"{cls.__name__}: the constructor left out `{field.name}`.")
                )
            self.__dict__[field.name] = _in_words(fields.fitted, value, field.kind, field.name)
        object.__delattr__(self, _OPEN)
        self.__validate__()
        return self


def _reader(name: str) -> property:
    """What reads a field, also one that is named like a property of the base."""

    def read(self: Any) -> Any:
        try:
            return self.__dict__[name]
        except KeyError:
            raise AttributeError(f"{type(self).__name__}: `{name}` is not set yet.") from None

    return property(read)


def _in_words(function: Any, *args: Any) -> Any:
    """A call whose `TypeError` names the line of the program."""
    try:
        return function(*args)
    except TypeError as error:
        raise at_site(TypeError(str(error))) from error.__cause__


def _annotations(cls: type) -> dict[str, Any]:
    return dict(inspect.get_annotations(cls))


def _own_fields(base: type) -> tuple[Field, ...]:
    return base.__dict__.get("_self_own_fields", ())


def _checked(owner: str, key: str, kind: Any) -> None:
    try:
        fields.check(kind)
    except TypeError as error:
        raise at_site(TypeError(f"{owner}: in field {key!r}: {error}.")) from None


def _signature(members: tuple[Field, ...]) -> inspect.Signature:
    either = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters, optional = [], False
    for f in members:
        optional = optional or f.default is not MISSING
        default = inspect.Parameter.empty if f.default is MISSING else f.default
        # A field without default behind one with a default can only be given by its name.
        late = optional and f.default is MISSING
        kind = inspect.Parameter.KEYWORD_ONLY if late else either
        parameters.append(inspect.Parameter(f.name, kind, default=default))
    parameters.sort(key=lambda p: p.kind)
    return inspect.Signature(parameters)


def fields_of(cls: Any) -> tuple[Field, ...]:
    """The fields of a class; annotations that are strings are read at the first use."""
    if not cls._self_resolved:
        place = {**cls._self_place, cls.__name__: cls}
        cls._self_fields = tuple(_resolved(cls, field, place) for field in cls._self_fields)
        cls._self_resolved, cls._self_place = True, None
    return cls._self_fields


def _resolved(cls: type, field: Field, place: dict[str, Any]) -> Field:
    """A field whose annotation is a type, found where the class statement stands."""
    if not isinstance(field.kind, str):
        return field
    holder = type("_", (), {"__annotations__": {field.name: field.kind}})
    try:
        kind = typing.get_type_hints(holder, place)[field.name]
    except NameError as error:
        raise at_site(TypeError(f"{cls.__name__}: in field {field.name!r}: {error}.")) from None
    _checked(cls.__name__, field.name, kind)
    return field._replace(kind=kind)


class ExtensionType(CompositeOperand, metaclass=ExtensionTypeMetaclass):
    """The base of classes that are made of tensors.

    >>> class Masked(tf.experimental.ExtensionType):
    ...     values: tf.Tensor
    ...     mask: tf.Tensor
    >>> x = Masked([1.0, 2.0], [True, False])
    >>> tf.function(lambda m: tf.where(m.mask, m.values, 0.0))(x).numpy().tolist()
    [1.0, 0.0]
    """

    _spec_base: Any = None
    _self_fields: tuple[Field, ...] = ()
    _self_own_fields: tuple[Field, ...] = ()
    _self_resolved = True
    _self_place: Any = None  # the names that annotations may mean

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        cls = type(self)
        try:
            bound = _signature(fields_of(cls)).bind(*args, **kwargs)
        except TypeError as error:
            words = str(error).rstrip(".")
            raise at_site(
                TypeError(words if words.startswith(cls.__name__) else f"{cls.__name__}: {words}.")
            ) from None
        bound.apply_defaults()
        vars(self).update(bound.arguments)

    def __validate__(self) -> None:
        """Checks the fields; a class of one's own overrides it."""

    def __setattr__(self, name: str, value: Any) -> None:
        if _OPEN in self.__dict__:
            if name not in {f.name for f in self._self_fields}:
                _refuse(type(self), f"there is no field `{name}`. Annotate it in the class")
            vars(self)[name] = value
            return
        _refuse(type(self), f"`{name}` cannot change outside the constructor. Make a new value")

    def __delattr__(self, name: str) -> None:
        if _OPEN not in self.__dict__:
            _refuse(type(self), f"`{name}` cannot be removed. Make a new value")
        del vars(self)[name]

    def __repr__(self) -> str:
        shown = (f"{f.name}={self.__dict__.get(f.name)!r}" for f in self._self_fields)
        return f"{type(self).__qualname__}({', '.join(shown)})"

    __hash__: Any = None  # tensors have none

    def __eq__(self, other: object) -> Any:
        if type(other) is not type(self):
            return False
        mine, theirs = as_dict(self), as_dict(other)
        result: Any = wrap(np.array(True))
        for name, value in mine.items():
            if not _same_frame(value, theirs[name]):
                return False
            pairs = zip(fields.leaves(value), fields.leaves(theirs[name]), strict=True)
            for a, b in pairs:
                same = a == b
                if isinstance(same, bool):
                    if not same:
                        return False
                    continue
                result = tf.logical_and(result, tf.reduce_all(same))
        return result

    def __ne__(self, other: object) -> Any:
        result = self == other
        return not result if isinstance(result, bool) else tf.logical_not(result)

    @property
    def _type_spec(self) -> Any:
        known = self.__dict__.get("_self_spec")
        if known is None:
            kind: Any = type(self)
            known = vars(self)["_self_spec"] = kind.Spec.from_value(self)
        return known

    @property
    def dtype(self) -> Any:
        """That of its first tensor, so that operations come to what is registered for them."""
        leaves = [x for x in _parts(self) if not isinstance(x, TypeSpec)]
        if not leaves:
            raise self.not_dense()
        return leaves[0].dtype

    def __getattr__(self, name: str) -> Any:
        if name in (
            "dtype",
            "ndim",
            "shape",
        ):  # what functions ask of a tensor; they fall back on what is registered
            raise self.not_dense()
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def _as_text(self, summarize: int) -> str:
        return repr(self)

    def _remedy(self) -> str:
        return "Use its fields, or register what operations do with it (tf.experimental.dispatch_for_api)."


def _refuse(kind: type, words: str) -> NoReturn:
    raise at_site(AttributeError(f"{kind.__name__}: {words}."))


def _same_frame(a: Any, b: Any) -> bool:
    """Whether two fields agree but for the numbers in their tensors."""
    mine, theirs = fields.leaves(a), fields.leaves(b)
    if len(mine) != len(theirs):
        return False
    blank = [None] * len(mine)
    if fields.replaced(a, iter(blank)) != fields.replaced(b, iter(blank)):
        return False
    for x, y in zip(mine, theirs, strict=True):
        one: Any = fields.spec_of(x)
        other: Any = fields.spec_of(y)
        if type(one) is not type(other):
            return False
        if isinstance(one, TensorSpec) and (
            one.dtype != other.dtype or not one.shape.is_compatible_with(other.shape)
        ):
            return False
    return True


def as_dict(value: ExtensionType) -> dict[str, Any]:
    """The fields of a value by name."""
    return {f.name: value.__dict__[f.name] for f in type(value)._self_fields}


class ExtensionTypeSpec(CompositeSpec):
    """The type of the values of a class: its fields, with specs in the place of tensors."""

    _kind: Any = None

    @property
    def value_type(self) -> Any:
        """The class of the values."""
        return self._kind

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        cls = self.value_type
        bound = _signature(fields_of(cls)).bind(*args, **kwargs)
        bound.apply_defaults()
        for field in fields_of(cls):
            value = bound.arguments[field.name]
            fit = _in_words(fields.fitted, value, field.kind, field.name, True)
            parts = iter([fields.spec_of(x) for x in fields.leaves(fit)])
            self.__dict__[field.name] = fields.replaced(fit, parts)

    @classmethod
    def from_value(cls, value: Any) -> Any:
        """The type of a value."""
        return _spec_like(cls, as_dict(value), [fields.spec_of(x) for x in _parts(value)])

    def __setattr__(self, name: str, value: Any) -> None:
        _refuse(type(self), f"`{name}` cannot change. Make a new spec")

    def _members(self) -> dict[str, Any]:
        return {f.name: self.__dict__[f.name] for f in self.value_type._self_fields}

    def _leaf_specs(self) -> list[TypeSpec]:
        return [x for v in self._members().values() for x in fields.leaves(v)]

    @property
    def _component_specs(self) -> Any:
        return self._leaf_specs()

    def _to_components(self, value: Any) -> Any:
        return _parts(value)

    def _from_components(self, components: Any) -> Any:
        cls: Any = self.value_type
        value = cls.__new__(cls)
        new = iter(components)
        members = {k: fields.replaced(v, new) for k, v in self._members().items()}
        value.__dict__.update(members)
        return value

    def _serialize(self) -> tuple[Any, ...]:
        specs = self._leaf_specs()
        blank: Iterator[Any] = iter([None] * len(specs))
        frame = tuple((k, fields.replaced(v, blank)) for k, v in self._members().items())
        return (frame, *specs)

    def most_specific_common_supertype(self, others: list[CompositeSpec]) -> Any:
        joined: list[Any] = self._leaf_specs()
        for other in others:
            if type(other) is not type(self) or other._serialize()[0] != self._serialize()[0]:
                return None
            try:
                pairs = zip(joined, other._serialize()[1:], strict=True)
                joined = [a.most_specific_compatible_type(b) for a, b in pairs]
            except (TypeError, ValueError):
                return None
        return _spec_like(type(self), self._members(), joined)

    def __repr__(self) -> str:
        shown = ", ".join(f"{k}={v!r}" for k, v in self._members().items())
        return f"{self.value_type.__qualname__}.Spec({shown})"

    def __reduce__(self) -> Any:
        return _made_again, (self.value_type, self._members())


def _made_again(cls: Any, members: dict[str, Any]) -> Any:
    return cls.Spec(**members)


def _spec_like(kind: Any, members: dict[str, Any], parts: list[Any]) -> Any:
    result, new = object.__new__(kind), iter(parts)
    result.__dict__.update({k: fields.replaced(v, new) for k, v in members.items()})
    return result


def _parts(value: Any) -> list[Any]:
    return [x for v in as_dict(value).values() for x in fields.leaves(v)]


def _spec_class(cls: Any, given: Any) -> type:
    """The class of the specs of a class, with what its own class `Spec` adds."""
    inherited = [b.Spec for b in cls.__mro__[1:] if "Spec" in vars(b)][:1] or [cls._spec_base]
    bases = (given, *inherited) if isinstance(given, type) else tuple(inherited)
    names = {"_kind": cls, "__module__": cls.__module__, "__hash__": CompositeSpec.__hash__}
    return type("Spec", bases, {**names, "__qualname__": f"{cls.__qualname__}.Spec"})


class ExtensionTypeBatchEncoder:
    """How batches of an extension type are made; values are batched field by field.

    A class of one's own says in `batch` and `unbatch` what the type of a batch is and of a row, and
    in `encode`, `decode` and `encoding_specs` what is put together.
    """

    def batch(self, spec: Any, batch_size: int | None) -> Any:
        """The type of a batch of values of a type."""
        parts = [_batched(s, batch_size) for s in spec._leaf_specs()]
        return _spec_like(type(spec), spec._members(), parts)

    def unbatch(self, spec: Any) -> Any:
        """The type of a row of values of a type."""
        return _spec_like(type(spec), spec._members(), [_row_spec(s) for s in spec._leaf_specs()])

    def encode(self, spec: Any, value: Any, minimum_rank: int = 0) -> list[Any]:
        """The tensors and composites of a value that are put together or cut apart."""
        return _parts(value)

    def decode(self, spec: Any, encoded_value: Any) -> Any:
        """A value of a type, of what `encode` gave."""
        return spec._from_components(encoded_value)

    def encoding_specs(self, spec: Any) -> list[Any]:
        """The types of what `encode` gives."""
        return spec._leaf_specs()


def _batched(spec: Any, size: int | None) -> Any:
    if isinstance(spec, TensorSpec):
        return TensorSpec(TensorShape([size]).concatenate(spec.shape), spec.dtype)
    return spec._batch(size)


def _row_spec(spec: Any) -> Any:
    if isinstance(spec, TensorSpec):
        return TensorSpec(spec.shape[1:], spec.dtype)
    return spec._unbatch()


class BatchableExtensionTypeSpec(ExtensionTypeSpec):
    """The type of values that can be put together into batches."""

    @property
    def _encoder(self) -> Any:
        return self.value_type.__batch_encoder__

    def _batch(self, batch_size: int | None) -> Any:
        return self._encoder.batch(self, batch_size)

    def _unbatch(self) -> Any:
        return self._encoder.unbatch(self)

    def _batch_values(self, values: list[Any], specs: Any = None) -> Any:
        """A value whose rows are the given ones."""
        encoded = [self._encoder.encode(v._type_spec, v) for v in values]
        columns = zip(*encoded, strict=True)
        stacked = [_stacked(list(column)) for column in columns]
        return self._encoder.decode(self._batch(len(values)), stacked)

    def _unbatch_value(self, value: Any) -> Iterator[Any]:
        """The rows of a value."""
        parts = self._encoder.encode(self, value, 1)
        row = self._unbatch()
        columns = [_rows(p) for p in parts]
        return (self._encoder.decode(row, list(one)) for one in zip(*columns, strict=True))

    def _row(self, value: Any, index: Any) -> Any:
        """The row at an index, a number or a tensor."""
        parts = self._encoder.encode(self, value, 1)
        return self._encoder.decode(self._unbatch(), [p[index] for p in parts])


def _stacked(column: list[Any]) -> Any:
    if isinstance(column[0], CompositeTensor):
        kind: Any = column[0]._type_spec
        return kind._batch_values(column)
    return tf.stack(column)


def _rows(part: Any) -> Any:
    if isinstance(part, CompositeTensor):
        kind: Any = part._type_spec
        return kind._unbatch_value(part)
    return tf.unstack(part)


ExtensionType._spec_base = ExtensionTypeSpec


class BatchableExtensionType(ExtensionType):
    """An extension type whose values datasets and `tf.map_fn` batch and cut into rows.

    >>> class Point(tf.experimental.BatchableExtensionType):
    ...     x: tf.Tensor
    >>> points = tf.data.Dataset.range(4).map(lambda i: Point(i)).batch(2)
    >>> [p.x.numpy().tolist() for p in points]
    [[0, 1], [2, 3]]
    """

    __batch_encoder__ = ExtensionTypeBatchEncoder()
    _spec_base = BatchableExtensionTypeSpec

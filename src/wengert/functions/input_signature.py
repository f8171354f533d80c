"""Calls by `input_signature`: arguments are made to fit what was said of them, or refused in words.

Tensors of dtypes and shapes that are known to fit pass without a second look. What signatures are
made from arguments where none was given is the business of `signature`.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from wengert.core import nest
from wengert.core.convert import operand
from wengert.core.errors import at_site, describe, require
from wengert.core.sites import caller
from wengert.core.tensorflow_values import adopted, is_foreign
from wengert.core.types import CompositeSpec, Tensor, TensorSpec, Variable
from wengert.functions.function_options import Options
from wengert.functions.signature import encode, rebuild

if TYPE_CHECKING:
    from wengert.functions.function import Function
    from wengert.functions.trace import Trace


def checked_signature(signature: Any) -> Any:
    """What was given as `input_signature`, as a tuple; an error for what holds no specs."""
    if signature is None:
        return None
    require(
        isinstance(signature, list | tuple),
        "function",
        "`input_signature` must be a list or tuple",
        signature,
        kind=TypeError,
    )
    for spec in nest.flatten(list(signature)):
        require(
            not isinstance(spec, bool | int | float | complex | str | bytes),
            "function",
            "`input_signature` holds TensorSpecs, one for each argument",
            spec,
            help="Write tf.TensorSpec(shape, dtype).",
            kind=TypeError,
        )
    return tuple(nest.map_structure(lambda s: adopted(s) if is_foreign(type(s)) else s, signature))


def call_by_signature(function: Function, args: Any, kwargs: Any) -> Any:
    """Calls a `Function` that has an `input_signature`."""
    site = caller(1)
    options, store = function._options, function._store
    form = _form(options, function._instance, args, kwargs)
    cached = store.fits.get(form)
    if cached is not None and cached.belongs_here():
        return cached.call(list(args), site)
    pairs, named = _fit(options, *options.bound(function._instance, args, kwargs))
    leaves: list[Any] = []
    key = (
        "signature",
        *[encode(v, leaves) for _, v in pairs if not _is_tensor_nest(v)],
    )
    leaves.clear()
    for v in (*[v for _, v in pairs], *named.values()):
        encode(v, leaves)
    cached = store.traces.get(key)
    if cached is None or not cached.belongs_here():
        cached = _traced(function, key, pairs, named, site)
    if form is not None and all(map(operator.is_, leaves, args)):
        store.note_fit(form, cached)
    return cached.call(leaves, site)


def find_by_signature(
    function: Function, args: Any, kwargs: Any, site: Any
) -> tuple[Any, Any, Any]:
    """The trace of such a `Function`, and the arguments that it was asked for."""
    options, instance = function._options, function._instance
    if args or kwargs:
        pairs, named = _fit(options, *options.bound(instance, args, kwargs))
    else:
        pairs, named = _specs_as_arguments(options, instance), {}
    return _traced(function, ("signature",), pairs, named, site), pairs, named


def _traced(function: Function, key: Any, pairs: Any, named: Any, site: Any) -> Trace:
    flat: list[Any] = []
    rebuild(function._options.input_signature, lambda spec, _: flat.append(spec))
    specs = iter(flat)
    return function._trace(key, pairs, named, lambda x: next(specs), site)


def _specs_as_arguments(options: Options, instance: Any) -> list[tuple[str, Any]]:
    names = [*options.names(instance)]
    specs = list(options.input_signature)
    while len(names) < len(specs):
        names.append(f"args[{len(names)}]")
    rest = options.signature.parameters
    defaults = [(name, rest[name].default) for name in names[len(specs) :]]
    return [*zip(names, specs, strict=False), *defaults]


def _form(options: Options, instance: Any, args: Any, kwargs: Any) -> Any:
    """What decides whether plain tensors fit; `None` for arguments of any other kind."""
    given = len(args)
    if kwargs or given != len(options.input_signature) or given != len(options.names(instance)):
        return None
    form = []
    for x in args:
        if type(x) is not Tensor:
            return None
        array = x._array
        form.append((array.dtype.num, array.shape))
    return tuple(form) if options.simple else None


def _fit(options: Options, pairs: Any, named: Any) -> tuple[Any, Any]:
    """The arguments as tensors that fit the signature, or an error that says which does not."""
    signature = options.input_signature
    given = [*pairs, *named.items()]
    if len(given) != len(signature):
        given = [p for p in given if not options.is_default(*p)][: len(given)]
    extra = given[len(signature) :]
    require(
        len(given) >= len(signature) and all(options.is_default(*p) for p in extra),
        options.name,
        lambda: f"`input_signature` has {len(signature)} entries; got {len(given)} arguments",
        kind=TypeError,
    )
    fitted = {
        name: _fitted(options.name, name, value, spec)
        for (name, value), spec in zip(given, signature, strict=False)
    } | dict(extra)
    return (
        [(n, fitted.get(n, v)) for n, v in pairs],
        {n: fitted.get(n, v) for n, v in named.items()},
    )


def _is_tensor_nest(value: Any) -> bool:
    leaves: list[Any] = []
    encode(value, leaves)
    return bool(leaves)


def _fitted(name: str, path: str, value: Any, spec: Any) -> Any:
    """An argument converted to what the signature says of it."""
    if isinstance(spec, TensorSpec):
        return _fit_tensor(name, path, value, spec)
    if isinstance(spec, list | tuple) and isinstance(value, list | tuple):
        if len(spec) == len(value):
            items = [
                _fitted(name, f"{path}[{i}]", v, s)
                for i, (v, s) in enumerate(zip(value, spec, strict=True))
            ]
            kind: Any = type(spec)
            return kind(*items) if hasattr(spec, "_fields") else kind(items)
    elif isinstance(spec, dict) and isinstance(value, dict) and set(spec) == set(value):
        return {k: _fitted(name, f"{path}[{k!r}]", value[k], spec[k]) for k in spec}
    elif spec is None or _takes(spec, value):
        return spec._fitted(value) if isinstance(spec, CompositeSpec) else value
    raise at_site(
        TypeError(
            f"{name}: argument `{path}` does not have the structure of `input_signature`; got "
            f"{describe(value)} for {describe(spec)}."
        )
    )


def _takes(spec: Any, value: Any) -> bool:
    compatible = getattr(spec, "is_compatible_with", None)
    return compatible(value) if compatible is not None else bool(spec == value)


def _fit_tensor(name: str, path: str, value: Any, spec: TensorSpec) -> Tensor | TensorSpec:
    if isinstance(value, TensorSpec):
        result: Any = value
    else:
        try:
            result = value if type(value) is Tensor else operand(value, None, spec.dtype)
        except (TypeError, ValueError):
            result = None
    if result is None or not spec.is_compatible_with(result):
        raise at_site(
            TypeError(
                f"{name}: argument `{path}` does not fit its `input_signature`; got "
                f"{describe(value)} for {describe(spec)}. Convert it, or widen the signature."
            )
        )
    return result.read_value() if isinstance(result, Variable) else result

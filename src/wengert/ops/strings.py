"""String tensors: joining, cutting, matching, and numbers as text.

Strings are bytes, as in TensorFlow; `unit="UTF8_CHAR"` counts characters. None of this compiles.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.core import nest
from wengert.ops.declare import (
    Axis,
    DTypeLike,
    Op,
    ShapeDtype,
    Tensor,
    TensorLike,
    apply,
    dtypes,
    invalid,
    invalid_dtype,
    is_dynamic,
    is_symbolic,
    operand,
    operand_or_empty,
    rank_of,
    require,
    require_dtype,
    shapes,
    static,
    static_int,
    static_tuple,
    to_tensor,
    unary,
    with_fallback,
)
from wengert.ops.patterns import Pattern, PatternError, compiled
from wengert.ops.reduce import reduced
from wengert.ops.sorting import choose_type
from wengert.ops.text import number_format, number_reader, structure_text

_STRING = dtypes.nums("s")


def static_str(name: str, value: str | None, what: str, default: str | None = None) -> str:
    """A Python string for the argument `what`; `default` for `None`."""
    given = default if value is None else value
    if isinstance(given, bytes):
        return given.decode(errors="surrogateescape")
    if not isinstance(given, str):
        raise invalid_dtype(name, f"`{what}` must be a Python string", value)
    return given


def static_int_or(name: str, value: TensorLike | None, what: str, default: int) -> int:
    """A whole number for the argument `what`, of which fractions are cut off; `None` is `default`.

    TensorFlow reads the attributes of its operations so.
    """
    if value is None:
        return default
    if isinstance(value, float) and math.isfinite(value):
        return int(value)
    return static_int(name, value, what)


def _each(
    function: Callable[[Any], Any], x: np.ndarray, dtype: np.dtype | type = object
) -> np.ndarray:
    return np.fromiter(map(function, x.ravel()), dtype, x.size).reshape(x.shape)


def _side_by_side(*xs: np.ndarray) -> tuple[list[np.ndarray], tuple[int, ...]]:
    """Arrays broadcast to each other, flat, and their common shape."""
    shape = np.broadcast_shapes(*[x.shape for x in xs])
    return [np.broadcast_to(x, shape).ravel() for x in xs], shape


AS_STRING = unary(
    "as_string",
    lambda x, **form: _each(number_format("f" if x.dtype.kind == "V" else x.dtype.kind, **form), x),
    None,
    grad=None,
    accepts=dtypes.ANY,
    dtype=dtypes.string,
)


def as_string(
    input: TensorLike,
    precision: int = -1,
    scientific: bool = False,
    shortest: bool = False,
    width: int = -1,
    fill: str = "",
    name: str | None = None,
) -> Tensor:
    """Each number as text; `precision`, `scientific`, `shortest`, `width`, `fill` as in printf."""
    x = operand(input)
    fill = static_str("as_string", fill, "fill", "")
    precision = static_int_or("as_string", precision, "precision", -1)
    width = static_int_or("as_string", width, "width", -1)
    require(
        not scientific or not shortest,
        "as_string",
        "`scientific` and `shortest` exclude each other",
    )
    require(
        fill in ("", " ", "0", "+", "-", "#"),
        "as_string",
        f"`fill` must be one of ' ', '0', '+', '-', '#'; got {fill!r}",
    )
    require(
        (precision < 0 and not scientific and not shortest) or x.dtype.kind not in "biu",
        "as_string",
        "`precision`, `scientific` and `shortest` are not for whole numbers and booleans",
        x,
    )
    return apply(
        AS_STRING, x, precision=precision, scientific=bool(scientific),
        shortest=bool(shortest), width=max(width, 0), fill=fill,
    )  # fmt: skip


def _to_number(x: np.ndarray, dtype: dtypes.DType) -> np.ndarray:
    read = number_reader(dtype)

    def one(text: bytes) -> float:
        try:
            return read(text)
        except ValueError:
            raise invalid(
                "to_number",
                f"{text.decode(errors='replace')!r} is not a {dtype.name} number",
                help="Strip units and separators first, or drop such strings.",
            ) from None

    return _each(one, x, dtype.np)


TO_NUMBER = Op(
    "to_number",
    "x",
    kernel=_to_number,
    infer=lambda x, dtype: ShapeDtype(x.shape, dtype),
    lower=None,
    grad=None,
    accepts=_STRING,
    elementwise=True,
)


_READABLE = (
    dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64, dtypes.uint32, dtypes.uint64,
)  # fmt: skip


def to_number(
    input: TensorLike, out_type: DTypeLike = dtypes.float32, name: str | None = None
) -> Tensor:
    """Reads each string as a number."""
    kind = choose_type("to_number", "out_type", out_type, *_READABLE)
    return apply(TO_NUMBER, operand_or_empty(input, dtypes.string), dtype=kind)


def _join_kernel(*xs: np.ndarray, separator: str) -> np.ndarray:
    parts, shape = _side_by_side(*xs)
    mark = separator.encode(errors="surrogateescape")
    return np.fromiter(map(mark.join, zip(*parts, strict=True)), object).reshape(shape)


JOIN = Op(
    "string_join",
    "*xs",
    kernel=_join_kernel,
    infer=lambda *xs, separator: ShapeDtype(
        shapes.broadcast("join", *[x.shape for x in xs]), dtypes.string
    ),
    lower=None,
    grad=None,
    accepts=_STRING,
)


def join(inputs: Any, separator: str = "", name: str | None = None) -> Tensor:
    """Joins strings element by element; scalars broadcast.

    Args:
        inputs: a list of tensors of strings.
        separator: what stands between them.
        name: without effect.

    Returns:
        A tensor of strings.

    Raises:
        ValueError: the shapes differ.

    >>> tf.strings.join([["a", "b"], "x"], separator="-").numpy().tolist()
    [b'a-x', b'b-x']
    """
    require_dtype(
        not isinstance(inputs, str | bytes) and hasattr(inputs, "__iter__"),
        "join",
        "`inputs` must be a list of tensors",
        inputs,
    )
    mark = static_str("join", separator, "separator", "")
    texts = [operand_or_empty(x, dtypes.string) for x in inputs]
    return apply(JOIN, *texts, separator=mark) if texts else to_tensor("")


def _reduce_join_kernel(
    x: np.ndarray, axis: tuple[int, ...], keepdims: bool, separator: str
) -> np.ndarray:
    mark = separator.encode(errors="surrogateescape")
    for a in axis:
        moved = np.moveaxis(x, a, -1)
        rows = moved.reshape(math.prod(moved.shape[:-1]), moved.shape[-1])
        out = np.fromiter(map(mark.join, rows), object, len(rows))
        x = np.expand_dims(out.reshape(moved.shape[:-1]), a)
    return x if keepdims else np.squeeze(x, axis)


REDUCE_JOIN = Op(
    "reduce_join",
    "x",
    kernel=_reduce_join_kernel,
    infer=lambda x, axis, keepdims, separator: ShapeDtype(reduced(x, axis, keepdims), x.dtype),
    lower=None,
    grad=None,
    accepts=_STRING,
)


@with_fallback
def reduce_join(
    inputs: TensorLike,
    axis: Axis = None,
    keepdims: bool = False,
    separator: str = "",
    name: str | None = None,
) -> Tensor:
    """Joins all strings along `axis`, or everything."""
    x = operand(inputs)
    rank = x._array.ndim
    wanted = None if axis is None else static_tuple("reduce_join", axis, "axis")
    axes = shapes.axes("reduce_join", wanted, rank)
    require(
        len(set(axes)) >= len(axes),
        "reduce_join",
        lambda: f"`axis` names an axis twice; got {axis!r}",
        x,
    )
    order = axes if axis is not None else tuple(range(rank))[::-1]
    mark = static_str("reduce_join", separator, "separator", "")
    return apply(REDUCE_JOIN, x, axis=order, keepdims=keepdims, separator=mark)


LENGTH = unary(
    "string_length",
    lambda x, unit: _each(len if unit == "BYTE" else lambda v: len(v.decode()), x, np.int32),
    None,
    grad=None,
    accepts=_STRING,
    dtype=dtypes.int32,
)


def length(input: TensorLike, unit: str = "BYTE", name: str | None = None) -> Tensor:
    """The length of each string in bytes, or in characters with `unit="UTF8_CHAR"`."""
    return apply(LENGTH, _text("length", input), unit=_unit("length", unit))


def _unit(name: str, unit: str) -> str:
    require(
        unit in ("BYTE", "UTF8_CHAR"), name, f"`unit` must be 'BYTE' or 'UTF8_CHAR'; got {unit!r}"
    )
    return unit


CHANGE = unary(
    "string_change",
    lambda x, change: _each(dict(_CHANGES)[change], x),
    None,
    grad=None,
    accepts=_STRING,
)
_CHANGES: tuple[tuple[str, Callable[[bytes], bytes]], ...] = (
    ("lower", lambda v: v.lower()),
    ("upper", lambda v: v.upper()),
    ("strip", lambda v: v.strip()),
    ("lower_utf8", lambda v: v.decode().lower().encode()),
    ("upper_utf8", lambda v: v.decode().upper().encode()),
)


def _text(name: str, x: Any) -> Tensor:
    """A tensor of strings, or an error under the name that users know."""
    x = operand_or_empty(x, dtypes.string)
    require_dtype(
        x.dtype is dtypes.string, name, "strings are needed", x, help="Use tf.strings.as_string."
    )
    return x


def _changed(name: str, input: Any, encoding: str) -> Tensor:
    require(encoding in ("", "utf-8"), name, f"`encoding` must be '' or 'utf-8'; got {encoding!r}")
    return apply(CHANGE, _text(name, input), change=f"{name}_utf8" if encoding else name)


def lower(input: TensorLike, encoding: str = "", name: str | None = None) -> Tensor:
    """Small letters; only ASCII without `encoding="utf-8"`."""
    return _changed("lower", input, encoding)


def upper(input: TensorLike, encoding: str = "", name: str | None = None) -> Tensor:
    """Capital letters; only ASCII without `encoding="utf-8"`."""
    return _changed("upper", input, encoding)


def strip(input: TensorLike, name: str | None = None) -> Tensor:
    """Without white space at both ends."""
    return apply(CHANGE, _text("strip", input), change="strip")


def _substr(text: bytes, pos: int, count: int) -> Any:
    size = len(text)
    require(-size <= pos <= size, "substr", f"`pos` {pos} is outside a string of length {size}")
    start = pos % size if pos < 0 else pos
    return text[start : start + count]


def _substr_kernel(x: np.ndarray, pos: Any, len: Any, unit: str) -> np.ndarray:
    parts, shape = _side_by_side(x, np.asarray(pos), np.asarray(len))
    texts, starts, sizes = (a.tolist() for a in parts)
    if unit == "BYTE":
        results = list(map(_substr, texts, starts, sizes))
    else:
        decoded = [text.decode() for text in texts]
        results = [cut.encode() for cut in map(_substr, decoded, starts, sizes)]
    return np.fromiter(results, object).reshape(shape)


SUBSTR = Op(
    "substr",
    "x",
    kernel=_substr_kernel,
    infer=lambda x, pos, len, unit: ShapeDtype(
        shapes.broadcast("substr", x.shape, np.shape(pos)), x.dtype
    ),
    lower=None,
    grad=None,
    accepts=_STRING,
    elementwise=True,
)


def substr(
    input: TensorLike, pos: TensorLike, len: TensorLike, unit: str = "BYTE", name: str | None = None
) -> Tensor:
    """The part of each string from `pos`, `len` long; both may differ from string to string."""
    starts, sizes = static("substr", pos), static("substr", len)
    require(
        np.shape(starts) == np.shape(sizes),
        "substr",
        "`pos` and `len` must have the same shape",
        pos,
        len,
    )
    return apply(SUBSTR, _text("substr", input), pos=starts, len=sizes, unit=_unit("substr", unit))


def _regex(name: str, source: np.ndarray) -> Pattern:
    text: bytes = source.item()
    try:
        return compiled(text)
    except PatternError as error:
        got = text.decode(errors="replace")
        rule = f"`pattern` is no regular expression of RE2: {error}; got {got!r}"
        raise invalid(name, rule, help=error.help) from None


def _one_text(name: str, argument: str, x: TensorLike) -> Tensor:
    """A tensor of one string."""
    x = _text(name, x)
    require(
        rank_of(x) in (0, None),
        name,
        f"`{argument}` must be one string",
        x,
        help="Give a scalar; tf.map_fn goes through several.",
    )
    return x


def _pattern(name: str, pattern: TensorLike) -> Tensor:
    """A regular expression, looked into at once if it is known."""
    x = _one_text(name, "pattern", pattern)
    if not is_symbolic(x):
        _regex(name, x._array)
    return x


def _replace_kernel(x: np.ndarray, p: np.ndarray, r: np.ndarray, every: bool) -> np.ndarray:
    texts = _regex("regex_replace", p).replaced(x.ravel().tolist(), r.item(), every=every)
    return np.fromiter(texts, object, x.size).reshape(x.shape)


REGEX_REPLACE = Op(
    "regex_replace",
    "x p r",
    kernel=_replace_kernel,
    infer=lambda x, p, r, every: x,
    lower=None,
    grad=None,
    accepts=_STRING,
    elementwise=True,
)


def regex_replace(
    input: TensorLike,
    pattern: TensorLike,
    rewrite: str,
    replace_global: bool = True,
    name: str | None = None,
) -> Tensor:
    r"""Replaces what matches a regular expression; `\1` in `rewrite` is the first group.

    The syntax is that of RE2, on UTF-8: it has classes such as `\p{L}` and `[[:punct:]]`, but neither
    lookaround nor backreferences.

    Args:
        input: a tensor of strings.
        pattern: the regular expression.
        rewrite: what to put there.
        replace_global: with `False` only the first match.
        name: without effect.

    Returns:
        A tensor of the same shape.

    Raises:
        InvalidArgumentError: the pattern or the rewrite is wrong.

    >>> tf.strings.regex_replace("2 cats", "[0-9]+", "#").numpy()
    b'# cats'
    """
    return apply(
        REGEX_REPLACE,
        _text("regex_replace", input),
        _pattern("regex_replace", pattern),
        _one_text("regex_replace", "rewrite", rewrite),
        every=bool(replace_global),
    )


def _match_kernel(x: np.ndarray, p: np.ndarray) -> np.ndarray:
    result = _regex("regex_full_match", p).matches(x.ravel().tolist())
    return np.fromiter(result, np.bool_, x.size).reshape(x.shape)


REGEX_MATCH = Op(
    "regex_full_match",
    "x p",
    kernel=_match_kernel,
    infer=lambda x, p: ShapeDtype(x.shape, dtypes.bool_),
    lower=None,
    grad=None,
    accepts=_STRING,
    elementwise=True,
)


def regex_full_match(input: TensorLike, pattern: TensorLike, name: str | None = None) -> Tensor:
    """Whether each whole string matches a regular expression."""
    x = _text("regex_full_match", input)
    return apply(REGEX_MATCH, x, _pattern("regex_full_match", pattern))


SPLIT = Op(
    "string_split",
    "x",
    kernel=lambda x, sep, maxsplit: np.array(
        x[()].split(None if sep is None else sep.encode(), maxsplit), object
    ),
    infer=lambda x, sep, maxsplit: ShapeDtype((None,), dtypes.string),
    lower=None,
    grad=None,
    accepts=_STRING,
    register=False,
)


def split(
    input: TensorLike, sep: str | None = None, maxsplit: int = -1, name: str | None = None
) -> Any:
    """The parts of one string; a tensor of several would be ragged, which is an error here."""
    x = operand(input)
    require(
        not x._array.ndim,
        "split",
        "one string was expected",
        x,
        help="Split the strings one at a time.",
    )
    return apply(SPLIT, x, sep=sep or None, maxsplit=maxsplit)


def string_format(
    template: str, inputs: Any, placeholder: str = "{}", summarize: int = 3, name: str | None = None
) -> Any:
    """Puts tensors into a text, each at its placeholder."""
    values = list(inputs) if isinstance(inputs, list | tuple) else [inputs]
    parts = static_str("format", template, "template").split(
        static_str("format", placeholder, "placeholder")
    )
    require(
        len(parts) == len(values) + 1,
        "format",
        f"{len(parts) - 1} placeholders for {len(values)} tensors",
    )
    form = _Form(parts, values, static_int_or("format", summarize, "summarize", 3))
    return apply(FORMAT, *form.tensors, form=form) if form.tensors else operand(form.text(()))


def _shown_as(value: Any) -> Any:
    """Text, numbers and lists as the tensors that TensorFlow makes of them."""
    plain = isinstance(value, str | bytes | bool | int | float | complex | list | tuple)
    return to_tensor(value) if plain else value


class _Form:
    """A text with tensors to be put in; tensors of a trace are left out, and given later."""

    def __init__(self, parts: list[str], values: list[Any], summarize: int) -> None:
        self.tensors: list[Any] = []
        self._parts = parts
        self._summarize = summarize
        self._values = nest.map_structure(self._leaf, [_shown_as(v) for v in values])

    def _leaf(self, value: Any) -> Any:
        if not is_dynamic(value):
            return value
        self.tensors.append(value)
        return _Place(len(self.tensors) - 1)

    def text(self, arrays: tuple[np.ndarray, ...]) -> str:
        """The whole text for the arrays of the tensors left out."""

        def given(value: Any) -> Any:
            return arrays[value.number] if isinstance(value, _Place) else value

        shown = [
            structure_text(nest.map_structure(given, v), self._summarize) for v in self._values
        ]
        return self._parts[0] + "".join(a + b for a, b in zip(shown, self._parts[1:], strict=True))


class _Place:
    """Stands for a tensor that was left out."""

    def __init__(self, number: int) -> None:
        self.number = number


FORMAT = Op(
    "string_format",
    "*xs",
    kernel=lambda *xs, form: np.array(form.text(xs).encode(), object),
    infer=lambda *xs, form: ShapeDtype((), dtypes.string),
    lower=None,
    grad=None,
    match=(),
    register=False,
)

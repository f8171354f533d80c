"""Builtins and functions on lists in forms that take symbolic tensors and growing lists."""

from __future__ import annotations

import builtins
import functools
from collections.abc import Callable
from types import FunctionType, GeneratorType, MethodType
from typing import TYPE_CHECKING, Any

from wengert.autograph.call_conversion import call
from wengert.autograph.iteration import Backwards, Numbered, Numbers, Side, Source, source
from wengert.autograph.library import replace
from wengert.autograph.lists import TracedList
from wengert.autograph.logic import and_, or_
from wengert.autograph.primitives import truth
from wengert.autograph.traced_values import building, symbolic
from wengert.core import dtypes, nest
from wengert.core.errors import require
from wengert.core.types import IndexedSlices, SymbolicTensor, Tensor, Value
from wengert.functions.cond import case, cond, switch_case
from wengert.functions.functional import foldl, foldr, map_fn, scan
from wengert.functions.vectorized_map import vectorized_map
from wengert.functions.while_loop import while_loop
from wengert.ops.arithmetic import add_n
from wengert.ops.cast import cast
from wengert.ops.create import range as range_of
from wengert.ops.dims import shape
from wengert.ops.gather import gather
from wengert.ops.joining import concat, stack
from wengert.ops.reduce import reduce_all, reduce_any, reduce_max, reduce_min, reduce_sum
from wengert.ops.select import maximum, minimum
from wengert.ops.shaping import transpose
from wengert.ops.sorting import argsort, sort

if TYPE_CHECKING:
    from wengert.composite.ragged_tensor import RaggedTensor


def _is_ours(x: Any) -> bool:
    """Whether a value has rows that are looped over in the graph."""
    return isinstance(x, Source | TracedList | SymbolicTensor) or (
        isinstance(x, Value) and building()
    )


def _is_dataset(x: Any) -> bool:
    """Whether a value is a dataset that a function is to go through when it runs."""
    return hasattr(x, "traced_steps") and hasattr(x, "enumerate") and bool(building())


def _rows(x: Any) -> Source:
    result = source(x)
    if isinstance(result, Source):
        return result
    if isinstance(result, builtins.range):
        return Numbers(result.start, result.stop, result.step)
    return source(stack(list(result)))


def _stacked(x: Any) -> Any:
    """A list that grew as a tensor of its elements."""
    return x.stack() if isinstance(x, TracedList) else x


def len_(x: Any) -> Any:
    """The length; a tensor where it is known only when the function runs."""
    if isinstance(x, TracedList):
        known = x.known_length()
        return x.length() if known is None else known
    if isinstance(x, SymbolicTensor) and (x.shape.rank is None or x.shape.rank > 0):
        known = None if x.shape.rank is None else x.shape.as_list()[0]
        return shape(x)[0] if known is None else known
    return builtins.len(x)


def range_(*args: Any) -> Any:
    """A range; one of the graph where a bound is a tensor."""
    if not any(map(symbolic, args)):
        require(
            not any(a is None for a in args),
            "range",
            "a bound is None, as a size is that is not known while tracing",
            help="Use tf.range(tf.shape(x)[i]), or fix the size in `input_signature`.",
            kind=TypeError,
        )
        return builtins.range(*args)
    start, limit, step = {1: (0, *args, 1), 2: (*args, 1), 3: args}[len(args)]
    return Numbers(start, limit, step)


def tensor_range(
    start: Tensor | float,
    limit: Any = None,
    delta: int = 1,
    dtype: Any = None,
    name: str | None = None,
) -> Tensor | Source:
    """`tf.range` as something to loop over, which need not be made first."""
    if not building():
        return range_of(start, limit, delta, dtype)
    if limit is None:
        start, limit = 0, start
    kind = None if dtype is None else dtypes.as_dtype(dtype)
    if not any(map(symbolic, (start, limit, delta))):
        known = range_of(start, limit, delta, kind)
        return (
            Numbers(start, limit, delta, known.dtype) if known.dtype.is_integer else source(known)
        )
    return Numbers(start, limit, delta, kind)


def enumerate_(iterable: Any, start: int = 0) -> Any:
    """Items with their numbers."""
    if _is_dataset(iterable):
        return iterable.enumerate(start)
    if _is_ours(iterable) or symbolic(start):
        return Numbered(_rows(iterable), start)
    return builtins.enumerate(iterable, start)


def iter_(iterable: Any, *rest: int) -> Any:
    """An iteration; over a dataset one that starts when the function runs."""
    steps = getattr(iterable, "traced_steps", None)
    return steps() if steps is not None and building() else builtins.iter(iterable, *rest)


def zip_(*iterables: Any, strict: bool = False) -> Any:
    """Items side by side."""
    if iterables and all(map(_is_dataset, iterables)):
        return iterables[0].zip(*iterables)
    if any(map(_is_ours, iterables)):
        return Side([_rows(x) for x in iterables])
    return builtins.zip(*iterables, strict=strict)


def reversed_(x: Any) -> Any:
    """Items from the last to the first."""
    return Backwards(_rows(x)) if _is_ours(x) else builtins.reversed(x)


def sorted_(iterable: Any, /, *, key: Any = None, reverse: bool = False) -> Any:
    """Items in order; those of a tensor as a tensor."""
    iterable = _stacked(iterable)
    if not isinstance(iterable, SymbolicTensor):
        return builtins.sorted(iterable, key=key, reverse=reverse)
    require(
        iterable.shape.rank in (None, 1),
        "sorted",
        "only numbers in a row have an order",
        iterable,
        help="Use tf.sort or tf.argsort with an axis.",
        kind=ValueError,
    )
    direction = "DESCENDING" if reverse else "ASCENDING"
    if key is None:
        return sort(iterable, direction=direction)
    return gather(iterable, argsort(vectorized_map(call(key), iterable), direction=direction))


def int_(*args: Tensor, **kwargs: Any) -> Any:
    """A whole number; of a tensor, int32."""
    if len(args) == 1 and isinstance(args[0], SymbolicTensor):
        return cast(args[0], dtypes.int32)
    return builtins.int(*args, **kwargs)


def float_(*args: Any) -> Any:
    """A fraction; of a tensor, float32."""
    if args and isinstance(args[0], SymbolicTensor):
        return cast(args[0], dtypes.float32)
    return builtins.float(*args)


def bool_(*args: Any) -> Value | bool | IndexedSlices:
    """The truth of a value."""
    if args and symbolic(args[0]):
        return truth(args[0])
    return builtins.bool(*args)


def sum_(iterable: Any, /, start: int = 0) -> Any:
    """The sum of the items, or of the rows of a tensor."""
    iterable = _stacked(iterable)
    if isinstance(iterable, SymbolicTensor):
        total = reduce_sum(iterable, 0)
        return total if type(start) is int and start == 0 else start + total
    return builtins.sum(iterable, start)


def _extreme(plain: Any, pair: Callable[[Any, Any], Any], over: Callable[..., Any]) -> Any:
    def extreme(*args: Any, **kwargs: Any) -> Tensor:
        if kwargs or len(args) != 1:
            tensors = not kwargs and any(map(symbolic, args))
            return functools.reduce(pair, args) if tensors else plain(*args, **kwargs)
        rows = _stacked(args[0])
        if isinstance(rows, SymbolicTensor):
            return over(rows, 0) if rows.shape.rank == 1 else plain(rows)
        if isinstance(rows, list | tuple | GeneratorType):
            rows = list(rows)
            return functools.reduce(pair, rows) if any(map(symbolic, rows)) else plain(rows)
        return plain(rows)

    return extreme


def _quantified(plain: Any, join: Any, end: bool) -> Any:
    def quantified(iterable: Any) -> Any:
        iterable = _stacked(iterable)
        if isinstance(iterable, SymbolicTensor):
            return (reduce_all if end else reduce_any)(cast(iterable, dtypes.bool_))
        items = iter(iterable)
        for item in items:
            if symbolic(item):
                return _rest(join, item, items, end)
            if builtins.bool(item) is not end:
                return not end
        return end

    return quantified


def _rest(join: Any, item: Any, items: Any, end: bool) -> Tensor:
    def more() -> Any:
        following = next(items, end)
        return end if following is end else _rest(join, following, items, end)

    return join(bool_(item), more)


def map_(function: Any, *iterables: Any) -> Any:
    """`map`, with the function converted."""
    return builtins.map(call(function), *iterables)


def filter_(function: Any, iterable: Any) -> Any:
    """`filter`, with the function converted."""
    return builtins.filter(function and call(function), iterable)


def reduce_(function: Any, *args: Any) -> Any:
    """`functools.reduce`, with the function converted."""
    return functools.reduce(call(function), *args)


def stack_(values: Any, axis: int = 0, name: str = "stack") -> Tensor | RaggedTensor:
    """`tf.stack`, also of a list that grew."""
    if not isinstance(values, TracedList):
        return stack(values, axis, name)
    result = values.stack()
    if axis == 0:
        return result
    rank = result.shape.rank
    order = list(range(1, rank))
    order.insert(axis % rank, 0)
    return transpose(result, order)


def concat_(values: Any, axis: Any, name: str = "concat") -> Tensor | RaggedTensor:
    """`tf.concat`, also of a list that grew."""
    return values.concat(axis) if isinstance(values, TracedList) else concat(values, axis, name)


def add_n_(inputs: list[Tensor] | TracedList, name: str = "AddN") -> Any:
    """`tf.add_n`, also of a list that grew."""
    return sum_(inputs) if isinstance(inputs, TracedList) else add_n(inputs, name)


def _walking(function: Any) -> Any:
    """A function of `tf.nest`, for which a list that grew is a container of its elements."""
    converting = _converting(function)
    name = f"nest.{function.__name__}"

    def opened(value: Any) -> Any:
        if not any(isinstance(x, TracedList) for x in nest.flatten(value)):
            return value
        return nest.map_structure(
            lambda x: x.elements(name) if isinstance(x, TracedList) else x, value
        )

    @functools.wraps(function)
    def form(*args: Any, **kwargs: Any) -> Any:
        return converting(*map(opened, args), **{k: opened(v) for k, v in kwargs.items()})

    return form


def _converting(function: Any) -> Any:
    """A function of ours that calls functions it is given, which are converted on the way."""

    @functools.wraps(function)
    def form(*args: Any, **kwargs: Any) -> Any:
        return function(*map(_converted, args), **{k: _converted(v) for k, v in kwargs.items()})

    return form


def _converted(value: Any) -> Any:
    if isinstance(value, FunctionType | MethodType | functools.partial):
        return call(value)
    if type(value) in (list, tuple):
        return type(value)(map(_converted, value))
    return {k: _converted(v) for k, v in value.items()} if type(value) is dict else value


def source_of(f: Any) -> Any:
    """The callable that replaces `f` where its result is looped over."""
    return tensor_range if f is range_of else call(f)


for _function, _form in {
    builtins.len: len_,
    builtins.range: range_,
    builtins.enumerate: enumerate_,
    builtins.iter: iter_,
    builtins.zip: zip_,
    builtins.reversed: reversed_,
    builtins.sorted: sorted_,
    builtins.int: int_,
    builtins.float: float_,
    builtins.bool: bool_,
    builtins.sum: sum_,
    builtins.min: _extreme(builtins.min, minimum, reduce_min),
    builtins.max: _extreme(builtins.max, maximum, reduce_max),
    builtins.any: _quantified(builtins.any, or_, False),
    builtins.all: _quantified(builtins.all, and_, True),
    builtins.map: map_,
    builtins.filter: filter_,
    functools.reduce: reduce_,
    stack: stack_,
    concat: concat_,
    add_n: add_n_,
    **{
        f: _converting(f)
        for f in (
            case, cond, foldl, foldr, map_fn, scan, switch_case, vectorized_map, while_loop,
        )
    },
    **{
        f: _walking(f)
        for f in (
            nest.assert_same_structure, nest.flatten, nest.is_nested, nest.map_structure,
            nest.pack_sequence_as,
        )
    },
}.items():  # fmt: skip
    replace(_function, _form)

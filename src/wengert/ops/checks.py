"""Checks at run time: assertions on values, dtypes and shapes, and `tf.print`."""

from __future__ import annotations

import functools
import operator
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.core import late_operations as late
from wengert.core import nest
from wengert.core.context import State, restoring, using
from wengert.core.errors import OutOfRangeError, unexpected
from wengert.core.sites import caller
from wengert.core.tensor import is_tensor
from wengert.ops.declare import (
    DTypeLike,
    IndexedSlices,
    InvalidArgumentError,
    JaxArray,
    Op,
    ShapeDtype,
    Tensor,
    TensorLike,
    TensorShape,
    Value,
    Variable,
    apply,
    at_site,
    broadcast_shapes,
    describe,
    dtypes,
    executing_eagerly,
    expand,
    fail_if,
    get_state,
    is_symbolic,
    lax,
    operand,
    operands,
    require_dtype,
    static_int,
    static_tuple,
    tf,
    wrap,
)
from wengert.ops.nodes import HOST_CALL
from wengert.ops.sizes import listed
from wengert.ops.text import structure_text


def _failed(
    name: str, text: str, message: str | None = None, kind: type = InvalidArgumentError
) -> Exception:
    if isinstance(message, Value | bytes):
        message = structure_text(message)
    full = f"{name}: {f'{message}; ' if message else ''}{text}."
    error = kind(None, None, full) if issubclass(kind, InvalidArgumentError) else kind(full)
    return at_site(error)


@restoring
def _check_kernel(verdict: np.ndarray, *xs: np.ndarray, explain: Callable[..., None]) -> tuple[()]:
    if not verdict.all():
        with using(State()):
            explain(*[wrap(x) for x in xs])
    return ()


def _lower_check(verdict: JaxArray, *xs: JaxArray, explain: Callable[..., None]) -> tuple[()]:
    fail_if(lambda: lax.bitwise_not(verdict))
    return ()


# In a graph: `explain` raises for these tensors, unless the verdict holds.
CHECK = Op(
    "check",
    "*xs",
    kernel=_check_kernel,
    infer=lambda *xs, explain: (),
    lower=_lower_check,
    grad=None,
    match=(),
    outputs=None,
    effect=True,
    register=False,
)


@restoring
def Assert(
    condition: TensorLike, data: Any, summarize: int | None = None, name: str | None = None
) -> None:  # TensorFlow's name
    """Raises `InvalidArgumentError` with `data` unless the condition holds."""
    verdict = operand(condition)
    verdict = verdict if verdict.dtype is dtypes.bool_ else verdict != 0
    count = 3 if summarize is None else summarize
    if not executing_eagerly() and not isinstance(verdict, Variable) and not is_symbolic(verdict):
        with using(State()):
            holds = bool(verdict)
        if holds:
            return
    data = listed("Assert", "data", data)
    if not executing_eagerly():
        tensors = [x for x in data if isinstance(x, Value)]

        def explain(*found: Tensor) -> None:
            given = iter(found)
            _refuse([next(given) if isinstance(x, Value) else x for x in data], count)

        apply(CHECK, verdict, *tensors, explain=explain)
    elif not bool(verdict):
        _refuse(data, count)


def _refuse(data: list[Tensor], count: int) -> None:
    shown = ", ".join(structure_text(d, count) for d in data)
    raise _failed("Assert", f"the condition is false. Data: {shown}")


_COMPARED = """Raises `InvalidArgumentError` unless x {symbol} y for all elements.

    Args:
        x, y: tensors of one dtype, whose shapes broadcast.
        message: words that the error begins with.
        summarize: how many elements the error shows; 3 for `None`.
        name: without effect.

    Returns:
        Nothing; inside functions the check runs with them, in its place.

    Raises:
        InvalidArgumentError: it does not hold, or dtypes or shapes do not fit.

    >>> try:
    ...     tf.debugging.{what}([1, 2], [1, 2])
    ...     tf.debugging.{what}([2, 1], [1, 2])
    ... except tf.errors.InvalidArgumentError:
    ...     print("refused")
    refused
    """


def _compare(
    what: str, symbol: str, test: Callable[[np.ndarray, np.ndarray], np.ndarray]
) -> Callable[..., None]:
    """An assertion that a comparison holds for all pairs of elements."""

    def check(
        x: Tensor | list[int],
        y: Tensor | float | list[int],
        message: str | None = None,
        summarize: int | None = None,
        name: str | None = None,
    ) -> None:
        a, b = operands(what, x, y)
        if a.dtype is not b.dtype:
            raise _failed(what, f"the dtypes differ; got {describe(a)} and {describe(b)}", message)
        if is_symbolic(a) or is_symbolic(b) or not executing_eagerly():
            verdict = apply(HOLDS, a, b, test=test, symbol=symbol)
            apply(CHECK, verdict, a, b, explain=lambda p, q: check(p, q, message, summarize))
            return
        try:
            holds = np.broadcast_arrays(test(a._array, b._array), a._array, b._array)
        except ValueError:
            holds = None
        if holds is None:
            raise _failed(what, f"shapes differ; got {describe(a)} and {describe(b)}", message)
        verdict, left, right = holds
        if verdict.all():
            return
        count = 3 if summarize is None else static_int(what, summarize, "summarize")
        bad = np.argwhere(~verdict)[: count if count > 0 else None]
        values = [(left[tuple(i)], right[tuple(i)]) for i in bad]
        places = ", ".join(
            f"at {i.tolist()}: {p} and {q}" for i, (p, q) in zip(bad, values, strict=True)
        )
        raise _failed(
            what,
            f"x {symbol} y does not hold for {int((~verdict).sum())} of {verdict.size} elements "
            f"({places})",
            message,
        )

    check.__name__ = check.__qualname__ = what
    check.__doc__ = _COMPARED.format(what=what, symbol=symbol)
    return check


def _holds(a: np.ndarray, b: np.ndarray, test: Any, symbol: str) -> np.ndarray:
    try:
        return np.asarray(np.all(test(a, b)))
    except ValueError:  # shapes that do not fit, which the check that follows explains
        return np.asarray(False)


def _lower_holds(a: JaxArray, b: JaxArray, test: Any, symbol: str) -> Any:
    try:
        a, b = lax_operands(a, b)
    except ValueError:
        return np.zeros((1,) * max(a.ndim, b.ndim), bool)
    return _LOWERED[symbol.split()[0]](a, b) if test in _PLAIN else test_in_jax(test, a, b)


def lax_operands(a: JaxArray, b: JaxArray | np.ndarray) -> tuple[Any, Any]:
    """Two arrays broadcast against each other."""
    shape = broadcast_shapes(a.shape, b.shape)
    return expand(a, shape), expand(b, shape)


def test_in_jax(test: Any, a: JaxArray, b: JaxArray) -> JaxArray:
    """A test written with NumPy's functions, on JAX arrays: they know their own operators."""
    return test(_Abs(a), _Abs(b))


class _Abs:
    """Lets `(p == q) | (np.abs(p - q) < r + s * np.abs(q))` run on JAX arrays."""

    def __init__(self, x: JaxArray) -> None:
        self.x = x

    def __sub__(self, other: Any) -> _Abs:
        return _Abs(self.x - other.x)

    def __eq__(self, other: object) -> Any:
        return self.x == other.x if isinstance(other, _Abs) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # it compares element by element

    def __abs__(self) -> Any:
        return lax.abs(self.x)

    def __array_ufunc__(self, ufunc: Any, method: str, *args: Any, **kwargs: Any) -> JaxArray:
        return lax.abs(self.x)


# Whether a comparison holds everywhere.
HOLDS = Op(
    "holds",
    "a b",
    kernel=_holds,
    infer=lambda a, b, test, symbol: ShapeDtype((), dtypes.bool_),
    lower=lambda a, b, test, symbol: lax.reduce_and(
        _lower_holds(a, b, test, symbol), tuple(range(max(a.ndim, b.ndim)))
    ),
    grad=None,
    register=False,
)
_PLAIN = (np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal)
_LOWERED = {
    "==": lambda a, b: lax.eq(a, b), "!=": lambda a, b: lax.ne(a, b),
    "<": lambda a, b: lax.lt(a, b), "<=": lambda a, b: lax.le(a, b),
    ">": lambda a, b: lax.gt(a, b), ">=": lambda a, b: lax.ge(a, b),
}  # fmt: skip

assert_equal = _compare("assert_equal", "==", np.equal)
_differs = _compare("assert_none_equal", "!=", np.not_equal)


def assert_none_equal(
    x: TensorLike,
    y: TensorLike,
    summarize: Any = None,
    message: Any = None,
    name: str | None = None,
) -> Any:
    """Raises unless `x != y` holds everywhere; its `message` comes last, as in TensorFlow."""
    return _differs(x, y, message, summarize, name)


assert_less = _compare("assert_less", "<", np.less)
assert_less_equal = _compare("assert_less_equal", "<=", np.less_equal)
assert_greater = _compare("assert_greater", ">", np.greater)
assert_greater_equal = _compare("assert_greater_equal", ">=", np.greater_equal)


def _sign(what: str, symbol: str, test: Callable[[Any, Any], Any]) -> Callable[..., None]:
    against_zero = _compare(what, f"{symbol} 0, where y is 0, so x {symbol}", test)

    def check(
        x: Value, message: str | None = None, summarize: Any = None, name: str | None = None
    ) -> None:
        x = operand(x)
        against_zero(x, operand(0, None, x.dtype), message, summarize)

    check.__name__ = check.__qualname__ = what
    check.__doc__ = f"Raises `InvalidArgumentError` unless x {symbol} 0 for all elements."
    return check


assert_positive = _sign("assert_positive", ">", np.greater)
assert_negative = _sign("assert_negative", "<", np.less)
assert_non_negative = _sign("assert_non_negative", ">=", np.greater_equal)
assert_non_positive = _sign("assert_non_positive", "<=", np.less_equal)


def assert_near(
    x: TensorLike, y: TensorLike, rtol: TensorLike | None = None, atol: TensorLike | None = None, message: Any = None,
    summarize: Any = None, name: str | None = None,
) -> None:  # fmt: skip
    """Raises unless x is y or |x - y| < atol + rtol * |y|; by default ten steps of the dtype."""
    a, b = operands("assert_near", x, y)
    small = 10 * float(_epsilon(a.dtype))
    relative = small if rtol is None else float(operand(rtol))
    absolute = small if atol is None else float(operand(atol))

    def near(p: np.ndarray, q: np.ndarray) -> np.ndarray:
        with np.errstate(invalid="ignore"):  # infinity minus itself
            return (p == q) | (np.abs(p - q) < absolute + relative * np.abs(q))

    _compare("assert_near", "is near", near)(a, b, message, summarize)


def _epsilon(dtype: dtypes.DType) -> float:
    import ml_dtypes

    return 0.0 if dtype.is_integer else float(ml_dtypes.finfo(dtype.real_dtype.np).eps)


def _numerics_kernel(x: np.ndarray, message: str) -> np.ndarray:
    wide = x.astype(np.float32) if x.dtype.kind == "V" else x
    results = [word for word, test in (("NaN", np.isnan), ("Inf", np.isinf)) if test(wide).any()]
    if results:
        raise _failed("check_numerics", f"the tensor has {' and '.join(results)} values", message)
    return x


def _lower_numerics(x: JaxArray, message: str) -> JaxArray:
    fail_if(lambda: lax.bitwise_not(lax.is_finite(x)))
    return x


CHECK_NUMERICS = Op(
    "check_numerics",
    "x",
    kernel=_numerics_kernel,
    infer=lambda x, message: ShapeDtype(x.shape, x.dtype),
    lower=_lower_numerics,
    grad=lambda g, message: apply(CHECK_NUMERICS, g, message=f"{message} (gradient)"),
    accepts=dtypes.FLOAT,
    elementwise=True,
)


def check_numerics(tensor: TensorLike, message: str, name: str | None = None) -> Tensor:
    """Passes the tensor on, or raises where it or its gradient holds NaN or infinity.

    Args:
        tensor: a tensor of floating-point numbers.
        message: what the error says in front.
        name: without effect.

    Returns:
        The tensor.

    Raises:
        InvalidArgumentError: it holds NaN or infinity.

    >>> tf.debugging.check_numerics(tf.constant([1.0]), "loss").numpy().tolist()
    [1.0]
    """
    return apply(CHECK_NUMERICS, operand(tensor), message=message)


def assert_all_finite(x: TensorLike, message: str, name: str | None = None) -> Tensor:
    """Passes the tensor on, or raises where it holds NaN or infinity."""
    return check_numerics(x, message)


def _check_rank(
    name: str, tensor: TensorLike, fits: Callable[[Any], Any], rule: str, message: Any
) -> Tensor:
    """Raises `ValueError` where the rank does not fit, at run time if it is unknown before."""
    x = operand(tensor)
    rank = x.shape.rank
    if rank is None:
        explain = lambda found: _check_rank(name, found, fits, rule, message)
        apply(CHECK, operand(fits(tf.rank(x))), x, explain=explain)
    elif not fits(rank):
        text = f"{rule} was expected; got rank {rank}, shape {x.shape}"
        raise _failed(name, text, message, ValueError)
    return x


def assert_rank(
    x: TensorLike, rank: TensorLike, message: Any = None, name: str | None = None
) -> None:
    """Raises `ValueError` unless the tensor has this rank."""
    wanted = static_int("assert_rank", rank, "rank")
    _check_rank("assert_rank", x, lambda r: r == wanted, f"rank {wanted}", message)


def assert_rank_at_least(
    x: TensorLike, rank: TensorLike, message: Any = None, name: str | None = None
) -> None:
    """Raises `ValueError` unless the tensor has at least this rank."""
    wanted = static_int("assert_rank_at_least", rank, "rank")
    rule = f"rank {wanted} or more"
    _check_rank("assert_rank_at_least", x, lambda r: r >= wanted, rule, message)


def assert_rank_in(x: TensorLike, ranks: Any, message: Any = None, name: str | None = None) -> None:
    """Raises `ValueError` unless the tensor has one of these ranks."""
    allowed = static_tuple("assert_rank_in", ranks, "ranks")
    fits = lambda r: functools.reduce(operator.or_, [r == n for n in allowed], False)
    _check_rank("assert_rank_in", x, fits, f"a rank in {list(allowed)}", message)


def assert_scalar(tensor: TensorLike, message: Any = None, name: str | None = None) -> Tensor:
    """Raises `ValueError` unless the tensor is a scalar."""
    return _check_rank("assert_scalar", tensor, lambda r: r == 0, "a scalar", message)


def assert_type(
    tensor: TensorLike, tf_type: Any, message: Any = None, name: str | None = None
) -> None:
    """Raises `TypeError` unless the tensor has this dtype."""
    x = operand(tensor)
    wanted = dtypes.as_dtype(tf_type)
    if x.dtype is not wanted:
        raise _failed(
            "assert_type", f"dtype {wanted.name} was expected; got {x.dtype.name}", message,
            TypeError,
        )  # fmt: skip


def assert_integer(x: Any, message: Any = None, name: str | None = None) -> None:
    """Raises `TypeError` unless the tensor holds whole numbers."""
    x = operand(x)
    if not x.dtype.is_integer:
        raise _failed(
            "assert_integer", f"an integer dtype was expected; got {x.dtype.name}", message,
            TypeError,
        )  # fmt: skip


def assert_proper_iterable(values: TensorLike) -> None:
    """Raises `TypeError` for tensors, arrays and strings, which iterate but are one value."""
    improper = (str, bytes, np.ndarray, Value, IndexedSlices)
    if isinstance(values, improper) or not hasattr(values, "__iter__"):
        raise _failed(
            "assert_proper_iterable", f"a list or the like was expected; got {describe(values)}",
            None, TypeError,
        )  # fmt: skip


def assert_same_float_dtype(tensors: Any = None, dtype: DTypeLike | None = None) -> Any:
    """The one float dtype of all tensors, or `ValueError`."""
    wanted = None if dtype is None else dtypes.as_dtype(dtype)
    for t in [] if tensors is None else listed("assert_same_float_dtype", "tensors", tensors):
        own = getattr(t, "dtype", None)
        own = own if isinstance(own, dtypes.DType) else operand(t).dtype
        if wanted is not None and own is not wanted:
            raise _failed(
                "assert_same_float_dtype", f"dtypes differ; got {wanted.name} and {own.name}",
                None, ValueError,
            )  # fmt: skip
        wanted = own
    wanted = wanted or dtypes.float32
    if not wanted.is_floating:
        raise _failed(
            "assert_same_float_dtype", f"a float dtype was expected; got {wanted.name}", None,
            ValueError,
        )  # fmt: skip
    return wanted


def is_numeric_tensor(tensor: Any) -> bool:
    """Whether the value is a tensor of numbers."""
    return is_tensor(tensor) and tensor.dtype.is_numeric


def assert_shapes(
    shapes: Any,
    data: TensorLike | None = None,
    summarize: Any = None,
    message: Any = None,
    name: str | None = None,
) -> None:
    """Raises `ValueError` unless tensors have the given shapes; a letter means one size each."""
    pairs = list(shapes.items()) if isinstance(shapes, dict) else shapes
    if not isinstance(pairs, list | tuple) or not all(len(p) == 2 for p in pairs):
        raise unexpected("assert_shapes", "a dict of shapes, or a list of pairs", shapes)
    sizes: dict[Any, tuple[int, Any]] = {}
    for tensor, symbols in pairs:
        x = operand(tensor.deref() if hasattr(tensor, "deref") else tensor)
        _check_shape(x, symbols, sizes, message)


def _check_shape(x: Any, symbols: Any, sizes: dict[Any, Any], message: Any) -> None:
    wanted = list(symbols) if isinstance(symbols, list | tuple | str | TensorShape) else [symbols]
    shape = x._array.shape
    if wanted[:1] in ([...], ["*"]):
        wanted, shape = wanted[1:], shape[len(shape) - len(wanted) + 1 :]
    elif wanted[-1:] in ([...], ["*"]):
        wanted, shape = wanted[:-1], shape[: len(wanted) - 1]
    if len(wanted) != len(shape):
        raise _failed(
            "assert_shapes", f"rank {len(wanted)} was expected; got rank {len(shape)}, shape {x.shape}", message,
            ValueError,
        )  # fmt: skip
    for i, (symbol, size) in enumerate(zip(wanted, shape, strict=True)):
        if symbol is None or symbol == ".":
            continue
        fixed = symbol if isinstance(symbol, int) else None
        if isinstance(symbol, str) and symbol.isdigit():
            fixed = int(symbol)
        known, origin = (fixed, x) if fixed is not None else sizes.get(symbol, (size, x))
        if known != size:
            raise _failed(
                "assert_shapes",
                f"size {known} ({symbol!r}, from {describe(origin)}) was expected in dimension "
                f"{i}; got {describe(x)}",
                message,
                ValueError,
            )
        sizes.setdefault(symbol, (size, x))


def print_(
    *inputs: Any, output_stream: Any = None, summarize: int = 3, sep: str = " ",
    end: str = "\n", name: str | None = None,
) -> None:  # fmt: skip
    """Prints tensors and anything else, to standard error or `output_stream`.

    `output_stream` is a stream, a logging function, or `"file://path"`, which is appended to.
    """
    _check_print(output_stream, sep, end)
    summarize = 3 if summarize is None else static_int("print", summarize, "summarize")
    if not executing_eagerly() and _print_later(inputs, output_stream, summarize, sep, end):
        return
    stream: Any = sys.stderr if output_stream is None else output_stream
    text = sep.join(structure_text(x, summarize) for x in inputs)
    if isinstance(stream, str):
        if not stream.startswith("file://"):
            raise _failed(
                "print", f"an unknown stream {stream!r}; use 'file://path'", None, ValueError
            )
        with open(stream.removeprefix("file://"), "a", encoding="utf-8") as file:
            file.write(text + end)
    elif hasattr(stream, "write"):
        stream.write(text + end)
        stream.flush()
    else:
        stream(text)


def _check_print(stream: Any, sep: str, end: str) -> None:
    for what, text in (("sep", sep), ("end", end)):
        if not isinstance(text, str):
            raise unexpected("print", f"a text as `{what}`", text)
    if not (
        stream is None or isinstance(stream, str) or hasattr(stream, "write") or callable(stream)
    ):
        raise unexpected(
            "print", "a stream, a function or 'file://path' as `output_stream`", stream
        )


def _print_later(
    inputs: tuple[Value | str, ...], stream: Any, summarize: int, sep: str, end: str
) -> bool:
    """In a function: prints when it runs, in the order of the program."""
    state: Any = get_state()
    graph = state.graph
    tensors = [x for x in nest.flatten(inputs) if isinstance(x, Value)]
    options = {"output_stream": stream, "summarize": summarize, "sep": sep, "end": end}

    @restoring
    def now(*arrays: np.ndarray) -> tuple[()]:
        given = iter(arrays)
        flat = [
            wrap(next(given)) if isinstance(x, Value) else x for x in nest.flatten(list(inputs))
        ]
        with using(State()):
            print_(*nest.pack_sequence_as(list(inputs), flat), **options)
        return ()

    values = tuple([graph.value_of(x) for x in tensors])
    attrs = {"function": now, "name": "print"}
    graph.emit(HOST_CALL, values, attrs, [], state.site or caller(1))
    return True


def _count_up_to(variable: Variable, limit: Any) -> Tensor:
    """`Variable.count_up_to`: inside functions the limit is checked when they run."""
    counted = (dtypes.int32, dtypes.int64)
    require_dtype(variable.dtype in counted, "count_up_to", "int32 or int64", variable)
    before = variable.read_value()
    end = operand(limit, before.dtype)

    def explain(*found: Any) -> None:
        raise at_site(OutOfRangeError(None, None, f"count_up_to: the limit {limit} is reached."))

    apply(CHECK, before < end, explain=explain)
    variable.assign_add(1)
    return before


late.COUNT.fill(_count_up_to)

"""What functions say to bad input: the rule, the remedy, the user's line; and all works afterwards.

Texts are pinned. In them HERE stands for this file with a line number.
"""
# Some arguments are none that a checker accepts.
# pyright: reportArgumentType=false

from __future__ import annotations

import multiprocessing
import os
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import wengert as tf
from wengert import errors

ONE = tf.constant(1.0)
KEPT: list[Any] = []


def function(f: Any = None, **options: Any) -> Any:
    return tf.function(f, autograph=False, **options)


def spec(*shape: int | None, dtype: Any = tf.float32) -> Any:
    return tf.TensorSpec(shape, dtype)


@pytest.fixture(autouse=True)
def _everything_still_works() -> Iterator[None]:
    """After each error a function with variables traces, runs and has gradients as ever."""
    yield
    assert tf.executing_eagerly()
    v = tf.Variable(2.0)

    @function
    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            y = v * v * x
        v.assign_sub(tape.gradient(y, v))
        return y

    assert step(ONE).numpy() == 4.0
    assert v.numpy() == -2.0


def refused(kind: type[Exception], text: str, line: str, work: Callable[[], Any]) -> Exception:
    """Runs `work`; its error must have this text, and name the line with this source."""
    with pytest.raises(kind) as caught:
        work()
    error: Any = caught.value
    assert re.sub(re.escape(__file__) + r":\d+", "HERE", str(error)) == text
    places = [n for n in error.__notes__ if n.startswith("  --> ")]
    assert len(places) == 1
    assert re.sub(re.escape(__file__) + r":\d+", "HERE", places[0]) == f"  --> HERE: {line}"
    return error


# Tensors of a trace used as Python values.


def truth(x: Any) -> Any:
    if x > 0.0:
        return x
    return -x


def whole(x: Any) -> Any:
    return int(x)


def counted(x: Any) -> Any:
    return list(range(x))


def picked(x: Any) -> Any:
    return [1, 2][x]


def looked_at(x: Any) -> Any:
    return x.numpy()


def copied(x: Any) -> Any:
    return np.array(x)


def formatted(x: Any) -> Any:
    return f"{x:.2f}"


def walked(x: Any) -> Any:
    return [row for row in x]  # noqa: C416  # the loop is the thing under test


def measured(x: Any) -> Any:
    return len(x)


_AS_VALUE = (
    "Pass what Python must know as a Python value, or look inside with "
    "tf.config.run_functions_eagerly(True)."
)
VALUES = [
    (
        truth, ONE, errors.OperatorNotAllowedInGraphError, "if x > 0.0:",
        "bool: inside a function a tensor has no value yet; got bool[], made at HERE: if x > 0.0:. "
        "Decide with tf.cond, tf.where or tf.while_loop; Python's `if` and `while` on tensors need "
        "autograph=True and available source.",
    ),
    (
        whole, ONE, TypeError, "return int(x)",
        f"int: inside a function a tensor has no value yet; got float32[]. {_AS_VALUE}",
    ),
    (
        counted, tf.constant(3), TypeError, "return list(range(x))",
        "index: inside a function a tensor has no value yet; got int32[]. Index with the tensor "
        "itself (x[i]), or use tf.range instead of range.",
    ),
    (
        picked, tf.constant(0), TypeError, "return [1, 2][x]",
        "index: inside a function a tensor has no value yet; got int32[]. Index with the tensor "
        "itself (x[i]), or use tf.range instead of range.",
    ),
    (
        looked_at, ONE, AttributeError, "return x.numpy()",
        "numpy: inside a function a tensor has no value yet; got float32[]. Use tf operations, or "
        "tf.py_function for code that needs values.",
    ),
    (
        copied, ONE, NotImplementedError, "return np.array(x)",
        "NumPy: inside a function a tensor has no value yet; got float32[]. Use the tf operation of "
        "the same meaning, or tf.numpy_function.",
    ),
    (
        formatted, ONE, TypeError, 'return f"{x:.2f}"',
        "format: inside a function a tensor has no value yet; got float32[]. Print with tf.print, "
        "or format with tf.strings.format.",
    ),
]  # fmt: skip


@pytest.mark.parametrize("case", VALUES, ids=lambda case: case[0].__name__)
def test_a_tensor_has_no_value_while_tracing(case: Any) -> None:
    python, x, kind, line, text = case
    refused(kind, text, line, lambda: function(python)(x))


@pytest.mark.parametrize(
    ("python", "kind", "line", "text"),
    [
        (
            walked, errors.OperatorNotAllowedInGraphError,
            "return [row for row in x]  # noqa: C416  # the loop is the thing under test",
            "iteration: inside a function a tensor has no value yet; got float32[?]. Loop with "
            "tf.range(tf.shape(x)[0]) or tf.map_fn, or fix the size in `input_signature`.",
        ),
        (
            measured, TypeError, "return len(x)",
            "len: inside a function a tensor has no value yet; got float32[?]. Use tf.shape(x)[0].",
        ),
    ],
    ids=["iteration", "length"],
)  # fmt: skip
def test_a_tensor_of_unknown_size(python: Any, kind: Any, line: str, text: str) -> None:
    f = function(python, input_signature=[spec(None)])
    refused(kind, text, line, lambda: f(tf.ones([2])))


def made(x: Any) -> Any:
    return tf.zeros([x.shape[0], 2])


def shaped(x: Any) -> Any:
    return tf.zeros(x.shape)


def padded(x: Any) -> Any:
    return tf.pad(x, [[0, x.shape[0]]])


def divided(x: Any) -> Any:
    return x / x.shape[0]


_OPEN = "For a size that is None while tracing use tf.shape(x)[i]."


@pytest.mark.parametrize(
    ("python", "line", "text"),
    [
        (
            made, "return tf.zeros([x.shape[0], 2])",
            f"zeros: `shape` must be a list of whole numbers; got [None, 2]. {_OPEN}",
        ),
        (
            shaped, "return tf.zeros(x.shape)",
            f"zeros: `shape` must be a list of whole numbers; got TensorShape([None]). {_OPEN}",
        ),
        (
            padded, "return tf.pad(x, [[0, x.shape[0]]])",
            f"pad: `paddings` must be whole numbers; got [[0, None]]. {_OPEN}",
        ),
        (
            divided, "return x / x.shape[0]",
            "convert_to_tensor: None is not a tensor. Was a `return` forgotten, or is it a size "
            "that is not known while tracing? Then use tf.shape(x)[i].",
        ),
    ],
    ids=["size", "shape", "padding", "number"],
)  # fmt: skip
def test_a_size_that_a_trace_does_not_know(python: Any, line: str, text: str) -> None:
    f = function(python, input_signature=[spec(None)])
    refused(ValueError, text, line, lambda: f(tf.ones([2])))


# Tensors that left their trace.


def leaving(x: Any) -> Any:
    KEPT[:] = [x * 2.0]
    return x


def outside() -> Any:
    return KEPT[0] + 1.0


def assigned() -> Any:
    return tf.Variable(0.0).assign(KEPT[0])


def passed() -> Any:
    return function(lambda x: x)(KEPT[0])


@function
def elsewhere() -> Any:
    return KEPT[0] * 3.0


_ESCAPED = (
    "function 'leaving': a tensor of its trace is used {}; got float32[], made at "
    "HERE: KEPT[:] = [x * 2.0]. It never gets a value there. Return it from the function, or keep "
    "it in a tf.Variable."
)


@pytest.mark.parametrize(
    ("use", "line", "where"),
    [
        (outside, "return KEPT[0] + 1.0", "outside it"),
        (assigned, "return tf.Variable(0.0).assign(KEPT[0])", "outside it"),
        (passed, "return function(lambda x: x)(KEPT[0])", "outside it"),
        (elsewhere, "return KEPT[0] * 3.0", "in another function"),
    ],
    ids=["operation", "assignment", "argument", "another_trace"],
)
def test_escaped_tensors(use: Any, line: str, where: str) -> None:
    function(leaving)(ONE)
    error = refused(TypeError, _ESCAPED.format(where), line, use)
    assert error.code == "WG405"  # type: ignore[attr-defined]  # set by `coded`


# Arguments that are changed.


def new_key(d: Any) -> Any:
    d["b"] = d["a"] * 2.0
    return d["b"]


def another_value(d: Any) -> Any:
    d["a"] += 1.0
    return d["a"]


def taken_out(d: Any) -> Any:
    return d.pop("a")


def longer(d: Any) -> Any:
    d["list"].append(d["a"])
    return d["a"]


def elsewhere_changed(d: Any) -> Any:
    inner = d["list"]
    inner[0] = d["a"]
    return d["a"]


@pytest.mark.parametrize(
    ("change", "what", "line"),
    [
        (new_key, "`d['b']` is new", 'd["b"] = d["a"] * 2.0'),
        (another_value, "`d['a']` is another", 'd["a"] += 1.0'),
        (taken_out, "`d['a']` is gone", 'return d.pop("a")'),
        (longer, "`d['list'][1]` is new", 'd["list"].append(d["a"])'),
        (elsewhere_changed, "`d['list'][0]` is another", "def elsewhere_changed(d: Any) -> Any:"),
    ],
    ids=lambda x: getattr(x, "__name__", ""),
)
@pytest.mark.parametrize("autograph", [True, False])
def test_an_argument_that_is_changed(change: Any, what: str, line: str, autograph: bool) -> None:
    f = tf.function(change, autograph=autograph)
    for _ in range(2):
        with pytest.raises(ValueError, match="must not change its argument `d`") as caught:
            f({"a": ONE, "list": [ONE]})
        error: Any = caught.value
        remedy = "Change a copy, as in `d = dict(d)`, and return it."
        assert f"; {what}. " in str(error)
        assert str(error).endswith(
            remedy if "list" not in what else "Change a copy, and return it."
        )
        assert error.site.text.strip() == line
        assert error.code == "WG407"


def test_an_argument_that_grows_in_a_loop() -> None:
    @tf.function
    def f(items: Any) -> Any:
        for v in tf.range(3.0):
            items.append(v)
        return tf.stack(items)

    text = (
        "function 'f': it must not change its argument `items`, for the caller would not see it; "
        "`items` grows in a loop. Change a copy, as in `items = list(items)`, and return it."
    )
    refused(ValueError, text, "items.append(v)", lambda: f([ONE]))


def test_arguments_that_are_the_same_afterwards() -> None:
    @tf.function
    def f(d: Any, *rest: Any, **named: Any) -> Any:
        d["a"] = d["a"]
        d["more"] = rest[0]
        named["new"] = d.pop("more")
        own = [*d["list"], ONE]
        own.append(ONE)
        return d["a"] + named["new"] + own[-1]

    assert f({"a": ONE, "list": [ONE]}, ONE, other=ONE) == 3.0
    data = tf.data.Dataset.from_tensors({"a": ONE}).map(lambda d: (d.update(b=d["a"]), d)[1])
    assert sorted(next(iter(data))) == ["a", "b"]


# Variables made too late.


def making(x: Any, make: bool = True) -> Any:
    if make:
        return x * tf.Variable(1.0)
    return x


def test_a_variable_at_every_call() -> None:
    text = (
        "function 'making': it creates a variable at every call. Create variables outside, or "
        "once: keep them and test whether they are there."
    )
    f = function(making)
    for _ in range(2):
        refused(ValueError, text, "return x * tf.Variable(1.0)", lambda: f(ONE))


def test_a_variable_on_a_later_call() -> None:
    text = (
        "function 'making': it creates a variable on a call that is not its first. Create "
        "variables outside, or once: keep them and test whether they are there."
    )
    f = function(making)
    assert f(ONE, False).numpy() == 1.0
    refused(ValueError, text, "return x * tf.Variable(1.0)", lambda: f(ONE, True))
    assert f(ONE, False).numpy() == 1.0


# Arguments that do not fit.


def identity(x: Any) -> Any:
    return x


def product(x: Any, y: Any) -> Any:
    return x * y


ARGUMENTS: list[tuple[str, Callable[[], Any]]] = [
    (
        "identity: argument `x` does not fit its `input_signature`; got float32[2,2] for "
        "float32[?]. Convert it, or widen the signature.",
        lambda: function(identity, input_signature=[spec(None)])(tf.ones([2, 2])),
    ),
    (
        "identity: argument `x` does not fit its `input_signature`; got int32[1] for float32[?]. "
        "Convert it, or widen the signature.",
        lambda: function(identity, input_signature=[spec(None)])(tf.constant([1])),
    ),
    (
        "product: `input_signature` has 1 entries; got 2 arguments.",
        lambda: function(product, input_signature=[spec()])(ONE, ONE),
    ),
    (
        "identity: `input_signature` has 2 entries; got 1 arguments.",
        lambda: function(identity, input_signature=[spec(), spec()])(ONE),
    ),
    (
        "identity: argument `x` does not have the structure of `input_signature`; got [1, 2] for "
        "{'a': TensorSpec(shape=(), dtype=tf.float32, name=None)}.",
        lambda: function(identity, input_signature=[{"a": spec()}])([1, 2]),
    ),
    (
        "identity: missing a required argument: 'x'. Its parameters are (x).",
        lambda: function(identity)(),
    ),
    (
        "identity: got an unexpected keyword argument 'y'. Its parameters are (x).",
        lambda: function(identity)(ONE, y=1),
    ),
    (
        "identity: argument `x` must be float32[2], as traced; got float32[3]. Ask "
        "get_concrete_function for this signature.",
        lambda: function(identity).get_concrete_function(spec(2))(tf.ones([3])),
    ),
    (
        "identity: argument `x` is missing.",
        lambda: function(identity).get_concrete_function(spec(2))(),
    ),
    (
        "product: argument `y` was traced as 3.0; got 4.0. Ask get_concrete_function for this "
        "value.",
        lambda: function(product).get_concrete_function(spec(2), 3.0)(tf.ones([2]), 4.0),
    ),
    (
        "identity: the parameters are x; got 1 arguments and 'z'.",
        lambda: function(identity).get_concrete_function(spec(2))(tf.ones([2]), z=1),
    ),
    (
        "function: a callable was expected; got 3.",
        lambda: function(3),
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "work"), ARGUMENTS, ids=lambda a: a[:30] if type(a) is str else ""
)
def test_arguments_that_do_not_fit(text: str, work: Callable[[], Any]) -> None:
    with pytest.raises(TypeError) as caught:
        work()
    assert str(caught.value) == text
    assert re.match(r"  --> .*test_function_errors\.py:\d+: ", caught.value.__notes__[0])


def test_a_description_in_place_of_a_tensor() -> None:
    refused(
        ValueError,
        "TensorSpec: float32[2] only describes a tensor; a tensor was expected here. Pass a "
        "tensor; specs go to get_concrete_function.",
        "lambda: function(identity)(spec(2)),",
        lambda: function(identity)(spec(2)),
    )


def test_results_that_are_no_tensors() -> None:
    refused(
        TypeError,
        "function 'returning': it must return tensors, numbers, None or nests of them; got "
        "<class 'object'>.",
        "lambda: returning(ONE),",
        lambda: returning(ONE),
    )


@function
def returning(x: Any) -> Any:
    return [x, object]


def test_more_traces_than_allowed() -> None:
    f = function(identity, max_traces=1)
    f(1)
    refused(
        RuntimeError,
        "function 'identity': it may be traced 1 times (`max_traces`), and this call needs another "
        "trace: `x` was 1, now 2. Pass tensors instead of Python values that vary, or fix "
        "`input_signature` with None for sizes that vary.",
        "lambda: f(2),",
        lambda: f(2),
    )


@function
def forever(x: Any) -> Any:
    return forever(x)


def test_recursion_without_end() -> None:
    refused(
        RecursionError,
        "function 'forever': 100 traces are inside each other. A function that calls itself must "
        "end by Python values, which change from call to call.",
        "return forever(x)",
        lambda: forever(ONE),
    )


# Exceptions in the middle of a trace.


def test_an_exception_in_the_middle_of_a_trace() -> None:
    v = tf.Variable(1.0)
    failing = [True]

    @function
    def inner(x: Any) -> Any:
        v.assign(x * 100.0)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x
            if failing[0]:
                raise KeyError("in the middle")
        return tape.gradient(y, x)

    outer = function(lambda x: inner(x) + 1.0)
    for f in (outer, inner, outer):
        with pytest.raises(KeyError, match="in the middle"):
            f(ONE)
    assert tf.executing_eagerly()
    assert v.numpy() == 1.0
    failing[0] = False
    assert outer(ONE).numpy() == 3.0
    assert v.numpy() == 100.0


# Errors at run time, on both engines.


def checking(v: Any, x: Any, i: Any) -> Any:
    v.assign(x)
    tf.debugging.assert_positive(x, "must be more than nothing")
    v.assign_add(1.0)
    return tf.gather(tf.ones([3]), i)


def test_run_time_errors_leave_variables_as_they_were(engine: str) -> None:
    v = tf.Variable(7.0)
    f = function(checking)
    with tf.engine(engine):
        refused(
            errors.InvalidArgumentError,
            "assert_positive: must be more than nothing; x > 0, where y is 0, so x > y does not "
            "hold for 1 of 1 elements (at []: -1.0 and 0.0).",
            'tf.debugging.assert_positive(x, "must be more than nothing")',
            lambda: f(v, -ONE, 0),
        )
        assert v.numpy() == 7.0
        refused(
            errors.InvalidArgumentError,
            "gather: index 3 is outside [0, 3). Indices count from 0; negative ones are not "
            "allowed here.",
            "return tf.gather(tf.ones([3]), i)",
            lambda: f(v, ONE, tf.constant(3)),
        )
        assert v.numpy() == 7.0
        assert f(v, ONE, tf.constant(2)).numpy() == 1.0
        assert v.numpy() == 2.0


def multiplied(x: Any, y: Any) -> Any:
    return tf.matmul(x, y)


def folded(x: Any) -> Any:
    return tf.reshape(x, [2, -1])


def test_shapes_that_do_not_fit_at_run_time(engine: str) -> None:
    with tf.engine(engine):
        refused(
            errors.InvalidArgumentError,
            "matmul: inner dimensions must agree; got float32[2,3] and float32[2,3]. Transpose one "
            "argument or check its shape.",
            "return tf.matmul(x, y)",
            lambda: function(multiplied, input_signature=[spec(None, None)] * 2)(
                tf.ones([2, 3]), tf.ones([2, 3])
            ),
        )
        refused(
            errors.InvalidArgumentError,
            "reshape: 3 elements do not fit shape [2, -1]; got float32[3]. The product of the "
            "sizes must stay the same; one size may be -1.",
            "return tf.reshape(x, [2, -1])",
            lambda: function(folded, input_signature=[spec(None)])(tf.ones([3])),
        )


def taken(table: Any, i: Any) -> Any:
    return tf.gather(table, i)


def in_branch(table: Any, i: Any) -> Any:
    return tf.cond(i > 0, lambda: taken(table, i), lambda: table[0])


def in_loop(table: Any, i: Any) -> Any:
    return tf.while_loop(
        lambda k, total: k <= i, lambda k, total: (k + 1, total + taken(table, k)), (0, 0.0)
    )[1]


@pytest.mark.parametrize("python", [taken, in_branch, in_loop, function(taken)])
@pytest.mark.parametrize("taped", [False, True])
def test_errors_deep_inside_name_the_innermost_line(engine: str, python: Any, taped: bool) -> None:
    f = function(lambda t, i: python(t, i) * 2.0)
    table = tf.ones([3])

    def call() -> None:
        with tf.GradientTape() as tape:
            if taped:
                tape.watch(table)
            f(table, tf.constant(3))

    with tf.engine(engine):
        refused(
            errors.InvalidArgumentError,
            "gather: index 3 is outside [0, 3). Indices count from 0; negative ones are not "
            "allowed here.",
            "return tf.gather(table, i)",
            call,
        )
        assert f(table, tf.constant(1)).numpy() > 0.0


@pytest.fixture(params=["host", "xla"])
def engine(request: pytest.FixtureRequest) -> str:
    return request.param


# What XLA cannot do.


def distinct(x: Any) -> Any:
    return tf.unique(x)[0]


def joined(x: Any) -> Any:
    return tf.strings.join([x, "b"])


LENGTH = tf.Variable(3)


def sized(x: Any) -> Any:
    return x + tf.zeros([LENGTH])


_CANNOT = (
    "XLA cannot run this operation: it has no form in XLA (data-dependent shapes, strings). Leave "
    "out jit_compile=True, or move it out of the function."
)


@pytest.mark.parametrize(
    ("python", "x", "line", "text"),
    [
        (distinct, tf.ones([2]), "return tf.unique(x)[0]", f"unique: {_CANNOT}"),
        (
            joined, tf.constant("a"), 'return tf.strings.join([x, "b"])',
            f"string_join: {_CANNOT}",
        ),
        (
            sized, tf.constant(3.0), "return x + tf.zeros([LENGTH])",
            "sized: XLA needs fixed shapes: a shape or index depends on the values of tensors. "
            "Leave out jit_compile=True, or fix the size.",
        ),
    ],
    ids=["unique", "strings", "data_dependent_size"],
)  # fmt: skip
def test_what_xla_cannot_do(python: Any, x: Any, line: str, text: str) -> None:
    demanded = function(python, jit_compile=True)
    refused(errors.UnimplementedError, text, line, lambda: demanded(x))
    for jit in (None, False):
        assert function(python, jit_compile=jit)(x).shape.rank is not None


def test_a_demand_inside_another_function_is_a_demand() -> None:
    inner = function(distinct, jit_compile=True)
    outer = function(lambda x: inner(x) + 1.0)
    refused(
        errors.UnimplementedError,
        f"unique: {_CANNOT}",
        "return tf.unique(x)[0]",
        lambda: outer(tf.ones([2])),
    )


def _child(queue: Any, f: Any) -> None:
    found = []
    for shape in ([5], [6]):
        try:
            found.append(f(tf.ones(shape)).numpy().tolist())
        except errors.FailedPreconditionError as error:
            found.append(str(error))
    with tf.engine("host"):
        found.append(function(identity)(ONE).numpy().tolist())
    queue.put(found)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # JAX's
def test_a_forked_child_cannot_compile_but_runs_on_the_host() -> None:
    f = function(multiplied_by_two, jit_compile=True)
    f(tf.ones([4]))
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_child, args=(queue, f))
    child.start()
    *refusals, answer = queue.get(timeout=600)
    child.join(60)
    assert child.exitcode == 0
    assert answer == 1.0
    assert (
        refusals
        == [
            "compiled functions: this process was forked from one that used XLA, which does not "
            "survive a fork. Start worker processes with the `spawn` method."
        ]
        * 2
    )


def multiplied_by_two(x: Any) -> Any:
    return x * 2.0


# Host calls.


def dividing(a: Any) -> Any:
    return 1 // 0


def calling(x: Any, python: Any, out: Any) -> Any:
    return tf.py_function(python, [x], out)


def numbers(x: Any, python: Any, out: Any) -> Any:
    return tf.numpy_function(python, [x], out)


_CALLING = "return tf.py_function(python, [x], out)"


def test_a_host_call_that_raises() -> None:
    v = tf.Variable(1.0)

    @function
    def f(x: Any) -> Any:
        v.assign(77.0)
        return calling(x, dividing, tf.float32)

    error = refused(
        errors.UnknownError,
        "py_function: Python raised ZeroDivisionError at HERE: integer division or modulo by zero.",
        _CALLING,
        lambda: f(ONE),
    )
    assert isinstance(error.__cause__, ZeroDivisionError)
    assert v.numpy() == 1.0


@pytest.mark.parametrize(
    ("raised", "kind"),
    [
        (ValueError, errors.InvalidArgumentError),
        (TypeError, errors.InvalidArgumentError),
        (StopIteration, errors.OutOfRangeError),
        (MemoryError, errors.ResourceExhaustedError),
        (NotImplementedError, errors.UnimplementedError),
        (RuntimeError, errors.UnknownError),
    ],
)
def test_kinds_of_exceptions_from_host_calls(raised: Any, kind: Any) -> None:
    def python(a: Any) -> Any:
        raise raised("no")

    for call in (calling, numbers):
        with pytest.raises(kind, match=f"Python raised {raised.__name__} at .*: no"):
            function(lambda x, c=call: c(x, python, tf.float32))(ONE)
    with pytest.raises(kind):
        calling(ONE, python, tf.float32)
    with pytest.raises(raised, match="no"):
        numbers(ONE, python, tf.float32)


@pytest.mark.parametrize(
    ("python", "out", "text"),
    [
        (
            lambda a: "s", tf.float32,
            "py_function: result 0 must be float32[...], as `Tout` says; got string[].",
        ),
        (
            lambda a: tf.ones([3]), spec(2),
            "py_function: result 0 must be float32[2], as `Tout` says; got float32[3].",
        ),
        (
            lambda a: (a, a), [tf.float32],
            "py_function: Python must return 1 values, as `Tout` says; got 2.",
        ),
        (
            lambda a: None, tf.float32,
            "py_function: result 0 must be float32[...], as `Tout` says; got None.",
        ),
        (
            lambda a: tf.constant(1), [tf.float32],
            "py_function: result 0 must be float32[...], as `Tout` says; got int32[].",
        ),
    ],
    ids=["dtype", "shape", "count", "none", "tensor"],
)  # fmt: skip
def test_a_host_call_with_wrong_results(python: Any, out: Any, text: str) -> None:
    traced = function(lambda x: calling(x, python, out))
    refused(errors.InvalidArgumentError, text, _CALLING, lambda: traced(ONE))
    refused(errors.InvalidArgumentError, text, _CALLING, lambda: calling(ONE, python, out))


def inside(a: Any) -> Any:
    return tf.gather(a, 5)


def test_an_operation_that_fails_inside_a_host_call_keeps_its_line() -> None:
    error = refused(
        errors.InvalidArgumentError,
        "gather: index 5 is outside [0, 2). Indices count from 0; negative ones are not allowed "
        "here.",
        "return tf.gather(a, 5)",
        lambda: function(lambda x: calling(x, inside, tf.float32))(tf.ones([2])),
    )
    assert re.search(r"  in py_function, called at .*: " + re.escape(_CALLING), error.__notes__[-1])


def _counts_rows(x: Any) -> Any:
    return [x[i] for i in range(x.shape[0])]


def _multiplies_a_size(x: Any) -> Any:
    return tf.reshape(x, (x.shape[0] * 3,))


@pytest.mark.parametrize("function", [_counts_rows, _multiplies_a_size])
def test_python_s_words_on_an_unknown_size_have_a_remedy(function: Any) -> None:
    open_ = tf.function(function, input_signature=[tf.TensorSpec([None, 3])])
    with pytest.raises(TypeError) as caught:
        open_(tf.ones((2, 3)))
    words = "\n".join([str(caught.value), *getattr(caught.value, "__notes__", [])])
    assert "tf.shape(x)[i]" in words


def test_other_faults_with_none_have_no_word_on_sizes() -> None:
    f = tf.function(lambda x: x + len(None), input_signature=[tf.TensorSpec([3])])  # type: ignore[arg-type]
    with pytest.raises(TypeError) as caught:
        f(tf.ones(3))
    assert not any("tf.shape" in n for n in getattr(caught.value, "__notes__", []))

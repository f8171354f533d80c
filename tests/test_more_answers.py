"""Each line of "Answers instead of errors" in docs/differences.md, by a program that it is true of."""
# Some arguments are none that a checker accepts.
# pyright: reportArgumentType=false

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import wengert as tf

PAGE = Path(__file__).parent.parent / "docs" / "differences.md"
SECTION = PAGE.read_text().partition("\n## Answers instead of errors\n")[2].partition("\n## ")[0]
LINES = [" ".join(line.split()) for line in re.split(r"^- ", SECTION, flags=re.M)[1:]]
PROGRAMS: dict[str, Callable[[], None]] = {}


def line(start: str) -> Callable[[Callable[[], None]], None]:
    """Declares the program for the line of the page that begins so."""

    def add(program: Callable[[], None]) -> None:
        PROGRAMS[start] = program

    return add


def value(x: Any) -> Any:
    return np.asarray(x).tolist()


@line("Linear operators broadcast")
def _() -> None:
    stack = tf.linalg.LinearOperatorDiag([[1.0, 2.0], [3.0, 4.0]])
    assert value(stack.add_to_tensor(tf.zeros([2, 2]))[1]) == [[3.0, 0.0], [0.0, 4.0]]
    circulant = tf.linalg.LinearOperatorCirculant([1.0, 1.0], input_output_dtype=tf.float32)
    assert (circulant @ circulant).adjoint().dtype is tf.float32


@line("A local function that assigns a name")
def _() -> None:
    @tf.function
    def sums(x: Any) -> Any:
        total, turns = tf.zeros([2]), 0

        def add(row: Any) -> None:
            nonlocal total, turns
            total, turns = total + row, turns + 1

        for row in x:
            if row[0] > 0:
                add(row)
        return total, turns

    total, turns = sums(tf.constant([[1.0, 2.0], [-1.0, 5.0], [3.0, 4.0]]))
    assert (value(total), value(turns)) == ([4.0, 6.0], 2)


@line("Slices of variables have")
def _() -> None:
    v = tf.Variable(tf.zeros([2, 3]))

    def step(x: Any) -> None:
        v[:, 1].assign_add(x)
        v[0].assign_sub(x[0])

    for run in (step, tf.function(step)):
        run(tf.constant([1.0, 2.0]))
    assert value(v) == [[-2.0, 0.0, -2.0], [0.0, 4.0, 0.0]]


@pytest.mark.parametrize("start", PROGRAMS)
def test_the_page_says_what_is_true(start: str) -> None:
    assert sum(line.startswith(start) for line in LINES) == 1
    PROGRAMS[start]()


def test_each_line_of_the_page_has_a_program() -> None:
    assert [x for x in LINES if not any(x.startswith(start) for start in PROGRAMS)] == []


@line("A loop on tensors may grow a list")
def _() -> None:
    @tf.function
    def endless(x: Any) -> Any:
        while tf.constant(True):
            x = tf.concat([x, x], 0)
        return x

    with pytest.raises(ValueError, match="shape"):
        endless(tf.constant([1.0]))

    @tf.function
    def f(n: Any) -> Any:
        found = []
        rows = tf.zeros([1])
        total, half = 0, 0
        for i in tf.range(n):
            found.append(i)
            rows = tf.concat([rows, rows], 0)
            total = total + tf.constant([1.0, 2.0])
            half = half + 0.5
        return tf.stack(found), rows, total, half

    found = f(tf.constant(3))
    assert [value(x) for x in found] == [[0, 1, 2], [0.0] * 8, [3.0, 6.0], 1.5]


@line("Converted code goes further")
def _() -> None:
    def conditions(n: Any) -> Any:
        turns = 0
        while n:
            n = n - 1
            turns = turns + 1
        return (1 if turns else 2.5), (n or turns), (turns and n)

    assert [value(x) for x in tf.function(conditions)(tf.constant(2))] == [1.0, 2, 0]

    def jumps(x: Any) -> Any:
        if x > 8:
            raise KeyError(x)
        with tf.name_scope("inside"):
            try:
                if x > 4:
                    return 1
            finally:
                x = x + 1
        for i in range(3):
            if i > x:
                break
        for j in tf.range(3):
            if j > x:
                return 2
        else:
            x = x + i  # pyright: ignore[reportPossiblyUnboundVariable]  # there are turns
        return x

    function = tf.function(jumps)
    for k in (-2, 0, 3, 5):
        assert value(function(tf.constant(k))) == value(jumps(tf.constant(k)))

    def builtins(x: Any) -> Any:
        a, *rest = x
        found = [v for v in x if v > 1]
        pairs = [p * q for p, q in zip(x, x[::-1], strict=True)]
        more = list(map(lambda v: v * 2, x))  # noqa: C417  # a user's way
        found = tf.stack(found), pairs, more
        return max(a, 2), min([a, 2]), sum(x), any(x > 2), all(x > 2), 3 in x, len(rest), found

    numbers = tf.constant([1, 2, 3])
    found = tf.nest.flatten(tf.function(builtins)(numbers))
    assert [value(x) for x in found] == [2, 1, 6, True, False, True, 2, [2, 3], 3, 4, 3, 2, 4, 6]


def test_what_tensorflow_takes_for_a_number_is_refused() -> None:
    with pytest.raises(ValueError, match="ambiguous"):
        tf.function(lambda x: not x)(tf.constant([True, False]))

    def after(n: Any) -> Any:
        for i in tf.range(n):  # noqa: B007  # read below
            pass
        return i  # pyright: ignore[reportPossiblyUnboundVariable]  # this is tested

    assert value(tf.function(after)(tf.constant(3))) == 2
    assert value(tf.function(after)(tf.constant(0))) == 0

    def last(rows: Any) -> Any:
        for row in rows:  # noqa: B007  # read below
            pass
        return row  # pyright: ignore[reportPossiblyUnboundVariable]  # this is tested

    spec = [tf.TensorSpec([None], tf.int32)]
    assert value(tf.function(last, input_signature=spec)(tf.constant([1, 2]))) == 2
    with pytest.raises(tf.errors.InvalidArgumentError, match="made no turn"):
        tf.function(last, input_signature=spec)(tf.constant([], tf.int32))


@line("A tensor with a value may leave the trace")
def _() -> None:
    left: list[Any] = []

    @tf.function
    def f(x: Any) -> Any:
        left.extend([tf.constant(3.0), tf.constant(3.0) * 2.0, tf.constant(2.0).numpy()])
        left.append(int(tf.constant(4.0)) if bool(tf.constant(True)) else 0)

        def branch() -> Any:
            left.append(tf.constant(5.0))
            return x

        tf.cond(x > 0.0, branch, lambda: x)
        return x + left[4]

    assert value(f(tf.constant(1.0))) == 6.0
    assert [value(x) for x in left] == [3.0, 6.0, 2.0, 4, 5.0]
    assert value(tf.function(lambda: left[0] + left[1])()) == 9.0
    # Without a value it may not.
    tf.function(lambda x: left.append(x * 2.0))(tf.constant(1.0))
    with pytest.raises(TypeError, match="outside"):
        _ = left[-1] + 1.0


@line("A function that is not converted can iterate")
def _() -> None:
    f = tf.function(lambda x: [i + 1 for i in x], autograph=False)
    assert value(f(tf.constant([1, 2]))) == [2, 3]
    open_ = tf.function(f.python_function, autograph=False, input_signature=[tf.TensorSpec([None])])
    with pytest.raises(TypeError):
        open_(tf.constant([1.0, 2.0]))


@line("The condition of `tf.cond` may be a number")
def _() -> None:
    f = tf.function(lambda n: tf.cond(n, lambda: 1, lambda: 2))
    assert (value(f(tf.constant(3))), value(f(tf.constant(0)))) == (1, 2)


@line("`batch_jacobian` of vectors")
def _() -> None:
    x = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    assert value(tape.batch_jacobian(y, x)) == [2.0, 4.0, 6.0]


@line("`tf.gradients` of complex tensors")
def _() -> None:
    def f(x: Any, y: Any) -> Any:
        return tf.gradients(x * x, x), tf.gradients({"a": y * y}, {"x": y, "y": [y]})

    mine, many = tf.function(f)(tf.constant(3 + 1j), tf.constant(2.0))
    assert value(mine[0]) == 6 - 2j
    assert [value(x) for x in tf.nest.flatten(many)] == [4.0, 4.0]


@line("`tf.map_fn` takes the dtype")
def _() -> None:
    found = tf.map_fn(lambda x: tf.cast(x, tf.int32), tf.constant([1.0, 2.0]))
    assert found.dtype == tf.int32 and value(found) == [1, 2]


@line("`tf.while_loop` over one variable")
def _() -> None:
    found = tf.while_loop(lambda i: i < 3, lambda i: i + 1, [tf.constant(0)])
    assert isinstance(found, list) and value(found[0]) == 3


@line("`tf.strings.join` broadcasts")
def _() -> None:
    found = tf.strings.join([tf.constant(["a"]), tf.constant(["b", "c"])])
    assert value(found) == [b"ab", b"ac"]


@line("Objects without a hash are compared by identity")
def _() -> None:
    class Options:
        def __eq__(self, other: object) -> bool:
            return True

        __hash__ = None  # type: ignore[assignment]  # as in a class that defines only `__eq__`

    f = tf.function(lambda x, o: x + 1)
    first, second = Options(), Options()
    for options in (first, first, second):
        assert value(f(tf.constant(1), options)) == 2
    assert f.experimental_get_tracing_count() == 2

    size = tf.function(lambda x, many: x * len(many))
    many = {1, 2}
    assert value(size(tf.constant(1), many)) == 2
    many.add(3)
    assert value(size(tf.constant(1), many)) == 3
    for changing in (deque([1]), bytearray(b"a"), memoryview(b"a")):
        with pytest.raises(TypeError, match="Pass a list or a tuple"):
            size(tf.constant(1), changing)


@line("Numbers of threads may be set after the start")
def _() -> None:
    value(tf.constant(1) + 1)
    before = tf.config.threading.get_intra_op_parallelism_threads()
    try:
        tf.config.threading.set_intra_op_parallelism_threads(3)
        assert tf.config.threading.get_intra_op_parallelism_threads() == 3
    finally:
        tf.config.threading.set_intra_op_parallelism_threads(before)


@line("`round(x)` works")
def _() -> None:
    assert value(round(tf.constant(1.6))) == 2.0
    assert int(tf.constant([[3]])) == 3
    with pytest.raises(TypeError):
        int(tf.constant([3, 4]))


@line("`tf.constant([tensor, 2.0])` stacks")
def _() -> None:
    assert value(tf.constant([tf.constant(1.0), 2.0])) == [1.0, 2.0]
    f = tf.function(lambda x: tf.constant([x, 2.0]))
    assert value(f(tf.constant(1.0))) == [1.0, 2.0]


@line("A Python number before a tensor takes its dtype")
def _() -> None:
    assert value(tf.add(2, tf.constant(1.5))) == 3.5
    assert tf.add(2, tf.constant(1.5, tf.float64)).dtype == tf.float64


@line("`custom_gradient` functions take keyword arguments")
def _() -> None:
    @tf.custom_gradient
    def scaled(x: Any, by: Any) -> Any:
        return x * by, lambda g: (g * by, g * x * 10.0)

    x, by = tf.constant(3.0), tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch([x, by])
        y = scaled(x, by=by)
    assert [value(g) for g in tape.gradient(y, [x, by])] == [2.0, 30.0]


@line("`tf.numpy_function` takes float64")
def _() -> None:
    found = tf.numpy_function(lambda x: np.float64(x) * 1.5, [tf.constant(1.0)], tf.float32)
    assert found.dtype == tf.float32 and value(found) == 1.5


@line("`None` among `output_gradients` stands for ones")
def _() -> None:
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y, z = x * 2.0, x * 3.0
    given = [None, tf.constant([10.0, 0.0])]
    assert value(tape.gradient([y, z], x, output_gradients=given)) == [32.0, 2.0]
    with tf.GradientTape() as once:
        once.watch(x)
        y = x * x
    assert value(once.jacobian(y, x)) == [[2.0, 0.0], [0.0, 4.0]]


@line('`unconnected_gradients="error"` raises')
def _() -> None:
    x = tf.constant(1.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    tape.gradient(y, x)
    with pytest.raises(RuntimeError, match=r"test_more_answers\.py"):
        tape.gradient(y, x)
    with tf.GradientTape() as tape:
        tape.watch(x)
    with pytest.raises(ValueError, match="gradient"):
        tape.gradient(tf.constant(2.0), x, unconnected_gradients="error")


def has_gradient(f: Callable[[Any], Any], x: Any) -> bool:
    x = tf.constant(x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    found = tape.gradient(y, x)
    return found is not None and bool(np.isfinite(value(tf.abs(found))).all())


@line("More gradients: `truncatemod`")
def _() -> None:
    rng = np.random.default_rng(0)
    square, image = rng.random((3, 3)) + np.eye(3), rng.random((1, 4, 4, 3)).astype("f")
    for f, x in [
        (lambda x: tf.truncatemod(x, 2.0), np.array([3.5, 4.5], "f")),
        (lambda x: tf.linalg.lu(x)[0], square),
        (lambda x: tf.math.real(tf.linalg.logm(tf.cast(x, tf.complex128))), square),
        (lambda x: tf.linalg.lstsq(x, tf.ones_like(x), fast=False), square),
        (tf.random.shuffle, square),
        (lambda x: tf.image.adjust_hue(x, 0.1), image),
        (lambda x: tf.image.adjust_saturation(x, 0.5), image),
        (tf.image.hsv_to_rgb, image),
        (lambda x: tf.image.resize(x, [2, 2], "area"), image),
        (lambda x: tf.abs(tf.signal.rfft3d(x)), image[0]),
    ]:
        assert has_gradient(f, x), f


@line("`argsort`, `unique`, `bincount`, `is_nan` and `bitcast` give `None`")
def _() -> None:
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        targets = [
            tf.argsort(x), tf.unique(x)[0], tf.math.bincount([0, 1], weights=x),
            tf.math.is_nan(x), tf.bitcast(x, tf.int32),
        ]  # fmt: skip
    assert [tape.gradient(y, x) for y in targets] == [None] * 5


@line("More dtypes in many places")
def _() -> None:
    half = tf.constant([[2.0, 0.0], [0.0, 2.0]], tf.float16)
    assert value(tf.linalg.det(half)) == 4.0
    assert tf.linalg.inv(tf.cast(half, tf.bfloat16)).dtype == tf.bfloat16


@line("`tf.nn.leaky_relu` takes a variable for `alpha`")
def _() -> None:
    slope = tf.Variable(0.5)
    with tf.GradientTape() as tape:
        y = tf.nn.leaky_relu(tf.constant([-2.0, 3.0]), slope)
    assert value(tape.gradient(y, slope)) == -2.0
    boxes = tf.constant([[[0.0, 0.0, 1.0, 1.0]]])
    image = tf.zeros([1, 4, 4, 3], tf.float64)
    assert tf.image.draw_bounding_boxes(image, boxes, [[1.0, 0.0, 0.0]]).dtype == tf.float64


@line("Second derivatives through `tf.nn.moments`")
def _() -> None:
    x = tf.constant([1.0, 2.0, 4.0])
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            variance = tf.nn.moments(x, [0])[1]
        first = inner.gradient(variance, x)
    # Of (x_i - m)² / n: 2 / n (1 on the diagonal, less 1 / n).
    wanted = 2.0 / 3.0 * (np.eye(3) - 1.0 / 3.0)
    np.testing.assert_allclose(outer.jacobian(first, x), wanted, atol=1e-6)


@line("`tf.gradients` in a branch or an inner function")
def _() -> None:
    v = tf.Variable(3.0)

    @tf.function
    def f(flag: Any) -> Any:
        square = v * v
        return tf.cond(flag, lambda: tf.gradients(square, v)[0], lambda: 0.0)

    assert value(f(tf.constant(True))) == 6.0
    assert value(tf.function(lambda: tf.hessians(v * v * v, v))()[0]) == 18.0


@line("Of shapes that do not broadcast")
def _() -> None:
    spec = tf.TensorSpec([None])

    def f(a: Any, b: Any) -> Any:
        return a == b, a != b, tf.reduce_all(a == b), tf.rank(a == b)

    for jit in (False, True):
        function = tf.function(f, input_signature=[spec, spec], jit_compile=jit)
        found = function(tf.ones([2]), tf.ones([3]))
        assert [value(x) for x in found] == [False, True, False, 1]


@line("A rule of `custom_gradient` with a tape of its own")
def _() -> None:
    @tf.custom_gradient
    def cube(x: Any) -> Any:
        def rule(g: Any) -> Any:
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = x * x * x
            return g * tape.gradient(y, x)

        return x * x * x, rule

    def f(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.cond(x > 0.0, lambda: cube(x), lambda: x)
            for _ in tf.range(2):
                y = y + cube(x)
        return tape.gradient(y, x)

    assert value(f(tf.constant(2.0))) == value(tf.function(f)(tf.constant(2.0))) == 36.0


@line("`True` counts as 1 beside numbers")
def _() -> None:
    assert value(tf.constant([1, 2]) + True) == [2, 3]
    assert value(2 * tf.constant([True, False])) == [True, False]
    assert tf.constant(1, int).dtype == tf.int64


@line("A bare number is a shape of one axis everywhere")
def _() -> None:
    assert tf.broadcast_to(1, 3).shape == tf.random.normal(3).shape == tf.tile([1], 3).shape == 3
    assert value(tf.reduce_sum([[1, 2]], tf.constant(0, tf.uint8))) == [1, 2]
    assert value(tf.identity(1e40)) == np.inf


@line("`len` works for variables and ragged tensors")
def _() -> None:
    assert len(tf.Variable([1, 2])) == len(tf.ragged.constant([[1], [2, 3]])) == 2


def test_what_stands_for_truth_values_in_tensorflow_is_refused() -> None:
    x = tf.constant([True, False])
    for work in (
        lambda: x * tf.constant([1, 2]), lambda: x == np.array([1.5, 0.0]),
        lambda: x & np.array(["a", ""]), lambda: tf.Variable([1.0, 2.0]) * x,
    ):  # fmt: skip
        with pytest.raises(TypeError):
            work()

"""What functions do besides computing: variables, effects in order, captures, calls of functions."""

import collections
import gc
import weakref

import numpy as np
import pytest

from tests.semantics.api import AGAINST_TENSORFLOW, check, refuses, tf
from tests.semantics.test_functions import Masked, Pair, function, spec

one, two = tf.constant(1.0), tf.constant(2.0)


# Variables.


def test_variables_are_captured_by_reference():
    v = tf.Variable(1.0)
    f = function(lambda x: x * v)
    check(f(two), 2.0)
    v.assign(5.0)
    check(f(two), 10.0)
    assert f.experimental_get_tracing_count() == 1


def test_reads_and_writes_in_program_order():
    v = tf.Variable(1.0)

    @function
    def f(x):
        before = v + 0.0
        v.assign(x * 10.0)
        between = v + 0.0
        v.assign_add(1.0)
        after = v.read_value()
        v.assign_sub(x)
        return before, between, after

    check(f(tf.constant(3.0)), (1.0, 30.0, 31.0))
    check(v, 28.0)
    check(f(tf.constant(4.0)), (28.0, 40.0, 41.0))
    check(v, 37.0)


def test_an_unused_assignment_happens():
    v = tf.Variable(1.0)

    @function
    def f(x):
        v.assign(x)

    assert f(two) is None
    check(v, 2.0)


def test_what_assignments_give_back():
    v = tf.Variable(1.0)
    check(function(lambda: v.assign(3.0))(), 3.0)
    check(function(lambda: v.assign_add(3.0))(), 6.0)
    check(function(lambda: v.assign_add(1.0) * 2.0)(), 14.0)


def test_rows_and_parts():
    m = tf.Variable([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]])

    @function
    def f(i, x):
        m[0].assign(x * tf.ones([3]))
        m[i, 0].assign(-x)
        m[:, i].assign([7.0, 8.0])
        m.scatter_nd_update([[0, 2]], [10.0])
        m.scatter_add(tf.IndexedSlices(tf.ones([1, 3]), tf.constant([1])))
        return m.read_value()

    expected = [[9.0, 7.0, 10.0], [-8.0, 9.0, 6.0]]
    check(f(tf.constant(1), tf.constant(9.0)), expected)
    check(m, expected)


def test_two_functions_share_a_variable():
    v = tf.Variable(0.0)
    up, down = function(lambda: v.assign_add(2.0)), function(lambda: v.assign_sub(1.0))
    for _ in range(3):
        up(), down()
    check(v, 3.0)


def test_variables_are_made_on_the_first_call_only():
    made = []

    @function
    def f(x):
        if not made:
            made.append(tf.Variable(3.0))
        return made[0] * x

    check(f(one), 3.0)
    check(f(two), 6.0)
    assert len(made) == 1
    # The first call is traced twice: once to make variables, once without.
    assert f.experimental_get_tracing_count() == 2


def test_a_variable_is_made_from_whatever_a_tensor_is_made_from():
    made, v = [], tf.Variable([5.0])

    @function
    def f(x):
        if not made:
            made.append(tf.Variable([x, 2.0]))
            made.append(tf.Variable([v[0], x]))
            made.append(tf.Variable([1, 2], dtype=tf.float64))
        return made[0] * 1.0, made[1] * 1.0, made[2] * 1.0

    for x in (one, two):
        first, second, third = f(x)
        check(first, [1.0, 2.0])
        check(second, [5.0, 1.0])
        check(third, [1.0, 2.0])


def test_a_variable_on_every_call_is_an_error():
    f = function(lambda x: tf.Variable(1.0) * x)
    for _ in range(2):
        with refuses(ValueError):
            f(one)


def test_a_variable_on_a_later_call_is_an_error():
    made = {}

    @function
    def f(x, make):
        if make and "v" not in made:
            made["v"] = tf.Variable(2.0)
        return x * made["v"] if make else x

    check(f(one, False), 1.0)
    with refuses(ValueError):
        f(one, True)
    check(f(two, False), 2.0)


def test_a_variable_for_each_value_is_an_error():
    made = {}

    @function
    def f(x, i):
        if i not in made:
            made[i] = tf.Variable(2.0)
        return x * made[i]

    check(f(one, 0), 2.0)
    with refuses(ValueError):
        f(one, 1)


def test_initial_values_may_use_the_arguments():
    made = []

    @function
    def f(x):
        if not made:
            made.append(tf.Variable(x * 2.0))
            made.append(tf.Variable(lambda: tf.ones([2]) * 3.0))
        return made[0] + x, made[1]

    check(f(tf.constant(5.0)), (15.0, [3.0, 3.0]))
    check(f(tf.constant(7.0)), (17.0, [3.0, 3.0]))


def test_lazily_made_variables_of_objects_in_the_closure():
    class Layer:
        kernel = None

        def __call__(self, x):
            if self.kernel is None:
                self.kernel = tf.Variable(tf.ones([x.shape[-1]]) * 2.0)
            return x * self.kernel

    layer = Layer()
    f = function(lambda x: layer(x) + 1.0)
    check(f(tf.ones([1, 2])), [[3.0, 3.0]])
    check(f(tf.ones([3, 2])), [[3.0, 3.0]] * 3)


def test_slots_made_by_an_optimizer_on_its_first_step():
    class Momentum:
        slots = None

        def apply(self, pairs):
            if self.slots is None:
                self.slots = [tf.Variable(tf.zeros_like(v), trainable=False) for _, v in pairs]
            for slot, (g, v) in zip(self.slots, pairs, strict=True):
                slot.assign(0.5 * slot + g)
                v.assign_sub(0.1 * slot)

    v, optimizer = tf.Variable([1.0, 2.0]), Momentum()

    @function
    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(v * v)
        optimizer.apply([(g, v) for g in [tape.gradient(loss, v)]])
        return loss

    check(step(), 5.0)
    check(v, [0.8, 1.6])
    check(step(), 3.2)
    check(v, [0.54, 1.08])


def test_functions_are_dropped_with_their_variables():
    def make():
        v = tf.Variable(1.0)
        f = function(lambda x: x * v)
        f(one)
        return weakref.ref(f), weakref.ref(v)

    seen = make()
    gc.collect()
    assert [r() for r in seen] == [None, None]


# Effects.


def test_python_runs_while_tracing_only():
    seen = []

    @function
    def f(x):
        seen.append("run")
        return x

    for _ in range(3):
        f(one)
    assert seen == ["run"]


def test_python_values_are_frozen():
    settings = {"k": 3.0}
    f = function(lambda x: x * settings["k"])
    check(f(one), 3.0)
    settings["k"] = 5.0
    check(f(one), 3.0)
    check(f(tf.ones([1])), [5.0])


def test_prints_in_order(capfd):
    v = tf.Variable(0.0)

    @function
    def f(x):
        tf.print("first", x)
        v.assign(x)
        tf.print("second", v)
        v.assign_add(1.0)
        tf.print("third", v)

    f(tf.constant(4.0))
    f(tf.constant(6.0))
    lines = capfd.readouterr().err.splitlines()
    assert [s for s in lines if s.split()[:1] in (["first"], ["second"], ["third"])] == [
        "first 4", "second 4", "third 5", "first 6", "second 6", "third 7",
    ]  # fmt: skip


def test_host_calls_in_order():
    seen = []

    @function
    def f(x):
        tf.py_function(lambda a: seen.append(("first", float(a))), [x], [])
        tf.py_function(lambda a: seen.append(("second", float(a))), [x + 1.0], [])
        tf.numpy_function(lambda a: seen.append(("third", float(a))) or a, [x * 2.0], tf.float32)

    f(two)
    f(one)
    assert seen == [
        ("first", 2.0), ("second", 3.0), ("third", 4.0),
        ("first", 1.0), ("second", 2.0), ("third", 2.0),
    ]  # fmt: skip


def test_host_calls_give_tensors():
    @function
    def f(x):
        root = tf.py_function(lambda a: a**0.5, [x], tf.float32)
        many = tf.py_function(lambda a: [a, a * 2.0], [x], [tf.float32, tf.float32])
        return root, many[1], tf.numpy_function(lambda a: np.float32(a.sum()), [x], tf.float32)

    check(f(tf.constant([4.0, 9.0])), ([2.0, 3.0], [8.0, 18.0], 13.0))


def test_a_failed_assertion():
    @function
    def f(x):
        tf.debugging.assert_greater(x, 0.0)
        return x

    check(f(one), 1.0)
    with refuses(tf.errors.InvalidArgumentError):
        f(-one)
    check(f(two), 2.0)


def test_random_numbers_are_new_at_each_call():
    f = function(lambda: (tf.random.uniform([2]), tf.random.uniform([2])))
    (a, b), (c, d) = f(), f()
    numbers = np.concatenate([a, b, c, d])
    assert len(set(numbers.tolist())) == 8
    seeded = function(lambda: tf.random.uniform([], seed=3))
    assert float(seeded()) != float(seeded())


def test_a_generator_moves_on_inside_functions():
    inside, outside = (tf.random.Generator.from_seed(5) for _ in range(2))
    f = function(lambda: inside.normal([2]))
    for _ in range(3):
        check(f(), outside.normal([2]).numpy())
    check(inside.uniform([]), outside.uniform([]).numpy())


def test_control_dependencies():
    v = tf.Variable(1.0)

    @function
    def f(x):
        with tf.control_dependencies([v.assign(9.0)]):
            return v + x

    check(f(one), 10.0)


def test_leaving_the_trace_for_a_moment():
    @function
    def f(x):
        with tf.init_scope():
            inside = tf.executing_eagerly()
            k = tf.constant(3.0)
        return x * k, inside, tf.executing_eagerly(), tf.inside_function()

    check(f(one), (3.0, True, False, True))
    assert tf.executing_eagerly() and not tf.inside_function()


def test_an_exception_while_tracing_leaves_nothing():
    v = tf.Variable(1.0)

    @function
    def f(x, bad):
        v.assign(x)
        if bad:
            raise KeyError("in the middle")
        return x

    with refuses(KeyError):
        f(two, True)
    assert tf.executing_eagerly()
    check(v, 1.0)
    check(f(two, False), 2.0)
    check(v, 2.0)


# Results.


def test_results_keep_their_structure():
    v = tf.Variable(6.0)
    out = function(lambda x: {"a": v, "b": [x, None, 3, 2.5, True], "c": Pair((), {"d": x})})(one)
    check(out["a"], 6.0)
    assert not isinstance(out["a"], tf.Variable)
    assert type(out["b"]) is list and out["b"][1] is None
    check(out["b"][2], 3, tf.int32)
    check(out["b"][3], 2.5, tf.float32)
    check(out["b"][4], True)
    assert type(out["c"]) is Pair and out["c"].a == () and list(out["c"].b) == ["d"]


@pytest.mark.parametrize(
    ("value", "expected", "dtype"),
    [
        (3, 3, "int32"),
        (2**40, 2**40, "int64"),
        (1.5, 1.5, "float32"),
        (1j, 1j, "complex128"),
        ("s", b"s", "string"),
        (b"s", b"s", "string"),
        (np.ones(2), [1.0, 1.0], "float64"),
        (np.int8(1), 1, "int8"),
        (tf.TensorShape([2, 3]), [2, 3], "int32"),
    ],
)
def test_results_become_tensors(value, expected, dtype):
    check(function(lambda: value)(), expected, getattr(tf, dtype))


@pytest.mark.parametrize("value", [None, [], (), {}])
def test_empty_results(value):
    out = function(lambda: value)()
    assert type(out) is type(value) and out == value


@pytest.mark.parametrize("value", [object(), {1}, len, tf.float32, (i for i in range(2))])
def test_results_that_are_no_tensors(value):
    with refuses(TypeError):
        function(lambda: value)()


def test_special_results():
    rows = function(
        lambda: tf.IndexedSlices(tf.ones([1, 2]), tf.constant([0]), tf.constant([3, 2]))
    )()
    assert isinstance(rows, tf.IndexedSlices)
    check((rows.values, rows.indices, rows.dense_shape), ([[1.0, 1.0]], [0], [3, 2]))
    assert type(function(lambda: Masked(True, one))()) is Masked
    ordered = function(lambda: collections.OrderedDict(b=1, a=2))()
    assert type(ordered) is collections.OrderedDict and list(ordered) == ["b", "a"]
    same = function(lambda x: x)(one)
    assert same is not one
    check(same, 1.0)


# Captures and calls.


def test_tensors_from_outside():
    k = tf.constant([1.0, 2.0])
    f = function(lambda x: x * k)
    check(f(two), [2.0, 4.0])
    large = tf.zeros([100, 100]) + 3.0
    check(function(lambda: tf.reduce_sum(large))(), 30000.0)


def test_functions_that_call_functions():
    inner = function(lambda x: x * 2.0)
    outer = function(lambda x: inner(x) + inner(x + 1.0))
    check(outer(one), 6.0)
    assert inner.experimental_get_tracing_count() == 1
    check(inner(one), 2.0)
    assert inner.experimental_get_tracing_count() == 1


def test_inner_functions_use_values_of_the_outer_trace():
    runs = []

    @function
    def outer(x):
        y = x * 3.0

        @function
        def inner(z):
            runs.append(1)
            return y + z

        return inner(x) + inner(y)

    check(outer(one), 10.0)
    check(outer(two), 20.0)
    assert len(runs) == 1


def test_effects_of_inner_functions():
    v = tf.Variable(1.0)
    inner = function(lambda x: v.assign_add(x))

    @function
    def outer(x):
        inner(x)
        y = v * 10.0
        inner(x)
        return y

    check(outer(two), 30.0)
    check(v, 5.0)


def test_deep_calls():
    f = function(lambda x: x + 1.0)
    for _ in range(20):
        f = function(lambda x, g=f: g(x) + 1.0)
    check(f(one), 22.0)


@pytest.mark.parametrize(
    "use",
    [
        lambda t: t + 1.0,
        bool,
        lambda t: tf.Variable(0.0).assign(t),
        lambda t: function(lambda x: x)(t),
        lambda t: function(lambda x: x + t)(one),
        lambda t: function(lambda: t)(),
    ],
    ids=["operation", "truth", "assignment", "argument", "closure", "result"],
)
def test_tensors_that_escaped_their_trace(use):
    kept = []

    @function
    def f(x):
        kept.append(x * 2.0)
        return x

    f(one)
    assert kept[0].shape == () and kept[0].dtype == tf.float32
    with refuses(TypeError):
        use(kept[0])


@pytest.mark.parametrize(
    ("use", "error"),
    [
        (lambda x: x if x > 0 else -x, tf.errors.OperatorNotAllowedInGraphError),
        (lambda x: not x, tf.errors.OperatorNotAllowedInGraphError),
        (lambda x: int(x), TypeError),
        (lambda x: float(x), TypeError),
        (lambda x: x.numpy(), AttributeError),
        (lambda x: np.array(x), NotImplementedError),
        (lambda x: f"{x:.2f}", TypeError),
        (lambda x: {x: 1}, TypeError),
        (lambda x: np.zeros(x), TypeError),
        (lambda x: [1, 2][x], TypeError),
        (lambda x: range(x), TypeError),
    ],
)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_python_cannot_see_the_value_of_a_traced_tensor(use, error):
    with refuses(error):
        function(use)(tf.constant(1))


def test_sizes_may_be_tensors():
    f = function(lambda n: tf.zeros([n, 3]), input_signature=[spec((), tf.int32)])
    assert [f(k).shape for k in (1, 2)] == [(1, 3), (2, 3)]


@pytest.mark.skipif(AGAINST_TENSORFLOW, reason="TensorFlow keeps what was done before the failure")
def test_a_failing_call_leaves_every_variable():
    v = tf.Variable(1.0)

    @function
    def f(x):
        v.assign(5.0)
        tf.debugging.assert_greater(x, 0.0)
        v.assign(6.0)

    with refuses(tf.errors.InvalidArgumentError):
        f(-one)
    check(v, 1.0)
    f(one)
    check(v, 6.0)

"""What `tf.GradientTape` records and answers.

One test per promise: what is watched, when recording happens, which shapes of question `gradient`
takes, where a gradient is cut, and the rules around `custom_gradient` and its relatives.
"""

import asyncio
import collections
import contextlib
import contextvars
import threading

import numpy as np
import pytest

from tests.semantics.api import check, gradient, refuses, tf

Pair = collections.namedtuple("Pair", "a b")


def watched(value, **options):
    """An open question: a watched constant and the tape, not yet entered for recording."""
    return tf.constant(value), tf.GradientTape(**options)


# --- what is watched


def test_unconnected_target_gives_none():
    x, tape = watched(2.0)
    with tape:
        tape.watch(x)
        y = tf.constant(3.0) * 2.0
    assert tape.gradient(y, x) is None


def test_constant_is_not_watched_by_itself():
    x, tape = watched(2.0)
    with tape:
        y = x * x
    assert tape.gradient(y, x) is None


def test_watch_after_use_is_too_late():
    x, tape = watched(2.0)
    with tape:
        y = x * x
        tape.watch(x)
    assert tape.gradient(y, x) is None


def test_watch_between_two_uses_counts_the_second():
    x, tape = watched(2.0)
    with tape:
        y = x * x
        tape.watch(x)
        z = y * x
    check(tape.gradient(z, x), 4.0)


def test_trainable_variable_is_watched_when_accessed():
    v = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = v * v
    check(tape.gradient(y, v), 6.0)


def test_variable_accessed_outside_only_is_not_watched():
    v = tf.Variable(3.0)
    y = v * v
    with tf.GradientTape() as tape:
        z = y * 2.0
    assert tape.gradient(z, v) is None
    assert tape.watched_variables() == ()


def test_non_trainable_variable_is_not_watched():
    v = tf.Variable(3.0, trainable=False)
    with tf.GradientTape() as tape:
        y = v * v
    assert tape.gradient(y, v) is None
    assert tape.watched_variables() == ()


def test_non_trainable_variable_can_be_watched_explicitly():
    v = tf.Variable(3.0, trainable=False)
    with tf.GradientTape() as tape:
        tape.watch(v)
        y = v * v
    check(tape.gradient(y, v), 6.0)


def test_watch_accessed_variables_false_watches_nothing_by_itself():
    v, w = tf.Variable(3.0), tf.Variable(5.0)
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(v)
        y = v * w
    check(tape.gradient(y, [v, w])[0], 5.0)
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        y = v * w
    assert tape.gradient(y, [v, w]) == [None, None]


def test_watch_takes_nested_structures():
    x, z = tf.constant(2.0), tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch([x, {"z": (z,)}])
        y = x * z
    check(tuple(tape.gradient(y, [x, z])), (3.0, 2.0))


@pytest.mark.parametrize("value", [2, True, "text"])
def test_watch_on_a_non_float_goes_on_and_gives_none(value):
    x, tape = watched(value)
    with tape:
        tape.watch(x)
        y = tf.constant(2.0) * 3.0
    assert tape.gradient(y, x) is None


def test_integer_source_gives_none_even_if_used():
    x, tape = watched(2)
    with tape:
        tape.watch(x)
        y = tf.cast(x, tf.float32) * 2.0
    assert tape.gradient(y, x) is None


def test_integer_target_gives_none():
    x, tape = watched(2.0)
    with tape:
        tape.watch(x)
        y = tf.cast(x, tf.int32)
    assert tape.gradient(y, x) is None


@pytest.mark.parametrize("value", [1.0, np.ones(2)], ids=["float", "ndarray"])
def test_watch_on_something_else_is_a_value_error(value):
    with tf.GradientTape() as tape, refuses(ValueError):
        tape.watch(value)


def test_watched_variables_come_in_order_of_creation():
    a, b = tf.Variable(1.0), tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = b * a
    names = tape.watched_variables()
    assert isinstance(names, tuple)
    assert [v is w for v, w in zip(names, (a, b), strict=True)] == [True, True]
    tape.gradient(y, a)
    assert len(tape.watched_variables()) == 2


# --- when recording happens


def test_operation_after_the_with_block_is_not_recorded():
    x, tape = watched(2.0)
    with tape:
        tape.watch(x)
        y = x * x
    z = y * 3.0
    assert tape.gradient(z, x) is None


def test_recording_ends_with_an_exception_and_the_tape_stays_usable():
    x, tape = watched(2.0, persistent=True)
    recorded = []
    with contextlib.suppress(KeyError), tape:
        tape.watch(x)
        recorded.append(x * x)
        raise KeyError
    check(tape.gradient(recorded, x), 4.0)
    assert tape.gradient(recorded[0] * 3.0, x) is None


def test_tapes_may_be_left_in_any_order():
    x = tf.constant(2.0)
    first, second = tf.GradientTape(), tf.GradientTape()
    first.__enter__()
    second.__enter__()
    first.watch(x)
    second.watch(x)
    y = x * x
    first.__exit__(None, None, None)
    z = y * x
    second.__exit__(None, None, None)
    assert first.gradient(z, x) is None
    check(second.gradient(z, x), 12.0)


@pytest.mark.parametrize("method", ["gradient", "jacobian"])
def test_second_question_to_a_non_persistent_tape_is_a_runtime_error(method):
    x, tape = watched([1.0, 2.0])
    with tape:
        tape.watch(x)
        y = x * x
    getattr(tape, method)(y, x)
    with pytest.raises(RuntimeError):
        getattr(tape, method)(y, x)


def test_gradient_of_a_tape_that_never_recorded_is_a_runtime_error():
    x, tape = watched(1.0)
    with pytest.raises(RuntimeError):
        tape.gradient(x, x)


def test_persistent_tape_answers_many_times():
    x, tape = watched(3.0, persistent=True)
    with tape:
        tape.watch(x)
        y = x * x
        z = y * y
    check(tape.gradient(z, x), 108.0)
    check(tape.gradient(y, x), 6.0)
    check(tape.gradient(z, y), 18.0)
    check(tape.gradient(z, x), 108.0)
    del tape


def test_gradient_inside_its_own_non_persistent_tape_works():
    x, tape = watched(2.0)
    with tape:
        tape.watch(x)
        y = x * x
        g = tape.gradient(y, x)
        with pytest.raises(RuntimeError):
            tape.gradient(y, x)
    check(g, 4.0)


def test_one_persistent_tape_gives_higher_orders():
    x, tape = watched(2.0, persistent=True)
    with tape:
        tape.watch(x)
        y = x**4
        dy = tape.gradient(y, x)
        d2y = tape.gradient(dy, x)
    check((dy, d2y, tape.gradient(d2y, x)), (32.0, 48.0, 48.0))


def test_gradient_of_a_persistent_tape_after_exit_is_not_recorded():
    x, tape = watched(2.0, persistent=True)
    with tape:
        tape.watch(x)
        y = x**4
    assert tape.gradient(tape.gradient(y, x), x) is None


def test_entering_again_continues_the_same_tape():
    x, tape = watched(2.0)
    with tape:
        tape.watch(x)
        y = x * x
    unrecorded = y * 5.0
    with tape:
        z = y * 3.0 + unrecorded
    check(tape.gradient(z, x), 12.0)


def test_entering_again_after_gradient_starts_afresh():
    x, tape = watched(2.0)
    with tape:
        tape.watch(x)
        y = x * x
    check(tape.gradient(y, x), 4.0)
    with tape:
        tape.watch(x)
        z = x**3
    check(tape.gradient(z, x), 12.0)


def test_entering_while_recording_is_a_value_error_and_recording_goes_on():
    x, tape = watched(3.0)
    with tape:
        tape.watch(x)
        with refuses(ValueError):
            tape.__enter__()
        y = x * x
    check(tape.gradient(y, x), 6.0)


def test_stop_recording_leaves_a_gap():
    x, tape = watched(2.0, persistent=True)
    with tape:
        tape.watch(x)
        y = x * x
        with tape.stop_recording():
            hidden = x * x * x
        z = y * 2.0
    assert tape.gradient(hidden, x) is None
    check(tape.gradient(z, x), 8.0)


def test_gradient_under_stop_recording_leaves_the_tape_recording_afterwards():
    x, tape = watched(2.0, persistent=True)
    with tape:
        tape.watch(x)
        y = x * x
        with tape.stop_recording():
            g = tape.gradient(y, x)
        z = x * g
    check(g, 4.0)
    check(tape.gradient(z, x), 4.0)


def test_stop_recording_restores_after_an_exception():
    x, tape = watched(2.0)
    with tape:
        tape.watch(x)
        with pytest.raises(KeyError), tape.stop_recording():
            raise KeyError
        y = x * x
    check(tape.gradient(y, x), 4.0)


def test_stop_recording_on_an_idle_tape_is_a_runtime_error():
    with pytest.raises(RuntimeError), tf.GradientTape().stop_recording():
        pass


def test_reset_forgets_operations_watches_and_variables():
    x, v, w = tf.constant(2.0), tf.Variable(1.0), tf.Variable(1.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        before = x * w
        tape.reset()
        unwatched = x * x * v
        tape.watch(x)
        after = x**3
    assert tape.gradient(before, x) is None
    assert tape.gradient(unwatched, x) is None
    check(tape.gradient(after, x), 12.0)
    assert [u is v for u in tape.watched_variables()] == [True]


def test_reset_on_an_idle_tape_is_a_value_error():
    with refuses(ValueError):
        tf.GradientTape().reset()


# --- the question asked of `gradient`


def test_result_mirrors_the_structure_of_the_sources():
    x, u, k = tf.constant(3.0), tf.constant(5.0), tf.constant(1.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([x, u])
        y = x * u
    answer = tape.gradient(y, Pair(x, {"z": [u, (x, k)]}))
    assert isinstance(answer, Pair)
    assert list(answer.b) == ["z"]
    (gu, (gx, gk)) = answer.b["z"]
    check((answer.a, gu, gx, gk), (5.0, 3.0, 5.0, None))
    assert isinstance(answer.b["z"], list)
    assert isinstance(answer.b["z"][1], tuple)
    assert tape.gradient(y, []) == []


def test_the_same_source_twice_is_answered_twice():
    x, tape = watched(2.0)
    with tape:
        tape.watch(x)
        y = x * x
    check(tuple(tape.gradient(y, [x, x])), (4.0, 4.0))


def test_a_source_on_the_path_to_another_stops_nothing():
    x, tape = watched(2.0)
    with tape:
        tape.watch(x)
        y = x * x
        z = y * x
    check(tuple(tape.gradient(z, [x, y])), (12.0, 2.0))


def test_target_that_is_its_own_source_gives_one_even_unwatched():
    x, tape = watched([1.0, 2.0])
    with tape:
        pass
    check(tape.gradient(x, x), [1.0, 1.0])


def test_vector_target_is_summed():
    check(gradient(lambda x: x * x, [1.0, 2.0]), [2.0, 4.0])
    check(gradient(lambda x: x * [1.0, 2.0, 3.0], 5.0), 6.0)


def test_list_or_nest_of_targets_is_summed():
    check(gradient(lambda x: [x * x, 3.0 * x], 2.0), 7.0)
    check(gradient(lambda x: {"a": x * x, "b": [x]}, [1.0, 1.0]), [3.0, 3.0])


def test_the_same_target_twice_counts_twice():
    def both(x):
        y = x * x
        return [y, y]

    check(gradient(both, 3.0), 12.0)


@pytest.mark.parametrize(
    ("f", "seeds", "expected"),
    [
        (lambda x: x * x, np.array([3.0, 4.0], np.float32), [6.0, 16.0]),
        (lambda x: [x * x], [np.array([3.0, 4.0], np.float32)], [6.0, 16.0]),
        (lambda x: [x * x, x], [np.array([1.0, 0.0]), np.array([0.0, 10.0])], [2.0, 10.0]),
        (lambda x: {"a": x * x, "b": x}, {"a": np.array([1.0, 0.0]), "b": np.zeros(2)}, [2.0, 0.0]),
    ],
    ids=["one", "list of one", "list of two", "dict"],
)
def test_output_gradients_seed_the_targets(f, seeds, expected):
    tensors = tf.nest.map_structure(lambda seed: tf.constant(seed, tf.float32), seeds)
    check(gradient(f, [1.0, 2.0], output_gradients=tensors), expected)


def test_output_gradients_are_a_nest_so_a_list_of_numbers_is_a_list_of_seeds():
    x, tape = watched(3.0)
    with tape:
        tape.watch(x)
        targets = [x * x, x]
    check(tape.gradient(targets, x, output_gradients=[10.0, 1.0]), 61.0)


def test_unconnected_gradients_by_enum_or_by_name():
    x, v = tf.constant([1.0, 2.0]), tf.Variable([[3.0]], dtype=tf.float64)
    with tf.GradientTape(persistent=True) as tape:
        y = tf.constant(1.0)
    for zero in (tf.UnconnectedGradients.ZERO, "zero"):
        check(tape.gradient(y, x, unconnected_gradients=zero), [0.0, 0.0], tf.float32)
        check(tape.gradient(y, v, unconnected_gradients=zero), [[0.0]], tf.float64)
    for none in (tf.UnconnectedGradients.NONE, "none"):
        assert tape.gradient(y, x, unconnected_gradients=none) is None
    with refuses(ValueError):
        tape.gradient(y, x, unconnected_gradients="perhaps")


def test_none_as_target_is_a_type_error():
    x, tape = watched(1.0)
    with tape:
        tape.watch(x)
    with pytest.raises(TypeError):
        tape.gradient(None, x)


def test_gradient_has_the_dtype_of_its_source():
    for dtype in (tf.float16, tf.bfloat16, tf.float32, tf.float64):
        check(gradient(lambda x: tf.cast(x, tf.float32) * 2.0, [1.0], dtype=dtype), [2.0], dtype)


# --- variables on the tape


def test_reads_before_and_after_assign_both_count():
    v = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = v * 2.0
        v.assign(5.0)
        y += v * v
    check(tape.gradient(y, v), 12.0)


@pytest.mark.parametrize(
    "read",
    [
        lambda v: v.read_value(),
        lambda v: v.value(),
        lambda v: tf.convert_to_tensor(v),
        lambda v: tf.identity(v),
    ],
    ids=["read_value", "value", "convert_to_tensor", "identity"],
)
def test_a_named_read_is_a_source_of_its_own(read):
    v = tf.Variable(3.0)
    with tf.GradientTape(persistent=True) as tape:
        r = read(v)
        y = r * r + v * 10.0
    check(tape.gradient(y, r), 6.0)
    check(tape.gradient(y, v), 16.0)


def test_variable_as_target_needs_no_recorded_read():
    v, w = tf.Variable(2.0), tf.Variable(3.0)
    with tf.GradientTape(persistent=True) as tape:
        pass
    check(tape.gradient(v, v), 1.0)
    assert tape.gradient(v, w) is None


def test_what_assign_returns_reads_the_variable():
    x, v = tf.constant(2.0), tf.Variable(0.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = v.assign(x * x) * 3.0
    assert tape.gradient(y, x) is None
    check(tape.gradient(y, v), 3.0)


# --- plain Python around operations


def test_python_containers_branches_and_loops_are_followed():
    x, tape = watched(1.0)
    with tape:
        tape.watch(x)
        values = [x]
        for _ in range(3):
            values.append(values[-1] * 2.0)
        table = {"last": values[-1]}
        y = table["last"] if table["last"] > 0.0 else -table["last"]
        while y < 100.0:
            y = y * y
    check(y, 4096.0)
    check(tape.gradient(y, x), 16384.0)


def test_the_branch_taken_is_the_one_recorded():
    def f(x):
        return x * x if x > 0.0 else -3.0 * x

    check((gradient(f, 2.0), gradient(f, -2.0)), (4.0, -3.0))


def test_list_filled_before_stack_is_followed():
    check(gradient(lambda x: tf.stack([x, x * x, tf.constant(1.0)]), 3.0), 7.0)


def test_converting_a_list_of_tensors_is_recorded():
    check(gradient(lambda x: tf.convert_to_tensor([x, x * x, 1.0]), 3.0), 7.0)
    check(gradient(lambda x: tf.constant([1.0, 2.0]) * [x, x], 3.0), 3.0)


def test_iteration_unpacking_and_slicing_are_recorded():
    def f(x):
        a, b = x
        return a * b + sum(x) + x[-1]

    check(gradient(f, [2.0, 5.0]), [6.0, 4.0])


# --- where a gradient is cut


def test_numpy_in_the_middle_cuts():
    assert gradient(lambda x: tf.constant((x * x).numpy()), 2.0) is None
    check(gradient(lambda x: tf.constant((x * x).numpy()) * x, 2.0), 4.0)


def test_float_in_the_middle_cuts():
    check(gradient(lambda x: float(x) * x, 2.0), 2.0)


def test_equal_constants_are_not_the_same_source():
    x, twin = tf.constant(2.0), tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * 2.0 + twin * x + tf.constant(2.0) * x
    check(tuple(tape.gradient(y, [x, twin])), (6.0, None))


def test_assign_then_read_cuts():
    x, v = tf.constant(2.0), tf.Variable(0.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        v.assign(x * x)
        y = v * 1.0
    assert tape.gradient(y, x) is None


NOT_DIFFERENTIABLE = {
    "floor": lambda x: tf.floor(x),
    "ceil": lambda x: tf.math.ceil(x),
    "round": lambda x: tf.round(x),
    "floordiv": lambda x: x // 2.0,
    "argmax": lambda x: tf.cast(tf.argmax(x), tf.float32),
    "cast to int": lambda x: tf.cast(tf.cast(x, tf.int32), tf.float32),
    "comparison": lambda x: tf.cast(x > 1.0, tf.float32),
    "zeros_like": lambda x: tf.zeros_like(x),
    "shape": lambda x: tf.cast(tf.shape(x), tf.float32),
    "stop_gradient": lambda x: tf.stop_gradient(x),
}


@pytest.mark.parametrize("name", NOT_DIFFERENTIABLE)
def test_operation_without_a_gradient_gives_none(name):
    assert gradient(NOT_DIFFERENTIABLE[name], [1.0, 2.5]) is None


def test_sign_has_a_gradient_of_zero():
    check(gradient(lambda x: tf.sign(x), [-1.0, 0.0, 2.0]), [0.0, 0.0, 0.0])


def test_stop_gradient_makes_a_constant_of_its_argument():
    check(gradient(lambda x: tf.stop_gradient(x * x) * x, 2.0), 4.0)


def test_where_passes_a_nan_from_the_side_not_chosen():
    check(gradient(lambda x: tf.where(x > 0.0, tf.math.log(x), 0.0), [0.0, 2.0]), [np.nan, 0.5])


def test_where_on_safe_arguments_has_no_nan():
    def f(x):
        safe = tf.where(x > 0.0, x, tf.ones_like(x))
        return tf.where(x > 0.0, tf.math.log(safe), 0.0)

    check(gradient(f, [0.0, 2.0]), [0.0, 0.5])


# --- sparse gradients


def test_gather_of_a_variable_gives_indexed_slices():
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    with tf.GradientTape() as tape:
        y = tf.gather(v, [2, 0, 2]) * [[1.0], [10.0], [100.0]]
    g = tape.gradient(y, v)
    assert isinstance(g, tf.IndexedSlices)
    assert tuple(g.shape) == (3, 2)
    assert g.dtype == tf.float32
    check(g.indices, [2, 0, 2])
    check(g.values, [[1.0, 1.0], [10.0, 10.0], [100.0, 100.0]])
    check(g.dense_shape, [3, 2])
    check(tf.convert_to_tensor(g), [[10.0, 10.0], [0.0, 0.0], [101.0, 101.0]])


def test_embedding_lookup_flattens_the_indices_of_its_gradient():
    v = tf.Variable(tf.ones([3, 2]))
    with tf.GradientTape() as tape:
        y = tf.nn.embedding_lookup(v, [[0, 2], [0, 1]])
    g = tape.gradient(y, v)
    check((g.indices, g.values), ([0, 2, 0, 1], np.ones([4, 2])))


def test_two_sparse_gradients_are_concatenated_and_a_dense_one_makes_all_dense():
    v = tf.Variable([[1.0], [2.0]])
    with tf.GradientTape(persistent=True) as tape:
        sparse = tf.reduce_sum(tf.gather(v, [0, 0])) + tf.reduce_sum(tf.gather(v, [1]))
        dense = sparse + tf.reduce_sum(v)
    g = tape.gradient(sparse, v)
    assert isinstance(g, tf.IndexedSlices)
    assert sorted(g.indices.numpy().tolist()) == [0, 0, 1]
    check(tape.gradient(dense, v), [[3.0], [2.0]])


def test_gather_along_another_axis_is_dense():
    check(gradient(lambda x: tf.gather(x, [0, 0], axis=1), [[1.0, 2.0]]), [[2.0, 0.0]])


# --- higher orders


def test_nested_tapes_of_depth_three():
    x = tf.constant(2.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as middle:
            middle.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = x**4
            dy = inner.gradient(y, x)
        d2y = middle.gradient(dy, x)
    check((dy, d2y, outer.gradient(d2y, x)), (32.0, 48.0, 48.0))


def test_both_of_two_nested_tapes_must_watch():
    x = tf.constant(2.0)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = x**4
        dy = inner.gradient(y, x)
    assert outer.gradient(dy, x) is None


def test_gradient_taken_outside_the_outer_tape_is_not_recorded_by_it():
    x = tf.constant(2.0)
    with tf.GradientTape() as outer, tf.GradientTape() as inner:
        outer.watch(x)
        inner.watch(x)
        y = x**4
    assert outer.gradient(inner.gradient(y, x), x) is None


def test_second_order_through_variables_and_matmul():
    w = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    x = tf.constant([[1.0], [2.0]])
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = tf.reduce_sum(tf.square(w @ x))
        penalty = tf.reduce_sum(tf.square(inner.gradient(y, w)))
    check(outer.gradient(penalty, w), [[200.0, 400.0], [440.0, 880.0]])


def vector_function(x):
    return tf.stack([x[0] * x[1], x[0] ** 2, tf.exp(x[1])])


VECTOR_JACOBIAN = [[2.0, 1.0], [2.0, 0.0], [0.0, np.exp(2.0)]]


def test_jacobian():
    x, tape = watched([1.0, 2.0])
    with tape:
        tape.watch(x)
        y = vector_function(x)
    check(tape.jacobian(y, x), VECTOR_JACOBIAN)


@pytest.mark.parametrize("persistent", [False, True])
def test_jacobian_inside_its_own_tape(persistent):
    x, tape = watched([1.0, 2.0], persistent=persistent)
    with tape:
        tape.watch(x)
        j = tape.jacobian(vector_function(x), x)
    check(j, VECTOR_JACOBIAN)


def test_jacobian_shape_is_target_shape_then_source_shape():
    x, s = tf.ones([2, 3]), tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([x, s])
        y = tf.matmul(x, x, transpose_b=True) * s
    assert tuple(tape.jacobian(y, x).shape) == (2, 2, 2, 3)
    assert tuple(tape.jacobian(y, s).shape) == (2, 2)


def test_jacobian_mirrors_sources_and_unconnected_is_none():
    x, k = tf.constant([1.0, 2.0]), tf.constant([1.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([x, k])
        y = x * x
    answer = tape.jacobian(y, {"x": x, "k": k})
    assert answer["k"] is None
    check(answer["x"], [[2.0, 0.0], [0.0, 4.0]])


def test_jacobian_of_gather_is_dense():
    v = tf.Variable([[1.0], [2.0]])
    with tf.GradientTape() as tape:
        y = tf.gather(v, [1, 0, 1])
    check(tape.jacobian(y, v)[:, 0, :, 0], [[0.0, 1.0], [1.0, 0.0], [0.0, 1.0]])


def test_jacobian_without_vectorisation():
    x, tape = watched([1.0, 2.0], persistent=True)
    with tape:
        tape.watch(x)
        y = vector_function(x)
    check(tape.jacobian(y, x, experimental_use_pfor=False), VECTOR_JACOBIAN)


def test_hessian_by_jacobian_of_a_gradient():
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = tf.reduce_prod(x) ** 2
        g = inner.gradient(y, x)
    check(outer.jacobian(g, x), [[8.0, 8.0], [8.0, 2.0]])


def test_batch_jacobian():
    x, tape = watched([[1.0, 2.0], [3.0, 4.0]], persistent=True)
    with tape:
        tape.watch(x)
        y = tf.stack([x[:, 0] * x[:, 1], x[:, 0], x[:, 1] ** 2], axis=1)
    expected = [[[2.0, 1.0], [1.0, 0.0], [0.0, 4.0]], [[4.0, 3.0], [1.0, 0.0], [0.0, 8.0]]]
    check(tape.batch_jacobian(y, x), expected)
    check(tape.batch_jacobian(tf.ones([2, 1]), x), np.zeros([2, 1, 2]))


def test_batch_jacobian_needs_one_batch_dimension():
    x, tape = watched(np.ones([2, 3], np.float32), persistent=True)
    with tape:
        tape.watch(x)
        y = tf.ones([3, 2]) * tf.reduce_sum(x)
    with refuses(ValueError):
        tape.batch_jacobian(y, x)


def in_function(f):
    if not hasattr(tf, "function"):
        pytest.skip("tf.function does not exist yet")
    return tf.function(f)


@pytest.mark.parametrize("wrap", [lambda f: f, in_function], ids=["eager", "function"])
def test_derivatives_inside_a_function(wrap):
    @wrap
    def derivatives(x):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = vector_function(x)
        return tape.gradient(y, x), tape.jacobian(y, x)

    check(
        derivatives(tf.constant([1.0, 2.0])), ([4.0, 1.0 + np.exp(2.0)], VECTOR_JACOBIAN), rtol=1e-5
    )


@pytest.mark.parametrize("wrap", [lambda f: f, in_function], ids=["eager", "function"])
def test_derivatives_across_a_function(wrap):
    x, tape = watched([1.0, 2.0], persistent=True)
    with tape:
        tape.watch(x)
        y = wrap(vector_function)(x)
        g = tape.gradient(y, x)
    check(tape.jacobian(y, x), VECTOR_JACOBIAN, rtol=1e-5)
    check(tape.gradient(g, x), [3.0, 1.0 + np.exp(2.0)], rtol=1e-5)


# --- forward mode


def test_forward_accumulator():
    x = tf.constant([2.0, 3.0])
    with tf.autodiff.ForwardAccumulator(x, tf.constant([1.0, 0.0])) as acc:
        y = tf.reduce_sum(x * x)
    check((acc.jvp(y), acc.jvp(x)), (4.0, [1.0, 0.0]))
    check(tuple(acc.jvp([y, x])), (4.0, [1.0, 0.0]))
    assert acc.jvp(tf.constant(1.0)) is None
    check(acc.jvp(tf.constant(1.0), unconnected_gradients="zero"), 0.0)
    assert acc.jvp(y * 2.0) is None


def test_forward_accumulator_takes_nests_and_variables():
    v, x = tf.Variable(2.0), tf.constant(5.0)
    with tf.autodiff.ForwardAccumulator([v, x], [tf.constant(3.0), tf.constant(1.0)]) as acc:
        y = {"product": v * x}
    check(acc.jvp(y)["product"], 17.0)


def test_forward_accumulator_misuse_is_a_value_error():
    x = tf.constant(1.0)
    with refuses(ValueError):
        tf.autodiff.ForwardAccumulator([x], [x, x])
    with tf.autodiff.ForwardAccumulator(x, x) as acc, refuses(ValueError):
        acc.__enter__()


def test_forward_over_reverse_reverse_over_forward_forward_over_forward():
    x, direction = tf.constant([2.0, 3.0]), tf.constant([1.0, 0.0])

    def f(x):
        return x[0] * x[0] * x[1]

    with tf.autodiff.ForwardAccumulator(x, direction) as acc:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        g = tape.gradient(y, x)
    check(acc.jvp(g), [6.0, 4.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        with tf.autodiff.ForwardAccumulator(x, direction) as acc:
            y = f(x)
        tangent = acc.jvp(y)
    check(tape.gradient(tangent, x), [6.0, 4.0])
    with tf.autodiff.ForwardAccumulator(x, direction) as outer:
        with tf.autodiff.ForwardAccumulator(x, direction) as inner:
            y = f(x)
        tangent = inner.jvp(y)
    check((tangent, outer.jvp(y), outer.jvp(tangent)), (12.0, 12.0, 6.0))


# --- custom_gradient and its relatives


def test_custom_gradient_replaces_the_rule():
    @tf.custom_gradient
    def f(x):
        return x * x, lambda g: g * 7.0

    check(gradient(f, [1.0, 2.0]), [7.0, 7.0])
    check(gradient(lambda x: f(x) * 2.0, 1.0), 14.0)


def test_custom_gradient_of_the_identity_is_not_the_identity():
    @tf.custom_gradient
    def f(x):
        return x, lambda g: g * 7.0

    check(gradient(f, 1.0), 7.0)


def test_custom_gradient_is_differentiated_again():
    @tf.custom_gradient
    def f(x):
        return x * x, lambda g: g * 3.0 * x

    x = tf.constant(5.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = f(x)
        g = inner.gradient(y, x)
    check((g, outer.gradient(g, x)), (15.0, 3.0))


def test_custom_gradient_with_several_outputs_and_none():
    @tf.custom_gradient
    def f(x, y):
        return (x * 2.0, y * 3.0), lambda a, b: (a * 10.0 + b * 100.0, None)

    check(tuple(gradient(lambda x, y: f(x, y)[0], 1.0, 1.0)), (10.0, None))
    check(tuple(gradient(lambda x, y: list(f(x, y)), 1.0, 1.0)), (110.0, None))


def test_custom_gradient_with_a_python_argument():
    @tf.custom_gradient
    def power(x, n):
        return x**n, lambda g: (g * 7.0, None)

    check(gradient(lambda x: power(x, 3), 2.0), 7.0)


def test_custom_gradient_answers_for_the_positional_arguments_given():
    @tf.custom_gradient
    def f(x, scale=3.0):
        return x * scale, lambda g: g * 10.0

    check(gradient(f, 2.0), 10.0)
    check(gradient(lambda x: f(x, scale=5.0), 2.0), 10.0)
    check(tuple(gradient(lambda x, s: f(x, scale=s), 2.0, 3.0)), (10.0, None))


def test_custom_gradient_with_structured_arguments():
    @tf.custom_gradient
    def f(d):
        return d["a"] * d["b"], lambda g: {"a": g * 7.0, "b": g * 8.0}

    check(tuple(gradient(lambda a, b: f({"a": a, "b": b}), 1.0, 2.0)), (7.0, 8.0))


def test_custom_gradient_of_a_variable_argument():
    v = tf.Variable(2.0)

    @tf.custom_gradient
    def f(x):
        return x * 3.0, lambda g: g * 7.0

    with tf.GradientTape() as tape:
        y = f(v)
    check(tape.gradient(y, v), 7.0)


@pytest.mark.parametrize("returned", [1, 3])
def test_custom_gradient_with_a_wrong_count_is_a_value_error(returned):
    @tf.custom_gradient
    def f(x, y):
        return x * y, lambda g: [g] * returned

    with refuses(ValueError):
        gradient(f, 1.0, 2.0)


def test_custom_gradient_using_a_variable_hands_it_to_the_rule():
    v = tf.Variable(2.0)

    @tf.custom_gradient
    def named(x):
        def rule(g, variables=()):
            assert [u is v for u in variables] == [True]
            return g * 10.0, [g * 20.0]

        return x * v, rule

    @tf.custom_gradient
    def keywords(x):
        return x * v, lambda g, **kw: (g * 10.0, [g * 20.0 for _ in kw["variables"]])

    for f in (named, keywords):
        x = tf.constant(3.0)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        check(tuple(tape.gradient(y, [x, v])), (10.0, 20.0))


def test_custom_gradient_using_a_variable_without_saying_so_is_a_type_error():
    v = tf.Variable(2.0)

    @tf.custom_gradient
    def f(x):
        return x * v, lambda g: g

    with pytest.raises(TypeError):
        gradient(f, 1.0)


def test_custom_gradient_with_a_wrong_count_of_variables_is_a_value_error():
    v = tf.Variable(2.0)

    @tf.custom_gradient
    def f(x):
        return x * v, lambda g, variables=None: (g, [])

    with refuses(ValueError):
        gradient(f, 1.0)


def test_custom_gradient_may_accept_variables_and_use_none():
    @tf.custom_gradient
    def f(x):
        return x * 2.0, lambda g, variables=None: g * 10.0

    check(gradient(f, 1.0), 10.0)


def test_custom_gradient_on_a_method_answers_for_the_arguments_after_self():
    class Scaled:
        factor = 5.0

        @tf.custom_gradient
        def __call__(self, x):
            return x * 2.0, lambda g: g * self.factor

    check(gradient(Scaled(), 1.0), 5.0)


def test_custom_gradient_keeps_name_and_docstring():
    @tf.custom_gradient
    def f(x):
        """Twice."""
        return x * 2.0, lambda g: g

    assert (f.__name__, f.__doc__) == ("f", "Twice.")


def test_recompute_grad_runs_the_function_again_for_the_gradient():
    calls = []

    @tf.recompute_grad
    def f(x):
        calls.append(1)
        return tf.sin(x) * x

    check(gradient(f, 1.0), np.sin(1.0) + np.cos(1.0), rtol=1e-6)
    assert len(calls) == 2


def test_recompute_grad_with_variables_and_keywords():
    v, x = tf.Variable(3.0), tf.constant(2.0)

    @tf.recompute_grad
    def f(x, scale=1.0):
        return v * x * x * scale

    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x, scale=2.0)
    check(tuple(tape.gradient(y, [x, v])), (24.0, 8.0))


def test_recompute_grad_is_differentiated_again():
    @tf.recompute_grad
    def f(x):
        return x**3

    x = tf.constant(2.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = f(x)
        g = inner.gradient(y, x)
    check((g, outer.gradient(g, x)), (12.0, 12.0))


def test_grad_pass_through_gives_the_gradient_of_the_identity():
    check(gradient(lambda x: tf.grad_pass_through(tf.round)(x) * 2.0, 1.3), 2.0)


def test_grad_pass_through_of_assign():
    x, z = tf.Variable(1.0), tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = tf.grad_pass_through(x.assign)(z**2)
    check(tape.gradient(y, z), 6.0)
    check(x, 9.0)


# --- threads and tasks


def in_thread(f):
    results = []
    thread = threading.Thread(target=lambda: results.append(f()))
    thread.start()
    thread.join()
    return results[0]


def test_another_thread_does_not_record_on_this_tape():
    x, tape = watched(2.0)
    with tape:
        tape.watch(x)
        runs = [lambda f: f(), contextvars.copy_context().run]
        results = [in_thread(lambda run=run: run(lambda: x * x)) for run in runs]
    assert tape.gradient(results, x) is None


def test_threads_have_tapes_of_their_own():
    def work(n):
        x = tf.constant(2.0)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x
            for _ in range(n):
                y = y * x
        return tape.gradient(y, x).numpy()

    with tf.GradientTape():
        assert [in_thread(lambda n=n: work(n)) for n in range(4)] == [1.0, 4.0, 12.0, 32.0]


def test_another_thread_may_ask_a_finished_tape():
    x, tape = watched(2.0)
    with tape:
        tape.watch(x)
        y = x**3
    check(in_thread(lambda: tape.gradient(y, x)), 12.0)


def test_task_started_inside_the_with_is_recorded():
    x = tf.constant(2.0)

    async def square():
        await asyncio.sleep(0)
        return x * x

    async def main():
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = await asyncio.create_task(square())
        return tape.gradient(y, x)

    check(asyncio.run(main()), 4.0)


def test_task_that_runs_after_the_with_is_not_recorded():
    x = tf.constant(2.0)

    async def square():
        return x * x

    async def main():
        with tf.GradientTape() as tape:
            tape.watch(x)
            task = asyncio.create_task(square())
        return tape.gradient(await task, x)

    assert asyncio.run(main()) is None

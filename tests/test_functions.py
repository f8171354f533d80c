"""Where functions do more than TensorFlow's, and what only Wengert says of them."""

from __future__ import annotations

import collections
import copy
import dataclasses
import gc
import pickle
import weakref
from typing import Any

import numpy as np
import pytest

import wengert as tf

ONE, TWO = tf.constant(1.0), tf.constant(2.0)


def function(f: Any = None, **options: Any) -> Any:
    return tf.function(f, autograph=False, **options)


@dataclasses.dataclass
class Settings:
    rate: Any
    steps: Any = 3


@dataclasses.dataclass(frozen=True)
class Frozen:
    rate: Any


class Unhashable:
    def __init__(self, value: int) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Unhashable) and self.value == other.value

    __hash__ = None  # type: ignore[assignment]  # as a class with `__eq__` alone has it


class Slotted:
    __slots__ = ("factor",)

    def __init__(self, factor: float) -> None:
        self.factor = factor

    @tf.function(autograph=False)
    def scale(self, x: Any) -> Any:
        return x * self.factor


class Scaler(Slotted):
    """With a place for weak references."""

    __slots__ = ("__weakref__",)


same = Unhashable(1)

# Number of traces, arguments of calls.
TRACES: dict[str, tuple[int, list[Any]]] = {
    "numbers_of_different_types": (3, [1, 1.0, True]),
    "signs_of_zero": (2, [0.0, -0.0, 0.0]),
    "dataclasses": (1, [Settings(ONE), Settings(TWO)]),
    "members_of_dataclasses": (2, [Settings(ONE), Settings(ONE, 4)]),
    "frozen_dataclasses": (1, [Frozen(ONE), Frozen(TWO)]),
    "sets": (2, [{1, 2}, {2, 1}, {3}]),
    "slices": (2, [slice(1, 2), slice(1, 2), slice(None)]),
    "kinds_of_dicts": (2, [{"a": 1}, collections.OrderedDict(a=1)]),
    "unhashable_objects": (2, [same, same, Unhashable(1)]),
    "bound_methods": (1, [Slotted(1.0).scale, Slotted(1.0).scale][:1] * 2),
    "methods_of_python": (1, ["ab".upper, "ab".upper][:1] * 2),
    "keys_that_do_not_sort": (1, [{1: ONE, "a": TWO}, {1: TWO, "a": ONE}]),
}


@pytest.mark.parametrize("name", TRACES)
def test_traces(name: str) -> None:
    expected, arguments = TRACES[name]
    f = function(lambda x: tf.constant(0))
    for x in arguments:
        f(x)
    assert f.experimental_get_tracing_count() == expected


def test_a_number_keeps_its_type() -> None:
    f = function(lambda x: x)
    assert [f(x).dtype for x in (1, 1.0, True)] == [tf.int32, tf.float32, tf.bool]
    assert np.signbit(f(-0.0).numpy()) and not np.signbit(f(0.0).numpy())


def test_variables_of_one_kind_share_a_trace() -> None:
    f = function(lambda v: v.assign_add(tf.ones_like(v)))
    first, second, other = tf.Variable(1.0), tf.Variable(1.0), tf.Variable([1.0, 2.0])
    for v in (first, first, second):
        f(v)
    assert f.experimental_get_tracing_count() == 1
    assert (first.numpy(), second.numpy()) == (3.0, 2.0)
    f(other)
    f(tf.Variable(1.0, trainable=False))
    assert f.experimental_get_tracing_count() == 3


def test_which_arguments_are_the_same_variable_matters() -> None:
    def add(x: Any, y: Any) -> Any:
        x.assign_add(10.0)
        return x + y

    f = function(add)
    a, b = tf.Variable(1.0), tf.Variable(2.0)
    assert f(a, b).numpy() == 13.0
    assert f(b, a).numpy() == 23.0
    assert f.experimental_get_tracing_count() == 1
    assert f(a, a).numpy() == 42.0
    assert f(b, b).numpy() == 44.0
    assert f.experimental_get_tracing_count() == 2


def test_a_variable_that_the_function_knows_already_is_traced_for_itself() -> None:
    known = tf.Variable(3.0)

    def scaled(v: Any) -> Any:
        v.assign(7.0)
        return v * known

    f = function(scaled)
    other = tf.Variable(1.0)
    assert f(other).numpy() == 21.0
    assert f(known).numpy() == 49.0
    assert f(tf.Variable(5.0)).numpy() == 49.0
    g = function(scaled)
    assert g(known).numpy() == 49.0
    known.assign(2.0)
    assert g(other).numpy() == 14.0
    assert known.numpy() == 2.0


def test_a_function_that_looks_at_the_variable_itself_is_traced_for_each() -> None:
    slots = {}

    def step(v: Any) -> Any:
        slot = slots[v.ref()]
        slot.assign_add(v)
        return slot.read_value()

    f = function(step)
    first, second = tf.Variable(1.0), tf.Variable(2.0)
    slots[first.ref()], slots[second.ref()] = tf.Variable(10.0), tf.Variable(20.0)
    assert (f(first).numpy(), f(second).numpy()) == (11.0, 22.0)


def test_python_inside_a_function_sees_its_own_variable() -> None:
    def step(v: Any) -> Any:
        tf.py_function(lambda: v.assign_add(1.0) and None, [], [])
        return v * 1.0

    f = function(step)
    first, second = tf.Variable(1.0), tf.Variable(5.0)
    assert (f(first).numpy(), f(second).numpy()) == (2.0, 6.0)
    assert (first.numpy(), second.numpy()) == (2.0, 6.0)


def test_gradients_by_variables_that_share_a_trace() -> None:
    def cubed(v: Any) -> Any:
        with tf.GradientTape() as tape:
            y = v**3
        return y, tape.gradient(y, v)

    f = function(cubed)
    for v in (tf.Variable(2.0), tf.Variable(3.0)):
        with tf.GradientTape() as tape:
            y, inside = f(v)
        assert inside.numpy() == tape.gradient(y, v).numpy() == 3 * v.numpy() ** 2
    assert f.experimental_get_tracing_count() == 1


def test_loops_and_branches_over_variables_that_share_a_trace() -> None:
    @tf.function
    def f(v: Any, n: Any) -> Any:
        for i in tf.range(n):
            if i % 2 == 0:
                v.assign_add(1.0)
            else:
                v.assign(v * 2.0)
        return v.read_value()

    first, second = tf.Variable(1.0), tf.Variable(10.0)
    assert (f(first, tf.constant(3)).numpy(), f(second, tf.constant(3)).numpy()) == (5.0, 23.0)
    assert (first.numpy(), second.numpy()) == (5.0, 23.0)
    assert f.experimental_get_tracing_count() == 1


def test_a_concrete_function_takes_variables_of_the_same_kind() -> None:
    f = function(lambda v, x: v * x)
    first, second = tf.Variable(2.0), tf.Variable(3.0)
    concrete = f.get_concrete_function(first, tf.TensorSpec([], tf.float32))
    assert concrete(first, ONE).numpy() == 2.0
    assert concrete(second, ONE).numpy() == 3.0
    with pytest.raises(TypeError, match="argument `v` was traced as"):
        concrete(tf.Variable([1.0]), ONE)


def test_few_variables_are_kept_alive_that_were_arguments() -> None:
    f = function(lambda v: v * 2.0)
    alive = []

    def call(start: float) -> None:
        v = tf.Variable(start)
        alive.append(weakref.ref(v))
        assert f(v).numpy() == 2.0 * start

    for k in range(20):
        call(float(k))
    gc.collect()
    assert f.experimental_get_tracing_count() == 1
    assert sum(ref() is not None for ref in alive) <= 8


def test_dataclasses_come_and_go() -> None:
    f = function(lambda s: Settings(s.rate * 2.0, s.steps))
    out = f(Settings(TWO))
    assert type(out) is Settings
    assert (out.rate.numpy(), out.steps.numpy()) == (4.0, 3)


def test_a_method_of_an_object_that_dies_at_once() -> None:
    assert Scaler(2.0).scale(ONE).numpy() == 2.0
    assert Slotted(3.0).scale(ONE).numpy() == 3.0


def test_methods_of_copies() -> None:
    original = Scaler(2.0)
    assert original.scale(ONE).numpy() == 2.0
    twin = copy.copy(original)
    twin.factor = 5.0
    assert twin.scale(ONE).numpy() == 5.0
    assert original.scale(ONE).numpy() == 2.0


def test_copies_of_functions_have_their_own_traces() -> None:
    f = function(lambda x: x * 2.0)
    f(ONE)
    for twin in (copy.copy(f), copy.deepcopy(f)):
        assert twin.experimental_get_tracing_count() == 0
        assert twin(ONE).numpy() == 2.0


@tf.function
def doubled(x: tf.Tensor) -> tf.Tensor:
    return x * 2.0


def plain(x: tf.Tensor) -> tf.Tensor:
    return x + 1.0


class Scaled:
    scale = 3.0

    @tf.function
    def __call__(self, x: tf.Tensor) -> tf.Tensor:
        return x * self.scale

    @tf.function
    def call(self, x: tf.Tensor) -> tf.Tensor:
        return x * self.scale


def test_functions_pickle_by_name() -> None:
    again = lambda f: pickle.loads(pickle.dumps(f))
    assert again(doubled) is doubled
    f = function(plain, input_signature=[tf.TensorSpec([None])], jit_compile=True)
    f(ONE[tf.newaxis])
    twin = again(f)
    assert twin.experimental_get_tracing_count() == 0
    assert twin.input_signature == f.input_signature
    assert twin(ONE[tf.newaxis]).numpy().tolist() == [2.0]
    assert again(Scaled().call)(ONE).numpy() == 3.0
    assert again(Scaled())(ONE).numpy() == 3.0
    with pytest.raises(TypeError, match="Define it at the top of a module"):
        pickle.dumps(function(lambda x: x))


def test_keyword_only_arguments_in_a_signature() -> None:
    f = function(lambda x, *, y: x + y, input_signature=[tf.TensorSpec([]), tf.TensorSpec([])])
    assert f(1.0, y=2.0).numpy() == 3.0


def test_rows_of_a_known_number_unpack() -> None:
    @function
    def f(x: Any) -> Any:
        a, b = x
        return a * len(x) + b

    assert f(tf.constant([1.0, 2.0])).numpy() == 4.0


def test_numpy_functions_on_traced_tensors() -> None:
    f = function(lambda x: np.sin(x) + np.sum(x))
    np.testing.assert_allclose(f(tf.constant([1.0, 2.0])), np.sin([1, 2]) + 3, rtol=1e-6)


def test_python_called_from_a_graph_sees_variables_in_program_order() -> None:
    v, seen = tf.Variable(1.0), []

    def look(x: Any) -> Any:
        seen.append(float(v.numpy()))
        v.assign(v + 100.0)
        return x

    @function
    def f(x: Any) -> Any:
        tf.py_function(look, [x], tf.float32)
        v.assign_add(x)
        tf.py_function(look, [x], tf.float32)
        return v + 0.0

    assert f(TWO).numpy() == v.numpy() == 203.0
    assert seen == [1.0, 103.0]
    v.assign(1.0)
    with tf.GradientTape() as tape:
        y = f(TWO)
    assert y.numpy() == v.numpy() == 203.0
    assert seen == [1.0, 103.0] * 2
    assert tape.gradient(y, v).numpy() == 1.0


def test_python_called_from_a_branch_sees_what_was_assigned_before_it() -> None:
    v, seen = tf.Variable(1.0), []

    def look(x: Any) -> Any:
        seen.append(float(v.numpy()))
        return x

    @function
    def f(x: Any) -> Any:
        v.assign(x * 5.0)
        return tf.cond(x > 0.0, lambda: tf.py_function(look, [x], tf.float32), lambda: x)

    assert f(TWO).numpy() == 2.0
    assert seen == [10.0]


def test_python_called_from_a_failing_graph_is_undone() -> None:
    v = tf.Variable(1.0)

    @function
    def f(x: Any) -> Any:
        v.assign(5.0)
        tf.py_function(lambda a: a, [x], tf.float32)
        tf.debugging.assert_positive(x)

    with pytest.raises(tf.errors.InvalidArgumentError):
        f(-ONE)
    assert v.numpy() == 1.0


def test_seeds_start_functions_again() -> None:
    f = function(lambda: tf.random.uniform([3]))
    tf.random.set_seed(3)
    first = [f().numpy().tolist() for _ in range(2)]
    tf.random.set_seed(3)
    assert [f().numpy().tolist() for _ in range(2)] == first
    assert first[0] != first[1]


def test_random_numbers_are_the_same_on_both_engines() -> None:
    f = function(lambda: (tf.random.normal([5]), tf.random.uniform([], 0, 100, tf.int32)))
    found = []
    for name in ("host", "xla"):
        tf.random.set_seed(3)
        with tf.engine(name):
            found.append([x.numpy() for x in f()])
    np.testing.assert_allclose(found[0][0], found[1][0], rtol=1e-5)
    assert found[0][1] == found[1][1]


def test_signatures_for_people() -> None:
    f = function(lambda x, mode="fast", *, k: x)
    f(tf.ones([2, 3]), k=3)
    f({"a": ONE}, "slow", k=None)
    assert f.pretty_printed_concrete_signatures() == (
        "<lambda>(x: float32[2,3], mode=fast, k=3) -> float32[2,3]\n\n"
        "<lambda>(x['a']: float32[], mode=slow, k=None) -> float32[]"
    )


def test_a_concrete_function_for_people() -> None:
    v = tf.Variable(1.0, name="scale")
    concrete = function(lambda x: (x * v, x)).get_concrete_function(tf.TensorSpec([None]))
    assert repr(concrete) == "<ConcreteFunction <lambda>(x: float32[?]) -> float32[?], float32[?]>"
    assert str(concrete).splitlines()[1] == "  scale:0: float32[] (variable)"


def test_the_narrowest_wide_trace_serves() -> None:
    shapes = []

    @function
    def f(x: Any) -> Any:
        shapes.append(x.shape.as_list() if x.shape.rank is not None else None)
        return x

    for shape in (None, [None, None], [None, 3]):
        f.get_concrete_function(tf.TensorSpec(shape))
    before = len(shapes)
    assert f(tf.ones([2, 3])).shape == [2, 3]
    assert f(tf.ones([2, 4])).shape == [2, 4]
    assert f(tf.ones([2])).shape == [2]
    assert len(shapes) == before

    f(tf.constant(1))
    assert shapes[before:] == [[]]


def test_dicts_with_numbers_as_keys_are_told_apart() -> None:
    f = function(lambda d: tf.constant(0), reduce_retracing=True)
    f({0: [1, 2]})
    f({0: [1, 3]})
    assert f.experimental_get_tracing_count() == 2


def test_an_error_does_not_count_as_a_trace() -> None:
    @function
    def f(x: Any) -> Any:
        if x.shape.rank:
            raise ValueError("scalars only")
        return x

    with pytest.raises(ValueError, match="scalars only"):
        f(tf.ones([1]))
    assert f(ONE).numpy() == 1.0
    assert f.experimental_get_tracing_count() == 1


@pytest.mark.parametrize("engine", ["host", "xla"])
def test_results_and_variables_do_not_share_what_changes(engine: str) -> None:
    v, w, given = tf.Variable(tf.zeros([8])), tf.Variable(tf.zeros([8])), np.ones(8, np.float32)

    @function
    def step(x: Any) -> Any:
        v.assign_add(x)
        w.assign(v)
        return v.read_value(), w, x

    with tf.engine(engine):
        kept = [step(given) for _ in range(3)]
    v.assign_add(tf.ones([8]))
    w.scatter_nd_add([[0]], [10.0])
    given[:] = 7.0
    for k, (first, second, third) in enumerate(kept):
        for tensor, number in ((first, k + 1.0), (second, k + 1.0), (third, 1.0)):
            assert tensor.numpy().tolist() == [number] * 8
    assert (v.numpy()[0], w.numpy()[0], w.numpy()[1]) == (4.0, 13.0, 3.0)


def test_a_rule_in_a_loop_beside_a_variable_that_is_an_argument() -> None:
    @tf.custom_gradient
    def double(x: Any) -> Any:
        y = x * 2.0
        return y, lambda g: g * y

    @tf.function
    def f(v: Any, x: Any) -> Any:
        for _ in tf.range(2):
            x = double(x) * v
        return x

    def plain(v: Any, x: Any) -> Any:
        for _ in range(2):
            x = double(x) * v
        return x

    for v in (tf.Variable(2.0), tf.Variable(3.0)):
        found = []
        for g in (f, plain):
            x = tf.constant(1.5)
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = g(v, x)
            found.append([float(y), *[float(d) for d in tape.gradient(y, [x, v])]])
        assert found[0] == found[1]


def test_what_is_known_of_outputs_that_have_parts() -> None:
    def f() -> Any:
        rows = tf.ragged.constant([[1], [2, 3]])
        return {"a": tf.SparseTensor([[0]], [1.0], [2]), "b": (tf.zeros([2, 3]), rows)}

    concrete = tf.function(f).get_concrete_function()
    assert concrete.output_shapes == {"a": [[1, 1], [1], [1]], "b": ([2, 3], [[3], [3]])}
    parts = [tf.int64, tf.float32, tf.int64]
    assert concrete.output_dtypes == {"a": parts, "b": (tf.float32, [tf.int32, tf.int64])}
    assert concrete.structured_outputs["b"][0] == tf.TensorSpec([2, 3])

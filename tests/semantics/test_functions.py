"""What `tf.function` traces, for which arguments, and what one can ask of it.

Python control flow is stated elsewhere, so functions are made with `autograph=False` here.
"""

import collections
import dataclasses
import enum
import functools
import gc
import weakref

import numpy as np
import pytest

from tests.semantics.api import check, refuses, tf

Pair = collections.namedtuple("Pair", "a b")


def function(f=None, **options):
    """`tf.function` as it is used here."""
    return tf.function(f, autograph=False, **options)


def counted(**options):
    """A function of any arguments, and the list that grows with each run of its Python."""
    runs = []

    def python(*args, **kwargs):
        runs.append((args, kwargs))
        return tf.constant(0)

    return function(python, **options), runs


def spec(shape=(), dtype=None, name=None):
    return tf.TensorSpec(shape, dtype or tf.float32, name)


class Plain:
    """An object that is only itself."""


class Money:
    """An object that says what it equals."""

    def __init__(self, amount):
        self.amount = amount

    def __eq__(self, other):
        return self.amount == other.amount

    def __hash__(self):
        return hash(self.amount)


class Attribute:
    def __init__(self, name):
        self.name = name


class Attrs:
    """What the attrs library makes of a class, as far as others look."""

    __attrs_attrs__ = (Attribute("a"), Attribute("b"))

    def __init__(self, a, b):
        self.a, self.b = a, b


@dataclasses.dataclass
class Masked:
    """A dataclass with TensorFlow's protocol for composite values."""

    mask: bool
    values: object

    def __tf_flatten__(self):
        return (self.mask,), (self.values,)

    @classmethod
    def __tf_unflatten__(cls, metadata, components):
        return cls(metadata[0], components[0])


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


def calls(*arguments):
    """One call with each of these arguments."""
    return lambda f: [f(a) for a in arguments]


ones, one, two = tf.ones, tf.constant(1.0), tf.constant(2.0)
plain, other, twin = Plain(), Plain(), lambda x: x
rows = tf.IndexedSlices(ones([1, 2]), tf.constant([0]))
more_rows = tf.IndexedSlices(ones([1, 2]), tf.constant([1]))

# Name: number of traces, calls.
TRACES = {
    "tensors_of_one_kind": (1, calls(one, two)),
    "dtypes": (2, calls(one, tf.constant(1))),
    "shapes": (2, calls(ones([2]), ones([3]))),
    "ranks": (2, calls(ones([2]), ones([2, 1]))),
    "arrays_are_tensors": (1, calls(np.ones(2, np.float32), ones([2]))),
    "array_values": (1, calls(np.ones(2, np.float32), np.zeros(2, np.float32))),
    "array_scalars": (1, calls(np.float32(1), np.float32(2), two)),
    "booleans_as_tensors": (1, calls(tf.constant(True), tf.constant(False))),
    "strings_as_tensors": (1, calls(tf.constant("a"), tf.constant("bb"))),
    "python_numbers": (3, calls(1, 2, 2, 3)),
    "python_floats": (2, calls(1.5, 2.5, 1.5)),
    "not_a_number": (1, calls(float("nan"), float("nan"))),
    "number_or_array": (2, calls(np.float64(1.0), 1.0)),
    "strings": (2, calls("a", "a", "b")),
    "bytes": (2, calls(b"a", "a")),
    "complex": (2, calls(1j, 1j, 2j)),
    "large_integers": (1, calls(2**70, 2**70)),
    "none": (2, calls(None, None, 0)),
    "enums": (2, calls(Colour.RED, Colour.RED, Colour.BLUE)),
    "types": (2, calls(int, int, float)),
    "dtypes_as_values": (2, calls(tf.float32, tf.float32, tf.int32)),
    "shapes_as_values": (1, calls(tf.TensorShape([1, 2]), tf.TensorShape([1, 2]))),
    "objects": (2, calls(plain, plain, other)),
    "functions": (2, calls(twin, twin, lambda x: x)),
    "modules": (1, calls(np, np)),
    "equal_objects": (1, calls(Money(1), Money(1))),
    "unequal_objects": (2, calls(Money(1), Money(2))),
    "frozen_sets": (1, calls(frozenset({1, 2}), frozenset({2, 1}))),
    "ranges": (2, calls(range(3), range(3), range(4))),
    "lists": (2, calls([1, 2], [1, 2], [1, 3])),
    "lists_of_tensors": (1, calls([one, two], [two, one])),
    "lengths": (2, calls([one], [one, one])),
    "list_or_tuple": (2, calls([1, 2], (1, 2))),
    "nested_lists": (1, calls([{"a": [1]}], [{"a": [1]}])),
    "dicts": (2, calls({"a": one}, {"a": two}, {"b": one})),
    "order_in_dicts": (1, calls({"a": one, "b": tf.constant(2)}, {"b": tf.constant(2), "a": one})),
    "named_tuples": (1, calls(Pair(one, 2), Pair(two, 2))),
    "named_tuple_or_tuple": (2, calls(Pair(1, 2), (1, 2))),
    "attrs": (2, calls(Attrs(one, 2), Attrs(two, 2), Attrs(two, 3))),
    "composites": (2, calls(Masked(True, one), Masked(True, two), Masked(False, two))),
    "slices": (1, calls(rows, more_rows)),
    "keyword_or_position": (2, lambda f: (f(1), f(x=1))),
    "keywords_in_any_order": (1, lambda f: (f(x=1, y=2), f(y=2, x=1))),
    "number_of_arguments": (3, lambda f: (f(), f(1), f(1, 1))),
    "varargs_of_tensors": (2, lambda f: (f(one, one), f(two, two), f(one, 1.0))),
    "variable_or_tensor": (2, lambda f: (f(tf.Variable(1.0)), f(one))),
}  # fmt: skip


@pytest.mark.parametrize("name", TRACES)
def test_traces(name):
    expected, work = TRACES[name]
    f, runs = counted()
    work(f)
    assert len(runs) == expected
    assert f.experimental_get_tracing_count() == expected


def test_aliased_variables_are_another_trace():
    v, w = tf.Variable(1.0), tf.Variable(2.0)
    f, runs = counted()
    f(v, w)
    before = len(runs)
    f(v, v)
    assert len(runs) == before + 1


def test_a_variable_argument_is_read_and_written():
    @function
    def move(v, w):
        v.assign_add(w)
        return v + 0.0

    v, w = tf.Variable(1.0), tf.Variable(2.0)
    check(move(v, w), 3.0)
    check(move(v, w), 5.0)
    check(move(w, v), 7.0)
    check(move(w, w), 14.0)
    check(v, 5.0)


def test_defaults_make_one_trace():
    @function
    def f(x, y=2.0, *, z=3.0):
        return x + y + z

    for result in (f(1.0), f(1.0, 2.0), f(1.0, y=2.0), f(x=1.0), f(1.0, z=3.0), f(y=2.0, x=1.0)):
        check(result, 6.0)
    assert f.experimental_get_tracing_count() == 1


@pytest.mark.parametrize(
    "wrong",
    [
        lambda f: f(),
        lambda f: f(1.0, q=2.0),
        lambda f: f(1.0, 2.0, 3.0),
        lambda f: f(1.0, x=2.0),
    ],
)
def test_arguments_that_python_would_refuse(wrong):
    with refuses(TypeError):
        wrong(function(lambda x, y=2.0: x + y))


def test_nests_arrive_as_they_were():
    seen = []

    @function
    def f(pair, *rest, key, **more):
        seen.append((pair, rest, key, more))
        return pair.a * rest[0]["w"] + key[1] + more["c"].a

    answer = f(Pair(one, None), {"w": two, "n": 3}, key=(1, two), c=Attrs(two, "s"))
    check(answer, 6.0)
    pair, rest, key, more = seen[0]
    assert type(pair) is Pair and pair.b is None
    assert rest[0]["n"] == 3 and key[0] == 1
    assert type(more["c"]) is Attrs and more["c"].b == "s"


def test_composites_come_and_go():
    f = function(lambda m: Masked(m.mask, m.values * 2.0))
    out = f(Masked(True, two))
    assert type(out) is Masked and out.mask is True
    check(out.values, 4.0)


def test_ragged_and_sparse_arguments_are_known_by_their_specs():
    double = function(lambda r: r * 2)
    for given in ([[1, 2], [3]], [[1], [2]], [[], [1, 2, 3]]):
        assert double(tf.ragged.constant(given, tf.int32)).to_list() == [
            [2 * x for x in row] for row in given
        ]
    assert double.experimental_get_tracing_count() == 1
    double(tf.ragged.constant([[1], [2], [3]]))
    assert double.experimental_get_tracing_count() == 2
    total = function(lambda s: tf.sparse.reduce_sum(s))
    for given in ([[1.0, 0.0], [0.0, 2.0]], [[1.0, 1.0], [0.0, 1.0]]):
        check(total(tf.sparse.from_dense(given)), 3.0)
    assert total.experimental_get_tracing_count() == 1


# A fixed signature.


def test_signature_with_unknown_sizes_traces_once():
    @function(input_signature=[spec([None])])
    def f(x):
        return tf.reduce_sum(x)

    for given, total in ((ones([2]), 2.0), (ones([5]), 5.0), ([1.0, 2.0], 3.0), ([1, 2], 3.0)):
        check(f(given), total)
    check(f(np.ones(3)), 3.0)
    check(f(x=ones([2])), 2.0)
    check(f(tf.Variable([1.0, 2.0])), 3.0)
    assert f.experimental_get_tracing_count() == 1
    assert f.input_signature == (spec([None]),)


def test_signature_keeps_what_is_known():
    @function(input_signature=[spec([None, 3])])
    def f(x):
        assert x.shape.as_list() == [None, 3]
        return tf.reduce_sum(x) * x.shape[1]

    check(f(ones([2, 3])), 18.0)
    with refuses(TypeError):
        f(ones([2, 4]))


def test_signature_of_unknown_rank():
    f = function(tf.rank, input_signature=[spec(None)])
    assert [int(f(ones([1] * k))) for k in range(3)] == [0, 1, 2]
    assert f.experimental_get_tracing_count() == 1


@pytest.mark.parametrize(
    "wrong",
    [
        lambda f: f(ones([2, 2])),
        lambda f: f(tf.constant([1])),
        lambda f: f(None),
        lambda f: f(),
        lambda f: f(ones([2]), 1),
    ],
)
def test_signature_refuses(wrong):
    with refuses(TypeError):
        wrong(function(lambda x: x, input_signature=[spec([None])]))


def test_signature_of_nests():
    @function(input_signature=[{"a": spec([None]), "b": (spec((), tf.int32), [spec(None)])}])
    def f(d):
        return d["a"] * 2.0, d["b"]

    first, (second, (third,)) = f({"b": (tf.constant(3), [ones([2, 2])]), "a": ones([2])})
    check(first, [2.0, 2.0])
    check(second, 3)
    check(third, np.ones([2, 2]))
    with refuses(TypeError):
        f({"a": ones([2])})


def test_signature_of_ragged_and_sparse_tensors():
    ragged, sparse = tf.RaggedTensorSpec([None, None]), tf.SparseTensorSpec([None, 2])
    f = function(lambda r, s: (r + 1.0, tf.sparse.to_dense(s)), input_signature=[ragged, sparse])
    for rows in (1, 2, 3):
        given = tf.ragged.constant([[1.0] * k for k in range(rows)], ragged_rank=1)
        first, second = f(given, tf.sparse.from_dense(tf.ones([rows, 2])))
        assert first.to_list() == [[2.0] * k for k in range(rows)]
        check(second, np.ones([rows, 2]))
    assert f.experimental_get_tracing_count() == 1
    with refuses(TypeError):
        f(tf.ones([2, 2]), tf.sparse.from_dense(tf.ones([1, 2])))
    concrete = function(lambda r: r * 2.0).get_concrete_function(ragged)
    assert concrete.structured_input_signature == ((ragged,), {})
    assert concrete(tf.ragged.constant([[1.0], [2.0, 3.0]])).to_list() == [[2.0], [4.0, 6.0]]


def test_signature_and_defaults():
    f = function(
        lambda x, n=3: tf.reduce_sum(x) + tf.cast(n, tf.float32),
        input_signature=[spec([None]), spec((), tf.int32)],
    )
    check(f(ones([2])), 5.0)
    check(f(ones([2]), 7), 9.0)
    check(f(n=7, x=ones([2])), 9.0)
    assert f.experimental_get_tracing_count() == 1


def test_signature_leaves_defaults_alone():
    f = function(lambda x, double=True: x * 2.0 if double else x, input_signature=[spec([None])])
    check(f(ones([2])), [2.0, 2.0])
    check(f(ones([2]), True), [2.0, 2.0])
    with refuses(TypeError):
        f(ones([2]), False)


def test_signature_of_varargs():
    f = function(lambda *args: args[0] * args[1], input_signature=[spec([None]), spec()])
    check(f(ones([2]), 3.0), [3.0, 3.0])


@pytest.mark.parametrize(("count", "python"), [(1, lambda x, y: x), (2, lambda x: x)])
def test_signature_of_the_wrong_length(count, python):
    with refuses(TypeError):
        function(python, input_signature=[spec([None])] * count)(*[ones([2])] * (3 - count))


def test_signature_must_be_a_list():
    with refuses(TypeError):
        function(lambda x: x, input_signature=spec())


def test_empty_signature():
    f = function(lambda: tf.constant(1.0), input_signature=[])
    check(f(), 1.0)
    with refuses(TypeError):
        f(1)


def test_signature_and_variables_made_on_the_first_call():
    made = []

    @function(input_signature=[spec([None])])
    def f(x):
        if not made:
            made.append(tf.Variable(2.0))
        return x * made[0]

    check(f(ones([2])), [2.0, 2.0])
    check(f(ones([3])), [2.0, 2.0, 2.0])
    assert len(made) == 1


# Shapes that vary.


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (lambda k: [ones([k])], 2),
        (lambda k: [ones([k]), ones([2, k])], 2),
        (lambda k: [ones([2] * k)], 2),
        (lambda k: [[ones([k])]], 2),
        (lambda k: [ones([2]), float(k)], 6),
        (lambda k: [[ones([k])] * k], 6),
    ],
)
def test_reduce_retracing(arguments, expected):
    f, runs = counted(reduce_retracing=True)
    for k in range(1, 7):
        f(*arguments(k))
    assert len(runs) == expected


def test_reduce_retracing_gives_the_same_answers():
    f = function(lambda x: tf.reduce_sum(x * 2.0, axis=0), reduce_retracing=True)
    for k in range(1, 5):
        check(f(ones([k, 2])), [2.0 * k] * 2)


# Concrete functions.


def test_concrete_function_by_spec_and_by_value():
    f = function(lambda x, y=2.0: x * y)
    by_spec = f.get_concrete_function(spec([None]), 3.0)
    by_value = f.get_concrete_function(one, two)
    for concrete in (by_spec(ones([2])), by_spec(x=ones([2])), by_spec(ones([2]), 3.0)):
        check(concrete, [3.0, 3.0])
    check(by_value(tf.constant(3.0), tf.constant(4.0)), 12.0)
    check(by_value(y=tf.constant(3.0), x=tf.constant(4.0)), 12.0)
    check(by_value(3.0, 4.0), 12.0)
    check(by_value(tf.Variable(5.0), tf.Variable(5.0)), 25.0)


def test_a_wide_trace_serves_later_calls():
    f, runs = counted()
    f.get_concrete_function(spec([None]), 3.0)
    for size in range(4):
        f(ones([size]), 3.0)
    assert len(runs) == 1
    f(ones([2]), 4.0)
    f(ones([2, 2]), 3.0)
    assert len(runs) == 3


@pytest.mark.parametrize(
    "wrong",
    [
        lambda c: c(),
        lambda c: c(ones([2]), 4.0),
        lambda c: c(ones([2]), 3.0, 4.0),
        lambda c: c(ones([2]), q=4.0),
    ],
)
def test_concrete_function_refuses(wrong):
    concrete = function(lambda x, y: x * y).get_concrete_function(spec([None]), 3.0)
    with refuses(TypeError):
        wrong(concrete)


def test_concrete_function_of_nests():
    f = function(lambda d, *rest, **named: {"s": d["a"] + d["b"][0], "t": (rest, named, None)})
    concrete = f.get_concrete_function(
        {"a": spec(), "b": [spec()]}, spec([1]), z=spec((), tf.int32)
    )
    structured = concrete({"a": one, "b": [two]}, ones([1]), z=tf.constant(4))
    flat = concrete(one, two, ones([1]), tf.constant(4))
    for out in (structured, flat):
        check(out["s"], 3.0)
        check(out["t"][0][0], [1.0])
        check(out["t"][1]["z"], 4)
        assert out["t"][2] is None
    args, kwargs = concrete.structured_input_signature
    assert args[0]["b"][0] == spec(name="d_b_0") and args[1].shape == [1]
    assert kwargs == {"z": spec((), tf.int32, "z")}
    outputs = concrete.structured_outputs
    assert outputs["t"][0][0].shape == [1] and outputs["s"].dtype == tf.float32


def test_what_a_concrete_function_knows():
    v, frozen, k = tf.Variable(5.0), tf.Variable(2.0, trainable=False), ones([2])
    f = function(lambda x: (x * v + frozen) * k)
    concrete = f.get_concrete_function(spec([None, 2], name="given"))
    assert concrete.structured_input_signature == ((spec([None, 2], name="given"),), {})
    assert concrete.inputs[0].shape.as_list() == [None, 2] and len(concrete.inputs) == 4
    assert [t.shape.as_list() for t in concrete.outputs] == [[None, 2]]
    assert {id(x) for x in concrete.variables} == {id(v), id(frozen)}
    assert [x is v for x in concrete.trainable_variables] == [True]
    assert len(concrete.captured_inputs) == 3
    assert concrete.output_dtypes == tf.float32 and concrete.output_shapes.as_list() == [None, 2]
    check(concrete(given=ones([1, 2])), [[7.0, 7.0]])


def test_concrete_function_of_a_fixed_signature():
    f = function(lambda x: x * 2.0, input_signature=[spec([None])])
    for concrete in (f.get_concrete_function(), f.get_concrete_function(spec([3]))):
        assert concrete.structured_input_signature == ((spec([None], name="x"),), {})
        check(concrete(ones([2])), [2.0, 2.0])
    with refuses(TypeError):
        f.get_concrete_function(spec([3, 3]))
    assert f.experimental_get_tracing_count() == 1


def test_gradient_through_a_concrete_function():
    concrete = function(lambda x, y: x * y).get_concrete_function(spec(), spec())
    with tf.GradientTape() as tape:
        tape.watch(two)
        y = concrete(two, two)
    check(tape.gradient(y, two), 4.0)


# What else is asked.


def test_names_and_documentation():
    @function
    def area(r):
        """Of a circle."""
        return r

    assert (area.__name__, area.__doc__) == ("area", "Of a circle.")
    assert area.python_function.__name__ == "area"
    check(area.python_function(one), 1.0)
    area.tag = 3
    assert area.tag == 3 and weakref.ref(area)() is area and len({area, area}) == 1


def test_signatures_are_printed():
    f = function(lambda x, mode: x)
    f(ones([2]), "fast")
    text = f.pretty_printed_concrete_signatures()
    assert "float32" in text and "fast" in text
    assert "float32" in str(f.get_concrete_function(ones([2]), "fast"))


def test_a_callable_is_needed():
    with refuses(TypeError):
        tf.function(3)


def test_running_eagerly():
    f, runs = counted()
    f(1)
    tf.config.run_functions_eagerly(True)
    try:
        assert tf.config.functions_run_eagerly()
        f(1), f(1)
        assert function(lambda: 3)() == 3
        assert function(lambda x: x, input_signature=[spec([None])])([1, 2]) == [1, 2]
        with tf.GradientTape() as tape:
            tape.watch(two)
            y = function(lambda x: x * x)(two)
        check(tape.gradient(y, two), 4.0)
    finally:
        tf.config.run_functions_eagerly(False)
    f(1)
    assert len(runs) == 3 and not tf.config.functions_run_eagerly()


# Methods and other callables.


class Scaler:
    offset = 7.0

    def __init__(self, factor):
        self.factor = factor
        self.runs = 0

    @function
    def scale(self, x):
        self.runs += 1
        return x * self.factor

    @function
    def power(self, x, n):
        return x if n == 0 else self.power(x * self.factor, n - 1)

    @function(input_signature=[spec([None])])
    def total(self, x):
        return tf.reduce_sum(x) * self.factor

    @function
    def __call__(self, x):
        return x * self.factor + 1.0

    @staticmethod
    @function
    def shift(x):
        return x + 1.0

    @classmethod
    @function
    def move(cls, x):
        return x + cls.offset

    @property
    @function
    def constant(self):
        return tf.constant(self.factor)


class Louder(Scaler):
    @function
    def scale(self, x):
        return super().scale(x) + 100.0


def test_methods_are_traced_for_each_instance():
    a, b = Scaler(2.0), Scaler(3.0)
    check(a.scale(one), 2.0)
    check(b.scale(one), 3.0)
    check(a.scale(two), 4.0)
    assert (a.runs, b.runs) == (1, 1)
    assert a.scale.experimental_get_tracing_count() == 1


def test_equal_bound_methods_share_traces():
    a, b = Scaler(2.0), Scaler(3.0)
    first, second = a.scale, a.scale
    assert first == second and hash(first) == hash(second) and first != b.scale
    first(one), second(one)
    assert a.runs == 1


def test_a_method_of_the_class_takes_the_instance():
    a = Scaler(2.0)
    check(Scaler.scale(a, one), 2.0)
    check(Scaler.scale.get_concrete_function(a, spec())(one), 2.0)


def test_methods_by_inheritance():
    a = Louder(4.0)
    check(a.scale(one), 104.0)
    check(a.scale(two), 108.0)


def test_static_and_class_methods_and_properties():
    a = Scaler(2.0)
    check((a.shift(one), Scaler.shift(one)), (2.0, 2.0))
    check((a.move(one), Scaler.move(one), Louder.move(one)), (8.0, 8.0, 8.0))
    check(a.constant, 2.0)


def test_instances_that_are_called():
    check(Scaler.__call__(a := Scaler(2.0), one), 3.0)
    check(a(one), 3.0)


def test_method_with_a_signature():
    a = Scaler(2.0)
    check(a.total([1.0, 2.0]), 6.0)
    check(a.total(x=ones([3])), 6.0)
    assert a.total.experimental_get_tracing_count() == 1
    signature = a.total.get_concrete_function().structured_input_signature
    assert signature == ((spec([None], name="x"),), {})


def test_concrete_function_of_a_method():
    a = Scaler(2.0)
    concrete = a.scale.get_concrete_function(spec())
    assert concrete.structured_input_signature == ((spec(name="x"),), {})
    check(concrete(two), 4.0)


def test_recursion_ends_by_python_values():
    a = Scaler(2.0)
    check(a.power(one, 3), 8.0)
    assert a.power.experimental_get_tracing_count() == 4


def test_recursion_without_end_is_an_error_and_leaves_nothing():
    @function
    def forever(x):
        return forever(x)

    with refuses(RecursionError):
        forever(one)
    assert tf.executing_eagerly()
    check(Scaler(2.0).shift(one), 2.0)


def test_an_instance_is_not_kept_alive():
    a = Scaler(2.0)
    a.scale(one)
    seen = weakref.ref(a)
    del a
    gc.collect()
    assert seen() is None


def test_methods_as_arguments():
    a = Scaler(2.0)
    apply = function(lambda f, x: f(x))
    check(apply(a.scale, one), 2.0)
    check(apply(a.scale, two), 4.0)


class Model(tf.Module):
    def __init__(self):
        super().__init__()
        self.weight = None
        self.runs = 0

    @function
    def __call__(self, x):
        self.runs += 1
        if self.weight is None:
            self.weight = tf.Variable(2.0)
        return x * self.weight


def test_modules_make_their_variables_on_the_first_call():
    first, second = Model(), Model()
    check(first(one), 2.0)
    check(first(two), 4.0)
    assert first.runs == 2 and first.__call__.experimental_get_tracing_count() == 2
    check(first(ones([2])), [2.0, 2.0])
    assert first.runs == 3
    check(second(one), 2.0)
    assert second.weight is not first.weight and len(first.trainable_variables) == 1


class Doubler:
    def __call__(self, x):
        return x * 2.0

    def twice(self, x):
        return x * 4.0


@pytest.mark.parametrize(
    ("callable_", "expected"),
    [
        (lambda x: x + 1.0, 2.0),
        (functools.partial(lambda a, x: a * x, 2.0), 2.0),
        (functools.partial(lambda a, b, x: a * x + b, 2.0, b=3.0), 5.0),
        (Doubler(), 2.0),
        (Doubler().twice, 4.0),
        (tf.negative, -1.0),
        (abs, 1.0),
    ],
    ids=["lambda", "partial", "partial_keyword", "object", "bound_method", "operation", "builtin"],
)
def test_callables(callable_, expected):
    keywords = getattr(callable_, "keywords", None)
    f = function(callable_)
    for _ in range(2):
        check(f(x=one) if keywords else f(one), expected)


def test_partial_of_a_function():
    add = function(lambda a, b: a + b)
    check(functools.partial(add, one)(b=two), 3.0)
    check(functools.partial(add, b=one)(two), 3.0)
    assert add.experimental_get_tracing_count() == 1


def test_a_method_made_a_function_in_the_constructor():
    class Late:
        def __init__(self):
            self.factor = 3.0
            self.f = function(self.raw)

        def raw(self, x):
            return x * self.factor

    check(Late().f(one), 3.0)


def tenfold(f):
    @functools.wraps(f)
    def inner(*args, **kwargs):
        return f(*args, **kwargs) * 10.0

    return inner


def test_decorators_stack_in_either_order():
    outside, inside = tenfold(function(Scaler.shift.python_function)), function(tenfold(abs))
    check(outside(one), 20.0)
    check(inside(one), 10.0)
    twice = function(function(lambda x: x + 1.0))
    check(twice(one), 2.0)
    assert twice.experimental_get_tracing_count() == 1

"""What a `tf.Variable` does, and how `tf.Module` finds the variables it owns.

Every update is stated with its return value and with what a refused update leaves behind.
"""

import copy
import pickle

import numpy as np
import pytest

from tests.semantics.api import check, refuses, tf

InvalidArgument = tf.errors.InvalidArgumentError


def slices(values, indices):
    return tf.IndexedSlices(tf.constant(values), tf.constant(indices))


# --- creation


@pytest.mark.parametrize(
    ("value", "options", "dtype"),
    [
        (1.0, {}, "float32"),
        (1, {}, "int32"),
        (1, {"dtype": "float64"}, "float64"),
        (np.float64(1), {}, "float64"),
        ([True], {}, "bool"),
        ("a", {}, "string"),
        (1.5, {"dtype": "bfloat16"}, "bfloat16"),
        (lambda: tf.ones([2]), {}, "float32"),
    ],
    ids=["float", "int", "int as float64", "np.float64", "bool", "str", "bfloat16", "callable"],
)
def test_dtype_of_a_new_variable(value, options, dtype):
    assert tf.Variable(value, **options).dtype == tf.as_dtype(dtype)


def test_variable_of_a_variable_is_a_copy():
    v = tf.Variable([1.0])
    w = tf.Variable(v)
    w.assign([5.0])
    check((v, w), ([1.0], [5.0]))


def test_variable_does_not_alias_the_tensor_it_came_from():
    x = tf.constant([1.0, 2.0])
    v = tf.Variable(x)
    v.assign_add([1.0, 1.0])
    v.scatter_add(slices([10.0], [0]))
    check((x, v), ([1.0, 2.0], [12.0, 3.0]))


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: tf.Variable(), ValueError),
        (lambda: tf.Variable(None), ValueError),
        (lambda: tf.Variable(1.0, dtype=tf.int32), TypeError),
        (lambda: tf.Variable(tf.ones([2]), dtype=tf.float64), ValueError),
        (lambda: tf.Variable(tf.zeros([2]), shape=tf.TensorShape([3])), ValueError),
    ],
    ids=["nothing", "None", "float as int", "tensor of another dtype", "shape"],
)
def test_creation_errors(make, error):
    with pytest.raises(error):
        make()


def test_attributes():
    v = tf.Variable([[1.0, 2.0]], name="w")
    assert (v.name, tuple(v.shape), v.dtype, v.trainable) == ("w:0", (1, 2), tf.float32, True)
    assert v.get_shape() == (1, 2)
    assert v.device.endswith("CPU:0")
    assert v.constraint is None
    assert tf.Variable(1.0).name == "Variable:0"
    assert tf.Variable(1).trainable
    assert tf.Variable(1.0, name="a/b").name == "a/b:0"
    assert not tf.Variable(1.0, trainable=False).trainable
    assert isinstance(v, tf.Variable)
    assert not isinstance(v, tf.Tensor)
    assert tf.is_tensor(v)
    for name in ("trainable", "name", "shape", "dtype"):
        with pytest.raises(AttributeError):
            setattr(v, name, None)
    v.note = "mine"
    assert v.note == "mine"


def test_constraint_is_kept_for_optimizers():
    def positive(x):
        return tf.nn.relu(x)

    assert tf.Variable(1.0, constraint=positive).constraint is positive


def test_name_scope_prefixes_names():
    with tf.name_scope("outer"):
        assert tf.Variable(1.0, name="v").name == "outer/v:0"


# --- reading


def test_reads_are_snapshots():
    v = tf.Variable([1.0, 2.0])
    reads = (v.read_value(), v.value(), tf.convert_to_tensor(v), tf.identity(v), v + 0.0, v.numpy())
    v.assign_add([10.0, 10.0])
    v.scatter_update(slices([0.0], [0]))
    check(reads, ([1.0, 2.0],) * 6)
    assert all(isinstance(r, tf.Tensor) for r in reads[:5])


def test_numpy_is_a_copy():
    v = tf.Variable([1.0, 2.0])
    n = v.numpy()
    n[0] = 7.0
    check(v, [1.0, 2.0])
    assert type(tf.Variable(1.0).numpy()) is np.float32


def test_sparse_read_and_gather_nd():
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    check(v.sparse_read([1, 1]), [[3.0, 4.0], [3.0, 4.0]])
    check(v.gather_nd([[0, 1]]), [2.0])


# --- assignment


def test_assign_returns_a_variable_that_chains():
    v = tf.Variable([1.0, 2.0])
    results = [v.assign([4.0, 5.0]), v.assign_add([1.0, 1.0]), v.assign_sub([2.0, 2.0])]
    assert all(isinstance(r, tf.Variable) for r in results)
    check(v, [3.0, 4.0])
    # What is returned is the variable, not a snapshot of it.
    check(results[0], [3.0, 4.0])
    check(v.assign([0.0, 0.0]).assign_add([1.0, 2.0]).assign_sub([0.5, 0.5]), [0.5, 1.5])
    check(results[0] + 1.0, [1.5, 2.5])
    assert tuple(results[0].shape) == (2,)
    assert results[0].dtype == tf.float32


def test_assign_without_read_value_returns_none():
    v = tf.Variable(1.0)
    for update in (v.assign, v.assign_add, v.assign_sub):
        assert update(2.0, read_value=False) is None
    check(v, 2.0)


@pytest.mark.parametrize(
    "value",
    [[3, 4], np.array([3, 4]), np.array([3.0, 4.0]), tf.constant([3.0, 4.0]), (3.0, 4)],
    ids=["ints", "int64 array", "float64 array", "tensor", "tuple"],
)
def test_assign_converts_python_and_numpy_values(value):
    v = tf.Variable([1.0, 2.0])
    check(v.assign(value), [3.0, 4.0], tf.float32)
    check(v.assign(tf.Variable([7.0, 8.0])), [7.0, 8.0])


REFUSED = {
    "assign of another shape": (lambda v: v.assign([1.0]), ValueError),
    "assign of a scalar": (lambda v: v.assign(5.0), ValueError),
    "assign of an int tensor": (lambda v: v.assign(tf.constant([1, 2])), ValueError),
    "assign of a float64 tensor": (lambda v: v.assign(tf.ones([2], tf.float64)), ValueError),
    "assign of a string": (lambda v: v.assign("a"), TypeError),
    "assign_add of a scalar": (lambda v: v.assign_add(1.0), InvalidArgument),
    "assign_add of another shape": (lambda v: v.assign_add([1.0, 2.0, 3.0]), InvalidArgument),
    "assign_sub of another shape": (lambda v: v.assign_sub([[1.0, 1.0]]), InvalidArgument),
    "assign_add of an int tensor": (lambda v: v.assign_add(tf.constant([1, 2])), ValueError),
    "scatter_add out of range": (lambda v: v.scatter_add(slices([1.0], [2])), InvalidArgument),
    "scatter_add at a negative row": (
        lambda v: v.scatter_add(slices([1.0], [-1])),
        InvalidArgument,
    ),
    "scatter_add of a tensor": (lambda v: v.scatter_add(tf.constant([1.0])), TypeError),
    "scatter_add of ints": (lambda v: v.scatter_add(slices([1], [0])), ValueError),
    "scatter_nd_update out of range": (
        lambda v: v.scatter_nd_update([[5]], [1.0]),
        InvalidArgument,
    ),
    "sliced assign of another shape": (
        lambda v: v[0:2].assign([1.0, 2.0, 3.0]),
        InvalidArgument,
    ),
    "item assignment": (lambda v: v.__setitem__(0, 1.0), (TypeError, AttributeError)),
}


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED.keys())
def test_a_refused_update_leaves_the_value(case):
    update, error = case
    v = tf.Variable([1.0, 2.0])
    with pytest.raises(error):
        update(v)
    check(v, [1.0, 2.0], tf.float32)


def test_python_float_does_not_fit_an_integer_variable():
    v = tf.Variable([1, 2])
    with pytest.raises(TypeError):
        v.assign([1.5, 2])
    check(v, [1, 2], tf.int32)


def test_augmented_assignment_is_refused():
    v = tf.Variable(1.0)
    with pytest.raises(RuntimeError):
        v += 1.0
    with pytest.raises(RuntimeError):
        v *= 2.0
    check(v, 1.0)


# --- row updates

SCATTERS = {
    "scatter_add": ([1.0, 10.0], [0, 0], [12.0, 2.0, 3.0]),
    "scatter_sub": ([1.0, 10.0], [0, 2], [0.0, 2.0, -7.0]),
    "scatter_update": ([9.0, 8.0], [1, 0], [8.0, 9.0, 3.0]),
    "scatter_max": ([0.0, 5.0, 4.0], [0, 1, 1], [1.0, 5.0, 3.0]),
    "scatter_min": ([0.0, 5.0], [0, 1], [0.0, 2.0, 3.0]),
    "scatter_mul": ([2.0, 3.0], [1, 1], [1.0, 12.0, 3.0]),
    "scatter_div": ([2.0, 2.0], [1, 2], [1.0, 1.0, 1.5]),
}


@pytest.mark.parametrize("name", SCATTERS)
def test_scatter_with_indexed_slices(name):
    values, indices, expected = SCATTERS[name]
    v = tf.Variable([1.0, 2.0, 3.0])
    result = getattr(v, name)(slices(values, indices))
    assert isinstance(result, tf.Variable)
    check((result, v), (expected, expected))


# Golden values of TensorFlow 2.21: rows named twice count twice, in functions as well.
TWICE = {
    ("scatter_mul", "float32"): [[20, 40], [240, 600], [50, 60]],
    ("scatter_mul", "int32"): [[20, 40], [240, 600], [50, 60]],
    ("scatter_mul", "int8"): [[20, 40], [-16, 88], [50, 60]],
    ("scatter_div", "float32"): [[5, 10], [3.75, 2.6666665], [50, 60]],
    ("scatter_div", "int32"): [[5, 10], [3, 2], [50, 60]],
    ("scatter_div", "int8"): [[5, 10], [3, 2], [50, 60]],
}
WAYS = (lambda f: f, tf.function, tf.function(jit_compile=True))


@pytest.mark.parametrize("way", WAYS, ids=["eager", "host", "xla"])
@pytest.mark.parametrize(("name", "dtype"), TWICE)
def test_rows_named_twice_are_multiplied_and_divided_twice(name, dtype, way):
    v = tf.Variable(tf.cast([[10, 20], [30, 40], [50, 60]], dtype))
    rows = tf.cast([[2, 3], [4, 5], [2, 2]], dtype)
    way(lambda: getattr(v, name)(slices(rows, [1, 1, 0])))()
    check(v, TWICE[name, dtype], tf.as_dtype(dtype))


@pytest.mark.parametrize("way", WAYS, ids=["eager", "host", "xla"])
def test_whole_rows_are_divided_towards_zero_and_never_by_zero(way):
    v = tf.Variable([7, -8, 2**30 + 1])

    def divide(values, indices):
        v.scatter_div(tf.IndexedSlices(values, indices))

    call = way(divide)
    call(tf.constant([2, 3, 1]), tf.constant([0, 1, 2]))
    check(v, [3, -2, 2**30 + 1], tf.int32)
    for values, indices in (([1, 0], [0, 1]), ([2, 2], [0, 3])):
        with pytest.raises(InvalidArgument):
            call(tf.constant(values), tf.constant(indices))
        check(v, [3, -2, 2**30 + 1], tf.int32)


def test_scatter_of_matrix_rows_and_integers():
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    check(v.scatter_add(slices([[1.0, 1.0], [2.0, 2.0]], [2, 2])), [[1, 2], [3, 4], [8, 9]])
    check(tf.Variable([7, 8]).scatter_div(slices([2], [0])), [3, 8], tf.int32)
    with pytest.raises(InvalidArgument):
        v.scatter_add(slices([1.0], [0]))


def test_scatter_update_of_the_same_row_twice_keeps_the_last():
    v = tf.Variable([1.0, 2.0])
    check(v.scatter_update(slices([8.0, 9.0], [0, 0])), [9.0, 2.0])
    check(v.scatter_nd_update([[1], [1]], [8.0, 9.0]), [9.0, 9.0])


SCATTERS_ND = {
    "scatter_nd_add": [[1.0, 2.0], [3.0, 24.0]],
    "scatter_nd_sub": [[1.0, 2.0], [3.0, -16.0]],
    "scatter_nd_update": [[1.0, 2.0], [3.0, 10.0]],
    "scatter_nd_max": [[1.0, 2.0], [3.0, 10.0]],
    "scatter_nd_min": [[1.0, 2.0], [3.0, 4.0]],
}


@pytest.mark.parametrize("name", SCATTERS_ND)
def test_scatter_nd(name):
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    result = getattr(v, name)([[1, 1], [1, 1]], [10.0, 10.0])
    assert isinstance(result, tf.Variable)
    check(v, SCATTERS_ND[name])


def test_scatter_nd_of_rows():
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    check(v.scatter_nd_add([[0], [0]], [[1.0, 1.0], [2.0, 2.0]]), [[4.0, 5.0], [3.0, 4.0]])


def test_batch_scatter_update():
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    v.batch_scatter_update(slices([[9.0], [8.0]], [[0], [1]]))
    check(v, [[9.0, 2.0], [3.0, 8.0]])


SLICED = {
    "row": (lambda v: v[0], [5.0, 6.0, 7.0], [[5, 6, 7], [4, 5, 6]]),
    "column": (lambda v: v[:, 1], [0.0, 0.0], [[1, 0, 3], [4, 0, 6]]),
    "element": (lambda v: v[1, -1], 9.0, [[1, 2, 3], [4, 5, 9]]),
    "broadcast": (lambda v: v[0], 0.0, [[0, 0, 0], [4, 5, 6]]),
    "everything": (lambda v: v[...], np.zeros([2, 3]), np.zeros([2, 3])),
    "reversed": (lambda v: v[0, ::-1], [7.0, 8.0, 9.0], [[9, 8, 7], [4, 5, 6]]),
    "step": (lambda v: v[:, ::2], [[0.0, 0.0], [1.0, 1.0]], [[0, 2, 0], [1, 5, 1]]),
    "tensor index": (lambda v: v[tf.constant(1)], [0.0, 1.0, 2.0], [[1, 2, 3], [0, 1, 2]]),
}


@pytest.mark.parametrize("case", SLICED.values(), ids=SLICED.keys())
def test_sliced_assign(case):
    part, value, expected = case
    v = tf.Variable([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    result = part(v).assign(value)
    assert isinstance(result, tf.Variable)
    check((result, v), (expected, expected))


def test_slice_of_a_variable_is_a_tensor():
    v = tf.Variable([1.0, 2.0])
    part = v[:1]
    v.assign([5.0, 6.0])
    assert isinstance(part, tf.Tensor)
    check(part, [1.0])


# --- open shapes


def test_open_shape_takes_every_compatible_value():
    v = tf.Variable(tf.zeros([1, 2]), shape=tf.TensorShape([None, 2]))
    v.assign(tf.ones([3, 2]))
    assert v.shape.as_list() == [None, 2]
    assert v.numpy().shape == (3, 2)
    assert v.read_value().shape == (3, 2)
    assert (v + 1.0).shape == (3, 2)
    check(tf.shape(v), [3, 2])
    with refuses(ValueError):
        v.assign(tf.ones([3, 3]))
    check(v.assign_add(tf.ones([3, 2])), np.full([3, 2], 2.0))
    with pytest.raises(InvalidArgument):
        v.assign_add(tf.ones([2, 2]))
    check(v, np.full([3, 2], 2.0))


@pytest.mark.parametrize("way", WAYS, ids=["eager", "host", "xla"])
@pytest.mark.parametrize("name", ["assign_add", "assign_sub"])
def test_an_update_does_not_broadcast_at_unknown_rank(name, way):
    v = tf.Variable([1.0, 2.0, 3.0], shape=tf.TensorShape(None))
    call = way(lambda x: getattr(v, name)(x))
    for x in (1.0, [1.0], [1.0, 2.0], [[1.0, 2.0, 3.0]]):
        with pytest.raises(InvalidArgument, match=f"^{name}: the value's shape"):
            call(tf.constant(x))
    check(v, [1.0, 2.0, 3.0])
    call(tf.constant([0.0, 0.0, 0.0]))


def test_unknown_rank():
    v = tf.Variable(1.0, shape=tf.TensorShape(None))
    check(v.assign([1.0, 2.0]), [1.0, 2.0])
    assert v.shape.rank is None


# --- operators and protocols


def test_operators_give_tensors():
    v = tf.Variable([2.0, 4.0])
    cases = [
        (v + 1, [3, 5]),
        (1 - v, [-1, -3]),
        (v * v, [4, 16]),
        (v / 2, [1, 2]),
        (v**2, [4, 16]),
        (v // 3, [0, 1]),
        (v % 3, [2, 1]),
        (-v, [-2, -4]),
        (abs(-v), [2, 4]),
        (v > 3, [False, True]),
        (v == [2.0, 0.0], [True, False]),
        (tf.reshape(v, [1, 2]) @ [[1.0], [1.0]], [[6.0]]),
        (v[1], 4.0),
        (np.array([1.0, 2.0]) * v, [2, 8]),
    ]
    for result, expected in cases:
        assert isinstance(result, tf.Tensor)
        check(result, expected)
    check(~tf.Variable(True), False)
    check(tf.Variable(7) / 2, 3.5, tf.float64)


def test_python_protocols():
    v = tf.Variable([1, 2])
    check(tuple(v), (1, 2))
    a, b = v
    check((a, b), (1, 2))
    assert bool(tf.Variable(1.0))
    assert not bool(tf.Variable(0))
    assert (float(tf.Variable(2.0)), int(tf.Variable(3))) == (2.0, 3)
    np.testing.assert_array_equal(np.array(v), [1, 2])
    check((tf.size(v), tf.rank(v), tf.reduce_sum(v)), (2, 1, 3))
    with pytest.raises(TypeError):
        list(tf.Variable(1))
    with refuses(ValueError):
        bool(v)


def test_variable_is_unhashable_and_its_ref_is_not():
    v, w = tf.Variable(1.0), tf.Variable(1.0)
    with pytest.raises(TypeError):
        hash(v)
    assert {v.ref(): "v"}[v.ref()] == "v"
    assert v.ref() != w.ref()
    assert v.ref().deref() is v
    assert v.experimental_ref() == v.ref()


def test_deepcopy_is_independent():
    v = tf.Variable([1.0], name="q", trainable=False)
    w = copy.deepcopy(v)
    w.assign([5.0])
    check((v, w), ([1.0], [5.0]))
    assert (w.name, w.trainable, w.dtype) == (v.name, v.trainable, v.dtype)


def test_pickle():
    v = pickle.loads(pickle.dumps(tf.Variable([1.0, 2.0], name="q")))
    assert isinstance(v, tf.Variable)
    check(v.assign_add([1.0, 1.0]), [2.0, 3.0])


# --- modules


class Dense(tf.Module):
    def __init__(self, size, name=None):
        super().__init__(name=name)
        self.w = tf.Variable(tf.ones([size]), name="w")
        self.b = tf.Variable(0.0, name="b", trainable=False)

    @tf.Module.with_name_scope
    def build(self):
        self.k = tf.Variable(2.0, name="k")


class Model(tf.Module):
    def __init__(self):
        super().__init__()
        self.layers = [Dense(1), Dense(2)]
        self.table = {"z": Dense(3), "a": tf.Variable(1.0, name="entry")}
        self.pair = (tf.Variable(2.0, name="first"), [tf.Variable(3.0, name="deep")])
        self.alone = tf.Variable(1.0, name="alone")
        self.same = self.alone


def names(variables):
    return [v.name.removesuffix(":0") for v in variables]


def test_module_finds_variables_its_own_first_by_sorted_attribute():
    model = Model()
    found = model.variables
    assert isinstance(found, tuple)
    assert isinstance(model.submodules, tuple)
    assert names(found) == ["alone", "first", "deep", "entry"] + ["b", "w"] * 3
    assert [v.shape.as_list() for v in found[5::2]] == [[1], [2], [3]]
    assert names(model.trainable_variables) == ["alone", "first", "deep", "entry", "w", "w", "w"]
    assert names(model.non_trainable_variables) == ["b"] * 3


def test_submodules_are_breadth_first_in_attribute_order():
    outer, middle, inner = tf.Module("outer"), tf.Module("middle"), tf.Module("inner")
    other = tf.Module("other")
    middle.child = inner
    outer.b = other
    outer.a = [middle]
    assert [m.name for m in outer.submodules] == ["middle", "other", "inner"]


def test_module_follows_what_was_added_later():
    model = Model()
    count = len(model.variables)
    model.layers.append(Dense(7))
    model.table["new"] = tf.Variable(1.0)
    assert len(model.variables) == count + 3
    del model.pair
    assert len(model.variables) == count + 1


def test_containers_stay_lists_dicts_and_tuples():
    model = Model()
    assert isinstance(model.layers, list)
    assert isinstance(model.table, dict)
    assert isinstance(model.pair, tuple)
    assert len(model.layers) == 2
    assert list(model.table) == ["z", "a"]


def test_dict_entries_are_visited_in_sorted_order():
    module = tf.Module()
    module.x = {"b": [{"c": tf.Variable(1.0, name="1")}], "a": tf.Variable(1.0, name="2")}
    assert names(module.variables) == ["2", "1"]


def test_module_ignores_cycles_plain_objects_and_tensors():
    class Plain:
        def __init__(self):
            self.v = tf.Variable(1.0)

    module = tf.Module()
    module.me, module.plain, module.t, module.s = module, Plain(), tf.constant(1.0), {1, 2}
    module.v = tf.Variable(1.0, name="mine")
    assert names(module.variables) == ["mine"]
    assert module.submodules == ()


def test_module_names():
    class FooBarBaz(tf.Module):
        pass

    assert (FooBarBaz().name, FooBarBaz(name="Zed").name) == ("foo_bar_baz", "Zed")
    assert tf.Module().name == "module"
    for bad in ("1a", "a b", ""):
        with refuses(ValueError):
            tf.Module(name=bad)


def test_name_scope_of_a_module():
    dense = Dense(1, name="q")
    assert dense.name_scope.name == "q/"
    assert dense.w.name == "w:0"
    with dense.name_scope:
        assert tf.Variable(1.0, name="v").name == "q/v:0"
    dense.build()
    assert dense.k.name == "q/k:0"


def test_gradient_with_respect_to_the_variables_of_a_module():
    dense = Dense(2)
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(dense.w**2) + dense.b
    gradients = tape.gradient(y, dense.trainable_variables)
    assert isinstance(gradients, tuple)
    check(gradients, ([2.0, 2.0],))


def test_deepcopy_of_a_module_has_variables_of_its_own():
    dense = Dense(2)
    other = copy.deepcopy(dense)
    other.w.assign([5.0, 5.0])
    check((dense.w, other.w), ([1.0, 1.0], [5.0, 5.0]))
    assert names(other.variables) == ["b", "w"]


def test_module_without_super_init_still_finds_variables():
    class Careless(tf.Module):
        def __init__(self):
            self.v = tf.Variable(1.0, name="v")

    assert names(Careless().variables) == ["v"]

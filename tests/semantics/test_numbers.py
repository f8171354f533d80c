"""What a tensor is as a value: dtypes, conversions, operators, indexing, Python protocols, texts.

TensorFlow's dtypes are strict between tensors and lenient towards Python and NumPy values, and the
exception types differ from case to case; both are stated here as measured.
"""

import copy
import enum
import operator
import pickle
import re
from array import array
from collections import UserList, deque

import numpy as np
import pytest

from tests.semantics.api import INF, INT32_MAX, INT32_MIN, NAN, check, gradient, refuses, tf

InvalidArgument = tf.errors.InvalidArgumentError
# A Python float meeting an integer tensor raises one or the other, by operator and by side.
NotThisDtype = (TypeError, InvalidArgument)


def cases(table):
    """Parametrize over a dict, its keys as test ids."""
    return pytest.mark.parametrize("case", table.values(), ids=table.keys())


# --- from Python and NumPy to a tensor

CONVERSIONS = {
    "float": (1.5, "float32"),
    "int": (1, "int32"),
    "bool": (True, "bool"),
    "complex": (1j, "complex128"),
    "str": ("a", "string"),
    "bytes": (b"a", "string"),
    "largest int32": (INT32_MAX, "int32"),
    "smallest int32": (INT32_MIN, "int32"),
    "int beyond int32": (2**31, "int64"),
    "list with an int beyond int32": ([1, 2**31], "int64"),
    "list of floats": ([1.5, 2.0], "float32"),
    "list of int and float": ([1, 2.5], "float32"),
    "list of int and bool": ([1, True], "int32"),
    "list of float and bool": ([1.0, True], "float32"),
    "empty": ([], "float32"),
    "empty rows": ([[], []], "float32"),
    "tuple": ((1, 2), "int32"),
    "range": (range(3), "int32"),
    "np.float64": (np.float64(1), "float64"),
    "np.float16": (np.float16(1), "float16"),
    "np.int64": (np.int64(1), "int64"),
    "np.uint8": (np.uint8(1), "uint8"),
    "float64 array": (np.zeros([2, 3]), "float64"),
    "int64 array": (np.array([1, 2]), "int64"),
    "bool array": (np.array([True]), "bool"),
    "str array": (np.array(["a", "b"]), "string"),
    "list of np.float64": ([np.float64(1)], "float64"),
    "list of np.int64": ([np.int64(1)], "int32"),
    "list of int64 arrays": ([np.array([1, 2]), np.array([3, 4])], "int32"),
}


@cases(CONVERSIONS)
def test_constant_infers_the_dtype(case):
    value, dtype = case
    for convert in (tf.constant, tf.convert_to_tensor):
        t = convert(value)
        assert t.dtype.name == dtype
        assert tuple(t.shape) == np.shape(value)


NOT_CONVERTIBLE = {
    "ragged": ([[1, 2], [3]], ValueError),
    "ragged depth": ([[1, 2], 3], ValueError),
    "number then list": ([1, [2]], ValueError),
    "bool then int": ([True, 1], ValueError),
    "int then str": ([1, "a"], ValueError),
    "None": (None, ValueError),
    "list of None": ([None], ValueError),
    "int then None": ([1, None], ValueError),
    "int beyond int64": (2**63, ValueError),
    "dict": ({"a": 1}, ValueError),
    "set": ({1, 2}, ValueError),
    "generator": ((i for i in (1, 2)), ValueError),
    "object": (object(), ValueError),
    "array of objects": (np.array([1, 2], object), ValueError),
}


@cases(NOT_CONVERTIBLE)
def test_not_convertible(case):
    value, error = case
    with pytest.raises(error):
        tf.convert_to_tensor(value)


@pytest.mark.parametrize(
    ("value", "dtype"),
    [(1.5, "int32"), (1.0, "int32"), ([1.5], "int64"), (1, "bool"), ("a", "float32")]
    + [(1, "string"), (1j, "float32")],
)
def test_python_value_of_another_kind_than_the_dtype_asked_is_a_type_error(value, dtype):
    with pytest.raises(TypeError):
        tf.constant(value, dtype)


DTYPE_ASKED = {
    "int as float": (1, "float32", 1.0),
    "bool as float": (True, "float32", 1.0),
    "bool as int": (True, "int32", 1),
    "float64 array as float32": (np.array([1.5]), "float32", [1.5]),
    "int64 array as float16": (np.array([1]), "float16", [1.0]),
    "whole float array as int": (np.array([1.0, -2.0]), "int32", [1, -2]),
    "int rounded to float32": (2**24 + 1, "float32", 2.0**24),
    "large int as float32": (2**80, "float32", 2.0**80),
    "float beyond float16": (1e10, "float16", INF),
    "empty list as int": ([], "int32", np.zeros([0])),
}


@cases(DTYPE_ASKED)
def test_dtype_asked_for(case):
    value, dtype, expected = case
    check(tf.constant(value, dtype), expected, tf.as_dtype(dtype))


def test_constant_fills_or_reshapes_to_a_shape():
    check(tf.constant(1, shape=[2, 2]), [[1, 1], [1, 1]])
    check(tf.constant([1, 2, 3, 4], shape=[2, 2]), [[1, 2], [3, 4]])
    with pytest.raises(TypeError):
        tf.constant([1, 2, 3], shape=[2, 2])


def test_convert_to_tensor_never_casts_a_tensor_or_a_variable():
    for value in (tf.constant(1), tf.Variable(1)):
        with refuses(ValueError):
            tf.convert_to_tensor(value, tf.float32)
    with pytest.raises(TypeError):
        tf.constant(tf.constant(1), tf.float32)
    x = tf.constant(1)
    assert tf.convert_to_tensor(x) is x


def test_dtype_hint_is_a_preference():
    assert tf.convert_to_tensor(1, dtype_hint=tf.float32).dtype == tf.float32
    assert tf.convert_to_tensor(1.5, dtype_hint=tf.int32).dtype == tf.float32


def test_list_of_tensors_is_packed():
    x = tf.constant(1.0)
    check(tf.convert_to_tensor([x, 2]), [1.0, 2.0], tf.float32)
    check(tf.convert_to_tensor([[x, 2.0], [3.0, x]]), [[1.0, 2.0], [3.0, 1.0]])
    check(tf.convert_to_tensor([tf.Variable(1.0), 2.0]), [1.0, 2.0])
    check(gradient(lambda x: tf.convert_to_tensor([[x, 2.0], [3.0, x * x]]), 3.0), 7.0)
    with pytest.raises(InvalidArgument):
        tf.convert_to_tensor([x, tf.constant(1)])
    with pytest.raises(InvalidArgument):
        tf.convert_to_tensor([x, tf.constant([1.0])])
    with pytest.raises(TypeError):
        tf.convert_to_tensor([tf.constant(1), 2.5])


def test_tensor_shape_converts_when_fully_known():
    check(tf.convert_to_tensor(tf.TensorShape([1, 2])), [1, 2], tf.int32)
    with refuses(ValueError):
        tf.convert_to_tensor(tf.TensorShape([None, 2]))


def test_tensor_does_not_alias_the_array_it_came_from():
    for make in (tf.constant, tf.convert_to_tensor, tf.identity, tf.Variable):
        source = np.ones(1000, np.float32)
        t = make(source)
        source[:] = 9.0
        check(t, np.ones(1000))


def test_strings_are_utf8_bytes():
    assert tf.constant("é").numpy() == "é".encode()
    assert tf.constant(["a", "bc"]).numpy().tolist() == [b"a", b"bc"]
    assert tf.constant(["a"]).numpy().dtype == object
    check(tf.constant("a") + "b", b"ab")


# --- dtypes between operands

SAME_DTYPE_ONLY = {
    "add": operator.add,
    "mul": operator.mul,
    "truediv": operator.truediv,
    "less": operator.lt,
    "equal": operator.eq,
    "matmul": lambda a, b: tf.matmul(tf.reshape(a, [1, 1]), tf.reshape(b, [1, 1])),
}


@cases(SAME_DTYPE_ONLY)
@pytest.mark.parametrize(
    "dtypes", [("int32", "float32"), ("float32", "float64"), ("int32", "int64")], ids="-".join
)
def test_tensors_of_two_dtypes_do_not_mix(case, dtypes):
    a, b = (tf.constant(1, dtype) for dtype in dtypes)
    with pytest.raises(NotThisDtype):
        case(a, b)


def test_the_error_between_tensors_is_invalid_argument():
    for f in (operator.add, operator.mul, operator.lt, operator.eq):
        with pytest.raises(InvalidArgument):
            f(tf.constant(1), tf.constant(1.0))
    with pytest.raises(InvalidArgument):
        tf.Variable(1.0) + tf.Variable(1)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "int64", "uint8"])
def test_python_int_adopts_the_dtype_of_the_tensor(dtype):
    x = tf.constant(3, dtype)
    check(x + 2, 5, tf.as_dtype(dtype))
    check(2 + x, 5, tf.as_dtype(dtype))
    check(x * [2, 1], [6, 3], tf.as_dtype(dtype))
    check([2, 1] + x, [5, 4], tf.as_dtype(dtype))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_python_float_adopts_the_dtype_of_a_float_tensor(dtype):
    x = tf.constant(3, dtype)
    check((x + 0.5, 0.5 - x, x < 3.5), (3.5, -2.5, True))
    assert (x + 0.5).dtype == (0.5 - x).dtype == tf.as_dtype(dtype)


def test_python_bool_counts_as_a_number():
    check(tf.constant(1.0) + True, 2.0, tf.float32)
    check(tf.constant(1) + True, 2, tf.int32)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x + 2.5,
        lambda x: 2.5 + x,
        lambda x: x * 2.0,
        lambda x: [1.5] * x,
        lambda x: x**0.5,
        lambda x: x < 2.5,
        lambda x: x == 1.5,
        lambda x: tf.pow(2, 2.0),
        lambda x: tf.multiply(1, 2.5),
        lambda x: tf.add(1, 2.0),
        lambda x: tf.constant(1.0) + 1j,
        lambda x: tf.Variable(1) + 1.5,
    ],
)
def test_python_float_with_an_integer_tensor_is_an_error(f):
    with pytest.raises(NotThisDtype):
        f(tf.constant(1))


def test_first_python_operand_decides():
    check(tf.pow(2.0, 2), 4.0, tf.float32)
    check(tf.add(1.0, 2), 3.0, tf.float32)
    check(tf.add(np.float64(1), 1), 2.0, tf.float64)
    check(tf.add(np.int64(1), 1), 2, tf.int64)


@pytest.mark.parametrize(
    "array",
    [np.array([1.0, 2.0]), np.array([1, 2]), np.array([1, 2], np.float32), np.array([True, False])],
    ids=lambda a: a.dtype.name,
)
def test_numpy_array_takes_the_dtype_of_the_tensor_on_either_side(array):
    x = tf.constant([10.0, 20.0])
    for result in (x + array, array + x, tf.Variable(x) + array, array + tf.Variable(x)):
        assert tf.is_tensor(result)
        check(result, [10.0, 20.0] + array, tf.float32)
    assert bool(tf.reduce_all((x > array) & (array < x)))
    check(gradient(lambda x: np.array([2.0, 3.0]) * x, [1.0, 1.0]), [2.0, 3.0])


def test_numpy_scalar_takes_the_dtype_of_the_tensor_on_either_side():
    for scalar in (np.float64(2.0), np.float32(2.0), np.int64(2), np.array(2.0)):
        check(tf.constant(1.0) + scalar, 3.0, tf.float32)
        check(scalar - tf.constant(1.0), 1.0, tf.float32)


def test_matmul_with_an_array_on_either_side():
    check(np.array([[1.0, 2.0]]) @ tf.constant([[3.0], [4.0]]), [[11.0]], tf.float32)
    check(tf.constant([[1.0, 2.0]]) @ np.array([[3.0], [4.0]]), [[11.0]], tf.float32)


# --- arithmetic

ARITHMETIC = {
    "int / int": (lambda: tf.constant(7) / tf.constant(2), 3.5, "float64"),
    "int / python int": (lambda: tf.constant(7) / 2, 3.5, "float64"),
    "python int / int": (lambda: 1 / tf.constant(2), 0.5, "float64"),
    "int64 / int64": (lambda: tf.constant(7, tf.int64) / 2, 3.5, "float64"),
    "int8 / int8": (lambda: tf.constant(7, tf.int8) / 2, 3.5, "float32"),
    "uint8 / uint8": (lambda: tf.constant(7, tf.uint8) / 2, 3.5, "float32"),
    "int16 / int16": (lambda: tf.constant(7, tf.int16) / 2, 3.5, "float32"),
    "divide of python ints": (lambda: tf.divide(1, 2), 0.5, "float64"),
    "int / 0": (lambda: tf.constant(1) / 0, INF, "float64"),
    "float16 / float16": (lambda: tf.constant(7.0, tf.float16) / 2, 3.5, "float16"),
    "int // int": (lambda: tf.constant([-7, 7]) // tf.constant([2, -2]), [-4, -4], "int32"),
    "int % int": (lambda: tf.constant([-7, 7]) % tf.constant([2, -2]), [1, -1], "int32"),
    "float // float": (lambda: tf.constant([-7.0, 7.0]) // [2.0, -2.0], [-4.0, -4.0], "float32"),
    "float % float": (lambda: tf.constant([-7.0, 5.5]) % [2.0, -2.0], [1.0, -0.5], "float32"),
    "float // 0": (lambda: tf.constant([1.0, -1.0]) // 0.0, [INF, -INF], "float32"),
    "float % 0": (lambda: tf.constant(1.0) % 0.0, NAN, "float32"),
    "python // int": (lambda: -7 // tf.constant(2), -4, "int32"),
    "python % int": (lambda: 7 % tf.constant(-2), -1, "int32"),
    "int ** int": (lambda: 2 ** tf.constant(3), 8, "int32"),
    "0 ** 0": (lambda: tf.constant(0) ** 0, 1, "int32"),
    "negative float ** fraction": (lambda: tf.constant(-8.0) ** (1 / 3), NAN, "float32"),
    "int32 + wraps": (lambda: tf.constant(INT32_MAX) + 1, INT32_MIN, "int32"),
    "int32 * wraps": (lambda: tf.constant([INT32_MAX]) * 2, [-2], "int32"),
    "int32 sum wraps": (lambda: tf.reduce_sum([INT32_MAX, 1]), INT32_MIN, "int32"),
    "int32 ** wraps": (lambda: tf.constant(2) ** 31, INT32_MIN, "int32"),
    "int32 negation wraps": (lambda: -tf.constant(INT32_MIN), INT32_MIN, "int32"),
    "int32 abs wraps": (lambda: abs(tf.constant(INT32_MIN)), INT32_MIN, "int32"),
    "int32 // -1 wraps": (lambda: tf.constant(INT32_MIN) // -1, INT32_MIN, "int32"),
    "uint8 + wraps": (lambda: tf.constant(255, tf.uint8) + 1, 0, "uint8"),
    "and or xor not of bools": (
        lambda: tf.stack(
            [tf.constant(True) & False, tf.constant(True) | False, True ^ tf.constant(True)]
            + [~tf.constant(True)]
        ),
        [False, True, False, False],
        "bool",
    ),
    "and or xor not of ints": (
        lambda: tf.stack(
            [tf.constant(6) & 3, tf.constant(6) | 3, 6 ^ tf.constant(3)] + [~tf.constant(6)]
        ),
        [2, 7, 5, -7],
        "int32",
    ),
}


@cases(ARITHMETIC)
def test_arithmetic(case):
    f, expected, dtype = case
    check(f(), expected, tf.as_dtype(dtype))


ARITHMETIC_ERRORS = {
    "int // 0": lambda: tf.constant(1) // 0,
    "int % 0": lambda: tf.constant([1, 2]) % [1, 0],
    "int ** negative": lambda: tf.constant(2) ** -1,
    "1 ** negative": lambda: tf.constant(1) ** -1,
    "float & float": lambda: tf.constant(1.0) & tf.constant(1.0),
    "bool + bool": lambda: tf.constant(True) + tf.constant(True),
    "sum of bools": lambda: tf.reduce_sum(tf.constant([True])),
    "exp of int": lambda: tf.exp(tf.constant(1)),
    "sqrt of int": lambda: tf.sqrt(tf.constant(4)),
    "floor of int": lambda: tf.floor(tf.constant(1)),
    "shapes": lambda: tf.ones([2]) + tf.ones([3]),
    "matmul shapes": lambda: tf.matmul([[1.0]], [[1.0], [2.0]]),
    "matmul of vectors": lambda: tf.matmul([1.0], [2.0]),
}


@cases(ARITHMETIC_ERRORS)
def test_arithmetic_errors(case):
    with pytest.raises(InvalidArgument):
        case()


def test_bool_division_is_a_type_error():
    with pytest.raises(TypeError):
        tf.constant(True) / tf.constant(True)


def test_error_types_are_op_errors_with_a_message():
    with pytest.raises(tf.errors.OpError) as caught:
        tf.ones([2]) + tf.ones([3])
    assert "[2]" in caught.value.message
    assert "[3]" in caught.value.message


# --- comparison, identity, hashing


def test_comparison_is_elementwise():
    a, b = tf.constant([1, 2, 3]), tf.constant([3, 2, 1])
    check(a == b, [False, True, False], tf.bool)
    check(a != [3, 2, 1], [True, False, True], tf.bool)
    check(a < b, [True, False, False])
    check(operator.le(2, a), [False, True, True])
    check(tf.constant(["a", "b"]) == "a", [True, False])
    check(tf.constant(NAN) == NAN, False)


def test_equality_of_incompatible_shapes_is_false_not_an_error():
    check(tf.constant([1, 2]) == tf.constant([1, 2, 3]), False)
    check(tf.constant([1, 2]) != tf.constant([1, 2, 3]), True)
    with pytest.raises(InvalidArgument):
        operator.lt(tf.constant([1, 2]), tf.constant([1, 2, 3]))


def test_comparison_with_none_is_python():
    assert (tf.constant(1) == None) is False  # noqa: E711 the operator is under test
    assert (tf.constant(1) != None) is True  # noqa: E711 the operator is under test


def test_tensor_is_unhashable_and_its_ref_is_not():
    x, y = tf.constant(1), tf.constant(1)
    with pytest.raises(TypeError):
        hash(x)
    table = {x.ref(): "x", y.ref(): "y"}
    assert table[x.ref()] == "x"
    assert x.ref() != y.ref()
    assert x.ref().deref() is x
    assert x in [y]


# --- Python protocols


def test_iteration_and_len():
    rows = list(tf.constant([[1, 2], [3, 4]]))
    check(tuple(rows), ([1, 2], [3, 4]))
    a, b = tf.constant([1.0, 2.0])
    check((a, b), (1.0, 2.0))
    assert len(tf.zeros([3, 2])) == 3
    assert len(tf.zeros([0, 2])) == 0
    assert list(tf.zeros([0, 2])) == []
    for f in (len, list):
        with pytest.raises(TypeError):
            f(tf.constant(1))


def test_bool():
    assert tf.constant(2.0)
    assert tf.constant([1])
    assert tf.constant("a")
    assert not tf.constant(0)
    assert not tf.constant("")
    assert not tf.constant(False)
    with refuses(ValueError):
        bool(tf.constant([1, 2]))


def test_float_int_complex_and_index():
    assert (float(tf.constant(3)), int(tf.constant(3.7)), complex(tf.constant(1j))) == (3.0, 3, 1j)
    assert (type(float(tf.constant(3))), type(int(tf.constant(3.7)))) == (float, int)
    assert [10, 20, 30][tf.constant(1)] == 20
    assert list(range(tf.constant(3))) == [0, 1, 2]
    assert (int(tf.constant("12")), float(tf.constant("1.5"))) == (12, 1.5)
    with pytest.raises(TypeError):
        float(tf.constant([1.0, 2.0]))
    with pytest.raises((TypeError, AttributeError)):
        [10, 20, 30][tf.constant(1.0)]
    with pytest.raises(TypeError):
        [10, 20, 30][tf.constant([1])]


def test_formatting_uses_the_value():
    x = tf.constant(1.5)
    assert f"{x}" == "1.5"
    assert f"{x:.3f}" == "1.500"
    assert f"{tf.constant([1, 2])}" == "[1 2]"
    assert "%.2f" % x == "1.50"  # noqa: UP031 the operator is under test


def test_numpy_protocol():
    x = tf.constant([1.0, 2.0])
    assert isinstance(np.asarray(x), np.ndarray)
    assert np.asarray(x).dtype == np.float32
    assert np.asarray(x, np.float64).dtype == np.float64
    np.testing.assert_array_equal(np.array([x, x]), [[1, 2], [1, 2]])
    assert float(np.sum(x)) == 3.0
    np.testing.assert_allclose(np.exp(tf.constant(0.0)), 1.0)
    assert not np.asarray(x).flags.writeable
    assert np.array(x).flags.writeable
    assert np.asarray(tf.constant(["a"])).tolist() == [b"a"]


@pytest.mark.parametrize(
    ("value", "dtype", "type_"),
    [
        (1, "int32", np.int32),
        (1.0, "float32", np.float32),
        (True, "bool", np.bool_),
        (1j, "complex64", np.complex64),
        ("a", "string", bytes),
        ([1], "int32", np.ndarray),
    ],
)
def test_numpy_of_a_scalar_is_a_numpy_scalar(value, dtype, type_):
    assert type(tf.constant(value, dtype).numpy()) is type_


def test_numpy_of_bfloat16():
    a = tf.constant([1.5, 2.0], tf.bfloat16).numpy()
    assert a.dtype.name == "bfloat16"
    assert a.astype(np.float32).tolist() == [1.5, 2.0]
    assert type(tf.constant(1.5, tf.bfloat16).numpy()) is tf.bfloat16.as_numpy_dtype


def test_numpy_is_a_copy_that_may_be_written():
    x = tf.constant([1, 2])
    n = x.numpy()
    n[0] = 9
    check(x, [1, 2])


def test_tensors_do_not_change_in_place():
    x = tf.constant([1, 2])
    with pytest.raises(TypeError):
        x[0] = 5
    y = x
    y += 1
    check((x, y), ([1, 2], [2, 3]))
    assert copy.copy(x) is x
    check(copy.deepcopy(x), [1, 2])
    check(pickle.loads(pickle.dumps(x)), [1, 2], tf.int32)


def test_attributes():
    x = tf.constant([[1.0, 2.0]])
    assert x.shape == (1, 2)
    assert x.shape == [1, 2]
    assert x.ndim == 2
    assert x.dtype == tf.float32
    assert x.get_shape() == x.shape
    assert x.device.endswith("CPU:0")
    assert isinstance(x, tf.Tensor)
    assert tf.is_tensor(x)
    assert not tf.is_tensor(np.ones(1))
    with pytest.raises(AttributeError):
        x.unknown
    x.note = "mine"
    assert x.note == "mine"


# --- indexing

INDEXING = {
    "integers": (lambda x: x[1, 2, 3], 23),
    "negative integers": (lambda x: x[-1, -1, -1], 23),
    "ellipsis": (lambda x: x[..., 0], [[0, 4, 8], [12, 16, 20]]),
    "ellipsis in the middle": (lambda x: x[1, ..., 1], [13, 17, 21]),
    "slice": (lambda x: x[0, 0, 1:3], [1, 2]),
    "negative bounds": (lambda x: x[0, 0, -2:], [2, 3]),
    "step": (lambda x: x[0, 0, ::2], [0, 2]),
    "reversed": (lambda x: x[0, 0, ::-1], [3, 2, 1, 0]),
    "negative step": (lambda x: x[0, 0, 3:0:-2], [3, 1]),
    "slice out of range": (lambda x: x[5:], np.zeros([0, 3, 4])),
    "empty slice": (lambda x: x[1:1], np.zeros([0, 3, 4])),
    "tensor": (lambda x: x[tf.constant(1), 0, 0], 12),
    "int64 tensor": (lambda x: x[tf.constant(1, tf.int64), 0, 0], 12),
    "NumPy integer": (lambda x: x[np.int64(1), 0, 0], 12),
    "tensors as bounds": (lambda x: x[0, 0, tf.constant(1) : tf.constant(3)], [1, 2]),
    "list as tuple": (lambda x: x[[0, 1]], [4, 5, 6, 7]),
    "chained": (lambda x: x[:, 0][:, 1], [1, 13]),
    "mask": (lambda x: x[x > 20], [21, 22, 23]),
    "mask of the first axis": (lambda x: x[tf.constant([False, True])][0, 0], [12, 13, 14, 15]),
    "boolean_mask": (lambda x: tf.boolean_mask(x, [True, False])[0, 0], [0, 1, 2, 3]),
    "boolean_mask along an axis": (
        lambda x: tf.boolean_mask(x[0], [True, False, False, True], axis=1),
        [[0, 3], [4, 7], [8, 11]],
    ),
    "ellipsis of a scalar": (lambda x: tf.constant(5)[...], 5),
    "newaxis of a scalar": (lambda x: tf.constant(5)[tf.newaxis], [5]),
}


@cases(INDEXING)
def test_indexing(case):
    f, expected = case
    check(f(tf.reshape(tf.range(24), [2, 3, 4])), expected, tf.int32)


def test_newaxis_shapes():
    x = tf.zeros([2, 3, 4])
    assert x[:, tf.newaxis].shape == (2, 1, 3, 4)
    assert x[None, ..., None].shape == (1, 2, 3, 4, 1)
    assert x[0, None].shape == (1, 3, 4)


BAD_INDEXING = {
    "out of range": (lambda x: x[2], InvalidArgument),
    "negative out of range": (lambda x: x[-3], InvalidArgument),
    "too many": (lambda x: x[0, 0, 0, 0], InvalidArgument),
    "two ellipses": (lambda x: x[..., ...], InvalidArgument),
    "step zero": (lambda x: x[::0], InvalidArgument),
    "of a scalar": (lambda x: tf.constant(5)[0], InvalidArgument),
    "float": (lambda x: x[1.0], TypeError),
    "string": (lambda x: x["a"], TypeError),
    "vector tensor": (lambda x: x[tf.constant([0, 1])], TypeError),
    "array": (lambda x: x[np.array([0, 1])], TypeError),
    "mask of a wrong shape": (lambda x: x[tf.constant([True, False, True])], ValueError),
}


@cases(BAD_INDEXING)
def test_bad_indexing(case):
    f, error = case
    with pytest.raises(error):
        f(tf.zeros([2, 3, 4]))


def test_indexing_gradients():
    check(gradient(lambda x: x[::-2] * [1.0, 10.0], [1.0, 2.0, 3.0]), [10.0, 0.0, 1.0])
    check(gradient(lambda x: x[x > 1.5] * 2.0, [1.0, 2.0, 3.0]), [0.0, 2.0, 2.0])
    check(gradient(lambda x: x[1, None] * 3.0, [[1.0], [2.0]]), [[0.0], [3.0]])


# --- shapes and dtypes as objects


def test_tensor_shape():
    s = tf.zeros([2, 3]).shape
    assert isinstance(s, tf.TensorShape)
    assert s == (2, 3)
    assert s == [2, 3]
    assert tuple(s) == (2, 3)
    assert (len(s), s.rank, s[0], s.as_list(), s.num_elements()) == (2, 2, 2, [2, 3], 6)
    assert s[:1] == [2]
    assert s + [4] == [2, 3, 4]
    assert s.is_fully_defined()
    partial, unknown = tf.TensorShape([None, 3]), tf.TensorShape(None)
    assert partial.is_compatible_with([5, 3])
    assert not partial.is_compatible_with([5, 4])
    assert partial[0] is None
    assert not partial.is_fully_defined()
    assert unknown.rank is None
    assert (repr(s), str(s)) == ("TensorShape([2, 3])", "(2, 3)")
    assert (repr(partial), str(partial)) == ("TensorShape([None, 3])", "(None, 3)")
    assert (repr(unknown), str(unknown)) == ("TensorShape(None)", "<unknown>")
    for f in (len, list, lambda s: s.as_list()):
        with refuses(ValueError):
            f(unknown)


def test_dtypes():
    for same in ("float32", np.float32, float, tf.as_dtype("float32")):
        assert operator.eq(tf.float32, same)
    for other in (tf.float64, "float64", None):
        assert operator.ne(tf.float32, other)
    assert hash(tf.float32) == hash(tf.as_dtype("float32"))
    assert tf.as_dtype(float) == tf.float32
    assert tf.as_dtype(np.float64) == tf.float64
    assert tf.as_dtype("double") == tf.float64
    assert tf.as_dtype("half") == tf.float16
    assert (repr(tf.float32), str(tf.float32)) == ("tf.float32", "<dtype: 'float32'>")
    assert (tf.float32.name, tf.float32.size, tf.int8.min) == ("float32", 4, -128)
    assert tf.float32.as_numpy_dtype is np.float32
    assert tf.string.as_numpy_dtype is object
    assert tf.bfloat16.is_floating
    assert tf.uint8.is_integer
    assert tf.uint8.is_unsigned
    assert tf.complex64.is_complex
    assert tf.complex64.real_dtype == tf.float32
    assert tf.bool.is_bool
    assert not tf.bool.is_integer
    for bad in ("nope", None):
        with pytest.raises(TypeError):
            tf.as_dtype(bad)


# --- texts

TEXTS = {
    "int": (1, None, "shape=(), dtype=int32, numpy=1", "1, shape=(), dtype=int32"),
    "float": (1.5, None, "shape=(), dtype=float32, numpy=1.5", "1.5, shape=(), dtype=float32"),
    "float32 to its last digit": (
        0.1,
        None,
        "shape=(), dtype=float32, numpy=0.10000000149011612",
        "0.1, shape=(), dtype=float32",
    ),
    "float64": (
        0.1,
        "float64",
        "shape=(), dtype=float64, numpy=0.1",
        "0.1, shape=(), dtype=float64",
    ),
    "nan": (NAN, None, "shape=(), dtype=float32, numpy=nan", "nan, shape=(), dtype=float32"),
    "bool": (True, None, "shape=(), dtype=bool, numpy=True", "True, shape=(), dtype=bool"),
    "string": ("a", None, "shape=(), dtype=string, numpy=b'a'", "b'a', shape=(), dtype=string"),
    "complex": (
        1 + 2j,
        None,
        "shape=(), dtype=complex128, numpy=(1+2j)",
        "(1+2j), shape=(), dtype=complex128",
    ),
    "bfloat16": (
        1.5,
        "bfloat16",
        "shape=(), dtype=bfloat16, numpy=1.5",
        "1.5, shape=(), dtype=bfloat16",
    ),
    "vector": (
        [1.0, 2.0],
        None,
        "shape=(2,), dtype=float32, numpy=array([1., 2.], dtype=float32)",
        "[1. 2.], shape=(2,), dtype=float32",
    ),
    "int64 vector": (
        [1],
        "int64",
        "shape=(1,), dtype=int64, numpy=array([1])",
        "[1], shape=(1,), dtype=int64",
    ),
    "bool vector": (
        [True, False],
        None,
        "shape=(2,), dtype=bool, numpy=array([ True, False])",
        "[ True False], shape=(2,), dtype=bool",
    ),
    "string vector": (
        ["a", "bc"],
        None,
        "shape=(2,), dtype=string, numpy=array([b'a', b'bc'], dtype=object)",
        "[b'a' b'bc'], shape=(2,), dtype=string",
    ),
    "complex vector": (
        [1 + 2j],
        "complex64",
        "shape=(1,), dtype=complex64, numpy=array([1.+2.j], dtype=complex64)",
        "[1.+2.j], shape=(1,), dtype=complex64",
    ),
    "bfloat16 vector": (
        [1.5, 2],
        "bfloat16",
        "shape=(2,), dtype=bfloat16, numpy=array([1.5, 2], dtype=bfloat16)",
        "[1.5 2], shape=(2,), dtype=bfloat16",
    ),
    "empty": (
        [],
        None,
        "shape=(0,), dtype=float32, numpy=array([], dtype=float32)",
        "[], shape=(0,), dtype=float32",
    ),
    "matrix": (
        [[1, 2], [3, 4]],
        None,
        "shape=(2, 2), dtype=int32, numpy=\narray([[1, 2],\n       [3, 4]], dtype=int32)",
        "\n[[1 2]\n [3 4]], shape=(2, 2), dtype=int32",
    ),
}


@cases(TEXTS)
def test_repr_and_str_of_a_tensor(case):
    value, dtype, in_repr, in_str = case
    t = tf.constant(value, dtype)
    assert repr(t) == f"<tf.Tensor: {in_repr}>"
    assert str(t) == f"tf.Tensor({in_str})"


def test_long_tensors_are_abbreviated():
    assert str(tf.range(2000)).startswith(
        "tf.Tensor([   0    1    2 ... 1997 1998 1999], shape=(2000,)"
    )
    assert len(repr(tf.zeros([1000, 1000]))) < 1000


VARIABLE_TEXTS = {
    "scalar": (lambda: tf.Variable(1.0), "'Variable:0' shape=() dtype=float32, numpy=1.0"),
    "named": (
        lambda: tf.Variable([1, 2], name="w"),
        "'w:0' shape=(2,) dtype=int32, numpy=array([1, 2], dtype=int32)",
    ),
    "matrix": (
        lambda: tf.Variable([[1.0, 2.0]], name="m", trainable=False),
        "'m:0' shape=(1, 2) dtype=float32, numpy=array([[1., 2.]], dtype=float32)",
    ),
    "string": (lambda: tf.Variable("a"), "'Variable:0' shape=() dtype=string, numpy=b'a'"),
    "bool": (lambda: tf.Variable(True), "'Variable:0' shape=() dtype=bool, numpy=True"),
    "complex": (lambda: tf.Variable(1j), "'Variable:0' shape=() dtype=complex128, numpy=1j"),
    "bfloat16": (
        lambda: tf.Variable(1.0, dtype=tf.bfloat16),
        "'Variable:0' shape=() dtype=bfloat16, numpy=1.0",
    ),
    "open shape": (
        lambda: tf.Variable([1.0], shape=tf.TensorShape([None])),
        "'Variable:0' shape=(None,) dtype=float32, numpy=array([1.], dtype=float32)",
    ),
    "unknown rank": (
        lambda: tf.Variable(1.0, shape=tf.TensorShape(None)),
        "'Variable:0' shape=<unknown> dtype=float32, numpy=1.0",
    ),
}


@cases(VARIABLE_TEXTS)
def test_repr_and_str_of_a_variable(case):
    make, inner = case
    v = make()
    assert repr(v) == str(v) == f"<tf.Variable {inner}>"


def test_text_of_indexed_slices_and_references():
    s = tf.IndexedSlices(tf.constant([1.0]), tf.constant([0]), tf.constant([3]))
    assert re.fullmatch(
        r"IndexedSlices\(indices=tf\.Tensor\(\[0\].*, values=tf\.Tensor\(\[1\.\].*, "
        r"dense_shape=tf\.Tensor\(\[3\].*\)",
        str(s),
    )
    assert repr(tf.constant(1).ref()) == (
        "<Reference wrapping <tf.Tensor: shape=(), dtype=int32, numpy=1>>"
    )


BYTES = np.array([1, 2], np.uint8)


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        ([1.0, np.float64(2)], "float32"),
        ([np.float64(2), 1.0], "float64"),
        ([1, np.float64(2.5)], "float32"),
        ([[1.0, 2.0], np.array([3.0, 4.0])], "float32"),
        ([np.array([3.0, 4.0]), [1.0, 2.0]], "float64"),
        ([0.1, np.mean([1, 2])], "float32"),
        ([1.0, np.float16(2)], "float32"),
        ([np.float16(2), 1.0], "float16"),
        ([np.float32(1), np.float64(2)], "float32"),
        ([np.complex64(1j), 1j], "complex128"),
        ([BYTES, BYTES], "int32"),
        ([np.uint8(3), 1.5], "float32"),
        ([np.uint32(2**32 - 1)], "int64"),
        ([np.uint64(7)], "int32"),
        ([np.array([], np.float64)], "float32"),
    ],
)
def test_the_first_number_of_a_list_gives_its_type(values, dtype):
    found = tf.constant(values)
    assert found.dtype.name == dtype
    assert tf.stack(values).dtype.name == dtype
    np.testing.assert_allclose(found, np.array(values), rtol=1e-6)


@pytest.mark.parametrize(
    ("call", "dtype"),
    [
        (lambda x: tf.multiply(2.0, x), "float32"),
        (lambda x: tf.maximum(0.0, x), "float32"),
        (lambda x: tf.divide(1.0, x), "float32"),
        (lambda x: tf.subtract([1.0], x), "float32"),
        (lambda x: tf.add(3, x.astype(np.int64)), "int32"),
        (lambda x: tf.multiply(x, 2.0), "float64"),
    ],
)
def test_an_array_beside_a_number_of_python_takes_its_type(call, dtype):
    x = np.array([1.0, 2.0])
    assert call(x).dtype.name == dtype
    assert tf.function(lambda: call(x))().dtype.name == dtype


SIDE = enum.IntEnum("SIDE", "LEFT RIGHT")


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        (deque([1, 2]), [1, 2]),
        (deque([[1.5, 2], [3, 4]]), [[1.5, 2], [3, 4]]),
        ([deque([1, 2]), [3, 4]], [[1, 2], [3, 4]]),
        (deque([np.array([1.0, 2.0]), np.array([3.0, 4.0])]), [[1.0, 2.0], [3.0, 4.0]]),
        (deque(["a", "b"]), [b"a", b"b"]),
        ([range(2), range(2, 4)], [[0, 1], [2, 3]]),
        (array("d", [1, 2]), [1.0, 2.0]),
        ([UserList([1, 2])], [[1, 2]]),
        (bytearray(b"ab"), [97, 98]),
        (SIDE.RIGHT, 2),
        ([SIDE.LEFT, 3], [1, 3]),
        ([tf.TensorShape([1, 2])], [[1, 2]]),
    ],
)
def test_sequences_of_python_are_lists(values, wanted):
    found = tf.constant(values)
    assert found.numpy().tolist() == wanted
    first = np.ravel(values)[0] if isinstance(values, deque) else None
    assert isinstance(first, np.floating) or found.dtype == tf.constant(wanted).dtype


def test_sequences_of_python_where_lists_are_taken():
    assert tf.stack(deque([tf.constant(1.0), tf.constant(2.0)])).numpy().tolist() == [1.0, 2.0]
    assert tf.Variable([0.0, 0.0]).assign(deque([1, 2])).numpy().tolist() == [1.0, 2.0]
    assert tf.reduce_mean(deque([1.0, 2.0, 6.0])).numpy() == 3.0
    assert tf.zeros(deque([2, 3])).shape == (2, 3)
    assert tf.ragged.constant([range(2), deque([5])]).to_list() == [[0, 1], [5]]
    assert (tf.constant(1.5) * SIDE.RIGHT).numpy() == 3.0
    for bad in ({1, 2}, {"a": 1}, (x for x in [1])):
        with pytest.raises((TypeError, ValueError)):
            tf.constant(bad)

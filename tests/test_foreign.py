"""Values of TensorFlow itself in the same process are converted, or refused in words.

The classes here stand for TensorFlow's: they have its modules' names, and its protocols.
"""
# Some arguments are none that a checker accepts.
# pyright: reportArgumentType=false

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import wengert as tf

_MODULE = "tensorflow.python.framework.ops"


class _TracingType:
    def to_tensors(self, value: Any) -> list[Any]:
        return [value]  # as TensorFlow's do, which a walk must not follow for ever


class DType:
    __module__ = _MODULE
    as_numpy_dtype = np.float32


class TensorShape:
    __module__ = _MODULE

    def __init__(self, dims: list[int | None] | None) -> None:
        self.rank = None if dims is None else len(dims)
        self._dims = dims

    def is_fully_defined(self) -> bool:
        return self._dims is not None and None not in self._dims

    def __iter__(self) -> Any:
        if self._dims is None:
            raise ValueError("Cannot iterate over a shape with unknown rank.")
        return iter(self._dims)


class _Typed:
    __module__ = _MODULE

    def __tf_tracing_type__(self, context: Any) -> Any:
        return _TracingType()

    @property
    def dtype(self) -> Any:
        return DType()


class EagerTensor(_Typed):
    __module__ = _MODULE
    _type_spec = None

    def __init__(self, value: Any) -> None:
        self._value = np.asarray(value)

    @property
    def shape(self) -> Any:
        return TensorShape([*self._value.shape])

    def __tf_tensor__(self, dtype: Any = None, name: Any = None) -> Any:
        return self

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return self._value


class ResourceVariable(_Typed):
    __module__ = _MODULE
    _type_spec = None
    shape = EagerTensor.shape
    variables = ()

    def __init__(self, value: Any) -> None:
        self._value = np.asarray(value)

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return self._value


class RaggedTensor(_Typed):
    __module__ = _MODULE
    _type_spec = None

    @property
    def shape(self) -> Any:
        return TensorShape(None)


class SymbolicTensor(EagerTensor):
    __module__ = _MODULE

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        raise NotImplementedError("Cannot convert a symbolic tf.Tensor to a numpy array.")


class TensorSpec(_Typed):
    __module__ = _MODULE
    name = None

    @property
    def shape(self) -> Any:
        return TensorShape([None])


class Holder:
    __module__ = _MODULE  # an object that is no tensor, such as a module


NUMBERS: Any = [1.0, 2.0]
X = tf.constant([10.0, 20.0])
TAKES: dict[str, Any] = {
    "constant": tf.constant,
    "convert_to_tensor": tf.convert_to_tensor,
    "identity": tf.identity,
    "variable": lambda v: tf.Variable(v) + 0.0,
    "add": lambda v: tf.add(X, v) - X,
    "operator": lambda v: X + v - X,
    "list": lambda v: tf.stack([v, X])[0],
    "concat": lambda v: tf.concat([v, X], 0)[:2],
    "cast": lambda v: tf.cast(v, tf.float32),
    "assign": lambda v: tf.Variable([0.0, 0.0]).assign(v) + 0.0,
    "argument": lambda v: tf.function(lambda a: a)(v),
    "nested argument": lambda v: tf.function(lambda a: a)({"a": (v, 1)})["a"][0],
    "result": lambda v: tf.function(lambda: v)(),
    "closure": lambda v: tf.function(lambda: X * v)() / X,
    "while_loop": lambda v: tf.function(
        lambda: tf.while_loop(lambda i, a: i < 1, lambda i, a: (i + 1, a), [0, v])
    )()[1],
    "from_tensors": lambda v: next(iter(tf.data.Dataset.from_tensors(v))),
    "from_tensor_slices": lambda v: tf.stack(list(tf.data.Dataset.from_tensor_slices(v))),
    "map": lambda v: next(iter(tf.data.Dataset.range(1).map(lambda i: v))),
    "static value": lambda v: tf.constant(tf.get_static_value(v)),
}


@pytest.mark.parametrize("kind", [EagerTensor, ResourceVariable])
@pytest.mark.parametrize("name", TAKES)
def test_tensors_and_variables_are_converted(name: str, kind: Any) -> None:
    found = TAKES[name](kind(np.float32(NUMBERS)))
    assert type(found) in (tf.Tensor, type(X), type(tf.function(lambda: X)()))
    np.testing.assert_array_equal(found.numpy(), NUMBERS)


@pytest.mark.parametrize("value", [RaggedTensor(), SymbolicTensor(NUMBERS)])
@pytest.mark.parametrize("name", TAKES)
def test_what_has_no_array_is_refused(name: str, value: Any) -> None:
    words = rf"a {type(value).__name__} of TensorFlow's own is no value of Wengert's"
    with pytest.raises((TypeError, tf.errors.InvalidArgumentError), match=words):
        TAKES[name](value)


def test_strings_and_half_precision() -> None:
    assert tf.constant(EagerTensor(np.array([b"a"], object))).numpy().tolist() == [b"a"]
    assert tf.constant(EagerTensor(np.zeros(2, tf.bfloat16.as_numpy_dtype))).dtype == tf.bfloat16


def test_types_shapes_and_specs() -> None:
    assert tf.as_dtype(DType()) is tf.float32
    assert tf.TensorShape(TensorShape([2, None])).as_list() == [2, None]
    assert tf.TensorShape(TensorShape(None)).rank is None
    f = tf.function(lambda a: a * 2.0, input_signature=[TensorSpec()])
    assert f.input_signature == (tf.TensorSpec([None], tf.float32),)
    assert f(X).shape == [2]
    assert tf.function(lambda a: a).get_concrete_function(TensorSpec())(X).shape == [2]


def test_gradients_flow_beside_them() -> None:
    v = tf.Variable([3.0, 4.0])
    with tf.GradientTape() as tape:
        y = v * EagerTensor(np.float32(NUMBERS))
    np.testing.assert_array_equal(tape.gradient(y, v), NUMBERS)


def test_checkpoints_refuse_them() -> None:
    with pytest.raises(ValueError, match="must be a variable, a module"):
        tf.train.Checkpoint(v=ResourceVariable(NUMBERS))


def test_other_objects_are_python_objects() -> None:
    holder, seen = Holder(), []
    assert tf.function(lambda h, x: seen.append(h) or x)(holder, X) is not None
    assert seen == [holder]


def test_classes_of_ours_are_ours_under_any_name() -> None:
    kind: Any = type("Dense", (tf.Module,), {"__module__": "tensorflow.python.keras"})
    assert tf.train.Checkpoint(m=kind()) is not None

"""Extension types: fields, specs, functions, control flow, datasets, dispatch, as TensorFlow has them."""

from __future__ import annotations

import copy
import pickle
import typing
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import wengert as tf

E: Any = tf.experimental


class Masked(tf.experimental.ExtensionType):
    values: tf.Tensor
    mask: tf.Tensor

    def __validate__(self) -> None:
        self.values.shape.assert_is_compatible_with(self.mask.shape)

    def with_default(self, value: Any) -> Any:
        return tf.where(self.mask, self.values, value)

    class Spec:
        @property
        def shape(self) -> Any:
            return self.values.shape  # type: ignore[attr-defined]  # a field


class Plain(tf.experimental.ExtensionType):
    x: int
    y: float = 2.5
    name: str = "a"
    t: tuple[int, ...] = (1, 2)
    u: int | tf.Tensor | None = None
    m: typing.Mapping[str, tf.Tensor] = {}
    d: tf.DType = tf.float32
    s: tf.TensorShape = tf.TensorShape([1, None])


class Outer(tf.experimental.ExtensionType):
    a: Masked
    b: tuple[Masked, ...] = ()
    n: int = 0


class Row(tf.experimental.BatchableExtensionType):
    values: tf.Tensor
    mask: tf.Tensor


class Made(tf.experimental.ExtensionType):
    w: tf.Tensor

    def __init__(self, a: Any, b: Any) -> None:
        self.w = tf.stack([a, b])


def spec_of(kind: Any) -> Any:
    return kind.Spec


def masked() -> Any:
    return Masked([1.0, 2.0, 3.0], [True, False, True])


def test_fields_are_made_tensors_and_shown() -> None:
    x = masked()
    assert repr(x).startswith("Masked(values=<tf.Tensor: shape=(3,)")
    assert x.with_default(0.0).numpy().tolist() == [1.0, 0.0, 3.0]
    assert E.extension_type.as_dict(x).keys() == {"values", "mask"}
    assert Made(1.0, 2.0).w.numpy().tolist() == [1.0, 2.0]
    p = Plain(1, t=[3, 4], u=[1, 2], m={"a": [1]}, d="int32", s=[2, 3])
    assert p.t == (3, 4) and p.d is tf.int32 and p.s == [2, 3]
    assert p.u.numpy().tolist() == [1, 2] and p.m["a"].numpy().tolist() == [1]
    assert repr(Plain(1)) == (
        "Plain(x=1, y=2.5, name='a', t=(1, 2), u=None, m=ImmutableDict({}), d=tf.float32, "
        "s=TensorShape([1, None]))"
    )


def test_subclasses_have_the_fields_of_their_base() -> None:
    class More(Masked):
        extra: int = 3

    assert More([1.0], [True]).extra == 3 and More([1.0], [True], 4).extra == 4


@pytest.mark.parametrize(
    ("make", "kind", "words"),
    [
        (lambda: Masked([1.0, 2.0], [True]), ValueError, "incompatible"),
        (lambda: Masked([1.0]), TypeError, "missing a required argument: 'mask'"),
        (lambda: Masked([1.0], [True], 2), TypeError, "too many positional arguments"),
        (lambda: Masked("a", None), TypeError, "mask: expected a Tensor, got 'NoneType'"),
        (lambda: Plain("1"), TypeError, "x: expected 'int', got 'str'"),
        (lambda: Plain(1, 3), TypeError, "y: expected 'float', got 'int'"),
        (lambda: Plain(1, t="ab"), TypeError, "t: expected 'tuple', got 'str'"),
        (lambda: Outer(3), TypeError, "a: expected 'Masked', got 'int'"),
        (lambda: setattr(masked(), "values", 3), AttributeError, "cannot change outside"),
        (lambda: delattr(masked(), "values"), AttributeError, "cannot be removed"),
        (lambda: hash(masked()), TypeError, "unhashable"),
        (lambda: masked() + 1, TypeError, "unsupported operand"),
        (lambda: tf.convert_to_tensor(masked()), ValueError, "not one dense tensor"),
        (lambda: tf.reduce_max(masked()), ValueError, "dispatch_for_api"),
    ],
)
def test_bad_values_are_refused_in_words(make: Any, kind: type[Exception], words: str) -> None:
    with pytest.raises(kind, match=words):
        make()


def test_bad_classes_are_refused_in_words() -> None:
    with pytest.raises(TypeError, match="in field 'x': unsupported type annotation list"):
        type("B", (E.ExtensionType,), {"__annotations__": {"x": list}})
    with pytest.raises(ValueError, match="field `y` is missing a type annotation"):
        type("B", (E.ExtensionType,), {"__annotations__": {"x": int}, "y": 3})
    with pytest.raises(TypeError, match="default value for x: expected 'int', got 'str'"):
        type("B", (E.ExtensionType,), {"__annotations__": {"x": int}, "x": "a"})


def test_values_compare_number_by_number() -> None:
    assert bool(masked() == masked()) and not bool(masked() != masked())
    assert (masked() == 3) is False
    assert not bool(masked() == Masked([1.0, 2.0, 4.0], [True, False, True]))
    assert (masked() == Masked([1.0], [True])) is False
    assert (Plain(1) == Plain(2)) is False and bool(Plain(1) == Plain(1))


def test_types_describe_values() -> None:
    spec: Any = tf.type_spec_from_value(masked())
    assert spec == spec_of(Masked)(tf.TensorSpec([3]), tf.TensorSpec([3], tf.bool))
    assert spec.shape == [3] and spec.value_type is Masked
    assert spec.is_compatible_with(masked())
    wide = spec.most_specific_compatible_type(tf.type_spec_from_value(Masked([1.0], [True])))
    assert wide == spec_of(Masked)(tf.TensorSpec([None]), tf.TensorSpec([None], tf.bool))
    assert pickle.loads(pickle.dumps(spec)) == spec


def test_they_go_through_nests_copies_and_functions() -> None:
    o = Outer(masked(), [masked()], 7)
    assert len(tf.nest.flatten(o)) == 1 and len(tf.nest.flatten(o, expand_composites=True)) == 4
    twice = tf.nest.map_structure(
        lambda t: t if t.dtype is tf.bool else 2 * t, o, expand_composites=True
    )
    assert twice.b[0].values.numpy().tolist() == [2.0, 4.0, 6.0] and twice.n == 7
    for same in (copy.deepcopy(o), pickle.loads(pickle.dumps(o))):
        assert bool(same == o)
    double = tf.function(lambda z: Masked(z.values * 2, z.mask))
    assert double(masked()).values.numpy().tolist() == [2.0, 4.0, 6.0]
    assert double(Masked([5.0, 6.0, 7.0], [True] * 3)).values.numpy().tolist() == [10.0, 12.0, 14.0]
    assert double.experimental_get_tracing_count() == 1
    by_static = tf.function(lambda z: z.n)
    assert [int(by_static(Outer(masked(), n=k))) for k in (1, 2, 1)] == [1, 2, 1]
    assert by_static.experimental_get_tracing_count() == 2
    signature = [spec_of(Masked)(tf.TensorSpec([None]), tf.TensorSpec([None], tf.bool))]
    open_size = tf.function(lambda z: z.with_default(0.0), input_signature=signature)
    assert open_size(masked()).shape == [3]


def test_they_go_through_control_flow() -> None:
    @tf.function
    def run(n: Any, x: Any) -> Any:
        for _ in tf.range(n):
            if n > 2:
                x = Masked(x.values * 2, x.mask)
            else:
                x = Masked(x.values + 1, x.mask)
        return x

    assert run(tf.constant(3), masked()).values.numpy().tolist() == [8.0, 16.0, 24.0]
    assert run(tf.constant(1), masked()).values.numpy().tolist() == [2.0, 3.0, 4.0]
    _, end = tf.while_loop(
        lambda i, z: i < 3, lambda i, z: (i + 1, Masked(z.values * 2, z.mask)), (0, masked())
    )
    assert end.values.numpy().tolist() == [8.0, 16.0, 24.0]
    chosen = tf.cond(tf.constant(True), masked, lambda: Masked([0.0] * 3, [True] * 3))
    assert chosen.values.numpy().tolist() == [1.0, 2.0, 3.0]


def test_datasets_batch_and_cut_them() -> None:
    data = tf.data.Dataset.range(4).map(lambda i: Row(tf.fill([2], i), [True, False]))
    assert [x.values.numpy().tolist() for x in data] == [[0, 0], [1, 1], [2, 2], [3, 3]]
    batches = data.batch(2)
    assert batches.element_spec == spec_of(Row)(
        tf.TensorSpec([None, 2], tf.int64), tf.TensorSpec([None, 2], tf.bool)
    )
    assert [x.values.numpy().tolist() for x in batches] == [[[0, 0], [1, 1]], [[2, 2], [3, 3]]]
    rows = tf.data.Dataset.from_tensor_slices(Row([[1, 2], [3, 4]], [[True, True], [True, False]]))
    assert [x.values.numpy().tolist() for x in rows] == [[1, 2], [3, 4]]
    assert [x.values.numpy().tolist() for x in batches.unbatch()] == [
        [0, 0],
        [1, 1],
        [2, 2],
        [3, 3],
    ]


@pytest.mark.parametrize("traced", [False, True])
def test_map_fn_takes_and_gives_rows(traced: bool) -> None:
    spec = spec_of(Row)(tf.TensorSpec([2], tf.int32), tf.TensorSpec([2], tf.bool))
    x = Row([[1, 2], [3, 4]], [[True, False], [True, True]])
    run = lambda x: tf.map_fn(lambda r: Row(r.values * 2, r.mask), x, fn_output_signature=spec)
    found = (tf.function(run) if traced else run)(x)
    assert found.values.numpy().tolist() == [[2, 4], [6, 8]]
    total = lambda x: tf.map_fn(lambda r: tf.reduce_sum(r.values), x, fn_output_signature=tf.int32)
    assert (tf.function(total) if traced else total)(x).numpy().tolist() == [3, 7]


@pytest.fixture
def registered() -> Iterator[None]:
    @E.dispatch_for_unary_elementwise_apis(Masked)
    def one(api: Any, x: Any) -> Any:
        return Masked(api(x.values), x.mask)

    @E.dispatch_for_binary_elementwise_apis(Masked, Masked)
    def two(api: Any, x: Any, y: Any) -> Any:
        return Masked(api(x.values, y.values), x.mask & y.mask)

    @E.dispatch_for_api(tf.reduce_sum)
    def total(input_tensor: Masked, axis=None, keepdims=False):  # type: ignore[no-untyped-def]
        return tf.reduce_sum(input_tensor.with_default(0.0), axis, keepdims)

    @E.dispatch_for_api(tf.stack, {"values": typing.List[Masked]})  # noqa: UP006  # as programs do
    def stack(values: Any, axis: Any = 0) -> Any:
        return Masked(
            tf.stack([v.values for v in values], axis), tf.stack([v.mask for v in values], axis)
        )

    @E.dispatch_for_binary_elementwise_assert_apis(Masked, Masked)
    def alike(api: Any, x: Any, y: Any) -> Any:
        return api(x.with_default(0.0), y.with_default(0.0))

    yield
    for function in (one, two, total, stack, alike):
        E.unregister_dispatch_for(function)


@pytest.mark.usefixtures("registered")
@pytest.mark.parametrize("traced", [False, True])
def test_functions_answer_as_registered(traced: bool) -> None:
    x = masked()
    on = lambda f: (tf.function(f) if traced else f)(x)
    assert on(tf.math.negative).values.numpy().tolist() == [-1.0, -2.0, -3.0]
    assert on(tf.nn.relu).values.numpy().tolist() == [1.0, 2.0, 3.0]
    assert on(lambda x: tf.cast(x, tf.int32)).values.dtype is tf.int32
    assert on(lambda x: tf.clip_by_value(x, 0.0, 1.5)).values.numpy().tolist() == [1.0, 1.5, 1.5]
    assert on(tf.zeros_like).values.numpy().tolist() == [0.0] * 3
    assert on(lambda x: tf.add(x, x)).values.numpy().tolist() == [2.0, 4.0, 6.0]
    assert on(lambda x: tf.multiply(x, x)).values.numpy().tolist() == [1.0, 4.0, 9.0]
    assert float(on(tf.reduce_sum)) == 4.0
    assert on(lambda x: tf.reduce_sum(x, keepdims=True)).shape == [1]
    assert on(lambda x: tf.stack([x, x])).values.shape == [2, 3]
    with pytest.raises(ValueError, match="not one dense tensor"):
        on(tf.reduce_mean)
    with pytest.raises(ValueError, match="not one dense tensor"):
        on(lambda x: tf.add(x, 1.0))


@pytest.mark.usefixtures("registered")
def test_gradients_flow_through_fields() -> None:
    v = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(v)
        y = tf.reduce_sum(Masked(v * v, [True, False]))
    assert tape.gradient(y, v).numpy().tolist() == [2.0, 0.0]


def test_what_is_registered_can_be_taken_back_and_must_fit() -> None:
    @E.dispatch_for_api(tf.reduce_max, {"input_tensor": Masked})
    def largest(input_tensor: Any, axis: Any = None, keepdims: Any = False) -> Any:
        return tf.constant(9.0)

    assert float(tf.reduce_max(masked())) == 9.0
    assert float(tf.reduce_max([1.0, 2.0])) == 2.0
    E.unregister_dispatch_for(largest)
    with pytest.raises(ValueError, match="not one dense tensor"):
        tf.reduce_max(masked())
    with pytest.raises(ValueError, match="was not registered"):
        E.unregister_dispatch_for(largest)
    with pytest.raises(ValueError, match="must have the parameters of the API"):
        E.dispatch_for_api(tf.reduce_max, {"input_tensor": Masked})(lambda x: x)
    with pytest.raises(ValueError, match="no argument has a type"):
        E.dispatch_for_api(tf.reduce_max)(lambda input_tensor, axis=None, keepdims=False: 1)


def test_fields_may_have_any_name() -> None:
    class Odd(tf.experimental.ExtensionType):
        shape: int
        dtype: tf.DType  # pyright: ignore[reportIncompatibleMethodOverride]
        values: tf.RaggedTensor | None = None

    odd = Odd(3, tf.int8, tf.ragged.constant([[1], [2, 3]]))
    assert (odd.shape, odd.dtype) == (3, tf.int8)
    assert odd.values.row_lengths().numpy().tolist() == [1, 2]
    assert np.asarray(tf.function(lambda o: o.values.flat_values)(odd)).tolist() == [1, 2, 3]


def test_annotations_that_are_texts_may_name_what_is_local() -> None:
    class Inner(tf.experimental.ExtensionType):
        v: tf.Tensor

    class Around(tf.experimental.ExtensionType):
        inner: Inner
        next: Around | None = None

    one = Around(Inner([1.0]))
    assert Around(Inner([2.0]), one).next.inner.v.numpy().tolist() == [1.0]

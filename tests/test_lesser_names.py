"""Names that few programs use, as TensorFlow 2.21 answers them."""
# Some arguments are none that a checker accepts.
# pyright: reportArgumentType=false

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from google.protobuf import text_format

import wengert as tf
from wengert.testing import check_gradients

Q = tf.quantization
WAYS = {
    "eager": lambda f: f,
    "function": tf.function,
    "compiled": lambda f: tf.function(f, jit_compile=True),
}
X = [1.1, -2.3, 0.5]

# Arguments after the input and the range, and the numbers that TensorFlow gives.
QUANTIZED: list[tuple[Any, Any, Any, dict[str, Any], Any]] = [
    (X, -3.0, 3.0, {"num_bits": 4, "range_given": True}, [1.2857143, -2.142857, 0.42857143]),
    (X[:2] + [0.4], 0.0, 0.0, {"num_bits": 4}, [1.15, -2.3, 0.2875]),
    (X[:2] + [0.4], 0.0, 0.0, {"signed_input": False, "num_bits": 3}, [1.1, -2.357143, 0.47142857]),
    (X, 0.0, 0.0, {"round_mode": "HALF_UP"}, [1.0960938, -2.3, 0.503125]),
    (X, 0.0, 0.0, {"narrow_range": True}, [1.1047244, -2.3, 0.50708663]),
    ([[1.1, -2.3], [0.5, 9.0]], [0.0, 0.0], [0.0, 0.0], {"axis": 0, "num_bits": 5},
     [[1.15, -2.3], [0.6, 9.0]]),
    ([0.0, 0.0], 0.0, 0.0, {}, [0.0, 0.0]),
]  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("case", range(len(QUANTIZED)))
def test_numbers_are_rounded_to_steps(case: int, way: str) -> None:
    x, low, high, options, wanted = QUANTIZED[case]
    call = lambda x: Q.quantize_and_dequantize_v2(x, low, high, **options)
    np.testing.assert_allclose(WAYS[way](call)(tf.constant(x)), wanted, rtol=1e-6)
    old = Q.quantize_and_dequantize(x, low, high, **options)
    np.testing.assert_allclose(old, wanted, rtol=1e-6)


def test_the_gradient_of_rounding() -> None:
    x, low, high = (tf.Variable(v) for v in ([1.1, -7.3, 0.5], -2.0, 2.0))
    with tf.GradientTape(persistent=True) as tape:
        y = Q.quantize_and_dequantize_v2(x, low, high, range_given=True)
        z = Q.quantize_and_dequantize_v2(x, 0.0, 0.0)
        w = Q.quantize_and_dequantize(x, low, high, range_given=True)
    found = [g.numpy().tolist() for g in tape.gradient(y, [x, low, high])]
    assert found == [[1.0, 0.0, 1.0], 1.0, 0.0]
    assert tape.gradient(z, x).numpy().tolist() == [0.0, 0.0, 0.0]
    assert tape.gradient(w, x).numpy().tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("way", WAYS)
def test_the_largest_and_smallest_along_an_axis(way: str) -> None:
    x = tf.constant([[1.0, 5.0, 3.0], [4.0, 2.0, 6.0]])
    best = WAYS[way](lambda x: tf.math.approx_max_k(x, 2))(x)
    assert best.values.numpy().tolist() == [[5.0, 3.0], [6.0, 4.0]]
    assert best.indices.numpy().tolist() == [[1, 2], [2, 0]]
    least = WAYS[way](lambda x: tf.nn.approx_min_k(x, 1, reduction_dimension=0))(x)
    assert least.values.numpy().tolist() == [[1.0, 2.0, 3.0]]
    assert least.indices.numpy().tolist() == [[0, 1, 0]]


BANDS: list[tuple[Any, dict[str, bool], list[float]]] = [
    ([[2.0, 3.0, 4.0], [0.0, 1.0, 1.0]], {}, [0.5, 0.5, 0.625]),
    ([[0.0, 1.0, 1.0], [2.0, 3.0, 4.0]], {"lower": False}, [0.5, 0.41666666, 0.75]),
    ([[2.0, 3.0, 4.0], [0.0, 1.0, 1.0]], {"adjoint": True}, [0.2916667, 0.41666666, 0.75]),
    ([[2.0, 3.0, 4.0], [1.0, 1.0, 0.0]], {}, [0.5, 0.5, 0.75]),
]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("case", range(len(BANDS)))
def test_equations_with_banded_triangular_matrices(case: int, way: str) -> None:
    bands, options, wanted = BANDS[case]
    call = lambda b, r: tf.linalg.banded_triangular_solve(b, r, **options)
    found = WAYS[way](call)(tf.constant(bands), tf.constant([[1.0], [2.0], [3.0]]))
    np.testing.assert_allclose(found[:, 0], wanted, rtol=1e-6)


def test_gradients_of_banded_solutions() -> None:
    bands = np.array([[2.0, 3.0, 4.0], [0.0, 1.0, 1.0]])
    check_gradients(tf.linalg.banded_triangular_solve, [bands, np.array([[1.0], [2.0], [3.0]])])


def test_a_variable_counts() -> None:
    v = tf.Variable(5)
    assert v.count_up_to(7).numpy() == 5
    assert tf.function(lambda: v.count_up_to(7))().numpy() == 6
    for count in (v.count_up_to, tf.function(v.count_up_to)):
        with pytest.raises(tf.errors.OutOfRangeError, match="count_up_to: the limit 7 is reached"):
            count(7)
    assert v.numpy() == 7
    assert v.load(9) is None and v.numpy() == 9
    assert v.initializer is None


def test_functions_among_control_dependencies_are_called() -> None:
    calls: list[int] = []
    with tf.control_dependencies([lambda: calls.append(1), tf.constant(1)]):
        assert calls == [1]


def test_specs_with_names() -> None:
    a, b = tf.TensorSpec([2], name="a"), tf.TensorSpec([2], name="b")
    plain = tf.TensorSpec([2])
    assert [a.is_subtype_of(b), a.is_subtype_of(plain), plain.is_subtype_of(a)] == [
        False,
        False,
        True,
    ]
    assert a.is_subtype_of(tf.TensorSpec([None], name="a"))


def test_examples_as_text() -> None:
    feature = tf.train.Feature(int64_list=tf.train.Int64List(value=[1]))
    example = tf.train.Example(features=tf.train.Features(feature={"a": feature}))
    text = text_format.MessageToString(example)
    assert text == (
        'features {\n  feature {\n    key: "a"\n    value {\n      int64_list {\n        value: 1\n'
        "      }\n    }\n  }\n}\n"
    )
    assert text_format.Parse(text, tf.train.Example()) == example

"""Signals: values and gradients recorded from TensorFlow 2.21, windows, and bad input."""

from __future__ import annotations

from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

import wengert as tf
from wengert.core.errors import InvalidArgumentError

S = tf.signal


def gradient(f: Any, x: Any, weights: Any = None) -> np.ndarray:
    x = tf.constant(x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return tape.gradient(y, x, weights).numpy()


# Gradients of real transforms, which are a convention: TensorFlow's.


def test_gradient_of_rfft_is_tensorflows() -> None:
    weights = tf.constant([1 + 2j, 3 - 1j, 2 + 4j], tf.complex64)
    assert np.allclose(gradient(S.rfft, [1.0, 2.0, 3.0, 4.0]), [3, 0, 1, 0], atol=1e-6)
    assert np.allclose(gradient(S.rfft, [1.0, 2.0, 3.0, 4.0], weights), [6, 0, 0, -2], atol=1e-6)
    odd = gradient(S.rfft, [1.0, 2.0, 3.0, 4.0, 5.0], weights)
    assert np.allclose(odd, [6, -1.0910674, 3.5829945, -5.201029, 1.7091016], atol=1e-5)


def test_gradient_of_irfft_is_tensorflows() -> None:
    z = np.array([1 + 1j, 2 - 1j, 3 + 2j, 4j])
    even = gradient(S.irfft, z, tf.constant([1, 2, 3, 4, 5, 6], tf.float64))
    assert np.allclose(even, [3.5, -1 + 1.73205081j, -1 + 0.57735027j, -0.5])
    odd = gradient(lambda z: S.irfft(z, [7]), z, tf.constant([1, 2, 3, 4, 5, 6, 7], tf.float64))
    assert np.allclose(odd, [4, -1 + 2.0765214j, -1 + 0.79747339j, -1 + 0.22824347j])


def test_gradient_of_fft_is_tensorflows() -> None:
    z = np.array([1 + 1j, 2 - 1j, 3 + 2j, 4j])
    assert np.allclose(gradient(S.fft, z), [4, 0, 0, 0])
    weights = tf.constant([1 + 1j, 2, 3j, 4])
    assert np.allclose(gradient(S.ifft, z, weights), [1.75 + 1j, 0.25, -1.25 + 1j, 0.25 - 1j])


# Types.


def test_precision_follows_the_input() -> None:
    assert S.rfft(tf.zeros([4])).dtype == tf.complex64
    assert S.rfft(tf.zeros([4], tf.float64)).dtype == tf.complex128
    assert S.rfft(np.zeros(4)).dtype == tf.complex64
    assert S.irfft(tf.zeros([4], tf.complex64)).dtype == tf.float32
    assert S.fft(tf.zeros([4], tf.complex64)).dtype == tf.complex64
    assert S.fft([1.0, 2.0]).numpy().tolist() == [3, -1]
    assert S.stft(tf.zeros([2, 9], tf.float64), 4, 2).dtype == tf.complex128
    assert S.dct(tf.zeros([4])).dtype == tf.float32


def test_frames_of_any_type() -> None:
    assert S.frame(["a", "b", "c"], 2, 1).numpy().tolist() == [[b"a", b"b"], [b"b", b"c"]]
    assert S.frame([True, False], 1, 1).dtype == tf.bool
    assert S.frame([1, 2, 3, 4, 5, 6], 3, 2, pad_end=True, pad_value=9).numpy().tolist() == [
        [1, 2, 3], [3, 4, 5], [5, 6, 9],
    ]  # fmt: skip
    assert S.frame([1, 2, 3], 0, 2).shape == (2, 0)
    assert S.frame([], 3, 2).shape == (0, 3)
    assert S.overlap_and_add([[1, 2, 3], [4, 5, 6]], 2).numpy().tolist() == [1, 2, 7, 5, 6]


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 30), st.integers(1, 9), st.integers(1, 9))
def test_framing_and_adding_count_how_often_an_element_is_read(
    size: int, length: int, step: int
) -> None:
    x = np.arange(1.0, size + 1)
    frames = S.frame(x, length, step)
    assert frames.shape == (max(0, 1 + (size - length) // step), length)
    read = np.zeros(size)
    for i in range(frames.shape[0]):
        read[i * step : i * step + length] += 1
    back = S.overlap_and_add(frames, step).numpy()
    if frames.shape[0]:
        assert np.allclose(back, (x * read)[: len(back)])
    assert np.allclose(gradient(lambda v: S.frame(v, length, step), x), read)


# Windows.


def test_windows_are_tensorflows() -> None:
    def close(a: Any, b: Any) -> bool:
        return np.allclose(a, b, atol=1e-6)

    assert close(S.hann_window(4), [0, 0.5, 1, 0.5])
    assert close(S.hann_window(5), [0, 0.5, 1, 0.5, 0])
    assert close(S.hann_window(4, periodic=False), [0, 0.75, 0.75, 0])
    assert close(S.hann_window(1), [1])
    assert S.hann_window(0).shape == (0,)
    assert close(S.hamming_window(4), [0.08, 0.54, 1, 0.54])
    assert close(S.kaiser_window(5), [5.2773448e-05, 0.21567266, 1, 0.21567266, 5.2773448e-05])
    assert close(S.kaiser_window(6, 3.0), np.kaiser(6, 3.0))
    assert close(S.kaiser_bessel_derived_window(4), [0.00726415, 0.9999736, 0.9999736, 0.00726415])
    assert S.kaiser_bessel_derived_window(5).shape == (4,)
    assert close(S.vorbis_window(4), [0.22801432, 0.97365778, 0.97365778, 0.22801432])
    inverse = S.inverse_stft_window_fn(3)(7, dtype=tf.float32)
    assert close(inverse, [0, 0.4, 1.2, 1, 1.2, 0.4, 0])
    assert S.hann_window(4, dtype=tf.float64).dtype == tf.float64


def test_the_mel_matrix_is_tensorflows() -> None:
    found = S.linear_to_mel_weight_matrix(4, 9).numpy()
    assert found.shape == (9, 4)
    assert np.allclose(found[1], [0.89565384, 0.10434615, 0, 0], atol=1e-6)
    assert np.allclose(found[4], [0, 0, 0.505573, 0.49442706], atol=1e-6)
    assert not found[0].any()


def test_the_cosine_transforms_are_tensorflows() -> None:
    x = [1.0, 2.0, 3.0, 4.0]
    assert np.allclose(S.dct(x, 2), [20, -6.3086443, 0, -0.44834089], atol=1e-5)
    assert np.allclose(S.dct(x, 4, norm="ortho"), [3.5997367, -3.3399112, 1.7714077, -1.6580117],
                       atol=1e-5)  # fmt: skip
    assert np.allclose(S.idct(x, 2), [11.999626, -9.102943, 2.6176615, -1.5143447], atol=1e-5)
    found = S.mdct(np.arange(16.0).astype(np.float32), 8).numpy()
    assert np.allclose(found[0], [-25.334255, -2.9630427, -2.7058969, -0.33893824], atol=1e-4)


# Bad input.


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda: S.fft(tf.constant(1 + 2j)), InvalidArgumentError,
         "fft: a tensor of rank 1 or more is needed; got complex128[]."),
        (lambda: S.fft2d(tf.constant([1 + 2j])), InvalidArgumentError,
         "fft2d: a tensor of rank 2 or more is needed"),
        (lambda: S.fft(tf.constant([1, 2])), TypeError, "fft: dtype int32 is not supported"),
        (lambda: S.rfft([1.0, 2.0], [0]), InvalidArgumentError,
         "rfft: `fft_length` must be 1 positive whole numbers; got [0]. Give a list such as [8]."),
        (lambda: S.rfft([1.0, 2.0], [5, 2]), InvalidArgumentError, "`fft_length` must be 1"),
        (lambda: S.rfft(tf.constant([1.0], tf.float16)), ValueError,
         "rfft: dtype float16 is not supported"),
        (lambda: S.dct([1.0, 2.0], 5), ValueError, "dct: `type` must be 1, 2, 3 or 4; got 5."),
        (lambda: S.dct([1.0, 2.0], 1, norm="ortho"), ValueError, "does not exist for type 1"),
        (lambda: S.dct([1.0, 2.0], axis=0), NotImplementedError, "dct: `axis` must be -1; got 0."),
        (lambda: S.idct([1.0, 2.0], norm="x"), ValueError, "`norm` must be None or 'ortho'"),
        (lambda: S.dct([1.0], 1), ValueError, "type 1 needs at least two elements; got 1."),
        (lambda: S.dct([1.0], n=0), ValueError, "dct: `n` must be positive; got 0."),
        (lambda: S.frame(1, 3, 2), ValueError, "frame: a scalar has nothing to cut"),
        (lambda: S.frame([1, 2], 3, 0), InvalidArgumentError, "`frame_step` 0 positive"),
        (lambda: S.frame([1, 2], 3, 1, axis=3), ValueError, "`axis` 3 is out of range"),
        (lambda: S.overlap_and_add([1, 2], 1), ValueError, "frames have rank 2 or more"),
        (lambda: S.overlap_and_add([[1, 2]], 0), InvalidArgumentError,
         "overlap_and_add: `frame_step` must be a positive number; got 0."),
        (lambda: S.overlap_and_add([[1, 2]], 1.0), ValueError, "whole numbers were expected"),
        (lambda: S.stft([1, 2, 3], 2, 1), ValueError, "stft: the signal must be floating"),
        (lambda: S.mdct(tf.zeros([9]), 6), ValueError, "must be a multiple of 4; got 6."),
        (lambda: S.hann_window(4, dtype=tf.int32), ValueError,
         "hann_window: `dtype` must be floating; got int32."),
        (lambda: S.hann_window(4.0), TypeError, "hann_window: `window_length` must be one whole number"),
        (lambda: S.hann_window([4]), ValueError, "`window_length` must be one whole number"),
        (lambda: S.linear_to_mel_weight_matrix(0), ValueError, "`num_mel_bins` must be positive"),
        (lambda: S.linear_to_mel_weight_matrix(upper_edge_hertz=5000.0), ValueError,
         "`upper_edge_hertz` 5000.0 must not exceed half of 8000.0"),
    ],
)  # fmt: skip
def test_bad_input_is_said_plainly(call: Any, kind: Any, message: str) -> None:
    with pytest.raises(kind) as caught:
        call()
    assert message in str(caught.value)

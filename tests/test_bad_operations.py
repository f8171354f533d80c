"""Operations refuse bad arguments in their own words, at the user's line, in every mode."""
# Some arguments are none that a checker accepts.
# pyright: reportArgumentType=false

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import wengert as tf
from wengert.core.errors import InvalidArgumentError, ResourceExhaustedError

c = tf.constant
Call = Callable[..., Any]
V = c([1.0, 2.0, 3.0])
X = c([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
M = c([[2.0, 1.0], [1.0, 3.0]])
IMAGE = tf.ones([1, 4, 4, 3])
FILTER = tf.ones([2, 2, 3, 1])
NO_FUNCTION: Any = 3
NAN, INF = float("nan"), float("inf")
HUGE = 2**50  # more than any machine can address

MODES: dict[str, Callable[[Call], Call]] = {
    "eager": lambda f: f,
    "function": lambda f: tf.function(f),
    "compiled": lambda f: tf.function(f, jit_compile=True),
}


def refused(call: Call, kind: type[Exception], text: str, *args: Any) -> None:
    with pytest.raises(kind) as e:
        call(*args)
    assert text in str(e.value)
    assert getattr(e.value, "site").file == __file__  # noqa: B009


def array() -> Any:
    return tf.TensorArray(tf.float32, 2, clear_after_read=False).unstack([1.0, 2.0])


SAMPLE = [[0], [1]]
W, B = tf.ones([5, 2]), tf.ones([5])

# Numbers that made a loop without end, or one that memory could not hold.
ENDLESS: list[tuple[Call, type[Exception], str]] = [
    (lambda: tf.random.uniform_candidate_sampler(SAMPLE, 1, -1, True, 5), InvalidArgumentError,
     "uniform_candidate_sampler: `num_sampled` must be positive; got -1."),
    (lambda: tf.random.log_uniform_candidate_sampler(SAMPLE, 1, -1, True, 5), InvalidArgumentError,
     "log_uniform_candidate_sampler: `num_sampled` must be positive; got -1."),
    (lambda: tf.random.uniform_candidate_sampler(SAMPLE, 1, 1, False, 0), InvalidArgumentError,
     "`range_max` must be positive; got 0."),
    (lambda: tf.random.uniform_candidate_sampler(SAMPLE, 1, None, False, 5), TypeError,
     "`num_sampled` must be one whole number; got None."),
    (lambda: tf.nn.nce_loss(W, B, SAMPLE, M, -1, 5), InvalidArgumentError, "`num_sampled`"),
    (lambda: tf.nn.sampled_softmax_loss(W, B, SAMPLE, M, -1, 5), InvalidArgumentError,
     "`num_sampled` must be positive"),
    (lambda: tf.dynamic_partition(V, [0, 1, 0], HUGE), ValueError,
     "dynamic_partition: `num_partitions` must be below 2**31; got 1125899906842624."),
    (lambda: tf.range(c(NAN), 5, 2, dtype=tf.int32), InvalidArgumentError,
     "range: nan is not a number of dtype int32."),
    (lambda: tf.range(0, c(1e30), dtype=tf.int64), InvalidArgumentError, "is not a number of dtype"),
    (lambda: tf.range(NAN), InvalidArgumentError, "range: `limit` nan does not lie beyond"),
    (lambda: tf.range(INF), InvalidArgumentError, "range: from 0.0 to inf by 1.0 there are too many"),
    (lambda: tf.nn.depthwise_conv2d(IMAGE, tf.ones([2, 2, 3, 1]), [1] * 4, "SAME",
                                    dilations=[2**31] * 2), InvalidArgumentError,
     "depthwise_conv2d: `dilations` must be at most 2147483647"),
    (lambda: tf.nn.depthwise_conv2d(IMAGE, tf.ones([2, 2, 3, 1]), [1] * 4, "SAME",
                                    dilations=[2**31 - 1] * 2), InvalidArgumentError,
     "conv: a window that spans [2147483648, 2147483648] is too wide for an image of [4, 4]."),
    (lambda: tf.nn.conv2d(IMAGE, FILTER, 2**31, "SAME"), InvalidArgumentError,
     "conv2d: `strides` must be at most 2147483647"),
    (lambda: tf.nn.max_pool2d(IMAGE, 2**70, 1, "SAME"), InvalidArgumentError, "`ksize` must be at"),
]  # fmt: skip


@pytest.mark.parametrize("mode", ["eager", "function"])
@pytest.mark.parametrize(("call", "kind", "text"), ENDLESS)
def test_what_would_not_end_is_refused(
    call: Call, kind: type[Exception], text: str, mode: str
) -> None:
    refused(MODES[mode](call), kind, text)


TOO_LARGE: list[tuple[str, Call]] = [
    ("zeros", tf.zeros),
    ("ones", tf.ones),
    ("constant", lambda n: tf.constant(1.0, shape=[n])),
    ("linspace", lambda n: tf.linspace(0.0, 1.0, n)),
    ("range", lambda n: tf.range(n)),
    ("hann_window", lambda n: tf.signal.hann_window(n)),
    ("hamming_window", lambda n: tf.signal.hamming_window(n)),
    ("kaiser_window", lambda n: tf.signal.kaiser_window(n)),
    ("kaiser_bessel_derived_window", lambda n: tf.signal.kaiser_bessel_derived_window(n)),
    ("vorbis_window", lambda n: tf.signal.vorbis_window(n)),
]


@pytest.mark.parametrize(("name", "call"), TOO_LARGE)
def test_what_has_no_room_names_the_operation(name: str, call: Call) -> None:
    refused(lambda: call(HUGE), ResourceExhaustedError, f"{name}: unable to allocate")
    what = "lies outside the range of int64" if name == "range" else f"{name}: maximum allowed"
    refused(lambda: call(2**70), ValueError, what)


def test_sizes_beyond_64_bits() -> None:
    refused(lambda: tf.eye(HUGE), ResourceExhaustedError, "eye: array is too big")
    refused(lambda: tf.eye(2**70), InvalidArgumentError, "eye: maximum allowed")
    text = "no tensor can have a size beyond 64 bits"
    refused(tf.function(lambda: tf.zeros(2**70)), InvalidArgumentError, text)


MINUS = c(-1)
# What only the running function knows: (call, argument, text).
LATER: list[tuple[Call, Any, str]] = [
    (lambda n: tf.zeros([n]), MINUS, "zeros: a size must not be negative; got"),
    (lambda n: tf.ones([n]), MINUS, "ones: a size must not be negative; got"),
    (lambda n: tf.fill([n], 1.0), MINUS, "fill: a size must not be negative; got"),
    (lambda n: tf.eye(n), MINUS, "eye: a size must not be negative; got"),
    (lambda n: tf.linspace(0.0, 1.0, n), MINUS, "linspace: `num` must"),
    (lambda n: tf.random.normal([n]), MINUS, "normal: a size must not be negative; got"),
    (lambda n: tf.random.uniform([2, n]), MINUS, "uniform: a size must not be negative; got"),
    (lambda n: tf.random.stateless_normal([n], [1, 2]), MINUS,
     "stateless_normal: a size must not be negative; got"),
    (lambda n: tf.random.split([1, 2], n), MINUS, "split: a size must not be negative; got"),
    (lambda n: tf.signal.hann_window(n), MINUS,
     "hann_window: `window_length` must not be negative; got -1."),
    (lambda n: tf.signal.kaiser_bessel_derived_window(n), MINUS,
     "kaiser_bessel_derived_window: `window_length` must not be negative; got -1."),
    (lambda n: tf.signal.overlap_and_add(X, n), MINUS, "overlap_and_add: `frame_step` must be"),
    (lambda n: tf.signal.frame(V, 2, n), c(0), "frame: `frame_"),
    (lambda n: tf.signal.stft(V, 2, n), c(0), "frame: `frame_"),
    (lambda p: tf.batch_to_space(tf.ones([4, 1, 1, 1]), [2, 2], p), c([[1, 2], [3, 4]]),
     "batch_to_space: `crops` [1, 2] exceed"),
    (lambda p: tf.batch_to_space(tf.ones([4, 1, 1, 1]), [2, 2], p), c([[-1, 0], [0, 0]]),
     "batch_to_space: `crops` must"),
    (lambda b: tf.batch_to_space(tf.ones([4, 1, 1, 1]), b, [[0, 0], [0, 0]]), c([0, 0]),
     "batch_to_space: `block_shape` must be"),
    (lambda n: tf.histogram_fixed_width_bins(V, [0.0, 5.0], n), MINUS,
     "histogram_fixed_width_bins: `nbins` must be positive; got -1."),
    (lambda n: tf.histogram_fixed_width(V, [0.0, 5.0], n), c(0),
     "histogram_fixed_width: `nbins` must be positive; got 0."),
    (lambda s: tf.broadcast_dynamic_shape(s, c([3])), c([2]),
     "broadcast_dynamic_shape: shapes [2] and [3] do not broadcast"),
    (lambda s: tf.broadcast_dynamic_shape(s, c([3])), c([0]), "do not broadcast"),
    (lambda p: tf.linalg.lu_matrix_inverse(M, p), c([0, 100]), "lu: in `perm`, index"),
    (lambda p: tf.linalg.lu_matrix_inverse(M, p), c([0, -1]), "lu: in `perm`, index"),
    (lambda p: tf.linalg.lu_reconstruct(M, p), c([0, 5]),
     "lu: in `perm`, index 5 is out of bounds for axis 0 with size 2."),
    (lambda p: tf.linalg.lu_reconstruct(M, p), c([0, 0]), "lu: `perm` must name each row from 0 to 1 once."),
    (lambda p: tf.linalg.lu_solve(M, p, M), c([0, -1]), "lu: in `perm`, index -1 is out of bounds"),
    (lambda n: tf.nn.compute_average_loss(V, global_batch_size=n), MINUS,
     "`global_batch_size` must not be negative"),
    (lambda x: tf.range(x), c(NAN), "range: `limit` nan does not lie beyond"),
    (lambda x: tf.range(x), c(INF), "there are too many numbers"),
]  # fmt: skip


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("call", "given", "text"), LATER)
def test_numbers_are_checked_when_they_are_known(
    call: Call, given: Any, text: str, mode: str
) -> None:
    refused(MODES[mode](call), InvalidArgumentError, text, given)


def test_good_numbers_still_pass() -> None:
    exact = tf.function(lambda p: tf.batch_to_space(tf.ones([4, 1, 1, 1]), [2, 2], p))
    assert exact(c([[1, 1], [0, 0]])).shape == (1, 0, 2, 1)
    joint = tf.function(lambda s: tf.broadcast_dynamic_shape(s, c([3])))
    assert joint(c([4, 1])).numpy().tolist() == [4, 3]
    sizes = tf.function(lambda n: (tf.zeros([n]) + tf.ones([n]), tf.signal.hann_window(n)))
    assert [tuple(x.shape) for x in sizes(c(4))] == [(4,), (4,)]
    assert tf.range(0.0, 5.0, INF).shape == (0,)
    assert tf.nn.compute_average_loss(V, global_batch_size=0).numpy() == 0
    np.testing.assert_allclose(tf.nn.compute_average_loss(V, global_batch_size=2), 3.0)


UNKNOWN = [tf.TensorSpec(None, tf.int32)]


@pytest.mark.parametrize("make", [tf.zeros, tf.ones, lambda n: tf.fill(n, 1.0)])
def test_a_shape_of_unknown_rank_may_be_one_number(make: Call) -> None:
    made = tf.function(make, input_signature=UNKNOWN)
    assert made(c(3)).shape == (3,)
    assert made(c([2, 3])).shape == (2, 3)


def test_settings_that_tensorflow_takes() -> None:
    np.testing.assert_allclose(tf.nn.lrn(IMAGE, None, None, None, None), tf.nn.lrn(IMAGE))
    np.testing.assert_allclose(tf.nn.silu(V, [1.0, 2.0, 3.0]), tf.nn.silu(V, V), rtol=1e-6)
    for mask in (None, 0.5):
        assert tf.strided_slice(V, [0], [1], [1], begin_mask=mask).numpy().tolist() == [1.0]
    assert tf.signal.inverse_mdct(tf.zeros([2, 0])).shape == (0,)


# Arguments of a wrong kind, which used to end in an answer or in Python's own error.
WRONG: list[tuple[Call, type[Exception], str]] = [
    (lambda: tf.linalg.lu_matrix_inverse(M, [0, 2.5]), TypeError, "`perm` must be whole numbers"),
    (lambda: tf.linalg.lu_reconstruct(M, 0), ValueError, "a tensor of rank 1 or more is needed"),
    (lambda: tf.nn.compute_average_loss(V, global_batch_size=2.5), TypeError,
     "compute_average_loss: `global_batch_size` must be a whole number; got float32[]."),
    (lambda: tf.nn.compute_average_loss(V, global_batch_size=[2]), ValueError, "rank 0 is needed"),
    (lambda: tf.nn.compute_average_loss(2.0), ValueError, "rank 1 or more is needed; got float32[]."),
    (lambda: tf.size(X, out_type=tf.string), TypeError, "size: the result cannot be of dtype string"),
    (lambda: tf.random.fold_in([1, 2], 2.5), ValueError, "fold_in: `data` must be a whole number"),
    (lambda: tf.dynamic_partition(tf.zeros([1, 0]), [0, 1, 0], 2), InvalidArgumentError,
     "the data's shape must start with that of `partitions`"),
    (lambda: tf.TensorShape(c("abc")), TypeError, "a shape is a list of sizes; got b'abc'."),
    (lambda: tf.TensorShape(c([[1]])), TypeError, "a size must be a whole number or None"),
    (lambda: tf.TensorShape([-2]), ValueError, "a size must not be negative; got -2."),
    (lambda: tf.TensorShape([1]).merge_with([2]), ValueError, "(1,) and (2,) are not compatible."),
    (lambda: tf.TensorShape([1]).with_rank_at_least(2), ValueError, "must have rank at least 2."),
    (lambda: tf.TensorShape([1]).assert_has_rank(2), ValueError, "must have rank 2."),
    (lambda: tf.TensorShape(None).as_list(), ValueError, "the rank of this shape is unknown"),
    (lambda: tf.ensure_shape(V, [1.5]), TypeError, "a size must be a whole number or None; got 1.5."),
    (lambda: tf.as_dtype(999), TypeError, "999 is not the number of an element type."),
    (lambda: tf.nn.dropout(X, 0.5, noise_shape=2), ValueError, "`noise_shape` must be a list"),
    (lambda: tf.nn.dropout(X, 0.5, noise_shape=[[2], [1]]), ValueError, "`noise_shape` must be a"),
    (lambda: tf.tensordot(M, M, [None, 0]), TypeError, "`axes` must be made of whole numbers"),
    (lambda: tf.tensordot(M, M, None), ValueError, "`axes` must be a number or a pair; got None."),
    (lambda: tf.reduce_sum(X, [None, 1]), TypeError, "reduce_sum: `axis` must be one whole number"),
    (lambda: tf.norm(X, axis=[None, 1]), ValueError, "norm: `axis` must be None, one number or two"),
    (lambda: tf.norm(X, ord=None), TypeError, "norm: `ord` must be 'euclidean' or a positive"),
    (lambda: tf.norm(X, [0, 1]), ValueError, "norm: `ord` must be 'euclidean' or a positive number"),
    (lambda: tf.nn.softmax_cross_entropy_with_logits(X, X, axis=[]), ValueError, "`axis` must be"),
    (lambda: tf.nn.max_pool2d(IMAGE, [None, 2], 2, "SAME"), TypeError, "`ksize` must be a number or"),
    (lambda: tf.nn.conv2d(IMAGE, FILTER, [[2, 2]], "SAME"), TypeError, "`strides` must be a number"),
    (lambda: tf.nn.conv2d(IMAGE, FILTER, 1, [[0, 0], [None, 1], [1, 1], [0, 0]]), TypeError,
     "`padding` must be 'SAME', 'VALID' or a list of pairs"),
    (lambda: tf.dynamic_stitch([[0]], []), ValueError, "each piece of data needs one tensor of"),
    (lambda: tf.dynamic_stitch(3, [[1.0]]), TypeError, "`indices` must be a list of tensors; got 3."),
    (lambda: array().scatter(0, [1.0]), ValueError, "TensorArray.scatter: `indices` must be a list"),
    (lambda: array().scatter([0], 1.0), ValueError, "TensorArray.scatter: `value` must have rows"),
    (lambda: array().split([1.0, 2.0], 2), ValueError, "TensorArray.split: `lengths` must be a list"),
    (lambda: tf.nn.sufficient_statistics(c(1.0), [0]), ValueError, "A scalar has no axes."),
    (lambda: tf.required_space_to_batch_paddings([4, 4], [0, 0]), ValueError,
     "`block_shape` must not hold a 0; got [0, 0]."),
    (lambda: tf.signal.inverse_mdct([]), ValueError, "inverse_mdct: a tensor of rank 2 or more"),
    (lambda: tf.nn.bias_add(X, V, data_format=1), ValueError, "`data_format` must be N...C or NC..."),
    (lambda: tf.shape_n(3), TypeError, "shape_n: `input` must be a list of tensors; got 3."),
    (lambda: tf.identity_n(3), TypeError, "identity_n: `input` must be a list of tensors; got 3."),
    (lambda: tf.tuple(3), TypeError, "tuple: `tensors` must be a list of tensors; got 3."),
    (lambda: tf.switch_case(c(0), None), ValueError, "`branch_fns` must hold at least one function."),
    (lambda: tf.switch_case(c(0), 3), TypeError, "`branch_fns` must be a list, tuple or dict; got 3."),
    (lambda: tf.strided_slice(V, [0], [1], [1], begin_mask="a"), TypeError, "`begin_mask` must be"),
    (lambda: tf.nn.silu(V, beta=None), ValueError, "None is not a tensor"),
    (lambda: tf.linalg.diag(V, padding_value=[1.0, 2.0]), ValueError, "`padding_value` must be one"),
    (lambda: tf.nest.map_structure(NO_FUNCTION, [1]), TypeError, "map_structure: `func` must be callable"),
    (lambda: tf.nest.map_structure(lambda x, y: x, [1], [1, 2]), ValueError, "different lengths"),
    (lambda: tf.nest.pack_sequence_as([1], 3), TypeError, "`flat_sequence` must be a list of leaves"),
    (lambda: tf.nest.pack_sequence_as([1], [1, 2]), ValueError, "the structure has 1 leaves; got 2."),
    (lambda: tf.nest.assert_same_structure([1], 1), ValueError, "is nested, but 1 is a leaf"),
    (lambda: tf.nest.flatten({1: 1, "a": 2}), TypeError, "the keys of a dict must be sortable"),
]  # fmt: skip


@pytest.mark.parametrize("mode", ["eager", "function"])
@pytest.mark.parametrize(("call", "kind", "text"), WRONG)
def test_arguments_of_a_wrong_kind(call: Call, kind: type[Exception], text: str, mode: str) -> None:
    refused(MODES[mode](call), kind, text)


def test_an_eager_array_gathers_lists_only() -> None:
    refused(lambda: array().gather(0), TypeError, "TensorArray.gather: `indices` must be a list of")


TRACED: list[tuple[Call, Any, str]] = [
    (lambda s: tf.nn.conv2d(IMAGE, FILTER, s, "SAME"), c(2), "conv2d: `strides` must be known"),
    (lambda s: tf.nn.conv2d(IMAGE, FILTER, [1, s, s, 1], "SAME"), c(2), "conv2d: `strides` must be"),
    (lambda s: tf.nn.max_pool2d(IMAGE, s, 2, "SAME"), c(2), "max_pool2d: `ksize` must be known"),
    (lambda s: tf.nn.avg_pool2d(IMAGE, 2, s, "SAME"), c(2), "avg_pool2d: `strides` must be known"),
    (lambda a: tf.tensordot(M, M, a), c(1), "tensordot: `axes` must be known while tracing"),
    (lambda a: tf.tensordot(M, M, [[a], [0]]), c(1), "tensordot: `axes` must be known while tracing"),
    (lambda n: tf.random.uniform_candidate_sampler(SAMPLE, 1, n, False, 5), c(2),
     "`num_sampled` must be known while tracing"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "given", "text"), TRACED)
def test_settings_must_be_known_while_tracing(call: Call, given: Any, text: str) -> None:
    refused(tf.function(call), TypeError, text, given)


def test_a_traced_noise_shape_is_a_list() -> None:
    call = tf.function(lambda s: tf.nn.dropout(X, 0.5, noise_shape=s))
    refused(call, ValueError, "`noise_shape` must be a list of sizes; got int32[].", c(2))


def test_a_shape_of_text() -> None:
    text = [tf.TensorSpec(None, tf.string)]
    refused(tf.function(tf.zeros, input_signature=text), TypeError, "whole numbers", c("ab"))


def test_set_shape_in_a_function_names_the_line() -> None:
    refused(tf.function(lambda x: x.set_shape([7])), ValueError, "(3,) and (7,) are not", V)


@pytest.mark.parametrize("kind", [ValueError, TypeError, tf.errors.InvalidArgumentError])
@pytest.mark.parametrize(
    "call",
    [
        lambda: tf.math.in_top_k([0], tf.constant([[1.0, 2.0]], tf.float64), 1),
        lambda: tf.strings.unicode_transcode(tf.constant(1), "UTF-8", "UTF-8"),
        lambda: tf.io.encode_base64(tf.constant(1)),
        lambda: tf.io.decode_base64(tf.constant(1)),
        lambda: tf.image.combined_non_max_suppression(
            tf.zeros([1, 2, 1, 4], tf.float64), tf.zeros([1, 2, 1]), 1, 1
        ),
        lambda: tf.image.combined_non_max_suppression(
            tf.zeros([1, 2, 1, 4]), tf.zeros([1, 2, 1]), 1, 1, tf.constant(0.5, tf.float64)
        ),
    ],
)
def test_a_tensor_of_another_dtype_is_the_error_that_tensorflow_raises(
    call: Any, kind: Any
) -> None:
    """TensorFlow raises one kind eagerly, another in functions."""
    with pytest.raises(kind, match="was asked for"):
        call()


@pytest.mark.parametrize(
    ("expression", "help"),
    [
        (
            lambda x: x + (-3),
            "-3 does not fit uint8: cast the uint8 one with tf.cast(x, tf.int32).",
        ),
        (lambda x: 300 - x, "300 does not fit uint8: cast the uint8 one"),
        (
            lambda x: x * 300,
            "300 does not fit uint8: cast the uint8 one with tf.cast(x, tf.int32).",
        ),
        (lambda x: x + tf.constant(3), "Cast the int32 one with tf.cast(x, tf.uint8)."),
    ],
)
def test_the_remedy_keeps_numbers_that_do_not_fit(expression: Any, help: str) -> None:
    for call in (expression, tf.function(expression)):
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            call(tf.constant([1, 2], tf.uint8))
        assert help in str(caught.value)

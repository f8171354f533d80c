"""Activations, losses, normalisation, dropout and attention: what the case table cannot say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import wengert as tf

NAN, INF = float("nan"), float("inf")


def gradient(f, *xs):
    xs = [tf.constant(x) for x in xs]
    with tf.GradientTape() as tape:
        tape.watch(xs)
        y = f(*xs)
    return [g.numpy().tolist() for g in tape.gradient(y, xs)]


def same(got, want, tolerance=1e-6):
    np.testing.assert_allclose(np.asarray(got), want, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize(
    ("f", "want"),
    [
        (tf.nn.relu, [NAN, 0, INF, 0]),
        (tf.nn.relu6, [NAN, 0, 6, 0]),
        (tf.nn.elu, [NAN, -1, INF, 0]),
        (tf.nn.selu, [NAN, -1.7580993, INF, 0]),
        (tf.nn.leaky_relu, [NAN, -INF, INF, 0]),
        (tf.nn.gelu, [NAN, NAN, INF, 0]),
        (tf.nn.silu, [NAN, NAN, INF, 0]),
        (tf.nn.softsign, [NAN, NAN, NAN, 0]),
    ],
    ids=lambda x: getattr(x, "__name__", ""),
)
def test_activations_at_nan_and_infinity_as_in_tensorflow(f, want):
    same(f(tf.constant([NAN, -INF, INF, 0.0])), want)


@pytest.mark.parametrize(
    ("f", "want"),
    [
        (tf.nn.relu, [0, 0, 1]),
        (tf.nn.relu6, [0, 0, 1]),
        (tf.nn.elu, [1, 1, 1]),
        (tf.nn.selu, [1.050701, 1.050701, 1.050701]),
        (tf.nn.leaky_relu, [0.2, 0.2, 1]),
    ],
    ids=lambda x: getattr(x, "__name__", ""),
)
def test_slopes_at_nan_and_zero_as_in_tensorflow(f, want):
    same(gradient(f, [NAN, 0.0, 1.0])[0], want)


def test_a_blocked_infinite_gradient_is_nan_as_in_tensorflow():
    factor = tf.constant([INF, INF])
    got = gradient(lambda x: tf.nn.relu(x) * factor, [-1.0, 1.0])[0]
    assert np.isnan(got[0])
    assert got[1] == INF


def test_smooth_activations_give_the_values_of_tensorflow():
    x = tf.constant([-3.0, -1.0, 0.0, 0.5, 2.0])
    same(tf.nn.gelu(x), [-0.0040496956, -0.158655256, 0, 0.3457312286, 1.9544997215])
    same(tf.nn.gelu(x, approximate=True), [-0.00363743, -0.158808, 0, 0.345714, 1.9545977])
    same(tf.nn.selu(x), [-1.6705687046, -1.1113307476, 0, 0.5253505111, 2.1014020443])
    far = tf.constant([-1e30, -40.0, 50.0, 1e30])
    for approximate in (False, True):
        assert gradient(lambda x, a=approximate: tf.nn.gelu(x, a), far)[0] == [0, 0, 1, 1]


def test_gelu_keeps_its_digits_far_out():
    same(tf.nn.gelu(tf.constant(-10.0)), -7.6198536e-23, 1e-28)


def test_whole_numbers():
    assert tf.nn.relu(tf.constant([-3, 2])).numpy().tolist() == [0, 2]
    assert tf.nn.leaky_relu(tf.constant([-3, 2])).dtype == tf.float32
    for f in (tf.nn.elu, tf.nn.gelu, tf.nn.silu, tf.nn.softmax, tf.nn.l2_loss):
        with pytest.raises(ValueError, match="float"):
            f(tf.constant([-3, 2]))


def test_softmax_of_infinities_and_bad_axes():
    same(tf.nn.softmax(tf.constant([[-INF, 2.0], [-INF, -INF]])), [[0, 1], [NAN, NAN]])
    same(tf.nn.log_softmax(tf.constant([[-INF, 2.0]])), [[-INF, 0]])
    with pytest.raises(
        ValueError, match=r"softmax: `axis` 1 is out of range for a tensor of rank 1"
    ):
        tf.nn.softmax(tf.constant([1.0, 2.0]), axis=1)
    with pytest.raises(ValueError, match="softmax: `logits` must have at least one axis"):
        tf.nn.softmax(tf.constant(1.0))


LOGITS = np.array([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]], np.float32)


@pytest.mark.parametrize("bad", [3, -1])
def test_a_label_outside_the_classes_is_an_error(bad):
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        tf.nn.sparse_softmax_cross_entropy_with_logits([1, bad], LOGITS)
    assert str(caught.value) == (
        f"sparse_softmax_cross_entropy_with_logits: label {bad} is outside [0, 3). Labels count "
        "the classes from 0; check them against the width of the logits."
    )


def test_sparse_cross_entropy_states_its_shapes_and_dtypes():
    loss = tf.nn.sparse_softmax_cross_entropy_with_logits
    with pytest.raises(ValueError, match=r"must have the shape of `logits` without its last axis; got "
                       r"int32\[2,1\] and float32\[2,3\]"):  # fmt: skip
        loss(tf.constant([[1], [2]]), LOGITS)
    for labels in (tf.constant([1.0, 2.0]), tf.constant([1, 2], tf.uint8)):
        with pytest.raises(TypeError, match="`labels` must be int32 or int64, `logits` floating"):
            loss(labels, LOGITS)
    with pytest.raises(ValueError, match="both `labels` and `logits` must be given"):
        loss(None, None)
    same(loss(tf.constant([0, 1]), tf.constant([[1.0, INF], [-INF, 2.0]])), [NAN, 0])


def test_dense_cross_entropy_takes_labels_of_any_number_type():
    loss = tf.nn.softmax_cross_entropy_with_logits
    same(loss([[0, 1, 0]], LOGITS[:1]), [1.4076059])
    same(loss(tf.constant([[0.5, 0.5, 0]], tf.float16), LOGITS[:1]), [1.9076059])
    same(loss(tf.constant([0.5, 0.5, 0]), LOGITS), [1.9076059, 1.9076059])
    with pytest.raises(ValueError, match="softmax_cross_entropy_with_logits"):
        loss(tf.constant([[0.5, 0.5]]), LOGITS)


def test_the_gradient_of_dense_cross_entropy_takes_labels_to_add_up_to_one():
    got = gradient(tf.nn.softmax_cross_entropy_with_logits, [[2.0, 1.0, 1.0]], [[1.0, 2.0, 3.0]])
    same(got[0], [[2.407606, 1.4076059, 0.40760595]])
    same(got[1], [[-1.9099694, -0.75527155, -0.33475906]])


def test_binary_cross_entropies_do_not_overflow():
    labels, logits = tf.constant([0.0, 1.0, 1.0]), tf.constant([-1000.0, 1000.0, -3.0])
    same(tf.nn.sigmoid_cross_entropy_with_logits(labels, logits), [0, 0, 3.0485873])
    same(tf.nn.weighted_cross_entropy_with_logits(labels, logits, 2.0), [0, 0, 6.0971746])
    got = gradient(tf.nn.sigmoid_cross_entropy_with_logits, [0.0, 1.0], [-1000.0, 0.0])
    same(got, [[1000, 0], [0, -0.5]])
    with pytest.raises(ValueError, match="`labels` and `logits` must have the same shape"):
        tf.nn.sigmoid_cross_entropy_with_logits(labels[None], logits)


def test_log_poisson_loss_gives_the_values_of_tensorflow():
    targets, log_input = tf.constant([0.0, 0.5, 1.0, 3.0]), tf.constant([1.0, 2.0, 3.0, 0.5])
    got = tf.nn.log_poisson_loss(targets, log_input, compute_full_loss=True)
    same(got, [2.7182817, 6.3890562, 17.085537, 1.9128028])


CTC_LABELS = [[1, 2, 0], [3, 3, 1]]


def test_ctc_loss_of_labels_that_do_not_fit_is_infinite_and_passes_no_gradient():
    logits = tf.constant(np.random.default_rng(0).standard_normal((4, 2, 4)))
    with tf.GradientTape() as tape:
        tape.watch(logits)
        loss = tf.nn.ctc_loss(CTC_LABELS, logits, [2, 3], [4, 3])
    g = tape.gradient(loss, logits).numpy()
    assert np.isfinite(loss.numpy()[0])
    assert loss.numpy()[1] == INF
    assert not g[:, 1].any()
    assert g[:, 0].any()


def test_ctc_loss_refuses_bad_labels_and_lengths():
    logits = tf.zeros([4, 2, 4])
    with pytest.raises(ValueError, match=r"ctc_loss: label 4 is outside \[0, 4\)"):
        tf.nn.ctc_loss([[1, 4, 0], [3, 3, 1]], logits, [2, 3], [4, 4])
    with pytest.raises(ValueError, match=r"ctc_loss: `logit_length` must lie in \[0, 4\]"):
        tf.nn.ctc_loss(CTC_LABELS, logits, [2, 3], [5, 4])
    with pytest.raises(ValueError, match="ctc_loss: `label_length` must be given"):
        tf.nn.ctc_loss(CTC_LABELS, logits, None, [4, 4])
    with pytest.raises(ValueError, match="ctc_loss: `blank_index` 4 is outside"):
        tf.nn.ctc_loss(CTC_LABELS, logits, [2, 3], [4, 4], blank_index=4)


def test_ctc_loss_says_that_it_has_no_second_derivative():
    logits = tf.constant(np.zeros((4, 2, 4)))
    with tf.GradientTape() as outer:
        outer.watch(logits)
        with tf.GradientTape() as inner:
            inner.watch(logits)
            loss = tf.nn.ctc_loss(CTC_LABELS, logits, [2, 3], [4, 4])
        g = inner.gradient(loss, logits)
    with pytest.raises(NotImplementedError, match="ctc_loss: there is no second derivative"):
        outer.gradient(g, logits)


def test_greedy_decoding():
    best = np.array([[2, 3, 3, 1, 1], [0, 0, 2, 0, 3]]).T
    logits = np.eye(4, dtype=np.float32)[best]
    (found,), score = tf.nn.ctc_greedy_decoder(logits, [5, 4])
    assert found.indices.numpy().tolist() == [[0, 0], [0, 1], [1, 0], [1, 1], [1, 2]]
    assert found.values.numpy().tolist() == [2, 1, 0, 2, 0]
    assert found.dense_shape.numpy().tolist() == [2, 3]
    assert score.numpy().tolist() == [[-5], [-4]]
    (found,), _ = tf.nn.ctc_greedy_decoder(logits, [5, 4], merge_repeated=False, blank_index=0)
    assert found.values.numpy().tolist() == [2, 3, 3, 1, 1, 2]


def test_the_second_derivative_of_the_variance_knows_the_mean():
    x = tf.constant([1.0, 2.0, 4.0])
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            _, variance = tf.nn.moments(x, [0])
        g = inner.gradient(variance, x)
    same(outer.jacobian(g, x), (2 / 3) * (np.eye(3) - 1 / 3))


def test_moments_of_no_axes_and_in_half_precision():
    x = tf.constant([[1.0, 2.0], [3.0, 5.0]])
    mean, variance = tf.nn.moments(x, [])
    same(mean, x)
    same(variance, np.zeros((2, 2)))
    mean, variance = tf.nn.moments(tf.cast(x, tf.float16), [0, 1], keepdims=True)
    assert mean.dtype == variance.dtype == tf.float16
    same(variance, [[2.1875]], 1e-3)


def test_bias_add_states_its_rule():
    x = tf.zeros([2, 3, 4])
    with pytest.raises(ValueError, match=r"bias_add: there must be one bias for each channel; got "
                       r"float32\[2,3,4\] and float32\[3\]"):  # fmt: skip
        tf.nn.bias_add(x, tf.zeros([3]))
    with pytest.raises(ValueError, match="bias_add: `value` must have rank 2 or more"):
        tf.nn.bias_add(tf.zeros([4]), tf.zeros([4]))
    with pytest.raises(ValueError, match=r"bias_add: `data_format` must be N\.\.\.C or NC\.\.\."):
        tf.nn.bias_add(x, tf.zeros([4]), "FOO")
    assert tf.nn.bias_add(x, tf.zeros([3]), "NC..").shape == [2, 3, 4]


def test_l2_normalize_leaves_zero_vectors():
    same(tf.nn.l2_normalize(tf.constant([[3.0, 4.0], [0.0, 0.0]]), 1), [[0.6, 0.8], [0, 0]])


@pytest.mark.parametrize("kind", ["float64", "int32", "uint8", "bool"])
def test_local_response_normalization_of_numpy_arrays_is_of_float32(kind: str) -> None:
    x = np.ones((1, 1, 1, 2), kind)
    for call in (tf.nn.lrn, tf.function(lambda _: tf.nn.lrn(x))):
        got = call(x)
        assert got.dtype == tf.float32
        np.testing.assert_allclose(got[0, 0, 0], [3**-0.5] * 2, rtol=1e-6)
    assert tf.nn.lrn(x.astype("float16")).dtype == tf.float16


def test_local_response_normalization_gives_the_values_of_tensorflow():
    x = tf.reshape(tf.range(1.0, 6.0), (1, 1, 1, 5))
    got = tf.nn.lrn(x, depth_radius=1, bias=1.0, alpha=0.5, beta=0.75)
    same(got.numpy().ravel(), [0.39079496, 0.42044821, 0.38403648, 0.34740019, 0.50077331])


def test_dropout_keeps_the_mean_and_drops_nan():
    tf.random.set_seed(1)
    x = tf.ones([100, 100])
    y = tf.nn.dropout(x, 0.25).numpy()
    assert set(np.unique(y)) == {0, np.float32(1 / 0.75)}
    assert abs(y.mean() - 1) < 0.02
    dropped = tf.nn.dropout(tf.fill([64], NAN), 0.5).numpy()
    assert (dropped == 0).any()
    assert np.isnan(dropped).any()


def test_dropout_repeats_with_its_seed_and_its_noise_shape():
    x = tf.ones([4, 6, 2])
    drop = tf.nn.experimental.stateless_dropout
    assert np.array_equal(drop(x, 0.5, [1, 2]), drop(x, 0.5, [1, 2]))
    assert not np.array_equal(drop(x, 0.5, [1, 2]), drop(x, 0.5, [1, 3]))
    y = tf.nn.dropout(x, 0.5, noise_shape=[4, None, 1]).numpy()
    assert np.array_equal(y[..., 0], y[..., 1])


def test_dropout_states_its_rules():
    x = tf.ones([2, 3])
    assert tf.nn.dropout(x, 0.0) is x
    for rate in (1.0, -0.1):
        with pytest.raises(ValueError, match=r"dropout: `rate` must lie in \[0, 1\)"):
            tf.nn.dropout(x, rate)
    with pytest.raises(ValueError, match="dropout: `x` must be floating, as it is scaled"):
        tf.nn.dropout(tf.constant([1, 2]), 0.5)
    with pytest.raises(ValueError, match="dropout: `noise_shape`"):
        tf.nn.dropout(x, 0.5, noise_shape=[2, 5])
    with pytest.raises(ValueError, match="dropout: `rate` must be a number"):
        tf.nn.dropout(x, "half")


def test_embedding_gradients_stay_sparse():
    table = tf.Variable(np.arange(8.0, dtype=np.float32).reshape(4, 2))
    with tf.GradientTape() as tape:
        rows = tf.nn.embedding_lookup(table, [[1, 3], [3, 0]])
    g = tape.gradient(rows, table)
    assert isinstance(g, tf.IndexedSlices)
    assert rows.shape == [2, 2, 2]
    with pytest.raises(IndexError, match=r"index 4 is outside \[0, 4\)"):
        tf.nn.embedding_lookup(table, [4])
    parts = [tf.constant([[0.0], [1.0]]), tf.constant([[2.0]])]
    same(tf.nn.embedding_lookup(parts, [2, 0]), [[2], [0]])
    with pytest.raises(ValueError, match="embedding_lookup: `params` must be a table"):
        tf.nn.embedding_lookup([], [0])


def test_attention_to_nothing_is_zero_with_a_zero_gradient():
    q = tf.constant(np.ones((1, 1, 2, 3)))
    mask = tf.constant([[True, True], [False, False]])
    with tf.GradientTape() as tape:
        tape.watch(q)
        y = tf.nn.scaled_dot_product_attention(q, q, q, mask)
    same(y, [[[[1, 1, 1], [0, 0, 0]]]])
    assert np.isfinite(tape.gradient(y, q).numpy()).all()


def test_attention_is_one_entry_on_the_tape():
    q = tf.constant(np.ones((1, 1, 2, 3)))
    with tf.GradientTape() as tape:
        tape.watch(q)
        tf.nn.scaled_dot_product_attention(q, q, q, is_causal=True)
    assert len(tape._entries) == 1


def test_attention_states_its_rules():
    q, k = tf.zeros([1, 2, 3, 4]), tf.zeros([1, 2, 5, 4])
    attend = tf.nn.scaled_dot_product_attention
    with pytest.raises(ValueError, match=r"must agree; got float32\[1,2,3,4\] and "
                       r"float32\[1,2,5,4\] and float32\[1,2,3,4\]"):  # fmt: skip
        attend(q, k, q)
    with pytest.raises(ValueError, match=r"`mask` must broadcast to the scores \[1, 2, 3, 5\]"):
        attend(q, k, k, tf.zeros([7, 1, 2, 3, 5]))
    with pytest.raises(TypeError, match="`mask` must be boolean or have the dtype of `query`"):
        attend(q, k, k, tf.zeros([3, 5], tf.int32))
    with pytest.raises(TypeError, match="must be floating"):
        attend(tf.zeros([2, 2], tf.int32), tf.zeros([2, 2], tf.int32), tf.zeros([2, 2], tf.int32))


@pytest.mark.parametrize(
    "f",
    [
        tf.nn.relu,
        tf.nn.relu6,
        tf.nn.leaky_relu,
        lambda x: tf.nn.max_pool2d(tf.reshape(x, [1, 2, 2, 1]), 2, 1, "VALID"),
        lambda x: tf.nn.max_pool1d(tf.reshape(x, [1, 4, 1]), 2, 2, "VALID"),
    ],
)
def test_second_derivatives_of_bends_are_zeros_not_none(f: Any) -> None:
    x = tf.constant([-1.0, 0.5, 2.0, 7.0])
    for wrap in (lambda g: g, tf.function):

        def second(x: Any) -> Any:
            with tf.GradientTape() as outer:
                outer.watch(x)
                with tf.GradientTape() as inner:
                    inner.watch(x)
                    y = tf.reduce_sum(f(x))
                slope = inner.gradient(y, x)
            return outer.gradient(slope, x)

        assert wrap(second)(x).numpy().tolist() == [0.0] * 4


def test_statistics_over_no_axes() -> None:
    count, total, squares, _ = tf.nn.sufficient_statistics([1.0, 2.0], [])
    assert [x.numpy().tolist() for x in (count, total, squares)] == [1.0, [1.0, 2.0], [1.0, 4.0]]


def test_an_image_of_unknown_rank_is_convolved() -> None:
    kernel = tf.ones([2, 2, 3, 1])
    f = tf.function(
        lambda x: tf.nn.conv2d(x, kernel, 1, "VALID"), input_signature=[tf.TensorSpec(None)]
    )
    assert f(tf.ones([1, 3, 2, 3])).numpy().ravel().tolist() == [12.0, 12.0]


def test_ctc_loss_takes_sparse_labels() -> None:
    logits = tf.random.stateless_normal([5, 2, 4], [1, 2])
    dense = tf.constant([[1, 2, 0], [2, 0, 0]])
    labels = tf.SparseTensor([[0, 0], [0, 2], [1, 0]], tf.constant([1, 2, 2]), [2, 3])
    expected = tf.nn.ctc_loss(dense, logits, [2, 1], [5, 4], blank_index=3)
    found = tf.nn.ctc_loss(labels, logits, None, [5, 4], blank_index=-1)
    traced = tf.function(lambda x: tf.nn.ctc_loss(labels, x, None, [5, 4], blank_index=3))(logits)
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    np.testing.assert_allclose(traced, expected, rtol=1e-6)
    with pytest.raises(ValueError, match="`blank_index` must be given"):
        tf.nn.ctc_loss(labels, logits, None, [5, 4])


LABELS = np.array([[1, 1, 2, 2, 1], [1, 2, 3, 4, 5], [1, 1, 1, 1, 1]])


@pytest.mark.parametrize(
    ("lengths", "rows", "counts"),
    [
        ([5, 5, 9], [[1, 2, 1, 0, 0], [1, 2, 3, 4, 5], [1, 0, 0, 0, 0]], [3, 5, 1]),
        ([4, 0, 1], [[1, 2], [0, 0], [1, 0]], [2, 0, 1]),
        ([0, 0, 0], [[], [], []], [0, 0, 0]),
    ],
)
def test_labels_that_follow_their_like_are_left_out(lengths: Any, rows: Any, counts: Any) -> None:
    specs = [tf.TensorSpec([None, None], tf.int64), tf.TensorSpec([None], tf.int32)]
    traced = tf.function(tf.nn.collapse_repeated, input_signature=specs)
    for call in (tf.nn.collapse_repeated, traced):
        found, sizes = call(LABELS, np.array(lengths, np.int32))
        assert found.numpy().tolist() == rows
        assert (found.dtype, sizes.dtype) == (tf.int64, tf.int32)
        assert sizes.numpy().tolist() == counts
    words, _ = tf.nn.collapse_repeated([["a", "a", "b"]], [3])
    assert words.numpy().tolist() == [[b"a", b"b"]]


def test_isotonic_regression_gives_the_runs_of_tensorflow() -> None:
    x = np.array([[3, 1, 2, 4, 5], [1, 1, 1, 0, 2], [5, 4, 3, 2, 1]], np.float32)
    found, runs = tf.nn.isotonic_regression(x)
    assert found.numpy().tolist() == [[3] * 5, [1] * 5, [5, 4, 3, 2, 1]]
    assert runs.numpy().tolist() == [[0, 1, 1, 1, 1], [0, 1, 2, 3, 3], [0, 1, 2, 3, 4]]
    found, runs = tf.nn.isotonic_regression(x.astype("int32"), decreasing=False, axis=-2)
    assert found.dtype == tf.float64
    assert found.numpy()[:, 0].tolist() == [2, 2, 5]
    assert runs.numpy()[:, 0].tolist() == [0, 0, 1]
    assert [y.shape for y in tf.nn.isotonic_regression(x[:0])] == [(0, 5), (0, 5)]
    assert [y.numpy() for y in tf.nn.isotonic_regression(3.0)] == [3.0, 0]
    weights = tf.reshape(tf.range(15.0), [3, 5])
    t = tf.constant(x)
    with tf.GradientTape() as tape:
        tape.watch(t)
        y = tf.nn.isotonic_regression(t)[0] * weights
    assert tape.gradient(y, t).numpy().tolist() == [
        [0, 2.5, 2.5, 2.5, 2.5], [5, 6, 7, 8.5, 8.5], [10, 11, 12, 13, 14],
    ]  # fmt: skip


@pytest.mark.parametrize(
    "shape", [(5, 10), (2, 3, 4), (7, 1), (0, 6), (3, 33), (4,), (2, 0, 5)], ids=str
)
def test_sparse_cross_entropy_of_narrow_and_wide_logits(shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(0)
    logits = rng.uniform(-300, 300, shape).astype(np.float32)
    labels = rng.integers(0, shape[-1], shape[:-1])
    weights = rng.uniform(-2, 2, shape[:-1]).astype(np.float32)
    x = tf.constant(logits)
    with tf.GradientTape() as tape:
        tape.watch(x)
        loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, x)
    gradient = tape.gradient(loss, x, weights)
    z = logits.astype(np.float64) - logits.max(-1, keepdims=True, initial=-np.inf)
    log_p = z - np.log(np.exp(z).sum(-1, keepdims=True))
    hot = np.eye(shape[-1])[labels]
    np.testing.assert_allclose(loss.numpy(), -(hot * log_p).sum(-1), rtol=1e-6, atol=1e-6)
    want = weights[..., None] * (np.exp(log_p) - hot)
    np.testing.assert_allclose(gradient.numpy(), want, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(tf.nn.softmax(x).numpy(), np.exp(log_p), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("dtype", [tf.int32, tf.int64, tf.float32, tf.complex64])
@pytest.mark.parametrize("traced", [False, True])
def test_the_average_loss_of_no_example_is_zero(dtype: Any, traced: bool) -> None:
    x = tf.cast([3, 4], dtype)
    for f, want in (
        (lambda x: tf.nn.compute_average_loss(x, global_batch_size=0), 0),
        (lambda x: tf.nn.compute_average_loss(x[:0]), 0),
        (lambda x: tf.nn.compute_average_loss(x, global_batch_size=2), 3.5),
    ):
        got = (tf.function(f) if traced else f)(x)
        assert got.dtype == (tf.float64 if dtype.is_integer else dtype)
        np.testing.assert_array_equal(got, want)


def test_a_penalty_of_whole_numbers_is_a_float() -> None:
    got = tf.nn.scale_regularization_loss([1, 2])
    assert got.dtype == tf.float64 and got.numpy() == 3

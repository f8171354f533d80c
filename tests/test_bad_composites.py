"""Bad arguments of ragged and sparse tensors, datasets, files, strings and seeds.

What depends on numbers is refused eagerly, in functions and in compiled functions alike; every
error has the type that TensorFlow users catch and names the line of the call.
"""
# Some arguments are none that a checker accepts.
# pyright: reportArgumentType=false, reportAttributeAccessIssue=false

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import wengert as tf
from wengert.composite.values import LOOKED_AT

c = tf.constant
RT = tf.RaggedTensor
VALUES = c([1, 2, 3])
X = c([1.0, 2.0])
RAGGED = tf.ragged.constant([[1, 2], [3], [4, 5, 6]])
SP = tf.sparse.from_dense([[1, 0, 2], [0, 3, 0]])
NUMBERS = tf.data.Dataset.range(3)
PIXELS = np.arange(8 * 8 * 3, dtype=np.uint8).reshape(8, 8, 3)
Invalid = tf.errors.InvalidArgumentError
MODES: dict[str, Callable[..., Any]] = {
    "eager": lambda f: f,
    "function": tf.function,
    "compiled": lambda f: tf.function(f, jit_compile=True),
}


def long(*values: Any) -> Any:
    return c(list(values), tf.int64)


def open_rank(dtype: Any = tf.float32) -> Any:
    return tf.TensorSpec(None, dtype)


def jpeg() -> Any:
    return tf.io.encode_jpeg(PIXELS)


def says_where(error: Any) -> bool:
    return getattr(error, "site").file == __file__  # noqa: B009


# name: (function, bad argument, part of the message, good argument)
Case = tuple[Callable[..., Any], Any, str, Any]
BY_NUMBERS: dict[str, Case] = {
    "splits that decrease": (
        lambda s: RT.from_row_splits(VALUES, s).to_tensor(),
        c([0, 2, 1, 3]), "the splits must not decrease", c([0, 2, 2, 3]),
    ),
    "splits that do not start at 0": (
        lambda s: RT.from_row_splits(VALUES, s).row_lengths(),
        c([1, 3]), "the first row must start at 0", c([0, 3]),
    ),
    "splits beyond the values": (
        lambda s: RT.from_row_splits(VALUES, s).row_lengths(),
        c([0, 5]), "the rows take 5 values", c([0, 3]),
    ),
    "negative lengths": (
        lambda s: RT.from_row_lengths(VALUES, s).to_tensor(),
        c([4, -1]), "lengths must not be negative", c([3, 0]),
    ),
    "lengths beyond the values": (
        lambda s: RT.from_row_lengths(VALUES, s).row_lengths(),
        c([2, 2]), "the rows take 4 values", c([2, 1]),
    ),
    "limits that decrease": (
        lambda s: RT.from_row_limits(VALUES, s).row_lengths(),
        c([4, 3]), "the splits must not decrease", c([1, 3]),
    ),
    "starts that decrease": (
        lambda s: RT.from_row_starts(VALUES, s).row_lengths(),
        c([0, 2, 1]), "the splits must not decrease", c([0, 1, 2]),
    ),
    "row numbers out of order": (
        lambda s: RT.from_value_rowids(VALUES, s).row_lengths(),
        c([1, 0, 1]), "row numbers must not be negative and not decrease", c([0, 1, 1]),
    ),
    "more row numbers than rows": (
        lambda s: RT.from_value_rowids(VALUES, c([0, 0, 1]), nrows=s).row_lengths(),
        c(1), "do not fit 1 rows", c(3),
    ),
    "equal rows": (
        lambda s: RT.from_uniform_row_length(VALUES, s).row_splits,
        c(2), "1 rows of 2 do not make 3 values", c(3),
    ),
    "equal rows of negative length": (
        lambda s: RT.from_uniform_row_length(c([], tf.int32), s, nrows=2).row_splits,
        c(-1), "`uniform_row_length` must not be negative", c(0),
    ),
    "nested splits": (
        lambda s: RT.from_nested_row_splits(VALUES, [s, [0, 1, 3]]).row_lengths(),
        long(0, 3), "the rows take 3 values", long(0, 2),
    ),
    "segment ids": (
        tf.ragged.row_splits_to_segment_ids,
        c([5, 6]), "the first row must start at 0", c([0, 2, 3]),
    ),
    "sparse shape": (
        lambda s: tf.sparse.reshape(SP, s).dense_shape,
        long(1, 2), "6 elements do not fit shape [1, 2]", long(3, -1),
    ),
    "sparse shape of two open sizes": (
        lambda s: tf.sparse.reshape(SP, s).indices,
        long(-1, -1), "6 elements do not fit", long(-1, 6),
    ),
    "sparse shape that does not divide": (
        lambda s: tf.sparse.reshape(SP, s).indices,
        long(4, -1), "6 elements do not fit", long(1, -1),
    ),
    "less room": (
        lambda s: tf.sparse.reset_shape(SP, s).dense_shape,
        long(1, 2), "must be at least [2, 3]", long(2, 4),
    ),
    "steps of 0": (
        lambda s: tf.ragged.range([0, 1], [2, 3], s).values,
        c(0), "a step must not be 0", c(1),
    ),
    "dealt out of range": (
        lambda s: tf.ragged.stack_dynamic_partitions(VALUES, s, 2).row_splits,
        c([0, 5, -1]), "row numbers must lie in [0, 2)", c([0, 1, 0]),
    ),
    "gather beyond a row": (
        lambda s: tf.gather(RAGGED, s, batch_dims=1),
        c([1, 1, 1]), "index 1 is outside a row of length 1", c([1, 0, 2]),
    ),
    "gather_nd beyond a row": (
        lambda s: tf.gather_nd(RAGGED, s),
        c([[1, 1]]), "index 1 is outside a row of length 1", c([[2, 1]]),
    ),
    "gaps": (
        lambda s: RT.from_sparse(tf.SparseTensor(s, [1, 2], [2, 3])).row_lengths(),
        c([[0, 1], [1, 0]], tf.int64), "without gaps", c([[0, 0], [1, 0]], tf.int64),
    ),
    "division by zero": (
        lambda s: (SP / s).values,
        c([0, 1, 1]), "not divided by zero", c([1, 2, 3]),
    ),
    "rows that are not single": (
        lambda s: tf.squeeze(RT.from_row_lengths(VALUES, s), 1),
        c([2, 1]), "does not have size 1", c([1, 1, 1]),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BY_NUMBERS)
def test_numbers_are_checked_whenever_they_are_known(name: str) -> None:
    function, bad, text, good = BY_NUMBERS[name]
    for mode in MODES.values():
        run = mode(function)
        np.testing.assert_array_equal(run(good), function(good))
        with pytest.raises(Invalid) as caught:
            run(bad)
        assert text in str(caught.value)
        assert says_where(caught.value)
        np.testing.assert_array_equal(run(good), function(good))


def test_negative_numbers_are_not_counted_in_functions() -> None:
    count = tf.function(lambda s: tf.sparse.bincount(s).values)
    assert count(c([1, 1, 2])).numpy().tolist() == [2, 1]
    with pytest.raises(Invalid, match="the numbers must not be negative") as caught:
        count(c([-1, 2]))
    assert says_where(caught.value)


def test_what_was_checked_before_is_not_checked_again() -> None:
    @tf.function
    def trusting(splits: Any) -> Any:
        rows = RT.from_row_splits(VALUES, splits, validate=False)
        return (rows + rows).to_tensor() + tf.concat([rows, rows], 1).to_tensor()[:, :2]

    graph = trusting.get_concrete_function(c([0, 2, 3])).graph
    assert LOOKED_AT not in {node.op for node in graph.nodes}


@pytest.mark.parametrize("mode", ["eager", "function"])
def test_gradients_pass_a_check(mode: str) -> None:
    def total(x: Any, step: Any) -> Any:
        return tf.reduce_sum(tf.ragged.range(x, x + 2.5, step).values ** 2)

    def slope(x: Any, step: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch([x, step])
            y = total(x, step)
        return tape.gradient(y, [x, step])

    found = MODES[mode](slope)(c([1.0]), c(1.0))
    np.testing.assert_allclose(found[0], [2 * (1 + 2 + 3)])
    np.testing.assert_allclose(found[1], 2 * (2 * 1 + 3 * 2))


# call: (function, type, part of the message)
REFUSED: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "too few partitions": (
        lambda: tf.ragged.stack_dynamic_partitions(c([1.0, 2.0, 3.0]), [0, 0], 2),
        ValueError, "one row number per element",
    ),
    "sets of a vector": (
        lambda: tf.sets.difference([5, 6], [[1, 2], [3, 4]]), Invalid, "rank 2 or more",
    ),
    "sets of other rows": (
        lambda: tf.sets.union([[5, 6]], [[1, 2], [3, 4]]), Invalid, "sizes must agree",
    ),
    "sets of other ranks": (
        lambda: tf.sets.union([[5, 6]], [[[1, 2]]]), Invalid, "must have one rank",
    ),
    "negative buckets": (
        lambda: tf.sparse.cross_hashed([c([["a"]])], num_buckets=-100),
        Invalid, "`num_buckets` must not be negative; got -100",
    ),
    "sparse.cross(separator=5)": (
        lambda: tf.sparse.cross([c([["a"]])], separator=5), TypeError, "`separator`",
    ),
    "crop above": (
        lambda: tf.io.decode_and_crop_jpeg(jpeg(), [-4, 0, 2, 2]),
        Invalid, "`crop_window` [-4, 0, 2, 2] does not lie within the picture",
    ),
    "crop below": (
        lambda: tf.io.decode_and_crop_jpeg(jpeg(), [4, 0, 9, 2]), Invalid, "does not lie within",
    ),
    "crop of nothing": (
        lambda: tf.io.decode_and_crop_jpeg(jpeg(), [0, 0, 0, 2]), Invalid, "does not lie within",
    ),
    "crop of three numbers": (
        lambda: tf.io.decode_and_crop_jpeg(jpeg(), [0, 0, 2]), Invalid, "has four numbers",
    ),
    "format": (
        lambda: tf.io.encode_jpeg(PIXELS, format="abc"), Invalid, "`format` must be '', 'gray",
    ),
    "format of other channels": (
        lambda: tf.io.encode_jpeg(PIXELS, format="grayscale"), Invalid, "has 1 channels",
    ),
    "density": (
        lambda: tf.io.encode_jpeg(PIXELS, density_unit="x"), Invalid, "`density_unit`",
    ),
    "quality": (lambda: tf.io.encode_jpeg(PIXELS, quality="a"), TypeError, "`quality`"),
    "compression": (lambda: tf.io.encode_png(PIXELS, compression=10), Invalid, "from -1 to 9"),
    "ratio": (lambda: tf.io.decode_jpeg(jpeg(), ratio=3), Invalid, "1, 2, 4 or 8; got 3"),
    "channels": (lambda: tf.io.decode_png(b"", channels="a"), TypeError, "`channels`"),
    "sparse.eye(2.5)": (lambda: tf.sparse.eye(2.5), TypeError, "`num_rows`"),
    "sparse.eye(2, 3.5)": (lambda: tf.sparse.eye(2, 3.5), TypeError, "`num_columns`"),
    "ones_initializer": (
        lambda: tf.ones_initializer()([2], dtyp=tf.int32), TypeError, "no argument 'dtyp'",
    ),
    "zeros_initializer": (
        lambda: tf.zeros_initializer()([2], layout=1), TypeError, "no argument 'layout'",
    ),
    "constant_initializer": (
        lambda: tf.constant_initializer(1)([2], dtyp=1), TypeError, "no argument 'dtyp'",
    ),
    "constant in parts": (
        lambda: tf.constant_initializer(1)([2], partition_shape=[1]), ValueError, "support_part",
    ),
    "random_normal_initializer": (
        lambda: tf.random_normal_initializer()([2], sed=1), TypeError, "no argument 'sed'",
    ),
    "random_uniform_initializer": (
        lambda: tf.random_uniform_initializer()([2], sed=1), TypeError, "no argument 'sed'",
    ),
    "unsorted_segment_sum": (
        lambda: tf.math.unsorted_segment_sum(X, [0, 1], RAGGED), ValueError, "whole numbers",
    ),
    "sparse.segment_sum": (
        lambda: tf.sparse.segment_sum(X, [0, 1], [0, 1], num_segments=RAGGED), ValueError, "whole",
    ),
    "cast(x, sparse)": (lambda: tf.cast(X, SP), TypeError, "SparseTensor"),
    "cast(x, ragged)": (lambda: tf.cast(X, RAGGED), TypeError, "RaggedTensor"),
    "reshape(x, ragged)": (lambda: tf.reshape(X, RAGGED), ValueError, "`shape`"),
    "one_hot(i, ragged)": (lambda: tf.one_hot([1], RAGGED), ValueError, "whole numbers"),
    "cumsum(exclusive=ragged)": (
        lambda: tf.cumsum(X, exclusive=RAGGED), TypeError, "truth value",
    ),
    "dynamic_partition": (
        lambda: tf.dynamic_partition(X, [0, 1], RAGGED), TypeError, "`num_partitions`",
    ),
    "embedding_lookup": (
        lambda: tf.nn.embedding_lookup(RAGGED, [0]), TypeError, "`params` must be a dense table",
    ),
    "Module(name=5)": (lambda: tf.Module(name=5), TypeError, "5 is not a valid name"),  # type: ignore[arg-type]
    "Module(name='a b')": (lambda: tf.Module(name="a b"), ValueError, "not a valid name"),
    "strings.format": (
        lambda: tf.strings.format(5, [c(1)]), TypeError, "`template` must be a Python string",
    ),
    "strings.format of a placeholder": (
        lambda: tf.strings.format("{}", [c(1)], placeholder=5), TypeError, "`placeholder`",
    ),
    "strings.format in a function": (
        lambda: tf.function(lambda s: tf.strings.format(s, [1]))(c("{}")), TypeError, "`template`",
    ),
    "strings.join(3)": (lambda: tf.strings.join(3), TypeError, "`inputs` must be a list"),
    "strings.join(separator)": (
        lambda: tf.strings.join(["a"], separator=5), TypeError, "`separator`",
    ),
    "strings.join of numbers": (
        lambda: tf.strings.join(tf.ragged.constant([[1.0], [2.0]])), Invalid, "float32",
    ),
    "as_string(precision)": (
        lambda: tf.strings.as_string(X, precision="a"), TypeError, "`precision`",
    ),
    "as_string(width)": (lambda: tf.strings.as_string(X, width="a"), TypeError, "`width`"),
    "as_string(fill)": (lambda: tf.strings.as_string(X, fill=5), TypeError, "`fill`"),
    "ngrams(width)": (
        lambda: tf.strings.ngrams(["a", "b"], None), TypeError, "`ngram_width`",
    ),
    "ngrams(separator)": (
        lambda: tf.function(lambda s: tf.strings.ngrams(["a"], 1, separator=s))(c("a")),
        TypeError, "`separator` must be a Python string",
    ),
    "ngrams(pad_values)": (
        lambda: tf.strings.ngrams(["a"], 2, pad_values=5), TypeError, "`pad_values`",
    ),
    "ngrams of one pad": (
        lambda: tf.strings.ngrams(["a"], 2, pad_values=("a",)), Invalid, "one string or two",
    ),
    "ngrams(padding_width)": (
        lambda: tf.strings.ngrams(["a"], 2, pad_values="x", padding_width=-1), ValueError,
        "`padding_width` must be 1 or more",
    ),
    "unsorted_segment_join": (
        lambda: tf.strings.unsorted_segment_join(["a"], [0], None), ValueError, "`num_segments`",
    ),
    "unsorted_segment_join of -1": (
        lambda: tf.strings.unsorted_segment_join(["a"], [0], -1), Invalid, "not be negative",
    ),
    "load_variable": (lambda: tf.train.load_variable("x", None), TypeError, "`name`"),  # type: ignore[arg-type]
    "sparse.mask": (lambda: tf.sparse.mask(None, [0]), TypeError, "tf.IndexedSlices"),
    "sparse.transpose": (lambda: tf.sparse.transpose(SP, perm=1), TypeError, "`perm`"),
    "sparse.reshape": (lambda: tf.sparse.reshape(SP, 4), Invalid, "a list of sizes"),
    "map_flat_values": (
        lambda: tf.ragged.map_flat_values(None, RAGGED), TypeError, "`op` must be callable",  # type: ignore[arg-type]
    ),
    "map_flat_values of a tensor": (
        lambda: tf.function(lambda s: tf.ragged.map_flat_values(s, RAGGED))(c(1)), TypeError,
        "`op` must be callable",
    ),
    "ema.apply(3)": (
        lambda: tf.train.ExponentialMovingAverage(0.9).apply(3), TypeError, "`var_list`",
    ),
    "CheckpointManager": (
        lambda: tf.train.CheckpointManager(tf.train.Checkpoint(), "x", max_to_keep="a"),  # type: ignore[arg-type]
        TypeError, "`max_to_keep`",
    ),
    "from_seed(inf)": (
        lambda: tf.random.Generator.from_seed(float("inf")), TypeError, "a whole number",
    ),
    "from_seed of rows": (
        lambda: tf.random.Generator.from_seed([[1], [2, 3]]), ValueError, "a whole number",
    ),
    "from_key_counter": (
        lambda: tf.random.Generator.from_key_counter(float("nan"), [0, 0], "philox"), TypeError,
        "`key`",
    ),
    "dropout(seed=inf)": (
        lambda: tf.nn.dropout(X, 0.5, seed=float("inf")), TypeError, "`seed`",
    ),
    "decode_csv(select_cols)": (
        lambda: tf.io.decode_csv(["1,2"], [0, 0], select_cols=-1), TypeError, "`select_cols`",
    ),
    "decode_csv of a column before the first": (
        lambda: tf.io.decode_csv(["1,2"], [0, 0], select_cols=[-1, 0]), ValueError, "from 0",
    ),
    "decode_csv(field_delim)": (
        lambda: tf.io.decode_csv(["1,2"], [0, 0], field_delim=5), TypeError, "`field_delim`",  # type: ignore[arg-type]
    ),
    "get_single_element": (
        lambda: tf.data.experimental.get_single_element(None), TypeError, "tf.data.Dataset",  # type: ignore[arg-type]
    ),
    "get_structure": (
        lambda: tf.data.experimental.get_structure(None), TypeError, "a dataset or an iterator",
    ),
    "TextLineDataset": (lambda: tf.data.TextLineDataset(None), ValueError, "file names"),
    "TFRecordDataset": (lambda: tf.data.TFRecordDataset(5), TypeError, "file names"),
    "list_files": (lambda: tf.data.Dataset.list_files(None), ValueError, "file names"),
    "padded_batch": (lambda: NUMBERS.padded_batch(2, -1), ValueError, "lists of sizes"),
    "bucket_by_sequence_length": (
        lambda: NUMBERS.bucket_by_sequence_length(lambda x: 1, None, [1]), TypeError,
        "`bucket_boundaries` must be a list",
    ),
    "zip of nothing": (lambda: tf.data.Dataset.zip({}), Invalid, "at least one dataset"),
    "apply": (lambda: NUMBERS.apply(None), TypeError, "`transformation_func`"),  # type: ignore[arg-type]
    "sample_from_datasets": (
        lambda: tf.data.Dataset.sample_from_datasets(3), TypeError, "a list of datasets",
    ),
    "weights": (
        lambda: tf.data.Dataset.sample_from_datasets([NUMBERS], "a"), TypeError, "`weights`",
    ),
    "unicode_encode": (
        lambda: tf.function(
            lambda x: tf.strings.unicode_encode(x, "UTF-8"), input_signature=[open_rank(tf.int32)]
        )(c([65])),
        ValueError, "the rank of the characters must be known",
    ),
    "boolean_mask": (
        lambda: tf.function(
            lambda x: tf.ragged.boolean_mask(x, x > 0), input_signature=[open_rank()]
        )(X),
        ValueError, "the rank of the mask must be known",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refusals_say_what_and_where(name: str) -> None:
    call, kind, text = REFUSED[name]
    with pytest.raises(kind) as caught:
        call()
    assert text in str(caught.value)
    assert says_where(caught.value)


def test_a_crop_is_looked_at_when_the_function_runs() -> None:
    crop = tf.function(lambda window: tf.io.decode_and_crop_jpeg(jpeg(), window))
    whole = tf.io.decode_jpeg(jpeg())
    np.testing.assert_array_equal(crop(c([1, 2, 3, 4])), whole[1:4, 2:6])
    with pytest.raises(Invalid, match="does not lie within the picture"):
        crop(c([-4, 0, 2, 2]))


# name: (function, argument of unknown rank, answer)
OPEN: dict[str, tuple[Callable[..., Any], Any, Any]] = {
    "range": (lambda x: tf.ragged.range(x).flat_values, c([2, 3]), [0, 1, 0, 1, 2]),
    "range of a number": (lambda x: tf.ragged.range(x).flat_values, c(3), [0, 1, 2]),
    "range of steps": (lambda x: tf.ragged.range(0, 4, x).flat_values, c([2, 3]), [0, 2, 0, 3]),
    "embedding_lookup_sparse": (
        lambda x: tf.nn.embedding_lookup_sparse(x, tf.sparse.from_dense([[1, 2]]), None),
        c([[0.0, 0.0], [2.0, 4.0], [4.0, 8.0]]), [[3.0, 6.0]],
    ),
    "sparse_dense_matmul": (
        lambda x: tf.sparse.sparse_dense_matmul(tf.cast(SP, tf.float32), x),
        c([[1.0], [2.0], [3.0]]), [[7.0], [6.0]],
    ),
    "bincount": (lambda x: tf.sparse.bincount(x).values, c([1, 1, 2]), [2, 1]),
    "bincount of rows": (
        lambda x: tf.sparse.bincount(x, axis=-1).indices,
        c([[1, 1, 2], [0, 0, 0]]), [[0, 1], [0, 2], [1, 0]],
    ),
    "bincount of a vector": (
        lambda x: tf.sparse.bincount(x, axis=-1).dense_shape, c([1, 1, 2]), [3],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", OPEN)
def test_functions_of_unknown_rank_answer(name: str) -> None:
    function, x, answer = OPEN[name]
    run = tf.function(function, input_signature=[open_rank(x.dtype)])
    np.testing.assert_array_equal(run(x), answer)


def test_a_range_of_a_matrix_is_refused_when_it_runs() -> None:
    run = tf.function(lambda x: tf.ragged.range(x).values, input_signature=[open_rank(tf.int32)])
    with pytest.raises(Invalid, match="vectors of one length"):
        run(c([[1, 2]]))


TAKEN: dict[str, tuple[Callable[[], Any], Any]] = {
    "as_string": (lambda: tf.strings.as_string(X, precision=None), [b"1.000000", b"2.000000"]),
    "as_string(width)": (lambda: tf.strings.as_string(c([1]), width=None, fill=None), [b"1"]),
    "encode_jpeg": (
        lambda: tf.io.encode_jpeg(PIXELS, quality=None, format=None) == jpeg(), True,
    ),
    "join": (lambda: tf.strings.join(["a", "b"], separator=None), b"ab"),
    "join of rows": (lambda: tf.strings.join(tf.ragged.constant([["a"], ["b"]])), [b"ab"]),
    "ones in parts": (
        lambda: tf.ones_initializer()([4], partition_shape=[2], partition_offset=[0]), [1.0, 1.0],
    ),
    "stack of one": (lambda: tf.ragged.stack(-1), [-1]),
    "a sparse shape without elements": (
        lambda: tf.function(
            lambda s: tf.sparse.reshape(tf.sparse.from_dense(tf.zeros([0, 3])), s).dense_shape
        )(long(0, 5)),
        [0, 5],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TAKEN)
def test_what_tensorflow_takes_is_taken(name: str) -> None:
    call, answer = TAKEN[name]
    np.testing.assert_array_equal(call(), answer)


def test_a_variable_is_looked_at_anew_in_each_call() -> None:
    count = tf.Variable(3)
    lengths = tf.function(lambda: RT.from_value_rowids(VALUES, [0, 0, 1], count).row_lengths())
    assert lengths().numpy().tolist() == [2, 1, 0]
    count.assign(1)
    with pytest.raises(Invalid, match="do not fit 1 rows"):
        lengths()

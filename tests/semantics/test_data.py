"""Datasets: what every program that feeds itself by `tf.data` relies on."""

import collections
import re
from typing import Any

import numpy as np
import pytest

from tests.semantics.api import NAN, refuses, tf

D = tf.data.Dataset
Pair = collections.namedtuple("Pair", "a b")
INT64 = tf.int64


def plain(x) -> Any:
    """Python numbers and lists in the place of NumPy's, so that answers can be written down."""
    if isinstance(x, np.ndarray | np.generic):
        return x.tolist()
    if isinstance(x, dict):
        return {k: plain(v) for k, v in x.items()}
    if isinstance(x, tuple):
        return tuple(plain(v) for v in x)
    return x


def elements(dataset) -> Any:
    return [plain(x) for x in dataset.as_numpy_iterator()]


def spec(shape, dtype=tf.int64):
    return tf.TensorSpec(shape, dtype)


def ragged():
    return D.range(1, 5).map(lambda x: tf.fill(tf.expand_dims(x, 0), x))


def unknown():
    return D.range(3).filter(lambda x: x >= 0)


def count(dataset):
    return int(dataset.cardinality())


# Sources


@pytest.mark.parametrize(
    ("value", "wanted", "found"),
    [
        ([1, 2], [1, 2], spec([], tf.int32)),
        ([[1.0, 2.0], [3.0, 4.0]], [[1.0, 2.0], [3.0, 4.0]], spec([2], tf.float32)),
        (([1, 2], [3, 4]), [(1, 3), (2, 4)], (spec([], tf.int32),) * 2),
        (
            {"b": [1, 2], "a": ([1.0, 2.0], ["x", "y"])},
            [{"b": 1, "a": (1.0, b"x")}, {"b": 2, "a": (2.0, b"y")}],
            {"b": spec([], tf.int32), "a": (spec([], tf.float32), spec([], tf.string))},
        ),
        (([1, 2], None), [(1, None), (2, None)], None),
        (np.zeros((0, 2)), [], spec([2], tf.float64)),
    ],
    ids=["list", "rows", "tuple", "nest", "none", "empty"],
)
def test_slices(value, wanted, found):
    dataset = D.from_tensor_slices(value)
    assert elements(dataset) == wanted
    assert found is None or dataset.element_spec == found
    assert count(dataset) == len(dataset) == len(wanted)


def test_slices_keep_named_tuples():
    dataset = D.from_tensor_slices(Pair([1, 2], [3, 4]))
    first = next(iter(dataset))
    assert type(first) is Pair
    assert (int(first.a), int(first.b)) == (1, 3)
    assert elements(dataset.map(lambda p: p.a * p.b)) == [3, 8]


def test_from_tensors_is_one_element():
    assert elements(D.from_tensors([[1, 2], [3, 4]])) == [[[1, 2], [3, 4]]]
    (element,) = list(D.from_tensors(([1, 2], None)))
    assert element[1] is None
    assert elements(D.from_tensors(tf.Variable(1.5))) == [1.5]


@pytest.mark.parametrize(
    "make",
    [
        lambda: D.from_tensor_slices(([1, 2], [1, 2, 3])),
        lambda: D.from_tensor_slices(1),
        lambda: D.from_tensor_slices(()),
        lambda: D.from_tensors([[1, 2], [3]]),
    ],
    ids=["lengths", "scalar", "nothing", "ragged"],
)
def test_bad_tensors_are_refused(make):
    with refuses(ValueError):
        make()


def test_range():
    assert elements(D.range(3)) == [0, 1, 2]
    assert elements(D.range(1, 6, 2)) == [1, 3, 5]
    assert elements(D.range(5, 0, -2)) == [5, 3, 1]
    assert elements(D.range(3, 0)) == []
    assert D.range(3).element_spec == spec([])
    assert D.range(2, output_type=tf.float32).element_spec == spec([], tf.float32)
    with refuses(ValueError):
        D.range()
    with refuses(TypeError):
        D.range(2.5)
    with refuses(tf.errors.InvalidArgumentError):
        D.range(0, 3, 0)


def test_counter_and_random():
    assert elements(D.counter(10, -2).take(3)) == [10, 8, 6]
    numbers = D.random(seed=4).take(3)
    assert elements(numbers) == elements(numbers) == elements(D.random(seed=4).take(3))
    again = D.random(seed=4, rerandomize_each_iteration=True).take(3)
    assert elements(again) != elements(again)
    assert all(0 <= n < 2**32 for n in elements(numbers))
    assert D.random().element_spec == spec([])
    assert count(D.random()) == tf.data.INFINITE_CARDINALITY


def test_zip():
    a, b = D.range(3), D.range(10, 15)
    assert elements(D.zip((a, b))) == elements(D.zip(a, b)) == [(0, 10), (1, 11), (2, 12)]
    assert elements(D.zip(datasets=(a, b))) == elements(D.zip(a, b))
    assert elements(D.zip({"x": a, "y": (b,)}))[0] == {"x": 0, "y": (10,)}
    assert elements(D.zip(a)) == [0, 1, 2]
    assert elements(D.zip((a,))) == [(0,), (1,), (2,)]
    for wrong in (lambda: D.zip(), lambda: D.zip([a, b]), lambda: D.zip(a, datasets=(b,))):
        with refuses(TypeError):
            wrong()


# Generators


def test_generator():
    dataset = D.from_generator(
        lambda: iter([(1, [1.0]), (2, [2.0, 3.0])]),
        output_signature=(spec([], tf.int32), spec([None], tf.float32)),
    )
    assert elements(dataset) == elements(dataset) == [(1, [1.0]), (2, [2.0, 3.0])]
    assert count(dataset) == tf.data.UNKNOWN_CARDINALITY
    assert elements(D.from_generator(lambda: ["a", "b"], tf.string)) == [b"a", b"b"]
    old = D.from_generator(lambda: [{"a": 1}], {"a": tf.int32}, {"a": []})
    assert old.element_spec == {"a": spec([], tf.int32)}
    assert elements(old) == [{"a": 1}]
    counted = D.from_generator(lambda n: range(n), args=(3,), output_signature=spec([]))
    assert elements(counted) == [0, 1, 2]


def test_generator_converts_as_numpy_does():
    assert elements(D.from_generator(lambda: [1.75], output_signature=spec([]))) == [1]
    assert elements(D.from_generator(lambda: [1], output_signature=spec([], tf.float32))) == [1.0]


@pytest.mark.parametrize(
    ("items", "signature"),
    [
        ([[1, 2]], spec([])),
        ([1], (spec([]), spec([]))),
        ([[1, 2]], (spec([]), spec([]))),
        ([{"a": 1}], {"a": spec([]), "b": spec([])}),
        ([None], spec([])),
        (3, spec([])),
    ],
    ids=["shape", "structure", "list", "key", "none", "not iterable"],
)
def test_generator_that_yields_something_else(items, signature):
    dataset = D.from_generator(lambda: items, output_signature=signature)
    with refuses(tf.errors.InvalidArgumentError):
        elements(dataset)


class Odd(Exception):
    pass


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ValueError("x"), tf.errors.InvalidArgumentError),
        (TypeError("x"), tf.errors.InvalidArgumentError),
        (MemoryError("x"), tf.errors.ResourceExhaustedError),
        (NotImplementedError("x"), tf.errors.UnimplementedError),
        (Odd("x"), tf.errors.UnknownError),
    ],
    ids=lambda e: type(e).__name__ if isinstance(e, Exception) else "",
)
def test_generator_that_raises(error, kind):
    def numbers():
        yield 1
        raise error

    iterator = iter(D.from_generator(numbers, output_signature=spec([])))
    assert int(next(iterator)) == 1
    with pytest.raises(kind, match="x"):
        next(iterator)
    with refuses(StopIteration):
        next(iterator)


def test_generator_arguments():
    with refuses(TypeError):
        D.from_generator([1, 2], output_signature=spec([]))
    with refuses(TypeError):
        D.from_generator(lambda: [1])
    with refuses(TypeError):
        D.from_generator(lambda: [1], output_types=tf.int32, output_signature=spec([]))
    with refuses(TypeError):
        D.from_generator(lambda: [1], output_signature=[spec([])])


# Single elements


def test_map():
    assert elements(D.range(3).map(lambda x: x * x)) == [0, 1, 4]
    assert elements(D.range(2).map(lambda x: [x, x + 1])) == [(0, 1), (1, 2)]
    assert elements(D.range(2).map(lambda x: (x, [x, x + 1]))) == [(0, [0, 1]), (1, [1, 2])]
    assert elements(D.range(1).map(lambda x: {"a": 1, "b": "s"})) == [{"a": 1, "b": b"s"}]
    assert elements(D.range(1).map(lambda x: (x, None))) == [(0, None)]
    assert elements(D.from_tensor_slices(([1, 2], ([3, 4], [5, 6]))).map(lambda a, b: b[1])) == [
        5,
        6,
    ]
    assert elements(D.from_tensor_slices(([1, 2],)).map(lambda a: a)) == [1, 2]
    with refuses(ValueError):
        D.range(3).map(3)


@pytest.mark.parametrize("calls", [None, 1, 3, tf.data.AUTOTUNE])
def test_map_keeps_the_order(calls):
    assert elements(D.range(50).map(lambda x: x * 2, num_parallel_calls=calls)) == [
        *range(0, 100, 2)
    ]


def test_map_in_any_order_gives_the_same_elements():
    dataset = D.range(50).map(lambda x: x * 2, num_parallel_calls=4, deterministic=False)
    assert sorted(elements(dataset)) == [*range(0, 100, 2)]


def test_specs_after_map():
    assert D.range(2).map(lambda x: [x, 1]).element_spec == (spec([]), spec([], tf.int32))
    assert D.range(3).batch(2).map(lambda x: x + 1).element_spec == spec([None])
    assert D.range(4).batch(2, drop_remainder=True).map(lambda x: x + 1).element_spec == spec([2])
    assert D.range(3).batch(2).map(tf.reduce_sum).element_spec == spec([])
    images = D.from_tensors(tf.zeros([5, 4, 3])).batch(2).map(lambda x: x[:, ::2])
    assert images.element_spec == spec([None, 3, 4, 3], tf.float32)


def test_filter_and_take_while():
    assert elements(D.range(6).filter(lambda x: x % 2 == 0)) == [0, 2, 4]
    assert elements(D.from_tensor_slices(([1, 2], [3, 4])).filter(lambda a, b: a > 1)) == [(2, 4)]
    assert elements(D.range(9).take_while(lambda x: x < 3)) == [0, 1, 2]
    assert elements(D.range(2).filter(lambda x: True)) == [0, 1]
    with refuses(ValueError):
        elements(D.range(3).filter(lambda x: x))


def test_scan_and_reduce():
    zero = tf.constant(0, INT64)
    sums = D.range(4).scan(zero, lambda s, x: (s + x, (x, s)))
    assert elements(sums) == [(0, 0), (1, 0), (2, 1), (3, 3)]
    assert sums.element_spec == (spec([]), spec([]))
    assert int(D.range(4).reduce(zero, lambda s, x: s + x)) == 6
    total = D.range(4).enumerate().reduce((zero, 0), lambda s, x: (s[0] + x[1], s[1] + 1))
    assert plain(tuple(t.numpy() for t in total)) == (6, 4)
    grown = D.range(3).reduce(tf.zeros([0], INT64), lambda s, x: tf.concat([s, [x]], 0))
    assert grown.numpy().tolist() == [0, 1, 2]
    with refuses(TypeError):
        D.range(4).reduce(0, lambda s, x: 1.0)
    with refuses(TypeError):
        elements(D.range(4).scan(zero, lambda s, x: s))
    with refuses(TypeError):
        elements(D.range(4).scan(zero, lambda s, x: (1.0, s)))


def checked():
    return D.from_tensor_slices([1.0, NAN, 3.0, 4.0, 5.0]).map(
        lambda x: tf.debugging.check_numerics(x, "bad")
    )


def outcomes(dataset, number):
    found, iterator = [], iter(dataset)
    for _ in range(number):
        try:
            found.append(plain(next(iterator).numpy()))
        except StopIteration:
            found.append("end")
        except tf.errors.InvalidArgumentError:
            found.append("error")
    return found


def test_an_iterator_goes_on_after_an_error():
    assert outcomes(checked(), 6) == [1.0, "error", 3.0, 4.0, 5.0, "end"]
    assert outcomes(checked().batch(2), 4) == ["error", [3.0, 4.0], [5.0], "end"]
    assert outcomes(checked().prefetch(2), 6) == [1.0, "error", 3.0, 4.0, 5.0, "end"]
    assert elements(checked().ignore_errors()) == [1.0, 3.0, 4.0, 5.0]


def test_values_of_variables_are_read_at_every_iteration():
    v = tf.Variable(1.0)
    dataset = D.from_tensors(1.0).map(lambda x: x + v)
    assert elements(dataset) == [2.0]
    v.assign(5.0)
    assert elements(dataset) == [6.0]


def test_a_tape_does_not_look_into_a_dataset():
    v, y = tf.Variable(2.0), None
    with tf.GradientTape() as tape:
        for x in D.from_tensors(1.0).map(lambda x: x * v):
            y = x * 3.0
    assert tape.gradient(y, v) is None


# Order


def test_take_skip_shard_repeat():
    assert elements(D.range(5).take(2)) == [0, 1]
    assert elements(D.range(2).take(-1)) == [0, 1]
    assert elements(D.range(5).skip(3)) == [3, 4]
    assert elements(D.range(3).skip(9)) == elements(D.range(3).skip(-1)) == []
    assert elements(D.range(10).shard(3, 1)) == [1, 4, 7]
    assert elements(D.range(2).repeat(3)) == [0, 1, 0, 1, 0, 1]
    assert elements(D.range(2).repeat().take(3)) == [0, 1, 0]
    assert elements(D.range(2).repeat(0)) == elements(D.range(0).repeat()) == []
    assert elements(D.range(2).concatenate(D.range(3))) == [0, 1, 0, 1, 2]
    assert elements(D.range(2).enumerate(start=5)) == [(5, 0), (6, 1)]
    for wrong in ((3, 3), (0, 0), (2, -1)):
        with refuses(tf.errors.InvalidArgumentError):
            D.range(10).shard(*wrong)


@pytest.mark.parametrize("mapped", [False, True], ids=["rows", "elements"])
@pytest.mark.parametrize("size", [1, 3, 10, 50])
def test_shuffle_moves_elements_within_its_buffer(size, mapped):
    dataset = D.range(10).map(lambda x: x) if mapped else D.range(10)
    order = elements(dataset.shuffle(size, seed=3))
    assert sorted(order) == [*range(10)]
    # Element i can come out once i elements have gone before it, less what the buffer holds.
    assert all(place >= value - size + 1 for place, value in enumerate(order))
    assert size > 1 or order == [*range(10)]


def test_seeds_of_shuffle():
    def orders(**options):
        dataset = D.range(20).shuffle(20, **options)
        return [elements(dataset), elements(dataset)]

    first, second = orders(seed=1)
    assert first != second
    assert orders(seed=1) == [first, second]
    a, b = orders(seed=1, reshuffle_each_iteration=False)
    assert a == b
    a, b = orders(reshuffle_each_iteration=False)
    assert a == b
    tf.random.set_seed(5)
    known = orders(), orders()
    tf.random.set_seed(5)
    assert (orders(), orders()) == known
    assert known[0] != known[1]


def test_shuffle_and_repeat():
    order = elements(D.range(20).shuffle(20, seed=1).repeat(2))
    assert order[:20] != order[20:]
    assert sorted(order[:20]) == sorted(order[20:]) == [*range(20)]
    fixed = elements(D.range(20).shuffle(20, seed=1, reshuffle_each_iteration=False).repeat(2))
    assert fixed[:20] == fixed[20:]


def test_random_numbers_in_a_map_repeat_under_a_seed():
    def numbers():
        tf.random.set_seed(5)
        dataset = D.range(3).map(lambda x: tf.random.uniform([]))
        return elements(dataset), elements(dataset), elements(dataset.repeat(2))

    once, again, twice = numbers()
    assert once == again == twice[:3]
    assert len(set(twice)) == 6
    assert numbers() == (once, again, twice)


def test_cache_keeps_the_first_complete_iteration():
    starts = []

    def numbers():
        starts.append(1)
        yield from range(4)

    dataset = D.from_generator(numbers, output_signature=spec([])).cache()
    next(iter(dataset))
    assert elements(dataset) == elements(dataset) == [0, 1, 2, 3]
    assert elements(dataset.take(2)) == [0, 1]
    assert len(starts) == 2
    shuffled = D.range(20).shuffle(20).cache()
    assert elements(shuffled) == elements(shuffled)


@pytest.mark.parametrize("size", [0, 1, 3, tf.data.AUTOTUNE])
def test_prefetch_changes_nothing(size):
    dataset = D.range(50).map(lambda x: x * 2).prefetch(size)
    assert elements(dataset) == elements(dataset) == [*range(0, 100, 2)]
    assert count(dataset) == 50


def test_unique():
    assert elements(D.from_tensor_slices([1, 37, 2, 37, 2, 1]).unique()) == [1, 37, 2]
    assert elements(D.from_tensor_slices(["a", "b", "a"]).unique()) == [b"a", b"b"]
    with refuses(TypeError):
        elements(D.from_tensor_slices([1.0]).unique())


# Batches


def test_batch():
    assert elements(D.range(5).batch(2)) == [[0, 1], [2, 3], [4]]
    assert elements(D.range(5).batch(2, drop_remainder=True)) == [[0, 1], [2, 3]]
    assert elements(D.range(4).batch(2).batch(2)) == [[[0, 1], [2, 3]]]
    mixed = D.range(3).map(lambda x: {"a": (x, "s"), "b": None}).batch(2)
    assert elements(mixed) == [
        {"a": ([0, 1], [b"s", b"s"]), "b": None},
        {"a": ([2], [b"s"]), "b": None},
    ]
    assert elements(D.range(3).repeat(2).batch(4)) == [[0, 1, 2, 0], [1, 2]]


def test_specs_of_batches():
    assert D.range(4).batch(2).element_spec == spec([None])
    assert D.range(4).batch(2, drop_remainder=True).element_spec == spec([2])
    assert D.range(4).batch(2).batch(2).element_spec == spec([None, None])
    assert D.from_tensors(([1, 2], None)).batch(2).element_spec[0] == spec([None, 2], tf.int32)


def test_bad_batches():
    for wrong in (0, -1):
        with refuses(tf.errors.InvalidArgumentError):
            D.range(3).batch(wrong)
    with refuses(TypeError):
        D.range(3).batch(2.0)
    with refuses(tf.errors.InvalidArgumentError):
        elements(ragged().batch(2))


def test_padded_batch():
    assert elements(ragged().padded_batch(2)) == [
        [[1, 0], [2, 2]],
        [[3, 3, 3, 0], [4, 4, 4, 4]],
    ]
    minus = tf.constant(-1, INT64)
    wide = ragged().padded_batch(2, padded_shapes=[5], padding_values=minus)
    assert elements(wide)[0] == [[1, -1, -1, -1, -1], [2, 2, -1, -1, -1]]
    assert wide.element_spec == spec([None, 5])
    pairs = ragged().map(lambda x: {"a": x, "b": tf.size(x)})
    assert elements(pairs.padded_batch(4, padded_shapes={"a": [-1], "b": []})) == [
        {"a": [[1, 0, 0, 0], [2, 2, 0, 0], [3, 3, 3, 0], [4, 4, 4, 4]], "b": [1, 2, 3, 4]}
    ]
    words = D.from_generator(lambda: [["a"], ["b", "c"]], tf.string, [None])
    assert elements(words.padded_batch(2)) == [[[b"a", b""], [b"b", b"c"]]]
    assert elements(words.padded_batch(2, padding_values="-")) == [[[b"a", b"-"], [b"b", b"c"]]]
    with refuses(tf.errors.DataLossError):
        elements(ragged().padded_batch(2, padded_shapes=[1]))
    with refuses(TypeError):
        elements(ragged().padded_batch(2, padding_values=1.5))
    with refuses(ValueError):
        elements(D.from_tensors([1, 2, 3]).padded_batch(2, padded_shapes=[2]))
    with refuses(ValueError):
        elements(D.from_generator(lambda: [[1]], tf.int32).padded_batch(2))


def test_unbatch_and_rebatch():
    assert elements(D.from_tensors(([1, 2], [[3], [4]])).unbatch()) == [(1, [3]), (2, [4])]
    assert elements(D.range(5).batch(2).unbatch()) == [0, 1, 2, 3, 4]
    assert elements(D.range(7).batch(4).rebatch(3)) == [[0, 1, 2], [3, 4, 5], [6]]
    assert elements(D.range(7).batch(4).rebatch(3, drop_remainder=True)) == [[0, 1, 2], [3, 4, 5]]
    assert elements(D.range(8).batch(4).rebatch([2, 1, 1])) == [[0, 1], [2], [3], [4, 5], [6], [7]]
    assert elements(D.range(7).batch(2).rebatch(5)) == [[0, 1, 2, 3, 4], [5, 6]]
    assert D.range(7).batch(4).rebatch(3, drop_remainder=True).element_spec == spec([3])
    with refuses(ValueError):
        D.range(3).unbatch()
    with refuses(ValueError):
        D.from_tensors(([1, 2], [1, 2, 3])).unbatch()
    with refuses(ValueError):
        D.range(3).rebatch(2)


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ({}, [[0, 1, 2], [3, 4, 5], [6]]),
        ({"shift": 1, "stride": 2}, [[0, 2, 4], [1, 3, 5], [2, 4, 6], [3, 5], [4, 6], [5], [6]]),
        (
            {"shift": 1, "stride": 2, "drop_remainder": True},
            [[0, 2, 4], [1, 3, 5], [2, 4, 6]],
        ),
        ({"shift": 5}, [[0, 1, 2], [5, 6]]),
        ({"drop_remainder": True}, [[0, 1, 2], [3, 4, 5]]),
    ],
    ids=["plain", "stride", "drop", "gap", "drop last"],
)
def test_window(options, wanted):
    windows = D.range(7).window(3, **options)
    assert [elements(w) for w in windows] == wanted
    assert count(windows) == len(wanted)
    flat = windows.flat_map(lambda w: w.batch(3))
    assert elements(flat) == wanted
    assert flat.element_spec == spec([None])


def test_windows_of_nests_are_nests_of_datasets():
    pairs = D.range(3).map(lambda x: (x, x * 2)).window(2)
    assert [tuple(elements(w) for w in pair) for pair in pairs] == [([0, 1], [0, 2]), ([2], [4])]
    zipped = pairs.flat_map(lambda a, b: D.zip((a, b)))
    assert elements(zipped) == [(0, 0), (1, 2), (2, 4)]
    with refuses(TypeError):
        elements(D.range(3).window(2))
    for wrong in ({"size": 0}, {"size": 1, "shift": 0}, {"size": 1, "stride": 0}):
        with refuses(tf.errors.InvalidArgumentError):
            D.range(3).window(**wrong)


def test_groups():
    def batches(key, window):
        return window.batch(3)

    windows = D.range(10).group_by_window(lambda x: x % 2, batches, window_size=3)
    assert elements(windows) == [[0, 2, 4], [1, 3, 5], [6, 8], [7, 9]]
    assert windows.element_spec == spec([None])
    by_size = D.range(10).group_by_window(
        lambda x: x % 2, batches, window_size_func=lambda k: k + 2
    )
    assert elements(by_size) == [[0, 2], [1, 3, 5], [4, 6], [8], [7, 9]]
    with refuses(ValueError):
        D.range(10).group_by_window(lambda x: x, batches)


SPANS = [[1, 2], [1], [1, 2, 3], [1, 2, 3, 4]]


@pytest.mark.parametrize(
    ("step", "wanted"),
    [
        (lambda d, n: d.bucket_by_sequence_length(n, [3], [2, 4]), (None, None)),
        (
            lambda d, n: d.bucket_by_sequence_length(n, [3], [2, 4], drop_remainder=True),
            (None, None),
        ),
        (
            lambda d, n: d.bucket_by_sequence_length(
                n, [3, 5], [2, 4, 1], pad_to_bucket_boundary=True
            ),
            (None, None),
        ),
        (lambda d, n: d.bucket_by_sequence_length(n, [3], [2, 4], padded_shapes=[7]), (None, 7)),
        (
            lambda d, n: d.group_by_window(n, lambda k, w: w.padded_batch(2, [k]), 2),
            (None, None),
        ),
        (
            lambda d, n: d.group_by_window(
                n, lambda k, w: w.padded_batch(2, [None], None, True), 2
            ),
            (2, None),
        ),
    ],
)
def test_groups_announce_what_holds_for_all_of_them(step, wanted):
    spans = tf.data.Dataset.from_generator(
        lambda: iter(SPANS), output_signature=tf.TensorSpec([None], tf.int32)
    )
    found = step(spans, lambda x: tf.size(x, tf.int64))
    assert found.element_spec.shape == tf.TensorShape(wanted)
    assert all(found.element_spec.is_compatible_with(x) for x in found)


def test_buckets():
    items = [[0], [1, 2, 3, 4], [5, 6, 7], [7, 8, 9, 10, 11], [13, 14, 15, 16, 19, 20], [21, 22]]
    dataset = D.from_generator(lambda: items, tf.int64, [None])
    options = {"bucket_boundaries": [3, 5], "bucket_batch_sizes": [2, 2, 2]}
    assert elements(dataset.bucket_by_sequence_length(lambda e: tf.shape(e)[0], **options)) == [
        [[1, 2, 3, 4], [5, 6, 7, 0]],
        [[7, 8, 9, 10, 11, 0], [13, 14, 15, 16, 19, 20]],
        [[0, 0], [21, 22]],
    ]
    with refuses(ValueError):
        dataset.bucket_by_sequence_length(lambda e: tf.shape(e)[0], [3, 5], [2, 2])


# Several datasets


def test_interleave_and_flat_map():
    def some(x):
        return D.from_tensors(x).repeat(6)

    wanted = [
        1, 1, 1, 1, 2, 2, 2, 2, 1, 1, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 3, 3, 4, 4, 5, 5, 5, 5, 5, 5
    ]  # fmt: skip
    options = {"cycle_length": 2, "block_length": 4}
    assert elements(D.range(1, 6).interleave(some, **options)) == wanted
    assert elements(D.range(1, 6).interleave(some, num_parallel_calls=2, **options)) == wanted
    uneven = D.range(6).interleave(
        lambda x: D.range(x * 10, x * 11), cycle_length=3, block_length=2
    )
    assert elements(uneven) == [10, 20, 21, 30, 31, 40, 41, 32, 42, 43, 50, 51, 52, 53, 54]
    assert elements(D.range(4).flat_map(D.range)) == [0, 0, 1, 0, 1, 2]
    for wrong in ({"cycle_length": 0}, {"block_length": 0}):
        with refuses(tf.errors.InvalidArgumentError):
            D.range(2).interleave(some, **wrong)


def test_choose_and_sample():
    a, b = D.from_tensors("a").repeat(2), D.from_tensors("b").repeat(3)
    turns = D.range(2).repeat(3)
    assert elements(D.choose_from_datasets([a, b], turns)) == [b"a", b"b", b"a", b"b"]
    goes_on = D.choose_from_datasets([a, b], turns, stop_on_empty_dataset=False)
    assert elements(goes_on) == [b"a", b"b", b"a", b"b", b"b"]
    with refuses(tf.errors.InvalidArgumentError):
        elements(D.choose_from_datasets([a, b], D.range(3)))
    with refuses(TypeError):
        D.choose_from_datasets([a, b], D.from_tensors(0))
    parts = [D.range(6), D.range(10, 16)]
    mixed = D.sample_from_datasets(parts, seed=1)
    assert elements(mixed) == elements(mixed)
    assert sorted(elements(mixed)) == [*range(6), *range(10, 16)]
    only = D.sample_from_datasets(parts, weights=[0.0, 1.0], seed=1)
    assert elements(only) == [*range(10, 16)]
    for wrong in (lambda: D.sample_from_datasets([]), lambda: D.sample_from_datasets(parts, [1.0])):
        with refuses(ValueError):
            wrong()


def test_concatenated_elements_must_be_alike():
    rows = D.from_tensors([1, 2]).concatenate(D.from_tensors([1]))
    assert rows.element_spec == spec([None], tf.int32)
    for other in (1.0, (1,)):
        with refuses(TypeError):
            D.from_tensors(1).concatenate(D.from_tensors(other))


# What one asks a dataset


CARDINALITIES = {
    "map": (lambda d: d.map(lambda x: x), 10, -1, -2),
    "filter": (lambda d: d.filter(lambda x: True), -2, -2, -2),
    "batch": (lambda d: d.batch(3), 4, -1, -2),
    "batch drop": (lambda d: d.batch(3, drop_remainder=True), 3, -1, -2),
    "padded_batch": (lambda d: d.padded_batch(3), 4, -1, -2),
    "take": (lambda d: d.take(4), 4, 4, -2),
    "take -1": (lambda d: d.take(-1), 10, -1, -2),
    "skip": (lambda d: d.skip(4), 6, -1, -2),
    "shard": (lambda d: d.shard(3, 1), 3, -1, -2),
    "repeat": (lambda d: d.repeat(3), 30, -1, -2),
    "repeat 0": (lambda d: d.repeat(0), 0, 0, 0),
    "repeat for ever": (lambda d: d.repeat(), -1, -1, -1),
    "shuffle": (lambda d: d.shuffle(3), 10, -1, -2),
    "cache": (lambda d: d.cache(), 10, -1, -2),
    "prefetch": (lambda d: d.prefetch(1), 10, -1, -2),
    "concatenate": (lambda d: d.concatenate(D.range(2)), 12, -1, -2),
    "enumerate": (lambda d: d.enumerate(), 10, -1, -2),
    "zip": (lambda d: D.zip((d, D.range(4))), 4, 4, -2),
    "flat_map": (lambda d: d.flat_map(D.range), -2, -2, -2),
    "interleave": (lambda d: d.interleave(D.range), -2, -2, -2),
    "window": (lambda d: d.window(3), 4, -1, -2),
    "unbatch": (lambda d: d.batch(2, drop_remainder=True).unbatch(), 10, -1, -2),
    "unbatch unknown": (lambda d: d.batch(3).unbatch(), -2, -1, -2),
    "scan": (lambda d: d.scan(0, lambda s, x: (s, x)), 10, -1, -2),
    "take_while": (lambda d: d.take_while(lambda x: True), -2, -2, -2),
    "unique": (lambda d: d.unique(), -2, -2, -2),
}


@pytest.mark.parametrize("name", CARDINALITIES)
def test_cardinality(name):
    step, finite, infinite, unclear = CARDINALITIES[name]
    assert count(step(D.range(10))) == finite
    assert count(step(D.range(10).repeat())) == infinite
    assert count(step(D.range(10).filter(lambda x: True))) == unclear


def test_length_and_truth():
    assert len(D.range(3)) == 3
    assert bool(D.range(0)) is True
    for dataset in (D.range(3).repeat(), unknown()):
        with refuses(TypeError):
            len(dataset)
    assert [int(x) for x in unknown()] == [0, 1, 2]
    assert D.range(3).cardinality().dtype == INT64


def test_iterators():
    iterator = iter(D.range(2))
    assert isinstance(iterator, tf.data.Iterator)
    assert iter(iterator) is iterator
    assert iterator.element_spec == spec([])
    assert int(iterator.get_next()) == 0
    optional = iterator.get_next_as_optional()
    assert bool(optional.has_value())
    assert int(optional.get_value()) == 1
    assert optional.element_spec == spec([])
    empty = iterator.get_next_as_optional()
    assert not bool(empty.has_value())
    with refuses(tf.errors.InvalidArgumentError):
        empty.get_value()
    with refuses(tf.errors.OutOfRangeError):
        iterator.get_next()
    with refuses(StopIteration):
        next(iterator)


def test_two_iterators_do_not_disturb_each_other():
    dataset = D.range(3).map(lambda x: x).batch(1)
    first, second = iter(dataset), iter(dataset)
    got = [int(next(i)[0]) for i in (first, first, second, first, second)]
    assert got == [0, 1, 0, 2, 1]


def test_datasets_are_compared_by_identity():
    dataset = D.range(3)
    assert dataset == dataset and dataset != D.range(3)
    assert len({dataset, dataset}) == 1


def test_single_elements():
    assert int(D.range(1).get_single_element()) == 0
    for wrong in (D.range(0), D.range(2)):
        with refuses(tf.errors.InvalidArgumentError):
            wrong.get_single_element()


def test_apply():
    assert elements(D.range(4).apply(lambda d: d.take(2))) == [0, 1]
    with refuses(TypeError):
        D.range(4).apply(lambda d: 3)


def test_representation():
    assert (
        repr(D.range(3))
        == "<_RangeDataset element_spec=TensorSpec(shape=(), dtype=tf.int64, name=None)>"
    )
    assert re.match(
        r"<_BatchDataset element_spec=\{'a': .*shape=\(None,\)",
        repr(D.from_tensor_slices({"a": [1]}).batch(2)),
    )


def test_specs_of_datasets():
    one = tf.data.DatasetSpec(spec([]))
    assert one == tf.data.DatasetSpec(spec([])) == tf.data.DatasetSpec.from_value(D.range(3))
    assert one.is_compatible_with(D.range(3))
    assert not one.is_compatible_with(D.from_tensors(1.0))
    assert D.range(4).window(2).element_spec == one
    assert repr(one).startswith("DatasetSpec(TensorSpec(shape=(), dtype=tf.int64")


# Settings


def test_options():
    options = tf.data.Options()
    assert options.deterministic is None
    assert options == tf.data.Options()
    options.deterministic = False
    options.threading.private_threadpool_size = 3
    options.autotune.enabled = False
    options.experimental_optimization.apply_default_optimizations = False
    options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.DATA
    options.experimental_external_state_policy = tf.data.experimental.ExternalStatePolicy.IGNORE
    dataset = D.range(3).with_options(options).map(lambda x: x)
    found = dataset.options()
    assert found.deterministic is False
    assert found.threading.private_threadpool_size == 3
    later = tf.data.Options()
    later.deterministic = True
    assert dataset.with_options(later).options().deterministic is True
    assert dataset.with_options(later).options().threading.private_threadpool_size == 3
    assert options.merge(later).deterministic is True
    assert D.range(3).options().deterministic is None
    assert elements(dataset) == [0, 1, 2]
    with refuses(ValueError):
        found.deterministic = True
    with refuses(AttributeError):
        options.colour = 1
    with refuses(TypeError):
        options.deterministic = "yes"
    with refuses(TypeError):
        tf.data.Options().threading.private_threadpool_size = "many"


def test_experimental_names():
    e = tf.data.experimental
    assert int(e.cardinality(D.range(3))) == 3
    assert e.AUTOTUNE == tf.data.AUTOTUNE == -1
    assert len(unknown().apply(e.assert_cardinality(3))) == 3
    assert elements(unknown().apply(e.assert_cardinality(3))) == [0, 1, 2]
    for wrong in (2, 5):
        with refuses(tf.errors.FailedPreconditionError):
            elements(D.range(3).apply(e.assert_cardinality(wrong)))
    assert int(e.get_single_element(D.range(1))) == 0
    assert e.get_structure(D.range(3)) == spec([])
    assert elements(e.from_list([(1, "a"), (2, "b")])) == [(1, b"a"), (2, b"b")]
    assert int(e.at(D.range(5).map(lambda x: x * 2), 2)) == 4
    with refuses(tf.errors.OutOfRangeError):
        e.at(D.range(5), 7)
    assert elements(D.range(3).apply(e.enumerate_dataset())) == [(0, 0), (1, 1), (2, 2)]
    padded = D.from_tensor_slices({"a": [1, 2]}).apply(e.pad_to_cardinality(3))
    assert elements(padded) == [
        {"a": 1, "valid": True},
        {"a": 2, "valid": True},
        {"a": 0, "valid": False},
    ]


def test_files(tmp_path):
    for name, text in (("a.txt", "one\ntwo\r\n\nend"), ("b.txt", "more\n")):
        (tmp_path / name).write_bytes(text.encode())
    pattern = str(tmp_path / "*.txt")
    names = elements(D.list_files(pattern, shuffle=False))
    assert names == [str(tmp_path / n).encode() for n in ("a.txt", "b.txt")]
    assert sorted(elements(D.list_files(pattern, seed=1))) == names
    lines = elements(tf.data.TextLineDataset([str(tmp_path / "a.txt"), str(tmp_path / "b.txt")]))
    assert lines == [b"one", b"two", b"", b"end", b"more"]
    with refuses(tf.errors.InvalidArgumentError):
        D.list_files(str(tmp_path / "*.csv"))
    with refuses(tf.errors.NotFoundError):
        elements(tf.data.TextLineDataset(str(tmp_path / "none.txt")))


def test_a_training_loop():
    x = np.arange(12, dtype=np.float32).reshape(6, 2)
    y = x.sum(axis=1, keepdims=True)
    dataset = D.from_tensor_slices((x, y)).shuffle(6, seed=1).batch(2).repeat(40).prefetch(1)
    w = tf.Variable([[0.0], [0.0]])
    losses = []
    for inputs, targets in dataset:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((inputs @ w - targets) ** 2)
        w.assign_sub(0.004 * tape.gradient(loss, w))
        losses.append(float(loss))
    assert len(losses) == 120
    np.testing.assert_allclose(w.numpy(), [[1.0], [1.0]], atol=0.1)


def test_a_class_that_makes_datasets():
    class Numbers(tf.data.Dataset):
        @staticmethod
        def _generator(number):
            yield from range(number)

        def __new__(cls, number=3):
            return tf.data.Dataset.from_generator(
                cls._generator, output_signature=tf.TensorSpec([], tf.int64), args=(number,)
            )

    assert elements(Numbers(2)) == [0, 1]


DATASETS = {
    "of a value": lambda n: D.from_tensors(tf.fill([n], 1.0)),
    "slices": lambda n: D.from_tensor_slices(tf.fill([n, 2], 1.0)),
    "range": lambda n: D.range(tf.cast(n, tf.int64)),
    "batches": lambda n: D.range(5).batch(2),
    "whole batches": lambda n: D.range(5).batch(2, drop_remainder=True),
    "mapped": lambda n: D.from_tensors(n).repeat(2).map(lambda k: tf.fill([k], 2)),
    "zipped": lambda n: D.zip((D.from_tensors(tf.fill([n], 1)), D.range(2))),
    "padded": lambda n: D.from_tensors(tf.fill([n], 1.0)).padded_batch(2),
}
ANNOUNCED = {
    "of a value": [None], "slices": [2], "range": [], "batches": [None], "whole batches": [2],
    "mapped": [None], "zipped": ([None], []), "padded": [None, None],
}  # fmt: skip


@pytest.mark.parametrize("name", DATASETS)
def test_datasets_made_of_elements_announce_what_holds_for_all(name: str) -> None:
    source = D.from_tensor_slices([1, 2, 3])
    for made in (source.flat_map(DATASETS[name]), source.interleave(DATASETS[name], 2)):
        spec = made.element_spec
        specs = spec if isinstance(spec, tuple) else (spec,)
        wanted = ANNOUNCED[name]
        shapes = wanted if isinstance(wanted, tuple) else (wanted,)
        assert [s.shape.as_list() for s in specs] == list(shapes)


def test_datasets_of_several_sizes_in_functions() -> None:
    made = D.from_tensor_slices([1, 2, 3]).flat_map(DATASETS["of a value"])

    @tf.function
    def total(data: Any) -> Any:
        found = 0.0
        for x in data:
            found += tf.reduce_sum(x)
        return found

    assert float(total(made)) == 6.0
    assert [x.to_list() for x in made.ragged_batch(3)] == [[[1.0], [1.0, 1.0], [1.0, 1.0, 1.0]]]

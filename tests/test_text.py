"""Characters, n-grams, crosses of features, and tables of words; the numbers are TensorFlow's."""
# Checkers take what functions give for ragged and sparse tensors for plain tensors.
# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import wengert as tf

S = tf.strings
INF = float("inf")


def test_characters_and_their_numbers() -> None:
    assert S.unicode_split(["ab", "hé", ""], "UTF-8").to_list() == [
        [b"a", b"b"], [b"h", "é".encode()], [],
    ]  # fmt: skip
    assert S.unicode_decode("hé", "UTF-8").numpy().tolist() == [104, 233]
    assert S.unicode_decode(b"a\xffb", "UTF-8").numpy().tolist() == [97, 65533, 98]
    assert S.unicode_decode(b"a\xffb", "UTF-8", errors="ignore").numpy().tolist() == [97, 98]
    points, places = S.unicode_decode_with_offsets(["hé!"], "UTF-8")
    assert points.to_list() == [[104, 233, 33]]
    assert places.to_list() == [[0, 1, 3]]
    assert S.unicode_encode(points, "UTF-8").numpy().tolist() == ["hé!".encode()]
    assert S.unicode_encode([104, 105], "UTF-8").numpy() == b"hi"
    assert S.unicode_transcode(["hé"], "UTF-8", "UTF-16-BE").numpy()[0] == b"\x00h\x00\xe9"


@pytest.mark.parametrize(
    ("data", "errors", "replacement", "no_controls", "points", "places"),
    [
        (b"a\xffb", "replace", 0xFFFD, False, [97, 0xFFFD, 98], [0, 1, 2]),
        (b"a\xffb", "ignore", 0xFFFD, False, [97, 98], [0, 2]),
        (b"\xe2\x82a", "replace", 65, False, [65, 97], [0, 2]),
        ("q\ufffdr".encode(), "replace", 65, False, [113, 0xFFFD, 114], [0, 1, 4]),
        (b"a\t\xffb", "replace", 65, True, [97, 65, 65, 98], [0, 1, 2, 3]),
        (b"a\t\xffb", "ignore", 65, True, [97, 98], [0, 3]),
        (b"a\tb", "strict", 65, True, [97, 65, 98], [0, 1, 2]),
    ],
)
def test_places_of_characters_beside_bad_bytes(
    data: bytes, errors: str, replacement: int, no_controls: bool, points: Any, places: Any
) -> None:
    found = S.unicode_decode_with_offsets(data, "UTF-8", errors, replacement, no_controls)
    assert [x.numpy().tolist() for x in found] == [points, places]
    text = S.unicode_transcode(data, "UTF-8", "UTF-32-BE", errors, replacement, no_controls)
    assert [ord(c) for c in text.numpy().decode("utf-32-be")] == points


def test_bad_text_is_refused() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="the bytes are no utf-8 text"):
        S.unicode_decode(b"a\xff", "UTF-8", errors="strict")
    with pytest.raises(ValueError, match="the encodings are UTF-8"):
        S.unicode_decode("a", "FOO")
    with pytest.raises(ValueError, match="`errors` is 'strict', 'replace' or 'ignore'"):
        S.unicode_split("a", "UTF-8", errors="none")
    with pytest.raises(tf.errors.InvalidArgumentError, match="`errors` is 'strict'"):
        S.unicode_transcode("a", "UTF-8", "UTF-8", errors="none")
    with pytest.raises(TypeError, match="an encoding is a string"):
        S.unicode_decode("a", 1)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="`replacement_char` must be one whole number"):
        S.unicode_decode("a", "UTF-8", replacement_char="a")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="-5 is no character"):
        S.unicode_encode([-5], "UTF-8", errors="strict")


def test_strings_are_cut_inside_functions() -> None:
    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
    def again(x: Any) -> Any:
        words = S.split(x)
        return words, S.reduce_join(words, axis=-1, separator="-")

    words, joined = again(["a b", "c"])
    assert words.to_list() == [[b"a", b"b"], [b"c"]]
    assert joined.numpy().tolist() == [b"a-b", b"c"]

    @tf.function
    def folder(path: Any) -> Any:
        return S.split(path, "/")[-2]

    assert folder("x/y/z").numpy() == b"y"


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1_000", None), ("٣", None), ("0x10", 16.0), ("0X1p3", 8.0), (" \t7\n", 7.0), ("1e400", INF),
        ("-Infinity", -INF), (".5", 0.5), ("5.", 5.0), ("", None), ("1 2", None), ("+-1", None),
    ],
)  # fmt: skip
def test_what_is_a_number(text: str, number: float | None) -> None:
    if number is None:
        with pytest.raises(tf.errors.InvalidArgumentError, match="is not a float64 number"):
            S.to_number(text, tf.float64)
    else:
        assert S.to_number(text, tf.float64).numpy() == number


@pytest.mark.parametrize("text", ["1_0", "0x10", "3000000000", "1.0"])
def test_what_is_no_whole_number(text: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="is not a int32 number"):
        S.to_number(text, tf.int32)


def test_numbers_as_text_in_every_type() -> None:
    assert S.as_string(tf.constant([1, 200], tf.uint8), fill="+").numpy().tolist() == [b"1", b"200"]
    halves = tf.constant([[1.5], [-2]], tf.bfloat16)
    assert S.as_string(halves).numpy().tolist() == [[b"1.500000"], [b"-2.000000"]]
    both = S.as_string(tf.constant([1 + 2j, complex(INF, 0)]), precision=1, width=5, fill="0")
    assert both.numpy().tolist() == [b"(001.0,002.0)", b"(  inf,000.0)"]
    assert S.as_string(tf.zeros([0, 3])).shape == (0, 3)


def test_ngrams() -> None:
    assert S.ngrams(["a", "b", "c"], [1, 2], separator="|").numpy().tolist() == [
        b"a", b"b", b"c", b"a|b", b"b|c",
    ]  # fmt: skip
    rows = tf.ragged.constant([["a", "b"], ["c"]])
    assert S.ngrams(rows, 2).to_list() == [[b"a b"], []]
    assert S.ngrams(["a", "b"], 3, pad_values=("L", "R"), padding_width=1).numpy().tolist() == [
        b"L a b", b"a b R",
    ]  # fmt: skip
    assert S.ngrams(["a"], 2, preserve_short_sequences=True).numpy().tolist() == [b"a"]
    joined = S.unsorted_segment_join(["a", "b", "c"], [0, 1, 0], 2, ":")
    assert joined.numpy().tolist() == [b"a:c", b"b"]


def test_neighbours_of_words_in_functions() -> None:
    pairs = tf.function(
        lambda x: S.ngrams(x, 2), input_signature=[tf.TensorSpec([None], tf.string)]
    )
    assert pairs(["a", "b", "c"]).numpy().tolist() == [b"a b", b"b c"]
    assert pairs([]).shape == (0,)


def test_strings_in_rows_are_changed_one_by_one() -> None:
    rows = tf.ragged.constant([["a"], ["b", "c"]])
    codes = tf.io.encode_base64(rows)
    assert codes.to_list() == [[b"YQ"], [b"Yg", b"Yw"]]
    assert tf.io.decode_base64(codes).to_list() == rows.to_list()
    assert tf.io.decode_compressed(rows).to_list() == rows.to_list()
    assert S.to_hash_bucket(rows, 5).to_list() == [[3], [0, 2]]


def test_hashes_of_old() -> None:
    words = ["a", "hello", "", "tensorflow is big text", "12345678", "1234567890123456"]
    assert S.to_hash_bucket(words, 1000).numpy().tolist() == [868, 938, 899, 471, 287, 771]
    assert S.to_hash_bucket([["a"], ["b"]], 3).numpy().tolist() == [[1], [1]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="`num_buckets` must be positive"):
        S.to_hash_bucket(words, 0)


def test_crosses_of_features() -> None:
    found = tf.sparse.cross([tf.constant([["a", "b"]]), tf.constant([["c", "d"]])])
    assert found.values.numpy().tolist() == [b"a_X_c", b"a_X_d", b"b_X_c", b"b_X_d"]
    mixed = [tf.constant([[1], [2], [3]]), tf.constant([["x"], ["y"], ["z"]])]
    assert tf.sparse.cross_hashed(mixed, 100).values.numpy().tolist() == [59, 4, 79]
    with pytest.raises(ValueError, match="the same number of rows; got 1 and 2"):
        tf.sparse.cross([tf.constant([["a"]]), tf.constant([["b"], ["c"]])])


@pytest.mark.parametrize(
    "hashed",
    [
        S.to_hash_bucket,
        S.to_hash_bucket_fast,
        lambda x, n: S.to_hash_bucket_strong(x, n, [3, 2**40 + 7]),
    ],
)
def test_many_strings_of_one_length_hash_as_each_alone(hashed: Any) -> None:
    random = np.random.default_rng(5)
    for n in [*range(140), 191, 192, 193, 300]:
        words = [random.bytes(n) for _ in range(20)]
        many = hashed(tf.constant(words).numpy().reshape(4, 5), 2**62)
        assert many.shape == (4, 5)
        assert many.numpy().ravel().tolist() == [int(hashed(w, 2**62)) for w in words]


def test_words_that_are_not_in_the_vocabulary() -> None:
    words = tf.lookup.KeyValueTensorInitializer(["a", "b"], tf.constant([0, 1], tf.int64))
    table = tf.lookup.StaticVocabularyTable(words, 3)
    assert table.lookup(tf.constant(["b", "a", "zz", "q"])).numpy().tolist() == [1, 0, 3, 4]
    assert int(table.size()) == 5
    assert tf.function(table.lookup)(tf.constant([["a"]])).numpy().tolist() == [[0]]
    with pytest.raises(ValueError, match="`num_oov_buckets` must be greater than 0"):
        tf.lookup.StaticVocabularyTable(words, 0)


def test_regular_expressions_may_be_tensors() -> None:
    words, patterns = tf.constant(["abc", "xyz"]), tf.constant(["a.*", "b.*"])
    match, replace = tf.strings.regex_full_match, tf.strings.regex_replace
    assert bool(match("abc", tf.constant("a.*")))
    rows = tf.map_fn(lambda x: match(x[0], x[1]), (words, patterns), fn_output_signature=tf.bool)
    assert rows.numpy().tolist() == [True, False]
    both = tf.function(lambda x, p: (match(x, p), replace(x, p, "<\\0>")))
    found = both(tf.constant(["abc", "b"]), tf.constant("[ab]"))
    assert found[0].numpy().tolist() == [False, True]
    assert found[1].numpy().tolist() == [b"<a><b>c", b"<b>"]
    with pytest.raises(tf.errors.InvalidArgumentError, match="no regular expression"):
        both(words, tf.constant("("))
    with pytest.raises(tf.errors.InvalidArgumentError, match="`pattern` must be one string"):
        match("a", patterns)


def test_texts_in_a_format_are_shown_as_tensors() -> None:
    assert tf.strings.format("{} {}", ("x", tf.constant(["y"]))).numpy() == b'"x" ["y"]'
    assert tf.strings.format("{}", [["a", "b"]]).numpy() == b'["a" "b"]'
    assert tf.strings.format("{}", (1.5,)).numpy() == b"1.5"


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ([[1.5, 2.5], [3.0, 4.0]], b"[[1.5 2.5]\n [3 4]]"),
        (list(range(20)), b"[0 1 2 ... 17 18 19]"),
        ([True, False], b"[1 0]"),
        (([1, 2], [3, 4]), b"[[1 2]\n [3 4]]"),
        ([1e10, 1e-7, 123456789.0], b"[1e+10 1e-07 123456792]"),
        (3.0, b"3"),
        (True, b"1"),
    ],
)
def test_numbers_in_a_format_are_shown_as_tensors(given: Any, text: bytes) -> None:
    assert S.format("{}", (given,)).numpy() == text
    inside = tf.function(lambda t: S.format("{}", ([t, 2],)))
    assert inside(tf.constant(1)).numpy() == b"[1 2]"


def test_a_format_shows_as_many_numbers_of_a_list_as_asked_for() -> None:
    assert S.format("{}", (list(range(9)),), summarize=2).numpy() == b"[0 1 ... 7 8]"
    with pytest.raises(ValueError, match="the same length"):
        S.format("{}", ([[1, 2], [3]],))


@pytest.mark.parametrize("empty", [[], [[]], [[], []]])
def test_empty_lists_take_the_type_of_the_argument(empty: Any) -> None:
    shape = np.shape(empty)
    for function, dtype in (
        (S.upper, tf.string),
        (S.lower, tf.string),
        (S.strip, tf.string),
        (S.length, tf.int32),
        (S.to_number, tf.float32),
        (lambda x: S.substr(x, 0, 1), tf.string),
        (lambda x: S.regex_replace(x, "a", "b"), tf.string),
        (lambda x: S.regex_full_match(x, "a"), tf.bool),
        (lambda x: S.to_hash_bucket_fast(x, 3), tf.int64),
        (lambda x: S.to_hash_bucket_strong(x, 3, [1, 2]), tf.int64),
        (lambda x: S.join([x, x]), tf.string),
        (lambda x: S.join([x, "a"]), tf.string),
    ):
        found = function(empty)
        assert (found.dtype, found.shape) == (dtype, shape)
    assert (tf.one_hot(empty, 3).dtype, tf.one_hot(empty, 3).shape) == (tf.float32, (*shape, 3))
    assert bool(tf.reduce_all(empty))
    assert not bool(tf.reduce_any(empty))
    for part in (*tf.dynamic_partition(empty, empty, 2), tf.dynamic_stitch([empty], [empty])):
        assert (part.dtype, part.shape) == (tf.float32, (0,))
    assert S.join([]).numpy() == b""
    with pytest.raises(TypeError, match="strings are needed"):
        S.upper([1.0])
    with pytest.raises(TypeError, match="float32 is not supported"):
        tf.reduce_all([1.0])


def test_one_string_of_a_tensor() -> None:
    x = tf.constant([["a", "b"], ["c", "d"]])
    for found in (tf.gather_nd(x, [1, 0]), tf.function(lambda: tf.gather_nd(x, [1, 0]))()):
        assert (found.dtype, found.shape, found.numpy()) == (tf.string, (), b"c")
    assert tf.gather_nd(x[0], [1]).numpy() == b"b"
    assert tf.gather_nd(x, [[1], [0]], batch_dims=1).numpy().tolist() == [b"b", b"c"]
    assert tf.dynamic_stitch([[0, 2]], [["a", "b"]]).numpy().tolist() == [b"a", b"", b"b"]
    assert tf.vectorized_map(tf.strings.upper, x[0]).numpy().tolist() == [b"A", b"B"]


PADDED: dict[str, tuple[Any, dict[str, Any], list[list[bytes]]]] = {
    "short rows keep the padding asked for": (
        5, {"pad_values": ("L", "R"), "padding_width": 1},
        [[b"L a b c R"], [b"L d R"], [], [b"L e f R"]],
    ),
    "short rows without padding": (5, {}, [[b"a b c"], [b"d"], [], [b"e f"]]),
    "only some rows are short": (
        4, {"pad_values": "P", "padding_width": 1},
        [[b"P a b c", b"a b c P"], [b"P d P"], [], [b"P e f P"]],
    ),
    "wide padding": (
        [5, 9], {"pad_values": "P", "padding_width": 2},
        [
            [b"P P a b c", b"P a b c P", b"a b c P P"], [b"P P d P P"], [],
            [b"P P e f P", b"P e f P P"],
        ],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PADDED)
def test_ngrams_of_short_sequences(name: str) -> None:
    width, options, want = PADDED[name]
    x = tf.ragged.constant([["a", "b", "c"], ["d"], [], ["e", "f"]])

    def f(x: Any) -> Any:
        return tf.strings.ngrams(x, width, preserve_short_sequences=True, **options)

    assert f(x).to_list() == tf.function(f)(x).to_list() == want


def test_ngrams_of_nothing() -> None:
    empty = tf.constant([], tf.string)
    assert tf.strings.ngrams(empty, 2, pad_values="P").shape == [0]
    rows = tf.RaggedTensor.from_row_lengths(empty, [0, 0])
    assert tf.strings.ngrams(rows, 2, pad_values="P").to_list() == [[], []]
    rows = tf.ragged.constant([["a"], []])
    assert tf.strings.ngrams(rows, 2, pad_values="P").to_list() == [[b"P a", b"a P"], [b"P P"]]

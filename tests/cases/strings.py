"""Cases for strings and checks; strings never compile and have no gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

import wengert as tf
from tests.cases import Case, normal, whole

WORDS = np.array([[b"ab", b" c "], [b"Xy", b"12"]], object)


def _text(name: str, call: Any, args: tuple[Any, ...], ref: Any) -> Case:
    return Case(name, call, args, ref, order=0, dtypes=("float64",), lowered=False)


def _map(f: Any) -> Any:
    def apply(x: np.ndarray) -> np.ndarray:
        out = np.empty(x.shape, object)
        for i in np.ndindex(x.shape):
            out[i] = f(x[i])
        return out

    return apply


LENGTHS = [0, 1, 3, 4, 7, 8, 16, 17, 32, 33, 64, 65, 128, 200]
LONG = [bytes((7 * i + n) % 251 for i in range(n)) for n in LENGTHS]
FAST = np.array(
    [
        397263,
        946686,
        907492,
        176104,
        663304,
        786728,
        602712,
        19727,
        670009,
        190125,
        45798,
        334845,
        9732,
        515949,
    ]
)
STRONG = np.array(
    [
        341606,
        493506,
        447820,
        975381,
        292500,
        448444,
        627200,
        736217,
        107311,
        92806,
        980558,
        274785,
        231546,
        629023,
    ]
)

CASES = [
    # As TensorFlow answers.
    Case("string_hash", lambda: tf.strings.to_hash_bucket_fast(LONG, 10**6), (), lambda: FAST, order=0,
         lowered=False),
    Case("string_hash_strong", lambda: tf.strings.to_hash_bucket_strong(LONG, 10**6, [1, -2]), (),
         lambda: STRONG, order=0, lowered=False),
    _text("string_join", lambda x: tf.strings.join([x, "!"], "-"), (WORDS,),
          _map(lambda v: v + b"-!")),
    _text("string_add", lambda x: x + "z", (WORDS,), _map(lambda v: v + b"z")),
    _text("reduce_join", lambda x: tf.strings.reduce_join(x, axis=1), (WORDS,),
          lambda x: np.array([b"ab c ", b"Xy12"], object)),
    _text("reduce_join_all", lambda x: tf.strings.reduce_join(x, separator=","), (WORDS,),
          lambda x: np.array(b"ab, c ,Xy,12", object)),
    _text("string_length", lambda x: tf.strings.length(x), (WORDS,),
          lambda x: np.array([[2, 3], [2, 2]], np.int32)),
    _text("string_lower", lambda x: tf.strings.lower(x), (WORDS,), _map(lambda v: v.lower())),
    _text("string_strip", lambda x: tf.strings.strip(x), (WORDS,), _map(lambda v: v.strip())),
    _text("substr", lambda x: tf.strings.substr(x, 1, 1), (WORDS,), _map(lambda v: v[1:2])),
    _text("regex_replace", lambda x: tf.strings.regex_replace(x, "[a-c]", "_"), (WORDS,),
          lambda x: np.array([[b"__", b" _ "], [b"Xy", b"12"]], object)),
    _text("regex_full_match", lambda x: tf.strings.regex_full_match(x, "[a-z]+"), (WORDS,),
          lambda x: np.array([[True, False], [False, False]])),
    _text("as_string", lambda x: tf.strings.as_string(x), (whole(2, 2),),
          _map(lambda v: str(v).encode())),
    _text("to_number", lambda x: tf.strings.to_number(x),
          (np.array([b"1.5", b"-2"], object),), lambda x: np.array([1.5, -2.0])),
    Case("check_numerics", lambda x: tf.debugging.check_numerics(x, "x") * x, (normal(3),),
         lambda x: x * x),
]  # fmt: skip

"""What `bad_indices_policy` asks for: index tuples outside are errors, or passed over."""

from __future__ import annotations

from typing import Any

from wengert.core import dtypes
from wengert.core.errors import invalid
from wengert.ops import public as tf


def ignores(name: str, policy: str) -> bool:
    """Whether index tuples outside are passed over; another policy than TensorFlow's is refused."""
    if policy not in ("", "DEFAULT", "ERROR", "IGNORE"):
        rule = f"`bad_indices_policy` {policy!r} is not supported"
        raise invalid(name, rule, help="Use 'ERROR' or 'IGNORE'.")
    return policy == "IGNORE"


def inside(i: Any, sizes: Any) -> tuple[Any, Any]:
    """Which index tuples lie within `sizes`, and the tuples with zeros in place of the others."""
    wide = tf.cast(i, dtypes.int64)
    good = tf.reduce_all(tf.logical_and(tf.greater_equal(wide, 0), tf.less(wide, sizes)), -1)
    return good, tf.where(tf.expand_dims(good, -1), i, 0)


def only(good: Any, rows: Any, rank: int, otherwise: Any) -> Any:
    """`rows` of slices of `rank` axes where `good`, else `otherwise`."""
    for _ in range(rank):
        good = tf.expand_dims(good, -1)
    return tf.where(good, rows, otherwise)

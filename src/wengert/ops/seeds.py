"""Seeds become states: the global seed, seeds of single operations, and seeds given by users.

A call's state has the number of the call in the upper half of its counter, so each call has
2**64 blocks of its own. Every draw goes through `replay.draw`, and so can be repeated. Eager
calls share the streams of the program; the places in a traced function that draw have their own
(`Places`), as in TensorFlow.
"""

from __future__ import annotations

import os
import zlib
from typing import Any

import numpy as np

from wengert.core import late_operations as late
from wengert.core import random_replay
from wengert.core.apply import apply, wrap
from wengert.core.context import get_state
from wengert.core.dtypes import nums, uint64
from wengert.core.errors import at_site, describe, require
from wengert.core.lazy_modules import lax
from wengert.core.locks import new_lock
from wengert.core.process_settings import PROCESS
from wengert.core.types import JaxArray, Op, ShapeDtype, Tensor, TensorLike, Value
from wengert.ops import philox
from wengert.ops.declare import integer_operand, must_fit
from wengert.ops.sizes import checked

# What stands for the global seed when only an operation has one.
_DEFAULT = 0x57454E47455254


class _Streams:
    """The global seed and, per stream, its key and the number of calls so far."""

    def __init__(self) -> None:
        self.lock = new_lock()
        self.seed: int | None = None
        self.calls: dict[Any, list[int]] = {}
        self.era = object()  # another one after each `set_seed`

    def next(self, kind: str, seed: int | None) -> np.ndarray:
        with self.lock:
            entry = self._entry(kind, seed)
            number = entry[1]
            entry[1] += 1
        return np.array([0, number, entry[0]], np.uint64)

    def next_at(self, places: Places, place: int, kind: str, seed: int | None) -> np.ndarray:
        """The next state of a place in a function."""
        if seed is None and self.seed is None:
            return self.next(kind, None)
        with self.lock:
            key, start = self._entry(kind, seed)
            if places.era is not self.era:
                places.era = self.era
                places.calls.clear()
            counter = None if seed is None else place
            number = places.calls.setdefault(counter, start if seed is None else 0)
            places.calls[counter] = number + 1
        return np.array([0, number, key], np.uint64)

    def _entry(self, kind: str, seed: int | None) -> list[int]:
        stream = None if seed is None else (kind, seed)
        entry = self.calls.get(stream)
        if entry is None:
            entry = self.calls[stream] = [self._key(kind, seed), 0]
        return entry

    def _key(self, kind: str, seed: int | None) -> int:
        if seed is None:
            return entropy() if self.seed is None else philox.mix(self.seed, 0, 1)[0]
        base = _DEFAULT if self.seed is None else self.seed
        return philox.mix(base, seed, zlib.crc32(kind.encode()) | 1 << 32)[0]

    def reset(self, seed: int | None) -> None:
        with self.lock:
            self.seed = seed
            self.calls.clear()
            self.era = object()

    def after_fork(self) -> None:
        """A child must not repeat its parent's unseeded numbers."""
        if self.seed is None:
            self.calls.pop(None, None)


class Places:
    """The calls so far of the places in one traced function that draw, since `set_seed`.

    Each place with a `seed` of its own counts for itself, so two of them with the same seed give
    the same sequence. The others take turns in one stream of the function, which starts where that
    of the program stands at the function's first call: two functions called one after the other
    give the same numbers, and none that the program drew before. Without a global seed they draw
    from the program's stream.
    """

    __slots__ = ("calls", "era")

    def __init__(self) -> None:
        self.era: object = None
        self.calls: dict[int | None, int] = {}

    def draw(self, place: int, kind: str, seed: int | None) -> np.ndarray:
        """The state for one call of the random operation at a place, new or played again."""
        if PROCESS.deterministic:
            need_seed(kind, seed)
        return random_replay.draw(lambda: _streams.next_at(self, place, kind, seed))


_streams = _Streams()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_streams.after_fork)


def need_seed(name: str, seed: TensorLike | None = None) -> None:
    """Refuses numbers that no seed fixes, where `enable_op_determinism` was asked for."""
    require(
        not PROCESS.deterministic or seed is not None or _streams.seed is not None,
        name,
        "random operations need a seed when determinism is enabled",
        help="Call tf.random.set_seed(1) first, or give `seed`.",
        kind=RuntimeError,
    )


def entropy() -> int:
    """64 bits from the operating system."""
    return int.from_bytes(os.urandom(8), "little")


def set_seed(seed: TensorLike | None) -> None:
    """Sets the global seed and starts every stream again.

    With a global seed the calls that follow give the same numbers in every run; an operation's
    own `seed` picks a stream of its own under it. Functions count for themselves (`Places`).
    Without a global seed an operation with `seed` repeats from run to run and one without does
    not. `None` forgets the global seed.

    Args:
        seed: a whole number, or `None`.

    Returns:
        Nothing.

    Raises:
        TypeError: it is something else.

    >>> tf.random.set_seed(7)
    >>> first = tf.random.normal([3])
    >>> tf.random.set_seed(7)
    >>> bool(tf.reduce_all(first == tf.random.normal([3])))
    True
    """
    _streams.reset(None if seed is None else _whole("set_seed", seed))


def _whole(name: str, seed: Any) -> int:
    if isinstance(seed, Value):
        seed = seed.numpy()
    try:
        return int(seed)
    except (TypeError, ValueError, OverflowError):
        raise at_site(
            TypeError(f"{name}: `seed` must be a whole number; got {describe(seed)}.")
        ) from None


def next_state(kind: str, seed: Any = None) -> Tensor:
    """The state for one call of a random operation, new or played again.

    Inside a function it is drawn anew for each call of the function.
    """
    number = None if seed is None else _whole(kind, seed)
    if PROCESS.deterministic:
        need_seed(kind, number)
    here = get_state()
    if here is not None and here.graph is not None:
        return here.graph.draw(kind, number)
    return wrap(random_replay.draw(lambda: draw(kind, number)))


def fixed_state(kind: str, seed: int) -> Tensor:
    """The state of an operation that gives the same numbers at each call with its `seed`."""
    return wrap(np.array([0, 0, _streams._key(kind, seed)], np.uint64))


def draw(kind: str, seed: int | None) -> np.ndarray:
    """The next state of a stream."""
    if PROCESS.deterministic:
        need_seed(kind, seed)
    return _streams.next(kind, seed)


def _derive_kernel(state: np.ndarray, turn: np.ndarray) -> np.ndarray:
    low, high, key = (int(s) for s in state)
    new, top = philox.mix(key, low ^ int(turn), high)
    return np.array([0, top, new], np.uint64)


def _lower_derive(state: JaxArray, turn: JaxArray) -> JaxArray:
    wide = lax.convert_element_type(turn, np.uint64)
    return _as_state(philox.lower_blocks(state[2], state[0] ^ wide, state[1]))


def _as_state(words: tuple[JaxArray, ...]) -> JaxArray:
    """A state from the four words of a block."""
    a, b, c, d = (lax.convert_element_type(w, np.uint64) for w in words)
    half = np.uint64(32)
    parts = (lax.full((), 0, np.uint64), c | d << half, a | b << half)
    return lax.concatenate([lax.reshape(p, (1,)) for p in parts], 0)


DERIVE = Op(
    "derive_state",
    "state turn",
    kernel=_derive_kernel,
    infer=lambda state, turn: state,
    lower=_lower_derive,
    grad=None,
    match=(),
    register=False,
)
late.DERIVE.fill(lambda state, turn: apply(DERIVE, state, turn))


def _seed_state_kernel(seed: np.ndarray) -> np.ndarray:
    must_fit(seed.shape == (2,), "seed")
    a, b = (int(s) for s in seed)
    key, high = philox.mix(a, b, 2)
    return np.array([0, high, key], np.uint64)


def _lower_seed_state(seed: JaxArray) -> JaxArray:
    wide = lax.convert_element_type(lax.convert_element_type(seed, np.int64), np.uint64)
    tag = lax.full((), 2, np.uint64)
    return _as_state(philox.lower_blocks(wide[0], wide[1], tag))


def _infer_seed_state(seed: ShapeDtype) -> ShapeDtype:
    require(
        seed.shape is None or (len(seed.shape) == 1 and seed.shape[0] in (None, 2)),
        "stateless random",
        "`seed` must have shape [2]",
        seed,
        help="Give two whole numbers.",
    )
    return ShapeDtype((3,), uint64)


SEED_STATE = Op(
    "seed_state",
    "seed",
    kernel=_seed_state_kernel,
    infer=_infer_seed_state,
    lower=checked(_lower_seed_state, _infer_seed_state),
    grad=None,
    accepts=nums("int32", "int64"),
)


def seed_state(seed: Any) -> Any:
    """The state that a user's pair of whole numbers stands for."""
    return apply(SEED_STATE, integer_operand(seed))

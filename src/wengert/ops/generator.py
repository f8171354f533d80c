"""`Generator`: a stream of random numbers whose state is a variable, and the global one."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert.core import dtypes, random_replay
from wengert.core import late_operations as late
from wengert.core.apply import apply, wrap
from wengert.core.context import building_graph, executing_eagerly
from wengert.core.convert import operand
from wengert.core.errors import (
    at_site,
    describe,
    require,
    unexpected,
)
from wengert.core.lazy_modules import lax
from wengert.core.locks import new_lock
from wengert.core.process_settings import PROCESS
from wengert.core.symbolic import SymbolicTensor, is_symbolic
from wengert.core.types import (
    Dim,
    DTypeLike,
    JaxArray,
    Op,
    ShapeDtype,
    ShapeLike,
    Tensor,
    TensorLike,
    Value,
    Variable,
)
from wengert.ops import distributions, philox
from wengert.ops import public as tf
from wengert.ops import random as functions
from wengert.ops.collectives import replica_id
from wengert.ops.declare import static_int
from wengert.ops.seeds import entropy

_WIDE = 0xFFFFFFFFFFFFFFFF
# Blocks set aside for each element drawn, as TensorFlow does: room for rejection samplers.
_ROOM = 256
_lock = new_lock()


def _advance_kernel(state: np.ndarray, count: np.ndarray) -> np.ndarray:
    return philox.advance(state.view(np.uint64), int(count) * _ROOM).view(np.int64)


def _lower_advance(state: JaxArray, count: JaxArray) -> JaxArray:
    """A sum of 128 bits: the sign of the step fills its upper half."""
    step = lax.convert_element_type(count, np.int64) * np.int64(_ROOM)
    wide = lax.bitcast_convert_type(state, np.uint64)
    low = wide[0] + lax.bitcast_convert_type(step, np.uint64)
    top = lax.bitcast_convert_type(step >> np.int64(63), np.uint64)
    carry = lax.convert_element_type(low < wide[0], np.uint64)
    # A step down borrows where it does not wrap around.
    high = wide[1] + top + carry
    parts = [lax.reshape(p, (1,)) for p in (low, high, wide[2])]
    return lax.bitcast_convert_type(lax.concatenate(parts, 0), np.int64)


# The state of a generator after so many numbers.
ADVANCE = Op(
    "advance",
    "state count",
    kernel=_advance_kernel,
    infer=lambda state, count: ShapeDtype((3,), dtypes.int64),
    lower=_lower_advance,
    grad=None,
    accepts=dtypes.nums("int32", "int64"),
    match=(),
    register=False,
)


def create_rng_state(seed: TensorLike, alg: str) -> Tensor:
    """The first state of a generator, `int64[3]`: the counter's two halves, then the key.

    A whole number becomes the key and, beyond 64 bits, the counter; a list of them is the state
    from its end.
    """
    functions.check_algorithm(alg)
    return wrap(_first_state(seed))


def _first_state(seed: Any) -> np.ndarray:
    if isinstance(seed, Value):
        seed = seed.numpy()
    try:
        parts = [int(s) for s in np.asarray(seed).reshape(-1)][:3] if np.ndim(seed) else []
        whole = 0 if parts else int(seed)
    except (TypeError, ValueError, OverflowError):
        kind = ValueError if isinstance(seed, list | tuple) or seed is None else TypeError
        raise at_site(
            kind(f"Generator: a seed is a whole number or a list of them; got {describe(seed)}.")
        ) from None
    numbers = [0] * (3 - len(parts)) + parts if parts else [whole >> 64, whole >> 128, whole]
    return np.array([n & _WIDE for n in numbers], np.uint64).view(np.int64)


class Generator:
    """A stream of random numbers: `g = tf.random.Generator.from_seed(1); g.normal([3])`.

    Each call moves the state on, so it gives new numbers; the same state gives the same numbers.
    """

    def __init__(
        self,
        copy_from: Generator | None = None,
        state: Value | list[int] | None = None,
        alg: int | str | None = None,
    ) -> None:
        if copy_from is not None:
            if alg is not None or state is not None:
                raise at_site(ValueError("Generator: give `copy_from`, or `state` and `alg`."))
            if not isinstance(copy_from, Generator):
                raise unexpected("Generator", "a generator to copy", copy_from)
            state, alg = copy_from.state, copy_from.algorithm
        if state is None or alg is None:
            raise at_site(
                ValueError(
                    "Generator: give `state` and `alg`, or use Generator.from_seed or "
                    "Generator.from_non_deterministic_state."
                )
            )
        self._alg = functions.check_algorithm(alg)
        self._state_var = Variable(_state_array(state), trainable=False, name="StateVar")

    def __repr__(self) -> str:
        state = self._state_var
        shown = state.numpy().tolist() if executing_eagerly() else "of a trace"
        return f"<Generator {functions.Algorithm(self._alg).name.lower()}: state {shown}>"

    @classmethod
    def from_state(cls, state: list[int] | Variable, alg: str) -> Generator:
        """A generator that goes on from a state."""
        return cls(state=state, alg=alg)

    @classmethod
    def from_seed(cls, seed: int | str, alg: Any = None) -> Generator:
        """A generator whose numbers follow from a seed."""
        return cls(state=create_rng_state(seed, alg or "auto_select"), alg=alg or "auto_select")

    @classmethod
    def from_non_deterministic_state(cls, alg: Any = None) -> Generator:
        """A generator seeded by the operating system."""
        _need_repeatable("Generator.from_non_deterministic_state", "Use Generator.from_seed.")
        return cls(state=[0, 0, _signed(entropy())], alg=alg or "auto_select")

    @classmethod
    def from_key_counter(cls, key: int, counter: list[int], alg: str) -> Generator:
        """A generator with this key, at this counter (two numbers)."""
        return cls(state=_joined(key, counter), alg=alg)

    @property
    def state(self) -> Variable:
        return self._state_var

    @property
    def algorithm(self) -> int:
        return self._alg

    @property
    def key(self) -> Tensor:
        return self._state_var.value()[2]

    def reset(self, state: TensorLike) -> None:
        """Goes to a state."""
        self._state_var.assign(state if is_symbolic(state) else _state_array(state))

    def reset_from_seed(self, seed: int) -> None:
        """Goes to the state that `from_seed` would start with."""
        self._state_var.assign(_traced_state(seed) if is_symbolic(seed) else _first_state(seed))

    def reset_from_key_counter(self, key: int, counter: list[int]) -> None:
        """Goes to this key and counter."""
        self._state_var.assign(_state_array(_joined(key, counter)))

    def skip(self, delta: int) -> Tensor:
        """Moves on as if `delta` numbers had been drawn; returns the state before."""
        before = random_replay.draw(lambda: self._advance(delta))
        return before if is_symbolic(before) else wrap(before)

    def _advance(self, count: int | Dim) -> Tensor | np.ndarray:
        """Moves on; the state before, as an array or, in a function, a tensor."""
        if not executing_eagerly():
            before = self._state_var.read_value()
            self._state_var.assign(apply(ADVANCE, before, operand(count, None, dtypes.int64)))
            return before
        with _lock:
            before = self._state_var._array.copy()
            after = _advance_kernel(before, static_int("skip", count, "delta"))  # type: ignore[arg-type]  # a number, too
            self._state_var.assign(after)
        return before

    def _draw(self, shape: tuple[int, ...] | tuple[int | Dim, ...]) -> Tensor:
        """The state for a call that makes `shape` numbers, new or played again."""
        before = random_replay.draw(lambda: self._advance(math.prod(shape)))
        if not is_symbolic(before):
            return wrap(before.view("u8"))
        state = tf.bitcast(before, dtypes.uint64)
        here = building_graph()
        if here is None or not here.in_replica():
            return state
        return late.DERIVE.call(state, replica_id())  # each replica has numbers of its own

    def uniform(
        self, shape: Any, minval: int | None = 0, maxval: int | None = None, dtype: DTypeLike = dtypes.float32,
        name: str | None = None,
    ) -> Any:  # fmt: skip
        """Uniform numbers in [minval, maxval); whole ones over all bits without limits."""
        full = functions.sizes("Generator.uniform", shape)
        kind = dtypes.as_dtype(dtype)
        require(
            not kind.is_integer or (minval is None) == (maxval is None),
            "Generator.uniform",
            lambda: (
                "whole numbers need both `minval` and `maxval`, or neither; got "
                f"minval={describe(minval)} and maxval={describe(maxval)}"
            ),
            kind=ValueError,
        )
        return functions.between("uniform", self._draw(full), full, minval, maxval, kind)

    def uniform_full_int(
        self, shape: Any, dtype: DTypeLike = dtypes.uint64, name: Any = None
    ) -> Any:
        """Whole numbers over all the bits of their type."""
        full = functions.sizes("Generator.uniform_full_int", shape)
        kind = dtypes.as_dtype(dtype)
        require(
            kind.name in ("int32", "int64", "uint32", "uint64"),
            "uniform_full_int",
            f"`dtype` must be int32, int64, uint32 or uint64; got {kind.name}",
        )
        return distributions.random_bits(self._draw(full), full, kind)

    def normal(
        self, shape: Any, mean: float = 0.0, stddev: Any = 1.0, dtype: DTypeLike = dtypes.float32,
        name: str | None = None,
    ) -> Tensor:  # fmt: skip
        """Normal numbers."""
        full = functions.sizes("Generator.normal", shape)
        kind = functions.float_dtype("Generator.normal", dtype)
        noise = distributions.standard_normal(self._draw(full), full, kind)
        return functions.scaled(noise, mean, stddev)

    def truncated_normal(
        self, shape: Any, mean: float = 0.0, stddev: Any = 1.0, dtype: DTypeLike = dtypes.float32,
        name: str | None = None,
    ) -> Tensor:  # fmt: skip
        """Normal numbers, none further than two deviations from the mean."""
        full = functions.sizes("Generator.truncated_normal", shape)
        kind = functions.float_dtype("Generator.truncated_normal", dtype)
        noise = distributions.standard_truncated(self._draw(full), full, kind)
        return functions.scaled(noise, mean, stddev)

    def binomial(
        self,
        shape: ShapeLike,
        counts: float,
        probs: list[float],
        dtype: DTypeLike = dtypes.int32,
        name: str | None = None,
    ) -> Tensor:
        """Successes among `counts` trials of probability `probs`."""
        full = functions.sizes("Generator.binomial", shape)
        state = self._draw(full)
        return functions.successes("Generator.binomial", full, state, counts, probs, dtype)

    def make_seeds(self, count: int = 1) -> Tensor:
        """`int64[2, count]`: a seed for a stateless function in each column."""
        row = self.uniform_full_int((static_int("make_seeds", count, "count"),), dtypes.int64)
        return tf.stack([row, tf.zeros_like(row)])

    def split(self, count: int = 1) -> list[Generator]:
        """`count` generators with keys drawn from this one."""
        keys = self.uniform_full_int((static_int("split", count, "count"),), dtypes.int64).numpy()
        return [Generator(state=[0, 0, int(k)], alg=self._alg) for k in keys]


def _traced_state(seed: SymbolicTensor) -> Tensor:
    """`_first_state` for a seed that is known when the function runs."""
    parts = tf.reshape(tf.cast(seed, dtypes.int64), (-1,))[:3]
    known = seed._array.shape
    given = 1 if not known else min(known[0], 3)
    return tf.concat([np.zeros(3 - given, np.int64), parts], 0)


def _signed(number: int) -> int:
    return number - (1 << 64) if number >> 63 else number


def _joined(key: int, counter: list[int]) -> list[int]:
    halves = _known(counter).astype(np.int64).reshape(-1)
    number = _known(key)
    try:
        return [*halves.tolist(), int(number.reshape(()))]
    except (TypeError, ValueError, OverflowError):
        raise at_site(
            TypeError(f"Generator: `key` must be a whole number; got {describe(key)}.")
        ) from None


def _known(number: TensorLike) -> np.ndarray:
    """The array of a state or of its parts, which no trace can hand over."""
    x = operand(number, None, dtypes.int64)
    require(
        not is_symbolic(x),
        "Generator",
        "in a function the state of a new generator must be known",
        x,
        help="Make the generator outside, and call its `reset` inside.",
        kind=ValueError,
    )
    return np.asarray(x._array)


def _state_array(state: TensorLike) -> np.ndarray:
    array = _known(state)
    require(
        array.shape == (3,) and array.dtype.kind in "iu",
        "Generator",
        "a state is int64[3], the counter's two halves and the key",
        array,
        kind=ValueError,
    )
    return array.astype(np.int64)


class _Shared:
    """The generator that the program shares, once there is one."""

    generator: Generator | None = None


def _need_repeatable(name: str, help: str) -> None:
    require(
        not PROCESS.deterministic,
        name,
        "its numbers differ from run to run, and determinism is enabled",
        help=help,
        kind=RuntimeError,
    )


def get_global_generator() -> Generator:
    """The generator that the program shares; made from entropy when first asked for."""
    with _lock:
        if _Shared.generator is None:
            _need_repeatable("get_global_generator", "Call tf.random.set_global_generator first.")
            _Shared.generator = Generator.from_non_deterministic_state()
        return _Shared.generator


def set_global_generator(generator: Generator) -> None:
    """Puts another generator in the place of the shared one."""
    with _lock:
        _Shared.generator = generator

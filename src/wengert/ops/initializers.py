"""The initializers at the root of `tf`: callables that make a first value for a variable."""

from __future__ import annotations

from typing import Any

from wengert.ops.cast import cast
from wengert.ops.create import constant, ones, zeros
from wengert.ops.declare import at_site, dtypes, require
from wengert.ops.random import normal, uniform


class Initializer:
    """The base: called with a shape and a dtype, it returns a tensor.

    A part of a larger value is made of `partition_shape`; where it lies does not matter.
    """

    def get_config(self) -> dict[str, Any]:
        return dict(vars(self))

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Initializer:
        return cls(**config)


def _extent(shape: Any, options: dict[str, Any]) -> Any:
    """The shape to make: that of the part, where one is asked for."""
    for name in options:
        if name not in ("partition_shape", "partition_offset"):
            raise at_site(
                TypeError(
                    f"initializer: there is no argument {name!r}. Give `shape` and `dtype`, or "
                    "`partition_shape` and `partition_offset`."
                )
            )
    return options.get("partition_shape", shape)


class zeros_initializer(Initializer):
    """Zeros."""

    def __call__(self, shape: Any, dtype: Any = dtypes.float32, **kwargs: Any) -> Any:
        return zeros(_extent(shape, kwargs), dtype)


class ones_initializer(Initializer):
    """Ones."""

    def __call__(self, shape: Any, dtype: Any = dtypes.float32, **kwargs: Any) -> Any:
        return ones(_extent(shape, kwargs), dtype)


class constant_initializer(Initializer):
    """A given value, spread over the shape if it is a scalar."""

    def __init__(self, value: int = 0, support_partition: bool = False) -> None:
        self.value = value
        self._in_parts = support_partition

    def get_config(self) -> dict[str, Any]:
        return {"value": self.value}

    def __call__(self, shape: Any, dtype: Any = None, **kwargs: Any) -> Any:
        _extent(shape, kwargs)
        require(
            not kwargs or self._in_parts,
            "constant_initializer",
            "a part needs `support_partition=True`",
            kind=ValueError,
        )
        return constant(self.value, dtype, shape)


class random_normal_initializer(Initializer):
    """Normal random numbers."""

    def __init__(self, mean: float = 0.0, stddev: float = 0.05, seed: int | None = None) -> None:
        self.mean, self.stddev, self.seed = mean, stddev, seed

    def __call__(self, shape: Any, dtype: Any = dtypes.float32, **kwargs: Any) -> Any:
        return normal(_extent(shape, kwargs), self.mean, self.stddev, dtype, self.seed)


class random_uniform_initializer(Initializer):
    """Uniform random numbers."""

    def __init__(
        self, minval: float = -0.05, maxval: float = 0.05, seed: int | None = None
    ) -> None:
        self.minval, self.maxval, self.seed = minval, maxval, seed

    def __call__(self, shape: Any, dtype: Any = dtypes.float32, **kwargs: Any) -> Any:
        shape, kind = _extent(shape, kwargs), dtypes.as_dtype(dtype)
        if kind.is_integer:
            low, high = int(self.minval), int(self.maxval)
            return uniform(shape, low, high, kind, self.seed)
        return cast(uniform(shape, self.minval, self.maxval, kind, self.seed), kind)

"""Composites that operations take: what stands for their array, and how the door tells them apart.

`convert.operand` hands them on as they are. In the place of an array they have a `StandIn`, of no
dtype that an operation takes, so the door comes to its slow branch with them and asks `ANSWER`
there; dense tensors pay nothing for that. Whatever else looks at the stand-in gets an error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from wengert.core.composite import CompositeTensor
from wengert.core.dtypes import DType
from wengert.core.errors import at_site
from wengert.core.hooks import Hook
from wengert.core.op import Op

# What an operation gives for inputs of which some are composites.
ANSWER: Hook[Callable[[Op, tuple[Any, ...], dict[str, Any]], Any]] = Hook(
    "operation on composites", "wengert.composite.rules"
)


class CompositeArgument(ValueError, TypeError, AttributeError):
    """A composite where a dense tensor is needed; `hasattr` takes the `AttributeError` for a no."""

    def __init__(self, message: str, value: CompositeOperand) -> None:
        super().__init__(message)
        self.value = value


class StandIn:
    """Stands for the array of a composite, which has none."""

    __slots__ = ("_value",)
    num = -1  # of the dtype

    def __init__(self, value: CompositeOperand) -> None:
        self._value = value

    @property
    def dtype(self) -> StandIn:
        return self

    def __getattr__(self, name: str) -> NoReturn:
        raise self._value.not_dense()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NoReturn:
        raise self._value.not_dense()


class CompositeOperand(CompositeTensor):
    """The base of composites that operations take."""

    @property
    def dtype(self) -> DType:
        raise NotImplementedError

    @property
    def _array(self) -> StandIn:
        return StandIn(self)

    @property
    def ndim(self) -> NoReturn:
        raise self.not_dense()

    def __tf_tensor__(self, dtype: Any = None, name: Any = None) -> Any:
        raise self.not_dense()

    def not_dense(self) -> CompositeArgument:
        """The error for a composite where a dense tensor is needed."""
        what = f"convert_to_tensor: a {type(self).__name__} is not one dense tensor"
        return at_site(CompositeArgument(f"{what}. {self._remedy()}", self))

    def _as_text(self, summarize: int) -> str:
        """What `tf.print` shows."""
        raise NotImplementedError

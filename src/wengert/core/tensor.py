"""`Tensor`, an immutable array that knows its call site, and the id clock.

`Value` is what tensors and variables share: an array, an id, and the operators, which the
room of operations installs. Ids come from one process-wide counter, so they also tell time.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from wengert.core import dtypes
from wengert.core.context import get_state
from wengert.core.dtypes import DType
from wengert.core.errors import at_site, describe, exhausted
from wengert.core.hooks import Hook
from wengert.core.shapes import TensorShape
from wengert.core.sites import RawSite

if TYPE_CHECKING:
    from wengert.core.types import Dim, JaxArray, NumpyValue, ShapeLike
    from wengert.ops.row_list import Rows


new_id = itertools.count(1).__next__


class Value:
    """The common base of `Tensor` and `Variable`."""

    __slots__ = ("__dict__", "__weakref__", "_array", "_id")

    _array: np.ndarray
    _id: int
    # NumPy must hand mixed expressions to us instead of looping over the elements.
    __array_priority__ = 100

    if TYPE_CHECKING:  # installed by `ops.operators`

        def __add__(self, other: Any) -> Tensor: ...
        def __neg__(self) -> Tensor: ...
        def __getitem__(self, index: Any) -> Any: ...
        def __iter__(self) -> Iterator[Any]: ...
        def __eq__(self, other: object) -> Any: ...  # elementwise
        def __ne__(self, other: object) -> Any: ...

        __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __add__
        __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __pow__ = __rpow__ = __add__
        __matmul__ = __rmatmul__ = __and__ = __rand__ = __or__ = __ror__ = __xor__ = __add__
        __rxor__ = __lt__ = __le__ = __gt__ = __ge__ = __add__
        __abs__ = __invert__ = __neg__

    @property
    def dtype(self) -> DType:
        return dtypes.BY_NUM[self._array.dtype.num]

    @property
    def shape(self) -> TensorShape:
        return TensorShape(self._array.shape)

    def get_shape(self) -> TensorShape:
        return self.shape

    @property
    def ndim(self) -> int:
        return self._array.ndim

    @property
    def device(self) -> str:
        return full_name(None)

    def _snapshot(self) -> Any:
        """What to keep of it for a gradient: of a variable, its present value."""
        return self

    def numpy(self) -> NumpyValue:
        """The value as a NumPy array of its own, or a NumPy scalar for rank 0."""
        array: Any = self._array
        try:
            return array.copy() if array.ndim else array[()]
        except MemoryError as error:  # of a broadcast tensor, which takes no memory itself
            raise exhausted("numpy", error) from None

    def ref(self) -> Reference:
        """A hashable handle, since tensors compare element by element."""
        return Reference(self)

    experimental_ref = ref

    def __array__(self, dtype: np.dtype | None = None, copy: bool | None = None) -> np.ndarray:
        if copy or (dtype is not None and np.dtype(dtype) != self._array.dtype):
            try:
                return np.array(self._array, dtype)
            except MemoryError as error:
                raise exhausted("numpy", error) from None
        view = self._array.view()
        view.flags.writeable = False
        return view

    def __buffer__(self, flags: int) -> memoryview:
        """The memory of the value, to be read only; `memoryview` asks from Python 3.12 on."""
        return self.__array__().data

    def __bytes__(self) -> bytes:
        return self.__array__().tobytes()

    def __dlpack__(self, **kwargs: Any) -> Any:
        # NumPy refuses to export read-only arrays to old consumers; a copy is always safe.
        return self._array.copy().__dlpack__(**kwargs)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._array.__dlpack_device__()

    def __setitem__(self, index: int, value: float | Dim | Value) -> None:
        kind, help = "Tensor", "Tensors never change: use tf.tensor_scatter_nd_update or tf.where"
        if not isinstance(self, Tensor):
            kind, help = "Variable", "Write v[i].assign(x)"
        raise at_site(TypeError(f"{kind!r} object does not support item assignment. {help}."))

    def __delitem__(self, index: int) -> None:
        raise at_site(TypeError("'Tensor' object does not support item deletion. Use tf.concat."))

    def __len__(self) -> int:
        if not self._array.ndim:
            raise at_site(TypeError("len: a scalar tensor has no length. Use tf.size(x)."))
        return len(self._array)

    def __bool__(self) -> bool:
        if not self._array.size:
            return False  # as in TensorFlow, and of a list
        if self._array.size != 1:
            raise at_site(
                ValueError(
                    f"bool: the truth of a tensor with {self._array.size} elements is ambiguous; "
                    f"got {describe(self)}. Use tf.reduce_any or tf.reduce_all."
                )
            )
        return bool(self._array.reshape(()).item())

    @property
    def graph(self) -> Any:
        """The graph being traced, of which this is a constant; outside functions there is none."""
        state = get_state()
        if state is None or state.graph is None:
            text = "Tensor: `graph` belongs to functions; here operations run at once."
            raise at_site(AttributeError(text, name="graph", obj=None))
        return state.graph

    __nonzero__ = __bool__  # its name in Python 2, by which libraries copy it

    def __int__(self) -> int:
        return int(self._real("int"))

    def __float__(self) -> float:
        return float(self._real("float"))

    def __complex__(self) -> complex:
        return complex(self._single("complex"))

    def __index__(self) -> int:
        if self._array.dtype.kind not in "iu" or self._array.ndim:
            raise at_site(
                TypeError(
                    f"index: only an integer scalar tensor is an index; got {describe(self)}. "
                    f"Cast it with tf.cast(x, tf.int32)."
                )
            )
        return int(self._array)

    def _single(self, what: str) -> Any:
        if self._array.size != 1:
            raise at_site(
                TypeError(
                    f"{what}: only a tensor with one element is a number; got {describe(self)}. "
                    f"Reduce it or pick an element first."
                )
            )
        return self._array.reshape(()).item()

    def _real(self, what: str) -> Any:
        """The one element; of a complex tensor the real part, if that is all of it."""
        result = self._single(what)
        return result.real if type(result) is complex and not result.imag else result

    def __round__(self, digits: int | None = None) -> Any:
        return round(self._single("round"), digits)

    def __format__(self, spec: str) -> str:
        if spec and self._array.ndim:
            raise at_site(
                TypeError(
                    f"format: only a scalar can be formatted by {spec!r}; got {describe(self)}. "
                    f"Pick an element, or print the tensor."
                )
            )
        return format(self._array[()] if not self._array.ndim else str(self._array), spec)

    __hash__ = None  # type: ignore[assignment]  # `==` is elementwise; see `ref`


class Tensor(Value):
    """An immutable array; every operation on it makes a new one."""

    __slots__ = ("_site",)

    _site: RawSite | None

    # Which operators libraries put on classes of their own.
    OVERLOADABLE_OPERATORS = frozenset(
        f"__{name}__"
        for name in [
            "abs",
            "add",
            "and",
            "eq",
            "floordiv",
            "ge",
            "getitem",
            "gt",
            "invert",
            "le",
            "lt",
            "matmul",
            "mod",
            "mul",
            "ne",
            "neg",
            "or",
            "pow",
            "radd",
            "rand",
            "rfloordiv",
            "rmatmul",
            "rmod",
            "rmul",
            "ror",
            "rpow",
            "rsub",
            "rtruediv",
            "rxor",
            "sub",
            "truediv",
            "xor",
        ]
    )

    if TYPE_CHECKING:  # installed by `ops.array_methods`
        T: Any
        size: int
        nbytes: int
        itemsize: int
        all: Callable[..., Any]
        any: Callable[..., Any]
        argmax: Callable[..., Any]
        argmin: Callable[..., Any]
        argsort: Callable[..., Any]
        astype: Callable[..., Any]
        clip: Callable[..., Any]
        conj: Callable[..., Any]
        copy: Callable[..., Any]
        cumprod: Callable[..., Any]
        cumsum: Callable[..., Any]
        dot: Callable[..., Any]
        flatten: Callable[..., Any]
        item: Callable[..., Any]
        max: Callable[..., Any]
        mean: Callable[..., Any]
        min: Callable[..., Any]
        prod: Callable[..., Any]
        ravel: Callable[..., Any]
        repeat: Callable[..., Any]
        reshape: Callable[..., Any]
        round: Callable[..., Any]
        squeeze: Callable[..., Any]
        std: Callable[..., Any]
        sum: Callable[..., Any]
        swapaxes: Callable[..., Any]
        tolist: Callable[..., Any]
        transpose: Callable[..., Any]
        var: Callable[..., Any]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise TypeError("Tensor: make tensors with tf.constant or tf.convert_to_tensor.")

    @property
    def name(self) -> str:
        raise AttributeError("Tensor.name is meaningless for an eager tensor. Name variables.")

    def set_shape(self, shape: ShapeLike) -> None:
        if not self.shape.is_compatible_with(shape):
            raise at_site(
                ValueError(f"set_shape: {TensorShape(shape)} does not fit the shape {self.shape}.")
            )

    def cpu(self) -> Tensor:
        return self

    def gpu(self, gpu_index: int = 0) -> Tensor:
        return self

    def __reduce__(self) -> Any:
        return _restore, (self._array,)

    def __copy__(self) -> Tensor:
        return self

    def __deepcopy__(self, memo: Any) -> Tensor:
        return self

    def __repr__(self) -> str:
        return (
            f"<tf.Tensor: shape={self.shape}, dtype={self.dtype.name}, "
            f"numpy={show_array(self._array)}>"
        )

    def __str__(self) -> str:
        text = _plain(self._array)
        return f"tf.Tensor({text}, shape={self.shape}, dtype={self.dtype.name})"


class DeviceTensor(Tensor):
    """The result of a compiled function on an accelerator, fetched when somebody looks."""

    __slots__ = ("_device", "_host")

    _device: Any
    _host: np.ndarray | None

    @classmethod
    def make(cls, array: Any, site: RawSite | None) -> DeviceTensor:
        """A tensor for an array of JAX."""
        out = object.__new__(cls)
        out._device, out._host = array, None
        out._id = new_id()
        out._site = site
        return out

    @property
    def _array(self) -> np.ndarray:  # type: ignore[override]  # a slot of the base class
        host = self._host
        if host is None:
            host = self._host = np.asarray(self._device)
        return host

    @property
    def dtype(self) -> DType:
        return dtypes.BY_NUM[self._device.dtype.num]

    @property
    def shape(self) -> TensorShape:
        return TensorShape(self._device.shape)

    @property
    def ndim(self) -> int:
        return self._device.ndim

    @property
    def device(self) -> str:
        return full_name(DEVICE_NAME.call(self._device))

    def cpu(self) -> Tensor:
        """The same value as a tensor in NumPy's memory."""
        return _restore(self._array)


class FreshTensor(Tensor):
    """The result of a compiled function on the CPU: an ordinary tensor as soon as somebody looks.

    Until then its array is JAX's; turning that into NumPy's takes as long as a small kernel.
    """

    __slots__ = ()

    @property
    def _array(self) -> np.ndarray:  # type: ignore[override]  # a slot of the base class
        array = np.asarray(_get_array(self))
        _put_array(self, array)
        self.__class__ = Tensor  # type: ignore[assignment]  # one has the slots of the other
        return array


_get_array = Value.__dict__["_array"].__get__
_put_array = Value.__dict__["_array"].__set__
_new = object.__new__


def fresh(array: JaxArray | np.generic | Rows, site: RawSite | None) -> FreshTensor:
    """A tensor of an array of JAX on the CPU."""
    out = _new(FreshTensor)
    _put_array(out, array)
    out._id = new_id()
    out._site = site
    return out


# The name of the accelerator that an array of JAX is on, `None` for the CPU.
DEVICE_NAME: Hook[Callable[[Any], str | None]] = Hook("device name", "wengert.engines.devices")


def full_name(device: str | None) -> str:
    """The name of a device, such as `GPU:0`, as TensorFlow spells it out."""
    return f"/job:localhost/replica:0/task:0/device:{device or 'CPU:0'}"


class Reference:
    """A hashable handle of a tensor or variable: equal for the same object only.

    Handles are ordered by age, so that they can be the keys of a dict in a nest.
    """

    __slots__ = ("__weakref__", "_value")

    def __init__(self, value: Value) -> None:
        self._value = value

    def deref(self) -> Value:
        return self._value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Reference) and self._value is other._value

    def __hash__(self) -> int:
        return id(self._value)

    def __lt__(self, other: object) -> bool:
        if not isinstance(other, Reference):
            return NotImplemented
        return (self._value._id, id(self._value)) < (other._value._id, id(other._value))

    def __gt__(self, other: object) -> bool:
        return other < self if isinstance(other, Reference) else NotImplemented

    def __repr__(self) -> str:
        return f"<Reference wrapping {self._value!r}>"


def show_array(array: np.ndarray) -> str:
    """The value as `repr` shows it."""
    if not array.ndim:
        return repr(float(array[()]) if array.dtype.kind == "V" else array.item())
    text = repr(array)
    return "\n" + text if "\n" in text else text


def _plain(array: np.ndarray) -> str:
    text = str(array) if array.ndim else str(array[()])
    return "\n" + text if "\n" in text else text


def _restore(array: np.ndarray) -> Tensor:
    tensor = object.__new__(Tensor)
    array = np.asarray(array)
    tensor._array = array.astype(dtypes.of(array).np, copy=False)
    tensor._id = new_id()
    tensor._site = None
    return tensor


class ActsAsTensor:
    """The base of further types that act as tensors; converted by `__tf_tensor__`."""

    __slots__ = ()


def is_tensor(x: Any) -> bool:
    """Whether `x` is a tensor, a variable, or another type that acts as one.

    Args:
        x: any object.

    Returns:
        A bool.

    >>> tf.is_tensor(tf.ones([2])), tf.is_tensor([1.0, 1.0])
    (True, False)
    """
    return isinstance(x, Value | ActsAsTensor)

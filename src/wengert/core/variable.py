"""`Variable`: a named, mutable value. Reads are implicit; updates are explicit methods.

An update happens in place when nobody else holds the array, and on a copy otherwise, so tensors
read earlier never change. Every update checks its arguments before it touches the value.
"""

from __future__ import annotations

import enum
import sys
from collections.abc import Callable, Iterable
from itertools import chain
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from wengert.core import dtypes
from wengert.core import late_operations as late
from wengert.core.context import UPDATES, building_graph, get_state, scoped
from wengert.core.errors import FailedPreconditionError, at_site, invalid
from wengert.core.indexed_slices import IndexedSlices
from wengert.core.locks import ALONGSIDE, CALLED_BACK, new_lock, while_holding
from wengert.core.shapes import TensorShape, without_leading_ones
from wengert.core.tensor import (
    DEVICE_NAME,
    DeviceTensor,
    Tensor,
    Value,
    full_name,
    new_id,
    show_array,
)
from wengert.core.variable_creators import CREATORS, created
from wengert.core.variable_updates import SOLE, Scattered, has_company, updating

if TYPE_CHECKING:
    from wengert.core.types import DTypeLike, JaxArray, NumpyValue, ShapeLike


_new = object.__new__


class VariableSynchronization(enum.Enum):
    """When copies of a variable are brought together; one copy needs none."""

    AUTO = 0
    NONE = 1
    ON_WRITE = 2
    ON_READ = 3


class VariableAggregation(enum.Enum):
    """How copies of a variable are brought together; one copy needs none."""

    NONE = 0
    SUM = 1
    MEAN = 2
    ONLY_FIRST_REPLICA = 3


# Who wants to know of new variables: checkpoints that still hold values for such.
BORN: list[Callable[[Any], None]] = []
TAKEN: Any = object()  # in the place of a value that a compiled step is working on


def taken(variable: Any) -> Exception:
    """The error for a look at a variable in the middle of a compiled step that changes it."""
    return at_site(
        FailedPreconditionError(
            None,
            None,
            f"variable {variable.name!r}: a compiled step that is running has taken it, so neither "
            f"Python called from the step nor a process forked meanwhile has its value. Pass it as "
            f"an argument of the call, or leave out jit_compile=True; fork between steps.",
        )
    )


class Variable(Scattered):
    """A value that lasts and changes: `v = tf.Variable(1.0); v.assign_add(2.0)`.

    Args:
        initial_value: what it begins with, or a function that gives it.
        trainable: whether tapes follow it by themselves and optimizers update it; true by default.
        validate_shape: with `False` the shape stays open.
        caching_device, variable_def, import_scope: without effect.
        name: its name in messages, checkpoints and `repr`.
        dtype: the dtype to convert the value to.
        constraint: a function that optimizers apply after an update.
        synchronization, aggregation: how copies on several devices are kept together.
        shape: the declared shape, with `None` for sizes that may change.
        experimental_enable_variable_lifting: without effect.

    Raises:
        ValueError: no value is given, or it does not fit `shape`.

    >>> v = tf.Variable([1.0, 2.0])
    >>> v.assign_add([1.0, 1.0]).numpy().tolist()
    [2.0, 3.0]
    """

    __slots__ = (
        "_aggregation", "_constraint", "_declared", "_device", "_dtype", "_host", "_lock", "_name",
        "_open", "_save_slice_info", "_synchronization", "_trainable",
    )  # fmt: skip

    _distribute_strategy: Any = None  # the strategy in whose scope it was made
    _drifts = False  # whether a library gives it another value in each replica
    _copies: Any = None  # the variable that holds the copies of all replicas, where each has one

    @property
    def _array(self) -> np.ndarray:
        """The value as a NumPy array, fetched from a device when somebody looks.

        In a trace, a variable whose declared shape is open shows that and not what it has now.
        """
        if self._open:
            graph = building_graph()
            if graph is not None:
                return graph.tensor(graph.read(self))._array
        host = self._host
        return self._fetch() if host is None else host

    def _fetch(self) -> np.ndarray:
        """The value from its device, when the compiled step of another thread has ended."""
        if CALLED_BACK.get():  # the step waits for this very call
            if self._device is TAKEN:
                raise taken(self)
            return np.asarray(self._device)
        return while_holding((self._lock,), ALONGSIDE, self._brought)

    def _brought(self) -> np.ndarray:
        if self._device is TAKEN:
            raise taken(self)
        host = self._host
        if host is None:
            host = self._host = np.asarray(self._device)
        return host

    @_array.setter
    def _array(self, array: np.ndarray) -> None:
        self._host = array
        self._device = None

    def _place(self, array: JaxArray) -> None:
        """Takes a value that lives on a device; its NumPy form is made on first look."""
        self._device = array
        self._host = None

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        if CREATORS.get() and cls is Variable:
            return created(cls, args, kwargs)
        return _new(cls)

    def __init__(
        self,
        initial_value: Any = None,
        trainable: bool | None = None,
        validate_shape: bool = True,
        caching_device: Any = None,
        name: str | None = None,
        variable_def: Any = None,
        dtype: DTypeLike | None = None,
        import_scope: Any = None,
        constraint: Any = None,
        synchronization: VariableSynchronization = VariableSynchronization.AUTO,
        aggregation: VariableAggregation = VariableAggregation.NONE,
        shape: Any = None,
        experimental_enable_variable_lifting: bool = True,
    ) -> None:
        from wengert.core.convert import operand

        if CREATORS.get() and hasattr(self, "_lock"):
            return  # a creator has made it
        if initial_value is None:
            raise at_site(ValueError("Variable: give `initial_value`, a value or a function."))
        _check_member("synchronization", synchronization, VariableSynchronization)
        _check_member("aggregation", aggregation, VariableAggregation)
        wanted = None if dtype is None else dtypes.as_dtype(dtype)
        graph = building_graph()
        if graph is not None:
            initial_value = graph.create(self, initial_value, wanted)
        elif callable(initial_value) and not isinstance(initial_value, Value):
            initial_value = initial_value()
        array = np.asarray(operand(initial_value, wanted)._array)
        declared = TensorShape(array.shape if shape is None else shape)
        if not declared.is_compatible_with(array.shape):
            raise at_site(
                ValueError(
                    f"Variable: the value's shape {TensorShape(array.shape)} does not fit the "
                    f"declared shape {declared}."
                )
            )
        self._open = False
        self._dtype = dtypes.of(array)
        self._array = array
        self._id = new_id()
        self._lock = new_lock()
        self._declared = declared
        self._open = not declared.is_fully_defined()
        self._name = scoped(name or "Variable")
        if trainable is None:
            trainable = synchronization is not VariableSynchronization.ON_READ
        self._trainable = bool(trainable)
        self._constraint = constraint
        self._synchronization = synchronization
        self._aggregation = aggregation
        for born in (*BORN,):
            born(self)

    # What it is.

    @property
    def name(self) -> str:
        return f"{self._name}:0"

    @property
    def _shared_name(self) -> str:
        return self._name

    @property
    def _unique_id(self) -> str:
        return f"{self._name}_{self._id}"

    @property
    def handle(self) -> Variable:
        return self

    @property
    def dtype(self) -> dtypes.DType:
        return self._dtype

    @property
    def op(self) -> None:
        """In a function what changes a variable needs not be run again; elsewhere there is none."""
        if building_graph() is None:
            text = "Variable: `op` belongs to graphs; outside functions operations have run."
            raise at_site(AttributeError(text, name="op", obj=None))

    @property
    def trainable(self) -> bool:
        return self._trainable

    @property
    def constraint(self) -> Any:
        return self._constraint

    @property
    def synchronization(self) -> VariableSynchronization:
        return self._synchronization

    @property
    def aggregation(self) -> VariableAggregation:
        return self._aggregation

    @property
    def shape(self) -> TensorShape:
        return self._declared

    @property
    def device(self) -> str:
        """Where its value is now."""
        here = self._device
        return full_name(None if here is None or here is TAKEN else DEVICE_NAME.call(here))

    def set_shape(self, shape: ShapeLike) -> None:
        self._declared = self._declared.merge_with(shape)
        self._open = not self._declared.is_fully_defined()

    @property
    def initializer(self) -> None:
        """None, as in TensorFlow 2: a variable has its value when it is made."""

    def load(self, value: Any, session: Any = None) -> None:
        """Replaces the value, as `assign` does; the name of TensorFlow 1."""
        self.assign(value)

    def count_up_to(self, limit: Any) -> Any:
        """Adds 1 and returns the value from before, until that is `limit`.

        Args:
            limit: a whole number.

        Returns:
            A scalar tensor.

        Raises:
            InvalidArgumentError: the variable is not int32 or int64.
            OutOfRangeError: the value has reached `limit`; it is unchanged.

        >>> v = tf.Variable(1)
        >>> int(v.count_up_to(3)), int(v)
        (1, 2)
        """
        return late.COUNT.call(self, limit)

    def is_initialized(self, name: str | None = None) -> Any:
        """True, as a tensor: variables have a value when they are made."""
        from wengert.core.convert import to_tensor

        return to_tensor(True)

    # Reading. `value` and `read_value` are recorded operations.

    def read_value(self) -> Tensor:
        """The present value as a tensor."""
        return late.READ.call(self)

    value = read_value
    initialized_value = read_value

    def _snapshot(self) -> Tensor:
        """The present value as a tensor under the variable's own id, for a tape to keep."""
        state = get_state()
        if state is not None and state.graph is not None:
            return state.graph.snapshot(self)
        here = self._device
        if here is not None and here is not TAKEN and DEVICE_NAME.call(here) is not None:
            tensor: Tensor = DeviceTensor.make(here, None)
            tensor._host = self._host
        else:
            tensor = _new(Tensor)
            host = self._host
            tensor._array = self._array if host is None else host
            tensor._site = None
        tensor._id = self._id
        return tensor

    def numpy(self) -> NumpyValue:
        """The value as a NumPy array of its own, or a NumPy scalar for rank 0."""
        if building_graph() is not None:
            return self._read_now().numpy()
        if CALLED_BACK.get():
            return super().numpy()
        return while_holding((self._lock,), ALONGSIDE, super().numpy)

    def _read_now(self) -> Any:
        """The value as a tensor of the trace, which says that it has no value yet."""
        return building_graph().tensor(building_graph().read(self))

    def _single(self, what: str) -> float:
        return super()._single(what) if building_graph() is None else self._read_now()._single(what)

    def __bool__(self) -> bool:
        return super().__bool__() if building_graph() is None else bool(self._read_now())

    def __index__(self) -> int:
        return super().__index__() if building_graph() is None else self._read_now().__index__()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if building_graph() is not None:
            return self._read_now().__array__(dtype, copy)
        return super().__array__(dtype, copy)

    def sparse_read(self, indices: list[int], name: str | None = None) -> Tensor:
        """The rows at `indices`."""
        return late.GATHER.call(self, indices)

    def gather_nd(self, indices: list[list[int]], name: str | None = None) -> Tensor:
        """The slices at the index tuples in `indices`."""
        return late.GATHER_ND.call(self, indices)

    # Writing.

    def _update(self, method: str, *given: Any) -> Variable:
        """The same update as an operation of the graph being built."""
        prepare = UPDATES.get()
        if prepare is not None:
            given = prepare(self, method, given)
        late.UPDATE.call(self, method, *given)
        return self

    def _incoming(
        self, method: str, value: Any, shape: tuple[int, ...] | None = None
    ) -> np.ndarray:
        """The array of a value that is to be written, checked against dtype and shape."""
        from wengert.core.convert import operand

        if isinstance(value, IndexedSlices):
            value = late.DENSIFY.call(value)
        array = np.asarray(operand(value, self.dtype)._array)
        wanted = self._declared if shape is None else TensorShape(shape)
        if not wanted.is_compatible_with(array.shape):
            raise invalid(
                method,
                f"the value's shape {TensorShape(array.shape)} does not fit shape {wanted} of "
                f"variable {self.name!r}",
                help="The variable is unchanged. Reshape the value.",
            )
        return array

    def _modify(self, change: Callable[[np.ndarray], None]) -> Variable:
        """Changes the array in place, or a copy of it when somebody else holds it."""
        while_holding((self._lock,), ALONGSIDE, self._change, change)
        return self

    def _change(self, change: Callable[[np.ndarray], None]) -> None:
        array = self._array
        if (
            sys.getrefcount(array) > SOLE
            or (array.base is not None and has_company(array))
            or not array.flags.writeable
        ):
            array = array.copy()
        with np.errstate(all="ignore"):
            change(array)
        self._array = array

    def assign(
        self,
        value: Any,
        use_locking: bool = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> Any:
        """Replaces the value.

        Args:
            value: a tensor or what becomes one, of the variable's dtype and declared shape.
            use_locking: without effect; every update holds the variable's lock.
            read_value: with `False` nothing is returned.
            name: without effect.

        Returns:
            The variable.

        Raises:
            InvalidArgumentError: the shape does not fit.

        >>> v = tf.Variable(1.0)
        >>> float(v.assign(5.0)) == 5.0
        True
        """
        if building_graph() is not None:
            return self._update("assign", value)
        array = self._incoming("assign", value)
        while_holding((self._lock,), ALONGSIDE, self._replace, array)
        return self if read_value else None

    def _replace(self, array: np.ndarray) -> None:
        if self._device is TAKEN:  # the step would put its own value over this one
            raise taken(self)
        self._array = array  # type: ignore[override]  # a slot of `Value`, computed here

    assign_add = updating("assign_add", np.add, "Adds to the value.")
    assign_sub = updating("assign_sub", np.subtract, "Subtracts from the value.")

    def _assign_slice(self, index: Any, value: Any, ufunc: Any = None) -> Variable:
        """Writes to `v[index]`, an index that NumPy understands as a view."""
        from wengert.core.convert import operand

        if building_graph() is not None:
            return self._update("assign_slice", index, value, ufunc)
        array = np.asarray(operand(value, self.dtype)._array)
        shape = self._array[index].shape
        array = array.reshape(without_leading_ones(array.shape, len(shape)))
        try:
            np.broadcast_to(array, shape)
        except ValueError:
            raise invalid(
                "assign",
                f"the value's shape {TensorShape(array.shape)} does not fit the slice of shape "
                f"{TensorShape(shape)} of variable {self.name!r}",
                help="The variable is unchanged.",
            ) from None

        def change(target: np.ndarray) -> None:
            target[index] = array if ufunc is None else ufunc(target[index], array)

        return self._modify(change)

    def _in_place(self, other: float) -> Any:
        error = RuntimeError(
            "Variable: augmented assignment would bind a new tensor to the name. Use "
            "assign_add, assign_sub or assign; or write `x = v + 1` for a tensor."
        )
        error.variable = self  # type: ignore[attr-defined]  # for a loop that carries its value
        raise at_site(error)

    __iadd__ = __isub__ = __imul__ = __itruediv__ = __ifloordiv__ = _in_place
    __imod__ = __ipow__ = __imatmul__ = __iand__ = __ior__ = __ixor__ = _in_place

    def __reduce__(self) -> Any:
        value = self.numpy()
        return _restore, (type(self), value, self._name, self._trainable, self._declared)

    def __copy__(self) -> Variable:
        return self

    def __deepcopy__(self, memo: Any) -> Variable:
        kind, *state = self.__reduce__()[1]
        copy = memo[id(self)] = _restore(kind, *state)
        copy._constraint = self._constraint
        copy._synchronization = self._synchronization
        copy._aggregation = self._aggregation
        return copy

    def __format__(self, spec: str) -> str:
        return super().__format__(spec) if spec else str(self)

    def __repr__(self) -> str:
        return (
            f"<tf.Variable {self.name!r} shape={self.shape} dtype={self.dtype.name}, "
            f"numpy={show_array(self._array)}>"
        )


_set_host, _set_device = [Variable.__dict__[slot].__set__ for slot in ("_host", "_device")]


def put_values(variables: Iterable[Variable], hosts: Iterable[Any], devices: Iterable[Any]) -> None:
    """Sets where the values of variables are, all at once: no signal handler runs in between."""
    [*chain(map(_set_host, variables, hosts), map(_set_device, variables, devices))]


def _check_member(name: str, value: Any, kind: type[enum.Enum]) -> None:
    if not isinstance(value, kind) and getattr(value, "name", None) not in kind.__members__:
        members = ", ".join(f"tf.{kind.__name__}.{m}" for m in kind.__members__)
        raise at_site(ValueError(f"Variable: `{name}` must be one of {members}; got {value!r}."))


def _restore(
    kind: type[Variable],
    value: np.generic | np.ndarray,
    name: str,
    trainable: bool,
    shape: TensorShape,
) -> Variable:
    restored = kind.__new__(kind)
    Variable.__init__(restored, np.asarray(value), trainable=trainable, shape=shape)
    restored._name = name
    return restored

"""Objects with state, and the names of their children.

A checkpoint sees variables, modules, lists, tuples and dicts, random generators, objects that
derive from `Trackable`, and others that have `variables`. An object remembers the checkpoints that
have values for attributes it lacks, and restores an attribute from them when it is set.
"""

from __future__ import annotations

import abc
import sys
import weakref
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from wengert.core.errors import at_site, describe, require
from wengert.core.tensorflow_values import is_foreign
from wengert.core.types import Tensor, Variable

if TYPE_CHECKING:
    from wengert.checkpoint.restore import Restoration


_CONTAINERS = list | tuple | dict
_OWN = "_self_"  # how the names of our own attributes on users' objects begin


class Awaiting:
    """Checkpoints that hold values for attributes which an object does not have yet.

    A copy of the object awaits nothing, and neither does a pickled one.
    """

    def __init__(self, owner: Any = None) -> None:
        self._owner = None if owner is None else weakref.ref(owner)
        self._records: list[tuple[Any, int]] = []

    def add(self, restoration: Restoration, node: int) -> None:
        """Remembers a checkpoint; drops older ones that have no further values."""
        names = restoration.names(node)
        self._records = [r for r in self._records if r[0].open and not r[0].names(r[1]) <= names]
        self._records.append((restoration, node))

    def of(self, owner: Any) -> bool:
        """Whether it is this very object that waits."""
        return self._owner is not None and self._owner() is owner

    def offer(self, name: str, value: Any) -> None:
        """Restores a new attribute from the newest checkpoint that knows it."""
        for restoration, node in reversed(self._records):
            if restoration.offer(node, name, value):
                return

    def __reduce__(self) -> Any:
        return Awaiting, ()


class Trackable:
    """The base of objects whose state a checkpoint may hold."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "_value" and "_self_awaiting" in self.__dict__:
            self._offer(name, value)
        super().__setattr__(name, value)

    def _track_trackable(self, trackable: Any, name: str, overwrite: bool = False) -> Any:
        """Makes an object a child under a name that need not be an attribute."""
        tracked = self.__dict__.setdefault("_self_tracked", {})
        require(
            overwrite or tracked.get(name, trackable) is trackable,
            "Trackable",
            f"there is another child named {name!r}",
            kind=ValueError,
        )
        self._offer(name, trackable)
        tracked[name] = trackable
        return trackable

    def _add_variable_with_custom_getter(
        self,
        name: str,
        shape: Any = None,
        dtype: Any = None,
        initializer: Any = None,
        getter: Any = None,
        overwrite: bool = False,
        **kwargs: Any,
    ) -> Any:
        """A variable that `getter` makes, as a child; Keras 2 makes its weights so."""
        made = getter(name=name, shape=shape, dtype=dtype, initializer=initializer, **kwargs)
        return self._track_trackable(made, name, overwrite) if is_trackable(made) else made

    def _handle_deferred_dependencies(self, name: str, trackable: Any) -> None:
        """Gives a child that was made later what a checkpoint has for it."""
        self._offer(name, trackable)

    def _lookup_dependency(self, name: str, cached_dependencies: Any = None) -> Any:
        """The child of a name, or `None`."""
        return self.__dict__.get("_self_tracked", {}).get(name)

    def _no_dependency(self, value: Any) -> Any:
        """The value: what is a child is decided when a checkpoint is written."""
        return value

    def _maybe_initialize_trackable(self) -> None:
        """Nothing: tracking needs no preparation."""

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        """The children by name."""
        return dict(self.__dict__.get("_self_tracked", {}))

    def _offer(self, name: str, value: Any) -> None:
        awaiting = self.__dict__.get("_self_awaiting")
        if awaiting is not None and awaiting.of(self):
            awaiting.offer(name, value)

    def _await(self, restoration: Restoration, node: int) -> None:
        """Lets attributes that are set later take their values from a checkpoint."""
        awaiting = self.__dict__.get("_self_awaiting")
        if awaiting is None or not awaiting.of(self):
            awaiting = self.__dict__["_self_awaiting"] = Awaiting(self)
        awaiting.add(restoration, node)


class PythonState(Trackable, abc.ABC):
    """The base of objects whose state is no variable: they turn it into a string and back."""

    @abc.abstractmethod
    def serialize(self) -> str | bytes:
        """The state as a string."""

    @abc.abstractmethod
    def deserialize(self, string_value: bytes) -> None:
        """Takes a state that `serialize` made."""

    def _serialize_to_tensors(self) -> dict[str, Tensor]:
        from wengert.core.convert import to_tensor

        return {"py_state": to_tensor(self.serialize())}

    def _restore_from_tensors(self, restored_tensors: dict[str, Tensor]) -> None:
        state: Any = restored_tensors["py_state"].numpy()
        self.deserialize(state)


class AutoTrackable(Trackable):
    """An object whose attributes are its children."""

    def __setattr__(self, name: str, value: Any) -> None:
        state = self.__dict__
        if "_self_awaiting" in state:
            self._offer(name, value)
        if "_self_tracked" in state:
            state["_self_tracked"].pop(name, None)
        super().__setattr__(name, value)

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        return super()._trackable_children(save_type, **kwargs) | _attributes(self)


def no_automatic_dependency_tracking(method: Callable[..., Any]) -> Callable[..., Any]:
    """The method as it is: children are looked for when a checkpoint is written, not before."""
    return method


def variable_of(x: Any) -> Variable | None:
    """The variable that `x` is, or that it wraps, as the variables of Keras do."""
    if isinstance(x, Variable):
        return x
    inner = getattr(x, "_value", None) if isinstance(x, Trackable) else None
    return inner if isinstance(inner, Variable) else None


def is_unmade(x: Any) -> bool:
    """Whether `x` is a variable of Keras that gets its variable later, when its layer is built."""
    return isinstance(x, Trackable) and getattr(x, "_value", x) is None


def takes_tensors(x: Any) -> bool:
    """Whether an object says itself what of it is kept, as tensors by name."""
    if is_unmade(x):
        return False
    return hasattr(x, "_serialize_to_tensors") and hasattr(x, "_restore_from_tensors")


def is_trackable(x: Any) -> bool:
    """Whether a checkpoint looks into `x`."""
    if isinstance(x, Variable | Trackable | _CONTAINERS):
        return True
    if is_foreign(type(x)):
        return False
    if isinstance(x, type) or type(x).__module__.startswith("wengert."):
        return _is_generator(x)
    return _has_variables(x) or takes_tensors(x) or hasattr(type(x), "_trackable_children")


def _is_generator(x: Any) -> bool:
    # Where nobody imported the module, there is no generator, and random numbers stay unloaded.
    module = sys.modules.get("wengert.ops.generator")
    return module is not None and isinstance(x, module.Generator)


def _has_variables(x: Any) -> bool:
    own = getattr(x, "__dict__", {})
    return hasattr(type(x), "variables") or "variables" in own or "_variables" in own


def children(x: Any) -> dict[str, Any]:
    """The children of an object by name, in the order of their names."""
    if variable_of(x) is not None:
        return {}
    if isinstance(x, list | tuple):
        return members_with_state(x)
    if isinstance(x, dict):
        result = members_with_state(x)
    elif hasattr(type(x), "_trackable_children"):
        result = {n: c for n, c in x._trackable_children().items() if is_trackable(c)}
    else:
        result = _attributes(x)
        if not result and _has_variables(x):
            result = {"variables": list(x.variables)}
    return dict(sorted(result.items()))


def members_with_state(x: Any) -> dict[str, Any]:
    """What a checkpoint looks into among the members of a list, tuple or dict, by name."""
    if isinstance(x, dict):
        return _entries(x)
    names: Iterable[str] = getattr(x, "_fields", None) or map(str, range(len(x)))
    return {n: c for n, c in zip(names, x, strict=True) if is_trackable(c)}


def _attributes(x: Any) -> dict[str, Any]:
    own = getattr(x, "__dict__", {})
    return {n: v for n, v in own.items() if not n.startswith(_OWN) and is_trackable(v)}


def _entries(x: dict[Any, Any]) -> dict[str, Any]:
    table: dict[str, Any] = {}
    for key, child in x.items():
        if not is_trackable(child):
            continue
        if isinstance(key, str):
            name = key
        elif isinstance(key, int) and not isinstance(key, bool):
            name = str(key)
        elif not _holds_state(child, set()):
            continue
        else:
            raise at_site(
                ValueError(
                    f"Checkpoint: the keys of a dict that holds variables must be strings or "
                    f"whole numbers; got {describe(key)}."
                )
            )
        require(
            name not in table,
            "Checkpoint",
            f"a dict has two keys that are written {name!r}",
            kind=ValueError,
        )
        table[name] = child
    return table


def _holds_state(x: Any, seen: set[int]) -> bool:
    """Whether there is more in `x` than lists and dicts of plain values."""
    if not isinstance(x, _CONTAINERS):
        return is_trackable(x)
    if id(x) in seen:
        return False
    seen.add(id(x))
    return any(_holds_state(c, seen) for c in (x.values() if isinstance(x, dict) else x))

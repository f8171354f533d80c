"""What Keras 2 asks of TensorFlow's tracking of objects: containers that wrap, and views of graphs."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from wengert.checkpoint.state_file import update
from wengert.checkpoint.trackable import Trackable, children, is_trackable, members_with_state
from wengert.core.variable import Variable


class TrackableDataStructure(Trackable):
    """The base of containers that show the variables and modules in them, as layers do."""

    trainable = True

    def _members(self) -> Iterable[Any]:
        """What the container holds."""
        raise NotImplementedError

    @property
    def _values(self) -> list[Any]:
        """What has state among the members; containers within are wrapped, too."""
        return [wrap(x) for x in self._members() if is_trackable(x)]

    @property
    def layers(self) -> list[Any]:
        """The members that have weights, those of containers within too."""
        inner = [x.layers if isinstance(x, TrackableDataStructure) else [x] for x in self._values]
        return [x for part in inner for x in part if hasattr(type(x), "trainable_weights")]

    def _collect(self, attribute: str, wanted: Callable[[Variable], bool]) -> list[Any]:
        found: list[Any] = []
        for x in self._values:
            own = [x] if isinstance(x, Variable) and wanted(x) else getattr(x, attribute, [])
            found.extend(v for v in own if not any(v is other for other in found))
        return found

    @property
    def trainable_weights(self) -> list[Any]:
        return self._collect("trainable_weights", lambda v: bool(v.trainable))

    @property
    def non_trainable_weights(self) -> list[Any]:
        return self._collect("non_trainable_weights", lambda v: not v.trainable)

    @property
    def weights(self) -> list[Any]:
        return self.trainable_weights + self.non_trainable_weights

    variables = weights
    trainable_variables = trainable_weights
    non_trainable_variables = non_trainable_weights

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        return members_with_state(self)


class ListWrapper(TrackableDataStructure, list):
    """A list that is an attribute of a layer."""

    __hash__: Any = None  # as a list's

    def _members(self) -> Iterable[Any]:
        return list(self)

    def __reduce__(self) -> Any:
        return list, (list(self),)

    def __copy__(self) -> ListWrapper:
        return ListWrapper(self)

    def __deepcopy__(self, memo: Any) -> ListWrapper:
        return ListWrapper(copy.deepcopy(list(self), memo))


class TupleWrapper(TrackableDataStructure, tuple):
    """A tuple that is an attribute of a layer."""

    __hash__ = tuple.__hash__

    def _members(self) -> Iterable[Any]:
        return tuple(self)

    def __reduce__(self) -> Any:
        return tuple, (tuple(self),)

    def __deepcopy__(self, memo: Any) -> TupleWrapper:
        return TupleWrapper(copy.deepcopy(tuple(self), memo))


class DictWrapper(TrackableDataStructure, dict):
    """A dict that is an attribute of a layer."""

    __hash__: Any = None  # as a dict's

    def _members(self) -> Iterable[Any]:
        return list(dict.values(self))

    def __reduce__(self) -> Any:
        return dict, (dict(self),)

    def __copy__(self) -> DictWrapper:
        return DictWrapper(self)

    def __deepcopy__(self, memo: Any) -> DictWrapper:
        return DictWrapper(copy.deepcopy(dict(self), memo))


_WRAPPERS: dict[type, type] = {list: ListWrapper, tuple: TupleWrapper, dict: DictWrapper}


def wrap(value: Any) -> Any:
    """A list, tuple or dict as one that shows the variables and modules in it."""
    wrapper = _WRAPPERS.get(type(value))
    return value if wrapper is None else wrapper(value)


def no_automatic_dependency_tracking(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method whose attributes are set without tracking; Keras 2 reads the mark it leaves."""

    @functools.wraps(method)
    def untracked(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = getattr(self, _TRACKING, True)
        setattr(self, _TRACKING, False)
        try:
            return method(self, *args, **kwargs)
        finally:
            setattr(self, _TRACKING, before)

    return untracked


_TRACKING = "_self_setattr_tracking"


def sticky_attribute_assignment(trackable: Any, name: str, value: Any) -> Any:
    """The value as an attribute of a layer: lists and dicts are wrapped."""
    return wrap(value)


class DelegatingTrackableMixin:
    """Lets an object stand for another one in checkpoints."""

    def __init__(self, trackable_obj: Any) -> None:
        self._trackable = trackable_obj

    def _track_trackable(self, trackable: Any, name: str, overwrite: bool = False) -> Any:
        return self._trackable._track_trackable(trackable, name, overwrite)

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        return children(self._trackable)


class ObjectGraphView:
    """The objects below a root."""

    def __init__(self, root: Any, attached_dependencies: Any = None) -> None:
        self.root = root

    def children(self, obj: Any, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        """The children of an object by name."""
        return children(obj)

    def breadth_first_traversal(self) -> tuple[list[Any], ByIdentity]:
        """All objects, the nearest first, and the way to each."""
        found, ways = [self.root], ByIdentity()
        ways[self.root] = []
        for one in found:
            for name, child in children(one).items():
                if child not in ways:
                    ways[child] = [*ways[one], TrackableReference(name, child)]
                    found.append(child)
        return found, ways


class TrackableReference(NamedTuple):
    """A child under its name."""

    name: str
    ref: Any


class ByIdentity(dict):
    """A dict whose keys count by identity, since variables compare by value."""

    def __getitem__(self, key: Any) -> Any:
        return super().__getitem__(id(key))

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(id(key), value)

    def __contains__(self, key: Any) -> bool:
        return super().__contains__(id(key))


class VersionedTypeRegistration:
    """How TensorFlow makes an object of a saved model again; Wengert's say it themselves."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass


def update_checkpoint_state(
    save_dir: str, model_checkpoint_path: str, all_model_checkpoint_paths: Any = None,
    latest_filename: Any = None, *args: Any, **kwargs: Any,
) -> None:  # fmt: skip
    """Notes in a folder which checkpoint is its latest; under another name for nobody."""
    if latest_filename is None:
        update("update_checkpoint_state", save_dir, model_checkpoint_path)

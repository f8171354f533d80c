"""The objects of a program as a graph: nodes with named children and named values.

A value's key is the shortest path to its owner, such as `model/w/.ATTRIBUTES/VARIABLE_VALUE`.
TensorFlow writes the same keys; `/` and `.` inside a name are written `.S` and `..`.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, NamedTuple

from wengert.checkpoint.trackable import children, is_trackable, takes_tensors, variable_of
from wengert.core.errors import require

if TYPE_CHECKING:
    from wengert.checkpoint.deferred_restore import DeferredVariable
    from wengert.core.tensor import Value


VARIABLE = "VARIABLE_VALUE"
_MARK = ".ATTRIBUTES/"


class Node(NamedTuple):
    """An object: the numbers of its children, and the keys of its values, by name."""

    children: dict[str, int]
    values: dict[str, str]


class Walk(NamedTuple):
    """The graph below a root: its nodes, the object of each, and what to write under each key."""

    nodes: list[Node]
    objects: list[Any]
    values: dict[str, Any]


def escape(name: str) -> str:
    """A name as a part of a path."""
    return name.replace(".", "..").replace("/", ".S")


def key_of(path: str, value: str) -> str:
    """The key of a value of the object at `path`."""
    return f"{path}/{_MARK}{value}" if path else f"{_MARK}{value}"


def path_of(key: str) -> str:
    """The path of the object that a key belongs to."""
    return key.partition(_MARK)[0].removesuffix("/") or "the root"


def walk(root: Any) -> Walk:
    """The objects below `root`, nearest first; each once, however many names it has."""
    result = Walk([], [], {})
    numbers: dict[int, int] = {}

    def number(x: Any, path: str) -> int:
        inner = variable_of(x)
        x = x if inner is None else inner
        if id(x) not in numbers:
            numbers[id(x)] = len(result.nodes)
            result.nodes.append(Node({}, {}))
            result.objects.append(x)
            queue.append((x, path))
        return numbers[id(x)]

    queue: deque[tuple[Any, str]] = deque()
    number(root, "")
    while queue:
        x, path = queue.popleft()
        node = result.nodes[numbers[id(x)]]
        for name, value in _values(x).items():
            node.values[name] = key_of(path, name)
            result.values[node.values[name]] = value
        for name, child in children(x).items():
            below = f"{path}/{escape(name)}" if path else escape(name)
            node.children[name] = number(child, below)
    return result


def _values(x: Any) -> dict[str, Value | DeferredVariable]:
    variable = variable_of(x)
    if variable is not None:
        return {VARIABLE: variable}
    return dict(x._serialize_to_tensors()) if takes_tensors(x) else {}


def leading_to(nodes: list[Node], targets: set[int]) -> set[int]:
    """The nodes from which one of `targets` can be reached, and the targets."""
    parents: dict[int, list[int]] = {}
    for i, node in enumerate(nodes):
        for child in node.children.values():
            parents.setdefault(child, []).append(i)
    result, queue = set(targets), list(targets)
    while queue:
        for parent in parents.get(queue.pop(), ()):
            if parent not in result:
                result.add(parent)
                queue.append(parent)
    return result


class TrackableView:
    """The objects below a root, as a checkpoint sees them."""

    def __init__(self, root: Any) -> None:
        require(is_trackable(root), "TrackableView", "an object with state", root, kind=ValueError)
        self._root = root

    @property
    def root(self) -> Any:
        """The object at the top."""
        return self._root

    @classmethod
    def children(cls, obj: Any, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        """The children of an object by name."""
        return children(obj)

    def descendants(self) -> list[Any]:
        """All objects from the root on, nearest first, each once."""
        return walk(self._root).objects

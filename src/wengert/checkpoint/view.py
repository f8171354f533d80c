"""Looking at objects with state: their children and all that is below them."""

from __future__ import annotations

from typing import Any

from wengert.checkpoint.object_graph import walk
from wengert.checkpoint.trackable import children, is_trackable
from wengert.core.errors import at_site, describe


class TrackableView:
    """The objects below a root, as a checkpoint sees them."""

    def __init__(self, root: Any) -> None:
        if not is_trackable(root):
            raise at_site(ValueError(f"TrackableView: an object with state; got {describe(root)}."))
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

"""State that belongs to a process, such as the contents of a table or an open file.

As in TensorFlow, `copy.copy` and `copy.deepcopy` of an object that holds such a resource refer to
the same one; pickling is an error with words.
"""

from __future__ import annotations

from typing import Any, ClassVar, NoReturn

from wengert.core.errors import at_site


class Resource:
    """The base of such state; `_what` and `_remedy` are the words of its error."""

    _what: ClassVar[str]
    _remedy: ClassVar[str]

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: Any) -> Any:
        return self

    def __reduce__(self) -> NoReturn:
        raise at_site(TypeError(f"pickle: {self._what} cannot be pickled. {self._remedy}"))

"""Made by `python -m tools.stubs`: the names that checkers and editors see."""

from wengert.composite.sets import difference as difference
from wengert.composite.sets import intersection as intersection
from wengert.composite.sets import size as size
from wengert.composite.sets import union as union

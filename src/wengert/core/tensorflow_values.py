"""Values of TensorFlow itself, where it is imported into the same process.

What has an array, a shape or an element type is converted by that; its other tensors, such as
ragged ones, and its datasets are refused. No tape of one follows the values of the other.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from wengert.core import dtypes
from wengert.core.apply import wrap
from wengert.core.errors import at_site, describe
from wengert.core.shapes import TensorShape
from wengert.core.tensor_spec import TensorSpec


@lru_cache(maxsize=1024)
def is_foreign(kind: type) -> bool:
    """Whether a class is TensorFlow's, or derived from one of its own.

    Keras is given classes of this package under names of TensorFlow's: they have a base of ours.
    """
    packages = {base.__module__.partition(".")[0] for base in kind.__mro__}
    return "tensorflow" in packages and __name__.partition(".")[0] not in packages


def array_of(value: Any) -> np.ndarray:
    """The array of a tensor or variable of TensorFlow's."""
    if not hasattr(value, "__array__"):
        raise refused(value)
    try:
        return np.asarray(value)
    except (NotImplementedError, TypeError, ValueError) as error:  # of a graph, or of a resource
        raise refused(value) from error


def adopted(value: Any) -> Any:
    """Wengert's counterpart of a value of TensorFlow's.

    Objects that are no tensors, as its functions, are nothing but Python objects here.
    """
    if hasattr(value, "as_numpy_dtype"):
        return dtypes.as_dtype(value)
    if hasattr(value, "__array__") and hasattr(value, "dtype"):
        return wrap(array_of(value))
    if hasattr(value, "is_fully_defined"):
        return TensorShape(value)
    if type(value).__name__ == "TensorSpec":
        return TensorSpec(adopted(value.shape), value.dtype, value.name)
    if any(hasattr(value, name) for name in ("dtype", "_type_spec", "element_spec")):
        raise refused(value)
    return value


def refused(value: Any) -> Exception:
    """The error for what has no counterpart."""
    return at_site(
        TypeError(
            f"convert_to_tensor: a {type(value).__name__} of TensorFlow's own is no value of "
            f"Wengert's; got {describe(value)}. Pass its parts as NumPy arrays, or import only one "
            f"of the two under the name `tf`."
        )
    )

"""A `unittest.TestCase` that compares tensors."""

from __future__ import annotations

import tempfile
import unittest
from typing import TYPE_CHECKING, Any

import numpy as np

from wengert.core import nest

if TYPE_CHECKING:
    from wengert.core.tensor import Tensor


def _array(value: Any) -> np.ndarray:
    return np.asarray(value.numpy() if hasattr(value, "numpy") else value)


def _is_rows(value: Any) -> bool:
    return isinstance(value, list | tuple)


class TestCase(unittest.TestCase):
    """A `unittest.TestCase` with assertions about tensors and nests of them."""

    def setUp(self) -> None:
        super().setUp()
        from wengert.ops.seeds import set_seed

        set_seed(87654321)
        np.random.seed(87654321)

    def get_temp_dir(self) -> str:
        """A folder of this test's own, removed when it ends."""
        if not hasattr(self, "_folder"):
            self._folder = tempfile.TemporaryDirectory()
            self.addCleanup(self._folder.cleanup)
        return self._folder.name

    def evaluate(self, tensors: Tensor) -> np.generic:
        """The values of a nest of tensors."""
        return nest.map_structure(lambda x: x.numpy() if hasattr(x, "numpy") else x, tensors)

    def assertAllClose(
        self, a: Any, b: Any, rtol: float = 1e-6, atol: float = 1e-6, msg: str | None = None
    ) -> None:
        """Fails unless two nests have nearly equal numbers."""
        if isinstance(a, dict) and isinstance(b, dict):
            self.assertEqual(set(a), set(b), msg)
            a, b = [a[k] for k in a], [b[k] for k in a]
        elif not _is_rows(a) or not _is_rows(b):
            np.testing.assert_allclose(_array(a), _array(b), rtol, atol, err_msg=msg or "")
            return
        self.assertEqual(len(a), len(b), msg)
        for x, y in zip(a, b, strict=True):
            self.assertAllClose(x, y, rtol, atol, msg)

    def assertNotAllClose(self, a: Any, b: Any, **options: Any) -> None:
        """Fails if two nests have nearly equal numbers."""
        try:
            self.assertAllClose(a, b, **options)
        except AssertionError:
            return
        self.fail("The values are close at all places.")

    def assertAllEqual(self, a: Tensor, b: Any, msg: str | None = None) -> None:
        """Fails unless two arrays are equal; NaN equals NaN."""
        np.testing.assert_array_equal(_array(a), _array(b), err_msg=msg or "")

    def assertAllInRange(
        self, target: Any, lower_bound: Any, upper_bound: Any,
        open_lower_bound: bool = False, open_upper_bound: bool = False,
    ) -> None:  # fmt: skip
        """Fails unless all numbers lie in the interval, which is closed by default."""
        x = _array(target)
        above = x > lower_bound if open_lower_bound else x >= lower_bound
        below = x < upper_bound if open_upper_bound else x <= upper_bound
        self.assertTrue(bool((above & below).all()))

    def assertAllInSet(self, target: Any, expected_set: Any) -> None:
        """Fails unless all elements are among the expected ones."""
        self.assertLessEqual(set(_array(target).ravel().tolist()), set(expected_set))

    def assertShapeEqual(self, input_a: Any, input_b: Any, msg: str | None = None) -> None:
        """Fails unless two shapes are equal."""
        self.assertEqual(tuple(_array(input_a).shape), tuple(_array(input_b).shape), msg)

    def assertDTypeEqual(self, target: Any, expected_dtype: Any) -> None:
        """Fails unless the elements have this type."""
        from wengert.core.dtypes import as_dtype

        self.assertEqual(as_dtype(_array(target).dtype), as_dtype(expected_dtype))

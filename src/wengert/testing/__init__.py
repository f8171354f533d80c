"""Checks for users' tests: gradients against finite differences."""

from wengert.core.missing_names import namespace as _namespace
from wengert.testing.gradients import check_gradients

__all__ = ["check_gradients"]

__getattr__, __dir__ = _namespace("tf.testing", globals())

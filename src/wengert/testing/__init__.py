"""Checks for users' tests: gradients against finite differences."""

from wengert.testing.gradients import check_gradients

__all__ = ["check_gradients"]

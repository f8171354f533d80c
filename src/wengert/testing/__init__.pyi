"""Made by `python -m tools.stubs`: the names that checkers and editors see."""

from wengert.testing.gradients import check_gradients as check_gradients

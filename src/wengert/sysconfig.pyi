"""Made by `python -m tools.stubs`: the names that checkers and editors see."""

from wengert.runtime.builds import get_build_info as get_build_info

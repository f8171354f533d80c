"""Made by `python -m tools.stubs`: the names that checkers and editors see."""

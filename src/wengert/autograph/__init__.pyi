"""Made by `python -m tools.stubs`: the names that checkers and editors see."""

from wengert.autograph.loop_options import set_loop_options as _set_loop_options
from wengert.autograph.public import Feature as _Feature
from wengert.autograph.public import do_not_convert as _do_not_convert
from wengert.autograph.public import set_verbosity as set_verbosity
from wengert.autograph.public import to_code as to_code
from wengert.autograph.public import to_graph as to_graph
from wengert.autograph.public import trace as trace

class experimental:
    Feature = _Feature
    do_not_convert = staticmethod(_do_not_convert)
    set_loop_options = staticmethod(_set_loop_options)

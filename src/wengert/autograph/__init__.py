"""The names of `tf.autograph`: Python control flow on tensors, at the user's own file and line."""

from types import SimpleNamespace as _Namespace

from wengert.autograph.loop_options import set_loop_options as _set_loop_options
from wengert.autograph.public import Feature as _Feature
from wengert.autograph.public import do_not_convert as _do_not_convert
from wengert.autograph.public import set_verbosity, to_code, to_graph, trace
from wengert.core.missing_names import namespace as _namespace

experimental = _Namespace(
    Feature=_Feature, do_not_convert=_do_not_convert, set_loop_options=_set_loop_options
)
__getattr__, __dir__ = _namespace("tf.autograph", globals())

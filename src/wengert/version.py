"""The names of `tf.version`: the TensorFlow whose programs are run, and who runs them."""

from wengert._version import __version__ as _own
from wengert.core.missing_names import namespace as _namespace

VERSION = "2.21.0"
GIT_VERSION = f"wengert-{_own}"
COMPILER_VERSION = ""
GRAPH_DEF_VERSION = 0
GRAPH_DEF_VERSION_MIN_CONSUMER = 0
GRAPH_DEF_VERSION_MIN_PRODUCER = 0

__getattr__, __dir__ = _namespace("tf.version", globals())

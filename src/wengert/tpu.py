"""The names of `tf.tpu`."""

from types import SimpleNamespace as _Namespace

from wengert.core.missing_names import namespace as _namespace
from wengert.distribute.tpu import initialize_tpu_system as _initialize
from wengert.distribute.tpu import shutdown_tpu_system as _shutdown

experimental = _Namespace(initialize_tpu_system=_initialize, shutdown_tpu_system=_shutdown)

__getattr__, __dir__ = _namespace("tf.tpu", globals())

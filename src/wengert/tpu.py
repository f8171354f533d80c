"""The names of `tf.tpu`."""

from types import SimpleNamespace as _Namespace

from wengert.core.missing_names import missing as _missing
from wengert.distribute.tpu import initialize_tpu_system, shutdown_tpu_system

experimental = _Namespace(
    initialize_tpu_system=initialize_tpu_system, shutdown_tpu_system=shutdown_tpu_system
)

__getattr__ = _missing("tf.tpu", globals())

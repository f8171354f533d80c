"""The names of `tf.tpu` and of clusters that set-up code asks for before it goes on without."""

from types import SimpleNamespace as _Namespace
from typing import Any, NoReturn

from wengert.core.errors import at_site as _at_site
from wengert.core.missing import missing as _missing


def _no_tpu(name: str) -> Exception:
    help = "Go on with tf.distribute.get_strategy()"
    return _at_site(ValueError(f"{name}: Wengert knows no TPU. {help}."))


class TPUClusterResolver:
    """Looks for a TPU; there is none, which programs that can do without catch as `ValueError`."""

    def __init__(self, tpu: Any = None, *args: Any, **kwargs: Any) -> None:
        raise _no_tpu("TPUClusterResolver")

    @classmethod
    def connect(cls, tpu: Any = None, zone: Any = None, project: Any = None) -> NoReturn:
        """Looks for a TPU and makes it ready."""
        raise _no_tpu("TPUClusterResolver.connect")


def initialize_tpu_system(cluster_resolver: Any = None) -> NoReturn:
    """Makes a TPU ready."""
    raise _no_tpu("initialize_tpu_system")


def shutdown_tpu_system(cluster_resolver: Any = None) -> NoReturn:
    """Gives a TPU back."""
    raise _no_tpu("shutdown_tpu_system")


def connect_to_cluster(*args: Any, **kwargs: Any) -> NoReturn:
    """Connects to machines elsewhere."""
    raise _no_tpu("experimental_connect_to_cluster")


experimental = _Namespace(
    initialize_tpu_system=initialize_tpu_system, shutdown_tpu_system=shutdown_tpu_system
)

__getattr__ = _missing("tf.tpu", globals())

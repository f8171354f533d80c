"""TPUs and clusters, which set-up code asks for before it goes on without."""

from typing import Any, NoReturn

from wengert.core.errors import at_site


def _no_tpu(name: str) -> Exception:
    help = "Go on with tf.distribute.get_strategy()"
    return at_site(ValueError(f"{name}: Wengert knows no TPU. {help}."))


class TPUClusterResolver:
    """Looks for a TPU; there is none, which programs that can do without catch as `ValueError`."""

    def __init__(self, tpu: Any = None, *args: Any, **kwargs: Any) -> None:
        raise _no_tpu("TPUClusterResolver")

    @classmethod
    def connect(cls, tpu: str | None = None, zone: Any = None, project: Any = None) -> NoReturn:
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

"""The TPUs of this machine, which set-up code looks for before it goes on without."""

from typing import Any

from wengert.core.errors import at_site
from wengert.runtime.hardware import addressable

_LOCAL = ("", "local", None)


def _tpus(name: str) -> list[str]:
    results = [device for device in addressable() if device.startswith("TPU:")]
    if not results:
        help = "Go on with tf.distribute.MirroredStrategy() or tf.distribute.get_strategy()"
        raise at_site(ValueError(f"{name}: there is no TPU on this machine. {help}."))
    return results


class TPUClusterResolver:
    """Looks for the TPUs of this machine, which `tf.distribute.TPUStrategy` takes.

    Args:
        tpu: `None`, `""` or `"local"`: TPUs of other machines are not reached by name.

    Raises:
        ValueError: there is no TPU, which programs that can do without catch.
    """

    task_type = "worker"
    task_id = 0
    environment = ""

    def __init__(self, tpu: Any = None, *args: Any, **kwargs: Any) -> None:
        self._devices = _tpus("TPUClusterResolver")
        if tpu not in _LOCAL:
            text = f"TPUClusterResolver: only TPUs of this machine are reached; got {tpu!r}."
            raise at_site(ValueError(f"{text} Leave the name out."))

    @classmethod
    def connect(
        cls, tpu: str | None = None, zone: Any = None, project: Any = None
    ) -> "TPUClusterResolver":
        """Looks for a TPU and makes it ready."""
        _tpus("TPUClusterResolver.connect")
        return cls(tpu)

    def master(self, task_type: Any = None, task_id: Any = None, rpc_layer: Any = None) -> str:
        """The address of the machine with the TPUs, which is this one."""
        return ""

    get_master = master

    def num_accelerators(
        self, task_type: Any = None, task_id: Any = None, config_proto: Any = None
    ) -> dict[str, int]:
        """How many cores there are."""
        return {"TPU": len(self._devices)}


def initialize_tpu_system(cluster_resolver: Any = None) -> None:
    """Makes a TPU ready, which it is when JAX knows it."""
    _tpus("initialize_tpu_system")


def shutdown_tpu_system(cluster_resolver: Any = None) -> None:
    """Gives a TPU back, which happens when the program ends."""
    _tpus("shutdown_tpu_system")


def connect_to_cluster(*args: Any, **kwargs: Any) -> None:
    """Connects to the machine with the TPUs, which is this one."""
    _tpus("experimental_connect_to_cluster")

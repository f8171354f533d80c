"""The strategies by TensorFlow's names: each says on which devices its replicas run.

What a strategy does stands in `strategies.py`; it is the same for all.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from typing import Any, NoReturn

from wengert.core.errors import at_site, describe
from wengert.distribute.reduce_ops import (
    CommunicationImplementation,
    CommunicationOptions,
    CrossDeviceOps,
)
from wengert.distribute.replica_devices import (
    default_devices,
    devices_of_kind,
    replica_device,
    replica_devices,
)
from wengert.distribute.strategies import Strategy


class MirroredStrategy(Strategy):
    """A replica on each of several devices of this machine, with the same variables in all.

    Args:
        devices: names such as `"GPU:0"`; by default all accelerators, or all logical CPUs.
        cross_device_ops: a `tf.distribute.CrossDeviceOps`; XLA chooses the algorithm.

    Raises:
        ValueError: a device is not there, or is named twice.
    """

    def __init__(
        self, devices: Iterable[Any] | None = None, cross_device_ops: CrossDeviceOps | None = None
    ) -> None:
        if not isinstance(cross_device_ops, CrossDeviceOps | None):
            text = "MirroredStrategy: `cross_device_ops` is a tf.distribute.CrossDeviceOps, such "
            text += f"as tf.distribute.NcclAllReduce(); got {describe(cross_device_ops)}."
            raise at_site(TypeError(text))
        super().__init__(replica_devices("MirroredStrategy", devices))


class OneDeviceStrategy(Strategy):
    """Everything on one device, so that a program can be tried with a strategy.

    Args:
        device: its name, such as `"GPU:0"`; by default the CPU.
    """

    def __init__(self, device: Any) -> None:
        name = "CPU:0" if device is None else device
        super().__init__((replica_device("OneDeviceStrategy", name),))


class CentralStorageStrategy(Strategy):
    """Replicas on several devices, with the variables on one.

    Args:
        compute_devices: names of devices; by default all accelerators, or the CPU.
        parameter_device: the name of the device of the variables.
    """

    def __init__(
        self, compute_devices: Iterable[Any] | None = None, parameter_device: Any = None
    ) -> None:
        what = "CentralStorageStrategy"
        devices = default_devices() if compute_devices is None else None
        if devices is None:
            devices = replica_devices(what, compute_devices)
        elif "device:CPU" in devices[0]:
            devices = devices[:1]
        super().__init__(devices)
        if parameter_device is None:
            parameter_device = devices[0] if len(devices) == 1 else "CPU:0"
        self.extended.parameter_devices = (replica_device(what, parameter_device),)


class TPUStrategy(Strategy):
    """A replica on each core of the TPUs of this machine.

    Args:
        tpu_cluster_resolver: a `tf.distribute.cluster_resolver.TPUClusterResolver`.
        experimental_device_assignment: without effect; all cores are used.
        experimental_spmd_xla_partitioning: must be false; use `tf.experimental.dtensor`.

    Raises:
        ValueError: there is no TPU.
    """

    def __init__(
        self,
        tpu_cluster_resolver: Any = None,
        experimental_device_assignment: Any = None,
        experimental_spmd_xla_partitioning: bool = False,
    ) -> None:
        if experimental_spmd_xla_partitioning:
            text = "TPUStrategy: a replica is one core here. Leave out "
            text += "experimental_spmd_xla_partitioning, or use tf.experimental.dtensor."
            raise at_site(NotImplementedError(text))
        devices = devices_of_kind("TPU")
        if not devices:
            text = "TPUStrategy: there is no TPU. Use tf.distribute.MirroredStrategy(), which "
            raise at_site(ValueError(f"{text}takes GPUs or logical CPUs."))
        super().__init__(devices)
        self.cluster_resolver = tpu_cluster_resolver

    def experimental_assign_to_logical_device(self, tensor: Any, logical_device_id: int) -> Any:
        """The tensor: a replica is one core, which has number 0."""
        if logical_device_id != 0:
            text = "experimental_assign_to_logical_device: a replica is one core, number 0; got "
            raise at_site(ValueError(f"{text}{describe(logical_device_id)}."))
        return tensor

    def experimental_replicate_to_logical_devices(self, tensor: Any) -> Any:
        """The tensor, which the one core of the replica has."""
        return tensor

    def experimental_split_to_logical_devices(self, tensor: Any, partition_dimensions: Any) -> Any:
        """The tensor: it can be cut into one part in each dimension only."""
        if any(n != 1 for n in partition_dimensions):
            text = "experimental_split_to_logical_devices: a replica is one core; got "
            text += f"{describe(list(partition_dimensions))}. Use tf.experimental.dtensor."
            raise at_site(ValueError(text))
        return tensor


class MultiWorkerMirroredStrategy(Strategy):
    """Replicas in several processes; here in one, on all accelerators or the CPU.

    Args:
        cluster_resolver: must be `None`.
        communication_options: hints, which change no result.

    Raises:
        NotImplementedError: `TF_CONFIG` names several workers.
    """

    def __init__(
        self,
        cluster_resolver: Any = None,
        communication_options: CommunicationOptions | None = None,
    ) -> None:
        if cluster_resolver is not None or _workers() > 1:
            raise at_site(
                NotImplementedError(
                    "MultiWorkerMirroredStrategy: Wengert runs one process so far. Use "
                    "tf.distribute.MirroredStrategy() on one machine, without TF_CONFIG."
                )
            )
        devices = default_devices()
        super().__init__(devices[:1] if "device:CPU" in devices[0] else devices)


def _workers() -> int:
    """How many workers and chiefs `TF_CONFIG` names."""
    try:
        cluster = json.loads(os.environ.get("TF_CONFIG") or "{}").get("cluster", {})
    except (ValueError, AttributeError):
        raise at_site(ValueError("TF_CONFIG: it must be a JSON object with a `cluster`.")) from None
    return sum(len(cluster.get(job, ())) for job in ("chief", "worker", "master"))


class OldMultiWorkerMirroredStrategy(MultiWorkerMirroredStrategy):
    """`tf.distribute.experimental.MultiWorkerMirroredStrategy`, with its older arguments."""

    def __init__(
        self,
        communication: CommunicationImplementation = CommunicationImplementation.AUTO,
        cluster_resolver: Any = None,
    ) -> None:
        super().__init__(cluster_resolver, CommunicationOptions(implementation=communication))


class OldTPUStrategy(TPUStrategy):
    """`tf.distribute.experimental.TPUStrategy`, with its older arguments."""

    def __init__(self, tpu_cluster_resolver: Any = None, device_assignment: Any = None) -> None:
        super().__init__(tpu_cluster_resolver, device_assignment)


class ParameterServerStrategy(Strategy):
    """Variables on servers that workers update one by one; Wengert has synchronous steps only."""

    def __init__(self, cluster_resolver: Any = None, variable_partitioner: Any = None) -> NoReturn:
        raise at_site(
            NotImplementedError(
                "ParameterServerStrategy: Wengert has no asynchronous updates: the devices of a "
                "step run one program. Use tf.distribute.MirroredStrategy(), whose replicas "
                "update together, or tf.experimental.dtensor for variables too large for one "
                "device."
            )
        )

"""What the functions that make inputs are told, and the options of distributed inputs."""

from __future__ import annotations

import enum
from typing import Any, NamedTuple

from wengert.core.errors import at_site, coded


class InputReplicationMode(enum.Enum):
    """Whether a function that makes datasets is called for each worker or for each replica."""

    PER_WORKER = "PER_WORKER"
    PER_REPLICA = "PER_REPLICA"


class InputOptions(NamedTuple):
    """How a distributed dataset brings batches to its replicas.

    Args:
        experimental_fetch_to_device: whether batches go to the devices ahead of the step.
        experimental_replication_mode: for `distribute_datasets_from_function`: one dataset whose
            elements go round the replicas, or a dataset for each.
        experimental_place_dataset_on_device: without effect; datasets run on the host.
        experimental_per_replica_buffer_size: how many batches are made ahead.
    """

    experimental_fetch_to_device: bool | None = True
    experimental_replication_mode: InputReplicationMode = InputReplicationMode.PER_WORKER
    experimental_place_dataset_on_device: bool = False
    experimental_per_replica_buffer_size: int = 1


class RunOptions(NamedTuple):
    """Options of `Strategy.run` for TPUs, which change no result."""

    experimental_enable_dynamic_batch_size: bool = True
    experimental_bucketizing_dynamic_shape: bool = False
    experimental_xla_options: Any = None


class InputContext:
    """What a function that makes the dataset of a worker is told."""

    def __init__(
        self,
        num_input_pipelines: int = 1,
        input_pipeline_id: int = 0,
        num_replicas_in_sync: int = 1,
    ) -> None:
        self._num_input_pipelines = num_input_pipelines
        self._input_pipeline_id = input_pipeline_id
        self._num_replicas_in_sync = num_replicas_in_sync

    @property
    def num_input_pipelines(self) -> int:
        """The number of datasets that are read at once."""
        return self._num_input_pipelines

    @property
    def input_pipeline_id(self) -> int:
        """Which of them this is, from 0."""
        return self._input_pipeline_id

    @property
    def num_replicas_in_sync(self) -> int:
        """The number of replicas of the whole program."""
        return self._num_replicas_in_sync

    def __repr__(self) -> str:
        return (
            f"tf.distribute.InputContext(input pipeline id {self._input_pipeline_id}, "
            f"total: {self._num_input_pipelines})"
        )

    def get_per_replica_batch_size(self, global_batch_size: int) -> int:
        """The batch of one replica.

        Raises:
            ValueError: the replicas do not divide the global batch.
        """
        if global_batch_size % self._num_replicas_in_sync:
            error = ValueError(
                f"get_per_replica_batch_size: {global_batch_size} does not divide among "
                f"{self._num_replicas_in_sync} replicas. Choose a multiple."
            )
            raise coded(at_site(error), "WG903")
        return global_batch_size // self._num_replicas_in_sync


class ValueContext:
    """What a function that makes the value of a replica is told."""

    def __init__(self, replica_id_in_sync_group: int = 0, num_replicas_in_sync: int = 1) -> None:
        self._replica_id_in_sync_group = replica_id_in_sync_group
        self._num_replicas_in_sync = num_replicas_in_sync

    @property
    def replica_id_in_sync_group(self) -> int:
        """Which replica the value is for, from 0."""
        return self._replica_id_in_sync_group

    @property
    def num_replicas_in_sync(self) -> int:
        """The number of replicas."""
        return self._num_replicas_in_sync

"""What libraries ask of TensorFlow's eager context, its strategies and its switches."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from wengert.core import dtypes
from wengert.core.context import executing_eagerly
from wengert.core.convert import operand
from wengert.distribute.strategies import get_replica_context, get_strategy
from wengert.runtime.placement import init_scope

if TYPE_CHECKING:
    from wengert.distribute.strategies import Strategy


def maybe_merge_call(fn: Callable[..., Any], strategy: Strategy, *args: Any, **kwargs: Any) -> Any:
    """Runs `fn` once for all replicas."""
    context = get_replica_context()
    if context is None:
        return fn(strategy, *args, **kwargs)
    return context.merge_call(fn, args, kwargs)


def is_alone() -> bool:
    """Whether there is one replica; several must agree before they branch on their gradients."""
    return get_strategy().num_replicas_in_sync == 1


class Context:
    """The state of eager execution."""

    device_name = ""
    executing_eagerly = staticmethod(executing_eagerly)
    device_spec = SimpleNamespace(device_type=None)  # none is chosen: dm-sonnet asks for GPUs then
    summary_recording = False
    ensure_initialized = staticmethod(lambda: None)

    def clear_kernel_cache(self) -> None:
        """Called by `clear_session`; eager operations have no cache to clear."""

    def num_gpus(self) -> int:
        """How many GPUs there are."""
        from wengert.runtime.hardware import list_physical_devices

        return len(list_physical_devices("GPU"))


@functools.cache
def context() -> Context:
    """The one context."""
    return Context()


def eager_mode() -> Any:
    """A block whose operations run at once."""
    return init_scope()


def get_device_name() -> str:
    """The device that a block names; none is kept by name."""
    return ""


def nothing(*args: Any, **kwargs: Any) -> None:
    """What is done at once, or need not be done."""


def false(*args: Any, **kwargs: Any) -> bool:
    """What is never so."""
    return False


def true(*args: Any, **kwargs: Any) -> bool:
    """What is always so."""
    return True


def none(*args: Any, **kwargs: Any) -> None:
    """What there is none of."""


def standard_analysis(node: Any, *args: Any, **kwargs: Any) -> Any:
    """The syntax tree as it is."""
    return node


def no_names(*args: Any, **kwargs: Any) -> list[str]:
    """An empty list of names."""
    return []


def auto_shard_dataset(dataset: Any, num_shards: int, index: int, *args: Any, **kwargs: Any) -> Any:
    """The part of a dataset for one of several machines."""
    return dataset.shard(num_shards, index)


ENABLE_CONTROL_FLOW_V2 = True


def null_context(*args: Any, **kwargs: Any) -> Any:
    """A block in which nothing changes."""
    return contextlib.nullcontext()


def execute_fn_for_device(
    device_branch_fns: dict[str, Any], default_fn: Any, name: str = ""
) -> Any:
    """Calls the function for the CPU, or the default: XLA compiles it for every device."""
    return device_branch_fns.get("CPU", default_fn)()


def compute_batch_size(dataset: Any) -> Any:
    """How many rows the batches of a dataset have, or -1, for `keras.distribution`."""
    shape = dataset.element_spec[0].shape if isinstance(dataset.element_spec, tuple) else None
    return operand(-1 if shape is None or shape[0] is None else shape[0], dtypes.int64)


def summary_metadata() -> Any:
    """An empty message for the graph of a model in TensorBoard."""
    from importlib import import_module

    return import_module("tensorboard.compat.proto.summary_pb2").SummaryMetadata()

"""Settings of TensorFlow's runtime: kept and told again; those that Wengert has obey them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from wengert.core.compile_cache import CACHE, prepare, tell_jax
from wengert.core.errors import PermissionDeniedError, at_site, describe, require
from wengert.core.process_settings import PROCESS
from wengert.io.paths import local


@dataclass
class Runtime:
    """The settings of the runtime, for the process."""

    device_policy: str = "silent"
    inter_op: int = 0
    intra_op: int = 0
    jit: str = ""
    log_placement: bool = False
    soft_placement: bool = True
    synchronous: bool = True
    tensor_float_32: bool = True


RUNTIME = Runtime()
_OPTIONS = {
    "arithmetic_optimization", "auto_mixed_precision", "auto_parallel", "constant_folding",
    "debug_stripper", "dependency_optimization", "disable_meta_optimizer", "disable_model_pruning",
    "function_optimization", "implementation_selector", "layout_optimizer", "loop_optimization",
    "min_graph_nodes", "pin_to_host_optimization", "remapping", "scoped_allocator_optimization",
    "shape_optimization",
}  # fmt: skip
_options: dict[str, Any] = {"disable_model_pruning": False, "disable_meta_optimizer": False}
_POLICIES = ("silent", "silent_for_int32", "warn", "explicit")


def enable_op_determinism() -> None:
    """Refuses random numbers that no seed fixes; all else gives the same numbers as it is."""
    PROCESS.deterministic = True


def disable_op_determinism() -> None:
    """Takes `enable_op_determinism` back."""
    PROCESS.deterministic = False


def is_op_determinism_enabled() -> bool:
    """Whether `enable_op_determinism` was called."""
    return PROCESS.deterministic


def enable_traceback_filtering() -> None:
    """Shows errors without the frames of Wengert, JAX and Keras, as from the beginning."""
    PROCESS.filters_tracebacks = True


def disable_traceback_filtering() -> None:
    """Shows all frames of errors, those of Wengert, JAX and Keras too."""
    PROCESS.filters_tracebacks = False


def is_traceback_filtering_enabled() -> bool:
    """Whether errors are shown without the frames of Wengert, JAX and Keras."""
    return PROCESS.filters_tracebacks


def get_inter_op_parallelism_threads() -> int:
    """What `set_inter_op_parallelism_threads` was told; 0 leaves it to the system."""
    return RUNTIME.inter_op


def set_inter_op_parallelism_threads(num_threads: int) -> None:
    """Accepted; operations run one after the other."""
    RUNTIME.inter_op = int(num_threads)


def get_intra_op_parallelism_threads() -> int:
    """What `set_intra_op_parallelism_threads` was told; 0 leaves it to the system."""
    return RUNTIME.intra_op


def set_intra_op_parallelism_threads(num_threads: int) -> None:
    """How many threads share a large array in eager code; 0 means as many as there are cores.

    NumPy's and XLA's libraries choose their threads when they start.
    """
    RUNTIME.intra_op = int(num_threads)
    PROCESS.block_threads = max(0, int(num_threads))


def get_jit() -> str:
    """`"autoclustering"` if `set_jit` asked for it, else nothing."""
    return RUNTIME.jit


def set_jit(enabled: bool | str) -> None:
    """Accepted; which functions are compiled is Wengert's own choice, or `jit_compile`'s."""
    if isinstance(enabled, bool):
        RUNTIME.jit = "autoclustering" if enabled else ""
    elif enabled in ("autoclustering", ""):
        RUNTIME.jit = enabled


def get_experimental_options() -> dict[str, Any]:
    """The options of TensorFlow's graph optimizer that were set."""
    return dict(_options)


def set_experimental_options(options: dict[str, Any]) -> None:
    """Accepted; Wengert's graph passes have no options. Unknown names are left out."""
    _options.update({k: v for k, v in options.items() if k in _OPTIONS})


def get_soft_device_placement() -> bool:
    """Whether operations may run on another device than they name."""
    return RUNTIME.soft_placement


def set_soft_device_placement(enabled: bool) -> None:
    """Accepted; operations run where there is a way to run them."""
    RUNTIME.soft_placement = bool(enabled)


def get_log_device_placement() -> bool:
    """Whether it was asked that operations tell where they run."""
    return RUNTIME.log_placement


def set_log_device_placement(enabled: bool) -> None:
    """Accepted; `f.coverage()` tells where the operations of a function run."""
    RUNTIME.log_placement = bool(enabled)


def get_synchronous_execution() -> bool:
    """Whether operations are waited for."""
    return RUNTIME.synchronous


def set_synchronous_execution(enable: bool | None) -> None:
    """Accepted; eager operations are done when they return."""
    RUNTIME.synchronous = enable is None or bool(enable)


def get_device_policy() -> str:
    """What happens when a tensor is on another device than its operation."""
    return RUNTIME.device_policy


def set_device_policy(device_policy: str | None) -> None:
    """Accepted; tensors are moved silently."""
    chosen = "silent" if device_policy is None else device_policy
    if chosen not in _POLICIES:
        raise at_site(
            ValueError(
                f"set_device_policy: choose one of {', '.join(_POLICIES)}; got "
                f"{describe(device_policy)}."
            )
        )
    RUNTIME.device_policy = chosen


def tensor_float_32_execution_enabled() -> bool:
    """Whether matrix products of float32 may round their factors on GPUs that are faster so."""
    return RUNTIME.tensor_float_32


def enable_tensor_float_32_execution(enabled: bool) -> None:
    """Says whether matrix products of float32 may round their factors on GPUs.

    It is JAX's setting `jax_default_matmul_precision`; functions that are compiled already stay.
    """
    RUNTIME.tensor_float_32 = bool(enabled)
    tell_jax("jax_default_matmul_precision", None if enabled else "highest")


def get_compile_cache() -> str | None:
    """The folder in which compiled functions are kept; `None` where they are not kept."""
    CACHE.attach()
    return CACHE.folder


def set_compile_cache(path: Any) -> None:
    """Keeps compiled functions in a folder, from which later processes take them; `None` does not.

    Without this call the folder is `wengert/compiled` among the user's caches, and what takes a
    second to compile is kept in it. A folder that is set keeps everything. It is JAX's own cache,
    256 MiB of it; what it holds depends on the program, the versions of JAX and the processor, and
    it may be deleted at any time. Entries are code, so the folder must be the user's alone.
    """
    folder = None if path is None else os.path.abspath(local("set_compile_cache", path))
    refused = None if folder is None else prepare(folder)
    require(
        refused is None,
        "set_compile_cache",
        f"{folder} cannot keep compiled programs: {refused}",
        help="Give a folder of your own that nobody else can reach (`chmod 700`).",
        kind=PermissionDeniedError,
    )
    CACHE.choose(folder)


def accept() -> None:
    """Accepted; there is nothing to set."""

"""The names of `tf.config`: devices and settings."""

from types import SimpleNamespace as _Namespace

from wengert.core.missing_names import namespace as _namespace
from wengert.distribute.tpu import connect_to_cluster as experimental_connect_to_cluster
from wengert.functions.tracing_state import functions_run_eagerly, run_functions_eagerly
from wengert.functions.tracing_state import (
    functions_run_eagerly as experimental_functions_run_eagerly,
)
from wengert.functions.tracing_state import (
    run_functions_eagerly as experimental_run_functions_eagerly,
)
from wengert.runtime import hardware as _hardware
from wengert.runtime import settings as _settings
from wengert.runtime.hardware import (
    LogicalDevice,
    LogicalDeviceConfiguration,
    PhysicalDevice,
    get_logical_device_configuration,
    get_visible_devices,
    list_logical_devices,
    list_physical_devices,
    set_logical_device_configuration,
    set_visible_devices,
)
from wengert.runtime.settings import get_soft_device_placement, set_soft_device_placement

experimental = _Namespace(
    VirtualDeviceConfiguration=LogicalDeviceConfiguration,
    disable_mlir_bridge=_settings.accept,
    enable_mlir_bridge=_settings.accept,
    enable_op_determinism=_settings.enable_op_determinism,
    enable_tensor_float_32_execution=_settings.enable_tensor_float_32_execution,
    get_compile_cache=_settings.get_compile_cache,
    get_device_details=_hardware.get_device_details,
    get_device_policy=_settings.get_device_policy,
    get_memory_growth=_hardware.get_memory_growth,
    get_memory_info=_hardware.get_memory_info,
    get_memory_usage=_hardware.get_memory_usage,
    get_synchronous_execution=_settings.get_synchronous_execution,
    get_virtual_device_configuration=get_logical_device_configuration,
    get_visible_devices=get_visible_devices,
    list_logical_devices=list_logical_devices,
    list_physical_devices=list_physical_devices,
    reset_memory_stats=_hardware.reset_memory_stats,
    set_compile_cache=_settings.set_compile_cache,
    set_device_policy=_settings.set_device_policy,
    set_memory_growth=_hardware.set_memory_growth,
    set_synchronous_execution=_settings.set_synchronous_execution,
    set_virtual_device_configuration=set_logical_device_configuration,
    set_visible_devices=set_visible_devices,
    tensor_float_32_execution_enabled=_settings.tensor_float_32_execution_enabled,
)
optimizer = _Namespace(
    get_experimental_options=_settings.get_experimental_options,
    get_jit=_settings.get_jit,
    set_experimental_options=_settings.set_experimental_options,
    set_jit=_settings.set_jit,
)
threading = _Namespace(
    get_inter_op_parallelism_threads=_settings.get_inter_op_parallelism_threads,
    get_intra_op_parallelism_threads=_settings.get_intra_op_parallelism_threads,
    set_inter_op_parallelism_threads=_settings.set_inter_op_parallelism_threads,
    set_intra_op_parallelism_threads=_settings.set_intra_op_parallelism_threads,
)

__getattr__, __dir__ = _namespace("tf.config", globals())

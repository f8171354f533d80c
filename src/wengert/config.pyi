"""Made by `python -m tools.stubs`: the names that checkers and editors see."""

from wengert.distribute.tpu import connect_to_cluster as _experimental_connect_to_cluster
from wengert.functions.tracing_state import (
    functions_run_eagerly as _experimental_functions_run_eagerly,
)
from wengert.functions.tracing_state import functions_run_eagerly as functions_run_eagerly
from wengert.functions.tracing_state import (
    run_functions_eagerly as _experimental_run_functions_eagerly,
)
from wengert.functions.tracing_state import run_functions_eagerly as run_functions_eagerly
from wengert.runtime import hardware as _hardware
from wengert.runtime import settings as _settings
from wengert.runtime.hardware import LogicalDevice as LogicalDevice
from wengert.runtime.hardware import LogicalDeviceConfiguration as LogicalDeviceConfiguration
from wengert.runtime.hardware import LogicalDeviceConfiguration as _LogicalDeviceConfiguration
from wengert.runtime.hardware import PhysicalDevice as PhysicalDevice
from wengert.runtime.hardware import (
    get_logical_device_configuration as _get_logical_device_configuration,
)
from wengert.runtime.hardware import (
    get_logical_device_configuration as get_logical_device_configuration,
)
from wengert.runtime.hardware import get_visible_devices as _get_visible_devices
from wengert.runtime.hardware import get_visible_devices as get_visible_devices
from wengert.runtime.hardware import list_logical_devices as _list_logical_devices
from wengert.runtime.hardware import list_logical_devices as list_logical_devices
from wengert.runtime.hardware import list_physical_devices as _list_physical_devices
from wengert.runtime.hardware import list_physical_devices as list_physical_devices
from wengert.runtime.hardware import (
    set_logical_device_configuration as _set_logical_device_configuration,
)
from wengert.runtime.hardware import (
    set_logical_device_configuration as set_logical_device_configuration,
)
from wengert.runtime.hardware import set_visible_devices as _set_visible_devices
from wengert.runtime.hardware import set_visible_devices as set_visible_devices
from wengert.runtime.settings import get_soft_device_placement as get_soft_device_placement
from wengert.runtime.settings import set_soft_device_placement as set_soft_device_placement

experimental_connect_to_cluster = _experimental_connect_to_cluster
experimental_functions_run_eagerly = _experimental_functions_run_eagerly
experimental_run_functions_eagerly = _experimental_run_functions_eagerly

class experimental:
    VirtualDeviceConfiguration = _LogicalDeviceConfiguration
    disable_mlir_bridge = staticmethod(_settings.accept)
    enable_mlir_bridge = staticmethod(_settings.accept)
    enable_op_determinism = staticmethod(_settings.enable_op_determinism)
    enable_tensor_float_32_execution = staticmethod(_settings.enable_tensor_float_32_execution)
    get_compile_cache = staticmethod(_settings.get_compile_cache)
    get_device_details = staticmethod(_hardware.get_device_details)
    get_device_policy = staticmethod(_settings.get_device_policy)
    get_memory_growth = staticmethod(_hardware.get_memory_growth)
    get_memory_info = staticmethod(_hardware.get_memory_info)
    get_memory_usage = staticmethod(_hardware.get_memory_usage)
    get_synchronous_execution = staticmethod(_settings.get_synchronous_execution)
    get_virtual_device_configuration = staticmethod(_get_logical_device_configuration)
    get_visible_devices = staticmethod(_get_visible_devices)
    list_logical_devices = staticmethod(_list_logical_devices)
    list_physical_devices = staticmethod(_list_physical_devices)
    reset_memory_stats = staticmethod(_hardware.reset_memory_stats)
    set_compile_cache = staticmethod(_settings.set_compile_cache)
    set_device_policy = staticmethod(_settings.set_device_policy)
    set_memory_growth = staticmethod(_hardware.set_memory_growth)
    set_synchronous_execution = staticmethod(_settings.set_synchronous_execution)
    set_virtual_device_configuration = staticmethod(_set_logical_device_configuration)
    set_visible_devices = staticmethod(_set_visible_devices)
    tensor_float_32_execution_enabled = staticmethod(_settings.tensor_float_32_execution_enabled)

class optimizer:
    get_experimental_options = staticmethod(_settings.get_experimental_options)
    get_jit = staticmethod(_settings.get_jit)
    set_experimental_options = staticmethod(_settings.set_experimental_options)
    set_jit = staticmethod(_settings.set_jit)

class threading:
    get_inter_op_parallelism_threads = staticmethod(_settings.get_inter_op_parallelism_threads)
    get_intra_op_parallelism_threads = staticmethod(_settings.get_intra_op_parallelism_threads)
    set_inter_op_parallelism_threads = staticmethod(_settings.set_inter_op_parallelism_threads)
    set_intra_op_parallelism_threads = staticmethod(_settings.set_intra_op_parallelism_threads)

"""Devices and settings: as TensorFlow names them, JAX asked only where it must be."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

import wengert as tf
from wengert.engines.devices import accelerators
from wengert.runtime import settings

config: Any = tf.config
CPU = config.PhysicalDevice("/physical_device:CPU:0", "CPU")


@pytest.fixture
def gpus(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    """Two GPUs as JAX would show them, and what JAX was told."""
    jax = pytest.importorskip("jax")
    devices = [
        SimpleNamespace(
            platform=p, device_kind="H200", compute_capability="9.0",
            memory_stats=lambda: {"bytes_in_use": 5, "peak_bytes_in_use": 7},
        )
        for p in ("cpu", "gpu", "gpu")
    ]  # fmt: skip
    told: list[Any] = []
    monkeypatch.setattr(
        jax, "local_devices", lambda backend=None: devices[: 1 if backend == "cpu" else None]
    )
    monkeypatch.setattr(jax.config, "update", lambda name, value: told.append((name, value)))
    monkeypatch.setattr("wengert.engines.devices._has_plugin", lambda: True)
    accelerators.cache_clear()
    yield [devices, told]
    accelerators.cache_clear()


def says(kind: type[BaseException], call: Any) -> str:
    with pytest.raises(kind) as error:
        call()
    return str(error.value)


def test_the_cpu_is_there():
    assert config.list_physical_devices("CPU") == [CPU]
    assert CPU in config.list_physical_devices()
    for odd in ("cpu", "XX", 3):
        assert config.list_physical_devices(odd) == []
    assert config.list_logical_devices("CPU") == [config.LogicalDevice("/device:CPU:0", "CPU")]
    assert config.get_visible_devices("CPU") == [CPU]
    assert config.experimental.list_physical_devices is config.list_physical_devices


def test_a_machine_without_plugins_is_not_asked_for_gpus():
    code = """
import sys
import wengert as tf
assert "wengert.runtime.hardware" not in sys.modules
found = tf.config.list_physical_devices("CPU")
assert "jax" not in sys.modules
import importlib.util
if not (importlib.util.find_spec("jax_plugins") or importlib.util.find_spec("libtpu")):
    assert tf.config.list_physical_devices() == found
    tf.config.set_visible_devices([], "GPU")
    assert "jax" not in sys.modules
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_gpus(gpus):
    names = [d.name for d in config.list_physical_devices("GPU")]
    assert names == ["/physical_device:GPU:0", "/physical_device:GPU:1"]
    assert [d.name for d in config.list_logical_devices()] == [
        "/device:CPU:0", "/device:GPU:0", "/device:GPU:1",
    ]  # fmt: skip
    first = config.list_physical_devices("GPU")[0]
    assert config.experimental.get_device_details(first) == {
        "device_name": "H200",
        "compute_capability": (9, 0),
    }
    assert config.experimental.get_memory_info("GPU:1") == {"current": 5, "peak": 7}
    assert config.experimental.get_memory_usage("/device:gpu:0") == 5
    assert config.experimental.get_memory_growth(first) is False
    config.experimental.set_memory_growth(first, True)
    assert config.experimental.get_memory_growth(first) is True
    config.experimental.reset_memory_stats("GPU:0")


def test_which_gpus_are_used(gpus):
    devices, told = gpus
    second = config.list_physical_devices("GPU")[1]
    config.set_visible_devices(second, "GPU")
    assert config.get_visible_devices("GPU") == [second]
    assert [d.name for d in config.list_logical_devices("GPU")] == ["/device:GPU:0"]
    config.set_visible_devices([], "GPU")
    assert config.get_visible_devices() == [CPU]
    config.set_visible_devices([CPU, second])
    assert config.get_visible_devices() == [CPU, second]
    assert told == [("jax_default_device", devices[i]) for i in (2, 0, 2)]


def test_a_jax_that_does_not_start_shows_the_cpu(gpus, monkeypatch):
    import jax

    def fails(backend: Any = None) -> Any:
        raise RuntimeError("no driver")

    monkeypatch.setattr(jax, "local_devices", fails)
    accelerators.cache_clear()
    assert config.list_physical_devices() == [CPU]


def test_devices_that_are_not_there():
    experimental = config.experimental
    for call, text in (
        (lambda: config.set_visible_devices([3]), "set_visible_devices: there is no device 3."),
        (lambda: config.set_visible_devices([CPU], "GPU"),
         f"set_visible_devices: there is no device {CPU!r}."),
        (lambda: experimental.set_memory_growth("GPU:0", True),
         "set_memory_growth: there is no device GPU:0."),
        (lambda: experimental.set_memory_growth(CPU, True),
         "set_memory_growth: the memory of the CPU always grows."),
        (lambda: experimental.get_device_details("x"),
         "get_device_details: a physical device is needed; got x."),
        (lambda: experimental.get_memory_info("GPU:7"),
         "get_memory_info: there is no device GPU:7."),
        (lambda: experimental.reset_memory_stats("foo"),
         'reset_memory_stats: a device is named like "GPU:0"; got foo.'),
        (lambda: experimental.set_device_policy("loud"),
         "set_device_policy: choose one of silent, silent_for_int32, warn, explicit; got loud."),
    ):  # fmt: skip
        assert says(ValueError, call) == text
    with pytest.raises(KeyError):
        experimental.get_memory_growth(CPU)
    assert experimental.get_device_details(CPU) == {}
    assert experimental.get_memory_info("CPU:0") == {"current": 0, "peak": 0}


def test_a_device_shown_as_several():
    assert config.get_logical_device_configuration(CPU) is None
    config.set_logical_device_configuration(CPU, [config.LogicalDeviceConfiguration()] * 2)
    assert [d.name for d in config.list_logical_devices("CPU")] == [
        "/device:CPU:0",
        "/device:CPU:1",
    ]
    assert len(config.get_logical_device_configuration(CPU)) == 2


def test_settings_are_told_again():
    threading, optimizer = config.threading, config.optimizer
    assert threading.get_inter_op_parallelism_threads() == 0
    threading.set_inter_op_parallelism_threads(2)
    threading.set_intra_op_parallelism_threads(3)
    assert threading.get_inter_op_parallelism_threads() == 2
    assert threading.get_intra_op_parallelism_threads() == 3
    assert optimizer.get_jit() == ""
    for given, found in ((True, "autoclustering"), (False, ""), ("autoclustering",) * 2):
        optimizer.set_jit(given)
        assert optimizer.get_jit() == found
    defaults = {"disable_model_pruning": False, "disable_meta_optimizer": False}
    assert optimizer.get_experimental_options() == defaults
    optimizer.set_experimental_options({"layout_optimizer": False, "unheard_of": 1})
    assert optimizer.get_experimental_options() == {**defaults, "layout_optimizer": False}
    assert config.get_soft_device_placement() is True
    config.set_soft_device_placement(False)
    assert config.get_soft_device_placement() is False
    assert config.experimental.get_synchronous_execution() is True
    assert config.experimental.get_device_policy() == "silent"
    config.experimental.set_device_policy("warn")
    assert config.experimental.get_device_policy() == "warn"


def test_determinism():
    assert not settings.is_op_determinism_enabled()
    assert config.experimental.enable_op_determinism() is None
    try:
        assert settings.is_op_determinism_enabled()
        tf.random.set_seed(1)
        first = tf.random.normal([3]).numpy()
        tf.random.set_seed(1)
        assert (tf.random.normal([3]).numpy() == first).all()
    finally:
        settings.disable_op_determinism()
        tf.random.set_seed(None)


def test_rounding_of_float32_on_gpus(gpus, monkeypatch):
    _, told = gpus
    assert config.experimental.tensor_float_32_execution_enabled()
    config.experimental.enable_tensor_float_32_execution(False)
    assert not config.experimental.tensor_float_32_execution_enabled()
    config.experimental.enable_tensor_float_32_execution(True)
    assert told == [
        ("jax_default_matmul_precision", "highest"),
        ("jax_default_matmul_precision", None),
    ]
    # Before JAX is loaded, it finds the setting in its environment.
    monkeypatch.delitem(sys.modules, "jax")
    monkeypatch.setenv("JAX_DEFAULT_MATMUL_PRECISION", "")
    config.experimental.enable_tensor_float_32_execution(False)
    assert os.environ["JAX_DEFAULT_MATMUL_PRECISION"] == "highest"
    config.experimental.enable_tensor_float_32_execution(True)
    assert "JAX_DEFAULT_MATMUL_PRECISION" not in os.environ

"""Where functions run and where their results are; a second CPU of JAX stands for a GPU."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import wengert as tf
from wengert.core import compile_cache
from wengert.core.tensor import DeviceTensor, Tensor
from wengert.engines import devices
from wengert.runtime import settings

CPU = "/job:localhost/replica:0/task:0/device:CPU:0"
GPU = "/job:localhost/replica:0/task:0/device:GPU:0"


def fresh(code: str, *args: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code, *args],
        capture_output=True, text=True, check=False, env=os.environ | environment,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


# Without an accelerator.


@pytest.mark.parametrize(
    "name", [None, "", "/CPU:0", "cpu", "CPU:3", "/GPU:0", "/device:GPU:1", CPU, GPU, "/gpu:*"]
)
def test_any_device_will_do_where_there_is_one(name):
    f = tf.function(lambda x: x * 2.0)
    with tf.device(name):
        y = f(tf.constant(2.0))
        assert type(y) is Tensor and y.device == CPU
        assert tf.Variable(1.0).device == CPU


def test_names_that_are_none():
    with pytest.raises(ValueError, match=r'device: a device is named like "/GPU:0"; got foo\.'):
        tf.device("foo")
    with pytest.raises(ValueError, match="a device is named like"):
        tf.device(3)
    with pytest.raises(RuntimeError, match="device: functions are not taken"):
        tf.device(lambda op: "/CPU:0")


def test_a_device_that_must_be_there(monkeypatch):
    monkeypatch.setattr(settings.RUNTIME, "soft_placement", False)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"there is no device /GPU:0 \(there"):
        tf.device("/GPU:0")


def test_a_machine_without_accelerators_asks_nothing_of_jax():
    code = """
import sys
import wengert as tf
assert float(tf.function(lambda x: x + 1.0)(tf.constant(1.0))) == 2.0
with tf.device("/GPU:0"):
    tf.Variable(1.0).device
import importlib.util
if not (importlib.util.find_spec("jax_plugins") or importlib.util.find_spec("libtpu")):
    assert "jax" not in sys.modules
"""
    fresh(code)


# With one, in a process of its own.

PRELUDE = """
import numpy as np
import jax
import wengert as tf
from wengert.core import compile_cache
from wengert.core.tensor import DeviceTensor, FreshTensor, Tensor
from wengert.engines import devices

second = jax.local_devices()[1]
devices.accelerators = lambda: {"GPU:0": second}
CPU = "/job:localhost/replica:0/task:0/device:CPU:0"
GPU = "/job:localhost/replica:0/task:0/device:GPU:0"
start = np.random.default_rng(0).normal(size=(64, 64)).astype(np.float32)
x = tf.constant(start)
w = tf.Variable(start)

@tf.function(jit_compile=True)
def apply(x):
    return x @ w

@tf.function(jit_compile=True)
def step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(x @ w))
    w.assign_sub(0.1 * tape.gradient(loss, w))
    return loss
"""


def with_gpu(code: str) -> None:
    fresh(PRELUDE + code, XLA_FLAGS="--xla_force_host_platform_device_count=2")


def test_results_and_variables_stay_on_the_device():
    with_gpu("""
assert w.device == CPU and x.device == CPU
y = apply(x)
assert type(y) is DeviceTensor and y._host is None
assert y.device == GPU and w.device == GPU and w._host is not None
assert y.shape == [64, 64] and y.dtype == tf.float32 and y.ndim == 2
z = apply(y)
assert y._host is None, "a result goes into the next call as it is"
np.testing.assert_allclose(z.numpy(), start @ start @ start, rtol=1e-3, atol=1e-3)
assert type(z + 1.0) is Tensor and (z + 1.0).device == CPU
assert type(y.cpu()) is Tensor and y.cpu().device == CPU
first = step(x)
assert w._host is None and w.device == GPU
assert float(step(x)) < float(first)
w.assign(start)
assert w.device == CPU
np.testing.assert_allclose(apply(x), start @ start, rtol=1e-4, atol=1e-4)
assert w.device == GPU
""")


def test_numbers_that_numpy_gives_beside_a_device():
    with_gpu("""
moments = tf.function(lambda x: tf.nn.moments(x, [0]))
mean, variance = moments(tf.constant([1.0, 3.0]))
assert float(mean) == 2.0 and float(variance) == 1.0
""")


def test_rows_that_numpy_gathers_beside_a_device():
    with_gpu("""
@tf.function
def total(x, n):
    def turn(i, y):
        def step(k, s):
            return k + 1, s + tf.reduce_sum(x) * tf.cast(k, tf.float32)

        return i + 1, y + tf.while_loop(lambda k, s: k < i, step, [0, 0.0])[1] ** 2

    return tf.while_loop(lambda i, y: i < n, turn, [0, 0.0])[1]

x = tf.constant([1.0, 2.0])
with tf.GradientTape() as tape:
    tape.watch(x)
    y = total(x, tf.constant(4))
assert float(y) == 90.0 and tape.gradient(y, x).numpy().tolist() == [60.0, 60.0]
""")


def test_steps_use_the_memory_of_their_variables_again():
    with_gpu("""
copies = []
plain = jax.numpy.copy
jax.numpy.copy = lambda x: copies.append(x) or plain(x)
for _ in range(4):
    step(x)
assert not copies
kept = w._device
step(x)
assert len(copies) == 1 and not kept.is_deleted(), "somebody else holds it"
""")


def test_numbers_of_64_bits_stay_so():
    with_gpu("""
v = tf.Variable(np.full(3, 1.0 + 1e-12))
c = tf.constant(np.full(3, 1e-12))
add = tf.function(lambda: v.assign_add(c), jit_compile=True)
for _ in range(3):
    y = add()
assert y.dtype == tf.float64 and type(y) is DeviceTensor
np.testing.assert_allclose(v.numpy() - 1.0, 4e-12, rtol=1e-3)
""")


def test_a_block_keeps_a_call_on_the_cpu():
    with_gpu("""
there = float(step(x))
w.assign(start)
with tf.device("/CPU:0"):
    loss = step(x)
    assert type(loss) is FreshTensor and loss.device == CPU and w.device == CPU
    with tf.device("/GPU:0"):
        assert apply(x).device == GPU
    assert apply(x).device == CPU
np.testing.assert_allclose(float(loss), there, rtol=1e-5)
assert apply(x).device == GPU
""")


def test_what_a_tape_keeps_is_not_taken():
    with_gpu("""
f = tf.function(lambda x: tf.reduce_sum(tf.square(x @ w)), jit_compile=True)
step(x)
before = w.numpy()
w._place(jax.device_put(before, second))
with tf.GradientTape() as tape:
    y = f(x)
held = tf.function(lambda: w.read_value(), jit_compile=True)()
step(x)
step(x)
np.testing.assert_array_equal(held.numpy(), before)
np.testing.assert_allclose(
    tape.gradient(y, w).numpy(), 2 * start.T @ (start @ before), rtol=1e-3, atol=1e-3
)
""")


def test_smaller_work_is_worth_an_accelerator():
    with_gpu("""
def chain(x):
    for _ in range(40):
        x = tf.tanh(x)
    return x

f, tiny = tf.function(chain), tf.function(lambda x: x + 1.0)
row = tf.ones([16, 16])
f(row)
assert f(row).device == GPU and tiny(tf.constant(1.0)).device == CPU
with tf.device("/CPU:0"):
    g = tf.function(chain)
    g(row)
    assert type(g(row)) is Tensor and "host" in str(g.coverage())
""")


def test_it_is_said_once(monkeypatch, caplog):
    from types import SimpleNamespace

    import jax

    found = [SimpleNamespace(platform=p) for p in ("cpu", "gpu", "cuda")]
    monkeypatch.setattr(jax, "local_devices", lambda backend=None: found)
    monkeypatch.setattr(devices, "_has_plugin", lambda: True)
    devices.accelerators.cache_clear()
    try:
        assert list(devices.accelerators()) == ["GPU:0", "GPU:1"]
        tf.config.list_physical_devices("GPU")
    finally:
        devices.accelerators.cache_clear()
    assert [r.getMessage() for r in caplog.records] == [
        "Functions (@tf.function) run on GPU:0; eager operations compute on the CPU."
    ]


def test_a_tensor_of_a_device_is_a_tensor():
    import copy
    import pickle

    import jax.numpy as jnp

    x: Any = DeviceTensor.make(jnp.arange(3.0), None)
    assert x._host is None and isinstance(x, tf.Tensor)
    assert (
        repr(x)
        == "<tf.Tensor: shape=(3,), dtype=float32, numpy=array([0., 1., 2.], dtype=float32)>"
    )
    assert copy.copy(x) is x and pickle.loads(pickle.dumps(x)).numpy().tolist() == [0.0, 1.0, 2.0]
    assert x[1:].numpy().tolist() == [1.0, 2.0] and len(x) == 3


# The compile cache.

CACHED = """
import sys
import wengert as tf
if sys.argv[2] == "loaded":
    import jax
tf.config.experimental.set_compile_cache(sys.argv[1])
import jax
seen = []
jax.monitoring.register_event_listener(lambda event, **rest: seen.append(event))
tf.function(lambda x: tf.tanh(x @ x), jit_compile=True)(tf.ones([8, 8]))
print(*[e.rpartition("/")[2] for e in seen if "cache_hits" in e or "cache_misses" in e])
"""


def test_compiled_functions_are_kept_on_disk(tmp_path: Path):
    folder = str(tmp_path / "cache")
    assert fresh(CACHED, folder, "not").split() == ["cache_misses"]
    assert fresh(CACHED, folder, "loaded").split() == ["cache_hits"]


def test_the_folder_can_change_and_go(tmp_path: Path):
    code = """
import glob, sys
import wengert as tf
first, second = sys.argv[1:]
for number, folder in enumerate([None, first, None, second]):
    tf.config.experimental.set_compile_cache(folder)
    tf.function(lambda x: tf.tanh(x) * float(number), jit_compile=True)(tf.ones([8]))
print(*[len(glob.glob(f"{folder}/*/*-cache")) for folder in (first, second)])
"""
    assert fresh(code, str(tmp_path / "a"), str(tmp_path / "b")).split() == ["1", "1"]


def test_the_folder_can_be_asked_for(tmp_path, monkeypatch):
    told: list[Any] = []
    monkeypatch.setattr(compile_cache, "CACHE", cache := compile_cache.CompileCache())
    monkeypatch.setattr(settings, "CACHE", cache)
    monkeypatch.setattr(compile_cache, "tell_jax", lambda name, value: told.append((name, value)))
    experimental: Any = tf.config.experimental
    assert experimental.get_compile_cache() is None  # the tests turn it off
    tmp_path.chmod(0o700)
    experimental.set_compile_cache(tmp_path)
    assert experimental.get_compile_cache() == str(tmp_path)
    experimental.set_compile_cache(None)
    assert experimental.get_compile_cache() is None
    assert told[0] == ("jax_compilation_cache_dir", str(tmp_path / compile_cache._machine()))
    assert told[-1] == ("jax_compilation_cache_dir", None)


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="Windows has no modes of folders")
def test_a_folder_that_others_reach_is_refused(tmp_path):
    shared = tmp_path / "shared"
    shared.mkdir(mode=0o755)
    shared.chmod(0o755)
    with pytest.raises(PermissionError, match=r"its mode is 755.*chmod 700"):
        tf.config.experimental.set_compile_cache(shared)
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(PermissionError, match="set_compile_cache"):
        tf.config.experimental.set_compile_cache(file)


BY_DEFAULT = """
import os, sys
os.environ.pop("JAX_COMPILATION_CACHE_DIR")
os.environ["XDG_CACHE_HOME"] = os.environ["LOCALAPPDATA"] = os.environ["HOME"] = sys.argv[1]
os.environ["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0"
import wengert as tf
if sys.argv[2] == "off":
    tf.config.experimental.set_compile_cache(None)
f = tf.function(lambda x: tf.tanh(x @ x), jit_compile=True)
y = f(tf.random.stateless_normal([8, 8], seed=[1, 2]))
import jax
seen = []
jax.monitoring.register_event_listener(lambda event, **rest: seen.append(event))
g = tf.function(lambda x: tf.sin(x @ x), jit_compile=True)
z = g(tf.random.stateless_normal([8, 8], seed=[1, 2]))
hits = sum("cache_hits" in e for e in seen)
print(hits, tf.config.experimental.get_compile_cache(), z.numpy().tobytes().hex())
"""


def test_the_cache_of_the_user_is_on_by_default_and_gives_the_same_bits(tmp_path: Path):
    def run(how: str) -> list[str]:
        return fresh(BY_DEFAULT, str(tmp_path), how).split()

    cold, warm, off = run("on"), run("on"), run("off")
    assert (cold[0], warm[0], off[0]) == ("0", "1", "0")
    assert off[1] == "None" and cold[1] == warm[1] and cold[1].startswith(str(tmp_path))
    assert cold[2] == warm[2] == off[2]
    assert not hasattr(os, "geteuid") or Path(cold[1]).stat().st_mode & 0o777 == 0o700

    # Damaged, cut off and foreign entries go; the programs are compiled again.
    entries = sorted(Path(cold[1]).glob("*/*-cache"))
    assert len(entries) >= 2 and all(Path(f"{e}.seal").exists() for e in entries)
    for entry in entries:
        data = bytearray(entry.read_bytes())
        data[len(data) // 2] ^= 0xFF
        entry.write_bytes(data)
    again = run("on")
    assert again[0] == "0" and again[2] == cold[2]
    assert run("on")[0] == "1"


def test_the_cache_is_bounded_and_forgets_what_is_oldest(tmp_path, monkeypatch):
    place = tmp_path / "machine"
    place.mkdir()
    for age, name in enumerate(["new", "old"]):
        entry = place / f"{name}-cache"
        entry.write_bytes(b"x" * 600)
        os.utime(entry, (1e9 - age, 1e9 - age))
        compile_cache._write_seal(str(entry))  # reads it, which is a use
        os.utime(entry, (1e9 - age, 1e9 - age))
    monkeypatch.setattr(compile_cache, "MOST_BYTES", 1000)
    compile_cache._remove_damaged(str(tmp_path))
    compile_cache._remove_oldest(str(tmp_path))
    assert sorted(p.name for p in place.iterdir()) == ["new-cache", "new-cache.seal"]
    (place / "left-cache").write_bytes(b"a killed process")
    compile_cache._remove_damaged(str(tmp_path))
    assert (place / "left-cache").exists()  # another process may be writing it
    os.utime(place / "left-cache", (1e9, 1e9))
    compile_cache._remove_damaged(str(tmp_path))
    assert not (place / "left-cache").exists()

"""The profiler: what a timeline holds, that its clocks agree, and that nothing of it stays."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import wengert as tf
from wengert.core.observers import OBSERVERS
from wengert.core.op import REGISTRY

profiler: Any = tf.profiler.experimental


def in_the_slow_branch() -> int:
    """How many operations the door sends where observers hear of them."""
    return sum(op.passes is not op.accepts for op in REGISTRY.values())


@pytest.fixture(autouse=True)
def nothing_stays() -> Any:
    yield
    assert not OBSERVERS and not in_the_slow_branch()


def timeline(folder: Path) -> list[dict[str, Any]]:
    (file,) = folder.glob("plugins/profile/*/*.wengert.json.gz")
    with gzip.open(file, "rt") as opened:
        return json.load(opened)["traceEvents"]


def spans(events: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [e for e in events if e.get("cat") == kind]


def inside(inner: dict[str, Any], outer: dict[str, Any], slack: float = 0.0) -> bool:
    starts = outer["ts"] - slack <= inner["ts"]
    return starts and inner["ts"] + inner["dur"] <= outer["ts"] + outer["dur"] + slack


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: Any) -> tuple[Path, list[dict[str, Any]]]:
    folder = tmp_path_factory.mktemp("profile")

    @tf.function(jit_compile=True)
    def compiled(x):
        return tf.reduce_sum(tf.tanh(x @ x))

    @tf.function
    def light(x):
        return x + 1.0

    x = tf.ones([64, 64])
    with profiler.Profile(folder):
        with profiler.Trace("epoch", number=1) as block:
            compiled(x)
            compiled(x)
            light(tf.constant(1.0))
            block.set_metadata(loss=0.5)
        worker = threading.Thread(target=lambda: tf.negative(x), name="worker")
        worker.start()
        worker.join()
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * 2.0
        tape.gradient(y, x)
        time.sleep(0.05)
    return folder, timeline(folder)


def test_traces_compilations_and_calls(recorded):
    _, events = recorded
    assert [e["name"] for e in spans(events, "trace")] == ["compiled", "light"]
    assert [e["name"] for e in spans(events, "compile")] == ["compiled"]
    assert [e["name"] for e in spans(events, "call")] == ["compiled", "compiled", "light"]
    assert [e["name"] for e in spans(events, "xla")] == ["compiled", "compiled"]
    first, second, _ = spans(events, "call")
    assert inside(spans(events, "compile")[0], first) and inside(spans(events, "trace")[0], first)
    assert inside(spans(events, "xla")[1], second)


def test_eager_operations_with_thread_line_and_results(recorded):
    _, events = recorded
    operations = {e["name"]: e for e in spans(events, "operation")}
    assert set(operations) >= {"negative", "multiply"} and "tanh" not in operations
    negative = operations["negative"]
    assert negative["args"]["results"] == "float32[64,64]"
    assert negative["args"]["line"].startswith(__file__)
    names = {e["tid"]: e["args"]["name"] for e in events if e.get("name") == "thread_name"}
    assert names[negative["tid"]] == "worker" and names[operations["multiply"]["tid"]] != "worker"
    assert [e["name"] for e in spans(events, "gradient")] == ["gradient"]


def test_blocks_have_their_details(recorded):
    _, events = recorded
    (block,) = spans(events, "block")
    assert block["name"] == "epoch" and block["args"] == {"number": "1", "loss": "0.5"}
    assert all(inside(e, block) for e in spans(events, "call"))


def test_memory_over_time(recorded):
    _, events = recorded
    samples = [e for e in events if e["ph"] == "C" and e["name"] == "memory: process"]
    assert len(samples) >= 3
    assert all(e["args"]["MiB"] > 10 for e in samples)


def test_events_of_xla_on_the_same_clock(recorded):
    _, events = recorded
    theirs = [e for e in events if e["ph"] == "X" and e["pid"] != 1]
    runs = [e for e in theirs if "Execute" in e["name"]]
    assert runs, "JAX's profiler names the execution of programs"
    calls = spans(events, "xla")
    assert any(inside(e, call, slack=2000.0) for e in runs for call in calls)
    assert not [e for e in theirs if e["name"].startswith("wengert/")]


def test_tensorboard_has_its_file(recorded):
    folder, _ = recorded
    (file,) = folder.glob("plugins/profile/*/*.xplane.pb")
    content = file.read_bytes()
    assert b"wengert/call/compiled" in content and b"wengert/operation/multiply" in content


def test_rare_events_alone(tmp_path):
    with profiler.Profile(tmp_path, profiler.ProfilerOptions(host_tracer_level=1)):
        tf.function(lambda x: x + 1.0)(tf.constant(1.0) * 2.0)
    kinds = {e["cat"] for e in timeline(tmp_path) if "cat" in e and e["pid"] == 1}
    assert kinds == {"trace"}


def test_one_profile_at_a_time(tmp_path):
    with pytest.raises(tf.errors.UnavailableError, match=r"stop: no profile is being taken\. Call"):
        profiler.stop()
    profiler.start(tmp_path)
    try:
        with pytest.raises(tf.errors.AlreadyExistsError, match="another profile is being taken"):
            profiler.start(tmp_path)
    finally:
        profiler.stop(save=False)
    assert not list(tmp_path.glob("plugins/profile/*/*.wengert.json.gz"))


def test_bad_options(tmp_path):
    with pytest.raises(TypeError, match="`options` are ProfilerOptions; got 3"):
        profiler.start(tmp_path, 3)


def test_failures_are_as_without(tmp_path):
    with pytest.raises(tf.errors.InvalidArgumentError) as caught, profiler.Profile(tmp_path):
        tf.matmul(tf.ones([2, 3]), tf.ones([2, 3]))
    error: Any = caught.value
    assert error.site.file == __file__
    assert "matmul" in {e["name"] for e in spans(timeline(tmp_path), "operation")}


def test_off_there_is_nothing_to_pay(tmp_path):
    with profiler.Trace("nothing"):
        assert not OBSERVERS and not in_the_slow_branch()
    with profiler.Profile(tmp_path, profiler.ProfilerOptions(host_tracer_level=1)):
        assert len(OBSERVERS) == 1 and not in_the_slow_branch()
    with profiler.Profile(tmp_path):
        assert in_the_slow_branch() == len(REGISTRY)


MULTIPLICATION = """
import sys, tempfile
import wengert as tf
if sys.argv[1] == "profiled":
    tf.profiler.experimental.start(tempfile.mkdtemp())
rows = tf.ragged.constant([[1.0, 2.0], [3.0]])
if sys.argv[1] == "profiled":
    tf.profiler.experimental.stop()
print((tf.constant(2.0) * rows).to_list(), (rows * 2.0).to_list())
"""


@pytest.mark.parametrize("way", ["profiled", "plain"])
def test_the_first_ragged_tensor_may_come_under_a_profile(way):
    done = subprocess.run(
        [sys.executable, "-c", MULTIPLICATION, way], capture_output=True, text=True, check=False
    )
    assert done.stdout == "[[2.0, 4.0], [6.0]] [[2.0, 4.0], [6.0]]\n", done.stderr


def test_profile_and_check_numerics_end_in_any_order(tmp_path):
    profiler.start(tmp_path)
    tf.debugging.enable_check_numerics()
    profiler.stop()
    with pytest.raises(tf.errors.InvalidArgumentError, match="check_numerics"):
        tf.math.log(tf.constant(0.0))
    tf.debugging.disable_check_numerics()
    assert not OBSERVERS and not in_the_slow_branch()
    x = tf.Variable(0.0)
    with tf.GradientTape() as tape:
        y = tf.math.log(x)
    gradient = tape.gradient(y, x)
    assert gradient is not None and float(gradient) == float("inf")
    tf.debugging.enable_check_numerics()
    profiler.start(tmp_path)
    tf.debugging.disable_check_numerics()
    assert float(tf.math.log(tf.constant(0.0))) == -float("inf")
    profiler.stop()
    assert not OBSERVERS and not in_the_slow_branch()


def test_results_are_the_same_under_a_profile(tmp_path):
    def work() -> list[Any]:
        x = tf.constant([[1.5, -2.0], [0.5, 3.0]])
        v = tf.Variable(x)
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(2.0 / (v @ x + 1.0) ** 2 - x % 2.0) + tf.cast(tf.range(3), "float32")
            parts = tf.split(y, 3)
        return [*[p.numpy() for p in parts], tape.gradient(parts, v).numpy()]

    plain = work()
    with profiler.Profile(tmp_path):
        seen = work()
    for a, b in zip(plain, seen, strict=True):
        np.testing.assert_array_equal(a, b)
    names = {e["name"] for e in spans(timeline(tmp_path), "operation")}
    assert names >= {"matmul", "divide", "pow", "floormod", "split", "reduce_sum"}

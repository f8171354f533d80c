"""Replicas with a device each: one program, its parts of the batch, few all-reduces."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

# CPU devices are counted when JAX starts, so the programs run in a process of their own.
PROGRAM = r"""
import json, os, re
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"
import numpy as np
import wengert as tf
from wengert.distribute.strategies import Strategy
from wengert.distribute.values import PerReplica
from wengert.engines import meshes
from wengert.engines.executables import EXECUTABLES

strategy = Strategy(tuple(f"/job:localhost/replica:0/task:0/device:CPU:{k}" for k in range(4)))
rng = np.random.default_rng(0)
x, y = rng.normal(size=(32, 6)).astype("f"), rng.normal(size=(32, 6)).astype("f")
shapes = [(6, 6), (6,)] * 25
starts = [rng.normal(size=s).astype("f") * 0.4 for s in shapes]

def loss_of(weights, x, y):
    for k in range(0, len(weights), 2):
        x = tf.nn.tanh(x @ weights[k] + weights[k + 1])
    return tf.reduce_sum((x - y) ** 2) / 32

def train(on_devices, bad=False):
    meshes.use_devices(on_devices)
    with strategy.scope():
        weights = [tf.Variable(s, aggregation=tf.VariableAggregation.MEAN) for s in starts]
        count = tf.Variable(
            0.0,
            aggregation=tf.VariableAggregation.SUM,
            synchronization=tf.VariableSynchronization.ON_READ,
        )

    def step(x, y, i):
        with tf.GradientTape() as tape:
            loss = loss_of(weights, x, y)
        own = tape.gradient(loss, weights)
        grads = tf.distribute.get_replica_context().all_reduce("SUM", own)
        for w, g in zip(weights, grads):
            w.assign_sub(0.1 * g)
        count.assign_add(tf.gather(tf.constant([1.0, 2.0]), i))
        return loss, own[0], tf.random.uniform([])

    run = tf.function(lambda x, y, i: strategy.run(step, (x, y, i)), jit_compile=True)
    parts = [PerReplica.of_rows(tf.reshape(v, [4, 8, 6])) for v in (x, y)]
    good = PerReplica.of_rows(tf.constant([0, 1, 0, 1]))
    tf.random.set_seed(1)
    for _ in range(3):
        loss, own, noise = run(*parts, good)
    message = ""
    try:
        run(*parts, PerReplica.of_rows(tf.constant([0, 0, 7, 0])))
    except tf.errors.InvalidArgumentError as error:
        message = str(error)
    trace = next(iter(run._store.traces.values()))
    program = next(iter(trace.graph.cache[EXECUTABLES].values()))
    text = program.run.as_text()
    made = re.findall(r"= (.*?) all-reduce(?:-start)?\(", text)
    sizes = [dims.split(",") for m in made for dims in re.findall(r"[fs]32\[([0-9,]*)\]", m)]
    again = tf.function(lambda x: loss_of(weights, x, y), jit_compile=True)
    return {
        "weights": [w.numpy().tolist() for w in weights],
        "losses": [float(v) for v in loss.values],
        "gradients": [v.numpy().tolist() for v in own.values],
        "noise": [float(v) for v in noise.values],
        "count": float(count),
        "message": message,
        "outside": float(again(x)),
        "reductions": len(made),
        "bytes": sum(4 * int(np.prod([int(d) for d in size if d] or [1])) for size in sizes),
        "entry": text.splitlines()[0],
    }

print(json.dumps([train(False), train(True)]))
"""


@pytest.fixture(scope="module")
def trained() -> list[dict[str, object]]:
    result = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        capture_output=True, text=True, check=False, timeout=240,
        cwd=Path(__file__).parent.parent,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr[-3000:]
    return json.loads(result.stdout.splitlines()[-1])


def flat(value):
    return [x for y in value for x in flat(y)] if isinstance(value, list) else [value]


def test_devices_do_what_rows_of_one_device_do(trained):
    rows, devices = trained
    for key in ("weights", "losses", "gradients", "noise", "outside"):
        assert flat(rows[key]) == pytest.approx(flat(devices[key]), rel=1e-4, abs=1e-6), key
    assert rows["count"] == devices["count"] == 18.0


def test_a_failure_on_one_device_changes_nothing(trained):
    for way in trained:
        assert "7" in way["message"] and way["count"] == 18.0


def test_gradients_and_random_numbers_differ_before_they_are_reduced(trained):
    for way in trained:
        assert len({json.dumps(g) for g in way["gradients"]}) == len(set(way["noise"])) == 4


def test_the_program_of_devices(trained):
    """Each has its part of the batch, and 50 gradients are reduced at once."""
    rows, devices = trained
    assert "f32[1,8,6]" in devices["entry"] and "f32[4,8,6]" not in devices["entry"]
    assert "f32[4,8,6]" in rows["entry"] and rows["reductions"] == 0
    assert 1 <= devices["reductions"] <= 3
    gradients = sum(4 * (36 + 6) for _ in range(25))
    assert gradients <= devices["bytes"] <= gradients + 64

"""`python -m benchmarks.replicas`: steps under strategies, beside one device and TensorFlow's.

Each framework runs in a process of its own, by turns, and the best turn counts. All models start
from the same weights and see the same global batches; their first losses are compared. With
TensorFlow it measures the same step on `MirroredStrategy` with four logical CPUs.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
TITLES = {"wengert": "Wengert", "tensorflow": "TensorFlow"}
BATCH, BATCHES = 256, 8  # the global batch, and how many of them a turn goes through
WARM = 8  # turns before the first that counts, so that all is compiled that will be
TOLERANCE = 1e-3
# The rows: what is measured, against what, and at most so much of it.
ROWS: dict[str, tuple[str, str, str, str, float]] = {
    "fit-one": ("fit, 784-128-10, one replica", "wengert", "fit-0", "no strategy", 1.05),
    "loop-one": ("own loop, 784-128-10, one replica", "wengert", "loop-0", "no strategy", 1.05),
    "mlp-2": ("784-512-512-10, 2 replicas", "wengert", "mlp-0", "one device", 1.25),
    "mlp-4": ("784-512-512-10, 4 replicas", "wengert", "mlp-0", "one device", 1.25),
    "mlp-8": ("784-512-512-10, 8 replicas", "wengert", "mlp-0", "one device", 1.25),
    "conv-2": ("convolutions 32-64, 2 replicas", "wengert", "conv-0", "one device", 1.25),
    "conv-4": ("convolutions 32-64, 4 replicas", "wengert", "conv-0", "one device", 1.25),
    "conv-8": ("convolutions 32-64, 8 replicas", "wengert", "conv-0", "one device", 1.25),
    "mlp-4 tf": ("784-512-512-10, 4 replicas", "tensorflow", "mlp-4", "TensorFlow", 0.5),
    "conv-4 tf": ("convolutions 32-64, 4 replicas", "tensorflow", "conv-4", "TensorFlow", 0.5),
    "trace-8": ("trace, 8 replicas", "wengert", "trace-2", "2 replicas", 1.2),
    "trace-64": ("trace, 64 replicas", "wengert", "trace-2", "2 replicas", 1.2),
    "nodes-64": ("nodes of the graph, 64 replicas", "wengert", "nodes-2", "2 replicas", 1.2),
}
LEAST = {"dataset-4": ("batches of 16 for 4 replicas, a second", 10_000)}


# In the process of a framework.


class Bench:
    """The work of one framework; each is built and warmed up at the first request for it."""

    def __init__(self, framework: str) -> None:
        if framework == "wengert":
            import wengert.keras

            self.keras: Any = wengert.keras
        else:
            import keras

            self.keras = keras
        import tensorflow as tf

        self.tf: Any = tf
        cpu = tf.config.list_physical_devices("CPU")[0]
        shown = [tf.config.LogicalDeviceConfiguration()] * 64
        tf.config.set_logical_device_configuration(cpu, shown)
        self._built: dict[str, tuple[Callable[[], Any], float | None]] = {}

    def ask(self, work: str) -> dict[str, Any]:
        """Seconds of one turn and the first loss of all, or what is counted."""
        kind, replicas = work.split("-")
        if kind in ("trace", "nodes", "dataset"):
            return {"figure": getattr(self, f"_{kind}")(int(replicas))}
        if work not in self._built:
            count = 1 if replicas == "one" else int(replicas)
            turn, check = self._built[work] = self._training(kind, count)
            for _ in range(WARM):
                turn()
        turn, check = self._built[work]
        start = time.perf_counter()
        turn()
        return {"figure": time.perf_counter() - start, "check": check}

    def _strategy(self, replicas: int) -> Any:
        """A strategy; with none at all, what there is without one."""
        if not replicas:
            return self.tf.distribute.get_strategy()
        return self.tf.distribute.MirroredStrategy([f"CPU:{k}" for k in range(replicas)])

    def _model(self, kind: str) -> Any:
        layers = self.keras.layers
        if kind == "conv":
            hidden = [
                layers.Input((28, 28, 1)),
                layers.Conv2D(32, 3, activation="relu"),
                layers.MaxPooling2D(),
                layers.Conv2D(64, 3, activation="relu"),
                layers.MaxPooling2D(),
                layers.Flatten(),
            ]
        else:
            widths = (512, 512) if kind == "mlp" else (128,)
            dense = [layers.Dense(n, activation="relu") for n in widths]
            hidden = [layers.Input((784,)), *dense]
        return self.keras.Sequential([*hidden, layers.Dense(10)])

    def _training(self, kind: str, replicas: int) -> tuple[Callable[[], Any], float | None]:
        import numpy as np

        strategy = self._strategy(replicas)
        with strategy.scope():
            model = self._model(kind)
            optimizer = self.keras.optimizers.Adam()
            optimizer.build(model.trainable_variables)
        r = np.random.default_rng(1964)
        model.set_weights(
            [(0.05 * r.standard_normal(w.shape)).astype("float32") for w in model.get_weights()]
        )
        shape = (28, 28, 1) if kind == "conv" else (784,)
        x = r.random((BATCH * BATCHES, *shape), dtype=np.float32)
        y = r.integers(0, 10, BATCH * BATCHES).astype("int32")
        if kind == "fit":
            return self._fit(model, optimizer, strategy, x, y)
        return self._loop(model, optimizer, strategy, x, y)

    def _fit(
        self, model: Any, optimizer: Any, strategy: Any, x: Any, y: Any
    ) -> tuple[Callable[[], Any], None]:
        with strategy.scope():
            loss = self.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
            model.compile(optimizer, loss)
        return lambda: model.fit(x, y, batch_size=BATCH, epochs=4, verbose=0), None

    def _loop(
        self, model: Any, optimizer: Any, strategy: Any, x: Any, y: Any
    ) -> tuple[Callable[[], Any], float]:
        """Steps of `strategy.run` and `strategy.reduce` over batches that are made before."""
        tf = self.tf
        data = tf.data.Dataset.from_tensor_slices((x, y)).batch(BATCH, drop_remainder=True)
        batches = list(strategy.experimental_distribute_dataset(data))

        def step(x: Any, y: Any) -> Any:
            with tf.GradientTape() as tape:
                losses = tf.nn.sparse_softmax_cross_entropy_with_logits(y, model(x, training=True))
                loss = tf.nn.compute_average_loss(losses, global_batch_size=BATCH)
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
            return loss

        @tf.function
        def train(x: Any, y: Any) -> Any:
            return strategy.reduce("SUM", strategy.run(step, args=(x, y)), axis=None)

        check = float(train(*batches[0]))

        def turn() -> None:
            losses = [train(*batch) for batch in batches]
            float(losses[-1])

        return turn, check

    def _traced(self, replicas: int) -> tuple[float, Any]:
        """Seconds to trace a step, and its graph."""
        tf = self.tf
        strategy = self._strategy(replicas)
        with strategy.scope():
            weights = [tf.Variable(tf.ones([8, 8])) for _ in range(50)]
        rows = tf.data.Dataset.from_tensors(tf.ones([4 * replicas, 8]))
        x = next(iter(strategy.experimental_distribute_dataset(rows)))

        def step(x: Any) -> Any:
            with tf.GradientTape() as tape:
                y = x
                for w in weights:
                    y = tf.nn.relu(y @ w)
                loss = tf.reduce_sum(y)
            gradients = tape.gradient(loss, weights)
            reduced = tf.distribute.get_replica_context().all_reduce("SUM", gradients)
            return loss, reduced

        train = tf.function(lambda x: strategy.run(step, args=(x,)))
        start = time.perf_counter()
        concrete = train.get_concrete_function(x)
        return time.perf_counter() - start, concrete.graph

    def _trace(self, replicas: int) -> float:
        return min(self._traced(replicas)[0] for _ in range(3))

    def _nodes(self, replicas: int) -> int:
        return str(self._traced(replicas)[1]).count("\n")

    def _dataset(self, replicas: int) -> float:
        tf = self.tf
        rows = tf.data.Dataset.from_tensor_slices(tf.zeros([160_000, 4])).batch(16)
        data = self._strategy(replicas).experimental_distribute_dataset(rows)
        start = time.perf_counter()
        for batch in data:
            del batch
        return 10_000 / (time.perf_counter() - start)


def serve(framework: str, threads: int) -> None:
    """Answers requests on standard input, a JSON line each."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])
    answer, sys.stdout = sys.stdout, sys.stderr
    bench = Bench(framework)
    print(json.dumps({"version": bench.keras.__version__}), file=answer, flush=True)
    for line in sys.stdin:
        print(json.dumps(bench.ask(line.strip())), file=answer, flush=True)


# In the process that compares.


class Peer:
    """A framework in a process of its own."""

    def __init__(self, framework: str, python: str, threads: int) -> None:
        self.framework = framework
        command = [python, "-m", "benchmarks.replicas", "--serve", framework]
        environment = os.environ | {
            "TF_CPP_MIN_LOG_LEVEL": "3", "JAX_PLATFORMS": "cpu", "CUDA_VISIBLE_DEVICES": "",
            "KERAS_BACKEND": "tensorflow", "OMP_NUM_THREADS": str(threads),
        }  # fmt: skip
        self.process = subprocess.Popen(
            [*command, "--threads", str(threads)], cwd=ROOT, env=environment, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        self.alive = "version" in self.read()

    def read(self) -> dict[str, Any]:
        line = self.process.stdout.readline()  # type: ignore[union-attr]  # it is a pipe
        return json.loads(line) if line else {}

    def ask(self, work: str) -> dict[str, Any]:
        self.process.stdin.write(work + "\n")  # type: ignore[union-attr]
        self.process.stdin.flush()  # type: ignore[union-attr]
        return self.read()

    def close(self) -> None:
        self.process.stdin.close()  # type: ignore[union-attr]
        self.process.wait()


def measure(ours: Peer, theirs: Peer, row: str, rounds: int) -> tuple[float, float]:
    """The best figures of a row and of what it is compared with, by turns."""
    pair = ((ours, row.split()[0]), (theirs, ROWS[row][2]))
    counted = row.startswith(("trace", "nodes"))
    if not counted:
        checks = [peer.ask(work).get("check") or 0.0 for peer, work in pair]
        if abs(checks[0] - checks[1]) > TOLERANCE * abs(checks[1]):
            print(f"problem: {row}: the first losses are {checks[0]:.6g} and {checks[1]:.6g}")
    best = [float("inf")] * 2
    for _ in range(1 if row.startswith("nodes") else rounds):
        for k, (peer, work) in enumerate(pair):
            best[k] = min(best[k], peer.ask(work)["figure"])
    return best[0], best[1]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.replicas", description=__doc__)
    variable = "WENGERT_BENCH_TENSORFLOW_PYTHON"
    help = f"interpreter that can import Keras and TensorFlow (or set {variable})"
    default = os.environ.get(variable, sys.executable)
    parser.add_argument("--tf-python", metavar="PYTHON", default=default, help=help)
    parser.add_argument("--only", action="append", choices=[*ROWS, *LEAST], help="some of the rows")
    parser.add_argument("--rounds", type=int, default=5, help="turns (5)")
    parser.add_argument("--threads", type=int, default=2, help="threads and cores for everyone (2)")
    parser.add_argument("--serve", choices=[*TITLES], help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(options.serve, options.threads)
        return
    ours = Peer("wengert", sys.executable, options.threads)
    try:
        for row in options.only or [*ROWS, *LEAST]:
            report(row, ours, options)
    finally:
        ours.close()


def report(row: str, ours: Peer, options: argparse.Namespace) -> None:
    """Measures a row and prints its line."""
    if row in LEAST:
        title, least = LEAST[row]
        figure = max(ours.ask(row)["figure"] for _ in range(options.rounds))
        verdict = "reached" if figure >= least else "missed"
        print(f"{title:45} {figure:9.0f}   ≥ {least}: {verdict}", flush=True)
        return
    title, other, _, what, limit = ROWS[row]
    # Strategies of TensorFlow that are made one after the other in a process disturb each other.
    theirs = ours if other == "wengert" else Peer(other, options.tf_python, options.threads)
    try:
        if not theirs.alive:
            print(f"{title:45} not measured: no {TITLES[other]}", flush=True)
            return
        found = measure(ours, theirs, row, options.rounds)
    finally:
        if theirs is not ours:
            theirs.close()
    ratio = found[0] / found[1]
    verdict = "reached" if ratio <= limit else "missed"
    figures = f"{found[0]:9.4g} / {found[1]:9.4g} = {ratio:5.2f}"
    print(f"{title:45} {figures}   ≤ {limit} × {what}: {verdict}", flush=True)


if __name__ == "__main__":
    main()

"""`python -m benchmarks.keras_fit`: Keras's `fit` on Wengert, TensorFlow and JAX.

Each framework runs in a process of its own, by turns, and the best turn counts. Every figure
comes twice: wall time, and processor time of all threads, which says more on a shared machine.
All models start from the same weights, and their first losses are compared.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.keras_models import NETWORKS, WORDS

ROOT = Path(__file__).resolve().parent.parent
TITLES = {"wengert": "Wengert", "tensorflow": "TensorFlow", "jax": "JAX"}
LOAD = {
    "wengert": "import wengert; wengert.keras",
    "tensorflow": "import tensorflow, keras",
    "jax": "import keras",
}
ROWS, BATCH = 60_000, 128
TOLERANCE = 1e-3
WARM = 3  # epochs before the first that counts: Wengert compiles a step that runs often
ALL = ("wengert", "tensorflow", "jax")
# The work, what it is, who does it, and what Wengert must reach: at most so much of another's time.
WORKS = {
    "import": ("import of Keras", ALL, (0.5, "tensorflow")),
    "small": ("fit, 784-128-10", ALL, (0.6, "tensorflow")),
    "big": ("fit, 784-512-512-10", ALL, (0.45, "tensorflow")),
    "loop": ("own loop, 784-128-10", ("wengert", "tensorflow"), (1.05, "small")),
    "conv": ("fit, convolutions 16-32, compiled", ALL, (1.1, "jax")),
    "cnn": ("fit, convolutions 32-64", ALL, (1.0, "tensorflow")),
    "residual": ("fit, residual network", ALL, (1.0, "tensorflow")),
    "separable": ("fit, separable convolutions", ALL, (1.0, "tensorflow")),
    "transformer": ("fit, two transformer blocks", ALL, (0.8, "tensorflow")),
    "lstm": ("fit, LSTM", ALL, (0.6, "tensorflow")),
}
WORKS |= {
    f"{name}-{count}": (f"predict, {name}, batch {count}", ALL, (0.9, "tensorflow"))
    for name in ("cnn", "residual", "separable", "transformer", "lstm")
    for count in (1, 32)
}


# In the process of a framework.


class Bench:
    """The models of one framework, each built and warmed up at the first request for it."""

    def __init__(self, framework: str) -> None:
        if framework == "wengert":
            import wengert

            self.keras: Any = wengert.keras
        else:
            import keras

            self.keras = keras
        self._built: dict[str, Any] = {}

    def ask(self, work: str) -> dict[str, float]:
        """Wall and processor seconds of one epoch; the loss before the first."""
        if work not in self._built:
            self._built[work] = self._build(work)
            step, check = self._built[work]
            for _ in range(WARM):
                step()
            return {"check": check}
        step, _ = self._built[work]
        wall, cpu = time.perf_counter(), time.process_time()
        step()
        return {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}

    def _build(self, work: str) -> Any:
        name, _, count = work.partition("-")
        if count:
            return self._predicting(name, int(count))
        return self._network(name) if name in NETWORKS else getattr(self, f"_{name}")()

    def _dense(self, *widths: int) -> Any:
        layers = self.keras.layers
        inner = [layers.Dense(n, activation="relu") for n in widths]
        return self.keras.Sequential([layers.Input((784,)), *inner, layers.Dense(10)])

    def _fitting(self, model: Any, x: Any, y: Any, batch: int = BATCH, **options: Any) -> Any:
        _fill(model)
        loss = self.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        model.compile("adam", loss, metrics=["accuracy"], **options)
        check = model.evaluate(x[: 8 * batch], y[: 8 * batch], batch_size=batch, verbose=0)[0]
        return lambda: model.fit(x, y, batch_size=batch, verbose=0), check

    def _network(self, name: str) -> Any:
        make, batch, count = NETWORKS[name]
        model, shape = make(self.keras)
        options = {"jit_compile": True} if name == "conv" else {}
        x, y = _rows(name, batch * count, shape)
        return self._fitting(model, x, y, batch, **options)

    def _predicting(self, name: str, batch: int) -> Any:
        model, shape = NETWORKS[name][0](self.keras)
        _fill(model)
        x, _ = _rows(name, 50 * batch, shape)
        check = float(model.predict(x[:batch], batch_size=batch, verbose=0)[0, 0])
        return lambda: model.predict(x, batch_size=batch, verbose=0), check

    def _small(self) -> Any:
        return self._fitting(self._dense(128), *digits(ROWS, 784))

    def _big(self) -> Any:
        return self._fitting(self._dense(512, 512), *digits(ROWS, 784))

    def _loop(self) -> Any:
        """What `fit` does, written out: shuffled batches, a step, the mean loss, the accuracy."""
        import tensorflow as tf

        model = self._dense(128)
        _, check = self._fitting(model, *digits(ROWS, 784))
        rows = tf.data.Dataset.from_tensor_slices(digits(ROWS, 784))
        data = rows.shuffle(ROWS).batch(BATCH).prefetch(tf.data.AUTOTUNE)
        criterion = self.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        optimizer = self.keras.optimizers.Adam()
        optimizer.build(model.trainable_variables)
        mean = self.keras.metrics.Mean()
        accuracy = self.keras.metrics.SparseCategoricalAccuracy()

        @tf.function
        def step(x: Any, y: Any) -> None:
            with tf.GradientTape() as tape:
                logits = model(x, training=True)
                loss = criterion(y, logits)
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
            mean.update_state(loss)
            accuracy.update_state(y, logits)

        def epoch() -> None:
            for x, y in data:
                step(x, y)
            float(mean.result())

        return epoch, check


def _fill(model: Any) -> None:
    """The same weights for every framework; vectors stay as the layers start them."""
    import numpy as np

    r = np.random.default_rng(1964)
    model.set_weights(
        [
            w if w.ndim < 2 else (0.05 * r.standard_normal(w.shape)).astype("float32")
            for w in model.get_weights()
        ]
    )


def _rows(name: str, count: int, shape: tuple[int, ...]) -> Any:
    x, y = digits(count, *shape)
    return ((x * WORDS).astype("int32") if name == "transformer" else x), y


def digits(count: int, *shape: int) -> Any:
    """Images of no meaning, and labels."""
    import numpy as np

    r = np.random.default_rng(0)
    return r.random((count, *shape), dtype=np.float32), r.integers(0, 10, count).astype("int32")


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
        self.framework, self.python = framework, python
        self.environment = _environment(framework, threads)
        command = [python, "-m", "benchmarks.keras_fit", "--serve", framework]
        self.process = subprocess.Popen(
            [*command, "--threads", str(threads)],
            cwd=ROOT,
            env=self.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self.alive = "version" in self._read()

    def _read(self) -> dict[str, Any]:
        line = self.process.stdout.readline()  # type: ignore[union-attr]  # it is a pipe
        return json.loads(line) if line else {}

    def ask(self, work: str) -> dict[str, Any]:
        if work == "import":
            return self._import()
        self.process.stdin.write(work + "\n")  # type: ignore[union-attr]
        self.process.stdin.flush()  # type: ignore[union-attr]
        return self._read()

    def _import(self) -> dict[str, Any]:
        full, bare = self._start(LOAD[self.framework]), self._start("pass")
        return {name: full[name] - bare[name] for name in full}

    def _start(self, code: str) -> dict[str, float]:
        before, wall = os.times(), time.perf_counter()
        subprocess.run(
            [self.python, "-c", code],
            check=True, cwd=ROOT, env=self.environment, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        after = os.times()
        cpu = after.children_user + after.children_system
        cpu -= before.children_user + before.children_system
        return {"wall": time.perf_counter() - wall, "cpu": cpu}

    def close(self) -> None:
        self.process.stdin.close()  # type: ignore[union-attr]
        self.process.wait()


def _environment(framework: str, threads: int) -> dict[str, str]:
    count = str(threads)
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS",
             "TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS")  # fmt: skip
    result = os.environ | dict.fromkeys(names, count)
    result |= {"TF_CPP_MIN_LOG_LEVEL": "3", "JAX_PLATFORMS": "cpu", "CUDA_VISIBLE_DEVICES": ""}
    return result | {"KERAS_BACKEND": "jax" if framework == "jax" else "tensorflow"}


def measure(peers: list[Peer], works: list[str], rounds: int, say: Any) -> dict[str, Any]:
    """The best wall and processor seconds by work and framework."""
    table: dict[str, Any] = {work: {} for work in works}
    for work in works:
        active = [p for p in peers if p.framework in WORKS[work][1]]
        checks = {}
        for peer in active:
            say(f"{WORKS[work][0]}: {TITLES[peer.framework]} warms up")
            checks[peer.framework] = peer.ask(work).get("check")
        _compare(work, checks)
        for turn in range(rounds):
            say(f"{WORKS[work][0]}: turn {turn + 1} of {rounds}")
            for peer in active:
                reply = peer.ask(work)
                best = table[work].setdefault(peer.framework, dict(reply))
                best.update({k: min(best[k], v) for k, v in reply.items()})
    return table


def _compare(work: str, checks: dict[str, Any]) -> None:
    known = {f: c for f, c in checks.items() if c is not None}
    for framework, value in known.items():
        first = next(iter(known.values()))
        if abs(value - first) > TOLERANCE * max(1.0, abs(first)):
            print(f"problem: {work}: {framework} starts at loss {value:.6g}, others at {first:.6g}")


def show(found: dict[str, Any]) -> None:
    """One table: seconds, and Wengert's time over the other's, by the clock and by processor."""
    from rich.console import Console
    from rich.table import Table

    table = Table(title="seconds by the clock / of all processors; best of all turns")
    for name in ("work", *TITLES.values(), "target", "clock", "processors", "verdict"):
        table.add_column(name, justify="left" if name in ("work", "target", "verdict") else "right")
    for work, row in found.items():
        title, _, (limit, against) = WORKS[work]
        cells = [_seconds(row.get(f)) for f in TITLES]
        other = found[against]["wengert"] if against in found else row.get(against)
        ours = row.get("wengert")
        if ours is None or other is None:
            table.add_row(title, *cells, f"≤ {limit} × {against}", "–", "–", "not measured")
            continue
        wall, cpu = ours["wall"] / other["wall"], ours["cpu"] / other["cpu"]
        verdict = "reached" if wall <= limit else "missed"
        target = f"≤ {limit} × {TITLES.get(against, 'its fit')}"
        table.add_row(title, *cells, target, f"{wall:.2f}", f"{cpu:.2f}", verdict)
    Console(width=None if sys.stdout.isatty() else 150).print(table)


def _seconds(figure: Any) -> str:
    return "–" if figure is None else f"{figure['wall']:.2f} / {figure['cpu']:.2f}"


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.keras_fit", description=__doc__)
    for framework, title in TITLES.items():
        variable = f"WENGERT_BENCH_{framework.upper()}_PYTHON"
        parser.add_argument(
            "--tf-python" if framework == "tensorflow" else f"--{framework}-python",
            dest=framework,
            metavar="PYTHON",
            default=os.environ.get(variable, sys.executable),
            help=f"interpreter that can import Keras and {title} (or set {variable})",
        )
    parser.add_argument("--only", action="append", choices=[*WORKS], help="some of the work")
    parser.add_argument("--rounds", type=int, default=5, help="turns around the frameworks (5)")
    parser.add_argument("--threads", type=int, default=2, help="threads and cores for everyone (2)")
    parser.add_argument("--serve", choices=[*TITLES], help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> None:
    options = _options()
    if options.serve:
        serve(options.serve, options.threads)
        return
    peers = []
    for framework, title in TITLES.items():
        peer = Peer(framework, getattr(options, framework), options.threads)
        if peer.alive:
            peers.append(peer)
        else:
            print(f"{title} is missing: {peer.python} does not import it with Keras")
            peer.close()

    def say(what: str) -> None:
        print(what, file=sys.stderr, flush=True)

    try:
        result = measure(peers, options.only or [*WORKS], options.rounds, say)
    finally:
        for peer in peers:
            peer.close()
    show(result)


if __name__ == "__main__":
    main()

"""`python -m benchmarks.first_epoch`: the first ten steps of a small convolution network.

A process each time, by turns: TensorFlow, Wengert with nothing on disk, and Wengert with the programs
of an earlier process (`tf.config.experimental.set_compile_cache`). The best turn counts.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = """
import sys, time
started = time.perf_counter()
if sys.argv[1] == "wengert":
    import wengert as tf
    tf.config.experimental.set_compile_cache(sys.argv[2])
else:
    import tensorflow as tf
keras = tf.keras
import numpy as np
r = np.random.default_rng(0)
x, y = r.random((1280, 28, 28, 1), dtype=np.float32), r.integers(0, 10, 1280)
layers = keras.layers
model = keras.Sequential([
    layers.Input((28, 28, 1)), layers.Conv2D(32, 3, activation="relu"), layers.MaxPooling2D(),
    layers.Conv2D(64, 3, activation="relu"), layers.MaxPooling2D(), layers.Flatten(), layers.Dense(10),
])
loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
model.compile("adam", loss, metrics=["accuracy"])
begun = time.perf_counter()
model.fit(x, y, batch_size=128, verbose=0)
ended = time.perf_counter()
print(ended - begun, ended - started)
"""


def seconds(python: str, framework: str, cache: str) -> tuple[float, float]:
    """The first epoch, and the whole process up to its end."""
    done = subprocess.run(
        [python, "-c", PROGRAM, framework, cache],
        env=os.environ | {"PYTHONPATH": str(ROOT / "src"), "TF_CPP_MIN_LOG_LEVEL": "3"},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    epoch, whole = map(float, done.stdout.split())
    return epoch, whole


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.first_epoch", description=__doc__)
    variable = "WENGERT_BENCH_TENSORFLOW_PYTHON"
    help = f"interpreter that can import Keras and TensorFlow (or set {variable})"
    default = os.environ.get(variable, sys.executable)
    parser.add_argument("--tf-python", metavar="PYTHON", default=default, help=help)
    parser.add_argument("--rounds", type=int, default=3, help="turns (3)")
    options = parser.parse_args()
    ours, theirs, best = sys.executable, options.tf_python, {}
    with TemporaryDirectory() as warm:
        seconds(ours, "wengert", warm)
        for _ in range(options.rounds):
            with TemporaryDirectory() as cold:
                turn = {
                    "TensorFlow": seconds(theirs, "tensorflow", ""),
                    "Wengert, nothing on disk": seconds(ours, "wengert", cold),
                    "Wengert, programs on disk": seconds(ours, "wengert", warm),
                }
            for name, found in turn.items():
                known = best.get(name, found)
                best[name] = tuple(min(a, b) for a, b in zip(known, found, strict=True))
    epoch, whole = best["TensorFlow"]
    print("| | first epoch, s | / TensorFlow | from the start of the process, s | / TensorFlow |")
    print("|---|---|---|---|---|")
    for name, (one, all_) in best.items():
        print(f"| {name} | {one:.2f} | {one / epoch:.2f} | {all_:.2f} | {all_ / whole:.2f} |")


if __name__ == "__main__":
    main()

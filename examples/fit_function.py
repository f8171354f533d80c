"""Fits a small network to a noisy chirp with `tf.GradientTape` and Adam written by hand.

    python examples/fit_function.py --steps 3000 --out fit_function.svg

Ends with the loss curve and the fitted function, in the terminal and as a picture.
"""

from __future__ import annotations

import argparse
import math
from itertools import pairwise
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

import wengert as tf
from _draw import Panel, Series, svg, terminal

WIDTHS = (1, 64, 32, 1)
# Products of 128 × 64 × 32 stay on one core: on a busy machine, two that wait for each other lose.
BATCH = 128


def chirp(x):
    """A sine whose frequency rises with `x`, fading out."""
    return np.sin(14 * x**2 + 3 * x) * np.exp(-0.6 * x)


def make_data(rng, count=384, noise=0.12):
    """Noisy samples of the chirp, as two columns."""
    x = np.sort(rng.uniform(0.0, 1.6, (count, 1)), axis=0)
    y = chirp(x) + noise * rng.standard_normal((count, 1))
    return x.astype(np.float32), y.astype(np.float32)


def make_network(rng):
    """Weights and biases, layer by layer."""
    variables = []
    for i, (n, m) in enumerate(pairwise(WIDTHS)):
        # Steep first features, spread over the interval, let a shallow network learn fine wiggles.
        scale = 6.0 if i == 0 else math.sqrt(1.0 / n)
        weights = scale * rng.standard_normal((n, m))
        biases = -weights[0] * rng.uniform(0.0, 1.6, m) if i == 0 else np.zeros(m)
        variables.append(tf.Variable(weights.astype(np.float32)))
        variables.append(tf.Variable(biases.astype(np.float32)))
    return variables


def predict(variables, x):
    """The network: dense layers with tanh between them."""
    for w, b in zip(variables[:-2:2], variables[1:-2:2], strict=True):
        x = tf.tanh(tf.matmul(x, w) + b)
    return tf.matmul(x, variables[-2]) + variables[-1]


class Adam:
    """Kingma and Ba's optimizer: a step by the gradient's mean over its root mean square."""

    def __init__(self, variables, beta1=0.9, beta2=0.999, epsilon=1e-8):
        self.variables = variables
        self.means = [tf.Variable(tf.zeros_like(v)) for v in variables]
        self.squares = [tf.Variable(tf.zeros_like(v)) for v in variables]
        self.beta1, self.beta2, self.epsilon = beta1, beta2, epsilon
        self.count = 0

    def apply(self, gradients, rate):
        self.count += 1
        rate *= math.sqrt(1 - self.beta2**self.count) / (1 - self.beta1**self.count)
        for v, m, s, g in zip(self.variables, self.means, self.squares, gradients, strict=True):
            m.assign_add((1 - self.beta1) * (g - m))
            s.assign_add((1 - self.beta2) * (tf.square(g) - s))
            v.assign_sub(rate * m / (tf.sqrt(s) + self.epsilon))


def train(variables, x, y, steps, rng, console):
    """Fits `variables` in place and returns the loss of every step."""
    adam = Adam(variables)
    losses = []
    columns = (
        TextColumn("fitting"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("loss {task.fields[loss]:.5f}"),
    )
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("fit", total=steps, loss=math.nan)
        for step in range(steps):
            rows = rng.integers(len(x), size=BATCH)
            inputs, wanted = tf.constant(x[rows]), tf.constant(y[rows])
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.square(predict(variables, inputs) - wanted))
            gradients = tape.gradient(loss, variables)
            adam.apply(gradients, rate=0.005 * (1 + math.cos(math.pi * step / steps)))
            losses.append(float(loss))
            progress.update(task, advance=1, loss=losses[-1])
    return losses


def panels(variables, x, y, losses):
    """The loss curve, and the fit over the data."""
    grid = np.linspace(x.min(), x.max(), 400, dtype=np.float32)
    fitted = predict(variables, tf.constant(grid[:, None])).numpy()[:, 0]
    every = max(1, len(losses) // 150)  # the mean of a few steps hides the noise of the batches
    means = np.array(losses[: len(losses) // every * every]).reshape(-1, every).mean(axis=1)
    loss_curve = Series(every * np.arange(len(means)), means, "mean squared error", "#cc6600")
    return [
        Panel("loss", [loss_curve], log=True),
        Panel(
            "fit",
            [
                Series(x[:, 0], y[:, 0], "data", "#8899aa", dots=True),
                Series(grid, chirp(grid), "truth", "#33aa55"),
                Series(grid, fitted, "network", "#3366ff"),
            ],
        ),
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("fit_function.svg"))
    parser.add_argument("--quiet", action="store_true", help="write the picture and nothing else")
    options = parser.parse_args()
    console = Console(quiet=options.quiet)

    rng = np.random.default_rng(options.seed)
    x, y = make_data(rng)
    variables = make_network(rng)
    losses = train(variables, x, y, options.steps, rng, console)
    drawn = panels(variables, x, y, losses)
    for panel in drawn:
        console.print(terminal(panel, width=min(100, console.width - 10)))
        console.print()
    options.out.write_text(svg(drawn), encoding="utf-8")
    console.print(f"loss {losses[0]:.4f} → {losses[-1]:.4f}; picture in [bold]{options.out}[/]")


if __name__ == "__main__":
    main()

"""Gaussian process regression: the kernel's length, height and noise learnt by marginal likelihood.

    python examples/gaussian_process.py --steps 150 --out gaussian_process.svg

Differentiates through a Cholesky factorisation; the jacobian of the gradient at the end gives
error bars for the hyperparameters themselves.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import Progress

import wengert as tf
from _draw import Panel, Series, svg, terminal


def kernel(logs, a, b):
    """The squared exponential between two columns of points."""
    length, height = tf.exp(logs[0]), tf.exp(logs[1])
    return height**2 * tf.exp(-0.5 * ((a - tf.transpose(b)) / length) ** 2)


def factor(logs, x):
    """The Cholesky factor of the covariance of the noisy observations."""
    return tf.linalg.cholesky(
        kernel(logs, x, x) + tf.exp(2 * logs[2]) * tf.eye(len(x), dtype=tf.float64)
    )


def surprise(logs, x, y):
    """The negative logarithm of the marginal likelihood, without its constant."""
    lower = factor(logs, x)
    fit = tf.reduce_sum(y * tf.linalg.cholesky_solve(lower, y)) / 2
    return fit + tf.reduce_sum(tf.math.log(tf.linalg.diag_part(lower)))


def predict(logs, x, y, at):
    """Mean and standard deviation of the function at new points."""
    lower, cross = factor(logs, x), kernel(logs, x, at)
    mean = tf.matmul(cross, tf.linalg.cholesky_solve(lower, y), transpose_a=True)
    explained = tf.reduce_sum(tf.linalg.triangular_solve(lower, cross) ** 2, axis=0)
    return mean[:, 0], tf.sqrt(tf.exp(2 * logs[1]) - explained)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=150)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("gaussian_process.svg"))
    options = parser.parse_args()
    console, rng = Console(), np.random.default_rng(options.seed)

    x = np.sort(np.concatenate([rng.uniform(0, 3.2, 25), rng.uniform(5, 8, 15)]))[:, None]
    y = np.sin(1.7 * x) + 0.4 * x - 1.5 + 0.15 * rng.standard_normal(x.shape)
    logs = tf.Variable(np.log([3.0, 0.5, 0.5]))
    mean, square, losses = tf.zeros_like(logs), tf.zeros_like(logs), []
    with Progress(console=console) as progress:
        task = progress.add_task("learning", total=options.steps)
        for step in range(1, options.steps + 1):
            with tf.GradientTape() as tape:
                loss = surprise(logs, x, y)
            g = tape.gradient(loss, logs)
            mean, square = 0.9 * mean + 0.1 * g, 0.99 * square + 0.01 * g**2
            rate = 0.05 * math.sqrt(1 - 0.99**step) / (1 - 0.9**step)
            logs.assign_sub(rate * mean / (tf.sqrt(square) + 1e-9))
            losses.append(float(loss))
            progress.update(task, advance=1, description=f"surprise {losses[-1]:.3f}")

    # Curvature at the optimum: the inverse Hessian is the covariance of the logarithms.
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            loss = surprise(logs, x, y)
        g = inner.gradient(loss, logs)
    spread = tf.sqrt(tf.linalg.diag_part(tf.linalg.inv(outer.jacobian(g, logs))))
    for name, value, s in zip(
        ("length", "height", "noise"), np.exp(logs.numpy()), spread.numpy(), strict=True
    ):
        console.print(f"{name:>7} {value:.3f} ×/÷ {math.exp(s):.2f}")

    at = np.linspace(-0.5, 9.0, 300)[:, None]
    centre, sd = (a.numpy() for a in predict(logs, x, y, at))
    drawn = [
        Panel(
            "negative log likelihood",
            [Series(np.arange(len(losses)), np.array(losses), "surprise", "#cc6600")],
        ),
        Panel(
            "posterior",
            [
                Series(at[:, 0], centre - 2 * sd, "mean - 2 sd", "#99bbee"),
                Series(at[:, 0], centre + 2 * sd, "mean + 2 sd", "#99bbee"),
                Series(at[:, 0], centre, "mean", "#3366ff"),
                Series(x[:, 0], y[:, 0], "data", "#aa3344", dots=True),
            ],
        ),
    ]
    for panel in drawn:
        console.print(terminal(panel, width=min(100, console.width - 10)))
    options.out.write_text(svg(drawn), encoding="utf-8")
    console.print(f"picture in [bold]{options.out}[/]")


if __name__ == "__main__":
    main()

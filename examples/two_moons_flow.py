"""Learns the density of two moons with a normalising flow, then draws samples from it.

    python examples/two_moons_flow.py --steps 1200 --out two_moons_flow.svg

Each layer shifts and scales one coordinate by a function of the other, so it is undone exactly
and its log-determinant is a sum: the likelihood of the data is trained directly.
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


def moons(rng, count):
    """Two interleaved half circles, standardised."""
    turn = rng.uniform(0, np.pi, count)
    side = rng.integers(0, 2, count)
    x = np.where(side, 1 - np.cos(turn), np.cos(turn)) - 0.5
    y = np.where(side, 0.5 - np.sin(turn), np.sin(turn)) - 0.25
    points = np.stack([x / 0.87, y / 0.49], axis=1) + 0.06 * rng.standard_normal((count, 2))
    return points.astype(np.float32)


class Coupling(tf.Module):
    """Moves coordinate `side`, given the other one."""

    def __init__(self, rng, side, width=48):
        super().__init__()
        self.side = side
        normal = lambda *shape, scale: tf.Variable(
            (scale * rng.standard_normal(shape)).astype(np.float32)
        )
        self.w1, self.b1 = normal(1, width, scale=2.0), normal(width, scale=2.0)
        self.w2, self.b2 = normal(width, width, scale=width**-0.5), normal(width, scale=0.1)
        self.w3, self.b3 = normal(width, 2, scale=0.01), normal(2, scale=0.0)

    def conditioner(self, kept):
        hidden = tf.nn.relu(tf.tanh(kept @ self.w1 + self.b1) @ self.w2 + self.b2)
        shift, scale = tf.split(hidden @ self.w3 + self.b3, 2, axis=1)
        return shift, 2.0 * tf.tanh(scale / 2.0)

    def join(self, kept, moved):
        return tf.concat([moved, kept] if self.side == 0 else [kept, moved], axis=1)

    def forward(self, x):
        """Towards the normal; also the logarithm of the determinant, point by point."""
        kept, moved = x[:, 1 - self.side, None], x[:, self.side, None]
        shift, scale = self.conditioner(kept)
        return self.join(kept, moved * tf.exp(scale) + shift), scale[:, 0]

    def backward(self, z):
        """Towards the data."""
        kept, moved = z[:, 1 - self.side, None], z[:, self.side, None]
        shift, scale = self.conditioner(kept)
        return self.join(kept, (moved - shift) * tf.exp(-scale))


class Flow(tf.Module):
    def __init__(self, rng, layers=8):
        super().__init__()
        self.layers = [Coupling(rng, i % 2) for i in range(layers)]

    def log_density(self, x):
        total = 0.0
        for layer in self.layers:
            x, log_det = layer.forward(x)
            total = total + log_det
        return total - tf.reduce_sum(x**2, axis=1) / 2 - math.log(2 * math.pi)

    def sample(self, z):
        for layer in reversed(self.layers):
            z = layer.backward(z)
        return z


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=1200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("two_moons_flow.svg"))
    options = parser.parse_args()
    console, rng = Console(), np.random.default_rng(options.seed)

    flow = Flow(rng)
    variables = flow.trainable_variables
    means = [tf.Variable(tf.zeros_like(v)) for v in variables]
    squares = [tf.Variable(tf.zeros_like(v)) for v in variables]
    losses = []
    with Progress(console=console) as progress:
        task = progress.add_task("flowing", total=options.steps)
        for step in range(1, options.steps + 1):
            with tf.GradientTape() as tape:
                loss = -tf.reduce_mean(flow.log_density(moons(rng, 128)))
            gradients, _ = tf.clip_by_global_norm(tape.gradient(loss, variables), 5.0)
            rate = 2e-3 * (1 + math.cos(math.pi * step / options.steps))
            rate *= math.sqrt(1 - 0.999**step) / (1 - 0.9**step)
            for v, m, s, g in zip(variables, means, squares, gradients, strict=True):
                m.assign_add(0.1 * (g - m))
                s.assign_add(0.001 * (g * g - s))
                v.assign_sub(rate * m / (tf.sqrt(s) + 1e-8))
            losses.append(float(loss))
            progress.update(task, advance=1, description=f"-log p {losses[-1]:.3f}")

    data, noise = moons(rng, 1500), rng.standard_normal((1500, 2)).astype(np.float32)
    drawn_points = flow.sample(tf.constant(noise)).numpy()
    smooth = np.convolve(losses, np.ones(20) / 20, "valid")
    drawn = [
        Panel("-log p", [Series(np.arange(len(smooth)), smooth, "nats per point", "#cc6600")]),
        Panel("data", [Series(data[:, 0], data[:, 1], "moons", "#8899aa", dots=True)]),
        Panel("flow", [Series(*drawn_points.T, "samples", "#3366ff", dots=True)]),
    ]
    for panel in drawn:
        console.print(terminal(panel, width=min(100, console.width - 10)))
    options.out.write_text(svg(drawn), encoding="utf-8")
    console.print(f"-log p {losses[0]:.3f} → {smooth[-1]:.3f}; picture in [bold]{options.out}[/]")


if __name__ == "__main__":
    main()

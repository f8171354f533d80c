"""Separates three spiral arms with a training loop of one's own: `tf.data`, a tape, `@tf.function`.

    python examples/spirals_loop.py --steps 3000 --out spirals_loop.svg

The whole step (forward, gradients, Adam) is traced once and compiled; the rate is a tensor, since
a Python number would be traced anew each time. Ends with the loss and the map that was learnt.
"""

from __future__ import annotations

import argparse
import math
from itertools import pairwise
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import Progress

import wengert as tf
from _draw import Images, Panel, Series, show

COLOURS = np.array([[0.90, 0.45, 0.10], [0.20, 0.45, 1.00], [0.20, 0.70, 0.35]])


def spirals(rng, count):
    """Points on three arms that wind around each other, and the arm of each."""
    arm = rng.integers(0, 3, count)
    along = rng.uniform(0.05, 1.0, count) ** 0.6
    turn = 2 * np.pi * (arm / 3 + 0.9 * along)
    points = along[:, None] * np.stack([np.cos(turn), np.sin(turn)], axis=1)
    return (points + 0.035 * rng.standard_normal(points.shape)).astype(np.float32), arm


class Network(tf.Module):
    """Dense layers with a smooth bend between them."""

    def __init__(self, rng, widths=(2, 64, 64, 3)):
        super().__init__()
        normal = lambda n, m: rng.normal(0.0, 1.3 * n**-0.5, (n, m)).astype(np.float32)
        self.weights = [tf.Variable(normal(n, m)) for n, m in pairwise(widths)]
        self.biases = [tf.Variable(tf.zeros([m])) for m in widths[1:]]

    def __call__(self, x):
        *hidden, (w, b) = zip(self.weights, self.biases, strict=True)
        for w1, b1 in hidden:
            x = tf.nn.silu(3.0 * (x @ w1 + b1))
        return x @ w + b


class Adam(tf.Module):
    """Kingma and Ba's optimizer, with its count as a variable so that it can be traced."""

    def __init__(self, variables):
        super().__init__()
        self.means = [tf.Variable(tf.zeros_like(v)) for v in variables]
        self.squares = [tf.Variable(tf.zeros_like(v)) for v in variables]
        self.count = tf.Variable(0.0)

    def apply(self, variables, gradients, rate):
        self.count.assign_add(1.0)
        rate *= tf.sqrt(1.0 - 0.999**self.count) / (1.0 - 0.9**self.count)
        for v, m, s, g in zip(variables, self.means, self.squares, gradients, strict=True):
            m.assign_add(0.1 * (g - m))
            s.assign_add(0.001 * (g * g - s))
            v.assign_sub(rate * m / (tf.sqrt(s) + 1e-8))


class Trainer:
    """What a step needs; the step is traced when it is first called."""

    def __init__(self, network):
        self.network = network
        self.variables = network.trainable_variables
        self.adam = Adam(self.variables)

    @tf.function
    def step(self, x, arm, rate):
        with tf.GradientTape() as tape:
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(arm, self.network(x))
            loss = tf.reduce_mean(losses)
        self.adam.apply(self.variables, tape.gradient(loss, self.variables), rate)
        return loss


def train(network, points, arms, steps, console):
    """Fits the network and returns the loss of every step."""
    trainer, losses = Trainer(network), []
    batches = tf.data.Dataset.from_tensor_slices((points, arms)).shuffle(2000, seed=0).repeat()
    with Progress(console=console) as progress:
        task = progress.add_task("winding", total=steps)
        for i, (x, arm) in enumerate(batches.batch(128).take(steps)):
            rate = 2e-3 * (1.01 + math.cos(math.pi * i / steps))
            losses.append(float(trainer.step(x, arm, tf.constant(rate))))
            progress.update(task, advance=1, description=f"loss {losses[-1]:.4f}")
    return np.array(losses)


def learnt_map(network, size=240):
    """What the network makes of every point of the square, in the arms' colours."""
    axis = np.linspace(-1.1, 1.1, size, dtype=np.float32)
    x, y = np.meshgrid(axis, -axis)
    logits = network(tf.constant(np.stack([x.ravel(), y.ravel()], axis=1)))
    return (tf.nn.softmax(logits).numpy() @ COLOURS).reshape(size, size, 3)


def with_points(image, points, arms):
    """The map with the data on it, a little darker."""
    at = np.rint((points + 1.1) / 2.2 * (len(image) - 1)).astype(int)
    for dx in (0, 1):
        for dy in (0, 1):
            image[len(image) - 1 - at[:, 1] - dy, at[:, 0] - dx] = 0.55 * COLOURS[arms]
    return image


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("spirals_loop.svg"))
    options = parser.parse_args()
    console, rng = Console(), np.random.default_rng(options.seed)

    points, arms = spirals(rng, 2000)
    network = Network(rng)
    losses = train(network, points, arms, options.steps, console)
    fresh, truth = spirals(rng, 2000)
    found = tf.argmax(network(tf.constant(fresh)), axis=1).numpy()
    window = min(20, len(losses))
    smooth = np.convolve(losses, np.ones(window) / window, "valid")
    drawn = [
        Panel("loss", [Series(np.arange(len(smooth)), smooth, "nats", "#cc6600")], log=True),
        Images("the map", with_points(learnt_map(network), points, arms)[None], columns=2),
    ]
    show(drawn, console, options.out)
    console.print(
        f"{np.mean(found == truth):.1%} of fresh points on the right arm; "
        f"picture in [bold]{options.out}[/]"
    )


if __name__ == "__main__":
    main()

"""Invents digits: a generator and a critic trained against each other, small enough for two cores.

    python examples/digits_gan.py --steps 3000 --out digits_gan.svg

The critic is kept smooth by a penalty on its own gradient at real images (R1), so each step
differentiates through a gradient: tapes within tapes, in one compiled function. Ends with the
balance of the two and a gallery of images that nobody drew.
"""

from __future__ import annotations

import argparse
from itertools import pairwise
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import Progress

import wengert as tf
from _digits import digits
from _draw import Images, Panel, Series, show

SIZE, CODE, BATCH = 16, 24, 64


class Dense(tf.Module):
    """Dense layers with leaky bends between them."""

    def __init__(self, rng, widths):
        super().__init__()
        normal = lambda n, m: rng.normal(0.0, (2 / n) ** 0.5, (n, m)).astype(np.float32)
        self.weights = [tf.Variable(normal(n, m)) for n, m in pairwise(widths)]
        self.biases = [tf.Variable(tf.zeros([m])) for m in widths[1:]]

    def __call__(self, x):
        *hidden, (w, b) = zip(self.weights, self.biases, strict=True)
        for w1, b1 in hidden:
            x = tf.nn.leaky_relu(x @ w1 + b1, 0.2)
        return x @ w + b


class Adam(tf.Module):
    """Adam with little memory of past directions, since the opponent moves."""

    def __init__(self, variables, rate):
        super().__init__()
        self.weights, self.rate = variables, rate
        self.means = [tf.Variable(tf.zeros_like(v)) for v in variables]
        self.squares = [tf.Variable(tf.zeros_like(v)) for v in variables]
        self.count = tf.Variable(0.0)

    def apply(self, gradients):
        self.count.assign_add(1.0)
        rate = self.rate * tf.sqrt(1.0 - 0.99**self.count) / (1.0 - 0.5**self.count)
        for v, m, s, g in zip(self.weights, self.means, self.squares, gradients, strict=True):
            m.assign_add(0.5 * (g - m))
            s.assign_add(0.01 * (g * g - s))
            v.assign_sub(rate * m / (tf.sqrt(s) + 1e-8))


class Game:
    """The two networks and their optimizers."""

    def __init__(self, rng):
        self.generator = Dense(rng, (CODE, 256, 256, SIZE * SIZE))
        self.critic = Dense(rng, (SIZE * SIZE, 256, 256, 1))
        self.invent = Adam(self.generator.trainable_variables, 5e-4)
        self.judge = Adam(self.critic.trainable_variables, 5e-4)
        # Averaged weights draw better than those of the last step.
        self.steady = Dense(rng, (CODE, 256, 256, SIZE * SIZE))
        for mean, v in zip(self.steady.variables, self.generator.variables, strict=True):
            mean.assign(v)

    def images(self, codes, network=None):
        return tf.sigmoid((network or self.generator)(codes))

    @tf.function
    def step(self, real):
        codes = tf.random.normal([BATCH, CODE])
        with tf.GradientTape() as tape:
            with tf.GradientTape() as slopes:
                slopes.watch(real)
                true = self.critic(real)
            slope = slopes.gradient(true, real)
            false = self.critic(self.images(codes))
            steep = tf.reduce_mean(tf.reduce_sum(slope**2, axis=1))
            doubt = tf.reduce_mean(tf.nn.softplus(-true) + tf.nn.softplus(false))
            critic_loss = doubt + 0.1 * steep
        self.judge.apply(tape.gradient(critic_loss, self.judge.weights))
        with tf.GradientTape() as tape:
            false = self.critic(self.images(codes))
            generator_loss = tf.reduce_mean(tf.nn.softplus(-false))
        self.invent.apply(tape.gradient(generator_loss, self.invent.weights))
        for mean, v in zip(self.steady.variables, self.generator.variables, strict=True):
            mean.assign_add(0.005 * (v - mean))
        return doubt, generator_loss


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("digits_gan.svg"))
    options = parser.parse_args()
    console, rng = Console(), np.random.default_rng(options.seed)
    tf.random.set_seed(options.seed)

    with console.status("drawing digits"):
        drawn, _ = digits(rng, 4000, SIZE, noise=0.0)
    game, losses = Game(rng), []
    flat = drawn.reshape(len(drawn), -1)
    with Progress(console=console) as progress:
        task = progress.add_task("inventing", total=options.steps)
        for _ in range(options.steps):
            batch = tf.constant(flat[rng.integers(len(flat), size=BATCH)])
            losses.append([float(loss) for loss in game.step(batch)])
            words = f"critic {losses[-1][0]:.3f}, generator {losses[-1][1]:.3f}"
            progress.update(task, advance=1, description=words)

    codes = tf.constant(rng.standard_normal((48, CODE)).astype(np.float32))
    invented = game.images(codes, game.steady).numpy().reshape(-1, SIZE, SIZE)
    window = min(50, len(losses))
    smooth = [np.convolve(row, np.ones(window) / window, "valid") for row in np.array(losses).T]
    at = np.arange(len(smooth[0]))
    curves = [
        Series(at, smooth[0], "critic", "#cc6600"),
        Series(at, smooth[1], "generator", "#3366ff"),
    ]
    panels = [
        Panel("loss", curves),
        Images("drawn", drawn[:24]),
        Images("invented", invented),
    ]
    show(panels, console, options.out)
    nearest = ((invented.reshape(48, 1, -1) - flat[None, :2000]) ** 2).sum(-1).min(1).mean()
    console.print(
        f"mean squared distance of an invented digit to the nearest drawn one: {nearest:.1f}; "
        f"picture in [bold]{options.out}[/]"
    )


if __name__ == "__main__":
    main()

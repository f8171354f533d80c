"""Learns a picture on several devices: `MirroredStrategy`, a replica of the step on each of them.

    python examples/four_devices.py --replicas 4 --steps 1500 --out four_devices.svg

A network learns the colour at every point of a picture. Each replica takes a part of the batch; the
gradients are summed before the update, so the result is the same for any number of replicas, which
the program checks at the end. Without GPUs it shows the CPU as so many logical devices.
"""

from __future__ import annotations

import argparse
from itertools import pairwise
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import Progress

import wengert as tf
from _draw import Images, Panel, Series, show

BATCH = 256  # of all replicas together


def colours(points):
    """The picture: rings around two centres, and a stripe."""
    x, y = points[:, 0], points[:, 1]
    near, far = np.hypot(x - 0.4, y - 0.3), np.hypot(x + 0.5, y + 0.4)
    rings = [0.5 + 0.5 * np.sin(9 * near), 0.5 + 0.5 * np.cos(7 * far), np.abs(x + y) < 0.3]
    return np.stack(rings, axis=1).astype(np.float32)


def strategy_of(replicas):
    """Replicas on GPUs where there are enough, else on logical CPUs."""
    if len(tf.config.list_logical_devices("GPU")) >= replicas:
        return tf.distribute.MirroredStrategy([f"GPU:{k}" for k in range(replicas)])
    cpu = tf.config.list_physical_devices("CPU")[0]
    shown = [tf.config.LogicalDeviceConfiguration()] * replicas
    tf.config.set_logical_device_configuration(cpu, shown)
    return tf.distribute.MirroredStrategy([f"CPU:{k}" for k in range(replicas)])


class Network(tf.Module):
    """Waves of the point, then dense layers."""

    def __init__(self, rng, widths=(64, 64, 64, 3)):
        super().__init__()
        normal = lambda n, m, scale: rng.normal(0.0, scale, (n, m)).astype(np.float32)
        self.waves = tf.constant(normal(2, widths[0] // 2, 4.0))
        self.weights = [tf.Variable(normal(n, m, n**-0.5)) for n, m in pairwise(widths)]
        self.biases = [tf.Variable(tf.zeros([m])) for m in widths[1:]]

    def __call__(self, points):
        x = tf.concat([tf.sin(points @ self.waves), tf.cos(points @ self.waves)], axis=1)
        *hidden, (w, b) = zip(self.weights, self.biases, strict=True)
        for w1, b1 in hidden:
            x = tf.nn.silu(2.0 * (x @ w1 + b1))
        return tf.nn.sigmoid(x @ w + b)


def trainer(strategy, network, rate):
    """One step of all replicas: it takes their parts of a batch and returns the mean loss."""
    variables = network.trainable_variables
    with strategy.scope():
        speeds = [tf.Variable(tf.zeros_like(v)) for v in variables]

    def replica_step(points, wanted):
        with tf.GradientTape() as tape:
            losses = tf.reduce_mean((network(points) - wanted) ** 2, axis=1)
            loss = tf.nn.compute_average_loss(losses, global_batch_size=BATCH)
        gradients = tape.gradient(loss, variables)
        context = tf.distribute.get_replica_context()
        for v, s, g in zip(variables, speeds, context.all_reduce("SUM", gradients), strict=True):
            s.assign(0.9 * s + g)
            v.assign_sub(rate * s)
        return loss

    @tf.function
    def step(points, wanted):
        return strategy.reduce("SUM", strategy.run(replica_step, args=(points, wanted)), axis=None)

    return step


def train(replicas, steps, seed, watch=lambda: None):
    """The network that so many replicas learn, and the loss of every step."""
    strategy, rng = strategy_of(replicas), np.random.default_rng(seed)
    with strategy.scope():
        network = Network(rng)
    points = rng.uniform(-1.0, 1.0, (20_000, 2)).astype(np.float32)
    rows = tf.data.Dataset.from_tensor_slices((points, colours(points))).repeat().batch(BATCH)
    step, losses = trainer(strategy, network, rate=0.5), []
    for batch in strategy.experimental_distribute_dataset(rows.take(steps)):
        losses.append(float(step(*batch)))
        watch()
    return network, np.array(losses)


def pictures(network, size=120):
    """The picture and what the network made of it."""
    axis = np.linspace(-1.0, 1.0, size, dtype=np.float32)
    x, y = np.meshgrid(axis, -axis)
    points = np.stack([x.ravel(), y.ravel()], axis=1)
    learnt = network(tf.constant(points)).numpy()
    return np.stack([colours(points), learnt]).reshape(2, size, size, 3)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--replicas", type=int, default=4)
    parser.add_argument("--steps", type=int, default=1500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("four_devices.svg"))
    options = parser.parse_args()
    console = Console()

    with Progress(console=console) as progress:
        task = progress.add_task(f"{options.replicas} replicas", total=options.steps)
        watch = lambda: progress.update(task, advance=1)
        network, losses = train(options.replicas, options.steps, options.seed, watch)
    few = min(options.steps, 20)
    alone = train(1, few, options.seed)[1]
    steps = np.arange(len(losses))
    drawn = [
        Panel("loss", [Series(steps, losses, "squared error", "#cc6600")], log=True),
        Images("the picture, and what was learnt", pictures(network), columns=2),
    ]
    show(drawn, console, options.out)
    apart = np.max(np.abs(losses[:few] - alone))
    console.print(
        f"{options.replicas} replicas and one agree to {apart:.0e} in {few} steps; "
        f"picture in [bold]{options.out}[/]"
    )


if __name__ == "__main__":
    main()

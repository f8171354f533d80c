"""Finds wrong labels by per-example gradients: `vectorized_map` over a tape.

    python examples/mislabelled.py --steps 400 --out mislabelled.svg

A twelfth of the labels of two moons is turned around. A network is trained with gradients that
are clipped for each example alone, as in private learning, so that no example pulls harder than
the others; the examples that would have pulled hardest are then the wrong ones. Ends with the
gradients' sizes and the points that they betray.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import Progress

import wengert as tf
from _draw import Panel, Series, show

COUNT, WRONG, WIDTH = 600, 50, 24


def make_data(rng):
    """Points on two moons, their labels, and which of the labels are wrong."""
    turn, side = rng.uniform(0, np.pi, COUNT), rng.integers(0, 2, COUNT)
    x = np.where(side, 1 - np.cos(turn), np.cos(turn))
    y = np.where(side, 0.5 - np.sin(turn), np.sin(turn))
    points = np.stack([x, y], axis=1) + 0.1 * rng.standard_normal((COUNT, 2))
    wrong = np.zeros(COUNT, bool)
    wrong[rng.choice(COUNT, WRONG, replace=False)] = True
    return points.astype(np.float32), (side ^ wrong).astype(np.float32), wrong


def make_network(rng):
    normal = lambda n, m: tf.Variable((n**-0.5 * rng.standard_normal((n, m))).astype(np.float32))
    zeros = lambda n: tf.Variable(tf.zeros([n]))
    return [normal(2, WIDTH), zeros(WIDTH), normal(WIDTH, WIDTH), zeros(WIDTH), normal(WIDTH, 1)]


def logit(net, x):
    w1, b1, w2, b2, w3 = net
    return tf.tanh(tf.tanh(2.0 * (x @ w1 + b1)) @ w2 + b2) @ w3


@tf.function
def gradients_of_each(net, points, labels):
    """The gradient of every example's own loss: as many rows as there are examples."""

    def of_one(example):
        x, label = example
        with tf.GradientTape() as tape:
            z = logit(net, x[None])[0, 0]
            loss = tf.nn.sigmoid_cross_entropy_with_logits(label, z)
        return loss, tape.gradient(loss, net)

    return tf.vectorized_map(of_one, (points, labels))


def sizes(gradients):
    """The norm of each example's gradient over all variables."""
    squares = [tf.reduce_sum(tf.reshape(g, [len(g), -1]) ** 2, axis=1) for g in gradients]
    return tf.sqrt(tf.add_n(squares))


def train(net, points, labels, steps, console):
    """Descends along clipped gradients; returns the mean size of each example's gradient."""
    points, labels = tf.constant(points), tf.constant(labels)
    pull = np.zeros(COUNT)
    with Progress(console=console) as progress:
        task = progress.add_task("weighing", total=steps)
        for step in range(steps):
            loss, gradients = gradients_of_each(net, points, labels)
            size = sizes(gradients)
            share = tf.minimum(1.0, 0.3 / size)
            for v, g in zip(net, gradients, strict=True):
                v.assign_sub(4.0 * tf.tensordot(share, g, 1) / COUNT)
            if step >= steps // 4:  # at first every example is a surprise
                pull += size.numpy()
            progress.update(task, advance=1, description=f"loss {float(tf.reduce_mean(loss)):.3f}")
    return pull / (steps - steps // 4)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("mislabelled.svg"))
    options = parser.parse_args()
    console, rng = Console(), np.random.default_rng(options.seed)

    points, labels, wrong = make_data(rng)
    pull = train(make_network(rng), points, labels, options.steps, console)
    order = np.argsort(-pull)
    suspects = order[:WRONG]
    rank, ordered = np.arange(COUNT), wrong[order]
    dots = lambda at, label, colour: Series(*points[at].T, label, colour, dots=True)
    panels = [
        Panel(
            "size of each example's gradient, largest first",
            [
                Series(rank[~ordered], pull[order][~ordered], "right label", "#8899aa", dots=True),
                Series(rank[ordered], pull[order][ordered], "wrong label", "#cc2222", dots=True),
            ],
        ),
        Panel(
            "the points",
            [
                dots(labels == 0, "labelled 0", "#66bb88"),
                dots(labels == 1, "labelled 1", "#77aaff"),
                dots(suspects, "suspected", "#cc2222"),
            ],
        ),
    ]
    show(panels, console, options.out)
    console.print(
        f"{wrong[suspects].sum()} of {WRONG} wrong labels are among the {WRONG} suspects; "
        f"picture in [bold]{options.out}[/]"
    )


if __name__ == "__main__":
    main()

"""Solves the damped pendulum with a network that only knows the equation: no data, two tapes.

    python examples/pendulum_pinn.py --steps 3000 --out pendulum_pinn.svg

The loss is the residual of θ'' + θ'/5 + sin θ = 0; the inner tapes give θ' and θ'' by reverse
mode, the outer one the gradient of the residual. Ends with the loss and the swing next to RK4's.
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

START, END, DAMPING = 2.0, 10.0, 0.2


def make_network(rng, width=32):
    """Two hidden layers; the first features are spread over the interval."""
    slopes = rng.normal(0.0, 1.0, (1, width))
    values = [
        slopes,
        -slopes[0] * rng.uniform(0.0, END, width),
        rng.normal(0.0, width**-0.5, (width, width)),
        np.zeros(width),
        rng.normal(0.0, width**-0.5, (width, 1)),
        np.zeros(1),
    ]
    return [tf.Variable(v) for v in values]


def angle(net, t):
    """θ(t); the factor in front makes θ(0) = START and θ'(0) = 0 whatever the weights are."""
    w1, b1, w2, b2, w3, b3 = net
    hidden = tf.tanh(tf.tanh(t @ w1 + b1) @ w2 + b2)
    return START + tf.tanh(t) ** 2 * (hidden @ w3 + b3)


def residual(net, t):
    """How far θ is from obeying the equation at each time."""
    with tf.GradientTape() as outer:
        outer.watch(t)
        with tf.GradientTape() as inner:
            inner.watch(t)
            theta = angle(net, t)
        speed = inner.gradient(theta, t)
    acceleration = outer.gradient(speed, t)
    return acceleration + DAMPING * speed + tf.sin(theta)


def train(net, steps, rng, console):
    """Adam on the mean squared residual; early times weigh more, so the swing is learnt forwards."""
    means = [tf.Variable(tf.zeros_like(v)) for v in net]
    squares = [tf.Variable(tf.zeros_like(v)) for v in net]
    losses = []
    with Progress(console=console) as progress:
        task = progress.add_task("swinging", total=steps)
        for step in range(1, steps + 1):
            t = tf.constant((np.arange(100) + rng.uniform(size=100))[:, None] * END / 100)
            reach = 1.5 * END * step / steps  # residuals later than this hardly count yet
            weight = tf.sigmoid(2.0 * (reach - t))
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(weight * residual(net, t) ** 2) / tf.reduce_sum(weight)
            rate = 5e-3 * (1.02 + math.cos(math.pi * step / steps))
            rate *= math.sqrt(1 - 0.999**step) / (1 - 0.9**step)
            for v, m, s, g in zip(net, means, squares, tape.gradient(loss, net), strict=True):
                m.assign_add(0.1 * (g - m))
                s.assign_add(0.001 * (g * g - s))
                v.assign_sub(rate * m / (tf.sqrt(s) + 1e-8))
            losses.append(float(loss))
            progress.update(task, advance=1, description=f"residual {losses[-1]:.2e}")
    return np.array(losses)


def runge_kutta(times):
    """The truth: the classical fourth-order method with small steps."""
    f = lambda y: np.array([y[1], -DAMPING * y[1] - np.sin(y[0])])
    y, path = np.array([START, 0.0]), [START]
    for h in np.diff(times):
        k1 = f(y)
        k2 = f(y + h / 2 * k1)
        k3 = f(y + h / 2 * k2)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + f(y + h * k3))
        path.append(y[0])
    return np.array(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("pendulum_pinn.svg"))
    options = parser.parse_args()
    console, rng = Console(), np.random.default_rng(options.seed)

    net = make_network(rng)
    losses = train(net, options.steps, rng, console)
    times = np.linspace(0.0, END, 401)
    truth, found = runge_kutta(times), angle(net, tf.constant(times[:, None])).numpy()[:, 0]
    drawn = [
        Panel(
            "residual", [Series(np.arange(len(losses)), losses, "mean square", "#cc6600")], log=True
        ),
        Panel(
            "angle",
            [
                Series(times[::8], truth[::8], "Runge-Kutta", "#8899aa", dots=True),
                Series(times, found, "network", "#3366ff"),
            ],
        ),
    ]
    for panel in drawn:
        console.print(terminal(panel, width=min(100, console.width - 10)))
    options.out.write_text(svg(drawn), encoding="utf-8")
    console.print(
        f"largest error {np.abs(truth - found).max():.4f}; picture in [bold]{options.out}[/]"
    )


if __name__ == "__main__":
    main()

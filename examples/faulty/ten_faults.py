"""Ten faults, one of each kind that Wengert knows: `wengert doctor examples/faulty/ten_faults.py`.

Each fault ends its line with the code that the doctor finds there. The program is written for
TensorFlow and runs; only the last fault ends it.
"""

import numpy as np
import tensorflow as tf

rate = 0.1
log = []
kept = []
weights = tf.Variable([0.5, 1.5, 0.0])


@tf.function
def scaled(x):
    return x * rate  # WG301


@tf.function
def logged(x):
    log.append("called")  # WG302
    return x + 1.0


@tf.function
def noisy(x):
    return x + np.random.normal(size=3).astype(np.float32)  # WG303


@tf.function
def hidden(x):
    h = tf.tanh(x)
    kept.append(h)  # WG405
    return tf.reduce_sum(h)


@tf.function
def settled(x):
    for _ in range(200):  # WG701
        x = tf.sin(x) + 0.5
    return x


@tf.function
def total(x):
    return tf.reduce_sum(x * x)


def outside_the_tape():
    with tf.GradientTape() as tape:
        y = weights * weights
    loss = tf.reduce_sum(y)  # WG105
    return tape.gradient(loss, weights)


def not_chosen():
    with tf.GradientTape() as tape:
        logs = tf.where(weights > 0.0, tf.math.log(weights), 0.0)  # WG505
        loss = tf.reduce_sum(logs)
    return tape.gradient(loss, weights)


def persistent():
    large = tf.Variable(tf.ones([512, 1024]))
    with tf.GradientTape(persistent=True) as tape:  # WG411
        loss = tf.reduce_sum(tf.tanh(large))
    return tape.gradient(loss, large)


def main():
    global rate
    scaled(weights)
    rate = 0.01
    scaled(weights)
    for _ in range(3):
        logged(weights)
        noisy(weights)
        hidden(weights)
    settled(weights)
    for size in range(1, 8):
        total(tf.ones([size, 2]))  # WG201
    outside_the_tape()
    not_chosen()
    persistent()
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(weights * weights)
    tape.gradient(loss, weights)
    tape.gradient(loss, weights)  # WG401


if __name__ == "__main__":
    main()

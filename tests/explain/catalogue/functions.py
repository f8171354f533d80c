"""Traced functions: traces again and again, Python frozen in a trace, leaks, unrolled loops.

Each fault is made by a program of its own, since a function counts its calls from the start.
"""

from __future__ import annotations

import random
import time
from types import SimpleNamespace
from typing import Any

import numpy as np

import wengert as tf


def bad_sizes_that_vary() -> Any:
    @tf.function
    def total(x: Any) -> Any:
        return tf.reduce_sum(x)

    for size in range(8):
        total(tf.ones([size]))  # WG201


def good_sizes_that_vary() -> Any:
    @tf.function(reduce_retracing=True)
    def total(x: Any) -> Any:
        return tf.reduce_sum(x)

    for size in range(8):
        total(tf.ones([size]))


def bad_sizes_inside_a_structure() -> Any:
    @tf.function
    def total(batch: Any) -> Any:
        return tf.reduce_sum(batch["x"]) + tf.reduce_sum(batch["y"])

    for size in range(8):
        total({"x": tf.ones([2]), "y": tf.ones([size, 2])})  # WG201


def good_sizes_inside_a_structure() -> Any:
    @tf.function
    def total(batch: Any) -> Any:
        return tf.reduce_sum(batch["x"]) + tf.reduce_sum(batch["y"])

    for _ in range(8):
        total({"x": tf.ones([2]), "y": tf.ones([5, 2])})


def bad_dtypes_that_vary() -> Any:
    @tf.function
    def double(x: Any) -> Any:
        return x + x

    for kind in (np.int8, np.int16, np.int32, np.int64, np.float64):
        double(tf.constant(np.ones(3, kind)))  # WG202


def good_dtypes_that_vary() -> Any:
    @tf.function
    def double(x: Any) -> Any:
        return x + x

    for kind in (np.int8, np.int16, np.int32, np.int64, np.float64):
        double(tf.cast(np.ones(3, kind), tf.float32))


def bad_step_counter() -> Any:
    @tf.function
    def step(x: Any, number: int) -> Any:
        return x * number

    for number in range(8):
        step(tf.constant(1.0), number)  # WG203


def good_step_counter() -> Any:
    @tf.function
    def step(x: Any, number: Any) -> Any:
        return x * number

    for number in range(8):
        step(tf.constant(1.0), tf.constant(float(number)))


def bad_flag_by_keyword() -> Any:
    @tf.function
    def step(x: Any, *, name: str) -> Any:
        return x * len(name)

    for name in ("a", "b", "c", "d", "e"):
        step(tf.constant(1.0), name=name)  # WG203


def good_flag_by_keyword() -> Any:
    @tf.function
    def step(x: Any, *, training: bool) -> Any:
        return x * 2.0 if training else x

    for k in range(8):
        step(tf.constant(1.0), training=k % 2 == 0)


def bad_list_that_grows() -> Any:
    @tf.function
    def total(parts: Any) -> Any:
        return tf.add_n(parts)

    for count in range(1, 8):
        total([tf.constant(1.0)] * count)  # WG204


def good_list_that_grows() -> Any:
    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def total(parts: Any) -> Any:
        return tf.reduce_sum(parts)

    for count in range(1, 8):
        total(tf.ones([count]))


def bad_function_made_in_a_loop() -> Any:
    for _ in range(8):

        @tf.function
        def square(x: Any) -> Any:  # WG205
            return x * x

        square(tf.constant(2.0))


def good_function_made_in_a_loop() -> Any:
    @tf.function
    def square(x: Any) -> Any:
        return x * x

    for _ in range(8):
        square(tf.constant(2.0))


def bad_lambda_in_a_loop() -> Any:
    for _ in range(8):
        f = tf.function(lambda x: x * 3.0)  # WG205
        f(tf.constant(2.0))


def good_lambda_in_a_loop() -> Any:
    f = tf.function(lambda x: x * 3.0)
    for _ in range(8):
        f(tf.constant(2.0))


def bad_object_each_time() -> Any:
    @tf.function
    def scaled(x: Any, config: Any) -> Any:
        return x * config.rate

    kept = [SimpleNamespace(rate=0.5) for _ in range(8)]
    for config in kept:
        scaled(tf.constant(2.0), config)  # WG206


def good_object_each_time() -> Any:
    @tf.function
    def scaled(x: Any, rate: float) -> Any:
        return x * rate

    kept = [SimpleNamespace(rate=0.5) for _ in range(8)]
    for config in kept:
        scaled(tf.constant(2.0), config.rate)


RATE = 0.1


def bad_global_that_changes() -> Any:
    @tf.function
    def step(x: Any) -> Any:
        return x * RATE  # WG301

    global RATE
    RATE = 0.1
    step(tf.constant(1.0))
    RATE = 0.2
    step(tf.constant(1.0))


def good_global_that_changes() -> Any:
    @tf.function
    def step(x: Any, rate: Any) -> Any:
        return x * rate

    step(tf.constant(1.0), tf.constant(0.1))
    step(tf.constant(1.0), tf.constant(0.2))


def bad_closure_that_changes() -> Any:
    rate = 0.1

    @tf.function
    def step(x: Any) -> Any:
        return x * rate  # WG301

    step(tf.constant(1.0))
    rate = 0.2
    step(tf.constant(1.0))


def good_closure_that_changes() -> Any:
    rate = tf.Variable(0.1)

    @tf.function
    def step(x: Any) -> Any:
        return x * rate

    step(tf.constant(1.0))
    rate.assign(0.2)
    step(tf.constant(1.0))


class Model:
    """Holds a rate and weights, and counts its calls if asked to."""

    def __init__(self) -> None:
        self.rate = 0.1
        self.weights = [1.0]
        self.calls = 0
        self.last: Any = None

    @tf.function
    def reads(self, x: Any) -> Any:
        return x * self.rate

    @tf.function
    def sums(self, x: Any) -> Any:
        return x * sum(self.weights)

    @tf.function
    def counts(self, x: Any) -> Any:
        self.calls += 1
        return x * 2.0

    @tf.function
    def keeps(self, x: Any) -> Any:
        self.last = x * 2.0
        return x

    @tf.function
    def helped(self, x: Any) -> Any:
        return self._scaled(x)

    def _scaled(self, x: Any) -> Any:
        return x * self.rate


def bad_attribute_that_changes() -> Any:
    model = Model()  # WG301 in reads: self.rate
    model.reads(tf.constant(1.0))
    model.rate = 0.2
    model.reads(tf.constant(1.0))


def good_attribute_that_changes() -> Any:
    model = Model()
    model.reads(tf.constant(1.0))
    model.reads(tf.constant(1.0))


def bad_list_attribute_that_changes() -> Any:
    model = Model()  # WG301 in sums: self.weights
    model.sums(tf.constant(1.0))
    model.weights.append(2.0)
    model.sums(tf.constant(1.0))


def good_list_attribute_that_changes() -> Any:
    model = Model()
    model.weights.append(2.0)
    model.sums(tf.constant(1.0))


def bad_method_that_is_called() -> Any:
    model = Model()  # WG301 in _scaled: self.rate
    model.helped(tf.constant(1.0))
    model.rate = 0.2
    model.helped(tf.constant(1.0))


def good_method_that_is_called() -> Any:
    model = Model()
    model.rate = 0.2
    model.helped(tf.constant(1.0))


def bad_counter() -> Any:
    model = Model()  # WG302 in counts: self.calls
    model.counts(tf.constant(1.0))


def good_counter() -> Any:
    model = Model()
    model.calls += 1
    model.reads(tf.constant(1.0))


def bad_append() -> Any:
    seen: list[float] = []

    @tf.function
    def step(x: Any) -> Any:
        seen.append(1.0)  # WG302
        return x * 2.0

    step(tf.constant(1.0))


def good_append() -> Any:
    @tf.function
    def step(x: Any) -> Any:
        parts = [x]
        parts.append(x * 2.0)
        return tf.stack(parts)

    step(tf.constant(1.0))


def bad_item() -> Any:
    seen: dict[str, float] = {}

    @tf.function
    def step(x: Any) -> Any:
        seen["calls"] = 1.0  # WG302
        return x * 2.0

    step(tf.constant(1.0))


def good_item() -> Any:
    seen: dict[str, float] = {}

    @tf.function
    def step(x: Any) -> Any:
        return x * 2.0

    step(tf.constant(1.0))
    seen["calls"] = 1.0


def bad_print() -> Any:
    @tf.function
    def step(x: Any) -> Any:
        print("step", end="")  # WG302
        return x * 2.0

    step(tf.constant(1.0))


def good_print() -> Any:
    @tf.function
    def step(x: Any) -> Any:
        return x * 2.0

    print("step", step(tf.constant(1.0)), end="")


def bad_numpy_noise() -> Any:
    @tf.function
    def noisy(x: Any) -> Any:
        return x + np.random.normal()  # WG303

    noisy(tf.constant(1.0))


def good_numpy_noise() -> Any:
    @tf.function
    def noisy(x: Any, noise: Any) -> Any:
        return x + noise

    noisy(tf.constant(1.0), tf.constant(np.random.normal(), tf.float32))


def bad_generator() -> Any:
    rng = np.random.default_rng(0)

    @tf.function
    def noisy(x: Any) -> Any:
        return x + rng.normal()  # WG303

    noisy(tf.constant(1.0))


def good_generator() -> Any:
    rng = tf.random.Generator.from_seed(0)

    @tf.function
    def noisy(x: Any) -> Any:
        return x + rng.normal([])

    noisy(tf.constant(1.0))


def bad_python_random() -> Any:
    @tf.function
    def noisy(x: Any) -> Any:
        return x + random.randint(1, 6)  # WG303

    noisy(tf.constant(1.0))


def good_python_random() -> Any:
    @tf.function
    def noisy(x: Any) -> Any:
        return x + tf.random.uniform([], 1.0, 6.0)

    noisy(tf.constant(1.0))


def bad_clock() -> Any:
    @tf.function
    def stamped(x: Any) -> Any:
        return x + time.time()  # WG303

    stamped(tf.constant(1.0))


def good_clock() -> Any:
    @tf.function
    def stamped(x: Any, now: Any) -> Any:
        return x + now

    stamped(tf.constant(1.0), tf.constant(time.time(), tf.float32))


def bad_large_constant() -> Any:
    table = np.ones([1024, 300], np.float32)

    @tf.function
    def rows(i: Any) -> Any:
        return tf.gather(table, i)  # WG304 (guess)

    rows(tf.constant([1]))


def good_large_constant() -> Any:
    table = tf.constant(np.ones([1024, 300], np.float32))

    @tf.function
    def rows(table: Any, i: Any) -> Any:
        return tf.gather(table, i)

    rows(table, tf.constant([1]))


def bad_leak_into_a_list() -> Any:
    kept: list[Any] = []

    @tf.function
    def step(x: Any) -> Any:
        y = x * 2.0
        kept.append(y)  # WG405
        return y

    step(tf.constant(1.0))


def good_leak_into_a_list() -> Any:
    kept: list[Any] = []

    @tf.function
    def step(x: Any) -> Any:
        return x * 2.0

    kept.append(step(tf.constant(1.0)))


def bad_leak_into_an_attribute() -> Any:
    model = Model()  # WG405 in keeps: self.last
    model.keeps(tf.constant(1.0))


def good_leak_into_an_attribute() -> Any:
    model = Model()
    model.last = model.reads(tf.constant(1.0))


def bad_unrolled() -> Any:
    @tf.function
    def settle(x: Any) -> Any:
        for _ in range(150):  # WG701
            x = tf.sin(x) + 0.5
        return x

    settle(tf.constant(1.0))


def good_unrolled() -> Any:
    @tf.function
    def settle(x: Any) -> Any:
        for _ in tf.range(150):
            x = tf.sin(x) + 0.5
        return x

    settle(tf.constant(1.0))


def bad_small() -> Any:
    @tf.function
    def step(x: Any) -> Any:
        return x + 1.0

    x = tf.constant(0.0)
    for _ in range(1000):
        x = step(x)  # WG702 (guess)


def good_small() -> Any:
    @tf.function
    def step(x: Any) -> Any:
        return tf.tanh(tf.matmul(x, x)) + tf.sin(x) * tf.cos(x)

    x = tf.ones([20, 20])
    for _ in range(100):
        x = step(x)


def bad_nan_inside() -> Any:
    v = tf.Variable([0.0, 1.0])

    @tf.function
    def entropy(p: Any) -> Any:
        return -tf.reduce_sum(p * tf.math.log(p))  # WG501

    with tf.GradientTape() as tape:
        loss = entropy(v)
    tape.gradient(loss, v)


def good_nan_inside() -> Any:
    v = tf.Variable([0.0, 1.0])

    @tf.function
    def entropy(p: Any) -> Any:
        return -tf.reduce_sum(p * tf.math.log(p + 1e-7))

    with tf.GradientTape() as tape:
        loss = entropy(v)
    tape.gradient(loss, v)


def bad_nan_inside_a_gradient() -> Any:
    v = tf.Variable([0.0, 1.0])

    @tf.function
    def root(x: Any) -> Any:
        return tf.reduce_sum(tf.sqrt(x))  # WG507

    with tf.GradientTape() as tape:
        loss = root(v)
    tape.gradient(loss, v)


def good_nan_inside_a_gradient() -> Any:
    v = tf.Variable([0.0, 1.0])

    @tf.function
    def root(x: Any) -> Any:
        return tf.reduce_sum(tf.sqrt(x + 1e-9))

    with tf.GradientTape() as tape:
        loss = root(v)
    tape.gradient(loss, v)


def bad_function_before_the_tape() -> Any:
    v = tf.Variable([0.5, 1.0])

    @tf.function
    def features(x: Any) -> Any:
        return tf.sin(x)

    h = features(v)  # WG106
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(h * h)
    tape.gradient(loss, v)


def good_function_before_the_tape() -> Any:
    v = tf.Variable([0.5, 1.0])

    @tf.function
    def features(x: Any) -> Any:
        return tf.sin(x)

    with tf.GradientTape() as tape:
        h = features(v)
        loss = tf.reduce_sum(h * h)
    tape.gradient(loss, v)


def bad_cut_inside_a_function() -> Any:
    v = tf.Variable([0.5, 1.0])

    @tf.function
    def features(x: Any) -> Any:
        h = tf.sin(x)
        return tf.stop_gradient(h) * 2.0  # WG115

    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(features(v))
    tape.gradient(loss, v)


def good_cut_inside_a_function() -> Any:
    v = tf.Variable([0.5, 1.0])

    @tf.function
    def features(x: Any) -> Any:
        h = tf.sin(x)
        return tf.stop_gradient(h) * h

    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(features(v))
    tape.gradient(loss, v)


def bad_integers_inside_a_function() -> Any:
    x = tf.constant([0.5, 1.0])

    @tf.function
    def steps(x: Any) -> Any:
        whole = tf.cast(x * 10.0, tf.int32)  # WG112
        return tf.cast(whole, tf.float32)

    with tf.GradientTape() as tape:
        tape.watch(x)
        loss = tf.reduce_sum(steps(x))
    tape.gradient(loss, x)


def good_integers_inside_a_function() -> Any:
    x = tf.constant([0.5, 1.0])

    @tf.function
    def steps(x: Any) -> Any:
        return tf.cast(x * 10.0, tf.float64)

    with tf.GradientTape() as tape:
        tape.watch(x)
        loss = tf.reduce_sum(steps(x))
    tape.gradient(loss, x)


def bad_tape_inside_a_function() -> Any:
    v = tf.Variable([0.5, 1.0])

    @tf.function
    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            y = v * x
        loss = tf.reduce_sum(y)  # WG105
        tape.gradient(loss, v)
        return loss

    step(tf.constant([1.0, 2.0]))


def good_tape_inside_a_function() -> Any:
    v = tf.Variable([0.5, 1.0])

    @tf.function
    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(v * x)
        return tape.gradient(loss, v)

    step(tf.constant([1.0, 2.0]))


def bad_number_frozen_in_a_trace() -> Any:
    v = tf.Variable(0.37)
    scale = float(v)

    @tf.function
    def scaled(x: Any) -> Any:
        return x * scale  # WG119

    with tf.GradientTape() as tape:
        loss = scaled(tf.constant(2.0))
    tape.gradient(loss, v)


def good_number_frozen_in_a_trace() -> Any:
    v = tf.Variable(0.37)

    @tf.function
    def scaled(x: Any) -> Any:
        return x * v

    with tf.GradientTape() as tape:
        loss = scaled(tf.constant(2.0))
    tape.gradient(loss, v)


def bad_array_frozen_in_a_trace() -> Any:
    v = tf.Variable([0.37, 1.91])
    table = v.numpy() * 1.0

    @tf.function
    def looked_up(i: Any) -> Any:
        return tf.gather(table, i)  # WG119

    with tf.GradientTape() as tape:
        loss = looked_up(tf.constant([1]))
    tape.gradient(loss, v)


def good_array_frozen_in_a_trace() -> Any:
    v = tf.Variable([0.37, 1.91])

    @tf.function
    def looked_up(i: Any) -> Any:
        return tf.gather(v, i)

    with tf.GradientTape() as tape:
        loss = looked_up(tf.constant([1]))
    tape.gradient(loss, v)

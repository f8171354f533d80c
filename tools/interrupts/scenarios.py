"""What is interrupted: each scenario goes through a cycle of states, one step at a time.

`build` makes an object with `act`, the step that is interrupted, `results` of the last step, and
`state`, what is there after it. Steps of a fresh object walk through the same states and give the
same results, so a state that is none of the cycle, or a step that leads elsewhere, is wrong.
"""

from __future__ import annotations

import itertools
import linecache
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import wengert as tf
from tools.interrupts.points import PROGRAMS

PERIOD = 5
_numbers = itertools.count()


class Subject:
    """An object whose steps are interrupted."""

    def __init__(self) -> None:
        self.results: list[Any] = []

    def prepare(self) -> None:
        """What is done before each step, uninterrupted."""

    def act(self) -> None:
        """One step."""
        raise NotImplementedError

    def state(self) -> list[Any]:
        """Where the cycle stands."""
        raise NotImplementedError

    def touch(self) -> None:
        """Reads all variables and gives them the values they have."""

    def close(self) -> None:
        """Removes what the object has on disk."""


def compiled(text: str) -> dict[str, Any]:
    """Runs a source text under a name of its own, under which it can be read again."""
    name = f"{PROGRAMS}{next(_numbers)}>"
    for old in [n for n in linecache.cache if n.startswith(PROGRAMS)][:-8]:
        linecache.cache.pop(old)
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    space: dict[str, Any] = {"tf": tf, "np": np}
    exec(compile(text, name, "exec"), space)
    return space


class Program(Subject):
    """A source text that makes `variables` and a function `step`, traced anew in each object."""

    text = ""

    def __init__(self) -> None:
        super().__init__()
        self.space = compiled(self.text)

    def act(self) -> None:
        self.results = self.space["step"]()

    def state(self) -> list[Any]:
        return [v.numpy() for v in self.space["variables"]]

    def touch(self) -> None:
        for v in self.space["variables"]:
            v.assign(v.numpy())


class Trace(Program):
    """The first call of a function: conversion, trace, first run."""

    text = """
count, w = tf.Variable(0), tf.Variable([0.0, 0.0])
variables = [count, w]
made = []
offset = tf.constant(1.0)

@tf.custom_gradient
def double(x):
    return 2.0 * x, lambda g: 2.0 * g

@tf.function
def inner(x, *, scale=2.0):
    return tf.where(x > 0.0, x, -x) * scale

def trace():
    @tf.function
    def traced(x, n, parts):
        if not made:
            made.append(tf.Variable(3.0, trainable=False))
        total = tf.zeros([2])
        array = tf.TensorArray(tf.float32, size=n)
        collected = []
        for i in tf.range(n):
            k = tf.cast(i, tf.float32)
            if tf.reduce_sum(x) > 0.0:
                total += inner(x) * k
            else:
                total -= x
            array = array.write(i, k * k)
        while tf.reduce_sum(x) < 10.0:
            x = x + 1.0
            if x[0] > 4.0:
                break
        with tf.name_scope("taped"), tf.GradientTape() as tape:
            y = tf.reduce_sum(double(w) * w * total) + tf.math.erf(offset)
        g = tape.gradient(y, w)
        y = y + tf.numpy_function(lambda a: a * np.float32(2), [y], tf.float32)
        squares = tf.map_fn(lambda a: a * a, parts["a"])
        rows = tf.vectorized_map(lambda a: a + 1.0, parts["b"])
        last = tf.cond(y > 0.0, lambda: made[0] * 1.0, lambda: made[0] + 1.0)
        count.assign((count + 1) % 5)
        w.assign(tf.cast(count * count, tf.float32) * tf.ones([2]))
        return [y, x, g, array.stack(), squares, rows, last]
    return traced

traced = trace()

def step():
    parts = {"a": tf.constant([1.0, 2.0]), "b": tf.ones([2, 2])}
    return traced(tf.constant([1.0, 2.0]), tf.constant(3), parts)
"""


class EagerGradient(Program):
    """Tapes, an accumulator and an update, without a function."""

    text = """
w = tf.Variable([0.0, 0.0])
variables = [w]

@tf.custom_gradient
def double(x):
    return 2.0 * x, lambda g: 2.0 * g

@tf.recompute_grad
def cube(x):
    return x * x * x

def step():
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape(persistent=True) as outer:
        with tf.GradientTape() as tape:
            tape.watch(x)
            with tape.stop_recording():
                z = x * 2.0
            y = tf.reduce_sum(double(w) * x * z) + tf.reduce_sum(cube(x)) + tf.reduce_sum(w)
            y = y + tf.linalg.matmul([[1.0, 2.0]], tf.reshape(x, [2, 1]))[0, 0]
        gx, gw = tape.gradient(y, [x, w])
        s = tf.reduce_sum(gx * gw)
    second = outer.gradient(s, w)
    rows = outer.jacobian(gx, w, unconnected_gradients="zero")
    with tf.autodiff.ForwardAccumulator(x, tf.ones([2])) as forward:
        f = tf.reduce_sum(tf.sin(x) * x)
    value = tf.numpy_function(lambda a: a + np.float32(1), [y], tf.float32)
    w.assign(w + 1.0 - 5.0 * tf.cast(w >= 4.0, tf.float32))
    return [y, gx, gw, second, rows, forward.jvp(f), value]
"""


_STEP = """
count, w, scale = tf.Variable(0), tf.Variable(tf.zeros([2])), tf.Variable(2.0)
variables = [count, w, scale]

@tf.function(ARGUMENTS)
def small(x):
    count.assign((count + 1) % 5)
    w.assign(tf.cast(count, tf.float32) * tf.ones([2]) * x)
    return tf.reduce_sum(w) * scale

@tf.function(ARGUMENTS)
def reading(x):
    return x * scale + tf.cast(count, tf.float32)

@tf.function(ARGUMENTS)
def large(x, n):
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(w * w) * scale
    g = tape.gradient(y, w)
    for i in tf.range(n):
        y += tf.reduce_sum(g) * tf.cast(i, tf.float32)
    tf.debugging.assert_greater(n, 0)
    count.assign((count + 1) % 5)
    w.assign(tf.cast(count, tf.float32) * tf.ones([2]) * x)
    return y, tf.py_function(lambda a: a * 2.0, [y], tf.TensorSpec([], tf.float32))

one, three = tf.constant(1.0), tf.constant(3)

def step():
    return STEP
"""


def _step(name: str, arguments: str, step: str) -> type[Subject]:
    """A scenario of a cached step, which one object serves in all attempts."""
    text = _STEP.replace("ARGUMENTS", arguments).replace("STEP", step)
    return type(name, (Program,), {"text": text, "__doc__": f"A cached step: {step}."})


_TAPED = """taped()

def taped():
    with tf.GradientTape() as tape:
        y = small(one) + reading(one)
    return y, tape.gradient(y, scale)"""


class OnDisk(Subject):
    """Something that is saved in a folder; the cycle is in two variables."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.mkdtemp(prefix="interrupts-")
        self.a, self.b = tf.Variable(0.0), tf.Variable(tf.zeros([3]))
        self.checkpoint = tf.train.Checkpoint(a=self.a, b=self.b)

    def put(self, k: float) -> None:
        self.a.assign(k)
        self.b.assign(k * tf.ones([3]))

    def touch(self) -> None:
        for v in (self.a, self.b):
            v.assign(v.numpy())

    def close(self) -> None:
        shutil.rmtree(self.folder)


class Save(OnDisk):
    """`CheckpointManager.save`; the state is what a process would find that starts now."""

    def __init__(self) -> None:
        super().__init__()
        self.keeper = tf.train.CheckpointManager(self.checkpoint, self.folder, 2)
        self.keeper.save()

    def prepare(self) -> None:
        self.put((self.state()[0] + 1.0) % PERIOD)

    def act(self) -> None:
        path = self.keeper.save()
        assert path == self.keeper.latest_checkpoint

    def state(self) -> list[Any]:
        a, b = tf.Variable(-1.0), tf.Variable(-tf.ones([3]))
        other = tf.train.Checkpoint(a=a, b=b)
        result = tf.train.CheckpointManager(other, self.folder, 2)
        assert result.restore_or_initialize() is not None
        for keeper in (result, self.keeper):
            paths = [Path(f"{p}.safetensors") for p in keeper.checkpoints]
            assert all(p.exists() for p in paths), f"there is not all of {paths}"
        return [a.numpy(), b.numpy()]

    def touch(self) -> None:
        super().touch()
        # After a save that went well nothing is left of those that did not.
        left = [p.name for p in Path(self.folder).iterdir() if p.name.endswith(".tmp")]
        assert not left, f"temporary files {left}"
        files = sorted(p.name for p in Path(self.folder).glob("ckpt-*"))
        kept = sorted(f"{Path(p).name}.safetensors" for p in self.keeper.checkpoints)
        assert files == kept, f"{files} are there, {kept} are recorded"


class Restore(OnDisk):
    """`Checkpoint.restore`: all variables have the old values or all the new ones."""

    def __init__(self) -> None:
        super().__init__()
        self.paths = []
        for k in range(PERIOD):
            self.put(float(k))
            self.paths.append(self.checkpoint.write(f"{self.folder}/at-{k}"))
        self.put(0.0)

    def act(self) -> None:
        k = int(self.a.numpy() + 1) % PERIOD
        self.checkpoint.read(self.paths[k]).assert_consumed()

    def state(self) -> list[Any]:
        return [self.a.numpy(), self.b.numpy()]


# By name: how an object is made, and whether each attempt needs a new one.
SCENARIOS: dict[str, tuple[Callable[[], Subject], bool]] = {
    "trace": (Trace, True),
    "eager": (EagerGradient, False),
    "host": (_step("Host", "", "[small(one), reading(one)]"), False),
    "host_large": (_step("HostLarge", "", "large(one, three)"), False),
    "host_taped": (_step("HostTaped", "", _TAPED), False),
    "xla": (_step("Xla", "jit_compile=True", "[small(one), reading(one)]"), False),
    "xla_large": (_step("XlaLarge", "jit_compile=True", "large(one, three)"), False),
    "xla_taped": (_step("XlaTaped", "jit_compile=True", _TAPED), False),
    "save": (Save, False),
    "restore": (Restore, False),
}

"""Ctrl-C, forks and errors of Python in the middle of steps: variables and locks stay whole."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from functools import partial
from typing import Any

import numpy as np
import pytest

import wengert as tf

SCALAR = tf.TensorSpec([], tf.float32)
# Another process sends interrupts at random moments; a thread of our own would hold the GIL then.
UNDER_FIRE = """
import contextlib, os, signal, subprocess, sys, threading, time
import numpy as np
import wengert as tf
from wengert.core import interrupts

v, count = tf.Variable(tf.zeros([4])), tf.Variable(0, dtype=tf.int64)
way, *around = sys.argv[1].split(", ")

@tf.function(jit_compile=True if way != "host" else None)
def step():
    if way == "reading":
        return tf.reduce_sum(v) + tf.cast(count, tf.float32)
    count.assign_add(1)
    return v.assign_add(tf.ones([4]))

def around_it():
    return tf.GradientTape() if around else contextlib.nullcontext()

for _ in range(5):
    with around_it():
        step()
signal.signal(signal.SIGINT, signal.SIG_IGN)
sender = subprocess.Popen([sys.executable, "-c", '''
import os, random, sys, time
while True:
    time.sleep(0.002 + 0.004 * random.random())
    os.kill(int(sys.argv[1]), 2)
''', str(os.getpid())], start_new_session=True)
try:
    came = 0
    while came < 200:
        try:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            while True:
                with around_it():
                    step()
        except KeyboardInterrupt:
            came += 1
        while True:
            try:
                signal.signal(signal.SIGINT, signal.SIG_IGN)
                break
            except KeyboardInterrupt:
                pass
        assert not interrupts._deferral.running
        assert np.all(v.numpy() == count.numpy()), (v.numpy(), count.numpy())
        other = threading.Thread(target=lambda: v.assign(v), daemon=True)
        other.start()
        other.join(20)
        assert not other.is_alive(), f"a lock was never given back: {v._lock}"
finally:
    sender.kill()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="sends signals to another process")
@pytest.mark.parametrize("way", ["compiled", "reading", "host", "compiled, taped", "host, taped"])
def test_interrupts_at_any_moment(way: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", UNDER_FIRE, way],
        capture_output=True, text=True, check=False, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


WHILE_COMPILING = """
import importlib.util, signal, sys
import jax
import wengert as tf

class AtTheEnd:
    def __init__(self, loader):
        self.create_module, self.loader = loader.create_module, loader
    def exec_module(self, module):
        self.loader.exec_module(module)
        came.append(module.__name__)
        signal.raise_signal(signal.SIGINT)

class Finder:
    def find_spec(self, name, path=None, target=None):
        if came or not name.startswith(("jax.", "jaxlib.")) or looking:
            return None
        looking.append(name)
        spec = importlib.util.find_spec(name)
        looking.clear()
        if spec is not None and spec.loader is not None:
            spec.loader = AtTheEnd(spec.loader)
        return spec

came, looking = [], []
sys.meta_path.insert(0, Finder())
step = tf.function(lambda x: tf.math.erf(x) + 1.0, jit_compile=True)
try:
    step(tf.constant(0.0))
except KeyboardInterrupt:
    print("interrupted at", came)
print(float(step(tf.constant(0.0))))
"""


def test_an_interrupt_while_jax_imports_its_modules() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WHILE_COMPILING], capture_output=True, text=True, check=False
    )
    assert done.stdout.startswith("interrupted at ['jax"), done.stderr
    assert done.stdout.endswith("\n1.0\n"), done.stderr


@pytest.fixture(autouse=True)
def _usual_handler() -> Any:
    """A debugger in another test may have left its own."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def _insisting(x: Any) -> Any:
    for _ in range(2):
        signal.raise_signal(signal.SIGINT)
        time.sleep(0.6)
    return x


def _exits(x: Any) -> Any:
    raise SystemExit("stop")


@pytest.mark.parametrize("jit", [None, True])
@pytest.mark.parametrize(
    ("python", "kind"), [(_insisting, KeyboardInterrupt), (_exits, SystemExit)]
)
def test_python_in_a_step_that_is_interrupted(python: Any, kind: Any, jit: bool | None) -> None:
    v = tf.Variable(1.0)
    called = [lambda x: x]

    @tf.function(jit_compile=jit)
    def step(x: Any) -> Any:
        v.assign_add(x)
        return tf.py_function(lambda x: called[0](x), [x], SCALAR)

    for _ in range(3):
        step(tf.constant(1.0))
    called[0] = python
    with pytest.raises(kind):
        step(tf.constant(1.0))
    assert v.numpy() == 4.0
    called[0] = lambda x: x
    step(tf.constant(1.0))
    assert v.numpy() == 5.0


def test_errors_of_python_belong_to_their_own_call() -> None:
    failed, done = threading.Event(), threading.Event()
    calls: list[str] = []
    found: dict[str, str] = {}

    def first(x: Any) -> Any:
        calls.append("first")
        failed.set()
        raise ValueError("of the first")

    def waiting(x: Any) -> Any:
        done.wait(20)
        return x

    def second(x: Any) -> Any:
        calls.append("second")
        raise KeyError("of the second")

    @tf.function(jit_compile=True)
    def slow(x: Any) -> Any:
        return tf.py_function(first, [x], SCALAR) + tf.py_function(waiting, [x], SCALAR)

    @tf.function(jit_compile=True)
    def quick(x: Any) -> Any:
        return tf.py_function(second, [x], SCALAR)

    def run(name: str, f: Any) -> None:
        try:
            f(tf.constant(1.0))
        except tf.errors.OpError as error:
            found[name] = str(error)

    thread = threading.Thread(target=run, args=("slow", slow))
    thread.start()
    assert failed.wait(20)
    run("quick", quick)
    done.set()
    thread.join(20)
    assert "of the first" in found["slow"] and "of the second" in found["quick"]
    assert calls == ["first", "second"]


def _look(value: Any, queue: Any) -> None:
    queue.put(float(value))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # JAX's
def test_a_fork_waits_for_what_is_computed() -> None:
    @tf.function(jit_compile=True)
    def long(x: Any) -> Any:
        for _ in range(20):
            x = tf.tanh(x @ x)
        return tf.reduce_sum(x)

    x = tf.ones([600, 600])
    long(x)
    result = long(x)
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_look, args=(result, queue), daemon=True)
    child.start()
    assert queue.get(timeout=600) == float(result)
    child.join(60)
    assert child.exitcode == 0


# Variables that change their size.


@pytest.mark.parametrize("jit", [None, True])
def test_compiled_functions_follow_a_variable_that_grows(jit: bool | None) -> None:
    v = tf.Variable(tf.ones([300, 64]), shape=[None, 64])
    f = tf.function(lambda x: tf.reduce_sum(x @ tf.transpose(v)), jit_compile=jit)
    x = tf.ones([200, 64])
    for rows in (300, 400, 300):
        v.assign(tf.ones([rows, 64]))
        assert [float(f(x)) for _ in range(3)] == [200.0 * rows * 64] * 3


@pytest.mark.filterwarnings("error")
def test_a_variable_that_grows_in_a_compiled_step() -> None:
    v = tf.Variable(tf.zeros([1, 2]), shape=[None, 2])

    @tf.function(jit_compile=True)
    def step(x: Any) -> Any:
        v.assign(tf.concat([v, x], 0))
        return tf.reduce_sum(v)

    for n in range(5):
        assert float(step(tf.fill([1, 2], float(n)))) == sum(2.0 * k for k in range(n + 1))
    np.testing.assert_array_equal(v[:, 0], [0, 0, 1, 2, 3, 4])


# What the handler of another signal raises in the middle of our own code.


class Stop(ValueError):
    """Of a kind that NumPy raises as well."""


class Stopping:
    """A handler need not be a function."""

    def __call__(self, number: int, frame: Any) -> None:
        raise Stop


def _stop(number: int, frame: Any) -> None:
    raise Stop


def _signals(x: Any) -> Any:
    signal.raise_signal(signal.SIGTERM)
    return x


def _of_a_dataset(x: Any) -> Any:
    return next(iter(tf.data.Dataset.from_generator(lambda: map(_signals, [1.0]), tf.float32)))


PLACES = {
    "eagerly": lambda x: tf.py_function(_signals, [x], tf.float32),
    "host": tf.function(lambda x: tf.py_function(_signals, [x], SCALAR) * 2.0),
    "dataset": _of_a_dataset,
}


@pytest.mark.parametrize("handler", [_stop, Stopping(), Stopping().__call__, partial(_stop)])
@pytest.mark.parametrize("place", PLACES)
def test_what_a_handler_raises_passes_as_it_is(place: str, handler: Any) -> None:
    before = signal.signal(signal.SIGTERM, handler)
    try:
        for _ in range(3):
            with pytest.raises(Stop):
                PLACES[place](tf.constant(1.0))
    finally:
        signal.signal(signal.SIGTERM, before)


def test_failures_are_still_explained_where_a_handler_is_installed() -> None:
    before = signal.signal(signal.SIGTERM, _stop)
    try:
        with pytest.raises(tf.errors.InvalidArgumentError, match="add: "):
            tf.constant([1.0, 2.0]) + tf.constant([1.0, 2.0, 3.0])
    finally:
        signal.signal(signal.SIGTERM, before)

"""Makes a step of one operation of the sweep for a framework that has TensorFlow's names."""

from __future__ import annotations

import functools

from benchmarks.sweep_data import Arrays
from benchmarks.sweep_forms import FORMS, PROBES

_FILES = {"png": "encode_png", "jpeg": "encode_jpeg"}


class Given:
    """What a form reads: sizes, dtypes, and tensors, which are made once and remembered."""

    def __init__(self, tf, size):
        self._tf, self._arrays, self.tensors = tf, Arrays(size), {}

    def __getattr__(self, name):
        if name in self.tensors:
            return self.tensors[name]
        if hasattr(self._arrays, name):
            return getattr(self._arrays, name)
        if name in _FILES:
            picture = self._tf.constant(self._arrays.get("bytes")[0])
            self.tensors[name] = getattr(self._tf.io, _FILES[name])(picture)
        elif hasattr(self._arrays, f"_{name}"):
            self.tensors[name] = self._tf.constant(self._arrays.get(name))
        else:
            return getattr(self._tf, name)
        return self.tensors[name]

    def replaced(self, tensors):
        """The same with other tensors in their places, in order."""
        other = object.__new__(Given)
        other._tf, other._arrays = self._tf, self._arrays
        other.tensors = dict(zip(self.tensors, tensors, strict=True))
        return other


def find(tf, name):
    """The public function of that name, such as `math.erf`."""
    return functools.reduce(getattr, name.split("."), tf)


def results_of(tf, value):
    """The tensors among the results."""
    flat = tf.nest.flatten(value)
    return [x for x in flat if tf.is_tensor(x)]


def _differentiable(tensors):
    return [x for x in tensors if x.dtype.is_floating or x.dtype.is_complex]


def run_and_differentiate(tf, call, given, tensors):
    """The gradients of the results by the tensors, those that there are."""
    sources = _differentiable(tensors)
    with tf.GradientTape() as tape:
        tape.watch(sources)
        outs = _differentiable(results_of(tf, call(given.replaced(tensors))))
    found = [g for g in tape.gradient(outs, sources) if g is not None]
    return [g.values if hasattr(g, "dense_shape") else g for g in found]


def operation(tf, name, form, size, gradient, traced):
    """A step that runs an operation, and perhaps its gradient; it returns the first result."""
    f, given = find(tf, name), Given(tf, size)
    written = FORMS[name] if form is None else PROBES[form]

    def call(d):
        return written(f, d)

    call(given)  # finds out which tensors it reads
    tensors = list(given.tensors.values())

    def step(*xs):
        if gradient:
            return run_and_differentiate(tf, call, given, xs)
        return results_of(tf, call(given.replaced(xs)))

    if traced:
        step = tf.function(step, autograph=False)
        step(*tensors)  # engines that compile do so at the second call
    if not step(*tensors):
        raise ValueError("no gradient")
    return lambda: step(*tensors)[0]

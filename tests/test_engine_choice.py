"""When a function is compiled, what its results are until somebody looks, and life after a fork."""

from __future__ import annotations

import copy
import gc
import multiprocessing
import os
import pickle
import weakref
from typing import Any

import numpy as np
import pytest

import wengert as tf
from wengert.core.apply import apply
from wengert.core.op import Op
from wengert.core.tensor import FreshTensor, Tensor
from wengert.engines import engine_choice, executables
from wengert.engines.engine_choice import CHOICES


def small_step(v: Any, turns: int = 24) -> Any:
    """A function whose work is between tiny and worth a compilation at once."""

    def step(x: Any) -> Any:
        y = x
        for _ in range(turns):
            y = tf.tanh(y) * 1.1 + v
        v.assign_sub(1e-3 * y)
        return tf.reduce_sum(y)

    return step


@pytest.fixture(name="soon")
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small graphs are compiled early."""
    monkeypatch.setattr(engine_choice, "_SLOWLY", 2000.0)
    monkeypatch.setattr(engine_choice, "_PATIENCE_PAIRS", 0.0)


def test_a_small_function_is_compiled_when_it_has_cost_as_much(soon: None) -> None:
    v, w = tf.Variable(tf.zeros([64])), tf.Variable(tf.zeros([64]))
    f, x = tf.function(small_step(v)), tf.ones([64])
    plain = small_step(w)
    f(x)
    (found,) = f.get_concrete_function(x).graph.cache[CHOICES].values()
    assert engine_choice._TINY < found.work < engine_choice._SMALL
    due = int(found.due())
    assert due > 5 and due * found.work > 2000.0 >= (due - 1) * found.work
    plain(x)
    for call in range(2, due + 10):
        on_host = call < due
        text = f"worth a compilation from call {due}" if on_host else "is worth a compilation"
        np.testing.assert_allclose(f(x), plain(x), rtol=2e-5)
        np.testing.assert_allclose(v, w, rtol=2e-5)
        coverage = f.coverage().traces[0]
        assert (coverage.engine, text in coverage.reason) == ("host" if on_host else "xla", True)


def test_a_tiny_function_is_never_compiled(soon: None) -> None:
    f = tf.function(lambda x: tf.tanh(x) * 2.0)
    for _ in range(3000):
        f(tf.ones([4]))
    assert f.coverage().traces[0].engine == "host"
    assert "too small" in f.coverage().traces[0].reason


def test_an_engine_that_is_forced_is_not_counted_out(soon: None) -> None:
    v = tf.Variable(tf.zeros([64]))
    f, x = tf.function(small_step(v)), tf.ones([64])
    with tf.engine("host"):
        for _ in range(60):
            f(x)
    assert f.coverage().traces[0].engine == "host"
    with tf.engine("xla"):
        assert type(f(x)) is FreshTensor


def test_estimates_of_transposed_products() -> None:
    @tf.function
    def step(x: Any, y: Any) -> Any:
        return tf.matmul(x, y, transpose_a=True)

    graph = step.get_concrete_function(tf.ones([8, 512]), tf.ones([8, 256])).graph
    wide = engine_choice.work(graph, [np.ones([8, 512], "f"), np.ones([8, 256], "f")])
    # 2 million operations, and a megabyte: not the 134 million of 512 x 512 x 256.
    assert 30 < wide < 150


def child_of_small_step(f: Any, v: Any, queue: Any) -> None:
    before = v.numpy()
    with tf.engine(None):
        queue.put((before, f(tf.ones([64])).numpy(), v.numpy()))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # JAX's
def test_a_forked_child_runs_on_the_host_what_did_not_ask_for_xla(soon: None) -> None:
    v = tf.Variable(tf.zeros([64]))
    f, x = tf.function(small_step(v)), tf.ones([64])
    for _ in range(100):
        f(x)
    assert f.coverage().traces[0].engine == "xla"
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=child_of_small_step, args=(f, v, queue))
    child.start()
    before, result, after = queue.get(timeout=600)
    child.join(60)
    assert child.exitcode == 0
    np.testing.assert_array_equal(before, v)
    np.testing.assert_allclose(result, f(x), rtol=2e-5)
    np.testing.assert_allclose(after, v, rtol=2e-5)


# Results of compiled functions.


def fresh() -> Any:
    found = tf.function(lambda x: x * 2.0, jit_compile=True)(tf.constant([1.0, 2.0]))
    assert type(found) is FreshTensor
    return found


@pytest.mark.parametrize(
    "look",
    [
        lambda x: x.numpy(),
        lambda x: x + [0.0, 0.0],
        lambda x: [0.0, 0.0] + x,
        lambda x: tf.identity(x),
        lambda x: np.asarray(x),
        lambda x: np.add(x, 0.0),
        lambda x: [float(e) for e in x],
        lambda x: pickle.loads(pickle.dumps(x)),
        lambda x: copy.deepcopy(x),
        lambda x: tf.function(lambda y: y)(x),
        lambda x: tf.function(lambda: x + 0.0)(),
        lambda x: tf.function(lambda y: y + 0.0, jit_compile=True)(x),
        lambda x: tf.function(lambda y: y, input_signature=[tf.TensorSpec([None])])(x),
        lambda x: tf.Variable(x),
        lambda x: tf.Variable([0.0, 0.0]).assign(x),
        lambda x: tf.Variable([0.0, 0.0]).assign_add(x),
        lambda x: tf.stack([x, x])[1],
        lambda x: tf.cond(tf.constant(True), lambda: x, lambda: x),
        lambda x: tf.nest.map_structure(lambda y: y, x),
        lambda x: next(iter(tf.data.Dataset.from_tensors(x))),
    ],
)
def test_a_result_is_an_ordinary_tensor_to_everybody(look: Any) -> None:
    np.testing.assert_array_equal(look(fresh()), [2.0, 4.0])


def test_a_look_makes_it_one() -> None:
    x = fresh()
    assert isinstance(x, tf.Tensor) and x.shape == [2] and x.dtype == tf.float32
    assert type(x) is Tensor
    assert (
        repr(fresh())
        == "<tf.Tensor: shape=(2,), dtype=float32, numpy=array([2., 4.], dtype=float32)>"
    )
    assert fresh().device == tf.constant(1.0).device
    with pytest.raises(TypeError, match="does not support item assignment"):
        fresh()[0] = 1.0


def test_a_result_as_a_size() -> None:
    three = tf.function(lambda x: x * 3.0, jit_compile=True)(tf.constant(1.0))
    assert tf.reshape(tf.zeros([2, 3]), [three, 2]).shape == [3, 2]


def test_gradients_go_through_a_result() -> None:
    x = fresh()
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    np.testing.assert_array_equal(tape.gradient(y, x), [4.0, 8.0])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("sizes", [(1, 1, 1), (32, 64, 10), (7, 5, 3), (0, 4, 3), (64, 256, 300)])
def test_small_products_with_a_transposed_side(sizes: tuple[int, ...], dtype: str) -> None:
    k, m, n = sizes
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(k, m)).astype(dtype), rng.normal(size=(k, n)).astype(dtype)
    f = tf.function(lambda a, b: tf.matmul(a, b, transpose_a=True), jit_compile=True)
    np.testing.assert_allclose(f(a, b), a.T @ b, rtol=1e-4, atol=1e-4)
    with tf.GradientTape() as tape:
        x = tf.constant(a)
        tape.watch(x)
        loss = tf.reduce_sum(tf.square(f(x, b)))
    expected = 2 * b @ (a.T @ b).T
    np.testing.assert_allclose(tape.gradient(loss, x), expected, rtol=1e-3, atol=1e-3)
    rows = tf.vectorized_map(lambda x: f(x, b), np.stack([a, a + 1]))
    np.testing.assert_allclose(rows[1], (a + 1).T @ b, rtol=1e-4, atol=1e-4)


def test_what_changes_while_a_result_is_computed() -> None:
    """A program may still run when its call returns: what it reads is not written meanwhile."""

    def long(a: Any) -> Any:
        y = a
        for _ in range(6):
            y = tf.tanh(y @ a * 1e-3)
        return tf.reduce_sum(y) + tf.reduce_sum(a)

    ones = np.ones((800, 800), np.float32)
    wanted = float(long(tf.constant(ones)))
    v, x = tf.Variable(ones), ones.copy()
    of_variable = tf.function(lambda: long(v), jit_compile=True)
    of_array = tf.function(long, jit_compile=True)
    for _ in range(5):
        v.assign(ones)
        first = of_variable()
        v.assign_add(ones)
        v[:400].assign(ones[:400] * 9)
        x[:] = 1
        second = of_array(x)
        x[:] = 5
        np.testing.assert_allclose([float(first), float(second)], wanted, rtol=1e-4)


def nowhere() -> Any:
    """An operation for which JAX has a name, but no program on any device."""
    from jax.extend.core import Primitive

    found = Primitive("nowhere")
    found.def_abstract_eval(lambda x: x)
    return Op("nowhere", "x", kernel=lambda x: x + 1, infer=lambda x: x, lower=found.bind,
              grad=None, register=False)  # fmt: skip


def test_what_the_device_cannot_compute_runs_on_the_host() -> None:
    op = nowhere()
    f = tf.function(lambda x: apply(op, x) @ x)
    with tf.engine("xla"):
        assert float(f(tf.ones([3, 3]))[0, 0]) == 6
    assert "nowhere" in str(f.coverage())


def test_what_the_device_cannot_compute_is_an_error_where_xla_is_demanded() -> None:
    op = nowhere()
    f = tf.function(lambda x: apply(op, x), jit_compile=True)
    with pytest.raises(tf.errors.UnimplementedError, match=r"for the device at hand.*nowhere") as e:
        f(tf.ones([3]))
    assert "NumPy runs it" in str(e.value)


UNTAKEN: dict[str, Any] = {
    "an index": lambda x: x[0],
    "a reshape": lambda x: tf.reduce_sum(tf.reshape(x, [2, 2])),
    "a sum": lambda x: tf.reduce_sum(x + tf.ones([4])),
    "a gather": lambda x: tf.gather(x, 0),
}


@pytest.mark.parametrize("what", UNTAKEN)
def test_a_branch_that_does_not_fit_and_is_not_taken(what: str) -> None:
    branch = UNTAKEN[what]

    @tf.function(
        input_signature=[tf.TensorSpec([None]), tf.TensorSpec([], tf.int32), tf.TensorSpec([300, 300])]
    )  # fmt: skip
    def f(x: Any, n: Any, m: Any) -> Any:
        z = tf.reduce_max(m @ m @ m)
        if n > 0:
            return branch(x) + z
        return z

    m = tf.ones([300, 300])
    for _ in range(3):
        assert float(f(tf.zeros([0]), tf.constant(0), m)) == 300.0**2
    assert float(f(tf.zeros([4]), tf.constant(0), m)) == 300.0**2
    with pytest.raises((tf.errors.InvalidArgumentError, IndexError)):
        f(tf.zeros([0]), tf.constant(1), m)


@pytest.mark.parametrize("jit", [True, None])
def test_a_loop_over_no_rows_by_number(jit: bool | None) -> None:
    @tf.function(jit_compile=jit, input_signature=[tf.TensorSpec([None])])
    def f(x: Any) -> Any:
        s = tf.constant(0.0)
        for i in tf.range(tf.shape(x)[0]):
            s = s + x[i]
        return s

    assert float(f(tf.zeros([0]))) == 0.0
    assert float(f(tf.constant([1.0, 2.0]))) == 3.0

    @tf.function(
        jit_compile=jit, input_signature=[tf.TensorSpec([None]), tf.TensorSpec([], tf.int32)]
    )
    def pick(x: Any, i: Any) -> Any:
        return x[i]

    with pytest.raises(tf.errors.InvalidArgumentError, match="index 0 is out of bounds"):
        pick(tf.zeros([0]), tf.constant(0))


@pytest.mark.parametrize("jit", [True, None])
@pytest.mark.parametrize("reverse", [False, True])
def test_a_scan_of_a_single_row_of_unknown_size(reverse: bool, jit: bool | None) -> None:
    @tf.function(jit_compile=jit, input_signature=[tf.TensorSpec([None, None])])
    def f(x: Any) -> Any:
        return tf.scan(lambda a, e: a * 2 + e, x, reverse=reverse)

    assert f(tf.ones([1, 2])).numpy().tolist() == [[1.0, 1.0]]
    rows = [[3.0, 3.0], [1.0, 1.0]] if reverse else [[1.0, 1.0], [3.0, 3.0]]
    assert f(tf.ones([2, 2])).numpy().tolist() == rows


def test_calls_that_do_not_fit_keep_nothing_alive() -> None:
    @tf.function(
        input_signature=[tf.TensorSpec([None]), tf.TensorSpec([], tf.int32), tf.TensorSpec([300, 300])]
    )  # fmt: skip
    def f(x: Any, n: Any, m: Any) -> Any:
        z = tf.reduce_max(m @ m @ m)
        if n > 0:
            return x[0] + z
        return z

    def call() -> weakref.ref[Any]:
        m = tf.constant(np.ones((300, 300), np.float32))
        f(tf.zeros([0]), tf.constant(0), m)
        return weakref.ref(m)

    seen = [call() for _ in range(5)]
    gc.collect()
    assert [r() for r in seen] == [None] * 5


def test_a_step_of_convolutions_is_compiled_at_once(monkeypatch) -> None:
    """Its kernels would be compiled one by one for the first step, and the whole for the second."""
    compiled: list[str] = []
    monkeypatch.setattr(
        executables.Executable, "_compile", lambda self, real=executables.Executable._compile: (
            compiled.append("whole"), real(self))[1],
    )  # fmt: skip
    w = tf.Variable(tf.fill([3, 3, 4, 16], 0.1))
    v = tf.Variable(tf.fill([3, 3, 16, 8], 0.1))

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            y = tf.nn.conv2d(tf.nn.relu(tf.nn.conv2d(x, w, 1, "SAME")), v, 1, "SAME")
            loss = tf.reduce_mean(y * y)
        for variable, slope in zip([w, v], tape.gradient(loss, [w, v]), strict=True):
            variable.assign_sub(0.1 * slope)
        return loss

    step(tf.ones([8, 24, 24, 4]))
    assert compiled == ["whole"]
    forward = tf.function(lambda x: tf.nn.conv2d(x, w, 1, "SAME"))
    forward(tf.ones([8, 24, 24, 4]))
    assert compiled == ["whole"]

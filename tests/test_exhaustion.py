"""What wants more memory than there is fails in words, at its line, and the program goes on.

The sizes here lie beyond the address space (2**48 bytes), so that no machine grants them.
"""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import wengert as tf
from wengert.engines.memory_errors import Largest

N = 2**46
SIDE = 2**23
Exhausted = tf.errors.ResourceExhaustedError

WISHES: dict[str, Any] = {
    "zeros": lambda x: tf.zeros([N]) + x,
    "ones": lambda x: tf.ones([N]) + x,
    "fill": lambda x: tf.fill([N], x) + 1.0,
    "broadcast_to": lambda x: tf.broadcast_to(x, [N]) * 2.0,
    "tile": lambda x: tf.tile([x], [N]),
    "pad": lambda x: tf.pad([x], [[0, N]]),
    "one_hot": lambda x: tf.one_hot(tf.cast([x] * 4, tf.int32), N // 4),
    "random.normal": lambda x: tf.random.normal([N]) + x,
    "random.uniform": lambda x: tf.random.uniform([N]) + x,
    "stateless_normal": lambda x: tf.random.stateless_normal([N], [1, 2]) + x,
    "range": lambda x: tf.cast(tf.range(N), tf.float32) + x,
    "linspace": lambda x: tf.linspace(x, 2.0, N),
    "repeat": lambda x: tf.repeat([x], N),
    "eye": lambda x: tf.eye(SIDE) + x,
    "diag": lambda x: tf.linalg.diag(tf.fill([SIDE], x)),
    "sequence_mask": lambda x: tf.sequence_mask([1], N, tf.float32) + x,
    "outer product": lambda x: tf.fill([SIDE, 1], x) * tf.ones([1, SIDE]),
    "matmul": lambda x: tf.matmul(tf.fill([SIDE, 1], x), tf.ones([1, SIDE])),
    "einsum": lambda x: tf.einsum("i,j->ij", tf.fill([SIDE], x), tf.ones([SIDE])),
    "meshgrid": lambda x: tf.meshgrid(tf.fill([SIDE], x), tf.ones([SIDE]))[0] + 1.0,
    "gather": lambda x: tf.gather(tf.fill([1, SIDE], x), tf.zeros([SIDE], tf.int32)),
    "concat": lambda x: tf.concat([tf.broadcast_to(x, [N])] * 2, 0),
    "segment_sum": lambda x: tf.math.unsorted_segment_sum([x], [0], N),
    "more than can be counted": lambda x: tf.ones([2**62]) + x,
    "convolution": lambda x: tf.nn.conv2d(
        tf.fill([1, 1, 1, 1], x),
        tf.ones([1, 1, 1, 1]),
        1,
        [[0, 0], [SIDE, SIDE], [SIDE, SIDE], [0, 0]],
    ),
    "resize": lambda x: tf.image.resize(tf.fill([1, 2, 2, 1], x), [SIDE, SIDE]),
    "cast": lambda x: tf.cast(tf.broadcast_to(x, [N]), tf.float64),
    "reshape of a view": lambda x: tf.reshape(tf.transpose(tf.broadcast_to(x, [2, N])), [-1]) + x,
    "cumsum": lambda x: tf.cumsum(tf.broadcast_to(x, [N])),
    "to_dense": lambda x: tf.sparse.to_dense(tf.SparseTensor([[0]], [x], [N])) + x,
    "scatter_nd": lambda x: tf.scatter_nd([[0]], [x], [N]),
    "to_tensor": lambda x: tf.ragged.constant([[1.0], [2.0, 3.0]]).to_tensor(shape=[2, N]) + x,
    "map_fn": lambda x: tf.map_fn(lambda i: tf.broadcast_to(x, [N]) * i, tf.constant([1.0, 2.0])),
    "vectorized_map": lambda x: tf.vectorized_map(
        lambda i: tf.broadcast_to(i, [N]) * x, tf.constant([1.0, 2.0])
    ),
    "scan": lambda x: tf.scan(lambda a, i: a + i, tf.broadcast_to(x, [4, N])),
    "gradient": lambda x: _gradient(x),
    "the maximum of a view": lambda x: tf.reduce_max(tf.broadcast_to(x, [N])),
    "the sum of a view": lambda x: x + tf.reduce_sum(tf.zeros([N])),
    "a batch of unit matrices": lambda x: tf.reduce_max(tf.eye(2, batch_shape=[N])) + x,
    "slices at empty tuples": lambda x: tf.gather_nd(x[None], tf.zeros([N, 0], tf.int32)),
    "an array": lambda x: tf.constant(np.broadcast_to(1.0, [N])),
    "zeros that overflow": lambda x: tf.zeros([2**40, 2**40]) + x,
    "pad that overflows": lambda x: tf.pad([x], [[2**61, 2**61]]),
    "random that overflows": lambda x: tf.random.uniform([2**40, 2**40]) + x,
    "scatter that overflows": lambda x: tf.scatter_nd([[0, 0]], [x], [2**40, 2**40]),
    "segments that overflow": lambda x: tf.math.unsorted_segment_sum([[x, x]], [0], 2**62),
    "broadcasting that overflows": lambda x: (
        tf.fill([2**20, 1], x) + tf.broadcast_to(x, [1, 2**44])
    ),
    "tile that overflows": lambda x: tf.tile([[x]], [2**40, 2**40]),
}


def _gradient(x: Any) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(tf.broadcast_to(x, [N])[:10])
    return tape.gradient(y, x)


@pytest.mark.parametrize("way", ["eager", "host", "xla"])
@pytest.mark.parametrize("name", WISHES)
def test_too_large_a_wish_is_an_error_that_names_its_line(name: str, way: str) -> None:
    f = WISHES[name] if way == "eager" else tf.function(WISHES[name], jit_compile=way == "xla")
    x = tf.constant(1.0)
    with pytest.raises(
        Exhausted, match=r"^\w+: (unable|array|iterator|maximum|out of|the|broadcast)"
    ) as caught:
        with tf.engine("xla" if way == "xla" else "host"):
            f(x)
    assert isinstance(caught.value, MemoryError)
    assert __file__ in "".join(caught.value.__notes__)
    assert float(x + 1.0) == 2.0


def test_sizes_that_come_at_run_time() -> None:
    @tf.function
    def f(n: Any) -> Any:
        return tf.zeros([n]) + 1.0

    assert f(tf.constant(3, tf.int64)).shape == [3]
    with pytest.raises(Exhausted, match="unable to allocate"):
        f(tf.constant(N, tf.int64))
    assert f(tf.constant(4, tf.int64)).shape == [4]


def test_the_array_of_a_tensor_that_is_only_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wengert.ops.shaping._memory", lambda: 2**62)
    x = tf.broadcast_to(1.0, [N])
    with pytest.raises(Exhausted, match=r"^numpy: unable to allocate"):
        x.numpy()
    for read in (lambda: np.array(x), lambda: np.asarray(x, np.float64)):
        # From Python 3.12 on NumPy reads the memory by itself, and words the error.
        with pytest.raises(MemoryError, match=r"[Uu]nable to allocate") as caught:
            read()
        assert isinstance(caught.value, Exhausted) or sys.version_info >= (3, 12)


def test_a_tensor_array_of_too_many_elements() -> None:
    for size in (2**31, 2**40):  # TensorFlow's sizes are int32
        for way in (lambda f: f, tf.function):
            with pytest.raises(tf.errors.InvalidArgumentError, match="must be an int32"):
                way(lambda n=size: tf.TensorArray(tf.float32, n).size())()


def test_datasets() -> None:
    one = tf.data.Dataset.from_tensors([1.0])
    for data in (
        one.padded_batch(1, padded_shapes=[N]),
        one.map(lambda x: tf.broadcast_to(x, [N])).batch(1),
        one.map(lambda x: tf.tile(x, [N])),
    ):
        with pytest.raises(Exhausted, match="unable to allocate"):
            list(data)
    assert len(list(one.batch(1))) == 1


@pytest.mark.parametrize("engine", ["host", "xla"])
def test_variables_stay_whole(engine: str) -> None:
    v = tf.Variable([1.0, 2.0])

    @tf.function
    def step(n: Any) -> Any:
        v.assign_add([1.0, 1.0])
        return tf.tile(v, [n])

    @tf.function
    def huge() -> Any:
        v.assign_add([1.0, 1.0])
        return tf.tile(v, [N])

    with tf.engine(engine):
        with pytest.raises(Exhausted):
            huge()
        np.testing.assert_array_equal(v, [1, 2])
        step(tf.constant(1))
        np.testing.assert_array_equal(v, [2, 3])


# 32 TiB, which a system that promises memory it has not might grant: hence the limit.
_LIMITED = """
import resource
import numpy as np
import wengert as tf

v = tf.Variable(tf.zeros([100]))

@tf.function(jit_compile=True)
def f(x):
    v.assign_add(x)
    return tf.broadcast_to(v[0], [2**43]) + 1.0

@tf.function(jit_compile=True)
def g(x):
    v.assign_add(x)
    return v[:3]

g(tf.ones([100]))
resource.setrlimit(resource.RLIMIT_AS, (2**40, 2**40))
for _ in range(3):
    try:
        f(tf.ones([100]))
    except tf.errors.ResourceExhaustedError as error:
        assert "largest result is float32[8796093022208]" in str(error), error
        assert error.__notes__, error
    else:
        raise SystemExit("no error")
assert (v.numpy() == 1).all()
assert g(tf.ones([100])).numpy().tolist() == [2, 2, 2]
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the limit of the address space is Linux's")
def test_memory_that_runs_out_while_compiled_code_runs() -> None:
    pytest.importorskip("resource")
    found = subprocess.run(
        [sys.executable, "-c", _LIMITED],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert found.returncode == 0, found.stderr[-2000:]


def test_the_words_for_an_error_of_xla() -> None:
    known = Largest()
    known.name, known.what = "add", "float32[9]"
    text = "add: the compiled function could not have 5 bytes; its largest result is float32.9.*"
    with pytest.raises(Exhausted, match=text):
        known.explain(RuntimeError("RESOURCE_EXHAUSTED: Out of memory allocating 5 bytes."))
    known.explain(RuntimeError("INTERNAL: something else"))

"""Programs as users write them: a checker finds nothing wrong with them, and Python runs them.

`assert_type` says what a checker must know.
"""

from __future__ import annotations

from typing import Any, assert_type

import numpy as np

import wengert as tf


def operations() -> None:
    a = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    assert_type(a, tf.Tensor)
    assert_type(tf.reduce_sum(a), tf.Tensor)
    assert_type(tf.reduce_mean(a, axis=1, keepdims=True), tf.Tensor)
    assert_type(tf.matmul(a, a, transpose_b=True), tf.Tensor)
    assert_type(tf.nn.relu(a), tf.Tensor)
    assert_type(tf.nn.softmax(a, axis=-1), tf.Tensor)
    assert_type(tf.one_hot([0, 1], depth=3), tf.Tensor)
    assert_type(tf.random.normal([2, 3], stddev=0.1), tf.Tensor)
    assert_type(tf.reshape(a, [-1]), tf.Tensor)
    assert_type(tf.concat([a, a], axis=0), tf.Tensor)
    assert_type(tf.cast(a, tf.int32), tf.Tensor)
    assert_type(tf.argmax(a, axis=1), tf.Tensor)
    assert_type(tf.split(a, 2), list[tf.Tensor])
    assert_type(a.dtype, tf.DType)
    assert_type(a.shape, tf.TensorShape)
    rows, columns = a.shape
    np.zeros(a.shape)
    tf.zeros([rows, columns * 2], tf.float64)
    tf.nn.conv2d(tf.ones([1, 4, 4, 1]), tf.ones([2, 2, 1, 1]), strides=1, padding="SAME")
    tf.linalg.inv(a), tf.math.log(a), tf.strings.join(["a", "b"]), tf.experimental.numpy.finfo
    tf.debugging.assert_equal(tf.shape(a), [2, 2])


def operators(v: tf.Variable) -> None:
    a = tf.constant([1.0, 2.0])
    assert_type(a + 1.0, tf.Tensor)
    assert_type(2.0 * v, tf.Tensor)
    assert_type(v @ v, tf.Tensor)
    assert_type(-a / v, tf.Tensor)
    assert_type(a**2, tf.Tensor)
    assert_type(a > 0.0, tf.Tensor)
    assert_type(~(a > 0.0), tf.Tensor)
    assert_type(abs(v), tf.Tensor)
    (a == a).numpy().all()
    first, second = a[0], a[tf.newaxis, :1]
    first + second


def values(a: tf.Tensor) -> tuple[float, int, str]:
    a.numpy().tolist()
    a.numpy().shape
    text = tf.constant("word").numpy().decode()
    round(a.numpy(), 2)
    return float(a), int(a), f"{a.numpy():.2f} {text}"


def gradients() -> None:
    v, w = tf.Variable(3.0), tf.Variable([1.0, 2.0])
    with tf.GradientTape(persistent=True) as tape:
        loss = tf.reduce_sum(v * w * w)
    tape.gradient(loss, v).numpy()
    one, two = tape.gradient(loss, [v, w])
    tape.gradient(loss, {"v": v, "w": w})["w"].shape
    tape.gradient(loss, (v, w))[1].numpy()
    if tape.gradient(loss, v) is None:
        raise ValueError("unconnected")
    for gradient, variable in zip([one, two], [v, w], strict=True):
        variable.assign_sub(0.1 * gradient)
    v.assign(1.0).assign_add(2.0)


@tf.function
def step(x: tf.Tensor, rate: float = 0.1) -> tf.Tensor:
    return x * rate


@tf.function(jit_compile=True, input_signature=[tf.TensorSpec([None, 2], tf.float32)])
def signed(x: tf.Tensor) -> tf.Tensor:
    return tf.reduce_sum(x, 1)


class Dense(tf.Module):
    def __init__(self, size: int, name: str | None = None) -> None:
        super().__init__(name=name)
        self.w = tf.Variable(tf.random.normal([2, size]), name="w")

    @tf.function
    def __call__(self, x: tf.Tensor) -> tf.Tensor:
        return tf.tanh(x @ self.w)

    @tf.function(reduce_retracing=True)
    def norm(self, power: int) -> tf.Tensor:
        return tf.reduce_sum(self.w**power)


def functions() -> None:
    x = tf.ones([3, 2])
    assert_type(step(x, rate=2.0), tf.Tensor)
    assert_type(signed(x), tf.Tensor)
    layer = Dense(4)
    assert_type(layer(x), tf.Tensor)
    assert_type(layer.norm(2), tf.Tensor)
    step.get_concrete_function(tf.TensorSpec([2]))
    double = tf.function(lambda y: y * 2)
    double(x).numpy()


def datasets() -> None:
    features, labels = np.ones((6, 2), np.float32), np.arange(6)
    dataset = tf.data.Dataset.from_tensor_slices((features, labels))
    dataset = dataset.shuffle(6, seed=1).batch(2, drop_remainder=True).prefetch(tf.data.AUTOTUNE)
    assert_type(dataset, tf.data.Dataset)
    for x, y in dataset.map(lambda x, y: (x * 2, y)).take(1):
        x.numpy(), y + 1
    total = tf.data.Dataset.range(4).reduce(np.int64(0), lambda s, x: s + x)
    total.numpy()
    for batch in dataset.as_numpy_iterator():
        batch[0]
    tf.data.TextLineDataset


def composites() -> None:
    words = tf.strings.split(["a b", "c"])
    words.to_list()
    ragged = tf.ragged.constant([[1], [2, 3]])
    ragged.to_tensor()
    sparse = tf.SparseTensor([[0, 1]], [2.0], [2, 2])
    assert_type(tf.sparse.to_dense(sparse), tf.Tensor)


def control(n: tf.Tensor) -> None:
    tf.cond(n > 0, lambda: n, lambda: -n)
    tf.while_loop(lambda i: i < 3, lambda i: [i + 1], [tf.constant(0)])
    tf.map_fn(lambda x: x * 2, tf.constant([1.0, 2.0]))
    array = tf.TensorArray(tf.float32, size=2)
    array = array.write(0, 1.0).write(1, 2.0)
    array.stack()


def saving(folder: str) -> None:
    v = tf.Variable(1.0)
    checkpoint = tf.train.Checkpoint(v=v, step=tf.Variable(0))
    manager = tf.train.CheckpointManager(checkpoint, folder, max_to_keep=2)
    manager.save()
    checkpoint.restore(manager.latest_checkpoint)
    checkpoint.v.numpy()


@tf.custom_gradient
def clipped(x: tf.Tensor) -> Any:
    return x, lambda g: tf.clip_by_value(g, -1.0, 1.0)


def keras() -> None:
    layer = tf.keras.layers.Dense(3, activation="relu")
    layer(tf.ones([1, 2]))
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    model.compile(optimizer="sgd", loss="mse")
    tf.keras.optimizers.Adam(learning_rate=1e-3), tf.losses.MeanSquaredError()

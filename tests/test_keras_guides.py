"""What the guides of Keras and TensorFlow do with models, beyond plain training."""
# Names that are not there are what is tested.
# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

import wengert as tf

pytestmark = [
    pytest.mark.skipif(find_spec("keras") is None, reason="Keras is not installed"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]


@pytest.fixture
def keras() -> Any:
    found = tf.keras
    found.utils.clear_session()
    found.utils.set_random_seed(0)
    return found


def test_keras_is_found_under_its_short_names(keras: Any) -> None:
    assert tf.losses is keras.losses
    assert tf.metrics.Mean is keras.metrics.Mean
    assert tf.optimizers.schedules is keras.optimizers.schedules
    assert tf.initializers.GlorotUniform is keras.initializers.GlorotUniform
    with pytest.raises(AttributeError, match=r"Did you mean `tf.initializers.GlorotUniform`"):
        _ = tf.initializers.GlorotUnifor


class TestTheSizeOfBatches:
    def test_fit_traces_with_an_open_batch(self, keras: Any) -> None:
        shapes = []

        class Looking(keras.Model):
            def __init__(self) -> None:
                super().__init__()
                self.dense = keras.layers.Dense(1)

            def call(self, x: Any) -> Any:
                shapes.append(x.shape[0])
                return self.dense(x)

        model = Looking()
        model.compile("sgd", "mse")
        model.fit(np.ones((10, 4)), np.ones((10, 1)), batch_size=4, verbose=0)
        assert set(shapes) == {None}

    def test_losses_of_outputs_are_means_of_batches(self, keras: Any) -> None:
        """Keras weighs the losses of single outputs by the batch where its size is known."""
        inputs = keras.Input((1,))
        one = keras.layers.Dense(1, use_bias=False, kernel_initializer="ones", name="a")(inputs)
        two = keras.layers.Dense(1, use_bias=False, kernel_initializer="ones", name="b")(inputs)
        model = keras.Model(inputs, [one, two])
        model.compile(keras.optimizers.SGD(0.0), ["mse", "mae"])
        x = np.array([[1.0], [1.0], [1.0], [3.0]])
        history = model.fit(x, [0 * x, 0 * x], batch_size=3, shuffle=False, verbose=0).history
        np.testing.assert_allclose(history["a_loss"], [(1 + 9) / 2])
        np.testing.assert_allclose(history["b_loss"], [(1 + 3) / 2])
        np.testing.assert_allclose(history["loss"], [(3 * 2 + 12) / 4])


def test_the_steps_of_a_masked_sequence_are_known(keras: Any) -> None:
    layers = keras.layers
    inputs = keras.Input((4, 3))
    x = layers.LSTM(2, return_sequences=True)(layers.Masking(-1.0)(inputs))
    model = keras.Model(inputs, layers.TimeDistributed(layers.Dense(1))(x))
    model.compile("sgd", "mse")
    data = np.ones((2, 4, 3), "float32")
    data[0, 2:] = -1.0
    found = model.evaluate(data, np.ones((2, 4, 1)), verbose=0)
    model.compile("sgd", "mse", run_eagerly=True)
    want = model.evaluate(data, np.ones((2, 4, 1)), verbose=0)
    np.testing.assert_allclose(found, want, rtol=1e-5)


def test_a_layer_that_keeps_its_scores_runs_in_a_loop(keras: Any) -> None:
    """The transformer of the tutorials: trained by `fit`, then asked word by word."""

    class Attending(keras.layers.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.attention = keras.layers.MultiHeadAttention(2, 4)

        def call(self, x: Any) -> Any:
            found, scores = self.attention(x, x, return_attention_scores=True)
            self.scores = scores
            return found

    layer = Attending()
    model = keras.Sequential([keras.layers.Embedding(7, 8), layer, keras.layers.Dense(7)])
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    ids = np.arange(12).reshape(2, 6) % 7
    model.fit(ids, ids, verbose=0)

    @tf.function
    def told(start: Any) -> Any:
        words = tf.TensorArray(tf.int64, 0, dynamic_size=True)
        words = words.write(0, start)
        for i in tf.range(4):
            logits = model(tf.transpose(words.stack()), training=False)[:, -1]
            words = words.write(i + 1, tf.argmax(logits, -1))
        return tf.transpose(words.stack())

    assert told(tf.constant([1, 2], tf.int64)).shape == (2, 5)


def test_crosses_of_features(keras: Any) -> None:
    layer = keras.layers.HashedCrossing(num_bins=5)
    found = layer((tf.constant([1, 2, 7]), tf.constant([3, 4, 9])))
    assert found.shape == (3,)
    assert set(np.asarray(found).tolist()) <= set(range(5))


def test_a_classifier_of_pictures_in_folders(keras: Any, tmp_path: Any) -> None:
    pytest.importorskip("PIL")
    pixels = np.random.default_rng(0).integers(0, 255, (6, 5, 4, 3)).astype("uint8")
    for k, name in enumerate(("cats", "dogs", "cats", "dogs", "cats", "dogs")):
        (tmp_path / name).mkdir(exist_ok=True)
        keras.utils.save_img(tmp_path / name / f"{k}.png", pixels[k], scale=False)
    data = keras.utils.image_dataset_from_directory(
        tmp_path, image_size=(5, 4), batch_size=6, shuffle=False, verbose=False
    )
    assert data.class_names == ["cats", "dogs"]
    images, labels = next(iter(data))
    np.testing.assert_array_equal(images[0], pixels[0])
    assert labels.numpy().tolist() == [0, 0, 0, 1, 1, 1]
    model = keras.Sequential(
        [keras.layers.Rescaling(1 / 255), keras.layers.Flatten(), keras.layers.Dense(1)]
    )
    model.compile("adam", "mse")
    assert model.fit(data, verbose=0, shuffle=False).history["loss"][0] > 0


class TestCheckpointsOfUnbuiltModels:
    @staticmethod
    def model(keras: Any) -> Any:
        class Net(keras.Model):
            def __init__(self) -> None:
                super().__init__()
                self.first = keras.layers.Dense(3, activation="tanh")
                self.second = keras.layers.Dense(1)

            def call(self, x: Any) -> Any:
                return self.second(self.first(x))

        return Net()

    def test_training_goes_on_where_it_stopped(self, keras: Any, tmp_path: Any) -> None:
        x = tf.reshape(tf.range(8.0), [4, 2])

        def trained(net: Any, adam: Any) -> float:
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((net(x) - 1.0) ** 2)
            variables = net.trainable_variables
            adam.apply(tape.gradient(loss, variables), variables)
            return float(loss)

        net, adam = self.model(keras), keras.optimizers.Adam(0.1)
        for _ in range(3):
            trained(net, adam)
        path = tf.train.Checkpoint(net=net, adam=adam).save(tmp_path / "ckpt")
        fresh, other = self.model(keras), keras.optimizers.Adam(0.1)
        status = tf.train.Checkpoint(net=fresh, adam=other).restore(path)
        for _ in range(3):
            assert trained(fresh, other) == trained(net, adam)
        status.assert_consumed()

    def test_the_newest_checkpoint_wins(self, keras: Any, tmp_path: Any) -> None:
        net = self.model(keras)
        net(tf.zeros([1, 2]))
        paths = []
        for value in (1.0, 2.0):
            net.second.bias.assign([value])
            paths.append(tf.train.Checkpoint(net=net).save(tmp_path / "ckpt"))
        fresh = self.model(keras)
        for path in paths:
            tf.train.Checkpoint(net=fresh).restore(path).expect_partial()
        fresh(tf.zeros([1, 2]))
        assert float(fresh.second.bias[0]) == 2.0

    def test_shapes_that_do_not_fit_are_named(self, keras: Any, tmp_path: Any) -> None:
        net = self.model(keras)
        net(tf.zeros([1, 2]))
        path = tf.train.Checkpoint(net=net).save(tmp_path / "ckpt")
        fresh = self.model(keras)
        status = tf.train.Checkpoint(net=fresh).restore(path)
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"net/first/_kernel is float32"):
            fresh(tf.zeros([1, 5]))
        status.expect_partial()

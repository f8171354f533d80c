"""Keras, unmodified, on Wengert: training, saving, callbacks, and its own tests."""
# A checker takes Keras's default values for the types of its attributes.
# pyright: reportOperatorIssue=false, reportOptionalMemberAccess=false

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import warnings
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import wengert as tf

pytestmark = [
    pytest.mark.skipif(find_spec("keras") is None, reason="Keras is not installed"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]
ROOT = Path(__file__).parent.parent


@pytest.fixture
def keras() -> Any:
    found = tf.keras
    found.utils.clear_session()
    found.utils.set_random_seed(0)
    return found


def points(count: int = 96) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((count, 4)).astype("float32")
    return x, (x.sum(1, keepdims=True) > 0).astype("float32")


def small(keras: Any, **options: Any) -> Any:
    model = keras.Sequential(
        [
            keras.layers.Input((4,)),
            keras.layers.Dense(8, activation="tanh"),
            keras.layers.BatchNormalization(),
            keras.layers.Dropout(0.2),
            keras.layers.Dense(1, activation="sigmoid"),
        ]
    )
    model.compile("adam", "binary_crossentropy", metrics=["accuracy", "auc"], **options)
    return model


class TestTraining:
    def test_eager_traced_and_compiled_training_agree(self, keras: Any) -> None:
        x, y = points()
        histories = []
        for options in ({"run_eagerly": True}, {"jit_compile": False}, {"jit_compile": True}):
            keras.utils.set_random_seed(1)
            model = small(keras, **options)
            found = model.fit(x, y, epochs=3, batch_size=32, verbose=0, validation_split=0.25)
            histories.append(found.history)
        for history in histories[1:]:
            assert history.keys() == histories[0].keys()
            for name, values in history.items():
                np.testing.assert_allclose(values, histories[0][name], rtol=2e-4, err_msg=name)

    def test_a_loop_of_ones_own_does_what_fit_does(self, keras: Any) -> None:
        x, y = points(64)
        model = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(1)])
        start = model.get_weights()
        model.compile(keras.optimizers.SGD(0.1, momentum=0.9), "mse")
        model.fit(x, y, batch_size=16, epochs=2, shuffle=False, verbose=0)
        fitted = model.get_weights()

        model.set_weights(start)
        optimizer = keras.optimizers.SGD(0.1, momentum=0.9)

        @tf.function
        def step(x: Any, y: Any) -> None:
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((model(x) - y) ** 2)
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))

        for batch in tf.data.Dataset.from_tensor_slices((x, y)).batch(16).repeat(2):
            step(*batch)
        for a, b in zip(model.get_weights(), fitted, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-5)
        # The first trace makes the slots of the optimizer; the second finds them there.
        assert step.experimental_get_tracing_count() == 2

    def test_a_train_step_of_ones_own(self, keras: Any) -> None:
        class Doubled(keras.Model):
            def __init__(self) -> None:
                super().__init__()
                self.dense = keras.layers.Dense(1, use_bias=False)

            def call(self, x: Any) -> Any:
                return self.dense(x)

            def train_step(self, data: Any) -> Any:
                x, y = data
                with tf.GradientTape() as tape:
                    loss = 2.0 * tf.reduce_mean((self(x, training=True) - y) ** 2)
                gradients = tape.gradient(loss, self.trainable_variables)
                self.optimizer.apply(gradients, self.trainable_variables)
                return {"double": loss}

        x, y = points(32)
        model = Doubled()
        model.compile("sgd")
        history = model.fit(x, y, epochs=2, batch_size=32, verbose=0).history
        assert list(history) == ["double"]
        assert history["double"][1] < history["double"][0]

    def test_several_inputs_and_outputs(self, keras: Any) -> None:
        a, b = keras.Input((4,), name="a"), keras.Input((None, 3), name="b")
        left = keras.layers.Dense(5)(a)
        right = keras.layers.LSTM(5)(keras.layers.Masking()(b))
        joined = keras.layers.Add(name="sum")([left, right])
        model = keras.Model([a, b], {"sum": joined, "one": keras.layers.Dense(1)(joined)})
        assert {k: v.shape for k, v in model.output.items()} == {"sum": (None, 5), "one": (None, 1)}
        model.compile("rmsprop", {"sum": "mse", "one": "mae"})
        data = {"a": np.ones((6, 4)), "b": np.ones((6, 7, 3))}
        model.fit(data, {"sum": np.ones((6, 5)), "one": np.ones((6, 1))}, verbose=0)
        longer = model.predict({"a": np.ones((2, 4)), "b": np.ones((2, 3, 3))}, verbose=0)
        assert longer["sum"].shape == (2, 5)

    @pytest.mark.parametrize("kind", ["LSTM", "GRU"])
    @pytest.mark.parametrize("masked", [False, True])
    def test_recurrent_layers_where_there_is_a_gpu(
        self, keras: Any, monkeypatch: pytest.MonkeyPatch, kind: str, masked: bool
    ) -> None:
        """Keras asks for cuDNN there, and must fall back on its own loop."""
        x = np.random.default_rng(0).standard_normal((4, 5, 3)).astype("float32")
        mask = np.arange(5) < np.array([[2], [5], [3], [4]]) if masked else None
        layer = getattr(keras.layers, kind)(6, return_sequences=True, go_backwards=not masked)
        wanted = layer(x, mask=mask).numpy()
        module = sys.modules["keras.src.backend.tensorflow.rnn"]
        monkeypatch.setattr(module, "_is_gpu_available", lambda: True)
        np.testing.assert_allclose(layer(x, mask=mask).numpy(), wanted, rtol=1e-6)
        found = tf.function(lambda x: layer(x, mask=mask))(x)
        np.testing.assert_allclose(found.numpy(), wanted, rtol=1e-5)

    def test_mixed_precision(self, keras: Any) -> None:
        x, y = points()
        keras.config.set_dtype_policy("mixed_float16")
        try:
            model = small(keras)
            model.fit(x, y, verbose=0)
        finally:
            keras.config.set_dtype_policy("float32")
        assert type(model.optimizer).__name__ == "LossScaleOptimizer"
        assert model.layers[0].kernel.dtype == "float32"
        assert model.predict(x[:2], verbose=0).dtype == np.float16

    def test_sparse_gradients_touch_their_rows_only(self, keras: Any) -> None:
        model = keras.Sequential([keras.layers.Embedding(10, 3), keras.layers.Flatten()])
        model.compile(keras.optimizers.Adagrad(0.5), "mse")
        model.build((None, 1))
        before = model.get_weights()[0]
        model.fit(np.array([[2], [5]]), np.ones((2, 3)), verbose=0)
        changed = np.nonzero((model.get_weights()[0] != before).any(1))[0]
        assert changed.tolist() == [2, 5]

    def test_rows_filled_up_to_a_size_that_is_asked_for(self, keras: Any) -> None:
        rows = tf.ragged.constant([[1.0, 2.0], [3.0], [], [4.0, 5.0, 6.0, 7.0, 8.0]])
        layer = keras.layers.Dense(2)
        found = tf.function(lambda r: layer(r.to_tensor(shape=[None, 4])))(rows)
        assert found.shape == (4, 2)

        data = tf.data.Dataset.from_tensor_slices((rows, [[3.0], [3.0], [0.0], [22.0]])).batch(2)
        data = data.map(lambda r, y: (r.to_tensor(shape=[None, 4]), y))
        model = keras.Sequential([keras.layers.Dense(1, kernel_initializer="ones")])
        model.compile(keras.optimizers.SGD(0.001), "mse")
        assert model.evaluate(data, verbose=0) == 0.0
        model.fit(data, shuffle=False, verbose=0)
        assert model.input_shape[1:] == (4,)

    def test_several_steps_in_one_execution(self, keras: Any) -> None:
        x, y = points(80)
        counts = []
        for steps in (1, 3):
            keras.utils.set_random_seed(2)
            model = small(keras, steps_per_execution=steps)
            model.fit(x, y, batch_size=16, epochs=2, verbose=0, shuffle=False)
            counts.append((int(model.optimizer.iterations), model.evaluate(x, y, verbose=0)[0]))
        assert counts[0][0] == counts[1][0] == 10
        assert counts[0][1] == pytest.approx(counts[1][1], rel=1e-5)

    def test_fit_reads_arrays_where_they_are(self, keras: Any) -> None:
        from keras.src.trainers.data_adapters.array_data_adapter import (  # pyright: ignore[reportMissingImports]
            ArrayDataAdapter,
        )

        x = np.zeros((8, 2), "float32")
        lent = ArrayDataAdapter(x, batch_size=4).get_tf_dataset()
        own = tf.data.Dataset.from_tensors(x)
        turned = ArrayDataAdapter(np.asfortranarray(x), batch_size=4).get_tf_dataset()
        batches = iter(lent)
        x[:] = 1.0
        first = next(batches)
        assert first.numpy().tolist() == [[1.0] * 2] * 4
        assert not np.any(next(iter(own)))
        assert not np.any(next(iter(turned)))
        x[:] = 2.0
        assert first.numpy().tolist() == [[1.0] * 2] * 4


class TestSymbolicShapes:
    def test_a_layer_without_a_shape_rule(self, keras: Any) -> None:
        class Pairs(keras.layers.Layer):
            def call(self, x: Any) -> Any:
                both = tf.expand_dims(x, 1) + tf.expand_dims(x, 2)
                return tf.concat([both, both[..., :1]], -1)

        assert Pairs()(keras.Input((None, 3))).shape == (None, None, None, 4)
        rows = keras.layers.Lambda(lambda x: tf.reshape(x, [-1, 2]))
        assert rows(keras.Input((4,))).shape == (None, 2)

    def test_values_are_not_to_be_had(self, keras: Any) -> None:
        with pytest.raises(ValueError, match="cannot be used as input to a TensorFlow function"):
            tf.sin(keras.Input((3,)))
        assert not tf.is_tensor(keras.Input((3,)))


class TestFiles:
    def test_a_model_comes_back(self, keras: Any, tmp_path: Path) -> None:
        x, y = points()
        model = small(keras)
        model.fit(x, y, verbose=0)
        model.save(tmp_path / "model.keras")
        model.save_weights(tmp_path / "model.weights.h5")
        loaded = keras.models.load_model(tmp_path / "model.keras")
        np.testing.assert_array_equal(loaded.predict(x, verbose=0), model.predict(x, verbose=0))
        other = small(keras)
        other.optimizer.build(other.trainable_variables)
        other.load_weights(tmp_path / "model.weights.h5")
        np.testing.assert_array_equal(other.predict(x, verbose=0), model.predict(x, verbose=0))
        again = loaded.fit(x, y, epochs=2, shuffle=False, verbose=0).history["loss"]
        assert again[1] < again[0]

    def test_checkpoints_hold_models_and_optimizers(self, keras: Any, tmp_path: Path) -> None:
        x, y = points()
        model = small(keras)
        model.fit(x, y, verbose=0)
        checkpoint = tf.train.Checkpoint(model=model, optimizer=model.optimizer)
        path = checkpoint.save(str(tmp_path / "saved"))
        kept, slot = model.get_weights(), model.optimizer.variables[2].numpy()
        model.fit(x, y, verbose=0)
        checkpoint.restore(path).assert_consumed()
        for a, b in zip(model.get_weights(), kept, strict=True):
            np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(model.optimizer.variables[2].numpy(), slot)


class TestCallbacks:
    def test_the_usual_ones(self, keras: Any, tmp_path: Path) -> None:
        x, y = points()
        model = small(keras)
        callbacks = [
            keras.callbacks.EarlyStopping("loss", patience=0, mode="max"),
            keras.callbacks.ModelCheckpoint(str(tmp_path / "best.keras"), monitor="loss"),
            keras.callbacks.CSVLogger(str(tmp_path / "log.csv")),
            keras.callbacks.LearningRateScheduler(lambda epoch: 0.01 / (epoch + 1)),
        ]
        model.fit(x, y, epochs=9, verbose=0, callbacks=callbacks)
        lines = (tmp_path / "log.csv").read_text(encoding="utf-8").splitlines()
        assert lines[0].startswith("epoch,accuracy,auc,")
        assert len(lines) < 10
        assert (tmp_path / "best.keras").exists()

    def test_an_interrupted_fit_leaves_a_usable_model(self, keras: Any) -> None:
        class Interrupt(keras.callbacks.Callback):
            def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
                if batch == 1:
                    raise KeyboardInterrupt

        x, y = points()
        model = small(keras)
        with pytest.raises(KeyboardInterrupt):
            model.fit(x, y, batch_size=16, verbose=0, callbacks=[Interrupt()])
        assert int(model.optimizer.iterations) == 2
        model.fit(x, y, batch_size=16, verbose=0)
        assert int(model.optimizer.iterations) == 8


def softmax(keras: Any, **options: Any) -> Any:
    model = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(3)])
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.Adam(), loss, **options)
    return model


def state(model: Any) -> list[np.ndarray]:
    """Everything that training changes."""
    return [v.numpy() for v in (*model.variables, *model.optimizer.variables)]


def unchanged(before: list[np.ndarray], model: Any) -> None:
    for old, new in zip(before, state(model), strict=True):
        np.testing.assert_array_equal(old, new)


class TestBadInput:
    def test_a_wrong_shape(self, keras: Any) -> None:
        model = small(keras)
        with pytest.raises(ValueError, match=r"expected axis -1 of input shape to have value 4"):
            model.fit(np.ones((8, 3)), np.ones((8, 1)), verbose=0)
        with pytest.raises(ValueError, match=r"expected axis -1 of input shape to have value 4"):
            model.predict(np.ones((8, 3)), verbose=0)
        with pytest.raises(ValueError, match=r"'x' sizes: 8\n'y' sizes: 5"):
            model.fit(np.ones((8, 4)), np.ones((5, 1)), verbose=0)

    # The size of the batch is open while tracing, so the step is traced to its end.
    @pytest.mark.filterwarnings("ignore:The model does not have any trainable weights:UserWarning")
    def test_a_wrong_shape_inside_a_model(self, keras: Any) -> None:
        class Wrong(keras.Model):
            def call(self, x: Any) -> Any:
                return tf.matmul(x, x)

        model = Wrong()
        model.compile("sgd", "mse")
        with pytest.raises(ValueError, match="matmul: inner dimensions must agree") as caught:
            model.fit(np.ones((8, 4)), np.ones((8, 4)), verbose=0)
        assert "return tf.matmul(x, x)" in "".join(getattr(caught.value, "__notes__", ())) + str(
            caught.value
        )

    def test_a_wrong_dtype(self, keras: Any) -> None:
        x, y = points(8)
        model = small(keras)
        with pytest.raises(ValueError, match="Invalid dtype: str"):
            model.fit(np.array([["a"] * 4] * 8), y, verbose=0)
        with pytest.raises(ValueError, match="None is not a tensor"):
            model.fit(x, verbose=0)

    @pytest.mark.parametrize("jit", [False, True])
    def test_a_label_without_a_class(self, keras: Any, jit: bool) -> None:
        x, _ = points(64)
        y = np.arange(64) % 3
        model = softmax(keras, jit_compile=jit)
        model.fit(x, y, verbose=0)
        before = state(model)
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"label 7 is outside \[0, 3\)"):
            model.train_on_batch(x, np.full(64, 7))
        unchanged(before, model)
        model.train_on_batch(x, y)

    @pytest.mark.parametrize("jit", [False, True])
    def test_an_index_without_a_row(self, keras: Any, jit: bool) -> None:
        model = keras.Sequential([keras.layers.Embedding(10, 3), keras.layers.Flatten()])
        model.compile("adam", "mse", jit_compile=jit)
        model.fit(np.array([[2], [5]]), np.ones((2, 3)), verbose=0)
        before = state(model)
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"index 12 is outside \[0, 10\)"):
            model.fit(np.array([[2], [12]]), np.ones((2, 3)), verbose=0)
        unchanged(before, model)

    def test_a_dataset_that_raises(self, keras: Any) -> None:
        def prepare(x: Any, y: Any) -> Any:
            if float(tf.reduce_sum(y)) < 0:
                raise ValueError("a bad row")
            return x, y

        x, y = points()
        y[-1] = -100.0
        data = tf.data.Dataset.from_tensor_slices((x, y)).batch(32).map(prepare)
        model = small(keras)
        with pytest.raises(ValueError, match="a bad row") as caught:
            model.fit(data, shuffle=False, verbose=0)
        assert 'raise ValueError("a bad row")' in "".join(caught.value.__notes__)
        assert int(model.optimizer.iterations) == 2
        model.fit(x, y, verbose=0)

    def test_a_dataset_whose_function_is_wrong(self, keras: Any) -> None:
        x, y = points()
        data = tf.data.Dataset.from_tensor_slices((x, y)).batch(32)
        with pytest.raises(ValueError, match="concat: ") as caught:
            data.map(lambda x, y: (tf.concat([x, y], 0), y))
        assert "tf.concat([x, y], 0)" in "".join(caught.value.__notes__)

    def test_a_generator_that_raises(self, keras: Any) -> None:
        x, y = points(32)

        def batches() -> Any:
            yield x, y
            yield x, y
            raise RuntimeError("the disk is unplugged")

        class Rows(keras.utils.PyDataset):
            def __len__(self) -> int:
                return 3

            def __getitem__(self, index: int) -> Any:
                if index == 2:
                    raise KeyError("no such row")
                return x, y

        model = small(keras)
        with pytest.raises(tf.errors.OpError, match="the disk is unplugged") as caught:
            model.fit(batches(), shuffle=False, verbose=0)
        assert 'raise RuntimeError("the disk is unplugged")' in "".join(caught.value.__notes__)
        with pytest.raises(tf.errors.OpError, match="no such row") as caught:
            model.fit(Rows(), shuffle=False, verbose=0)
        assert 'raise KeyError("no such row")' in "".join(caught.value.__notes__)
        assert int(model.optimizer.iterations) == 4

    def test_no_gradients_at_all(self, keras: Any) -> None:
        model = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(1)])
        model.compile("sgd", lambda y, p: tf.reduce_mean(tf.round(y)))
        with (
            pytest.warns(UserWarning, match="gradient: None"),
            pytest.raises(ValueError, match="No gradients provided for any variable"),
        ):
            model.fit(np.ones((4, 4)), np.ones((4, 1)), verbose=0)

    def test_gradients_that_are_missing_have_a_reason(self, keras: Any) -> None:
        inputs = keras.Input((4,))
        cut = keras.layers.Lambda(lambda x: tf.stop_gradient(x))(
            keras.layers.Dense(2, name="cut")(inputs)
        )
        model = keras.Model(inputs, keras.layers.Dense(1)(cut))
        model.compile("sgd", "mse")
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.fit(*points(8), verbose=0)
        texts = [str(w.message) for w in caught]
        (reason,) = [t for t in texts if t.startswith("gradient: None")]
        assert "`tf.stop_gradient` makes a constant" in reason
        assert "cut/kernel" in reason
        assert "test_keras.py" in reason
        assert any("Gradients do not exist for variables ['cut/kernel'" in t for t in texts)


FULL = Path("/dev/full")


@pytest.mark.skipif(not FULL.exists(), reason="there is no /dev/full here")
class TestFullDisk:
    def test_saving_says_so_and_loses_nothing(self, keras: Any, tmp_path: Path) -> None:
        x, y = points()
        model = small(keras)
        model.fit(x, y, verbose=0)
        before = state(model)
        (tmp_path / "full.keras").symlink_to(FULL)
        with pytest.raises(OSError, match="No space left on device"):
            model.save(tmp_path / "full.keras")
        unchanged(before, model)
        model.save(tmp_path / "good.keras")
        loaded = keras.models.load_model(tmp_path / "good.keras")
        np.testing.assert_array_equal(loaded.predict(x, verbose=0), model.predict(x, verbose=0))

    def test_a_callback_that_cannot_save_ends_fit(self, keras: Any, tmp_path: Path) -> None:
        x, y = points()
        model = small(keras)
        (tmp_path / "full.keras").symlink_to(FULL)
        saving = keras.callbacks.ModelCheckpoint(str(tmp_path / "full.keras"))
        with pytest.raises(OSError, match="No space left on device"):
            model.fit(x, y, epochs=3, verbose=0, callbacks=[saving])
        assert int(model.optimizer.iterations) == 3
        model.fit(x, y, verbose=0)
        assert int(model.optimizer.iterations) == 6

    def test_the_last_good_checkpoint_stays(self, keras: Any, tmp_path: Path) -> None:
        done = python(FULL_CHECKPOINT, FOLDER=str(tmp_path))
        assert done.stdout == "OSError True True\n", done.stdout + done.stderr


FULL_CHECKPOINT = """
import os, resource
import numpy as np
import wengert as tf

model = tf.keras.Sequential([tf.keras.layers.Input((300,)), tf.keras.layers.Dense(300)])
model.compile("adam", "mse")
manager = tf.train.CheckpointManager(
    tf.train.Checkpoint(model=model, optimizer=model.optimizer), os.environ["FOLDER"], 1)
good = manager.save()
kept = model.get_weights()
model.set_weights([w + 1 for w in kept])
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))  # files cannot grow further
try:
    manager.save()
except OSError as error:
    name = "OSError"
tf.train.Checkpoint(model=model).restore(good).expect_partial()
same = all(np.array_equal(a, b) for a, b in zip(model.get_weights(), kept))
print(name, same, tf.train.latest_checkpoint(os.environ["FOLDER"]) == good)
"""


INTERRUPTS = """
import os, random, signal, threading
import numpy as np
import wengert as tf

keras = tf.keras
random.seed(1)
x, y = np.random.rand(2048, 64).astype("float32"), np.random.randint(0, 10, 2048)
model = keras.Sequential([keras.layers.Input((64,)), keras.layers.Dense(256, activation="relu"),
                          keras.layers.Dense(10)])
loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
model.compile("adam", loss, metrics=["accuracy"], jit_compile=os.environ["JIT"] == "yes")
model.fit(x, y, batch_size=64, verbose=0)


class Begun(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        begun.set()


def interrupt(delay):
    begun.wait()
    while not stopped.wait(delay):
        os.kill(os.getpid(), signal.SIGINT)
        delay = 3.0  # Python itself swallows an exception that comes in a `__del__`: once more


for _ in range(12):
    begun, stopped = threading.Event(), threading.Event()
    sender = threading.Thread(target=interrupt, args=(0.05 * random.random(),))
    try:
        sender.start()
        model.fit(x, y, batch_size=64, epochs=10**6, verbose=0, callbacks=[Begun()])
    except KeyboardInterrupt:
        stopped.set()
    sender.join()
    steps = int(model.optimizer.iterations)
    assert all(np.isfinite(w).all() for w in model.get_weights())
    model.train_on_batch(x[:64], y[:64])
    assert int(model.optimizer.iterations) == steps + 1
assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
print("usable")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent as on Unix")
@pytest.mark.parametrize("jit", ["yes", "no"])
def test_ctrl_c_leaves_a_usable_model(jit: str) -> None:
    done = python(INTERRUPTS, JIT=jit)
    assert done.stdout == "usable\n", done.stderr


def python(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )


class TestLoading:
    def test_keras_finds_wengert_under_the_name_of_tensorflow(self, keras: Any) -> None:
        import tensorflow  # pyright: ignore[reportMissingImports, reportMissingModuleSource]
        from tensorflow.keras.layers import (  # pyright: ignore[reportMissingImports, reportMissingModuleSource]
            Dense,
        )

        assert tensorflow.keras is keras
        assert Dense is keras.layers.Dense
        assert tensorflow.Variable is tf.Variable
        assert tensorflow.__version__.startswith("2.")
        import wengert.keras.layers as layers  # pyright: ignore[reportMissingImports]

        assert layers.Dense is Dense

    def test_nothing_is_loaded_before_it_is_asked_for(self) -> None:
        done = python(
            "import sys, wengert as tf; assert 'keras' not in sys.modules; tf.keras;"
            "print('keras' in sys.modules, 'jax' in sys.modules)"
        )
        assert done.stdout == "True False\n", done.stderr

    def test_a_real_tensorflow_is_refused(self) -> None:
        done = python(
            "import sys, types; sys.modules['tensorflow'] = types.ModuleType('tensorflow');"
            "import wengert as tf; tf.keras"
        )
        assert (
            "ImportError: tensorflow: another TensorFlow is imported already, and one process can "
            "have only one. Import wengert.keras first" in done.stderr
        )

    def test_another_backend_is_refused(self) -> None:
        done = python("import keras, wengert as tf; tf.keras", KERAS_BACKEND="jax")
        assert (
            "ImportError: keras: it is imported already, on jax, and cannot change its backend."
            in done.stderr
        )

    def test_pickles_are_read_where_keras_is_not_loaded(self, keras: Any) -> None:
        values = [
            tf.constant([1.0]),
            tf.ragged.constant([[1, 2], [3]]),
            tf.sparse.from_dense([[0.0, 4.0]]),
            tf.IndexedSlices(tf.constant([5.0]), tf.constant([0])),
        ]
        assert b"tensorflow" not in pickle.dumps(values)
        done = python(
            f"import pickle; a, b, c, d = pickle.loads({pickle.dumps(values)!r});"
            "print(a.numpy(), b.to_list(), c.values.numpy(), d.values.numpy())"
        )
        assert done.stdout == "[1.] [[1, 2], [3]] [4.] [5.]\n", done.stderr

    def test_a_script_for_tensorflow_runs(self, tmp_path: Path) -> None:
        script = tmp_path / "script.py"
        script.write_text(
            "import tensorflow as tf\nimport keras\n"
            "print(tf.keras.layers.Dense is keras.layers.Dense, keras.ops.ones((2,)).numpy())\n",
            encoding="utf-8",
        )
        done = subprocess.run(
            [sys.executable, "-m", "wengert", "run", str(script)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.stdout == "True [1. 1.]\n", done.stderr


@pytest.mark.keras_suite
def test_keras_own_tests() -> None:
    """A part that takes seconds; `tools/keras_suite.py` runs all of them."""
    done = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "keras_suite.py"), "--fast"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "losses                          180      180  100.0%" in done.stdout


def test_a_copy_of_a_weight_is_made_in_a_function() -> None:
    layer = tf.keras.layers.Dense(1)
    layer.build((None, 2))
    made: list[Any] = []

    @tf.function
    def f(x: Any) -> Any:
        if not made:
            made.append(tf.Variable(layer.kernel, trainable=False))
        return made[0] + x

    for x in (1.0, 2.0):
        np.testing.assert_allclose(f(tf.constant(x)), layer.kernel.numpy() + x)

"""Saved models: functions and variables in files that load without the Python that made them."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections import namedtuple
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import wengert as tf
from wengert.saved_model import model_folder

Pair = namedtuple("Pair", "low high")


class Model(tf.Module):
    """A bit of everything that a saved model holds."""

    def __init__(self) -> None:
        super().__init__()
        self.w = tf.Variable([[1.0, 2.0], [3.0, 4.0]], name="w")
        self.steps = tf.Variable(0, trainable=False, name="steps")
        self.layers = [tf.Variable(5.0, name="a"), {"b": tf.Variable(6.0, name="b")}]
        self.table = tf.constant(np.arange(5000.0, dtype=np.float32))

    @tf.function(input_signature=[tf.TensorSpec([None, 2], name="x")])
    def __call__(self, x):
        return x @ self.w + self.table[4999]

    @tf.function
    def scaled(self, x, factor=2, *, offset=0.0):
        self.steps.assign_add(1)
        return {"y": x * factor + offset, "parts": (x, [x + 1.0, None])}

    @tf.function
    def untouched(self, x):
        return x


@pytest.fixture(scope="module")
def folder(tmp_path_factory: Any) -> str:
    model = Model()
    model.scaled(tf.constant([1.0]))
    model.scaled(tf.constant([1.0]), 3, offset=1.0)
    model.steps.assign(10)
    path = str(tmp_path_factory.mktemp("saved") / "model")
    tf.saved_model.save(model, path)
    return path


@pytest.fixture(scope="module")
def loaded(folder: str) -> Any:
    return tf.saved_model.load(folder)


def exported(tmp_path: Path, function: Any, *args: Any) -> Any:
    """A function after a way through files."""
    path = tmp_path / "function"
    tf.function(function).get_concrete_function(*args).export(path)
    return tf.saved_model.load(path)


FRESH = """
import json, sys
import wengert as tf
model = tf.saved_model.load(sys.argv[1])
x = tf.constant([[1.0, 1.0], [0.0, 2.0], [1.0, 0.0]])
print(json.dumps({
    "call": model(x).numpy().tolist(),
    "signature": model.signatures["serving_default"](x=x)["output_0"].numpy().tolist(),
    "scaled": model.scaled(tf.constant([2.0]))["y"].numpy().tolist(),
    "steps": int(model.steps),
    "names": sorted(v.name for v in model.variables),
    "trainable": sorted(v.name for v in model.trainable_variables),
}))
"""


def test_a_fresh_process_needs_no_python_of_the_user(folder):
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", FRESH, folder],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    rows = [[5003.0, 5005.0], [5005.0, 5007.0], [5000.0, 5001.0]]
    assert json.loads(done.stdout) == {
        "call": rows,
        "signature": rows,
        "scaled": [4.0],
        "steps": 11,
        "names": ["a:0", "b:0", "steps:0", "w:0"],
        "trainable": ["a:0", "b:0", "w:0"],
    }


def test_any_batch_through_one_program(loaded):
    for rows in (1, 4, 7):
        assert loaded(tf.ones([rows, 2])).shape == [rows, 2]


def test_python_arguments_choose_the_trace(loaded):
    before = int(loaded.steps)
    first = loaded.scaled(tf.constant([2.0]))
    assert first["y"].numpy().tolist() == [4.0]
    assert type(first["parts"]) is tuple and first["parts"][1][1] is None
    second = loaded.scaled(tf.constant([2.0]), factor=3, offset=1.0)
    assert second["y"].numpy().tolist() == [7.0]
    assert int(loaded.steps) == before + 2


def test_arguments_that_were_not_traced(loaded):
    with pytest.raises(
        ValueError, match=r"scaled: it was saved for other arguments; got"
    ) as caught:
        loaded.scaled(tf.constant([2.0]), 4)
    assert "(float32[1], 4)" in str(caught.value)
    assert "scaled(x: float32[1], factor=2, offset=0.0) -> " in str(caught.value)
    with pytest.raises(ValueError, match="saved without a trace: it had not been called"):
        loaded.untouched(tf.constant(1.0))


def test_objects_come_back_by_name(loaded):
    assert loaded.w.numpy().tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert loaded.layers[0].numpy() == 5.0 and loaded.layers[1]["b"].numpy() == 6.0
    assert loaded.steps.trainable is False
    with pytest.raises(AttributeError, match="has no attribute 'table'"):
        loaded.table


def test_signatures_go_by_name(loaded):
    assert list(loaded.signatures) == ["serving_default"]
    serve = loaded.signatures["serving_default"]
    spec = tf.TensorSpec([None, 2], tf.float32, "x")
    assert serve.structured_input_signature == ((), {"x": spec})
    assert serve.structured_outputs["output_0"].shape.as_list() == [None, 2]
    assert [v.name for v in serve.variables] == ["w:0"]
    with pytest.raises(TypeError, match="argument `x` is missing"):
        serve()


def test_a_loaded_function_inside_functions(loaded):
    x = tf.constant([[1.0, 1.0]])
    before = int(loaded.steps)

    def both(x):
        return loaded(x) * 2.0, loaded.scaled(x[0, :1])["y"]

    want = [[10006.0, 10010.0]]
    assert tf.function(both)(x)[0].numpy().tolist() == want
    assert tf.function(both, jit_compile=True)(x)[0].numpy().tolist() == want
    assert int(loaded.steps) == before + 2


def test_variables_are_shared_by_functions(folder):
    model = tf.saved_model.load(folder)
    model.w.assign(tf.zeros([2, 2]))
    assert model(tf.ones([1, 2])).numpy().tolist() == [[4999.0, 4999.0]]
    serve = model.signatures["serving_default"]
    assert serve(x=tf.ones([1, 2]))["output_0"].numpy().tolist() == [[4999.0, 4999.0]]


def test_gradients_are_those_of_the_python(folder):
    results = []
    for model in (Model(), tf.saved_model.load(folder)):
        model.w.assign([[0.0, -1.0], [1.0, 2.0]])
        x = tf.constant([[1.0, 1.0], [0.0, 0.0]])
        with tf.GradientTape() as tape:
            tape.watch(x)
            loss = tf.reduce_sum(tf.nn.relu(model(x) - 4999.0) ** 2)
        model.w.assign(tf.zeros([2, 2]))  # the gradient is that of the value it had
        results.append([loss, *tape.gradient(loss, [x, model.w])])
    for a, b in zip(*results, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)


def test_gradients_of_integers_and_effects_are_none(loaded):
    x = tf.constant([2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = loaded.scaled(x, 3, offset=1.0)
    before = int(loaded.steps)
    assert tape.gradient(y["y"], x).numpy().tolist() == [3.0]
    assert int(loaded.steps) == before


def test_gradients_in_functions_and_of_rows(tmp_path):
    table = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    found = exported(tmp_path, lambda i: tf.gather(table, i), tf.TensorSpec([None], tf.int32))
    (rows,) = found.variables

    @tf.function
    def step(i):
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(found(i) ** 2)
        return tape.gradient(y, rows)

    want = [[0.0, 0.0], [12.0, 16.0], [0.0, 0.0]]
    assert step(tf.constant([1, 1])).numpy().tolist() == want


def test_random_numbers_are_the_same_in_the_gradient(tmp_path):
    found = exported(tmp_path, lambda x: x * tf.random.uniform(tf.shape(x)), tf.TensorSpec([None]))
    x = tf.ones([5])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = found(x)
    np.testing.assert_allclose(tape.gradient(y, x), y)


def test_second_gradients_are_refused(loaded):
    x = tf.constant([[1.0, 1.0]])
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = loaded(x) ** 2
        g = inner.gradient(y, x)
    with pytest.raises(tf.errors.UnimplementedError, match="has no gradients of this order"):
        outer.gradient(g, x)


def test_arguments_of_any_rank(tmp_path):
    scale = tf.Variable(2.0)

    class Any(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec(None)])
        def __call__(self, x):
            return tf.reduce_sum(x * scale, axis=-1) if x.shape.rank else x * scale

        @tf.function(input_signature=[tf.TensorSpec(None), tf.TensorSpec(None)])
        def add(self, x, y):
            return x + y

    tf.saved_model.save(Any(), tmp_path / "any")
    found = tf.saved_model.load(tmp_path / "any")
    for x in (tf.ones([2]), tf.ones([2, 3]), tf.ones([1, 2, 3, 4])):
        np.testing.assert_array_equal(found.add(x, x), 2 * x)
        np.testing.assert_array_equal(found.add(x, 1.0), x + 1.0)
    double = tf.function(lambda x: x * scale).get_concrete_function(tf.TensorSpec(None))
    tf.saved_model.save(tf.Module(), tmp_path / "one", signatures=double)
    serve = tf.saved_model.load(tmp_path / "one").signatures["serving_default"]
    assert serve(x=tf.constant(3.0))["output_0"].numpy() == 6.0
    assert serve(x=tf.ones([2, 2]))["output_0"].numpy().tolist() == [[2.0, 2.0], [2.0, 2.0]]
    assert serve.structured_input_signature[1]["x"].shape.rank is None
    with pytest.raises(TypeError):
        serve(x=tf.constant(3))


def test_saving_again_what_was_loaded(loaded, tmp_path):
    loaded.w.assign([[0.0, 1.0], [1.0, 0.0]])
    tf.saved_model.save(loaded, tmp_path / "again")
    again = tf.saved_model.load(tmp_path / "again")
    loaded.w.assign([[1.0, 2.0], [3.0, 4.0]])
    assert again(tf.constant([[1.0, 2.0]])).numpy().tolist() == [[5001.0, 5000.0]]
    assert again.scaled(tf.constant([2.0]), 3, offset=1.0)["y"].numpy().tolist() == [7.0]


# Concrete functions.


def test_a_concrete_function_exports_itself(tmp_path):
    found = exported(tmp_path, lambda x, y: (x + y, x * y), tf.TensorSpec([2]), tf.TensorSpec([2]))
    total, product = found(tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0]))
    assert total.numpy().tolist() == [4.0, 6.0] and product.numpy().tolist() == [3.0, 8.0]
    named = found.signatures["serving_default"](x=[1.0, 2.0], y=[3.0, 4.0])
    assert set(named) == {"output_0", "output_1"}


def test_structures_come_back(tmp_path):
    def function(x):
        return Pair(x["a"], [x["b"], {"c": x["a"] + 1}]), None

    found = exported(tmp_path, function, {"a": tf.TensorSpec([], tf.int32), "b": tf.TensorSpec([])})
    pair, nothing = found({"a": tf.constant(1), "b": tf.constant(2.0)})
    assert nothing is None and type(pair).__name__ == "Pair" and int(pair.low) == 1
    assert int(pair.high[1]["c"]) == 2 and not found.signatures


def test_wide_types(tmp_path):
    def function(x, y):
        return x + 2**40, tf.abs(y)

    found = exported(
        tmp_path, function, tf.TensorSpec([], tf.int64), tf.TensorSpec([], tf.complex128)
    )
    whole, size = found(tf.constant(1, tf.int64), tf.constant(3 + 4j, tf.complex128))
    assert int(whole) == 2**40 + 1 and size.dtype == tf.float64 and float(size) == 5.0


def test_unknown_sizes_that_must_agree(tmp_path):
    spec = tf.TensorSpec([None, 3])
    found = exported(tmp_path, lambda x, y: x + y, spec, spec)
    assert found(tf.ones([4, 3]), tf.ones([4, 3])).shape == [4, 3]
    with pytest.raises(tf.errors.InvalidArgumentError, match="a size must be 4, as exported or as"):
        found(tf.ones([4, 3]), tf.ones([5, 3]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="takes no empty tensors"):
        found(tf.ones([0, 3]), tf.ones([0, 3]))


def test_unknown_sizes_that_may_differ(tmp_path):
    spec = tf.TensorSpec([None, 3])
    found = exported(tmp_path, lambda x, y: tf.matmul(x, y, transpose_b=True), spec, spec)
    assert found(tf.ones([4, 3]), tf.ones([5, 3])).shape == [4, 5]


def running_sums(x):
    """As many rows as `x` has and one more, each written by position."""
    count = tf.shape(x)[0]
    rows = tf.TensorArray(tf.float32, size=count + 1, clear_after_read=False)
    rows = rows.write(0, x[0] * 0.0)
    for i in tf.range(count):
        rows = rows.write(i + 1, rows.read(i) + x[i])
    return rows.stack()


def gradient_of_a_loop(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.zeros([4])
        for i in tf.range(tf.shape(x)[0]):
            y = tf.tanh(y + 0.1 * x[i])
        total = tf.reduce_sum(y)
    return tape.gradient(total, x)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: tf.reshape(x, [tf.shape(x)[0], 2, 2]) / tf.cast(tf.shape(x)[0], tf.float32),
        lambda x: x[:, 0] + x[0, 1:2] + tf.reduce_mean(x),
        lambda x: tf.concat([x, tf.zeros([tf.shape(x)[0], 1])], 1),
        lambda x: tf.nn.moments(x, [0])[1] + tf.einsum("bi,bi->b", x, x)[:1],
        lambda x: tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * 2.0), (0, x))[1],
        lambda x: tf.map_fn(lambda row: tf.reduce_sum(row) * row, x),
        lambda x: tf.linalg.band_part(x[:, :, None] * x[:, None, :], 0, -1),
        lambda x: tf.linalg.band_part(tf.matmul(x, x, transpose_b=True), -1, 0),
        lambda x: tf.linalg.band_part(tf.matmul(x, x, transpose_b=True), 1, 1),
        lambda x: tf.repeat(tf.repeat(x, 2, axis=0), 3, axis=1),
        lambda x: tf.image.resize(x[..., None], [3, 5]),
        lambda x: tf.image.resize(x[..., None], [7, 3], "nearest"),
        running_sums,
        gradient_of_a_loop,
        lambda x: tf.nn.avg_pool2d(x[:, :, None, None], 2, 1, "SAME"),
        lambda x: tf.gather(x, [0, 1]) + tf.broadcast_to(tf.constant(1.0), tf.shape(x))[:1],
    ],
)
def test_operations_of_unknown_sizes(tmp_path, function):
    found = exported(tmp_path, function, tf.TensorSpec([None, 4]))
    for rows in (2, 5):
        x = tf.reshape(tf.range(rows * 4.0), [rows, 4])
        np.testing.assert_allclose(found(x), function(x), rtol=1e-4)


def test_random_numbers_are_new_each_time(tmp_path):
    found = exported(tmp_path, lambda: tf.random.uniform([4]))
    assert found().numpy().tolist() != found().numpy().tolist()
    tf.random.set_seed(3)
    first = found().numpy().tolist()
    tf.random.set_seed(3)
    assert found().numpy().tolist() == first


def test_a_failed_check_names_the_line_and_changes_nothing(tmp_path):
    v = tf.Variable(0.0)

    def function(x, i):
        v.assign_add(1.0)
        return tf.gather(x, i)

    found = exported(tmp_path, function, tf.TensorSpec([2]), tf.TensorSpec([], tf.int32))
    assert float(found(tf.constant([1.0, 2.0]), tf.constant(1))) == 2.0
    with pytest.raises(
        tf.errors.InvalidArgumentError, match="a check of gather failed in this loaded function"
    ) as caught:
        found(tf.constant([1.0, 2.0]), tf.constant(7))
    assert "test_export.py" in "".join(caught.value.__notes__)
    assert float(found.variables[0]) == 1.0

    @tf.function(jit_compile=True)
    def outer(x, i):
        return found(x, i)

    with pytest.raises(tf.errors.InvalidArgumentError, match="a check of gather failed"):
        outer(tf.constant([1.0, 2.0]), tf.constant(7))
    assert float(found.variables[0]) == 1.0


def test_a_loop_with_more_turns_than_room(tmp_path):
    def function(x, n):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, y * x), (0, x))[1]
        return tape.gradient(y, x)

    found = exported(tmp_path, function, tf.TensorSpec([]), tf.TensorSpec([], tf.int32))
    assert float(found(tf.constant(1.5), tf.constant(3))) == pytest.approx(4 * 1.5**3)
    with pytest.raises(tf.errors.ResourceExhaustedError, match="a loop took 100 turns, and was"):
        found(tf.constant(1.5), tf.constant(100))


KERAS = """
import sys
import numpy as np
import wengert as tf
keras = tf.keras
layers = [keras.layers.Input((8, 8, 3)), keras.layers.Conv2D(4, 3), keras.layers.ReLU(),
          keras.layers.BatchNormalization(), keras.layers.GlobalAveragePooling2D(),
          keras.layers.Dropout(0.5), keras.layers.Dense(2)]
model = keras.Sequential(layers)
x = np.random.default_rng(0).normal(size=(3, 8, 8, 3)).astype(np.float32)
want = model(x).numpy()
model.export(sys.argv[1], verbose=False)
loaded = tf.saved_model.load(sys.argv[1])
np.testing.assert_allclose(loaded.serve(x), want, rtol=1e-5, atol=1e-6)
assert set(loaded.signatures) == {"serve", "serving_default"}
assert len(loaded.trainable_variables) == len(model.trainable_variables)
layer = keras.layers.TFSMLayer(sys.argv[1], call_endpoint="serve")
again = keras.Sequential([keras.layers.Input((8, 8, 3)), layer])
np.testing.assert_allclose(again.predict(x, verbose=0), want, rtol=1e-5, atol=1e-6)
"""


@pytest.mark.skipif(find_spec("keras") is None, reason="Keras is not installed")
def test_keras_models_export(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", KERAS, str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(find_spec("keras") is None, reason="Keras is not installed")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("kind", ["recurrent", "attention"])
def test_keras_models_of_sequences_of_any_length(tmp_path, kind):
    layers = tf.keras.layers
    x = tf.keras.Input([None, 4])
    if kind == "recurrent":
        y = layers.GRU(2)(layers.Bidirectional(layers.LSTM(3, return_sequences=True))(x))
    else:
        y = layers.MultiHeadAttention(2, 2)(x, x, use_causal_mask=True)
    model = tf.keras.Model(x, y)
    model.export(str(tmp_path / "model"), verbose=False)
    found = tf.saved_model.load(str(tmp_path / "model"))
    for size in (2, 5):
        given = tf.random.stateless_normal([3, size, 4], [1, 2])
        np.testing.assert_allclose(found.serve(given), model(given), rtol=1e-4, atol=1e-6)


# What cannot be exported.


@pytest.mark.parametrize(
    ("function", "spec", "reason"),
    [
        (
            lambda x: tf.strings.length(x),
            tf.TensorSpec([2], tf.string),
            "string_length has no form",
        ),
        (lambda x: tf.where(x > 0), tf.TensorSpec([2]), "where_indices has no form in XLA"),
        (
            lambda x: tf.py_function(abs, [x], tf.float32),
            tf.TensorSpec([2]),
            "host_call has no form",
        ),
        (
            lambda x: tf.image.resize(x, [4, 4], "area"),
            tf.TensorSpec([None, None, 1]),
            r"needs sizes that are known\. Fix the sizes",
        ),
        (lambda x: tf.reshape(x, [3, -1]), tf.TensorSpec([None]), "Fix the sizes that are unknown"),
    ],
)
def test_what_xla_cannot_run(tmp_path, function, spec, reason):
    with pytest.raises(tf.errors.UnimplementedError, match=f"cannot be exported: .*{reason}") as e:
        exported(tmp_path, function, spec)
    assert "test_export.py" in "".join(e.value.__notes__)
    assert not tf.saved_model.contains_saved_model(tmp_path / "function")


class Talking(tf.Module):
    @tf.function(input_signature=[tf.TensorSpec([])])
    def loud(self, x):
        tf.print(x)
        return x

    @tf.function(input_signature=[tf.TensorSpec([])])
    def quiet(self, x):
        return x + 1.0


def test_named_signatures_let_other_functions_stay_behind(tmp_path):
    model = Talking()
    with pytest.raises(tf.errors.UnimplementedError, match="loud cannot be exported"):
        tf.saved_model.save(model, tmp_path)
    with pytest.warns(UserWarning, match="save: export: loud cannot be exported: .*It is left out"):
        tf.saved_model.save(model, tmp_path, {"quiet": model.quiet})
    found = tf.saved_model.load(tmp_path)
    assert float(found.quiet(tf.constant(1.0))) == 2.0
    with pytest.raises(ValueError, match="saved without a trace: export: loud cannot be exported"):
        found.loud(tf.constant(1.0))


def test_what_is_no_model_or_signature(tmp_path):
    with pytest.raises(ValueError, match="save: a module, another object with state or a function"):
        tf.saved_model.save(3, tmp_path)
    with pytest.raises(ValueError, match=r"must be a tf\.function with an `input_signature`"):
        tf.saved_model.save(Model(), tmp_path, {"s": Model().scaled})
    nested = tf.function(lambda x: {"a": [x]}).get_concrete_function(tf.TensorSpec([]))
    with pytest.raises(ValueError, match="under 'a' there is something else"):
        tf.saved_model.save(Model(), tmp_path, {"s": nested})


# Files.


def copied(folder: str, tmp_path: Path) -> Path:
    import shutil

    return Path(shutil.copytree(folder, tmp_path / "copy"))


def the(folder: Path, pattern: str) -> Path:
    return next(folder.glob(pattern))


def test_damaged_files_are_refused(folder, tmp_path):
    copy = copied(folder, tmp_path)
    for pattern in ("saved_model.json", "functions/scaled-*", "variables-*"):
        file = the(copy, pattern)
        whole = file.read_bytes()
        for bad in (whole[: len(whole) // 2], _flipped(whole), b""):
            file.write_bytes(bad)
            with pytest.raises(tf.errors.DataLossError, match="load: this file is damaged, or no"):
                tf.saved_model.load(copy)
        file.write_bytes(whole)
    tf.saved_model.load(copy)


def _flipped(data: bytes) -> bytes:
    middle = len(data) - 3
    return data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]


def test_missing_files_are_named(folder, tmp_path):
    copy = copied(folder, tmp_path)
    the(copy, "functions/scaled-*").unlink()
    with pytest.raises(FileNotFoundError, match=r"load: this file is missing; got .*scaled-"):
        tf.saved_model.load(copy)
    with pytest.raises(FileNotFoundError, match="load: there is no saved model; got"):
        tf.saved_model.load(tmp_path / "nothing")


def test_files_of_others_are_refused(folder, tmp_path):
    (tmp_path / "saved_model.pb").write_bytes(b"\x08\x01")
    with pytest.raises(tf.errors.UnimplementedError, match="this model was written by TensorFlow"):
        tf.saved_model.load(tmp_path)
    copy = copied(folder, tmp_path)
    manifest = copy / "saved_model.json"
    content = json.loads(manifest.read_text())
    manifest.write_text(json.dumps(content | {"version": 2}))
    with pytest.raises(tf.errors.UnimplementedError, match="version 2 of the format is not known"):
        tf.saved_model.load(copy)
    manifest.write_text(json.dumps(content | {"format": "other"}))
    with pytest.raises(tf.errors.DataLossError, match="its format is 'other'"):
        tf.saved_model.load(copy)


def test_variables_of_another_model_are_refused(folder, tmp_path):
    copy = copied(folder, tmp_path)
    other = tmp_path / "other"
    module = tf.Module()
    module.v = tf.Variable(1.0)
    tf.saved_model.save(module, other)
    the(copy, "variables-*").write_bytes(the(other, "variables-*").read_bytes())
    with pytest.raises(tf.errors.DataLossError, match="variable/0 is not what the manifest"):
        tf.saved_model.load(copy)


def test_saving_is_all_or_nothing(tmp_path, monkeypatch):
    module: Any = tf.Module()
    module.v = tf.Variable(1.0)
    tf.saved_model.save(module, tmp_path)
    module.v.assign(2.0)
    with monkeypatch.context() as patch:

        def broken(path: str, text: str) -> None:
            raise OSError(28, "No space left on device")

        patch.setattr(model_folder, "write_text", broken)
        with pytest.raises(OSError, match="no space left on device"):
            tf.saved_model.save(module, tmp_path)
    assert float(tf.saved_model.load(tmp_path).v) == 1.0
    tf.saved_model.save(module, tmp_path)
    assert float(tf.saved_model.load(tmp_path).v) == 2.0
    assert len(list(tmp_path.glob("variables-*"))) == 1


def test_contains_saved_model(folder, tmp_path):
    assert tf.saved_model.contains_saved_model(folder)
    assert not tf.saved_model.contains_saved_model(tmp_path)


class Ragged(tf.Module):
    @tf.function(input_signature=[tf.RaggedTensorSpec([None, None], tf.float32)])
    def twice(self, rows):
        return rows * 2.0

    @tf.function
    def scaled(self, x, how):
        return x * how.factor

    @tf.function(input_signature=[tf.TensorSpec([])])
    def quiet(self, x):
        return x + 1.0


def test_arguments_that_have_no_written_form(tmp_path):
    model = Ragged()
    with pytest.raises(
        tf.errors.UnimplementedError,
        match="export: twice cannot be exported: of its arguments, a RaggedTensor cannot be "
        "written down",
    ):
        tf.saved_model.save(model, tmp_path)
    model.scaled(tf.constant(1.0), argparse.Namespace(factor=2.0))
    with pytest.warns(UserWarning, match="save: export: (twice|scaled) cannot be exported"):
        tf.saved_model.save(model, tmp_path, {"quiet": model.quiet})
    found = tf.saved_model.load(tmp_path)
    assert float(found.quiet(tf.constant(1.0))) == 2.0
    with pytest.raises(ValueError, match="saved without a trace: export: twice cannot be exported"):
        found.twice(tf.ragged.constant([[1.0], []]))


def test_signatures_name_their_outputs(tmp_path: Path) -> None:
    class Both(tf.Module):
        @tf.function
        def __call__(self, x: Any) -> Any:
            return x * 2.0

        @tf.function(input_signature=[tf.TensorSpec([None, 3])])
        def two(self, x: Any) -> Any:
            return {"a": x, "b": tf.reduce_sum(x)}

    both = Both()
    of_any_rank = both.__call__.get_concrete_function(tf.TensorSpec(None, tf.float32))
    tf.saved_model.save(both, tmp_path / "both", {"any": of_any_rank, "two": both.two})
    found = tf.saved_model.load(tmp_path / "both").signatures
    assert found["any"].structured_outputs == {"output_0": tf.TensorSpec(None, name="output_0")}
    assert found["two"].structured_outputs == {
        "a": tf.TensorSpec([None, 3], name="a"), "b": tf.TensorSpec([], name="b"),
    }  # fmt: skip

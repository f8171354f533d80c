"""What an error about a misspelt argument or name adds while it is shown."""

# pyright: reportCallIssue=false
from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest

import wengert as tf
from wengert.core.tracebacks import shown

# Python 3.13 names the nearest argument itself.
OURS = pytest.mark.skipif(sys.version_info >= (3, 13), reason="Python says so itself")
tf_: Any = tf
dataset: Any = tf.data.Dataset.range(3)
tape: Any = tf.GradientTape()


def notes(program: Callable[[], Any]) -> list[str]:
    try:
        program()
    except Exception as error:
        with shown(error):
            return [note.strip() for note in getattr(error, "__notes__", [])]
    raise AssertionError("the program has no mistake")


ARGUMENTS: dict[str, Callable[[], Any]] = {
    "depth": lambda: tf_.one_hot([1], dept=3),
    "keepdims": lambda: tf_.reduce_sum([1], keepdim=True),
    "axis": lambda: tf_.expand_dims([1], axs=0),
    "transpose_b": lambda: tf_.matmul(
        [[1.0]],
        [[1.0]],
        transpose_B=True,
    ),
    "stddev": lambda: tf_.random.normal([2], sttdev=2.0),
    "drop_remainder": lambda: dataset.batch(2, drop_remaindr=True),
    "num_parallel_calls": lambda: dataset.skip(1).map(lambda x: x, num_paralel_calls=2),
    "tensors": lambda: tf_.data.Dataset.from_tensor_slices(tensor=[1]),
    "persistent": lambda: tf_.GradientTape(persistnt=True),
    "unconnected_gradients": lambda: tape.gradient(1, 2, unconected_gradients="zero"),
    "trainable": lambda: tf_.Variable(1.0, trainabl=False),
    "read_value": lambda: tf_.Variable(1.0).assign(2.0, readvalue=True),
}


@OURS
@pytest.mark.parametrize("right", ARGUMENTS)
def test_a_misspelt_argument_is_answered_with_the_nearest(right: str) -> None:
    assert tf_.keras.Variable, "Keras has methods of the same names"
    assert notes(ARGUMENTS[right]) == [f"Did you mean `{right}`?"]


def test_a_misspelt_argument_of_a_layer() -> None:
    program = lambda: tf_.keras.layers.Dense(3, activaton="relu")
    assert notes(program) == ["Did you mean `activation`?"]


def one_hot(indices: Any, depth: int = 1) -> None:
    """A function of the program that has the name of ours."""


class Dataset:
    def batch(self, drop_remainder: bool = False) -> None:
        """A method of the program that has the name of ours."""


@pytest.mark.parametrize(
    "program",
    [
        lambda: one_hot([1], dept=3),
        lambda: Dataset().batch(drop_remaindr=True),
        lambda: (lambda depth: depth)(dept=3),
    ],
)
def test_functions_of_the_program_are_left_alone(program: Callable[[], Any]) -> None:
    if sys.version_info < (3, 13):
        assert notes(program) == []


def test_nothing_is_said_where_nothing_is_near() -> None:
    assert notes(lambda: tf_.one_hot([1], zzyzx=3)) == []


def test_a_note_is_added_once() -> None:
    def program() -> None:
        try:
            tf_.keras.layers.Dense(3, activaton="relu")
        except ValueError as error:
            with shown(error):
                raise

    assert len(notes(program)) == 1


@pytest.mark.parametrize(
    ("place", "wrong", "right"),
    [
        ("tf.keras", "Seqential", "Sequential"),
        ("tf.keras.layers", "Dens", "Dense"),
        ("tf.keras.optimizers", "Adm", "Adam"),
        ("tf.keras.losses", "MeanSquarredError", "MeanSquaredError"),
        ("tf.keras.utils", "to_categoricl", "to_categorical"),
    ],
)
def test_a_name_misspelt_inside_keras(place: str, wrong: str, right: str) -> None:
    module: Any = tf
    for part in place.split(".")[1:]:
        module = getattr(module, part)
    with pytest.raises(
        AttributeError, match=f"no `{place}.{wrong}`. Did you mean `{place}.{right}`"
    ):
        getattr(module, wrong)
    assert not hasattr(module, wrong)


def test_a_misspelt_import_is_answered() -> None:
    def program() -> None:
        from wengert.nn import reluu  # pyright: ignore[reportAttributeAccessIssue]

        reluu()

    (note,) = notes(program)
    assert note.startswith("Wengert has no `tf.nn.reluu`. Did you mean `tf.nn.relu`")


def test_a_script_ends_with_one_suggestion(tmp_path: Any) -> None:
    script = tmp_path / "script.py"
    script.write_text("import wengert as tf\n\ntf.reduce_smu([1])\n")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert done.stderr.count("Did you mean") == 1, done.stderr


# Mistakes that Python or Keras answers in words of its own, and a part of the remedy.
X, Y = tf.ones([8, 4]), tf.zeros([8], tf.int64)


def _fitted(loss: Any, y: Any = Y, **given: Any) -> None:
    model = tf_.keras.Sequential([tf_.keras.layers.Dense(3)])
    model.compile("sgd", loss, **given)
    model.fit(X, y, verbose=0)


def _loaded() -> None:
    with TemporaryDirectory() as folder:
        for size in (3, 5):
            model = tf_.keras.Sequential(
                [tf_.keras.layers.Input((4,)), tf_.keras.layers.Dense(size)]
            )
            if size == 3:
                model.save_weights(f"{folder}/x.weights.h5")
        model.load_weights(f"{folder}/x.weights.h5")


def _used_for_another_width() -> None:
    layer = tf_.keras.layers.Dense(3)
    layer(tf.ones([1, 3]))
    layer(tf.ones([1, 4]))


OF_OTHERS: dict[str, Callable[[], Any]] = {
    'Did you mean "relu"?': lambda: tf_.keras.layers.Dense(3, activation="rellu"),
    'Did you mean "Adam"?': lambda: tf_.keras.Sequential().compile("addam", "mse"),
    'Did you mean "mean_squared_error"?': lambda: _fitted("mean_square_error"),
    'Did you mean "accuracy"?': lambda: _fitted("mse", metrics=["acuracy"]),
    'Did you mean "glorot_uniform"?': lambda: tf_.keras.layers.Dense(
        3, kernel_initializer="glorot_unifrm"
    ),
    "begins with Sparse": lambda: _fitted(tf_.keras.losses.CategoricalCrossentropy()),
    "tf.strings.to_number": lambda: _fitted("mse", np.array(["a"] * 8)),
    "zip(gradients, variables)": lambda: tf_.keras.optimizers.SGD(0.1).apply_gradients(
        [(tf.Variable(1.0), tf.constant(1.0))]
    ),
    "next(iter(dataset.skip(i)))": lambda: dataset[0],
    "skip_mismatch=True": _loaded,
    "x[..., tf.newaxis]": lambda: tf_.keras.layers.Conv2D(4, 3)(tf.ones([8, 28, 28])),
    "for inputs of another width": _used_for_another_width,
    "tf.keras.Input(shape)": lambda: tf_.keras.Model(X, X),
    "as a tuple": lambda: tf_.keras.Input(3.0),
    "`tf_.random` is a namespace": lambda: tf_.random(3),
    "where a function is called": lambda: tf_.ones([2])(3),
    "one argument for each of its parts": lambda: tf_.data.Dataset.from_tensor_slices(
        ([1], [2])
    ).map(lambda x: x),
}


@pytest.mark.parametrize("remedy", OF_OTHERS)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of Keras, which writes HDF5
def test_the_words_of_others_come_with_a_remedy(remedy: str) -> None:
    assert any(remedy in note for note in notes(OF_OTHERS[remedy]))


def test_errors_of_the_program_itself_get_no_remedy() -> None:
    def program() -> None:
        raise ValueError("Cannot convert '3.0' to a shape")

    assert notes(program) == []
    assert notes(lambda: sys(3)) == []  # type: ignore[operator]

"""A NaN that no operation at hand made is told by where it came from.

Each program has one line that ends in `# here`; the doctor must find one code, and name that line first.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

import wengert as tf
from tests.explain.programs import examined
from wengert.data.user_functions import UserFunction

HEAD = """
import numpy as np
import wengert as tf

v = tf.Variable(1.0)

def learn(dataset):
    for batch in dataset:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(v * batch)
        v.assign_sub(0.1 * tape.gradient(loss, v))
"""
SLICES = "tf.data.Dataset.from_tensor_slices([1.0, -1.0, 2.0])"

# What is made of finite numbers: the operation is found, however the value travels from there.
OPERATIONS = {
    "map": f"""
def prepare(x):
    y = tf.math.log(x)  # here
    return y * 2.0
learn({SLICES}.map(prepare).shuffle(3).batch(2).prefetch(1))
""",
    "workers": f"""
def prepare(x):
    return tf.math.log(x) + 1.0  # here
learn({SLICES}.map(prepare, num_parallel_calls=2).batch(2))
""",
    "two maps": f"""
data = {SLICES}.map(lambda x: tf.math.log(x))  # here
learn(data.batch(2).map(lambda x: x + 1.0).map(lambda x: x * 2.0))
""",
    "cache": f"""
data = {SLICES}.map(lambda x: tf.math.log(x)).cache().batch(2)  # here
for _ in data:
    pass
learn(data)
""",
    "scan": f"""
def divide(state, x):
    return state, tf.math.log(state - x)  # here
learn({SLICES}.scan(3.0, divide).batch(2).map(lambda x: x))
learn({SLICES}.scan(1.0, divide).batch(2).map(lambda x: x))
""",
    "interleave": f"""
def opened(x):
    return tf.data.Dataset.from_tensors(tf.math.log(x))  # here
learn({SLICES}.interleave(opened).batch(2))
""",
    "zip": f"""
first = tf.data.Dataset.from_tensor_slices([1.0, 2.0, 3.0])
second = {SLICES}.map(lambda x: tf.math.log(x))  # here
learn(tf.data.Dataset.zip((first, second)).batch(3).map(lambda a, b: a + b))
""",
    "generator": """
def numbers():
    yield 1.0
    yield tf.math.log(-1.0)  # here
learn(tf.data.Dataset.from_generator(numbers, output_signature=tf.TensorSpec([], tf.float32)).batch(2))
""",
    "in a function": f"""
data = {SLICES}.map(lambda x: tf.math.log(x)).batch(2)  # here
@tf.function
def train(data):
    learn(data)
train(data)
""",
    "step in a function": f"""
data = {SLICES}.map(lambda x: tf.math.log(x)).batch(2)  # here
@tf.function
def step(batch):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(v * batch)
    v.assign_sub(0.1 * tape.gradient(loss, v))
for batch in data:
    step(batch)
""",
    "py_function": """
def python(x):
    return tf.math.log(x)  # here
@tf.function
def step(x):
    with tf.GradientTape() as tape:
        loss = v * tf.py_function(python, [x], tf.float32)
    return tape.gradient(loss, v)
step(tf.constant(-1.0))
""",
    "assigned": """
w = tf.Variable([1.0, 2.0])
w.assign(tf.math.log([-1.0, 2.0]))  # here
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(w * w)
tape.gradient(loss, w)
""",
    "initial value": """
w = tf.Variable(lambda: tf.math.log([-1.0, 2.0]))  # here
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(w * w)
tape.gradient(loss, w)
""",
}

# What was not finite when it came: the line that gave it.
GIVEN = {
    "slices": """
data = tf.data.Dataset.from_tensor_slices(np.array([1.0, np.nan], np.float32))  # here
learn(data.map(lambda x: x * 2.0).batch(2))
""",
    "rows": """
data = tf.data.Dataset.from_tensor_slices(np.array([1.0, np.nan], np.float32))  # here
learn(data.batch(2))
""",
    "one of two": """
good = tf.data.Dataset.from_tensors([1.0])
data = tf.data.Dataset.from_tensors([float("nan")])  # here
learn(good.concatenate(data))
""",
    "generator": """
def numbers():  # here
    yield 1.0
    yield float("nan")
learn(tf.data.Dataset.from_generator(numbers, output_signature=tf.TensorSpec([], tf.float32)).batch(2))
""",
    "numpy_function in map": f"""
def python(x):  # here
    return np.log(x)
learn({SLICES}.map(lambda x: tf.numpy_function(python, [x], tf.float32)).batch(2))
""",
    "numpy_function in a function": """
def python(x):  # here
    return np.log(x)
@tf.function
def step(x):
    with tf.GradientTape() as tape:
        loss = v * tf.numpy_function(python, [x], tf.float32)
    return tape.gradient(loss, v)
step(tf.constant(-1.0))
""",
    "py_function": """
def python(x):  # here
    return np.log(x)
with tf.GradientTape() as tape:
    loss = v * tf.py_function(python, [tf.constant(-1.0)], tf.float32)
tape.gradient(loss, v)
""",
    "constant": """
data = tf.constant([1.0, float("nan")])  # here
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(v * data)
tape.gradient(loss, v)
""",
    "through NumPy": """
numbers = tf.math.log(tf.constant([1.0, -1.0, 3.0])).numpy()
data = tf.constant(numbers[1:])  # here
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(v * data)
tape.gradient(loss, v)
""",
    "variable": """
w = tf.Variable([1.0, float("nan")])  # here
@tf.function
def step():
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(w * w)
    return tape.gradient(loss, w)
step()
""",
    "checkpoint": """
saved = tf.Variable([1.0, float("nan")])
tf.train.Checkpoint(w=saved).write(FOLDER + "/saved")
w = tf.Variable([1.0, 2.0])
tf.train.Checkpoint(w=w).read(FOLDER + "/saved")  # here
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(w * w)
tape.gradient(loss, w)
""",
}

KERAS = {
    "WG501": """
data = tf.data.Dataset.from_tensor_slices(([[1.0], [-1.0]], [[1.0], [2.0]]))
data = data.map(lambda x, y: (tf.math.log(x), y)).batch(2)  # here
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(data, epochs=2, verbose=0)
""",
    "WG509": """
x, y = np.array([[1.0], [np.nan]], np.float32), np.ones([2, 1], np.float32)
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(x, y, epochs=2, verbose=0)  # here
""",
    "WG502": """
class Worse(tf.keras.initializers.Initializer):
    def __call__(self, shape, dtype=None):
        return tf.ones(shape) / tf.zeros(shape)  # here
layer = tf.keras.layers.Dense(2, kernel_initializer=Worse())
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(layer(tf.ones([3, 2])))
tape.gradient(loss, layer.trainable_variables)
""",
}


def _finds(program: str, code: str, folder: Path) -> None:
    text = HEAD + program.replace("FOLDER", repr(str(folder)))
    report = examined(text)
    lines = [text.splitlines()[e.line - 1] for e in report if e.line]
    assert report.codes == [code]
    assert lines[0].endswith("# here")


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.filterwarnings("ignore")
def test_the_operation_that_made_it(name: str, tmp_path: Path) -> None:
    _finds(OPERATIONS[name], "WG501", tmp_path)


@pytest.mark.parametrize("name", GIVEN)
@pytest.mark.filterwarnings("ignore")
def test_the_line_that_gave_it(name: str, tmp_path: Path) -> None:
    _finds(GIVEN[name], "WG509", tmp_path)


@pytest.mark.skipif(find_spec("keras") is None, reason="Keras is not installed")
@pytest.mark.parametrize("code", KERAS)
@pytest.mark.filterwarnings("ignore")
def test_keras(code: str, tmp_path: Path) -> None:
    _finds(KERAS[code], code, tmp_path)


def test_samples_by_which_specs_are_inferred_are_no_data() -> None:
    program = """
data = tf.data.Dataset.range(2).map(lambda i: tf.py_function(lambda i: 1.0 / (float(i) + 1.0), [i], tf.float32))
learn(data.map(lambda x: tf.ensure_shape(tf.math.log(x), [])).batch(2))
"""
    assert examined(HEAD + program).codes == []


def test_a_variable_that_is_finite_again_is_forgotten() -> None:
    program = """
w = tf.Variable([1.0, float("nan")])
w.assign([1.0, 2.0])
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(tf.math.log(w - 2.0))
tape.gradient(loss, w)
"""
    assert examined(HEAD + program).codes == ["WG501"]


def test_datasets_do_the_same_work_where_nobody_observes() -> None:
    calls: list[int] = []
    function = UserFunction("map", lambda x: calls.append(1) or x)
    assert function(tf.constant(1.0)).numpy() == 1.0
    assert calls == [1]

"""What is shown of an object at the end of a cell, or in a message, says what it holds."""

from __future__ import annotations

import sys
from functools import singledispatch
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import wengert as tf
from wengert.ops import array_methods


class Net(tf.Module):
    def __init__(self) -> None:
        super().__init__()
        self.w = tf.Variable([[1.0, 2.0]])
        self.steps = tf.Variable(0, trainable=False)


def test_modules() -> None:
    net = Net()
    assert repr(net) == "<Net 'net': 2 variables of 3 numbers, 1 not trainable>"
    net.inner = Net()
    assert repr(net).endswith("4 variables of 6 numbers, 2 not trainable, 1 modules inside>")
    net.open = tf.Variable([1.0], shape=[None])
    assert repr(net).startswith("<Net 'net': 5 variables, ")

    class Late(tf.Module):
        def __init__(self) -> None:
            repr(self)
            super().__init__()

    assert repr(Late()) == "<Late 'late': 0 variables of 0 numbers>"


def test_checkpoints(tmp_path: Path) -> None:
    checkpoint = tf.train.Checkpoint(net=Net(), step=tf.Variable(1))
    assert repr(checkpoint) == "<Checkpoint of net, step: never saved>"
    manager = tf.train.CheckpointManager(checkpoint, tmp_path, max_to_keep=3)
    assert repr(manager).endswith(": 0 of at most 3 checkpoints>")
    manager.save()
    assert repr(checkpoint) == "<Checkpoint of net, step: saved 1 times>"
    assert repr(manager).endswith(": 1 of at most 3 checkpoints, the newest 'ckpt-1'>")
    assert repr(tf.train.Checkpoint()) == "<Checkpoint of nothing: never saved>"


def test_generators() -> None:
    generator = tf.random.Generator.from_seed(3)
    assert repr(generator) == "<Generator philox: state [0, 0, 3]>"
    shown: list[str] = []

    @tf.function
    def f() -> Any:
        shown.append(repr(generator))
        return generator.normal([])

    f()
    assert shown == ["<Generator philox: state of a trace>"]


def test_arrays_of_tensors() -> None:
    array = tf.TensorArray(tf.float32, 3, element_shape=[2])
    assert repr(array) == "<TensorArray float32, rows [2]: 0 of 3 written>"
    array = array.write(1, [1.0, 2.0])
    assert repr(array) == "<TensorArray float32, rows [2]: 1 of 3 written>"
    assert repr(tf.TensorArray(tf.int32, 0, dynamic_size=True)).endswith("0 of 0 written, growing>")
    shown: list[str] = []

    @tf.function
    def f() -> Any:
        shown.append(repr(tf.TensorArray(tf.float32, 3)))

    f()
    assert shown == ["<TensorArray float32: of a trace>"]


def test_tapes() -> None:
    tape = tf.GradientTape()
    assert repr(tape) == "<GradientTape: never opened>"
    v = tf.Variable(1.0)
    with tape:
        y = v * v
        assert repr(tape) == (
            "<GradientTape: recording, 1 operations, follows 1 variables and tensors>"
        )
    assert repr(tape).startswith("<GradientTape: closed, 1 operations")
    tape.gradient(y, v)
    assert repr(tape).startswith(f"<GradientTape: asked at {__file__}:")
    assert repr(tf.GradientTape(persistent=True)) == "<persistent GradientTape: never opened>"


def test_strategies() -> None:
    assert repr(tf.distribute.MirroredStrategy()) == "<MirroredStrategy: 1 replica>"
    assert repr(tf.distribute.get_strategy()) == "<Strategy: 1 replica>"


def test_tables() -> None:
    initial = tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2])
    shown = repr(tf.lookup.StaticHashTable(initial, 0))
    assert shown == "<StaticHashTable of string to int32: 2 keys>"


class Printer:
    """As much of IPython's as a report asks."""

    def text(self, text: str) -> None:
        self.shown = text


def reports() -> list[Any]:
    v = tf.Variable(1.0)
    with tf.GradientTape() as tape:
        _ = v * v
        z = tf.constant(1.0) * 2.0
    f = tf.function(lambda x: x)
    f(1)
    report = tape.explain(z, v)
    return [tape.memory_report(), report, report[0], tf.explain.retraces(f), f.coverage()]


@pytest.mark.parametrize("k", range(5))
def test_reports_are_shown_as_they_are_printed(k: int) -> None:
    report, printer = reports()[k], Printer()
    if hasattr(report, "_repr_pretty_"):
        report._repr_pretty_(printer, False)
        assert printer.shown == str(report)
        assert "<pre>" in report._repr_html_()
    else:
        assert repr(report) == str(report)


def test_a_memory_report_and_a_ledger_read_the_same_without_a_notebook() -> None:
    memory, _, explanation, ledger, _ = reports()
    assert repr(memory) == str(memory)
    assert "The tape keeps" in repr(memory)
    assert repr(ledger) == str(ledger)
    assert repr(explanation).startswith("<Explanation WG1")
    assert "\n" not in repr(explanation)


def test_settings() -> None:
    assert repr(tf.explain.settings) == "Settings(none_gradients='warn')"


def test_an_iterator_says_how_far_it_is() -> None:
    iterator = iter(tf.data.Dataset.range(3))
    next(iterator)
    assert repr(iterator) == "<OwnedIterator element_spec=int64[], 1 given>"


def test_what_a_saved_model_was_saved_with(tmp_path: Path) -> None:
    module: Any = tf.Module()
    module.w = tf.Variable(2.0)
    module.double = tf.function(lambda x: x * module.w, input_signature=[tf.TensorSpec([])])
    tf.saved_model.save(module, str(tmp_path))
    loaded: Any = tf.saved_model.load(str(tmp_path))
    assert repr(loaded).startswith("<RestoredObject of ")
    assert {"w", "double", "signatures"} <= {*repr(loaded)[19:-1].split(", ")}
    with pytest.raises(
        AttributeError, match=r"no attribute 'doubel'\. It was saved with: .*double"
    ):
        loaded.doubel(1.0)


def test_ipython_offers_what_dir_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its completion asks the class of an object, too, unless it is told otherwise."""
    generics: Any = ModuleType("IPython.utils.generics")
    generics.complete_object = singledispatch(lambda value, names: names)
    for name in ("IPython", "IPython.utils"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setitem(sys.modules, "IPython.utils.generics", generics)
    monkeypatch.setattr(array_methods, "ipython", object)
    array_methods._offer_in_ipython()
    for value in (tf.ones([2]), tf.Variable(1.0)):
        offered = generics.complete_object(value, ["backward"])
        assert "shape" in offered and "backward" not in offered
    assert generics.complete_object(3, ["real"]) == ["real"]

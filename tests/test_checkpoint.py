"""Checkpoints: what misfits leave behind, what waits for later, and what messages say."""

from __future__ import annotations

import copy
import os
import pickle
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import wengert as tf
from wengert.checkpoint.trackable import AutoTrackable, Trackable


class Thing(tf.Module):
    """A module with whatever attributes it is given."""

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...

    def __init__(self, **attributes: Any) -> None:
        super().__init__()
        for name, value in attributes.items():
            setattr(self, name, value)


def var(value: Any, **options: Any) -> Any:
    return tf.Variable(value, **options)


def message(error: pytest.ExceptionInfo[BaseException]) -> str:
    return str(error.value)


def says(kind: type[BaseException], call: Any) -> str:
    """The message of the error that a call raises."""
    with pytest.raises(kind) as error:
        call()
    return message(error)


# --- misfits: all or nothing


def test_one_misfit_leaves_everything_as_it_was(tmp_path):
    path = tf.train.Checkpoint(a=var(1.0), b=var([1.0, 2.0]), c=var(3)).save(tmp_path / "ckpt")
    checkpoint = tf.train.Checkpoint(a=var(7.0), b=var([7.0] * 3, name="b"), c=var(7.0))
    with pytest.raises(tf.errors.InvalidArgumentError) as error:
        checkpoint.restore(path)
    assert message(error) == (
        "Checkpoint.restore: values and variables must have the same shape and dtype: b is "
        "float32[2] in the file and float32[3] in variable 'b:0' (and 1 more); got "
        f"{path}.safetensors. Nothing was changed. Build the program that wrote the checkpoint."
    )
    assert (float(checkpoint.a), checkpoint.b.numpy().tolist()) == (7.0, [7.0] * 3)
    assert int(checkpoint.save_counter) == 0
    assert Path(__file__).name in error.value.__notes__[0]


def test_another_dtype_is_named(tmp_path):
    path = tf.train.Checkpoint(a=var(1.0)).write(tmp_path / "ckpt")
    with pytest.raises(ValueError, match=r"a is float32\[\] in the file and int32\[\] in variable"):
        tf.train.Checkpoint(a=var(1)).read(path)


def test_a_late_misfit_leaves_the_object_as_it_was(tmp_path):
    path = tf.train.Checkpoint(m=Thing(t=Thing(a=var(1.0), b=var(2.0)))).write(tmp_path / "ckpt")
    model = Thing()
    status = tf.train.Checkpoint(m=model).read(path)
    part = Thing(a=var(7.0), b=var([7.0]))
    with pytest.raises(ValueError, match=r"m/t/b is float32\[\] in the file and float32\[1\]"):
        model.t = part
    assert not hasattr(model, "t")
    assert float(part.a) == 7.0
    model.t = Thing(a=var(0.0), b=var(0.0))
    assert (float(model.t.a), float(model.t.b)) == (1.0, 2.0)
    status.assert_consumed()


def test_a_variable_and_a_module_do_not_match(tmp_path):
    path = tf.train.Checkpoint(a=var(1.0)).write(tmp_path / "ckpt")
    status = tf.train.Checkpoint(a=Thing()).read(path).expect_partial()
    with pytest.raises(AssertionError) as error:
        status.assert_consumed()
    assert message(error) == (
        f"assert_consumed: 1 values in {path}.safetensors have no object here: a."
    )


def test_an_object_that_fails_to_restore_takes_the_others_back(tmp_path):
    class Part(Trackable):
        def __init__(self, value: str, fails: bool = False) -> None:
            self.value, self.fails = value, fails

        def _serialize_to_tensors(self) -> dict[str, Any]:
            return {"part": tf.constant(self.value)}

        def _restore_from_tensors(self, restored_tensors: dict[str, Any]) -> None:
            if self.fails:
                self.fails = False
                raise RuntimeError("no")
            self.value = restored_tensors["part"].numpy().decode()

    path = tf.train.Checkpoint(a=Part("1"), b=Part("2"), v=var(1.0)).write(tmp_path / "ckpt")
    checkpoint = tf.train.Checkpoint(a=Part("x"), b=Part("y", fails=True), v=var(7.0))
    with pytest.raises(RuntimeError, match="no"):
        checkpoint.read(path)
    assert (checkpoint.a.value, checkpoint.b.value, float(checkpoint.v)) == ("x", "y", 7.0)
    checkpoint.read(path).assert_consumed()
    assert (checkpoint.a.value, checkpoint.b.value, float(checkpoint.v)) == ("1", "2", 1.0)


# --- what waits for later


def grown(tmp_path):
    path = tf.train.Checkpoint(m=Thing(l=[var(1.0)], d={"k": var(2.0)})).write(tmp_path / "ckpt")
    model = Thing(l=[], d={})
    return path, model, tf.train.Checkpoint(m=model).read(path)


def test_variables_in_lists_and_dicts_are_restored_when_they_are_used(tmp_path):
    _, model, status = grown(tmp_path)
    other = var(5.0)
    model.l.append(var(0.0))
    model.d["k"] = var(0.0)
    model.d["k"].assign_add(10.0)
    assert (float(model.l[0]), float(model.d["k"]), float(other)) == (1.0, 12.0, 5.0)
    status.assert_consumed()
    assert type(model.l) is list and type(model.l[0]) is tf.Variable
    assert type(other) is type(var(1.0)) is tf.Variable


def test_what_is_assigned_first_replaces_what_the_file_has(tmp_path):
    _, model, status = grown(tmp_path)
    model.l.append(var(0.0))
    model.l[0].assign(7.0)
    model.d["k"] = var(0.0)
    status.assert_consumed()
    assert (float(model.l[0]), float(model.d["k"])) == (7.0, 2.0)


def test_variables_that_were_used_before_are_restored_on_request(tmp_path):
    _, model, status = grown(tmp_path)
    first, second = var(0.0), var(0.0)
    assert float(first) + float(second) == 0.0
    model.l.append(first)
    model.d["k"] = second
    assert (float(model.l[0]), float(model.d["k"])) == (0.0, 0.0)
    with pytest.raises(AssertionError, match=r"2 values in .* have no object here: m/d/k, m/l/0"):
        status.assert_consumed()
    status.initialize_or_restore()
    assert (float(model.l[0]), float(model.d["k"])) == (1.0, 2.0)
    status.assert_consumed()


def test_the_newest_checkpoint_gives_late_values(tmp_path):
    _, model, _ = grown(tmp_path)
    path = tf.train.Checkpoint(m=Thing(l=[var(3.0)])).write(tmp_path / "newer")
    tf.train.Checkpoint(m=model).read(path)
    model.l.append(var(0.0))
    model.d["k"] = copy.deepcopy(var(0.0))
    assert (float(model.l[0]), float(model.d["k"])) == (3.0, 2.0)


class Momentum(tf.Module):
    """An optimizer as people write it: the slots are made on the first step."""

    def __init__(self) -> None:
        self.slots: dict[str, Any] = {}

    def step(self, name: str, g: Any) -> Any:
        if name not in self.slots:
            self.slots[name] = tf.Variable(tf.zeros_like(g))
        slot = self.slots[name]
        slot.assign(0.9 * slot + g)
        return slot + 0.0


@pytest.mark.parametrize("options", [None, {}, {"jit_compile": True}], ids=str)
def test_slots_of_an_optimizer_go_on_where_they_were(tmp_path, options):
    def made() -> tuple[Any, Any]:
        found = Momentum()
        return found, found.step if options is None else tf.function(found.step, **options)

    first, step = made()
    g = tf.constant([1.0, 2.0])
    for _ in range(3):
        step("w", g)
    path = tf.train.Checkpoint(optimizer=first).save(tmp_path / "ckpt")
    second, again = made()
    checkpoint = tf.train.Checkpoint(optimizer=second)
    status = checkpoint.restore(path)
    np.testing.assert_allclose(again("w", g), step("w", g))
    np.testing.assert_allclose(again("w", g), step("w", g))
    status.assert_consumed()


def test_a_copy_waits_for_nothing(tmp_path):
    path = tf.train.Checkpoint(m=Thing(w=var(1.0))).write(tmp_path / "ckpt")
    model = Thing()
    status = tf.train.Checkpoint(m=model).read(path).expect_partial()
    for other in (copy.copy(model), copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        other.w = var(7.0)
        assert float(other.w) == 7.0
    model.w = var(0.0)
    assert float(model.w) == 1.0
    status.assert_consumed()


@pytest.mark.skipif(os.name == "nt", reason="an open file cannot be removed")
def test_late_values_survive_the_removal_of_their_file(tmp_path):
    path = tf.train.Checkpoint(m=Thing(w=var([1.0, 2.0]))).write(tmp_path / "ckpt")
    model = Thing()
    tf.train.Checkpoint(m=model).read(path)
    os.remove(f"{path}.safetensors")
    model.w = var([0.0, 0.0])
    assert model.w.numpy().tolist() == [1.0, 2.0]


def test_a_file_is_let_go_when_all_is_restored(tmp_path):
    path = tf.train.Checkpoint(m=Thing(w=var(1.0), b=var(1.0))).write(tmp_path / "ckpt")
    model = Thing(w=var(0.0))
    status = tf.train.Checkpoint(m=model).read(path)
    assert status._restoration.reader.file is not None
    model.b = var(0.0)
    assert status._restoration.reader.file is None


def test_restoring_often_does_not_pile_up(tmp_path):
    path = tf.train.Checkpoint(m=Thing(w=var(1.0))).write(tmp_path / "ckpt")
    model = Thing()
    checkpoint = tf.train.Checkpoint(m=model)
    for _ in range(5):
        checkpoint.read(path).expect_partial()
    assert len(model._self_awaiting._records) == 1


def test_values_that_were_never_used_are_logged(tmp_path, caplog):
    path = tf.train.Checkpoint(a=var(1.0), b=var(1.0)).write(tmp_path / "ckpt")
    tf.train.Checkpoint(a=var(0.0)).read(path).expect_partial()
    assert caplog.messages == []
    tf.train.Checkpoint(a=var(0.0)).read(path)
    assert caplog.messages == [
        f"restore: 1 of the values in {path}.safetensors were never used: b. Call "
        "expect_partial() on what restore() returns if that is right."
    ]


def test_a_variable_made_while_tracing_is_restored(tmp_path):
    class Lazy(tf.Module):
        w: Any = None

        @tf.function
        def __call__(self, x: Any) -> Any:
            if self.w is None:
                self.w = tf.Variable([0.0, 0.0])
            return x * self.w

    path = tf.train.Checkpoint(m=Thing(w=var([2.0, 3.0]))).write(tmp_path / "ckpt")
    model = Lazy()
    status = tf.train.Checkpoint(m=model).read(path)
    assert model(tf.constant([1.0, 1.0])).numpy().tolist() == [2.0, 3.0]
    status.assert_consumed()


# --- objects of other libraries


class Wrapped(Trackable):
    """As the variables of Keras are: a wrapper that may not have its variable yet."""

    def __init__(self, value: Any = None) -> None:
        self._value = value

    def _serialize_to_tensors(self) -> Any:
        raise AssertionError("the variable inside is what counts")

    _restore_from_tensors = _serialize_to_tensors


class Layer(AutoTrackable):
    """As the layers of Keras are: tracked lists, and variables that come when it is built."""

    def __init__(self) -> None:
        self._trainable_variables: list[Any] = []
        self._sublayers: list[Any] = []
        self._by_depth: dict[int, list[Any]] = {0: []}

    def build(self, value: float) -> Layer:
        kernel = Wrapped(var(value))
        self._trainable_variables.append(kernel)
        self._kernel = kernel
        return self


class Optimizer(AutoTrackable):
    """As the optimizers of Keras are: slot variables in a list of their own."""

    def __init__(self) -> None:
        self._variables: list[Any] = []
        self._iterations = Wrapped(var(0, dtype="int64"))

    def build(self, variables: list[Any], value: float) -> None:
        slots = [Wrapped(tf.ones_like(v._value) * value) for v in variables]
        slots = [Wrapped(var(s._value)) for s in slots]
        self._variables.extend(slots)
        self._momentums = slots


def _model(value: float | None) -> Layer:
    model = Layer()
    model._sublayers += [Layer(), Layer()]
    model._by_depth[0] += model._sublayers
    if value is not None:
        for layer in model._sublayers:
            layer.build(value)
    return model


def test_layers_and_optimizers_like_those_of_keras(tmp_path):
    model, optimizer = _model(3.0), Optimizer()
    optimizer.build([layer._kernel for layer in model._sublayers], 5.0)
    path = tf.train.Checkpoint(model=model, optimizer=optimizer).write(tmp_path / "ckpt")
    found = [k.partition("/.A")[0] for k, _ in tf.train.list_variables(path)]
    assert found == [
        "model/_sublayers/0/_kernel",
        "model/_sublayers/1/_kernel",
        "optimizer/_iterations",
        "optimizer/_momentums/0",
        "optimizer/_momentums/1",
    ]
    model, optimizer = _model(None), Optimizer()
    status = tf.train.Checkpoint(model=model, optimizer=optimizer).read(path)
    kernels = [layer.build(0.0)._kernel for layer in model._sublayers]
    optimizer.build(kernels, 0.0)
    assert [float(k._value) for k in kernels] == [3.0, 3.0]
    assert [float(s._value) for s in optimizer._momentums] == [5.0, 5.0]
    status.assert_consumed()


def test_a_wrapper_without_a_variable_has_no_value(tmp_path):
    path = tf.train.Checkpoint(a=Wrapped(), b=Wrapped(var(1.0))).write(tmp_path / "ckpt")
    assert len(tf.train.list_variables(path)) == 1


class WithProperty:
    """An object of no known base that has `variables`."""

    __slots__ = ("_hidden",)

    def __init__(self, value: float) -> None:
        self._hidden = var(value)

    @property
    def variables(self) -> list[Any]:
        return [self._hidden]


class WithAttributes:
    """Another, whose attributes are to be seen."""

    def __init__(self, value: float) -> None:
        self._variables = [var(value)]
        self.step = var(1)


@pytest.mark.parametrize(
    ("kind", "paths"),
    [(WithProperty, ["o/variables/0"]), (WithAttributes, ["o/_variables/0", "o/step"])],
)
def test_other_objects_with_variables(kind, paths, tmp_path):
    path = tf.train.Checkpoint(o=kind(2.0)).write(tmp_path / "ckpt")
    assert [k.partition("/.A")[0] for k, _ in tf.train.list_variables(path)] == paths
    other = kind(0.0)
    tf.train.Checkpoint(o=other).read(path).assert_consumed()
    first = other.variables[0] if kind is WithProperty else other._variables[0]
    assert float(first) == 2.0


def test_children_that_are_no_attributes(tmp_path):
    parent = Thing()
    parent._track_trackable(var(1.0), "child")
    text = says(ValueError, lambda: parent._track_trackable(var(2.0), "child"))
    assert text == "Trackable: there is another child named 'child'."
    path = tf.train.Checkpoint(p=parent).write(tmp_path / "ckpt")
    other = Thing()
    tf.train.Checkpoint(p=other).read(path)
    late = other._track_trackable(var(0.0), "child")
    assert float(late) == 1.0
    other.child = 3
    assert other._trackable_children() == {}


def test_whole_numbers_are_keys_too(tmp_path):
    checkpoint = tf.train.Checkpoint(d={0: var(1.0), 10: [var(2.0)]})
    path = checkpoint.write(tmp_path / "ckpt")
    checkpoint.read(path).assert_consumed()
    assert [k.partition("/.A")[0] for k, _ in tf.train.list_variables(path)] == ["d/0", "d/10/0"]
    twice = tf.train.Checkpoint(d={1: var(1.0), "1": var(1.0)})
    text = says(ValueError, lambda: twice.write(path))
    assert text == "Checkpoint: a dict has two keys that are written '1'."
    odd = tf.train.Checkpoint(d={(1, 2): [var(1.0)]})
    assert says(ValueError, lambda: odd.write(path)) == (
        "Checkpoint: the keys of a dict that holds variables must be strings or whole numbers; "
        "got (1, 2)."
    )


def test_lists_that_hold_themselves(tmp_path):
    knot: list[Any] = [var(1.0)]
    knot.append(knot)
    checkpoint = tf.train.Checkpoint(l=knot, d={(1, 2): [3]})
    checkpoint.read(checkpoint.write(tmp_path / "ckpt")).assert_consumed()


# --- the rest of the faces


def test_messages_of_arguments(tmp_path):
    model = Thing(w=var(1.0))
    for call, text in (
        (lambda: tf.train.Checkpoint(a=3),
         "Checkpoint: `a` must be a variable, a module, or another object with state; got 3."),
        (lambda: tf.train.Checkpoint(model.w),
         "Checkpoint: `root` must be a module or another object with children; got float32[]. "
         "Give other things a name, as in Checkpoint(v=...)."),
        (lambda: tf.train.Checkpoint(model, w=var(1.0)),
         "Checkpoint: `root` has another child named 'w'."),
        (lambda: tf.train.CheckpointManager(tf.train.Checkpoint(), tmp_path, 0),
         "CheckpointManager: `max_to_keep` must be a positive whole number or None; got 0."),
        (lambda: tf.train.CheckpointManager(tf.train.Checkpoint(), tmp_path, 1, checkpoint_interval=2),
         "CheckpointManager: `checkpoint_interval` needs `step_counter`."),
        (lambda: tf.train.load_checkpoint(tmp_path),
         f"load_checkpoint: there is no checkpoint in the folder {tmp_path}."),
    ):  # fmt: skip
        assert says(ValueError, call) == text
    text = says(TypeError, lambda: tf.train.Checkpoint(model).save(3))
    assert text == "Checkpoint.save: a path is a string or a path object; got 3."


def test_options(tmp_path):
    calls: list[Any] = []
    options = tf.train.CheckpointOptions(
        experimental_write_callbacks=[calls.append, lambda: calls.append("done")]
    )
    path = tf.train.Checkpoint(v=var(1.0)).save(tmp_path / "ckpt", options)
    assert calls == [path, "done"]
    assert tf.train.CheckpointOptions(enable_async=True).experimental_enable_async_checkpoint
    with pytest.raises(NotImplementedError, match="a checkpoint is one file, without sharding"):
        tf.train.CheckpointOptions(experimental_sharding_callback=print)


@pytest.mark.parametrize("call", ["save", "write", "read", "restore"])
def test_not_inside_a_traced_function(call, tmp_path):
    checkpoint = tf.train.Checkpoint(v=var(1.0))
    path = checkpoint.save(tmp_path / "ckpt")

    @tf.function
    def f() -> Any:
        getattr(checkpoint, call)(path)
        return tf.constant(1)

    with pytest.raises(NotImplementedError, match=f"^Checkpoint.{call}: a checkpoint is not"):
        f()
    assert int(checkpoint.save_counter) == 1

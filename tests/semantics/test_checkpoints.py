"""What `tf.train.Checkpoint` and its kin do: keys, matching, late variables, and what is kept.

The format of the files differs between libraries; nothing here looks into them but through
`tf.train`.
"""

import collections
import os
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.semantics.api import check, refuses, tf

SUFFIX = "/.ATTRIBUTES/VARIABLE_VALUE"


class Thing(tf.Module):
    """A module with whatever attributes it is given."""

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...

    def __init__(self, **attributes):
        super().__init__()
        for name, value in attributes.items():
            setattr(self, name, value)


def var(value, **options):
    return tf.Variable(value, **options)


def keys(path):
    found = [k for k, _ in tf.train.list_variables(path)]
    return [k.removesuffix(SUFFIX) for k in found if k != "_CHECKPOINTABLE_OBJECT_GRAPH"]


@pytest.fixture
def prefix(tmp_path):
    return str(tmp_path / "run" / "ckpt")


# --- keys


def test_keys_are_paths(prefix):
    pair = collections.namedtuple("pair", "x y")
    layers = [Thing(w=var(1.0), b=var(0.0)), Thing(w=var(2.0), b=var(0.0))]
    model = Thing(
        layers=layers,
        table={"a": var(1), "b/c": Thing(w=var(1.0))},
        one=(var(2.0),),
        pair=pair(var(1.0), var(2.0)),
        _private=var(9.0),
        alias=layers[0],
        nest={"k": [var(5.0), {"z": var(6.0)}]},
        constant=tf.constant(3.0),
        number=3,
    )
    path = tf.train.Checkpoint(model=model, step=var(7)).save(prefix)
    assert keys(path) == [
        "model/_private", "model/alias/b", "model/alias/w", "model/layers/1/b",
        "model/layers/1/w", "model/nest/k/0", "model/nest/k/1/z", "model/one/0", "model/pair/x",
        "model/pair/y", "model/table/a", "model/table/b.Sc/w", "save_counter", "step",
    ]  # fmt: skip


def test_dots_and_slashes_are_escaped(prefix):
    path = tf.train.Checkpoint(d={"a.b": var(1.0), "c/d.e": var(2.0)}).write(prefix)
    assert keys(path) == ["d/a..b", "d/c.Sd..e"]


def test_a_root_has_no_name(prefix):
    checkpoint = tf.train.Checkpoint(Thing(w=var(1.0)), extra=var(2.0))
    assert keys(checkpoint.write(prefix)) == ["extra", "w"]
    assert keys(checkpoint.save(prefix)) == ["extra", "save_counter", "w"]


def test_cycles_and_checkpoints_inside_checkpoints(prefix):
    child = Thing(u=var(2.0))
    parent = Thing(w=var(1.0), child=child)
    child.parent = parent
    parent.itself = parent
    inner = tf.train.Checkpoint(z=var(1.0))
    inner.save(prefix)
    path = tf.train.Checkpoint(d=parent, inner=inner).write(prefix)
    assert keys(path) == ["d/child/u", "d/w", "inner/save_counter", "inner/z"]


def test_a_generator_has_state(prefix):
    generator = tf.random.Generator.from_seed(3)
    checkpoint = tf.train.Checkpoint(g=generator)
    path = checkpoint.write(prefix)
    assert keys(path) == ["g/_state_var"]
    first = generator.normal([3]).numpy()
    checkpoint.read(path).assert_consumed()
    check(generator.normal([3]), first)


@pytest.mark.parametrize("value", [3, "a", None, 1.5], ids=repr)
def test_what_has_no_state_is_refused(value):
    with refuses(ValueError):
        tf.train.Checkpoint(a=value)
    if value is not None:
        with refuses(ValueError):
            tf.train.Checkpoint(value)


def test_two_children_of_one_name_are_refused():
    model = Thing(w=var(1.0))
    with refuses(ValueError):
        tf.train.Checkpoint(model, w=var(2.0))
    tf.train.Checkpoint(model, w=model.w)


def test_a_dict_that_holds_variables_under_odd_keys_is_refused(prefix):
    with refuses(ValueError):
        tf.train.Checkpoint(d={(1, 2): var(1.0)}).write(prefix)
    path = tf.train.Checkpoint(d={(1, 2): 5, "a": var(1.0)}).write(prefix)
    assert keys(path) == ["d/a"]


# --- saving and reading


def test_numbers_of_saves(prefix):
    checkpoint = tf.train.Checkpoint(v=var(1.0))
    assert checkpoint.save(prefix) == f"{prefix}-1"
    assert checkpoint.save(prefix) == f"{prefix}-2"
    counter = checkpoint.save_counter
    assert (int(counter), counter.dtype, counter.trainable) == (2, tf.int64, False)
    assert counter.name == "save_counter:0"
    assert tf.train.latest_checkpoint(os.path.dirname(prefix)) == f"{prefix}-2"
    again = tf.train.Checkpoint(v=var(1.0))
    again.restore(f"{prefix}-2").assert_consumed()
    assert again.save(prefix) == f"{prefix}-3"


def test_write_has_no_number_and_is_not_the_latest(prefix):
    checkpoint = tf.train.Checkpoint(v=var(1.0))
    assert checkpoint.write(prefix) == prefix
    assert tf.train.latest_checkpoint(os.path.dirname(prefix)) is None
    assert keys(prefix) == ["v"]


def test_paths_may_be_path_objects(tmp_path):
    checkpoint = tf.train.Checkpoint(v=var(1.0))
    path = checkpoint.save(tmp_path / "ckpt")
    assert path == str(tmp_path / "ckpt-1")
    checkpoint.restore(tmp_path / "ckpt-1").assert_consumed()


def test_state_of_a_folder(tmp_path):
    checkpoint = tf.train.Checkpoint(v=var(1.0))
    assert tf.train.get_checkpoint_state(tmp_path) is None
    checkpoint.save(tmp_path / "ckpt")
    checkpoint.save(tmp_path / "ckpt")
    state = tf.train.get_checkpoint_state(tmp_path)
    assert state.model_checkpoint_path == str(tmp_path / "ckpt-2")
    assert list(state.all_model_checkpoint_paths) == [str(tmp_path / "ckpt-2")]
    assert (tmp_path / "checkpoint").read_text() == (
        'model_checkpoint_path: "ckpt-2"\nall_model_checkpoint_paths: "ckpt-2"\n'
    )


def test_the_latest_of_a_folder_that_lies(tmp_path):
    assert tf.train.latest_checkpoint(tmp_path / "nothing") is None
    (tmp_path / "checkpoint").write_text("nonsense {")
    assert tf.train.latest_checkpoint(str(tmp_path)) is None
    (tmp_path / "checkpoint").write_text('model_checkpoint_path: "gone-1"\n')
    assert tf.train.latest_checkpoint(str(tmp_path)) is None


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        ([1.5, -2.0], "float32"),
        ([1.5, -2.0], "float64"),
        (1.5, "float16"),
        ([[1.5], [2.5]], "bfloat16"),
        ([True, False], "bool"),
        (-3, "int8"),
        ([2**40], "int64"),
        ([250], "uint8"),
        ([1 + 2j, 3 - 1j], "complex64"),
        (1 + 2j, "complex128"),
        (["a", "bc", ""], "string"),
        ("one", "string"),
        (np.zeros([0, 3]), "float32"),
    ],
)
def test_every_dtype_comes_back(value, dtype, prefix):
    v = var(value, dtype=dtype)
    before = v.numpy()
    checkpoint = tf.train.Checkpoint(v=v)
    path = checkpoint.write(prefix)
    v.assign(tf.zeros_like(v) if dtype != "string" else tf.strings.join([v, "x"]))
    checkpoint.read(path).assert_consumed()
    assert np.array_equal(v.numpy(), before)
    loaded = tf.train.load_variable(path, f"v{SUFFIX}")
    assert np.array_equal(loaded, before)
    assert np.shape(loaded) == np.shape(before)
    reader = tf.train.load_checkpoint(path)
    assert reader.get_variable_to_dtype_map()[f"v{SUFFIX}"] == tf.as_dtype(dtype)
    assert reader.get_variable_to_shape_map()[f"v{SUFFIX}"] == list(np.shape(before))


def test_reading_by_key(prefix):
    path = tf.train.Checkpoint(v=var([1.0, 2.0])).save(prefix)
    assert tf.train.load_variable(path, f"save_counter{SUFFIX}") == 1
    assert keys(os.path.dirname(prefix)) == ["save_counter", "v"]
    reader = tf.train.load_checkpoint(os.path.dirname(prefix))
    assert reader.has_tensor(f"v{SUFFIX}")
    assert not reader.has_tensor("v")
    check(reader.get_tensor(f"v{SUFFIX}"), [1.0, 2.0])
    with pytest.raises(tf.errors.NotFoundError):
        reader.get_tensor("v")
    with pytest.raises(tf.errors.NotFoundError):
        tf.train.load_variable(path, "nothing")


def test_missing_files(tmp_path):
    checkpoint = tf.train.Checkpoint(v=var(1.0))
    missing = str(tmp_path / "nothing")
    for look in (
        checkpoint.restore,
        checkpoint.read,
        tf.train.load_checkpoint,
        tf.train.list_variables,
    ):
        with pytest.raises(tf.errors.NotFoundError):
            look(missing)
    with refuses(ValueError):
        tf.train.load_checkpoint(str(tmp_path))


# --- restoring


def saved(prefix, **attributes):
    return tf.train.Checkpoint(m=Thing(**attributes)).save(prefix)


def test_part_of_a_checkpoint(prefix):
    path = saved(prefix, w=var([1.0, 2.0]), b=var(3.0))
    model = Thing(w=var([0.0, 0.0]))
    checkpoint = tf.train.Checkpoint(m=model)
    status = checkpoint.restore(path)
    check(model.w, [1.0, 2.0])
    assert int(checkpoint.save_counter) == 1
    assert status.assert_existing_objects_matched() is status
    assert status.assert_nontrivial_match() is status
    with pytest.raises(AssertionError):
        status.assert_consumed()
    assert status.expect_partial() is status


def test_more_than_the_checkpoint(prefix):
    path = saved(prefix, w=var(1.0))
    model = Thing(w=var(0.0), extra=var(5.0))
    status = tf.train.Checkpoint(m=model).restore(path)
    check((model.w, model.extra), (1.0, 5.0))
    for insist in (status.assert_consumed, status.assert_existing_objects_matched):
        with pytest.raises(AssertionError):
            insist()


@pytest.mark.parametrize("extra", [lambda: Thing(), list, lambda: [3], lambda: {"a": 3}])
def test_what_is_empty_need_not_match(extra, prefix):
    path = saved(prefix, w=var(1.0))
    status = tf.train.Checkpoint(m=Thing(w=var(0.0), extra=extra())).restore(path)
    status.assert_consumed()


def test_nothing_matches(prefix):
    path = saved(prefix, w=var(1.0))
    status = tf.train.Checkpoint(other=var(1.0)).read(path).expect_partial()
    with pytest.raises(AssertionError):
        status.assert_nontrivial_match()
    # The counter of saves counts as a match.
    tf.train.Checkpoint(other=var(1.0)).restore(path).expect_partial().assert_nontrivial_match()


def test_restore_of_none():
    status = tf.train.Checkpoint(v=var(1.0)).restore(None)
    assert status.expect_partial() is status
    assert status.initialize_or_restore() is None
    for insist in (
        status.assert_consumed,
        status.assert_existing_objects_matched,
        status.assert_nontrivial_match,
        status.run_restore_ops,
    ):
        with pytest.raises(AssertionError):
            insist()


def test_read_and_restore_differ_by_the_counter(prefix):
    model = Thing(w=var(1.0))
    written = tf.train.Checkpoint(m=model).write(prefix)
    tf.train.Checkpoint(m=model).read(written).assert_consumed()
    with pytest.raises(AssertionError):
        tf.train.Checkpoint(m=model).restore(written).assert_consumed()
    path = tf.train.Checkpoint(m=model).save(prefix)
    tf.train.Checkpoint(m=model).restore(path).assert_consumed()
    with pytest.raises(AssertionError):
        tf.train.Checkpoint(m=model).read(path).expect_partial().assert_consumed()


def test_another_shape_or_dtype_is_refused(prefix):
    path = saved(prefix, w=var([1.0, 2.0]), x=var(3.0))
    for w, x, error in (
        (var([0.0] * 3), var(0.0), ValueError),
        (var([0.0] * 2), var(0), tf.errors.InvalidArgumentError),
    ):
        with pytest.raises(error):
            tf.train.Checkpoint(m=Thing(w=w, x=x)).restore(path).expect_partial()


def test_an_open_shape_takes_what_fits(prefix):
    path = saved(prefix, w=var([1.0, 2.0]))
    model = Thing(w=var([0.0] * 3, shape=tf.TensorShape([None])))
    tf.train.Checkpoint(m=model).restore(path).assert_consumed()
    check(model.w, [1.0, 2.0])


def test_one_object_with_two_names(prefix):
    shared = var(4.0)
    path = saved(prefix, u=shared, v=shared)
    assert keys(path) == ["m/u", "save_counter"]
    model = Thing(v=var(0.0))
    tf.train.Checkpoint(m=model).restore(path).expect_partial()
    check(model.v, 4.0)
    model = Thing(u=var(0.0), v=var(1.0))
    status = tf.train.Checkpoint(m=model).restore(path).expect_partial()
    check((model.u, model.v), (4.0, 1.0))
    with pytest.raises(AssertionError):
        status.assert_existing_objects_matched()


def test_two_objects_that_became_one(prefix):
    path = saved(prefix, u=var(4.0), v=var(5.0))
    shared = var(0.0)
    tf.train.Checkpoint(m=Thing(u=shared, v=shared)).restore(path).assert_consumed()
    check(shared, 4.0)


# --- variables that come later


def test_a_late_variable_gets_its_value(prefix):
    path = saved(prefix, w=var([1.0, 2.0]), b=var(3.0))
    model = Thing()
    checkpoint = tf.train.Checkpoint(m=model)
    status = checkpoint.restore(path)
    model.w = var([0.0, 0.0])
    check(model.w, [1.0, 2.0])
    with pytest.raises(AssertionError):
        status.assert_consumed()
    model.b = var(0.0)
    check(model.b, 3.0)
    status.assert_consumed()
    # A value is given once.
    model.b = var(7.0)
    check(model.b, 7.0)


def test_a_late_module_gets_its_values(prefix):
    path = saved(prefix, layer=Thing(w=var(1.0), inner=Thing(b=var(2.0))))
    model = Thing()
    status = tf.train.Checkpoint(m=model).restore(path)
    model.layer = Thing(w=var(0.0))
    check(model.layer.w, 1.0)
    model.layer.inner = Thing()
    model.layer.inner.b = var(0.0)
    check(model.layer.inner.b, 2.0)
    status.assert_consumed()


def test_late_lists_and_dicts(prefix):
    path = saved(prefix, l=[Thing(w=var(1.0)), Thing(w=var(2.0))], d={"x": var(3.0)})
    model = Thing()
    status = tf.train.Checkpoint(m=model).restore(path)
    model.l = [Thing(), Thing(w=var(0.0))]
    check(model.l[1].w, 2.0)
    model.l[0].w = var(0.0)
    check(model.l[0].w, 1.0)
    model.d = {"x": var(0.0)}
    check(model.d["x"], 3.0)
    status.assert_consumed()


def test_late_objects_of_a_checkpoint(prefix):
    path = tf.train.Checkpoint(a=var(1.0), b=Thing(w=var(2.0))).save(prefix)
    checkpoint = tf.train.Checkpoint()
    status = checkpoint.restore(path)
    checkpoint.a = var(0.0)
    checkpoint.b = Thing(w=var(0.0))
    check((checkpoint.a, checkpoint.b.w), (1.0, 2.0))
    status.assert_consumed()


def test_a_late_variable_of_another_shape_is_refused(prefix):
    path = saved(prefix, w=var([1.0, 2.0]))
    model = Thing()
    status = tf.train.Checkpoint(m=model).restore(path)
    with refuses(ValueError):
        model.w = var([0.0] * 3)
    assert not hasattr(model, "w")
    status.expect_partial()


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_the_last_restore_counts(order, tmp_path):
    paths = [saved(tmp_path / n, w=var(float(i))) for i, n in enumerate("ab")]
    model = Thing()
    checkpoint = tf.train.Checkpoint(m=model)
    for i in order:
        checkpoint.restore(paths[i]).expect_partial()
    model.w = var(9.0)
    check(model.w, float(order[-1]))


# --- the manager


def manager(folder, keep, **options):
    checkpoint = tf.train.Checkpoint(v=var(1.0))
    return tf.train.CheckpointManager(checkpoint, folder, keep, **options)


def names(m):
    return [os.path.basename(p) for p in m.checkpoints]


def there(folder):
    found = {n.split(".")[0] for n in os.listdir(folder)}
    return sorted(found, key=lambda n: (len(n), n))


@pytest.mark.parametrize("keep", [0, -1])
def test_keeping_none_is_refused(keep, tmp_path):
    with refuses(ValueError):
        manager(tmp_path, keep)


def test_an_interval_needs_a_counter(tmp_path):
    with refuses(ValueError):
        manager(tmp_path, 2, checkpoint_interval=2)


def test_the_newest_are_kept(tmp_path):
    folder = str(tmp_path / "run")
    m = manager(folder, 2)
    assert (m.latest_checkpoint, m.checkpoints, m.directory) == (None, [], folder)
    assert not os.path.exists(folder)
    saved_paths = [m.save() for _ in range(3)]
    assert saved_paths == [f"{folder}/ckpt-{i}" for i in (1, 2, 3)]
    assert names(m) == ["ckpt-2", "ckpt-3"]
    assert there(folder) == ["ckpt-2", "ckpt-3", "checkpoint"]
    assert m.latest_checkpoint == tf.train.latest_checkpoint(folder) == f"{folder}/ckpt-3"
    # Another manager goes on where this one was.
    again = manager(folder, 1)
    assert names(again) == ["ckpt-2", "ckpt-3"]
    assert again.restore_or_initialize() == f"{folder}/ckpt-3"
    assert again.save() == f"{folder}/ckpt-4"
    assert there(folder) == ["ckpt-4", "checkpoint"]


def test_numbers_of_ones_own(tmp_path):
    m = manager(str(tmp_path), 2)
    m.save()
    assert m.save(checkpoint_number=10) == str(tmp_path / "ckpt-10")
    assert m.save(checkpoint_number=var(20)) == str(tmp_path / "ckpt-20")
    assert int(m.checkpoint.save_counter) == 3
    m.save(checkpoint_number=10)
    assert names(m) == ["ckpt-20", "ckpt-10"]


def test_all_are_kept(tmp_path):
    m = manager(str(tmp_path), None, checkpoint_name="model")
    for _ in range(3):
        m.save()
    assert names(m) == ["model-1", "model-2", "model-3"]
    assert names(manager(str(tmp_path), None)) == names(m)


def test_interval_and_first_values(tmp_path):
    step, calls = var(0), []
    options = {"step_counter": step, "checkpoint_interval": 2, "init_fn": lambda: calls.append(1)}
    m = manager(str(tmp_path), 5, **options)
    assert m.checkpoint_interval == 2
    assert m.restore_or_initialize() is None
    assert calls == [1]
    found = []
    for i in range(5):
        step.assign(i)
        found.append(m.save() is not None)
    assert found == [True, False, True, False, True]
    assert m.save(check_interval=False) is None  # this step is saved already
    step.assign(5)
    assert m.save() is None
    assert m.save(check_interval=False) is not None
    again = manager(str(tmp_path), 5, **options)
    assert again.restore_or_initialize() == m.latest_checkpoint
    assert calls == [1]
    assert again.save() is None


def test_state_that_is_no_variable(prefix):
    class Note(tf.train.experimental.PythonState):
        text = b"first"

        def serialize(self):
            return self.text

        def deserialize(self, string_value):
            self.text = string_value

    note = Note()
    checkpoint = tf.train.Checkpoint(note=note)
    path = checkpoint.write(prefix)
    assert keys(path) == ["note/.ATTRIBUTES/py_state"]
    note.text = b"second"
    checkpoint.read(path).assert_consumed()
    assert note.text == b"first"


# --- averages


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, [[1.0, 2.0], [1.1, 2.1], [1.29, 2.29]]),
        ({"zero_debias": True}, [[1.0, 2.0], [1.1, 2.1], [1.29, 2.29]]),
        ({"num_updates": 3}, [[1.0, 2.0], [1.6923077, 2.6923077], [2.5976331, 3.5976331]]),
    ],
)
def test_moving_average(options, expected):
    ema = tf.train.ExponentialMovingAverage(0.9, **options)
    w = var([1.0, 2.0], name="w")
    assert ema.average(w) is None
    for value in expected:
        assert ema.apply([w]) is None
        check(ema.average(w), value, tf.float32)
        w.assign_add([1.0, 1.0])
    assert not ema.average(w).trainable
    assert ema.average_name(w).startswith("w/ExponentialMovingAverage")
    for wrong in (var(1), tf.constant(1.0)):
        with pytest.raises(TypeError):
            ema.apply([wrong])


def test_a_view_of_the_objects():
    inner = Thing(w=var(1.0))
    outer = Thing(inner=inner)  # TensorFlow's view does not keep it alive
    view = tf.train.TrackableView(outer)
    assert [*view.children(view.root)] == ["inner"]
    assert [type(x).__name__ for x in view.descendants()][:2] == ["Thing", "Thing"]
    assert any(x is inner.w for x in view.descendants())

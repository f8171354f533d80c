"""TensorFlow's inside names, as libraries find them below `tensorflow`."""

from __future__ import annotations

import sys
from collections import namedtuple
from importlib import import_module
from typing import Any

import numpy as np
import pytest

import wengert as tf
from wengert.internals import dispatch, nests, tracking
from wengert.internals.modules import _modules, holds
from wengert.internals.table import INSIDE
from wengert.keras_glue.alias import as_tensorflow

NAMES = [(m, n, place) for m, names in _modules().items() for n, place in names.items()]
Pair = namedtuple("Pair", "x y")


def test_the_table_names_what_is_there():
    for module, name, (home, inner) in NAMES:
        assert inner == "*" or hasattr(import_module(home), inner), f"{module}.{name}"


def test_modules_are_found_and_others_are_refused_in_words():
    with as_tensorflow():
        for name in INSIDE:
            if name and not name.startswith(("distribute.", "__operators__")):
                assert import_module(f"tensorflow.{name}")
        from tensorflow.python.util import nest  # type: ignore[import-not-found]

        assert nest.flatten_up_to([0, 0], [[1], 2]) == [[1], 2]
        with pytest.raises(ImportError, match=r"`tensorflow.python` is TensorFlow's inside"):
            import_module("tensorflow.python.no_such_thing")
        with pytest.raises(ImportError, match=r"`tensorflow.core` is TensorFlow's inside"):
            import_module("tensorflow.core.no_such_thing")
        with pytest.raises(AttributeError, match=r"no `tensorflow.python.util.nest.no_such_name`"):
            _ = nest.no_such_name


def test_what_is_only_refused_does_not_count_as_there():
    assert holds("python.util.nest.flatten_up_to") and holds("python.util")
    assert not holds("compat.v1.get_variable") and not holds("python.util.nest.no_such_name")


# Values recorded from TensorFlow 2.21.
DEEP = {"b": [1, (2, 3)], "a": Pair(4, {"c": 5})}


def test_walks_up_to_another_structure():
    shallow = {"b": [0, 0], "a": 0}
    assert nests.flatten_up_to(shallow, DEEP) == [Pair(4, {"c": 5}), 1, (2, 3)]
    mapped = nests.map_structure_up_to(shallow, lambda x: type(x).__name__, DEEP)
    assert mapped == {"b": ["int", "tuple"], "a": "Pair"}
    assert nests.flatten_with_tuple_paths(DEEP) == [
        (("a", "x"), 4), (("a", "y", "c"), 5), (("b", 0), 1), (("b", 1, 0), 2), (("b", 1, 1), 3)
    ]  # fmt: skip
    assert nests.flatten_with_joined_string_paths(DEEP)[1] == ("a/y/c", 5)
    paths = nests.map_structure_with_tuple_paths(lambda path, x: (len(path), x), [1, [2]])
    assert paths == [(1, 1), [(2, 2)]]
    assert nests.list_to_tuple([1, {"a": [2]}]) == (1, {"a": (2,)})
    assert nests.flatten_dict_items({(4, 5): (1, 2)}) == {4: 1, 5: 2}
    top = nests.get_traverse_shallow_structure(lambda s: isinstance(s, dict | list), DEEP)
    assert top == {"b": [False, False], "a": False}


@pytest.mark.parametrize(
    ("shallow", "deep", "kind", "text"),
    [
        ([1], 2, TypeError, "input must also be a sequence"),
        ([1], (2,), TypeError, "the same sequence type"),
        ([1, 2], [1], ValueError, "the same sequence length"),
        ({"a": 1}, {"b": 1}, ValueError, "the same keys"),
    ],
)
def test_structures_that_differ(shallow: Any, deep: Any, kind: Any, text: str):
    with pytest.raises(kind, match=text):
        nests.assert_shallow_structure(shallow, deep)


def test_creators_make_variables_in_their_block():
    calls: list[str] = []

    def creator(name: str) -> Any:
        def make(next_creator: Any, **kwargs: Any) -> Any:
            calls.append(f"{name} {kwargs['name']} {kwargs['trainable']}")
            return next_creator(**{**kwargs, "trainable": False})

        return make

    with tf.variable_creator_scope(creator("outer")), tf.variable_creator_scope(creator("inner")):
        v = tf.Variable(1.0, name="v")
    assert calls == ["inner v None", "outer v False"]
    assert not v.trainable and tf.Variable(1.0).trainable
    with tf.variable_creator_scope(lambda next_creator, **kwargs: v):
        assert tf.Variable(2.0) is v
    assert float(v) == 1.0
    with pytest.raises(TypeError, match="a function"):
        tf.variable_creator_scope(1)  # pyright: ignore[reportArgumentType]


def test_modules_flatten_as_tensorflow_does():
    class M(tf.Module):
        _TF_MODULE_IGNORED_PROPERTIES = tf.Module._TF_MODULE_IGNORED_PROPERTIES | {"hidden"}

        def __init__(self) -> None:
            super().__init__()
            self.b, self.a = tf.Variable(1.0), [tf.Variable(2.0), {"k": 3}]
            self.hidden = tf.Variable(4.0)

    outer = M()
    outer.inner = M()  # type: ignore[attr-defined]
    assert [float(v) for v in outer.variables] == [2.0, 1.0, 2.0, 1.0]
    found = [path for path, _ in outer._flatten(predicate=_is_three, with_path=True)]
    assert found == [("a", 1, "k"), ("inner", "a", 1, "k")]
    assert [*outer._flatten(recursive=False, predicate=_is_three)] == [3]


def _is_three(x: Any) -> bool:
    return isinstance(x, int) and x == 3


def test_containers_of_layers_show_what_is_in_them():
    v, w = tf.Variable(1.0), tf.Variable(2.0, trainable=False)
    wrapped: Any = tracking.wrap([v, {"w": [w]}])
    assert type(wrapped) is tracking.ListWrapper and wrapped[0] is v
    assert wrapped.trainable_weights[0] is v and wrapped.non_trainable_weights[0] is w
    assert type(tracking.wrap((1,))) is tracking.TupleWrapper and tracking.wrap(3) == 3


def test_dispatchers_answer_where_a_function_fails():
    class Symbol:
        pass

    class Answer(dispatch.OpDispatcher):
        def handle(self, args: Any, kwargs: Any) -> Any:
            return "answered" if isinstance(args[0], Symbol) else self.NOT_SUPPORTED

    def negated(x: Any) -> Any:
        return -x

    function: Any = dispatch.dispatching(negated)
    Answer().register(negated)
    assert function(Symbol()) == "answered" and function(2) == -2
    with pytest.raises(TypeError):
        function("text")


def test_checkpoints_take_a_weak_reference(tmp_path: Any):
    import weakref

    module = tf.Module()
    module.v = tf.Variable(3.0)  # type: ignore[attr-defined]
    path = tf.train.Checkpoint(root=weakref.ref(module)).write(str(tmp_path / "c"))
    other = tf.Module()
    other.v = tf.Variable(0.0)  # type: ignore[attr-defined]
    tf.train.Checkpoint(root=other).read(path).assert_consumed()
    assert float(other.v) == 3.0  # type: ignore[attr-defined]


def test_truncated_normal_numbers_with_limits_of_their_own():
    x = tf.random.stateless_parameterized_truncated_normal(
        [4000, 2], [1, 2], [0.0, 5.0], [1.0, 2.0], [-1.0, 11.0], [0.5, 12.0]
    ).numpy()
    assert ((x >= [-1.0, 11.0]) & (x <= [0.5, 12.0])).all()
    # The means that TensorFlow's numbers have.
    assert np.allclose(x.mean(0), [-0.206, 11.370], atol=0.02)


def test_raw_operations_that_libraries_call():
    raw = tf.raw_ops
    a, b = raw.BroadcastGradientArgs(s0=[2, 1, 3], s1=[4, 1])
    assert (a.numpy().tolist(), b.numpy().tolist()) == ([1], [0, 2])
    assert np.isclose(raw.IgammaGradA(a=2.0, x=1.5).numpy(), -0.31349, atol=1e-4)
    assert np.isclose(raw.RandomGammaGrad(alpha=2.0, sample=1.5).numpy(), 0.93664, atol=1e-4)
    parts = raw.MatrixDiagPartV2(input=[[1.0, 2.0], [3.0, 4.0]], k=[0, 1], padding_value=9.0)
    assert parts.numpy().tolist() == [[2.0, 9.0], [1.0, 4.0]]


def test_nothing_is_loaded_before_it_is_touched():
    import subprocess

    code = "import wengert, sys; print(any(m.startswith('wengert.internals') for m in sys.modules))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "False"


def test_names_of_devices():
    spec = tf.DeviceSpec.from_string("/job:worker/replica:1/task:2/device:gpu:3")
    assert (spec.job, spec.replica, spec.task) == ("worker", 1, 2)
    assert spec.to_string() == "/job:worker/replica:1/task:2/device:GPU:3"
    assert tf.DeviceSpec(device_type="CPU").to_string() == "/device:CPU:*"
    merged = tf.DeviceSpec(job="a", device_type="CPU").make_merged_spec(spec.replace(job=None))
    assert merged.to_string() == "/job:a/replica:1/task:2/device:GPU:3"
    with pytest.raises(ValueError, match="not the name of a device"):
        tf.DeviceSpec.from_string("GPU 3")


def test_sizes_of_tensorflow_1_are_numbers():
    three: Any = (tf.TensorShape([3, None]).dims or [])[0]
    assert (three - 1, 1 - three, three * 2, three // 2) == (2, -2, 6, 1)
    assert three > 2 and three >= 3 and not three < 3
    assert tf.compat.dimension_value(three) == 3


def test_optimizers_of_keras_2_update_by_raw_operations():
    raw = tf.raw_ops
    v, m = tf.Variable([1.0, 2.0]), tf.Variable([0.0, 0.5])
    raw.ResourceApplyKerasMomentum(
        var=v, accum=m, lr=0.1, grad=[1.0, -1.0], momentum=0.9, use_nesterov=True
    )
    assert np.allclose(v.numpy(), [0.81, 2.595]) and np.allclose(m.numpy(), [-0.1, 0.55])
    w, a = tf.Variable([[1.0], [2.0], [3.0]]), tf.Variable([[0.1], [0.1], [0.1]])
    raw.ResourceSparseApplyAdagradV2(
        var=w, accum=a, lr=0.1, epsilon=1e-7, grad=[[1.0], [2.0]], indices=[2, 0]
    )
    assert np.allclose(w.numpy(), [[0.901236], [2.0], [2.904654]], atol=1e-5)


def test_fused_batch_normalisation_keeps_unbiased_statistics():
    x = tf.reshape(tf.range(12.0), [3, 2, 1, 2])
    y, mean, variance = tf.compat.v1.nn.fused_batch_norm(x, [1.0, 2.0], [0.0, 1.0])
    assert np.allclose(mean.numpy(), [5.0, 6.0]) and np.allclose(variance.numpy(), [14.0, 14.0])
    assert np.allclose(y.numpy()[0, 0, 0], [-1.463784, -1.927567], atol=1e-4)
    again = tf.raw_ops.FusedBatchNormV2(
        x=x, scale=[1.0, 2.0], offset=[0.0, 1.0], mean=mean, variance=variance, is_training=False
    )
    assert np.allclose(again.y.numpy()[0, 0, 0], [-1.336306, -1.672612], atol=1e-3)


def test_packages_that_cannot_run_say_so_and_name_another(tmp_path: Any, monkeypatch: Any):
    import importlib.util

    (tmp_path / "tensorflow_text.py").write_text("raise OSError('undefined symbol')\n")
    monkeypatch.syspath_prepend(tmp_path)
    with as_tensorflow():
        assert importlib.util.find_spec("tensorflow_text") is not None
        with pytest.raises(ImportError, match=r"cannot run on Wengert, since.*Use tf\.strings"):
            import_module("tensorflow_text")
        with pytest.raises(ModuleNotFoundError, match="No module named 'tf2onnx'"):
            import_module("tf2onnx")

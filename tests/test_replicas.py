"""Replicas in one process: collectives, mirrored variables, the lowerings, what fails."""

import copy
import importlib
import itertools
import sys
from typing import Any

import numpy as np
import pytest

import wengert as tf
from wengert.distribute.strategies import Strategy
from wengert.distribute.values import PerReplica
from wengert.engines.replica_sums import with_joined_sums

CPUS = tuple(f"/job:localhost/replica:0/task:0/device:CPU:{k}" for k in range(4))
SUM, MEAN = tf.distribute.ReduceOp.SUM, tf.distribute.ReduceOp.MEAN
ENGINES = ["host", "xla"]
rng = np.random.default_rng(7)
X = rng.normal(size=(32, 6)).astype("f")
Y = rng.normal(size=(32, 2)).astype("f")
STARTS = [rng.normal(size=s).astype("f") for s in [(6, 5), (5,), (5, 2), (2,)]]


@pytest.fixture
def strategy():
    return Strategy(CPUS)


def rows(array, sizes=None):
    if sizes is None:
        return PerReplica.of_rows(tf.reshape(array, [4, -1, *array.shape[1:]]))
    ends = np.cumsum([0, *sizes])
    return PerReplica([tf.constant(array[a:b]) for a, b in itertools.pairwise(ends)])


def plain(value):
    return [x.numpy().tolist() for x in value.values]


def context() -> Any:
    return tf.distribute.get_replica_context()


def three_ways(strategy, fn, args, **kwargs):
    """The results of `run` eagerly and in a function on both engines."""
    yield strategy.run(fn, args, kwargs)
    for name in ENGINES:
        with tf.engine(name):
            yield tf.function(lambda *a: strategy.run(fn, a, kwargs))(*args)


def meet(x):
    here = context()
    return {
        "id": here.replica_id_in_sync_group,
        "sum": here.all_reduce("SUM", x),
        "mean": here.all_reduce(MEAN, [x])[0],
        "all": here.all_gather(x, 0),
        "last": here.all_gather(tf.expand_dims(x, 0), -1),
    }


def test_collectives(strategy):
    x = np.arange(8.0, dtype="f")
    for result in three_ways(strategy, meet, (rows(x),)):
        assert plain(result["id"]) == [0, 1, 2, 3]
        assert plain(result["sum"]) == [[12.0, 16.0]] * 4
        assert plain(result["mean"]) == [[3.0, 4.0]] * 4
        assert plain(result["all"]) == [x.tolist()] * 4
        assert plain(result["last"]) == [[x.tolist()]] * 4


def test_collectives_of_uneven_replicas(strategy):
    x = np.arange(6.0, dtype="f")
    uneven = rows(x, [3, 2, 1, 0])

    def fn(x):
        return context().all_gather(x, 0), context().all_reduce(SUM, tf.reduce_sum(x)), x * 2

    for joined, total, twice in three_ways(strategy, fn, (uneven,)):
        assert plain(joined) == [x.tolist()] * 4
        assert plain(total) == [15.0] * 4
        assert plain(twice) == [[0.0, 2.0, 4.0], [6.0, 8.0], [10.0], []]


@pytest.mark.parametrize("sizes", [None, [5, 2, 1, 0]])
def test_gradients_of_collectives(strategy, sizes):
    """Of all_reduce an all_reduce, of all_gather the replica's part of one; and once more."""
    x = np.arange(1.0, 9.0, dtype="f")

    def fn(x):
        here = context()
        number = tf.cast(here.replica_id_in_sync_group, tf.float32) + 1.0
        weights = tf.range(1.0, 9.0)
        with tf.GradientTape(persistent=True) as outer:
            outer.watch(x)
            with tf.GradientTape(persistent=True) as tape:
                tape.watch(x)
                total = number * here.all_reduce(SUM, tf.reduce_sum(x * x))
                mean = number * here.all_reduce(MEAN, tf.reduce_sum(x))
                joined = number * tf.reduce_sum(weights * here.all_gather(x, 0) ** 3)
            grads = [tape.gradient(y, x) for y in (total, mean, joined)]
            last = tf.reduce_sum(grads[2])
        return [*grads, outer.gradient(last, x)]

    for result in three_ways(strategy, fn, (rows(x, sizes),)):
        flat = [np.concatenate(plain(r)) for r in result]
        np.testing.assert_allclose(flat[0], 10 * 2 * x)
        np.testing.assert_allclose(flat[1], np.full(8, 2.5))
        np.testing.assert_allclose(flat[2], 10 * np.arange(1, 9) * 3 * x**2)
        np.testing.assert_allclose(flat[3], 10 * np.arange(1, 9) * 6 * x, rtol=1e-6)


def test_indexed_slices(strategy):
    def fn():
        number = context().replica_id_in_sync_group
        value = tf.IndexedSlices(
            tf.ones([1, 2]) * tf.cast(number + 1, tf.float32), [number % 2], tf.constant([3, 2])
        )
        total = context().all_reduce(SUM, value)
        assert isinstance(total, tf.IndexedSlices)
        return tf.convert_to_tensor(total), value

    for dense, slices in three_ways(strategy, fn, ()):
        assert plain(dense)[0] == [[4.0, 4.0], [6.0, 6.0], [0.0, 0.0]]
        mean = strategy.reduce(MEAN, slices, axis=None)
        assert tf.convert_to_tensor(mean).numpy()[:, 0].tolist() == [1.0, 1.5, 0.0]


def loss_of(weights, x, y):
    h = tf.nn.tanh(x @ weights[0] + weights[1])
    return tf.reduce_sum((h @ weights[2] + weights[3] - y) ** 2) / len(X)


@pytest.fixture(scope="module")
def trained():
    weights = [tf.Variable(w) for w in STARTS]
    for _ in range(3):
        with tf.GradientTape() as tape:
            loss = loss_of(weights, tf.constant(X), tf.constant(Y))
        for w, g in zip(weights, tape.gradient(loss, weights), strict=True):
            w.assign_sub(0.1 * g)
    return [w.numpy() for w in weights]


def make_step(weights):
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = loss_of(weights, x, y)
        grads = context().all_reduce(SUM, tape.gradient(loss, weights))
        for w, g in zip(weights, grads, strict=True):
            w.assign_sub(0.1 * g)
        return loss

    return step


@pytest.mark.parametrize("sizes", [None, [20, 8, 4, 0]])
@pytest.mark.parametrize("way", ["eager", "function", *ENGINES])
def test_a_step_is_that_of_one_device(strategy, trained, way, sizes):
    with strategy.scope():
        weights = [tf.Variable(w, aggregation=tf.VariableAggregation.MEAN) for w in STARTS]
    step = make_step(weights)
    x, y = rows(X, sizes), rows(Y, sizes)
    run = lambda x, y: strategy.reduce("SUM", strategy.run(step, (x, y)), axis=None)
    if way == "function":
        step = tf.function(step)
    elif way in ENGINES:
        run = tf.function(run)
    with tf.engine(way if way in ENGINES else None):
        losses = [float(run(x, y)) for _ in range(3)]
    assert losses[0] > losses[1] > losses[2]
    for w, wanted in zip(weights, trained, strict=True):
        np.testing.assert_allclose(w.numpy(), wanted, rtol=2e-5, atol=1e-6)


def test_functions_in_replicas_keep_their_traces(strategy):
    traces = []

    @tf.function
    def inner(x):
        traces.append(tf.distribute.get_replica_context())
        return context().all_reduce(SUM, x)

    for _ in range(3):
        assert plain(strategy.run(inner, (rows(np.ones(4, "f")),)))[0] == [4.0]
    assert len(traces) == 1
    assert inner(tf.constant(2.0)).numpy() == 2.0  # one replica, a trace of its own
    assert len(traces) == 2 == inner.experimental_get_tracing_count()


def test_the_graph_does_not_grow_with_replicas():
    counts = []
    for replicas in (2, 8, 64):
        strategy = Strategy(tuple(f"/device:CPU:{k}" for k in range(replicas)))
        x = PerReplica.of_rows(tf.ones([replicas, 2, 6]))
        y = PerReplica.of_rows(tf.ones([replicas, 2, 2]))
        with strategy.scope():
            weights = [tf.Variable(w) for w in STARTS]
        step = make_step(weights)
        run = tf.function(lambda x, y, s=strategy, f=step: s.run(f, (x, y)))
        counts.append(sum(1 for _ in run.get_concrete_function(x, y).graph.walk()))
    assert len(set(counts)) == 1


def test_random_numbers_differ_by_replica_and_repeat(strategy):
    def draws(engine):
        tf.random.set_seed(3)
        run = lambda: strategy.run(lambda: tf.random.uniform([2]))
        with tf.engine(engine):
            run = run if engine is None else tf.function(run)
            return [plain(run()), plain(run())]

    eager = draws(None)
    assert len({tuple(r) for call in eager for r in call}) == 8
    assert draws(None) == eager
    assert draws("host") == draws("xla")


def test_uniform_control_flow_around_collectives(strategy):
    def fn(x):
        total = context().all_reduce(SUM, tf.reduce_sum(x))
        if total > 0.0:
            y = context().all_reduce(SUM, x)
        else:
            y = tf.zeros([1])
        n = tf.constant(0)
        while tf.reduce_max(y) < 100.0:
            y = context().all_reduce(MEAN, y * 2.0)
            n += 1
        for _ in tf.range(2):
            y += context().all_reduce(SUM, tf.ones_like(x))
        return y, n

    for y, n in three_ways(strategy, fn, (rows(np.arange(1.0, 5.0, dtype="f")),)):
        assert plain(y) == [[168.0]] * 4
        assert plain(n) == [4] * 4


def test_control_flow_by_replica(strategy):
    def fn(x):
        y = x
        while tf.reduce_sum(y) < 10.0:
            y = y * 2.0
        return -y if tf.reduce_sum(x) > 2.5 else y

    for result in three_ways(strategy, fn, (rows(np.arange(1.0, 5.0, dtype="f")),)):
        assert plain(result) == [[16.0], [16.0], [-12.0], [-16.0]]


@pytest.mark.parametrize("loop", [False, True])
def test_a_collective_under_a_condition_of_its_replica(strategy, loop):
    def branch(x):
        if tf.reduce_sum(x) > 2.0:
            x = context().all_reduce(SUM, x)
        return x

    def turns(x):
        while tf.reduce_sum(x) < 10.0:
            x = context().all_reduce(SUM, x) + x
        return x

    with pytest.raises(ValueError, match="all replicas must come here") as caught:
        strategy.run(turns if loop else branch, (rows(np.arange(4.0, dtype="f")),))
    assert getattr(caught.value, "code", "") == "WG902"


def test_a_variable_without_aggregation(strategy):
    with strategy.scope():
        v = tf.Variable(1.0)

    def fn(x):
        v.assign(tf.reduce_sum(x))

    with pytest.raises(ValueError, match="no aggregation that makes them one") as caught:
        strategy.run(fn, (rows(np.arange(4.0, dtype="f")),))
    assert getattr(caught.value, "code", "") == "WG901" and v.numpy() == 1.0
    strategy.run(lambda: v.assign_add(2.0))  # the same in all
    assert v.numpy() == 3.0


def test_each_replica_adds_to_a_variable_of_no_strategy(strategy):
    v = tf.Variable(1.0)
    for _ in three_ways(strategy, lambda: [v.assign_add(1.0), None][1], ()):
        pass
    assert v.numpy() == 13.0  # three runs of four replicas


@pytest.mark.parametrize("engine", ENGINES)
def test_a_replica_that_fails_changes_nothing(strategy, engine):
    with strategy.scope():
        v = tf.Variable(1.0, aggregation=tf.VariableAggregation.SUM)

    @tf.function
    def step(i):
        def fn(i):
            v.assign_add(tf.gather(tf.range(3.0), i))

        strategy.run(fn, (i,))

    with tf.engine(engine):
        step(PerReplica.of_rows(tf.constant([0, 1, 2, 0])))
        assert v.numpy() == 4.0
        with pytest.raises(tf.errors.InvalidArgumentError, match="7"):
            step(PerReplica.of_rows(tf.constant([0, 1, 7, 0])))
        assert v.numpy() == 4.0


def test_merge_call(strategy):
    with strategy.scope():
        v = tf.Variable([0.0], aggregation=tf.VariableAggregation.MEAN)

    def update(between, x):
        assert tf.distribute.in_cross_replica_context() and context() is None
        total = between.reduce("SUM", x, axis=None)
        again = between.extended.reduce_to("MEAN", x, v)
        between.extended.update(v, lambda v, t: v.assign_add(t), args=(total,))
        return again, between.experimental_local_results(x)[1]

    def fn(x):
        return context().merge_call(update, args=(x,))

    for result in three_ways(strategy, fn, (rows(np.arange(4.0, dtype="f")),)):
        assert plain(result[0]) == [[1.5]] * 4 and plain(result[1]) == [[1.0]] * 4
    assert v.numpy().tolist() == [18.0]


def test_reduce(strategy):
    even = rows(np.arange(8.0, dtype="f").reshape(8, 1))
    uneven = rows(np.arange(6.0, dtype="f"), [3, 2, 1, 0])
    assert strategy.reduce("SUM", even, None).numpy().tolist() == [[12.0], [16.0]]
    assert strategy.reduce("mean", {"a": even}, None)["a"].numpy().tolist() == [[3.0], [4.0]]
    assert strategy.reduce(SUM, even, 0).numpy().tolist() == [28.0]
    assert strategy.reduce(MEAN, even, -1).numpy().tolist() == [3.0, 4.0]
    assert strategy.reduce(MEAN, even, (0, 1)).numpy() == 3.5
    assert strategy.reduce(MEAN, uneven, 0).numpy() == 2.5  # each element counts the same
    assert strategy.gather(uneven, 0).numpy().tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    assert (
        strategy.reduce(MEAN, PerReplica.of_rows(tf.constant([1, 2, 3, 5])), None).numpy() == 2.75
    )
    assert strategy.reduce("MEAN", 3.0, None).numpy() == 3.0
    with pytest.raises(ValueError, match="sum over 4 replicas"):
        strategy.reduce("SUM", 3.0, None)
    with pytest.raises(ValueError, match="`axis` 2 is out of range"):
        strategy.reduce("SUM", even, 2)
    with pytest.raises(ValueError, match="scalar has no axis"):
        strategy.gather(PerReplica.of_rows(tf.ones([4])), 0)


def test_results_keep_their_structure(strategy):
    v = tf.Variable(1.0)

    def fn(a, b, *, c):
        return {"a": a["x"][0], "none": None, "text": "t", "v": v, "c": c, "s": b}

    sparse = PerReplica([tf.sparse.from_dense([[float(k), 0.0]]) for k in range(4)])
    result = strategy.run(
        fn, ({"x": [rows(np.arange(4.0, dtype="f"))]}, sparse), {"c": tf.ones([])}
    )
    assert plain(result["a"]) == [[0.0], [1.0], [2.0], [3.0]]
    assert result["none"] is None and result["text"] == "t" and result["v"] is v
    assert plain(result["c"]) == [1.0] * 4
    dense = [tf.sparse.to_dense(s).numpy().tolist() for s in result["s"].values]
    assert dense == [[[float(k), 0.0]] for k in range(4)]


def test_places(strategy):
    assert tf.distribute.get_strategy().num_replicas_in_sync == 1
    with strategy.scope():
        assert tf.distribute.has_strategy() and tf.distribute.in_cross_replica_context()
        with strategy.scope(), pytest.raises(RuntimeError, match="do not nest"):
            Strategy(CPUS[:2]).run(lambda: 1)
        with pytest.raises(RuntimeError, match="do not nest"), Strategy(CPUS[:2]).scope():
            pass
    with pytest.raises(RuntimeError, match="runs in a replica"):
        strategy.run(lambda: strategy.run(lambda: 1))
    with pytest.raises(RuntimeError, match="runs in a replica"):
        strategy.run(lambda: strategy.reduce("SUM", tf.ones([]), None))
    assert not tf.distribute.has_strategy()


def test_gradients_through_a_run(strategy):
    """Of what all replicas share the gradient is the sum of theirs."""
    w = tf.constant(3.0)
    x = PerReplica.of_rows(tf.constant([1.0, 2.0, 3.0, 4.0]))

    @tf.function
    def f(w, x):
        with tf.GradientTape() as tape:
            tape.watch(w)
            y = strategy.run(lambda x: w * w * context().all_reduce(SUM, x * w), (x,))
            total = strategy.reduce("SUM", y, None)
        return total, tape.gradient(total, w)

    for engine in ENGINES:
        with tf.engine(engine):
            total, grad = f(w, x)
        assert total.numpy() == 4 * 27 * 10 and grad.numpy() == 4 * 27 * 10


def test_python_in_replicas_runs_for_each(strategy):
    seen = []

    def note(x):
        seen.append(float(x))
        return x * 2

    def fn(x):
        return tf.py_function(note, [x], tf.float32)

    result = tf.function(lambda x: strategy.run(fn, (x,)))(PerReplica.of_rows(tf.range(4.0)))
    assert plain(result) == [0.0, 2.0, 4.0, 6.0] and seen == [0.0, 1.0, 2.0, 3.0]


@pytest.mark.parametrize("name", ["SUM", "MEAN", "ONLY_FIRST_REPLICA"])
def test_copies_of_a_variable(strategy, name):
    whole = {"SUM": 18.0, "MEAN": 10.5, "ONLY_FIRST_REPLICA": 9.0}[name]
    own = [3.0, 4.0, 5.0, 6.0] if name == "SUM" else [9.0, 10.0, 11.0, 12.0]
    with strategy.scope():
        v = tf.Variable(
            1.0,
            aggregation=tf.VariableAggregation[name],
            synchronization=tf.VariableSynchronization.ON_READ,
        )

    def fn():
        v.assign_add(tf.cast(context().replica_id_in_sync_group, tf.float32) + 1.0)
        return v + 0.0

    def reset(value):
        v.assign(value)

    for way in (None, *ENGINES):
        (reset if way is None else tf.function(reset))(8.0)
        assert v.numpy() == 8.0
        run = lambda: strategy.run(fn)
        with tf.engine(way):
            result = run() if way is None else tf.function(run)()
            read = float(v * 1.0 if way is None else tf.function(lambda: v * 1.0)())
        assert plain(result) == own and read == float(v) == whole
        assert [float(x) for x in strategy.experimental_local_results(v)] == own
    assert copy.deepcopy(v).numpy() == whole and not v.trainable
    if name == "SUM":
        with pytest.raises(ValueError, match="in a replica only"):
            v.assign_add(1.0)
    else:
        assert v.assign_add(1.0).numpy() == whole + 1.0


def test_checkpoints_of_copies(strategy, tmp_path):
    with strategy.scope():
        v = tf.Variable(
            0.0,
            aggregation=tf.VariableAggregation.SUM,
            synchronization=tf.VariableSynchronization.ON_READ,
        )
    strategy.run(lambda: [v.assign(3.0), None][1])
    path = tf.train.Checkpoint(v=v).save(tmp_path / "c")
    w = tf.Variable(0.0)
    tf.train.Checkpoint(v=w).restore(path)
    assert w.numpy() == 12.0
    v.assign(0.0)
    tf.train.Checkpoint(v=v).restore(path)
    assert v.numpy() == 12.0


def test_a_library_lets_its_variables_drift(strategy, tmp_path, monkeypatch):
    """As batch normalisation does: a copy in each replica, the first one outside."""
    folder = tmp_path / "site-packages"
    folder.mkdir()
    (folder / "a_library.py").write_text("def remember(v, x):\n    v.assign(0.5 * v + x)\n")
    monkeypatch.setattr(sys, "path", [str(folder), *sys.path])
    a_library: Any = importlib.import_module("a_library")

    with strategy.scope():
        v = tf.Variable(0.0, trainable=False)
    doubled = tf.function(lambda: v * 2.0)
    assert doubled().numpy() == 0.0
    x = PerReplica.of_rows(tf.range(1.0, 5.0))

    def fn(x):
        a_library.remember(v, x)
        return v + 0.0

    step = tf.function(lambda x: strategy.run(fn, (x,)))
    assert plain(step(x)) == [1.0, 2.0, 3.0, 4.0]
    assert plain(step(x)) == [1.5, 3.0, 4.5, 6.0]
    assert v.numpy() == 1.5 and doubled().numpy() == 3.0  # a trace of the time before
    v.assign(4.0)
    assert plain(step(x)) == [3.0, 4.0, 5.0, 6.0]


def test_gradients_by_weights_are_one_product(strategy):
    """Of replicas that share a device: their batches joined, not a product for each."""
    weights = [tf.Variable(w) for w in STARTS]
    step = make_step(weights)
    run = tf.function(lambda x, y: strategy.run(step, (x, y)))
    graph = run.get_concrete_function(rows(X), rows(Y)).graph
    (node,) = [n for n in graph.walk() if n.op.name == "replicated"]
    names = [n.op.name for n in with_joined_sums(node.attrs["graph"], 4).nodes]
    assert names.count("all_reduce") == 0 and names.count("all_gather") == 4
    assert names.count("matmul_tn") == 2


def test_the_mean_of_gradients_by_weights(strategy):
    w = tf.Variable(STARTS[0])

    def fn(x):
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(tf.matmul(x, w) ** 2)
        return context().all_reduce(MEAN, tape.gradient(y, w))

    wanted = 2 * X.T @ (X @ STARTS[0]) / 4
    for result in three_ways(strategy, fn, (rows(X),)):
        np.testing.assert_allclose(result.values[3].numpy(), wanted, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_generator_gives_each_replica_its_own_numbers(strategy, engine):
    generator = tf.random.Generator.from_seed(1)
    run = tf.function(lambda: strategy.run(lambda: generator.uniform([])))
    with tf.engine(engine):
        seen = [*plain(run()), *plain(run())]
    assert len(set(seen)) == 8


def test_objects_that_differ_by_replica_are_refused(strategy):
    with pytest.raises(ValueError, match="must be of one kind"):
        strategy.run(lambda x: 1.0, (PerReplica(["a", object(), 2, 3]),))

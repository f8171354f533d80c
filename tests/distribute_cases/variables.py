"""Variables of a strategy: each synchronization with each aggregation, read and assigned anywhere."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from tests.distribute_cases.environment import CASES, Case, Env, case

AGGREGATIONS = ("NONE", "SUM", "MEAN", "ONLY_FIRST_REPLICA")
SYNCHRONIZATIONS = ("AUTO", "NONE", "ON_WRITE", "ON_READ")
UPDATES = ("assign", "assign_add", "assign_sub")


def _variable(e: Env, synchronization: str, aggregation: str, value: Any = 1.0) -> Any:
    with e.s.scope():
        return e.tf.Variable(
            value,
            synchronization=e.tf.VariableSynchronization[synchronization],
            aggregation=e.tf.VariableAggregation[aggregation],
        )


def _register(name: str, f: Case) -> None:
    assert name not in CASES, name
    CASES[name] = f


def _replica(synchronization: str, aggregation: str, update: str) -> Case:
    def f(e: Env) -> Any:
        v = _variable(e, synchronization, aggregation)
        e.run(lambda: getattr(v, update)(e.id() + 1.0))
        return [e.all(v), v.read_value()]

    return f


def _crossing(synchronization: str, aggregation: str, update: str) -> Case:
    def f(e: Env) -> Any:
        v = _variable(e, synchronization, aggregation)
        with e.s.scope():
            getattr(v, update)(8.0)
            return [e.all(v), v.read_value(), v.numpy()]

    return f


def _outside(synchronization: str, aggregation: str, update: str) -> Case:
    def f(e: Env) -> Any:
        v = _variable(e, synchronization, aggregation)
        getattr(v, update)(8.0)
        return [e.all(v), v.read_value(), v + 1.0]

    return f


def _plain(synchronization: str, aggregation: str, update: str) -> Case:
    """The same value assigned in all replicas."""

    def f(e: Env) -> Any:
        v = _variable(e, synchronization, aggregation)
        e.run(lambda: getattr(v, update)(3.0))
        return [e.all(v), v.read_value()]

    return f


PLACES: dict[str, Callable[[str, str, str], Case]] = {
    "replica": _replica,
    "crossing": _crossing,
    "outside": _outside,
    "plain": _plain,
}
for _place, _make in PLACES.items():
    for _s in SYNCHRONIZATIONS:
        for _a in AGGREGATIONS:
            for _u in UPDATES:
                _register(f"{_u}_{_place}_{_s}_{_a}".lower(), _make(_s, _a, _u))


@case
def variable_facts(e: Env) -> Any:
    v = _variable(e, "AUTO", "SUM", [1.0, 2.0])
    o = _variable(e, "ON_READ", "MEAN", 2.0)
    return [
        [v.shape, v.dtype, v.trainable, v.synchronization.name, v.aggregation.name],
        [o.shape, o.dtype, o.trainable, o.synchronization.name, o.aggregation.name],
        isinstance(v, e.tf.Variable),
        isinstance(o, e.tf.Variable),
        isinstance(v, e.d.DistributedValues),
        e.tf.is_tensor(v),
    ]


@case
def variable_names(e: Env) -> Any:
    with e.s.scope():
        v = e.tf.Variable(1.0, name="weight")
    return [v.name, v.device]


@case
def read_of_on_read_in_a_replica(e: Env) -> Any:
    v = _variable(e, "ON_READ", "SUM", 0.0)

    def step() -> Any:
        v.assign_add(e.id() + 1.0)
        return v.read_value(), v + 0.0

    return [e.run(step), v.read_value()]


@case
def on_read_accumulates_over_steps(e: Env) -> Any:
    v = _variable(e, "ON_READ", "SUM", 0.0)
    for _ in range(3):
        e.run(lambda: v.assign_add(e.id()))
    return [v.read_value(), e.all(v)]


@case
def on_read_reset(e: Env) -> Any:
    v = _variable(e, "ON_READ", "SUM", 5.0)
    e.run(lambda: v.assign_add(e.id()))
    with e.s.scope():
        v.assign(0.0)
    before = e.all(v)
    e.run(lambda: v.assign_add(1.0))
    return [before, v.read_value()]


@case
def result_of_assign_in_a_replica(e: Env) -> Any:
    v = _variable(e, "AUTO", "SUM")
    return e.run(lambda: v.assign_add(e.id()) + 0.0)


@case
def read_after_assign_in_a_replica(e: Env) -> Any:
    v = _variable(e, "AUTO", "MEAN")

    def step() -> Any:
        before = v + 0.0
        v.assign_add(e.id())
        return before, v + 0.0

    return e.run(step)


@case
def two_assignments_in_a_replica(e: Env) -> Any:
    v = _variable(e, "AUTO", "SUM")

    def step() -> None:
        v.assign_add(e.id())
        v.assign_add(1.0)

    e.run(step)
    return v


@case
def variable_of_vectors(e: Env) -> Any:
    v = _variable(e, "AUTO", "MEAN", [1.0, 2.0])
    e.run(lambda: v.assign_add([e.id(), 1.0]))
    return v


@case
def integer_variable_sum(e: Env) -> Any:
    v = _variable(e, "AUTO", "SUM", 0)
    e.run(lambda: v.assign_add(e.tf.cast(e.id(), e.tf.int32) + 1))
    return v


@case
def integer_variable_first(e: Env) -> Any:
    v = _variable(e, "AUTO", "ONLY_FIRST_REPLICA", 0)
    e.run(lambda: v.assign_add(1))
    return v


@case
def integer_on_read_sum(e: Env) -> Any:
    v = _variable(e, "ON_READ", "SUM", 0)
    e.run(lambda: v.assign_add(1))
    return v.read_value()


@case
def on_read_first(e: Env) -> Any:
    v = _variable(e, "ON_READ", "ONLY_FIRST_REPLICA", 0.0)
    e.run(lambda: v.assign_add(e.id() + 7.0))
    return [v.read_value(), v.numpy()]


@case
def on_read_none_read_outside(e: Env) -> Any:
    v = _variable(e, "ON_READ", "NONE", 0.0)
    e.run(lambda: v.assign_add(e.id()))
    return v.read_value()


@case
def scatter_in_a_replica(e: Env) -> Any:
    v = _variable(e, "AUTO", "SUM", [1.0, 2.0, 3.0])
    e.run(lambda: v.scatter_add(e.tf.IndexedSlices([e.id() + 1.0], [1])))
    return v


@case
def scatter_of_other_rows(e: Env) -> Any:
    v = _variable(e, "AUTO", "SUM", [1.0, 2.0, 3.0])
    e.run(lambda: v.scatter_add(e.tf.IndexedSlices([2.0], [e.tf.cast(e.id(), e.tf.int32) % 3])))
    return v


@case
def scatter_without_aggregation(e: Env) -> Any:
    v = _variable(e, "AUTO", "NONE", [1.0, 2.0, 3.0])
    e.run(lambda: v.scatter_add(e.tf.IndexedSlices([2.0], [1])))
    return v


@case
def variable_made_in_a_replica(e: Env) -> Any:
    made: list[Any] = []

    def step(x: Any) -> Any:
        if not made:
            made.append(e.tf.Variable(2.0))
        return made[0] * x

    return e.s.run(step, args=(e.tf.constant(3.0),))


@case
def variable_outside_read_in_a_replica(e: Env) -> Any:
    v = e.tf.Variable(2.0)
    return e.run(lambda: v * e.id())


@case
def gradient_of_a_mirrored_variable(e: Env) -> Any:
    v = _variable(e, "AUTO", "NONE", [1.0, 2.0])

    def step(x: Any) -> Any:
        with e.tf.GradientTape() as tape:
            y = e.tf.reduce_sum(v * v) * x
        return tape.gradient(y, v)

    return e.run(step, e.ids())


@case
def training_step_by_hand(e: Env) -> Any:
    v = _variable(e, "AUTO", "MEAN", [1.0, 2.0])

    def step(x: Any) -> Any:
        with e.tf.GradientTape() as tape:
            loss = e.tf.reduce_sum(v * v) * (x + 1.0)
        gradient = e.context.all_reduce("SUM", tape.gradient(loss, v))
        v.assign_sub(0.01 * gradient)
        return loss

    out = [e.s.reduce("SUM", e.run(step, e.ids()), axis=None) for _ in range(3)]
    return [out, v]


@case
def update_of_a_variable(e: Env) -> Any:
    v = _variable(e, "AUTO", "NONE")
    with e.s.scope():
        e.s.extended.update(v, lambda w, x: w.assign_add(x), args=(3.0,))
    return v


@case
def update_with_keywords(e: Env) -> Any:
    v = _variable(e, "AUTO", "NONE")
    with e.s.scope():
        e.s.extended.update(v, lambda w, x: w.assign_sub(x), kwargs={"x": 3.0}, group=False)
    return v


@case
def update_in_a_merge_call(e: Env) -> Any:
    v = _variable(e, "AUTO", "NONE")

    def merge(strategy: Any, x: Any) -> Any:
        total = strategy.extended.reduce_to("SUM", x, v)
        return strategy.extended.update(v, lambda w, t: w.assign_add(t), args=(total,))

    e.run(lambda: e.context.merge_call(merge, args=(e.id(),)))
    return v


@case
def colocated_variables(e: Env) -> Any:
    v = _variable(e, "AUTO", "NONE")
    with e.s.scope(), e.s.extended.colocate_vars_with(v):
        w = e.tf.Variable(5.0)
    return [w, e.s.extended.variable_created_in_scope(w)]


@case
def variable_created_in_scope(e: Env) -> Any:
    v, w = _variable(e, "AUTO", "NONE"), e.tf.Variable(1.0)
    has = e.s.extended.variable_created_in_scope
    return [has(v), has(w)]


@case
def variable_through_functions(e: Env) -> Any:
    v = _variable(e, "AUTO", "SUM")
    f = e.tf.function(lambda: e.s.run(lambda: v.assign_add(e.id() + 1.0)))
    f()
    f()
    return v


@case
def variable_read_across(e: Env) -> Any:
    v = _variable(e, "AUTO", "SUM", 4.0)
    with e.s.scope():
        return [v + 1.0, v.value(), e.tf.convert_to_tensor(v), v * v]


@case
def on_read_assigned_across_with_sum(e: Env) -> Any:
    v = _variable(e, "ON_READ", "SUM", 4.0)
    with e.s.scope():
        v.assign(8.0)
        return [v.read_value(), e.all(v)]


@case
def tape_around_a_run(e: Env) -> Any:
    v = _variable(e, "AUTO", "NONE", 3.0)
    with e.tf.GradientTape() as tape:
        y = e.s.reduce("SUM", e.s.run(lambda x: v * v * x, args=(e.ids(),)), axis=None)
    return tape.gradient(y, v)


@case
def deep_copy_of_a_variable(e: Env) -> Any:
    v = _variable(e, "AUTO", "SUM", 4.0)
    with e.s.scope():
        w = copy.deepcopy(v)
    v.assign(1.0)
    return w


@case
def module_under_a_strategy(e: Env) -> Any:
    tf = e.tf

    class Line(tf.Module):
        def __init__(self) -> None:
            super().__init__()
            self.w = tf.Variable(2.0)
            self.count = tf.Variable(
                0, trainable=False, aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA
            )

        def __call__(self, x: Any) -> Any:
            self.count.assign_add(1)
            return self.w * x

    with e.s.scope():
        line = Line()
    out = e.run(line, e.ids())
    return [out, line.count, len(line.trainable_variables), len(line.variables)]

"""Per-replica values: how they are made, look, and pass through nests, functions and copies."""

from __future__ import annotations

import copy
from typing import Any

from tests.distribute_cases.environment import Env, case


@case
def values_from_function(e: Env) -> Any:
    return e.values(lambda k: e.tf.constant([float(k)] * 2))


@case
def values_of_a_nest(e: Env) -> Any:
    return e.values(
        lambda k: {"a": e.tf.constant(k), "b": (e.tf.constant([k]), e.tf.constant(2 * k))}
    )


@case
def values_of_python_numbers(e: Env) -> Any:
    return e.values(lambda k: k * 10)


@case
def values_of_one_object(e: Env) -> Any:
    shared = e.tf.constant(5.0)
    return e.values(lambda k: shared)


@case
def values_context(e: Env) -> Any:
    found: list[Any] = []

    def make(c: Any) -> Any:
        found.append([c.replica_id_in_sync_group, c.num_replicas_in_sync])
        return e.tf.constant(0)

    e.s.experimental_distribute_values_from_function(make)
    return found


@case
def values_attribute(e: Env) -> Any:
    x = e.ids()
    return [x.values, isinstance(x, e.d.DistributedValues), type(x).__name__]


@case
def repr_of_values(e: Env) -> Any:
    x = e.values(lambda k: e.tf.constant(k))
    return [repr(x), str(x)]


@case
def repr_of_strategy_objects(e: Env) -> Any:
    context = e.d.InputContext(2, 1, 4)
    return [
        str(context),
        repr(e.d.ReduceOp.SUM),
        repr(e.d.InputOptions()),
        repr(e.d.RunOptions()),
        repr(e.d.InputReplicationMode.PER_REPLICA),
        repr(e.tf.VariableSynchronization.ON_READ),
    ]


@case
def input_context(e: Env) -> Any:
    c = e.d.InputContext(num_input_pipelines=2, input_pipeline_id=1, num_replicas_in_sync=4)
    return [
        c.num_input_pipelines,
        c.input_pipeline_id,
        c.num_replicas_in_sync,
        c.get_per_replica_batch_size(8),
    ]


@case
def value_context(e: Env) -> Any:
    c = e.d.experimental.ValueContext(2, 4)
    default = e.d.experimental.ValueContext()
    return [c.replica_id_in_sync_group, c.num_replicas_in_sync, default.num_replicas_in_sync]


@case
def communication_options(e: Env) -> Any:
    x = e.d.experimental
    o = x.CommunicationOptions(bytes_per_pack=50, timeout_seconds=2.0, implementation="ring")
    kinds = x.CommunicationImplementation
    old = x.CollectiveHints(bytes_per_pack=3)
    return [
        o.bytes_per_pack,
        o.timeout_seconds,
        o.implementation.name,
        [k.value for k in kinds],
        kinds is x.CollectiveCommunication,
        old.bytes_per_pack,
    ]


@case
def values_in_nests(e: Env) -> Any:
    nest = e.tf.nest
    x = e.ids()
    return [len(nest.flatten({"a": x, "b": x})), nest.map_structure(lambda v: v is x, [x, x])]


@case
def values_through_a_function(e: Env) -> Any:
    f = e.tf.function(lambda x: x)
    return f(e.ids())


@case
def values_in_a_function_seen_twice(e: Env) -> Any:
    traces: list[int] = []

    @e.tf.function
    def f(x: Any) -> Any:
        traces.append(0)
        return e.s.run(lambda v: v + 1.0, args=(x,))

    return [f(e.ids()), f(e.ids()), len(traces)]


@case
def values_of_another_shape_retrace(e: Env) -> Any:
    traces: list[int] = []

    @e.tf.function
    def f(x: Any) -> Any:
        traces.append(0)
        return e.s.run(lambda v: e.tf.reduce_sum(v), args=(x,))

    for n in (2, 2, 3):
        f(e.values(lambda k, n=n: e.tf.zeros([n])))
    return len(traces)


@case
def values_are_true(e: Env) -> Any:
    return bool(e.ids())


@case
def values_copied(e: Env) -> Any:
    return copy.copy(e.ids())


@case
def values_of_sparse_and_ragged(e: Env) -> Any:
    tf = e.tf
    return e.values(
        lambda k: (
            tf.SparseTensor([[0, k]], [float(k)], [1, 4]),
            tf.ragged.constant([[k] * k, [1]], dtype=tf.int32),
        )
    )


@case
def values_as_a_loop_variable(e: Env) -> Any:
    @e.tf.function
    def f(x: Any) -> Any:
        for _ in range(3):
            x = e.s.run(lambda v: v * 2.0 + 1.0, args=(x,))
        return x

    return f(e.ids())


@case
def captured_values(e: Env) -> Any:
    x = e.ids()
    f = e.tf.function(lambda: e.s.run(lambda v: v + 1.0, args=(x,)))
    return f()

"""Which context is where: in a scope, in a replica, in a merge, outside."""

from __future__ import annotations

from typing import Any

from tests.distribute_cases.environment import Env, case


def _here(e: Env) -> Any:
    context = e.context
    return [
        e.d.has_strategy(),
        e.d.in_cross_replica_context(),
        context is not None,
        e.d.get_strategy() is e.s,
        e.d.get_strategy().num_replicas_in_sync,
    ]


@case
def context_outside(e: Env) -> Any:
    return _here(e)


@case
def context_in_scope(e: Env) -> Any:
    with e.s.scope():
        return _here(e)


@case
def context_after_scope(e: Env) -> Any:
    with e.s.scope():
        pass
    return _here(e)


@case
def context_in_replica(e: Env) -> Any:
    found: list[Any] = []
    e.run(lambda: found.append(_here(e)))
    return found[0]


@case
def context_in_function_in_scope(e: Env) -> Any:
    found: list[Any] = []
    with e.s.scope():
        e.tf.function(lambda: found.append(_here(e)))()
    return found[0]


@case
def context_in_function_in_replica(e: Env) -> Any:
    found: list[Any] = []
    e.run(e.tf.function(lambda: found.append(_here(e))))
    return found[0]


@case
def context_in_scope_in_replica(e: Env) -> Any:
    found: list[Any] = []

    def step() -> None:
        with e.s.scope():
            found.append(_here(e))

    e.run(step)
    return found[0]


@case
def context_in_merge_call(e: Env) -> Any:
    found: list[Any] = []

    def merge(strategy: Any) -> None:
        found.append([strategy is e.s, *_here(e)])

    e.run(lambda: e.context.merge_call(merge))
    return found[0]


@case
def context_in_update(e: Env) -> Any:
    found: list[Any] = []
    with e.s.scope():
        v = e.tf.Variable(1.0)
        e.s.extended.update(v, lambda w: found.append(_here(e)))
    return found[0]


@case
def context_of_default_strategy(e: Env) -> Any:
    context = e.context
    strategy = e.d.get_strategy()
    return [
        context.num_replicas_in_sync,
        context.replica_id_in_sync_group,
        strategy.num_replicas_in_sync,
        context.strategy is strategy,
    ]


@case
def context_attributes(e: Env) -> Any:
    found: list[Any] = []

    def step() -> Any:
        c = e.context
        found.append([c.num_replicas_in_sync, c.strategy is e.s])
        return c.replica_id_in_sync_group

    ids = e.run(step)
    return [found[0], ids]


@case
def default_strategy_runs(e: Env) -> Any:
    s = e.d.get_strategy()
    x = e.tf.constant([1.0, 2.0])
    return [
        s.run(lambda v: v * 2.0, args=(x,)),
        s.reduce("SUM", x, axis=None),
        s.reduce("SUM", x, axis=0),
        s.reduce("MEAN", x, axis=0),
        s.experimental_local_results(x),
        s.gather(x, axis=0),
    ]


@case
def default_replica_context_reduces(e: Env) -> Any:
    c = e.context
    x = e.tf.constant([1.0, 2.0])
    return [
        c.all_reduce("SUM", x),
        c.all_gather(x, axis=0),
        c.merge_call(lambda s, v: v + 1.0, (x,)),
    ]


@case
def set_strategy_for_good(e: Env) -> Any:
    e.d.experimental_set_strategy(e.s)
    try:
        return _here(e)
    finally:
        e.d.experimental_set_strategy(None)


@case
def scope_gives_the_strategy(e: Env) -> Any:
    with e.s.scope() as given:
        return given is e.s


@case
def scope_within_its_scope(e: Env) -> Any:
    with e.s.scope(), e.s.scope():
        return _here(e)


@case
def extended_facts(e: Env) -> Any:
    x = e.s.extended
    return [
        list(x.worker_devices),
        list(x.parameter_devices),
        x.experimental_require_static_shapes,
        e.s.num_replicas_in_sync,
        e.s.cluster_resolver,
    ]


@case
def one_device_strategy(e: Env) -> Any:
    s = e.d.OneDeviceStrategy("CPU:1")
    with s.scope():
        v = e.tf.Variable(2.0)

    def step(x: Any) -> Any:
        v.assign_add(x)
        return v * 2.0

    out = s.run(step, args=(e.tf.constant(1.0),))
    return [
        out,
        v,
        s.reduce("SUM", out, axis=None),
        s.experimental_local_results(out),
        list(s.extended.worker_devices),
        s.num_replicas_in_sync,
    ]


@case
def one_device_contexts(e: Env) -> Any:
    s = e.d.OneDeviceStrategy("CPU:0")
    found: list[Any] = []
    with s.scope():
        found.append([e.d.in_cross_replica_context(), e.context is None, e.d.has_strategy()])
    s.run(lambda: found.append([e.d.in_cross_replica_context(), e.context is None]))
    s.run(lambda: found.append(e.context.all_reduce("SUM", e.tf.constant(3.0)).numpy().item()))
    return found


@case
def mirrored_over_one_device(e: Env) -> Any:
    s = e.d.MirroredStrategy(["CPU:0"])
    with s.scope():
        v = e.tf.Variable(1.0, aggregation=e.tf.VariableAggregation.SUM)

    def step(x: Any) -> Any:
        v.assign_add(x)
        return e.context.all_reduce("SUM", x)

    out = s.run(step, args=(e.tf.constant(2.0),))
    return [out, v, s.reduce("MEAN", out, axis=None), s.num_replicas_in_sync]


@case
def central_storage(e: Env) -> Any:
    s = e.d.experimental.CentralStorageStrategy(["CPU:0", "CPU:1"], "CPU:2")
    with s.scope():
        v = e.tf.Variable(1.0, aggregation=e.tf.VariableAggregation.SUM)
    s.run(lambda: v.assign_add(e.id() + 1.0))
    out = s.run(lambda: v + e.id())
    return [s.num_replicas_in_sync, v.read_value(), s.reduce("SUM", out, axis=None)]

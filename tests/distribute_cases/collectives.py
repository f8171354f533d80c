"""`all_reduce`, `all_gather` and `merge_call` of a replica context, with gradients."""

from __future__ import annotations

from typing import Any

from tests.distribute_cases.environment import Env, case


@case
def all_reduce_sum_and_mean(e: Env) -> Any:
    return e.run(lambda x: [e.context.all_reduce(op, x) for op in ("SUM", "MEAN")], e.ids())


@case
def all_reduce_by_member(e: Env) -> Any:
    return e.run(lambda x: e.context.all_reduce(e.d.ReduceOp.MEAN, x), e.ids())


@case
def all_reduce_of_a_nest(e: Env) -> Any:
    return e.run(lambda x: e.context.all_reduce("SUM", {"a": x, "b": [x * 2.0]}), e.ids())


@case
def all_reduce_of_nothing(e: Env) -> Any:
    return e.run(lambda x: e.context.all_reduce("SUM", []), e.ids())


@case
def all_reduce_with_options(e: Env) -> Any:
    options = e.d.experimental.CommunicationOptions(bytes_per_pack=1024)
    return e.run(lambda x: e.context.all_reduce("SUM", x, options=options), e.ids())


@case
def all_reduce_of_ints(e: Env) -> Any:
    x = e.values(lambda k: e.tf.constant([k, 1]))
    return e.run(lambda v: e.context.all_reduce("SUM", v), x)


@case
def all_reduce_mean_of_ints(e: Env) -> Any:
    x = e.values(lambda k: e.tf.constant([k, 1]))
    return e.run(lambda v: e.context.all_reduce("MEAN", v), x)


@case
def all_reduce_of_halves(e: Env) -> Any:
    x = e.values(lambda k: e.tf.constant([k, 1], e.tf.float16))
    return e.run(lambda v: e.context.all_reduce("MEAN", v), x)


@case
def all_reduce_of_a_constant(e: Env) -> Any:
    return e.run(lambda: e.context.all_reduce("SUM", e.tf.constant(2.0)))


@case
def all_reduce_of_a_number(e: Env) -> Any:
    return e.run(lambda: e.context.all_reduce("SUM", 2.0))


@case
def all_reduce_of_slices(e: Env) -> Any:
    tf = e.tf

    def step(x: Any) -> Any:
        slices = tf.IndexedSlices(tf.reshape(x + 1.0, [1, 1]), [tf.cast(x, tf.int32)], [5, 1])
        return tf.convert_to_tensor(e.context.all_reduce("SUM", slices))

    return e.run(step, e.ids())


@case
def all_reduce_mean_of_slices(e: Env) -> Any:
    tf = e.tf

    def step(x: Any) -> Any:
        slices = tf.IndexedSlices(tf.reshape(x + 1.0, [1, 1]), [1], [3, 1])
        return tf.convert_to_tensor(e.context.all_reduce("MEAN", slices))

    return e.run(step, e.ids())


@case
def gradient_of_all_reduce(e: Env) -> Any:
    def step(x: Any) -> Any:
        with e.tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            s = e.context.all_reduce("SUM", x * x)
            m = e.context.all_reduce("MEAN", x * x)
        return tape.gradient(s, x), tape.gradient(m, x)

    return e.run(step, e.ids())


@case
def gradient_of_all_reduce_times_id(e: Env) -> Any:
    def step(x: Any) -> Any:
        with e.tf.GradientTape() as tape:
            tape.watch(x)
            y = e.context.all_reduce("SUM", x) * (x + 1.0)
        return tape.gradient(y, x)

    return e.run(step, e.ids())


@case
def all_gather_rows(e: Env) -> Any:
    x = e.values(lambda k: e.tf.constant([[float(k), 1.0]]))
    return e.run(lambda v: (e.context.all_gather(v, axis=0), e.context.all_gather(v, axis=1)), x)


@case
def all_gather_uneven(e: Env) -> Any:
    x = e.values(lambda k: e.tf.range(float(k + 1)))
    return e.run(lambda v: e.context.all_gather(v, axis=0), x)


@case
def all_gather_of_a_nest(e: Env) -> Any:
    x = e.values(lambda k: e.tf.constant([k]))
    return e.run(lambda v: e.context.all_gather({"a": v, "b": [v + 1]}, axis=0), x)


@case
def gradient_of_all_gather(e: Env) -> Any:
    x = e.values(lambda k: e.tf.constant([k + 1.0]))

    def step(v: Any) -> Any:
        with e.tf.GradientTape() as tape:
            tape.watch(v)
            y = e.tf.reduce_sum(e.context.all_gather(v, axis=0) ** 2.0)
        return tape.gradient(y, v)

    return e.run(step, x)


@case
def all_gather_of_a_scalar(e: Env) -> Any:
    return e.run(lambda x: e.context.all_gather(x, axis=0), e.ids())


@case
def merge_call_gives_per_replica_values(e: Env) -> Any:
    def merge(strategy: Any, x: Any) -> Any:
        return strategy.reduce("SUM", x, axis=None)

    return e.run(lambda x: e.context.merge_call(merge, args=(x,)), e.ids())


@case
def merge_call_with_keywords(e: Env) -> Any:
    def merge(strategy: Any, x: Any, scale: Any) -> Any:
        return strategy.reduce("MEAN", x, axis=None) * scale

    return e.run(
        lambda x: e.context.merge_call(merge, args=(x,), kwargs={"scale": 2.0}) + x, e.ids()
    )


@case
def merge_call_gives_a_nest(e: Env) -> Any:
    def merge(strategy: Any, x: Any) -> Any:
        return {"total": strategy.reduce("SUM", x, axis=None), "parts": x}

    return e.run(lambda x: e.context.merge_call(merge, args=(x,)), e.ids())


@case
def collectives_in_a_function_in_a_replica(e: Env) -> Any:
    f = e.tf.function(lambda x: e.context.all_reduce("SUM", x) + x)
    return e.run(f, e.ids())


@case
def moments_over_replicas(e: Env) -> Any:
    def step(x: Any) -> Any:
        n = e.context.num_replicas_in_sync
        mean = e.context.all_reduce("SUM", x) / n
        return mean, e.context.all_reduce("SUM", x * x) / n - mean * mean

    return e.run(step, e.ids())

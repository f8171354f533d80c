"""`reduce` and `gather` on every axis, and what `extended` and `cross_device_ops` reduce."""

from __future__ import annotations

from typing import Any

from tests.distribute_cases.environment import Env, case

AXES: list[Any] = [None, 0, 1, -1]


def _matrix(e: Env, rows: Any = lambda k: 2) -> Any:
    return e.values(
        lambda k: e.tf.reshape(e.tf.range(rows(k) * 3.0), [rows(k), 3]) + 10.0 * float(k)
    )


@case
def reduce_scalars(e: Env) -> Any:
    return [e.s.reduce(op, e.ids(), axis=None) for op in ("SUM", "MEAN", "sum", "mean")]


@case
def reduce_op_members(e: Env) -> Any:
    op = e.d.ReduceOp
    return [e.s.reduce(op.SUM, e.ids(), axis=None), e.s.reduce(op.MEAN, e.ids(), axis=None)]


@case
def reduce_sum_of_matrices(e: Env) -> Any:
    return [e.s.reduce("SUM", _matrix(e), axis=a) for a in AXES]


@case
def reduce_mean_of_matrices(e: Env) -> Any:
    return [e.s.reduce("MEAN", _matrix(e), axis=a) for a in AXES]


@case
def reduce_over_two_axes(e: Env) -> Any:
    return [e.s.reduce(op, _matrix(e), axis=(0, 1)) for op in ("SUM", "MEAN")]


@case
def reduce_uneven_sum(e: Env) -> Any:
    return e.s.reduce("SUM", _matrix(e, lambda k: k + 1), axis=0)


@case
def reduce_uneven_mean(e: Env) -> Any:
    return e.s.reduce("MEAN", _matrix(e, lambda k: k + 1), axis=0)


@case
def reduce_with_an_empty_part(e: Env) -> Any:
    x = _matrix(e, lambda k: 3 - k)
    return [e.s.reduce(op, x, axis=0) for op in ("SUM", "MEAN")]


@case
def reduce_ints(e: Env) -> Any:
    x = e.values(lambda k: e.tf.constant([k, k + 1]))
    return [e.s.reduce(op, x, axis=a) for op in ("SUM", "MEAN") for a in (None, 0)]


@case
def reduce_halves(e: Env) -> Any:
    x = e.values(lambda k: e.tf.constant([k, k + 1], e.tf.float16))
    return [e.s.reduce(op, x, axis=a) for op in ("SUM", "MEAN") for a in (None, 0)]


@case
def reduce_doubles(e: Env) -> Any:
    x = e.values(lambda k: e.tf.constant([k, k + 1], e.tf.float64))
    return [e.s.reduce(op, x, axis=a) for op in ("SUM", "MEAN") for a in (None, 0)]


@case
def reduce_a_nest(e: Env) -> Any:
    return e.s.reduce("SUM", {"a": e.ids(), "b": [e.ids()]}, axis=None)


@case
def reduce_plain_mean(e: Env) -> Any:
    return e.s.reduce("MEAN", e.tf.constant([1.0, 2.0]), axis=None)


@case
def reduce_plain_over_an_axis(e: Env) -> Any:
    return [e.s.reduce(op, e.tf.constant([1.0, 2.0]), axis=0) for op in ("SUM", "MEAN")]


@case
def reduce_in_a_function(e: Env) -> Any:
    f = e.function(lambda x: e.s.reduce("SUM", e.s.run(lambda v: v * 2.0, args=(x,)), axis=None))
    return f(e.ids())


@case
def reduce_a_mirrored_variable(e: Env) -> Any:
    with e.s.scope():
        v = e.tf.Variable([1.0, 2.0])
    return [e.s.reduce("MEAN", v, axis=None), e.s.reduce("SUM", v, axis=None)]


@case
def reduce_indexed_slices(e: Env) -> Any:
    tf = e.tf
    x = e.values(lambda k: tf.IndexedSlices(tf.constant([[k + 1.0, 2.0]]), [k % 2], [3, 2]))
    return e.s.reduce("SUM", x, axis=None)


@case
def gather_rows(e: Env) -> Any:
    return [e.s.gather(_matrix(e), axis=a) for a in (0, 1)]


@case
def gather_uneven(e: Env) -> Any:
    return e.s.gather(_matrix(e, lambda k: k + 1), axis=0)


@case
def gather_empty(e: Env) -> Any:
    return e.s.gather(_matrix(e, lambda k: 3 - k), axis=0)


@case
def gather_vectors(e: Env) -> Any:
    return e.s.gather(e.values(lambda k: e.tf.range(k + 1)), axis=0)


@case
def gather_strings(e: Env) -> Any:
    return e.s.gather(e.values(lambda k: e.tf.constant([f"r{k}"])), axis=0)


@case
def gather_plain(e: Env) -> Any:
    return e.s.gather(e.tf.constant([1.0, 2.0]), axis=0)


@case
def gather_a_nest(e: Env) -> Any:
    return e.s.gather({"a": _matrix(e)}, axis=0)


@case
def gather_in_a_function(e: Env) -> Any:
    f = e.function(lambda x: e.s.gather(e.s.run(lambda v: v + 1.0, args=(x,)), axis=0))
    return f(_matrix(e))


@case
def local_results(e: Env) -> Any:
    return [
        e.s.experimental_local_results(e.ids()),
        e.s.experimental_local_results(e.tf.constant(1.0)),
        e.s.experimental_local_results(3),
    ]


@case
def local_results_of_a_variable(e: Env) -> Any:
    with e.s.scope():
        v = e.tf.Variable(2.0)
    return [len(e.s.experimental_local_results(v)), e.all(v)]


@case
def unwrap_and_group(e: Env) -> Any:
    return [len(e.s.unwrap(e.ids())), e.s.group(e.s.run(lambda: None))]


@case
def reduce_to(e: Env) -> Any:
    with e.s.scope():
        v = e.tf.Variable(0.0)
        return [
            e.all(e.s.extended.reduce_to(e.d.ReduceOp.SUM, e.ids(), v)),
            e.all(e.s.extended.reduce_to(e.d.ReduceOp.MEAN, e.ids(), v)),
        ]


@case
def reduce_to_a_device(e: Env) -> Any:
    with e.s.scope():
        return e.all(e.s.extended.reduce_to("SUM", e.ids(), "/device:CPU:0"))


@case
def batch_reduce_to(e: Env) -> Any:
    with e.s.scope():
        v, w = e.tf.Variable(0.0), e.tf.Variable(0.0)
        pairs = [(e.ids(), v), (e.ids(), w)]
        return [e.all(x) for x in e.s.extended.batch_reduce_to(e.d.ReduceOp.SUM, pairs)]


@case
def cross_device_ops_agree(e: Env) -> Any:
    results = []
    for make in (e.d.ReductionToOneDevice, e.d.HierarchicalCopyAllReduce, e.d.NcclAllReduce):
        if make is e.d.NcclAllReduce:
            make(num_packs=2)
            continue
        s = e.d.MirroredStrategy(["CPU:0", "CPU:1"], cross_device_ops=make())
        x = s.run(lambda: e.context.all_reduce("SUM", e.id() + 1.0))
        results.append(s.reduce("MEAN", x, axis=None))
    return results


@case
def reduce_op_from_aggregation(e: Env) -> Any:
    op, aggregation = e.d.ReduceOp, e.tf.VariableAggregation
    found = [op.from_variable_aggregation(aggregation[n]).name for n in ("SUM", "MEAN")]
    return [*found, op("SUM").name, [o.value for o in op]]


@case
def reduce_op_from_no_aggregation(e: Env) -> Any:
    return e.d.ReduceOp.from_variable_aggregation(e.tf.VariableAggregation.NONE)


@case
def average_loss_in_a_replica(e: Env) -> Any:
    tf = e.tf
    losses = e.values(lambda k: tf.constant([k + 1.0, 2.0]))
    average = e.run(lambda x: tf.nn.compute_average_loss(x, global_batch_size=8), losses)
    return [average, e.s.reduce("SUM", average, axis=None)]


@case
def average_loss_without_the_batch(e: Env) -> Any:
    losses = e.values(lambda k: e.tf.constant([k + 1.0, 2.0]))
    average = e.run(lambda x: e.tf.nn.compute_average_loss(x), losses)
    return [average, e.s.reduce("SUM", average, axis=None)]


@case
def average_loss_in_a_scope(e: Env) -> Any:
    with e.s.scope():
        return e.tf.nn.compute_average_loss(e.tf.constant([1.0, 3.0]))


@case
def average_loss_with_weights(e: Env) -> Any:
    losses = e.values(lambda k: e.tf.constant([k + 1.0, 2.0]))
    weights = e.tf.constant([0.5, 1.0])
    return e.run(lambda x: e.tf.nn.compute_average_loss(x, sample_weight=weights), losses)


@case
def regularization_loss_in_a_replica(e: Env) -> Any:
    return e.run(lambda: e.tf.nn.scale_regularization_loss(e.tf.constant([1.0, 3.0])))


@case
def regularization_loss_in_a_scope(e: Env) -> Any:
    with e.s.scope():
        return e.tf.nn.scale_regularization_loss(e.tf.constant([1.0, 3.0]))

"""Distributed datasets: how batches are split, their specs, iterators, and loops over them."""

from __future__ import annotations

from typing import Any

from tests.distribute_cases.environment import Env, case


def _rows(e: Env, n: int, batch: int, drop: bool = False) -> Any:
    return e.tf.data.Dataset.range(n).batch(batch, drop_remainder=drop)


def _listed(e: Env, dataset: Any) -> Any:
    return [e.all(x) for x in dataset]


def _distributed(e: Env, n: int, batch: int, drop: bool = False) -> Any:
    return e.s.experimental_distribute_dataset(_rows(e, n, batch, drop))


@case
def dataset_even(e: Env) -> Any:
    return _listed(e, _distributed(e, 16, 8))


@case
def dataset_uneven(e: Env) -> Any:
    return _listed(e, _distributed(e, 21, 8))


@case
def dataset_of_one_row_more(e: Env) -> Any:
    return _listed(e, _distributed(e, 9, 8))


@case
def dataset_of_seven_rows_more(e: Env) -> Any:
    return _listed(e, _distributed(e, 15, 8))


@case
def dataset_batch_that_does_not_divide(e: Env) -> Any:
    return _listed(e, _distributed(e, 12, 6))


@case
def dataset_batch_smaller_than_replicas(e: Env) -> Any:
    return _listed(e, _distributed(e, 5, 2))


@case
def dataset_batch_of_one(e: Env) -> Any:
    return _listed(e, _distributed(e, 3, 1))


@case
def dataset_drop_remainder(e: Env) -> Any:
    return _listed(e, _distributed(e, 21, 8, drop=True))


@case
def dataset_drop_remainder_that_does_not_divide(e: Env) -> Any:
    return _listed(e, _distributed(e, 14, 7, drop=True))


@case
def dataset_empty(e: Env) -> Any:
    return _listed(e, _distributed(e, 0, 8))


@case
def dataset_of_dicts(e: Env) -> Any:
    tf = e.tf
    x = {"a": tf.range(10), "b": (tf.range(20.0)[:10], tf.reshape(tf.range(20), [10, 2]))}
    dataset = tf.data.Dataset.from_tensor_slices(x).batch(8)
    found = e.s.experimental_distribute_dataset(dataset)
    return [tf.nest.map_structure(e.all, element) for element in found]


@case
def dataset_batched_before_a_map(e: Env) -> Any:
    dataset = _rows(e, 21, 8).map(lambda x: x * 10).prefetch(2)
    return _listed(e, e.s.experimental_distribute_dataset(dataset))


@case
def dataset_repeated_and_taken(e: Env) -> Any:
    dataset = _rows(e, 12, 8).repeat().take(5)
    return _listed(e, e.s.experimental_distribute_dataset(dataset))


@case
def dataset_batched_after_a_repeat(e: Env) -> Any:
    dataset = e.tf.data.Dataset.range(6).repeat(2).batch(8)
    return _listed(e, e.s.experimental_distribute_dataset(dataset))


@case
def dataset_of_a_padded_batch(e: Env) -> Any:
    dataset = e.tf.data.Dataset.range(1, 7).map(lambda n: e.tf.fill([n], n)).padded_batch(4)
    return _listed(e, e.s.experimental_distribute_dataset(dataset))


@case
def dataset_of_ragged_batches(e: Env) -> Any:
    dataset = e.tf.data.Dataset.range(1, 9).map(lambda n: e.tf.fill([n], n))
    dataset = dataset.apply(e.tf.data.experimental.dense_to_ragged_batch(8))
    return _listed(e, e.s.experimental_distribute_dataset(dataset))


@case
def dataset_of_strings(e: Env) -> Any:
    dataset = e.tf.data.Dataset.from_tensor_slices(["a", "b", "c", "d"]).batch(4)
    return _listed(e, e.s.experimental_distribute_dataset(dataset))


@case
def dataset_from_a_generator(e: Env) -> Any:
    dataset = e.tf.data.Dataset.from_generator(
        lambda: iter(range(10)), output_signature=e.tf.TensorSpec([], e.tf.int32)
    ).batch(4)
    return _listed(e, e.s.experimental_distribute_dataset(dataset))


@case
def dataset_without_a_batch(e: Env) -> Any:
    return _listed(e, e.s.experimental_distribute_dataset(e.tf.data.Dataset.range(8)))


@case
def dataset_twice(e: Env) -> Any:
    dataset = _distributed(e, 8, 4)
    return [_listed(e, dataset), _listed(e, dataset)]


@case
def dataset_element_spec(e: Env) -> Any:
    tf = e.tf
    spec = _distributed(e, 16, 8).element_spec
    parts = getattr(spec, "_value_specs", [spec])
    return [type(spec).__name__, [repr(p) for p in parts], isinstance(spec, tf.TypeSpec)]


@case
def dataset_element_spec_when_rows_are_dropped(e: Env) -> Any:
    spec = _distributed(e, 16, 8, drop=True).element_spec
    return [repr(p) for p in getattr(spec, "_value_specs", [spec])]


@case
def dataset_types(e: Env) -> Any:
    dataset = _distributed(e, 16, 8)
    iterator = iter(dataset)
    return [
        isinstance(dataset, e.d.DistributedDataset),
        isinstance(iterator, e.d.DistributedIterator),
        isinstance(dataset, e.tf.data.Dataset),
        repr(iterator.element_spec) == repr(dataset.element_spec),
        isinstance(next(iterator), e.d.DistributedValues),
    ]


@case
def dataset_length(e: Env) -> Any:
    return len(_distributed(e, 21, 8))


@case
def dataset_cardinality(e: Env) -> Any:
    return int(_distributed(e, 21, 8).cardinality)


@case
def iterator_get_next(e: Env) -> Any:
    iterator = iter(_distributed(e, 16, 8))
    return [e.all(iterator.get_next()), e.all(next(iterator))]


@case
def iterator_at_its_end(e: Env) -> Any:
    iterator = iter(_distributed(e, 8, 8))
    next(iterator)
    return iterator.get_next()


@case
def iterator_at_its_end_by_next(e: Env) -> Any:
    iterator = iter(_distributed(e, 8, 8))
    next(iterator)
    return next(iterator)


@case
def iterator_optional(e: Env) -> Any:
    iterator = iter(_distributed(e, 8, 8))
    first, second = iterator.get_next_as_optional(), iterator.get_next_as_optional()
    return [bool(first.has_value()), e.all(first.get_value()), bool(second.has_value())]


@case
def iterator_in_a_function(e: Env) -> Any:
    iterator = iter(_distributed(e, 16, 8))

    @e.tf.function
    def step(it: Any) -> Any:
        return e.s.run(lambda x: x * 2, args=(next(it),))

    return [step(iterator), step(iterator)]


@case
def iterator_in_a_function_to_its_end(e: Env) -> Any:
    iterator = iter(_distributed(e, 8, 8))
    step = e.tf.function(lambda it: e.s.run(lambda x: x * 2, args=(next(it),)))
    step(iterator)
    return step(iterator)


@case
def loop_in_a_function_over_a_dataset(e: Env) -> Any:
    tf = e.tf
    dataset = _distributed(e, 21, 8)

    @tf.function
    def total(data: Any) -> Any:
        result = tf.constant(0, tf.int64)
        for x in data:
            parts = e.s.run(lambda v: tf.reduce_sum(v), args=(x,))
            result += e.s.reduce("SUM", parts, axis=None)
        return result

    return total(dataset)


@case
def loop_in_a_function_over_steps(e: Env) -> Any:
    tf = e.tf
    iterator = iter(_distributed(e, 64, 8))

    @tf.function
    def total(it: Any, steps: Any) -> Any:
        result = tf.constant(0, tf.int64)
        for _ in tf.range(steps):
            parts = e.s.run(lambda v: tf.reduce_sum(v), args=(next(it),))
            result += e.s.reduce("SUM", parts, axis=None)
        return result

    return [total(iterator, tf.constant(3)), total(iterator, tf.constant(2))]


@case
def loop_by_optionals_in_a_function(e: Env) -> Any:
    tf = e.tf
    iterator = iter(_distributed(e, 21, 8))

    @tf.function
    def total(it: Any) -> Any:
        result = tf.constant(0, tf.int64)
        optional = it.get_next_as_optional()
        while optional.has_value():
            parts = e.s.run(lambda v: tf.reduce_sum(v), args=(optional.get_value(),))
            result += e.s.reduce("SUM", parts, axis=None)
            optional = it.get_next_as_optional()
        return result

    return total(iterator)


@case
def training_over_an_uneven_dataset(e: Env) -> Any:
    tf = e.tf
    with e.s.scope():
        v = tf.Variable(0.0, aggregation=tf.VariableAggregation.SUM)

    def step(x: Any) -> Any:
        loss = tf.nn.compute_average_loss(tf.cast(x, tf.float32), global_batch_size=8)
        v.assign_add(loss)
        return loss

    batches = _distributed(e, 21, 8)
    losses = [e.s.reduce("SUM", e.run(step, x), axis=None) for x in batches]
    return [losses, v]


@case
def dataset_reduced(e: Env) -> Any:
    return _distributed(e, 16, 8).reduce(0, lambda total, x: total + 1)


@case
def datasets_from_function(e: Env) -> Any:
    contexts: list[Any] = []

    def make(c: Any) -> Any:
        contexts.append([c.num_input_pipelines, c.input_pipeline_id, c.num_replicas_in_sync])
        return e.tf.data.Dataset.range(10).batch(c.get_per_replica_batch_size(8))

    return [_listed(e, e.s.distribute_datasets_from_function(make)), contexts]


@case
def datasets_from_function_per_replica(e: Env) -> Any:
    contexts: list[Any] = []
    options = e.d.InputOptions(
        experimental_place_dataset_on_device=True,
        experimental_fetch_to_device=False,
        experimental_replication_mode=e.d.InputReplicationMode.PER_REPLICA,
    )

    def make(c: Any) -> Any:
        contexts.append([c.num_input_pipelines, c.input_pipeline_id, c.num_replicas_in_sync])
        return e.tf.data.Dataset.range(4).batch(2)

    return [_listed(e, e.s.distribute_datasets_from_function(make, options)), contexts]


@case
def datasets_from_function_unbatched(e: Env) -> Any:
    return _listed(e, e.s.distribute_datasets_from_function(lambda c: e.tf.data.Dataset.range(6)))


@case
def datasets_from_function_by_the_old_name(e: Env) -> Any:
    return _listed(
        e,
        e.s.experimental_distribute_datasets_from_function(
            lambda c: e.tf.data.Dataset.range(4).batch(1)
        ),
    )


@case
def datasets_from_function_that_returns_no_dataset(e: Env) -> Any:
    return _listed(e, e.s.distribute_datasets_from_function(lambda c: 3))


@case
def dataset_in_options(e: Env) -> Any:
    options = e.d.InputOptions(experimental_fetch_to_device=False)
    return _listed(e, e.s.experimental_distribute_dataset(_rows(e, 8, 8), options))


@case
def dataset_for_one_replica(e: Env) -> Any:
    s = e.d.MirroredStrategy(["CPU:0"])
    found = list(s.experimental_distribute_dataset(_rows(e, 5, 2)))
    return [found, [s.experimental_local_results(x) for x in found]]


@case
def dataset_for_three_replicas(e: Env) -> Any:
    s = e.d.MirroredStrategy(["CPU:0", "CPU:1", "CPU:2"])
    found = list(s.experimental_distribute_dataset(_rows(e, 11, 6)))
    return [[list(s.experimental_local_results(x)) for x in found]]


@case
def plain_dataset_in_run(e: Env) -> Any:
    return [e.s.run(lambda v: e.tf.reduce_sum(v), args=(x,)) for x in _rows(e, 8, 4)]


@case
def gather_of_an_uneven_batch(e: Env) -> Any:
    return [e.s.gather(x, axis=0) for x in _distributed(e, 21, 8)]

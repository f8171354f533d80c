"""Bad input: what is refused, by the type of the error."""

from __future__ import annotations

from typing import Any

from tests.distribute_cases.environment import Env, case


@case
def unknown_name_of_a_device(e: Env) -> Any:
    return e.d.MirroredStrategy(["foo"])


@case
def device_named_twice(e: Env) -> Any:
    return e.d.MirroredStrategy(["CPU:0", "CPU:0"])


@case
def devices_that_are_no_list(e: Env) -> Any:
    return e.d.MirroredStrategy(5)


@case
def devices_that_are_numbers(e: Env) -> Any:
    return e.d.MirroredStrategy([0, 1])


@case
def one_device_of_an_unknown_name(e: Env) -> Any:
    return e.d.OneDeviceStrategy("foo")


@case
def nested_scopes_of_two_strategies(e: Env) -> Any:
    other = e.d.MirroredStrategy(["CPU:0", "CPU:1"])
    with e.s.scope(), other.scope():
        return None


@case
def run_of_one_strategy_in_the_scope_of_another(e: Env) -> Any:
    other = e.d.MirroredStrategy(["CPU:0", "CPU:1"])
    with other.scope():
        return e.s.run(lambda: e.tf.constant(1.0))


@case
def run_within_run(e: Env) -> Any:
    return e.s.run(lambda: e.s.run(lambda: e.tf.constant(1.0)))


@case
def scope_of_another_strategy_in_a_replica(e: Env) -> Any:
    other = e.d.MirroredStrategy(["CPU:0", "CPU:1"])

    def step() -> Any:
        with other.scope():
            return e.tf.constant(1.0)

    return e.s.run(step)


@case
def reduce_in_a_replica(e: Env) -> Any:
    return e.s.run(lambda x: e.s.reduce("SUM", x, axis=None), args=(e.ids(),))


@case
def gather_in_a_replica(e: Env) -> Any:
    return e.s.run(lambda x: e.s.gather(x, axis=0), args=(e.ids(),))


@case
def variable_of_another_strategy(e: Env) -> Any:
    other = e.d.MirroredStrategy(["CPU:0", "CPU:1"])
    with other.scope():
        v = e.tf.Variable(1.0, aggregation=e.tf.VariableAggregation.SUM)
    return e.s.run(lambda: v.assign_add(1.0))


@case
def update_of_a_foreign_variable(e: Env) -> Any:
    v = e.tf.Variable(1.0)
    with e.s.scope():
        return e.s.extended.update(v, lambda w: w.assign(2.0))


@case
def update_in_a_replica(e: Env) -> Any:
    with e.s.scope():
        v = e.tf.Variable(1.0)
    return e.s.run(lambda: e.s.extended.update(v, lambda w: w.assign(2.0)))


@case
def assign_of_per_replica_values_across(e: Env) -> Any:
    with e.s.scope():
        v = e.tf.Variable(1.0)
        return v.assign(e.ids())


@case
def per_replica_values_added(e: Env) -> Any:
    return e.ids() + 1.0


@case
def per_replica_values_in_an_operation(e: Env) -> Any:
    return e.tf.add(e.ids(), 1.0)


@case
def per_replica_values_as_a_constant(e: Env) -> Any:
    return e.tf.constant(e.ids())


@case
def per_replica_values_as_a_tensor(e: Env) -> Any:
    return e.tf.convert_to_tensor(e.ids())


@case
def per_replica_values_as_a_number(e: Env) -> Any:
    return float(e.ids())  # type: ignore[arg-type]


@case
def per_replica_values_subscripted(e: Env) -> Any:
    return e.ids()[0]


@case
def per_replica_values_iterated(e: Env) -> Any:
    return list(e.ids())


@case
def per_replica_values_have_no_shape(e: Env) -> Any:
    return e.ids().shape


@case
def per_replica_values_as_numpy(e: Env) -> Any:
    return e.ids().numpy()


@case
def reduce_by_an_unknown_name(e: Env) -> Any:
    return e.s.reduce("MAX", e.ids(), axis=None)


@case
def reduce_without_an_axis(e: Env) -> Any:
    return e.s.reduce("SUM", e.ids())


@case
def reduce_over_an_axis_that_is_not_there(e: Env) -> Any:
    return e.s.reduce("SUM", e.ids(), axis=0)


@case
def reduce_a_number(e: Env) -> Any:
    return e.s.reduce("SUM", 3.0, axis=None)


@case
def reduce_a_plain_tensor(e: Env) -> Any:
    return e.s.reduce("SUM", e.tf.constant([1.0, 2.0]), axis=None)


@case
def reduce_shapes_that_differ(e: Env) -> Any:
    return e.s.reduce("SUM", e.values(lambda k: e.tf.zeros([k + 1])), axis=None)


@case
def gather_of_scalars(e: Env) -> Any:
    return e.s.gather(e.ids(), axis=0)


@case
def gather_over_an_axis_that_is_not_there(e: Env) -> Any:
    return e.s.gather(e.values(lambda k: e.tf.zeros([2])), axis=3)


@case
def run_of_no_function(e: Env) -> Any:
    return e.s.run(3)


@case
def run_of_arguments_that_are_no_tuple(e: Env) -> Any:
    return e.s.run(lambda x: x, args=3)


@case
def run_of_keywords_that_are_no_dict(e: Env) -> Any:
    return e.s.run(lambda x: x, kwargs=3)


@case
def all_reduce_of_no_number(e: Env) -> Any:
    return e.s.run(lambda: e.context.all_reduce("SUM", "text"))


@case
def all_reduce_by_an_unknown_name(e: Env) -> Any:
    return e.s.run(lambda: e.context.all_reduce("MAX", e.tf.constant(1.0)))


@case
def all_gather_of_slices(e: Env) -> Any:
    tf = e.tf
    return e.s.run(
        lambda: e.context.all_gather(tf.IndexedSlices(tf.constant([[1.0]]), [0], [2, 1]), axis=0)
    )


@case
def merge_call_of_no_function(e: Env) -> Any:
    return e.s.run(lambda: e.context.merge_call(3))


@case
def error_in_a_replica(e: Env) -> Any:
    def step() -> Any:
        raise KeyError("wrong")

    return e.run(step)


@case
def error_in_one_replica(e: Env) -> Any:
    def step(x: Any) -> Any:
        e.tf.debugging.assert_less(x, 2.0)
        return x

    return e.run(step, e.ids())


@case
def bad_index_in_one_replica(e: Env) -> Any:
    x = e.values(lambda k: e.tf.constant(k))
    return e.run(lambda k: e.tf.gather(e.tf.constant([1.0, 2.0, 3.0]), k), x)


@case
def dataset_that_is_none(e: Env) -> Any:
    return e.s.experimental_distribute_dataset(3)


@case
def per_replica_batch_that_does_not_divide(e: Env) -> Any:
    return e.d.InputContext(1, 0, 4).get_per_replica_batch_size(9)


@case
def dataset_options_for_replicas(e: Env) -> Any:
    options = e.d.InputOptions(experimental_replication_mode=e.d.InputReplicationMode.PER_REPLICA)
    return e.s.experimental_distribute_dataset(e.tf.data.Dataset.range(8).batch(4), options)


@case
def dataset_on_device_per_worker(e: Env) -> Any:
    options = e.d.InputOptions(experimental_place_dataset_on_device=True)
    return e.s.distribute_datasets_from_function(
        lambda c: e.tf.data.Dataset.range(8).batch(4), options
    )


@case
def options_of_negative_size(e: Env) -> Any:
    return e.d.experimental.CommunicationOptions(bytes_per_pack=-1)


@case
def options_of_an_unknown_implementation(e: Env) -> Any:
    return e.d.experimental.CommunicationOptions(implementation="MPI")


@case
def negative_packs(e: Env) -> Any:
    return [e.d.NcclAllReduce(num_packs=-1)]


@case
def all_reduce_across(e: Env) -> Any:
    with e.s.scope():
        return e.context.all_reduce("SUM", e.tf.constant(1.0))


@case
def parameter_server(e: Env) -> Any:
    return e.d.ParameterServerStrategy(None)


@case
def tpu_that_is_not_there(e: Env) -> Any:
    return e.d.TPUStrategy()


@case
def second_logical_configuration(e: Env) -> Any:
    cpu = e.tf.config.list_physical_devices("CPU")[0]
    same = [e.tf.config.LogicalDeviceConfiguration()] * 4
    e.tf.config.set_logical_device_configuration(cpu, same)
    return [[d.name, d.device_type] for d in e.tf.config.list_logical_devices("CPU")]


@case
def memory_limit_of_a_cpu(e: Env) -> Any:
    cpu = e.tf.config.list_physical_devices("CPU")[0]
    limited = [e.tf.config.LogicalDeviceConfiguration(memory_limit=10)]
    return e.tf.config.set_logical_device_configuration(cpu, limited)


@case
def variable_with_a_bad_aggregation(e: Env) -> Any:
    with e.s.scope():
        return e.tf.Variable(1.0, aggregation="sum")


@case
def set_another_strategy_in_a_scope(e: Env) -> Any:
    with e.s.scope():
        e.d.experimental_set_strategy(e.s)

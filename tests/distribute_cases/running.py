"""`Strategy.run`: arguments, results, nests, functions within functions."""

from __future__ import annotations

from typing import Any

from tests.distribute_cases.environment import Env, case


@case
def run_of_a_tensor(e: Env) -> Any:
    return e.run(lambda: e.tf.constant(2.0))


@case
def run_of_a_per_replica_argument(e: Env) -> Any:
    return e.run(lambda x: x * 2.0 + 1.0, e.ids())


@case
def run_of_a_plain_tensor_argument(e: Env) -> Any:
    return e.run(lambda x: x + e.id(), e.tf.constant([1.0, 2.0]))


@case
def run_with_keywords(e: Env) -> Any:
    return e.run(lambda x, y: x - y, x=e.ids(), y=e.tf.constant(1.0))


@case
def run_of_a_nest(e: Env) -> Any:
    def step(batch: Any) -> Any:
        return {"sum": batch["a"] + batch["b"][0], "pair": (batch["a"], [batch["b"][1]])}

    return e.run(step, {"a": e.ids(), "b": (e.tf.constant(10.0), e.ids())})


@case
def run_returns_none(e: Env) -> Any:
    return e.run(lambda: None)


@case
def run_returns_none_in_a_nest(e: Env) -> Any:
    return e.run(lambda: (None, e.id()))


@case
def run_returns_nothing_in_lists(e: Env) -> Any:
    return e.run(lambda: ([], {}, ()))


@case
def run_returns_python_numbers(e: Env) -> Any:
    return e.s.run(lambda: (1, 2.5, "text", True))


@case
def run_of_python_arguments(e: Env) -> Any:
    return e.s.run(lambda x, y: x + y, args=(3, 4))


@case
def run_of_arguments_in_a_list(e: Env) -> Any:
    return e.s.run(lambda x, y: x + y, args=[e.ids(), e.ids()])


@case
def run_of_a_function(e: Env) -> Any:
    return e.run(e.tf.function(lambda x: x * x), e.ids())


@case
def run_of_a_function_that_calls_functions(e: Env) -> Any:
    tf = e.tf
    inner = tf.function(lambda x: x + e.id())
    return e.run(tf.function(lambda x: inner(x) * 2.0), e.ids())


@case
def run_of_a_branch(e: Env) -> Any:
    tf = e.tf
    return e.run(lambda x: tf.cond(x > 1.0, lambda: x * 10.0, lambda: -x), e.ids())


@case
def run_of_a_loop(e: Env) -> Any:
    tf = e.tf

    def step(x: Any) -> Any:
        return tf.while_loop(lambda i, a: i < x, lambda i, a: (i + 1.0, a * 2.0), (0.0, 1.0))[1]

    return e.run(step, e.ids())


@case
def run_of_a_python_branch(e: Env) -> Any:
    @e.tf.function
    def step(x: Any) -> Any:
        if x > 1.0:
            return x * 10.0
        return -x

    return e.run(step, e.ids())


@case
def run_of_a_python_loop(e: Env) -> Any:
    @e.tf.function
    def step(x: Any) -> Any:
        total = e.tf.constant(0.0)
        for k in e.tf.range(3):
            total += x * e.tf.cast(k, e.tf.float32)
        return total

    return e.run(step, e.ids())


@case
def run_of_matrices(e: Env) -> Any:
    x = e.values(lambda k: e.tf.reshape(e.tf.range(4.0) + float(k), [2, 2]))
    return e.run(lambda a: (e.tf.matmul(a, a), e.tf.reduce_sum(a, 0), e.tf.argmax(a, 1)), x)


@case
def run_of_a_gradient(e: Env) -> Any:
    def step(x: Any) -> Any:
        with e.tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x * x
        return tape.gradient(y, x)

    return e.run(step, e.ids())


@case
def run_within_run_is_one_replica(e: Env) -> Any:
    return e.run(lambda x: e.tf.map_fn(lambda v: v * x, e.tf.range(3.0)), e.ids())


@case
def run_of_strings(e: Env) -> Any:
    x = e.values(lambda k: e.tf.constant(f"r{k}"))
    return e.run(lambda s: e.tf.strings.join([s, s], "-"), x)


@case
def run_of_shapes_that_differ(e: Env) -> Any:
    x = e.values(lambda k: e.tf.range(float(k + 1)))
    return e.run(lambda v: (v * 2.0, e.tf.reduce_sum(v), e.tf.shape(v)), x)


@case
def run_of_an_empty_part(e: Env) -> Any:
    x = e.values(lambda k: e.tf.zeros([0 if k == 3 else 2, 3]) + float(k))
    return e.run(lambda v: (e.tf.reduce_sum(v), e.tf.reduce_max(e.tf.shape(v)), v), x)


@case
def run_of_boolean_mask(e: Env) -> Any:
    x = e.tf.constant([0.0, 1.0, 2.0, 3.0])
    return e.run(lambda i: e.tf.boolean_mask(x, x >= i), e.ids())


@case
def run_of_ragged(e: Env) -> Any:
    tf = e.tf
    x = e.values(lambda k: tf.ragged.constant([[1.0] * (k + 1), [2.0]]))
    return e.run(lambda r: tf.reduce_sum(r, axis=1), x)


@case
def run_returns_ragged(e: Env) -> Any:
    tf = e.tf
    x = e.values(lambda k: tf.ragged.constant([[1.0] * (k + 1), [2.0]]))
    return e.run(lambda r: r * 2.0, x)


@case
def run_of_sparse(e: Env) -> Any:
    tf = e.tf
    x = e.values(lambda k: tf.SparseTensor([[0, k]], [float(k + 1)], [2, 4]))
    return e.run(lambda v: (tf.sparse.reduce_sum(v, 1), tf.sparse.to_dense(v)), x)


@case
def run_of_bool_and_int(e: Env) -> Any:
    x = e.values(lambda k: e.tf.constant(k))
    return e.run(lambda k: (k % 2 == 0, k * 3, e.tf.cast(k, e.tf.int64)), x)


@case
def run_of_half_precision(e: Env) -> Any:
    x = e.values(lambda k: e.tf.constant(k + 0.5, e.tf.float16))
    return e.run(lambda v: (v * 2, e.tf.cast(v, e.tf.bfloat16)), x)


@case
def run_returns_its_argument(e: Env) -> Any:
    return e.run(lambda x: x, e.ids())


@case
def run_twice(e: Env) -> Any:
    once = e.run(lambda x: x + 1.0, e.ids())
    return e.run(lambda x: x * 10.0, once)


@case
def run_of_what_a_tape_around_follows(e: Env) -> Any:
    tf = e.tf
    with e.s.scope():
        v = tf.Variable(3.0)

    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            y = v * v * x
        return tape.gradient(y, v)

    return e.s.reduce("SUM", e.run(step, e.ids()), axis=None)


@case
def run_in_a_scope(e: Env) -> Any:
    with e.s.scope():
        return e.run(lambda x: x + 1.0, e.ids())


@case
def random_numbers_differ(e: Env) -> Any:
    parts = e.s.experimental_local_results(e.run(lambda: e.tf.random.uniform([3])))
    return len({tuple(p.numpy().tolist()) for p in parts})


@case
def stateless_random_numbers_agree(e: Env) -> Any:
    x = e.run(lambda: e.tf.random.stateless_uniform([3], [1, 2]))
    return len({tuple(p.numpy().tolist()) for p in e.s.experimental_local_results(x)})

"""Work done while the tape did not record, on another tape, or by somebody else."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import wengert as tf


def bad_loss_behind_the_block() -> Any:
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = v * v
    loss = tf.reduce_sum(y)  # WG105
    return tape.gradient(loss, v)


def good_loss_behind_the_block() -> Any:
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = v * v
        loss = tf.reduce_sum(y)
    return tape.gradient(loss, v)


def bad_scaled_in_the_call() -> Any:
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(v * v)
    return tape.gradient(loss / 2.0, v)  # WG105


def good_scaled_in_the_call() -> Any:
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(v * v)
    return tape.gradient(loss, v, output_gradients=tf.constant(0.5))


def _mean(x: Any) -> Any:
    return tf.reduce_mean(x)  # WG105


def bad_helper_called_too_late() -> Any:
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = v * v
    return tape.gradient(_mean(y), v)  # the marked line is in the helper


def good_helper_called_too_late() -> Any:
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        loss = _mean(v * v)
    return tape.gradient(loss, v)


def bad_features_before_the_block() -> Any:
    v = tf.Variable([1.0, 2.0])
    h = tf.tanh(v)  # WG106 (likely)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(h * h)
    return tape.gradient(loss, v)


def good_features_before_the_block() -> Any:
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        h = tf.tanh(v)
        loss = tf.reduce_sum(h * h)
    return tape.gradient(loss, v)


def bad_target_before_the_block() -> Any:
    v = tf.Variable([1.0, 2.0])
    loss = tf.reduce_sum(v * v)  # WG106
    with tf.GradientTape() as tape:
        pass
    return tape.gradient(loss, v)


def good_target_before_the_block() -> Any:
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(v * v)
    return tape.gradient(loss, v)


def bad_half_of_it_before_the_block() -> Any:
    v, w = tf.Variable([1.0, 2.0]), tf.Variable([3.0, 4.0])
    h = v * 2.0  # WG106 (likely)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(h * w)
    return tape.gradient(loss, [v, w])


def good_half_of_it_before_the_block() -> Any:
    v, w = tf.Variable([1.0, 2.0]), tf.Variable([3.0, 4.0])
    with tf.GradientTape() as tape:
        h = v * 2.0
        loss = tf.reduce_sum(h * w)
    return tape.gradient(loss, [v, w])


def bad_target_while_paused() -> Any:
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = v * v
        with tape.stop_recording():
            loss = tf.reduce_sum(y)  # WG107
    return tape.gradient(loss, v)


def good_target_while_paused() -> Any:
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = v * v
        loss = tf.reduce_sum(y)
        with tape.stop_recording():
            tf.norm(y)
    return tape.gradient(loss, v)


def bad_step_while_paused() -> Any:
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        with tape.stop_recording():
            y = v * v  # WG107 (likely)
        loss = tf.reduce_sum(y)
    return tape.gradient(loss, v)


def good_step_while_paused() -> Any:
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = v * v
        loss = tf.reduce_sum(y)
    return tape.gradient(loss, v)


def bad_reset_after_the_target() -> Any:
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(v * v)  # WG108
        tape.reset()
    return tape.gradient(loss, v)


def good_reset_after_the_target() -> Any:
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        tf.reduce_sum(v)
        tape.reset()
        loss = tf.reduce_sum(v * v)
    return tape.gradient(loss, v)


def bad_reset_in_the_middle() -> Any:
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = v * v  # WG108 (likely)
        tape.reset()
        loss = tf.reduce_sum(y)
    return tape.gradient(loss, v)


def good_reset_in_the_middle() -> Any:
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.reset()
        y = v * v
        loss = tf.reduce_sum(y)
    return tape.gradient(loss, v)


def bad_reset_forgets_what_was_watched() -> Any:
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        tape.reset()  # WG108
        loss = tf.reduce_sum(x * x)
    return tape.gradient(loss, x)


def good_reset_forgets_what_was_watched() -> Any:
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.reset()
        tape.watch(x)
        loss = tf.reduce_sum(x * x)
    return tape.gradient(loss, x)


def bad_asks_the_wrong_tape() -> Any:
    v = tf.Variable(2.0)
    with tf.GradientTape() as first:
        y = v * v  # WG109
    with tf.GradientTape() as second:
        z = v + 1.0
    return second.gradient(y, v), first.gradient(y, v), z


def good_asks_the_wrong_tape() -> Any:
    v = tf.Variable(2.0)
    with tf.GradientTape() as first:
        y = v * v
    with tf.GradientTape() as second:
        z = v + 1.0
    return second.gradient(z, v), first.gradient(y, v)


def bad_goes_on_from_another_tape() -> Any:
    v = tf.Variable(2.0)
    with tf.GradientTape(persistent=True) as first:
        y = v * v  # WG109 (likely)
    with tf.GradientTape() as second:
        z = y + 1.0
    return second.gradient(z, v), first.gradient(y, v)


def good_goes_on_from_another_tape() -> Any:
    v = tf.Variable(2.0)
    with tf.GradientTape() as first, tf.GradientTape() as second:
        y = v * v
        z = y + 1.0
    return second.gradient(z, v), first.gradient(y, v)


def bad_thread() -> Any:
    v, made = tf.Variable(2.0), []

    def work() -> None:
        made.append(v * v)  # WG110 (likely)

    with tf.GradientTape() as tape:
        worker = threading.Thread(target=work)
        worker.start()
        worker.join()
    y = made[0]
    return tape.gradient(y, v)


def good_thread() -> Any:
    v, made = tf.Variable(2.0), []

    def work() -> None:
        with tf.GradientTape() as tape:
            y = v * v
        made.append(tape.gradient(y, v))

    worker = threading.Thread(target=work)
    worker.start()
    worker.join()
    return made[0]


def bad_pool() -> Any:
    v = tf.Variable(2.0)

    def work(x: Any) -> Any:
        return x * v  # WG110 (likely)

    with ThreadPoolExecutor(1) as pool, tf.GradientTape() as tape:
        y = pool.submit(work, tf.constant(3.0)).result()
        loss = y + v * 0.0
    return tape.gradient(y, v), loss


def good_pool() -> Any:
    v = tf.Variable(2.0)

    def work(x: float) -> float:
        return x + 1.0

    with ThreadPoolExecutor(1) as pool, tf.GradientTape() as tape:
        y = v * pool.submit(work, 3.0).result()
    return tape.gradient(y, v)


def bad_late_task() -> Any:
    async def square(v: Any) -> Any:
        await asyncio.sleep(0)
        return v * v  # WG111

    async def main() -> Any:
        v = tf.Variable(2.0)
        with tf.GradientTape() as tape:
            task = asyncio.create_task(square(v))
        y = await task
        return tape.gradient(y, v)

    return asyncio.run(main())


def good_late_task() -> Any:
    async def square(v: Any) -> Any:
        await asyncio.sleep(0)
        return v * v

    async def main() -> Any:
        v = tf.Variable(2.0)
        with tf.GradientTape() as tape:
            y = await asyncio.create_task(square(v))
        return tape.gradient(y, v)

    return asyncio.run(main())


def bad_early_task() -> Any:
    async def square(v: Any, go: asyncio.Event) -> Any:
        await go.wait()
        return v * v  # WG110 (likely)

    async def main() -> Any:
        v, go = tf.Variable(2.0), asyncio.Event()
        task = asyncio.create_task(square(v, go))
        with tf.GradientTape() as tape:
            go.set()
            y = await task
            z = y + v * 0.0
        return tape.gradient(y, v), z

    return asyncio.run(main())


def good_early_task() -> Any:
    async def square(v: Any, go: asyncio.Event) -> Any:
        await go.wait()
        return v * v

    async def main() -> Any:
        v, go = tf.Variable(2.0), asyncio.Event()
        with tf.GradientTape() as tape:
            task = asyncio.create_task(square(v, go))
            go.set()
            y = await task
        return tape.gradient(y, v)

    return asyncio.run(main())

"""What belongs to the context and what to the process: each row of the table in docs/functions.md.

What a `with` sets is seen by tasks that start in it and by no other thread; settings of the process
are seen by all. `test_every_row_of_the_page_is_here` compares the page with the tables below.
"""

from __future__ import annotations

import asyncio
import logging
import re
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

import wengert as tf
from wengert.core.context import Scoped
from wengert.engines import devices, engine_choice
from wengert.runtime import settings
from wengert.summary.writer import SummaryWriter

config: Any = tf.config
THREADS = 64
PLAIN = tf.constant(2.0)
_PAGE = Path(__file__).parents[1] / "docs" / "functions.md"


def in_thread(read: Callable[[], Any]) -> Any:
    """What another thread reads."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(read).result(600)


def in_task(read: Callable[[], Any]) -> Any:
    """What a task reads that starts here."""

    async def main() -> Any:
        async def one() -> Any:
            return read()

        return await asyncio.create_task(one())

    return asyncio.run(main())


def numerics_are_checked() -> bool:
    try:
        tf.math.log(tf.constant(-1.0))
    except tf.errors.InvalidArgumentError:
        return True
    return False


@contextmanager
def checked_numerics() -> Any:
    tf.debugging.enable_check_numerics()
    try:
        yield
    finally:
        tf.debugging.disable_check_numerics()


@contextmanager
def default_strategy() -> Any:
    tf.distribute.experimental_set_strategy(tf.distribute.OneDeviceStrategy("/cpu:0"))
    try:
        yield
    finally:
        tf.distribute.experimental_set_strategy(None)


def writer() -> AbstractContextManager[Any]:
    return SummaryWriter().as_default(step=3)


def step_of_summaries() -> Any:
    return tf.summary.experimental.get_step()


@contextmanager
def tape() -> Any:
    """A tape, and what it follows is found out by asking it."""
    with tf.GradientTape(persistent=True) as found:
        found.watch(PLAIN)
        _tapes.append(found)
        try:
            yield
        finally:
            _tapes.pop()


_tapes: list[Any] = []


def is_on_the_tape() -> bool:
    """Whether the tape writes down an operation that is done here."""
    if not _tapes:
        return False
    before = len(_tapes[-1]._entries)
    PLAIN * 3.0  # for the tape
    return len(_tapes[-1]._entries) > before


# By the first column of the page: what sets it, and what one reads.
CONTEXT: dict[str, tuple[Callable[[], AbstractContextManager[Any]], Callable[[], Any]]] = {
    "`tf.GradientTape`, `tf.autodiff.ForwardAccumulator`": (tape, is_on_the_tape),
    '`tf.engine("host")`': (lambda: tf.engine("host"), engine_choice.forced),
    "`tf.device`": (lambda: _device(), devices.WISHED.get),
    "`tf.name_scope`": (
        lambda: tf.name_scope("outer"),
        lambda: tf.Variable(1.0, name="v").name,
    ),
    "`strategy.scope()`, `tf.distribute.experimental_set_strategy`": (
        lambda: tf.distribute.OneDeviceStrategy("/cpu:0").scope(),
        tf.distribute.has_strategy,
    ),
    "default writer, step and `record_if` of `tf.summary`": (writer, step_of_summaries),
    "`tf.debugging.enable_check_numerics`": (checked_numerics, numerics_are_checked),
}
MORE = {
    "experimental_set_strategy": (default_strategy, tf.distribute.has_strategy),
}


@contextmanager
def _device() -> Any:
    owner = object()
    devices.WISHED.enter(owner, "a device")
    try:
        yield
    finally:
        devices.WISHED.leave(owner)


def rows_of_context() -> Any:
    return [pytest.param(*row, id=name) for name, row in (CONTEXT | MORE).items()]


@pytest.mark.parametrize(("enter", "read"), rows_of_context())
def test_of_the_context(enter: Any, read: Any) -> None:
    before = read()
    with enter():
        inside = read()
        assert inside != before
        assert in_task(read) == inside
        assert in_thread(read) == before
    assert read() == before


@pytest.mark.parametrize(("enter", "read"), rows_of_context())
def test_what_a_thread_or_task_sets_is_its_own(enter: Any, read: Any) -> None:
    before = read()

    def other() -> Any:
        with enter():
            return read()

    assert in_thread(other) != before
    assert in_task(other) != before
    assert read() == before
    entered, go_on = threading.Event(), threading.Event()

    def stay() -> None:
        with enter():
            entered.set()
            assert go_on.wait(600)

    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(stay)
        assert entered.wait(600)
        try:
            assert read() == before  # while the block of the other thread is open
        finally:
            go_on.set()
        waiting.result(600)


def test_a_function_being_traced_belongs_to_the_context() -> None:
    seen: list[Any] = []

    @tf.function
    def f(x: Any) -> Any:
        seen.append((tf.executing_eagerly(), in_thread(tf.executing_eagerly)))
        seen.append(in_task(tf.executing_eagerly))
        with tf.init_scope():
            seen.append((tf.executing_eagerly(), in_task(tf.executing_eagerly)))
        return x

    f(PLAIN)
    assert seen == [(False, True), False, (True, True)]


def test_an_accumulator_follows_its_thread() -> None:
    with tf.autodiff.ForwardAccumulator(PLAIN, tf.constant(1.0)) as accumulator:
        mine, theirs = PLAIN * PLAIN, in_thread(lambda: PLAIN * PLAIN)
    assert float(accumulator.jvp(mine)) == 4.0
    assert accumulator.jvp(theirs) is None


def _determinism(on: bool) -> None:
    (settings.enable_op_determinism if on else settings.disable_op_determinism)()


def _profiling(on: bool) -> None:
    profiler: Any = tf.profiler.experimental
    if on:
        profiler.start(_folder[-1])
    elif _is_profiling():
        profiler.stop(save=False)


def _is_profiling() -> bool:
    try:
        _profiling(True)
    except tf.errors.AlreadyExistsError:
        return True
    profiler: Any = tf.profiler.experimental
    profiler.stop(save=False)
    return False


_folder: list[str] = []


def _first_draw() -> float:
    return float(tf.random.normal([], seed=1))


_other = tf.random.Generator.from_seed(3)
_before = tf.random.Generator.from_seed(4)


def _refuses_unseeded() -> bool:
    try:
        tf.random.Generator.from_non_deterministic_state()
    except RuntimeError:
        return True
    return False


# By the first column of the page: setting it on or off, and what one reads.
PROCESS: dict[str, tuple[Callable[[bool], Any], Callable[[], Any]]] = {
    "`tf.config.run_functions_eagerly`": (
        config.run_functions_eagerly,
        config.functions_run_eagerly,
    ),
    "`tf.config.set_soft_device_placement` and all other settings of `tf.config`": (
        config.set_soft_device_placement,
        config.get_soft_device_placement,
    ),
    "`tf.config.experimental.enable_op_determinism`": (
        _determinism,
        _refuses_unseeded,
    ),
    "`tf.random.set_seed`, `tf.random.set_global_generator`": (
        lambda on: tf.random.set_global_generator(_other if on else _before),
        lambda: tf.random.get_global_generator() is _other,
    ),
    "`tf.profiler.experimental.start`, `tf.summary.trace_on`": (_profiling, _is_profiling),
    "`wengert.explain.doctor`, `wengert.explain.settings`": (
        lambda on: setattr(tf.explain.settings, "none_gradients", "error" if on else "warn"),
        lambda: tf.explain.settings.none_gradients,
    ),
    "`tf.autograph.set_verbosity`": (
        lambda on: tf.autograph.set_verbosity(1 if on else 0),
        lambda: logging.getLogger("wengert.autograph").level,
    ),
}


@pytest.mark.parametrize(
    ("turn", "read"), [pytest.param(*row, id=name) for name, row in PROCESS.items()]
)
def test_of_the_process(turn: Any, read: Any, tmp_path: Path) -> None:
    _folder.append(str(tmp_path))
    turn(False)
    off = read()
    try:
        for runner in (lambda f: f(), in_thread, in_task):
            runner(lambda: turn(True))
            on = read()
            assert on != off
            assert in_thread(read) == in_task(read) == on
            turn(False)
            assert read() == off
    finally:
        config.set_soft_device_placement(True)
        _folder.pop()


def test_every_row_of_the_page_is_here() -> None:
    text = _PAGE.read_text(encoding="utf-8").partition("## Threads and tasks")[2]
    rows = re.findall(r"^\| (.+?) \| (the context|the process)", text, re.MULTILINE)
    of = {kind: [name for name, k in rows if k == f"the {kind}"] for kind in ("context", "process")}
    assert of["context"] == [*CONTEXT, "a function being traced, `tf.init_scope`"]
    assert of["process"] == [*PROCESS]


def test_seeds_belong_to_the_process() -> None:
    tf.random.set_seed(17)
    numbers = [_first_draw(), _first_draw()]
    in_thread(lambda: tf.random.set_seed(17))
    assert [in_thread(_first_draw), _first_draw()] == numbers


def test_the_doctor_hears_every_thread() -> None:
    def unconnected() -> None:
        x = tf.Variable(1.0)
        with tf.GradientTape() as tape:
            y = tf.constant(2.0)
        tape.gradient(y, x)

    with tf.explain.doctor() as found, tf.explain.settings.using(none_gradients="off"):
        in_thread(unconnected)
    assert len(found.report()) == 1


def test_engine_of_a_dataset_is_that_of_its_reader() -> None:
    """The threads that Wengert starts for itself do what their reader asks for."""
    seen: list[Any] = []

    def note(x: Any) -> Any:
        seen.append((threading.current_thread().name, engine_choice.forced()))
        for _ in range(2000):  # long enough to be worth a thread
            x = x + 0.0
        return x

    def noted(x: Any) -> Any:
        return tf.py_function(note, [x], tf.float32)

    data = tf.data.Dataset.from_tensor_slices(tf.zeros([12]))
    with tf.engine("host"):
        assert len([*data.map(noted, num_parallel_calls=2).prefetch(2)]) == 12
    assert {engine for _, engine in seen} == {"host"}
    assert any(name != threading.current_thread().name for name, _ in seen)


def test_many_threads_with_one_object_each_its_own_scope() -> None:
    """64 threads open the same objects and their own, all at once, and none sees another's."""
    shared_engine, shared_names = tf.engine("host"), tf.name_scope("shared")
    strategy = tf.distribute.OneDeviceStrategy("/cpu:0")
    barrier = threading.Barrier(THREADS)

    def work(k: int) -> None:
        for turn in range(4):
            with ExitStack() as stack:
                barrier.wait(600)
                odd = (k + turn) % 2
                if odd:
                    stack.enter_context(shared_engine)
                    stack.enter_context(shared_names)
                    stack.enter_context(strategy.scope())
                    tf.debugging.enable_check_numerics()
                stack.enter_context(tf.name_scope(f"n{k}"))
                x = tf.constant(float(k))
                followed = stack.enter_context(tf.GradientTape())
                followed.watch(x)
                barrier.wait(600)
                prefix = f"shared/n{k}/" if odd else f"n{k}/"
                assert tf.Variable(1.0, name="v").name.startswith(f"{prefix}v")
                assert engine_choice.forced() == ("host" if odd else None)
                assert tf.distribute.has_strategy() == bool(odd)
                assert numerics_are_checked() == bool(odd)
                y = x * x
                barrier.wait(600)
            tf.debugging.disable_check_numerics()
            assert float(followed.gradient(y, x)) == 2.0 * k
            assert engine_choice.forced() is None and not tf.distribute.has_strategy()
            assert not numerics_are_checked()

    with ThreadPoolExecutor(THREADS) as pool:
        for done in [pool.submit(work, k) for k in range(THREADS)]:
            done.result(600)


def test_blocks_that_end_in_another_order() -> None:
    """A generator that ends its block late takes away its own value and no other's."""
    value: Scoped[str] = Scoped("test_blocks", "nothing")
    first, second = object(), object()
    value.enter(first, "a")
    value.enter(second, "b")
    value.leave(first)
    assert value.get() == "b"
    value.leave(second)
    assert value.get() == "nothing"
    value.leave(second)  # nothing to end
    value.enter(first, "a")
    value.put("c")
    value.enter(first, "d")
    value.leave(first)
    assert value.get() == "c"
    value.leave(first)
    assert value.get() == "nothing"
    value.put("e")
    value.enter(first, "a")
    value.leave(first)
    assert value.get() == "e"


def test_a_block_may_be_left_in_another_context() -> None:
    scope = tf.name_scope("outer")

    async def enter() -> None:
        scope.__enter__()

    asyncio.run(enter())
    scope.__exit__(None, None, None)
    assert tf.Variable(1.0, name="v").name.startswith("v")


def test_tasks_keep_apart() -> None:
    """Tasks take turns inside their blocks; each sees its own."""

    async def one(k: int) -> list[str]:
        names = []
        with tf.name_scope(f"t{k}"):
            for _ in range(3):
                names.append(tf.Variable(1.0, name="v").name)
                await asyncio.sleep(0)
        return names

    async def main() -> Any:
        return await asyncio.gather(*[one(k) for k in range(8)])

    for k, names in enumerate(asyncio.run(main())):
        assert all(name.startswith(f"t{k}/v") for name in names)

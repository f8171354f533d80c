"""The engine of `tf.data`: threads, speed by rows, seeds, lines in errors, and what it frees.

What a dataset computes is in tests/semantics/test_data.py.
"""
# Wrong names and arguments are tested, too.
# pyright: reportArgumentType=false, reportAttributeAccessIssue=false

from __future__ import annotations

import gc
import inspect
import os
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections import Counter
from typing import Any

import numpy as np
import pytest

import wengert as tf
from wengert.data import dataset_arguments
from wengert.data.dataset_options import Settings

D = tf.data.Dataset


@pytest.fixture(autouse=True)
def forget_the_seed() -> Any:
    yield
    tf.random.set_seed(None)


@pytest.fixture(autouse=True)
def no_thread_is_left() -> Any:
    yield
    wait_for(lambda: not ours(), "threads are left")


def ours() -> list[str]:
    """The threads of datasets; those for large arrays last as long as the process."""
    names = [t.name for t in threading.enumerate()]
    return [n for n in names if n.startswith("wengert") and not n.startswith("wengert-blocks")]


def wait_for(condition: Any, what: str) -> None:
    until = time.monotonic() + 120.0
    while not condition():
        assert time.monotonic() < until, what
        time.sleep(0.002)


def this_line() -> int:
    frame = inspect.currentframe()
    assert frame is not None
    assert frame.f_back is not None
    return frame.f_back.f_lineno


def numbers(dataset: Any) -> list[Any]:
    return [np.asarray(x).tolist() for x in dataset]


def spec(shape: Any, dtype: Any = tf.int64) -> Any:
    return tf.TensorSpec(shape, dtype)


# Rows: arrays are sliced and gathered, never put together element by element.


def test_batches_of_an_array_are_slices_of_it() -> None:
    x = tf.constant(np.arange(20.0).reshape(10, 2))
    whole = next(iter(D.from_tensors(x)))
    for step in (lambda d: d, lambda d: d.take(8), lambda d: d.skip(2), lambda d: d.prefetch(1)):
        for batch in step(D.from_tensor_slices(x)).batch(3):
            assert np.shares_memory(np.asarray(batch), np.asarray(whole))


@pytest.mark.parametrize(
    "steps",
    [
        lambda d: d,
        lambda d: d.shuffle(100),
        lambda d: d.shuffle(7).repeat(2),
        lambda d: d.shuffle(100).shard(3, 1),
        lambda d: d.enumerate().shuffle(50).take(20),
        lambda d: D.zip((d, D.range(30))).shuffle(40),
        lambda d: d.cache().shuffle(40).with_options(tf.data.Options()),
    ],
    ids=["plain", "shuffle", "repeat", "shard", "enumerate", "zip", "cache"],
)
def test_no_element_is_made_for_a_batch(steps: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = steps(D.from_tensor_slices(np.arange(40))).batch(8)
    monkeypatch.setattr("wengert.data.array_rows.Rows.element", None)
    assert sum(1 for _ in dataset) == -(-len(list(dataset.unbatch())) // 8)


def test_an_epoch_of_shuffled_batches_is_quick() -> None:
    x, y = np.zeros((60_000, 784), np.float32), np.arange(60_000)
    dataset = D.from_tensor_slices((x, y)).shuffle(60_000).batch(128)
    started = time.process_time()
    seen = np.concatenate([labels.numpy() for _, labels in dataset])
    # Ten times what it takes; element by element it takes longer.
    assert time.process_time() - started < 0.6
    assert (np.sort(seen) == y).all()
    assert not (seen == y).all()


@pytest.mark.parametrize("size", [1, 3, 29, 30, 31, 500, tf.data.UNKNOWN_CARDINALITY])
def test_rows_and_elements_shuffle_alike(size: int) -> None:
    rows, elements = D.range(30), D.range(30).map(lambda x: x)
    by_rows = rows.shuffle(size, seed=5).repeat(2)
    by_elements = elements.shuffle(size, seed=5).repeat(2)
    assert numbers(by_rows) == numbers(by_elements)
    assert numbers(by_rows.batch(7)) == numbers(by_elements.batch(7))


def test_a_shuffle_is_uniform() -> None:
    dataset = D.range(4).shuffle(4, seed=0)
    found = Counter(tuple(numbers(dataset)) for _ in range(2400))
    assert len(found) == 24
    # Standard deviation 9.8 around 100.
    assert max(found.values()) < 150
    assert min(found.values()) > 55


def test_random_pipelines_agree_with_lists() -> None:
    rng = np.random.default_rng(0)
    for _ in range(80):
        length = int(rng.integers(0, 12))
        dataset, wanted = D.range(length), list(range(length))
        if rng.random() < 0.5:
            dataset = dataset.map(lambda x: x)
        for _ in range(int(rng.integers(0, 5))):
            dataset, wanted = random_step(rng, dataset, wanted)
        assert numbers(dataset) == wanted
        assert int(dataset.cardinality()) == len(wanted)
        size = int(rng.integers(1, 5))
        groups = [wanted[i : i + size] for i in range(0, len(wanted), size)]
        assert numbers(dataset.batch(size)) == groups


def random_step(rng: np.random.Generator, d: Any, w: list[int]) -> tuple[Any, list[int]]:
    k = int(rng.integers(0, 6))
    choices = [
        (d.take(k), w[:k]),
        (d.skip(k), w[k:]),
        (d.repeat(k), w * k),
        (d.shard(k + 1, k // 2), w[k // 2 :: k + 1]),
        (d.concatenate(D.range(k)), w + list(range(k))),
        (d.prefetch(k), w),
        (d.batch(k + 1).unbatch().apply(tf.data.experimental.assert_cardinality(len(w))), w),
    ]
    return choices[int(rng.integers(0, len(choices)))]


def test_batches_share_no_memory_with_what_the_user_may_change() -> None:
    x = np.zeros(4)
    dataset = D.from_tensor_slices(x).batch(2)
    x[:] = 1.0
    assert numbers(dataset) == [[0.0, 0.0], [0.0, 0.0]]
    buffer = np.zeros(2)

    def reused() -> Any:
        for i in range(3):
            buffer[:] = i
            yield buffer

    found = list(D.from_generator(reused, output_signature=spec([2], tf.float64)))
    assert [x.numpy().tolist() for x in found] == [[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]


# Threads.


def test_prefetch_runs_ahead_only_as_far_as_it_is_told() -> None:
    made: list[int] = []

    def note(x: Any) -> Any:
        made.append(int(x))
        return x

    iterator = iter(D.range(100).map(note).prefetch(4))
    assert not made, "nothing is made before somebody asks"
    next(iterator)
    wait_for(lambda: len(made) >= 4, "prefetch does not run ahead")
    time.sleep(0.02)
    assert len(made) <= 1 + 4
    for _ in range(20):
        next(iterator)
    time.sleep(0.02)
    assert len(made) <= 21 + 4
    del iterator


def test_prefetch_works_while_the_reader_does() -> None:
    made = [threading.Event() for _ in range(10)]

    def note(x: Any) -> Any:
        made[int(x)].set()
        return x

    for x in D.range(9).map(note).prefetch(2):
        assert int(x) == 8 or made[int(x) + 1].wait(5.0), "nothing was made meanwhile"


def test_a_dropped_iterator_stops_its_threads_and_closes_the_generator() -> None:
    closed: list[int] = []

    def endless() -> Any:
        try:
            while True:
                yield 1
        finally:
            closed.append(1)

    dataset = D.from_generator(endless, output_signature=spec([]))
    for steps in (dataset, dataset.prefetch(2), dataset.batch(2).prefetch(1).map(lambda x: x)):
        closed.clear()
        iterator = iter(steps)
        next(iterator)
        del iterator
        wait_for(lambda: closed, "the generator is still open")
    closed.clear()
    for _ in dataset.prefetch(2):
        break
    wait_for(lambda: closed, "the generator is still open")


def test_an_iterator_that_was_never_asked_starts_nothing() -> None:
    called: list[int] = []
    iterator = iter(D.from_generator(lambda: called.append(1) or [1], tf.int32).prefetch(2))
    assert not ours()
    del iterator
    assert not called


def test_errors_travel_through_threads_in_their_place() -> None:
    def picky(x: Any) -> Any:
        if int(x) == 2:
            raise KeyError("two")
        return x

    for dataset in (
        D.range(4).map(picky).prefetch(3),
        D.range(4).map(picky, num_parallel_calls=3),
        D.range(4).map(picky, num_parallel_calls=tf.data.AUTOTUNE).prefetch(1).prefetch(1),
    ):
        iterator = iter(dataset)
        found = [int(next(iterator)), int(next(iterator))]
        with pytest.raises(KeyError, match="two"):
            next(iterator)
        assert [*found, int(next(iterator))] == [0, 1, 3]
        with pytest.raises(StopIteration):
            next(iterator)


def test_slow_functions_run_side_by_side_and_in_order() -> None:
    running, most, lock = 0, 0, threading.Lock()
    pair = threading.Barrier(2)  # broken, an error, if nobody else comes

    def slow(x: Any) -> Any:
        nonlocal running, most
        number = int(x)
        with lock:
            running += 1
            most = max(most, running)
        if number < 2:
            time.sleep(0.01)  # two calls in a row that are worth a thread
        elif number < 4:  # later ones might pair up before one of these, which then waits alone
            pair.wait(120.0)
        with lock:
            running -= 1
        return x

    dataset = D.range(24).map(slow, num_parallel_calls=4)
    running = most = 0  # `map` has looked at the function, as far as it needs no values
    assert numbers(dataset) == [*range(24)]
    assert 2 <= most <= 4


def test_without_determinism_the_quick_ones_go_first() -> None:
    gate = threading.Event()

    def first_waits(x: Any) -> Any:
        if int(x) == 2:
            gate.wait(120.0)
        time.sleep(0.002)
        return x

    dataset = D.range(6).map(first_waits, num_parallel_calls=3, deterministic=False)
    iterator = iter(dataset)
    found = [int(next(iterator)) for _ in range(5)]
    assert 2 not in found
    gate.set()
    assert [int(x) for x in iterator] == [2]
    options = tf.data.Options()
    options.deterministic = False
    gate.clear()
    free = iter(D.range(6).map(first_waits, num_parallel_calls=3).with_options(options))
    assert 2 not in [int(next(free)) for _ in range(5)]
    gate.set()
    assert [int(x) for x in free] == [2]


@pytest.mark.parametrize(("worth", "threads"), [(60.0, False), (0.0, True)])
def test_only_slow_functions_get_threads(
    worth: float, threads: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wengert.data.parallel._WORTH_A_THREAD", worth)
    names: set[str] = set()

    def note(x: Any) -> Any:
        names.add(threading.current_thread().name.partition("_")[0])
        return x

    assert numbers(D.range(20).map(note, num_parallel_calls=tf.data.AUTOTUNE)) == [*range(20)]
    assert names == {"MainThread", *(["wengert-map"] if threads else [])}


def test_the_size_of_the_pool_can_be_set() -> None:
    running, most, lock = 0, 0, threading.Lock()
    pair = threading.Barrier(2)  # broken, an error, if nobody else comes

    def slow(x: Any) -> Any:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        if int(x) < 2:
            time.sleep(0.01)  # two calls in a row that are worth a thread
        else:
            pair.wait(120.0)
        with lock:
            running -= 1
        return x

    options = tf.data.Options()
    options.threading.private_threadpool_size = 2
    dataset = D.range(12).map(slow, num_parallel_calls=8).with_options(options)
    running = most = 0  # `map` has looked at the function, as far as it needs no values
    numbers(dataset)
    assert most == 2


def count_settings(monkeypatch: pytest.MonkeyPatch, run: Any) -> int:
    """How many settings objects, groups of settings among them, are made meanwhile."""
    made = 0
    initialise = Settings.__init__

    def counted(self: Any) -> None:
        nonlocal made
        made += 1
        initialise(self)

    with monkeypatch.context() as patch:
        patch.setattr(Settings, "__init__", counted)
        run()
    return made


def test_options_are_merged_once(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = tf.data.Options()
    chosen.deterministic = False

    def chain(steps: int) -> Any:
        dataset = D.range(4).with_options(chosen)
        for _ in range(steps):
            dataset = D.zip((dataset, D.range(4))).map(lambda x, _: x)
        return dataset

    def use(dataset: Any) -> None:
        assert dataset.options().deterministic is False
        assert numbers(dataset) == [0, 1, 2, 3]

    of_short, of_long = (count_settings(monkeypatch, lambda n=n: use(chain(n))) for n in (1, 8))
    assert of_long == of_short  # no step of a dataset costs a merge
    plain, again = D.range(4).map(lambda x: x).batch(2), chain(3)
    use(again)
    assert count_settings(monkeypatch, lambda: [*plain, *plain, *plain.prefetch(1)]) == 0
    assert count_settings(monkeypatch, lambda: [use(again), use(again)]) == 0


def test_options_given_are_copied() -> None:
    options = tf.data.Options()
    options.threading.private_threadpool_size = 2
    dataset = D.range(3).with_options(options)
    options.threading.private_threadpool_size = 5
    assert dataset.options().threading.private_threadpool_size == 2


def test_several_threads_may_share_an_iterator() -> None:
    iterator = iter(D.range(2000).map(lambda x: x).batch(3))
    found: list[int] = []

    def read() -> None:
        for batch in iterator:
            found.extend(batch.numpy().tolist())

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == [*range(2000)]


PROGRAM = """
import os, signal, sys, threading, time
import wengert as tf

# Shells start what runs in the background with the interrupt ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)

def slow(x):
    time.sleep(0.002)
    return x

numbers = iter(tf.data.Dataset.range(10**6).map(slow, num_parallel_calls=3).prefetch(2))
interrupt = threading.Timer(0.05, lambda: os.kill(os.getpid(), signal.SIGINT))
seen = []
try:
    for x in numbers:
        seen.append(int(x))
        if len(seen) == 11:
            interrupt.start()
except KeyboardInterrupt:
    print("interrupted")
seen.append(int(next(numbers)))
print(len(seen) - 1 <= seen[-1] <= len(seen), len(seen) > 10)
"""


def test_an_interrupt_stops_the_loop_and_leaves_the_iterator_usable() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=600, check=False
    )
    assert (done.stdout.split("\n")[:2], done.stderr) == (["interrupted", "True True"], "")
    assert done.returncode == 0


def test_a_program_ends_although_threads_still_prefetch() -> None:
    code = (
        "import wengert as tf\n"
        "it = iter(tf.data.Dataset.range(9).repeat().map(lambda x: x + 1).prefetch(3))\n"
        "print(int(next(it)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=600, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "1\n", "")


_FORKING = """
import multiprocessing

import wengert as tf

D = tf.data.Dataset


def in_child(iterator, queue):
    try:
        next(iterator)
    except RuntimeError as error:
        queue.put(str(error))
    queue.put([int(x) for x in D.range(3).map(lambda x: x).prefetch(1)])


iterator = iter(D.range(100).map(lambda x: x).prefetch(2))
next(iterator)
fork = multiprocessing.get_context("fork")
queue = fork.SimpleQueue()
child = fork.Process(target=in_child, args=(iterator, queue))
child.start()
print(queue.get())
print(queue.get())
child.join()
print(int(next(iterator)))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_after_a_fork_old_iterators_say_so_and_new_ones_work() -> None:
    # In a process of its own: XLA, which another test may have started here, does not fork.
    found = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", _FORKING],
        capture_output=True, text=True, timeout=600, check=True,
    )  # fmt: skip
    assert found.stdout.splitlines() == [
        "prefetch: this iterator belongs to the parent process, and so does its thread. Make a new "
        "iterator after the fork.",
        "[0, 1, 2]",
        "1",
    ]


# Seeds.


def test_threads_do_not_change_what_a_function_draws() -> None:
    def draws(**options: Any) -> list[Any]:
        tf.random.set_seed(7)

        def noisy(x: Any) -> Any:
            time.sleep(0.002)
            return tf.random.normal([2]) + tf.random.uniform([2])

        return numbers(D.range(12).map(noisy, **options).prefetch(1))

    once = draws()
    assert draws(num_parallel_calls=4) == once
    assert len({tuple(x) for x in once}) == 12


def test_the_main_program_does_not_disturb_a_background_thread() -> None:
    def run(busy: bool) -> tuple[list[Any], list[Any]]:
        tf.random.set_seed(3)
        dataset = D.range(8).shuffle(8).map(lambda x: (x, tf.random.uniform([]))).prefetch(2)
        own, found = [], []
        for x in dataset:
            found.append(tuple(float(v) for v in x))
            own.append(float(tf.random.uniform([])))
            time.sleep(0.001 if busy else 0.0)
        return own, found

    assert run(True) == run(False)


def test_looking_at_the_spec_draws_nothing() -> None:
    def run(look: bool) -> tuple[list[Any], float]:
        tf.random.set_seed(3)
        dataset = D.range(9).shuffle(9).map(lambda x: tf.random.uniform([2])).batch(2)
        if look:
            assert dataset.element_spec == spec([None, 2], tf.float32)
        return numbers(dataset), float(tf.random.uniform([]))

    assert run(True) == run(False)


def test_an_order_for_good() -> None:
    # These orders are part of what a seed promises: change them only with a reason.
    assert numbers(D.range(8).shuffle(8, seed=0)) == [3, 7, 4, 5, 6, 0, 1, 2]
    assert numbers(D.range(8).shuffle(3, seed=0)) == [0, 3, 1, 5, 6, 4, 7, 2]


# Specs without side effects.


def test_the_spec_of_a_map_is_found_when_it_is_made() -> None:
    kinds: list[str] = []

    def note(x: Any) -> Any:
        kinds.append(type(x).__name__)
        return x * 2.0

    dataset = D.from_tensor_slices([1.0, 2.0]).map(note)
    assert kinds == ["SymbolicTensor"]
    assert "float32" in repr(dataset)
    assert dataset.element_spec == dataset.element_spec == spec([], tf.float32)
    assert numbers(dataset) == [2.0, 4.0]
    assert kinds == ["SymbolicTensor", "Tensor", "Tensor"]


def test_the_spec_of_a_map_that_needs_values_is_found_once_and_late() -> None:
    values: list[int] = []

    def note(x: Any) -> Any:
        values.append(int(x))
        return x * 2.0

    dataset = D.from_tensor_slices([1.0, 2.0]).map(note)
    assert repr(dataset) == "<_MapDataset element_spec=...>"
    assert not values
    assert dataset.element_spec == dataset.element_spec == spec([], tf.float32)
    assert values == [1]
    assert numbers(dataset) == [2.0, 4.0]
    assert values == [1, 1, 2]


def test_errors_come_where_the_step_is_made() -> None:
    data = D.from_tensor_slices(np.ones((4, 3), np.float32))

    def wrong(x: Any) -> Any:
        return tf.matmul(x, x)

    line = this_line() - 2
    with pytest.raises(tf.errors.InvalidArgumentError, match="rank 2 or more") as caught:
        data.map(wrong)
    assert f"{__file__}:{line}: return tf.matmul(x, x)" in "".join(caught.value.__notes__)
    with pytest.raises(TypeError, match="takes 1 positional argument but 2 were given"):
        D.zip((data, data)).map(lambda x: x)
    with pytest.raises(ValueError, match="filter: `predicate` must return a boolean scalar"):
        data.filter(lambda x: x > 0)
    with pytest.raises(TypeError, match="scan: the state must stay of one kind"):
        data.scan(0, lambda state, x: (tf.reduce_sum(x), x))


def test_what_only_a_trace_cannot_do_is_no_error() -> None:
    def through_numpy(x: Any) -> Any:
        return np.sort(np.asarray(x))[::-1]

    def by_value(x: Any) -> Any:
        return tf.Variable(x) + 1 if x[0] > 0 else x

    data = D.from_tensor_slices(np.ones((2, 3), np.float32))
    assert numbers(data.map(through_numpy)) == [[1.0] * 3] * 2
    assert numbers(data.map(by_value)) == [[2.0] * 3] * 2
    assert data.map(through_numpy).element_spec == spec([3], tf.float32)


def test_looking_at_the_spec_loses_nothing_of_a_generator() -> None:
    stream = iter(range(4))
    dataset = D.from_generator(lambda: stream, output_signature=spec([])).map(lambda x: x + 1)
    assert dataset.element_spec == spec([])
    assert numbers(dataset.map(lambda x: x)) == [1, 2, 3, 4]


def test_the_spec_of_a_map_over_nothing() -> None:
    dataset = D.from_generator(list, output_signature=spec([None, 3], tf.float32))
    assert dataset.map(lambda x: x @ tf.ones([3, 2])).element_spec == spec([None, 2], tf.float32)
    empty = D.from_tensor_slices(np.zeros((0, 3), np.float32)).map(lambda x: x[:2])
    assert empty.element_spec == spec([2], tf.float32)
    assert numbers(empty) == []


def test_open_sizes_stay_open() -> None:
    batches = D.from_tensor_slices(np.zeros((5, 3), np.float32)).batch(2)
    assert batches.map(lambda x: x).element_spec == spec([None, 3], tf.float32)
    assert batches.map(tf.transpose).element_spec == spec([3, None], tf.float32)
    assert batches.map(lambda x: tf.ones([4])).element_spec == spec([4], tf.float32)
    assert batches.flat_map(D.from_tensor_slices).element_spec == spec([3], tf.float32)
    assert batches.flat_map(D.from_tensors).element_spec == spec([None, 3], tf.float32)

    def only_two(x: Any) -> Any:
        if x.shape[0] != 2:
            raise ValueError("two rows, please")
        return x

    assert batches.map(only_two).element_spec == spec([None, None], tf.float32)
    fixed = batches.take(2).map(only_two).batch(2, drop_remainder=True)
    assert [x.shape.as_list() for x in fixed] == [[2, 2, 3]]


# Lines.


def test_an_error_in_a_function_names_its_line_and_that_of_the_step() -> None:
    def wrong(x: Any) -> Any:
        return 1 // int(x)

    line = this_line() - 2
    dataset, made = D.range(3).map(wrong), this_line()
    with pytest.raises(ZeroDivisionError) as caught:
        numbers(dataset)
    first, second = caught.value.__notes__
    assert first == f"  --> {__file__}:{line}: return 1 // int(x)"
    assert second.startswith(
        f"  in the function of map, made at {__file__}:{made}: dataset, made ="
    )


def test_an_error_of_an_operation_has_both_lines_too() -> None:
    def wrong(x: Any) -> Any:
        return tf.matmul(x, x)

    line = this_line() - 2
    with pytest.raises(tf.errors.InvalidArgumentError, match="inner dimensions") as caught:
        D.from_tensors(tf.ones([2, 3])).map(wrong)
    made = this_line() - 1
    notes = "\n".join(caught.value.__notes__)
    assert f"{__file__}:{line}: return tf.matmul(x, x)" in notes
    assert f"in the function of map, made at {__file__}:{made}:" in notes


@pytest.mark.parametrize(
    ("step", "name"),
    [
        (lambda f: D.range(3).filter(f), "filter"),
        (lambda f: D.range(3).flat_map(f), "flat_map"),
        (lambda f: D.range(3).interleave(f, cycle_length=2), "interleave"),
        (lambda f: D.range(3).take_while(f), "take_while"),
        (lambda f: D.range(3).scan(0, lambda s, x: f(x)), "scan"),
        (lambda f: D.range(3).group_by_window(f, lambda k, d: d, 2), "group_by_window"),
    ],
    ids=lambda x: x if isinstance(x, str) else "",
)
def test_every_step_names_itself(step: Any, name: str) -> None:
    def wrong(x: Any) -> Any:
        raise LookupError("here")

    with pytest.raises(LookupError, match="here") as caught:
        numbers(step(wrong))
    assert f"in the function of {name}, made at {__file__}" in caught.value.__notes__[-1]
    assert "raise LookupError" in caught.value.__notes__[0]


def test_an_error_in_reduce() -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        D.range(3).reduce(0, lambda s, x: 1 // 0)
    assert "in the function of reduce" in caught.value.__notes__[-1]


def test_an_error_in_a_generator_names_its_line() -> None:
    def failing() -> Any:
        yield 1
        raise OSError("no more")

    line = this_line() - 2
    dataset = D.from_generator(failing, output_signature=spec([])).batch(2)
    with pytest.raises(tf.errors.UnknownError) as caught:
        numbers(dataset)
    assert str(caught.value) == "from_generator: the generator raised OSError: no more"
    assert caught.value.__notes__[0] == f'  --> {__file__}:{line}: raise OSError("no more")'
    assert caught.value.__notes__[1].startswith(
        f"  in the generator of from_generator, made at {__file__}:"
    )
    assert isinstance(caught.value.__cause__, OSError)


def test_the_end_of_something_else_is_not_the_end_of_the_dataset() -> None:
    for error in (StopIteration("over"), tf.errors.OutOfRangeError(None, None, "over")):

        def ends(x: Any, error: Any = error) -> Any:
            raise error

        with pytest.raises(tf.errors.InvalidArgumentError, match=r"^map: the function raised"):
            numbers(D.range(3).map(ends))


BAD = {
    "map: `map_func` must be callable; got 3.": lambda: D.range(3).map(3),  # type: ignore[arg-type]
    "map: `num_parallel_calls` must be greater than zero, or tf.data.AUTOTUNE; got 0.": lambda: (
        D.range(3).map(lambda x: x, num_parallel_calls=0)
    ),
    "batch: `batch_size` must be greater than zero; got 0.": lambda: D.range(3).batch(0),
    "batch: `batch_size` must be a whole number; got 2.5.": lambda: D.range(3).batch(2.5),
    "batch: the elements of a batch must have the same shape; in component 0 the first is "
    "float32[1] and element 1 is float32[2]. Use padded_batch, or make them alike with map.": (
        lambda: numbers(D.range(1, 3).map(lambda n: tf.ones([n])).batch(2))
    ),
    "batch: the elements of a batch must have the same dtype; in component 0 the first is "
    "int64[] and element 1 is int32[].": lambda: numbers(
        D.range(2).map(lambda n: tf.cast(n, tf.int32) if int(n) else n).batch(2)
    ),
    "batch: a Dataset cannot be part of a batch. Turn it into tensors with map first.": lambda: (
        numbers(D.range(4).window(2).batch(2))
    ),
    "shuffle: `buffer_size` must be greater than zero; got 0.": lambda: D.range(3).shuffle(0),
    "shuffle: `seed` must be a whole number; got a.": lambda: D.range(3).shuffle(2, seed="a"),
    "shuffle: an endless dataset needs a `buffer_size`.": lambda: D.range(3).repeat().shuffle(-2),
    "from_tensor_slices: the tensors must have the same number of rows; got 2 and 3. Cut or pad "
    "them to one length.": lambda: D.from_tensor_slices(([1, 2], [1, 2, 3])),
    "from_tensor_slices: a scalar has no rows; got int32[]. Give tensors of rank 1 or more.": (
        lambda: D.from_tensor_slices(1)
    ),
    "map: the function must return tensors, or nests of them; convert_to_tensor: a Thing is not "
    "a number, string, array or tensor; got <thing>.": lambda: numbers(
        D.range(1).map(lambda x: Thing())
    ),
    "filter: `predicate` must return a boolean scalar; got int64[].": lambda: numbers(
        D.range(3).filter(lambda x: x)
    ),
    "flat_map: the function must return a tf.data.Dataset; got int64[]. Use map for functions "
    "that return tensors.": lambda: numbers(D.range(3).flat_map(lambda x: x)),
    "concatenate: the elements int64[] and (int32[], {'a': float32[2]}) are not of one kind. Make "
    "them alike with map.": lambda: D.range(3).concatenate(D.from_tensors((1, {"a": [1.0, 2.0]}))),
    "zip: the arguments must be datasets, or tuples and dicts of them; got 3.": lambda: D.zip(
        D.range(3), 3
    ),
    "padded_batch: an element is larger than the padded shape [1]; got int64[2]. Use None for "
    "sizes that should follow the largest element.": lambda: numbers(
        D.range(1, 3).map(lambda n: tf.range(n)).padded_batch(2, [1])
    ),
    "padded_batch: `padding_values` has dtype int32, but the elements have float32. Use "
    "tf.constant(value, tf.float32).": lambda: D.from_tensors([1.0]).padded_batch(
        1, padding_values=0
    ),
    "from_generator: an element of shape () was expected, but the generator yielded int64[2].": (
        lambda: numbers(D.from_generator(lambda: [[1, 2]], output_signature=spec([])))
    ),
    "from_generator: the element must have the structure (int64[], int64[]), but the generator "
    "yielded [1, 2].": lambda: numbers(
        D.from_generator(lambda: [[1, 2]], output_signature=(spec([]), spec([])))
    ),
    "from_generator: `generator` must be callable; got [1]. Wrap an iterable in a function: "
    "lambda: iterable.": lambda: D.from_generator([1], tf.int32),  # type: ignore[arg-type]
    "reduce: the state must stay of one kind; it was int32[] and became float32[]. Give the "
    "initial state that structure and dtype.": lambda: D.range(3).reduce(0, lambda s, x: 1.0),
    "unbatch: a scalar has no rows; got int64[]. Give tensors of rank 1 or more.": lambda: D.range(
        3
    ).unbatch(),
    "unbatch: the tensors of an element must have the same number of rows; got 1 and 2": lambda: (
        numbers(D.range(1).map(lambda x: (tf.ones([1]), tf.ones([2]))).unbatch())
    ),
    "get_single_element: the dataset has more than one element.": lambda: D.range(
        3
    ).get_single_element(),
    "assert_cardinality: 5 elements were expected; there are 3.": lambda: numbers(
        D.range(3).apply(tf.data.experimental.assert_cardinality(5))
    ),
    "apply: `transformation_func` must return a tf.data.Dataset; got 3.": lambda: D.range(3).apply(
        lambda d: 3  # type: ignore[arg-type, return-value]
    ),
    "Dataset: use Dataset.from_tensor_slices and its kin to make one.": lambda: D([1, 2]),
    "as_numpy_iterator: a Dataset is not a NumPy value. Iterate over the dataset itself.": lambda: (
        next(D.range(3).window(2).as_numpy_iterator())
    ),
    "len: the length of the dataset is unknown.": lambda: len(D.range(3).filter(lambda x: True)),
    "Wengert has no `tf.data.Datset`. Did you mean `tf.data.Dataset` or `tf.data.DatasetSpec`?": (
        lambda: tf.data.Datset
    ),
    "Wengert has no `tf.data.experimental.service`.": lambda: tf.data.experimental.service,
    "Options: `deterministic` must be of type bool; got 1.": lambda: setattr(
        tf.data.Options(), "deterministic", 1
    ),
}


class Thing:
    def __repr__(self) -> str:
        return "<thing>"


@pytest.mark.parametrize("text", BAD, ids=lambda t: t[:40])
def test_messages(text: str) -> None:
    with pytest.raises(Exception) as caught:  # noqa: PT011 - the text is compared in full
        BAD[text]()
    assert str(caught.value).rstrip(".") == text.rstrip(".")


# What is freed, and what is not.


def test_a_dropped_iterator_frees_its_elements_at_once() -> None:
    kept: list[weakref.ref[Any]] = []

    def tracked(x: Any) -> Any:
        x = x + 1.0
        kept.append(weakref.ref(x))
        return x

    dataset = D.from_tensor_slices(np.zeros(50, np.float32)).map(tracked)
    gc.disable()
    try:
        iterator = iter(dataset.shuffle(10).batch(2).map(lambda x: x).prefetch(1))
        next(iterator)
        del iterator
        wait_for(lambda: not any(r() is not None for r in kept), "elements are still held")
    finally:
        gc.enable()


def test_a_dataset_dies_with_its_last_reference() -> None:
    dataset = D.range(3).map(lambda x: x).shuffle(2).batch(2).repeat(2).prefetch(1)
    numbers(dataset)
    gone = weakref.ref(dataset._plan)
    gc.disable()
    try:
        del dataset
        assert gone() is None
    finally:
        gc.enable()


def test_endless_flat_map_does_not_grow() -> None:
    iterator = iter(D.counter().flat_map(lambda x: D.range(2).map(lambda y: x + y)))
    for _ in range(50):
        next(iterator)
    gc.collect()
    before = len(gc.get_objects())
    for _ in range(400):
        next(iterator)
    gc.collect()
    assert len(gc.get_objects()) - before < 100


# Values that are no tensors.


class Span:
    """A composite of two bounds, which knows how it is put together and taken apart."""

    def __init__(self, low: Any, high: Any) -> None:
        self.low, self.high = np.asarray(low), np.asarray(high)

    @property
    def _type_spec(self) -> SpanSpec:
        return SpanSpec(self.low.shape)


class SpanSpec(tf.TypeSpec):
    def __init__(self, shape: Any) -> None:
        self.shape = tuple(shape)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SpanSpec) and self.shape == other.shape

    __hash__ = None  # type: ignore[assignment]

    def most_specific_compatible_type(self, other: SpanSpec) -> SpanSpec:
        return self

    def is_compatible_with(self, other: Any) -> bool:
        return self == other

    def _batch(self, size: int | None) -> SpanSpec:
        return SpanSpec((size, *self.shape))

    def _unbatch(self) -> SpanSpec:
        return SpanSpec(self.shape[1:])

    def _batch_values(self, values: list[Span]) -> Span:
        return Span(*(np.stack([getattr(v, n) for v in values]) for n in ("low", "high")))

    def _unbatch_value(self, value: Span) -> list[Span]:
        return [Span(a, b) for a, b in zip(value.low, value.high, strict=True)]


def test_composites_travel_through_every_step() -> None:
    spans = Span([1, 2, 3], [4, 5, 6])
    dataset = D.from_tensor_slices({"s": spans, "x": [7, 8, 9]})
    assert dataset.element_spec == {"s": SpanSpec(()), "x": spec([], tf.int32)}
    assert [int(e["s"].low) for e in dataset.shuffle(3, seed=0).cache().prefetch(1)] != []
    batches = dataset.map(lambda e: e).batch(2)
    assert batches.element_spec["s"] == SpanSpec((None,))
    assert [e["s"].high.tolist() for e in batches] == [[4, 5], [6]]
    assert [int(e["s"].low) for e in batches.unbatch()] == [1, 2, 3]
    assert [e["s"].low.tolist() for e in D.from_tensors({"s": spans}).repeat(2)] == [[1, 2, 3]] * 2
    yielded = D.from_generator(lambda: [Span(1, 2)], output_signature=SpanSpec(()))
    assert [int(s.high) for s in yielded.map(lambda s: Span(s.low, s.high + 1))] == [3]
    with pytest.raises(tf.errors.InvalidArgumentError, match="structure"):
        list(D.from_generator(lambda: [Span([1], [2])], output_signature=SpanSpec(())))


def test_optionals_are_elements_too() -> None:
    from wengert.composite.optional import Optional, OptionalSpec

    dataset = D.from_generator(
        lambda: [(1, Optional.empty(None))], output_signature=(spec([]), OptionalSpec(None))
    )
    for x, nothing in dataset.prefetch(1):
        assert (int(x), bool(nothing.has_value())) == (1, False)


# How Keras feeds itself from arrays.


def fed_like_keras(x: Any, y: Any, batch: int) -> Any:
    whole = len(x) // batch

    def permutation(_: Any) -> Any:
        return tf.random.shuffle(tf.range(len(x), dtype=tf.int64))

    def batches(indices: Any) -> Any:
        full = tf.reshape(indices[: whole * batch], [whole, batch])
        rest = D.from_tensors(indices[whole * batch :])
        return D.from_tensor_slices(full).concatenate(rest)

    indices = D.range(1).map(permutation).prefetch(1).flat_map(batches)
    data = D.zip((indices, D.from_tensors((x, y)).repeat()))
    options = tf.data.Options()
    options.experimental_optimization.apply_default_optimizations = False
    data = data.map(
        lambda i, xy: tuple(tf.gather(t, i, axis=0) for t in xy),
        num_parallel_calls=tf.data.AUTOTUNE,
    )
    return data.with_options(options).prefetch(tf.data.AUTOTUNE)


def test_the_pipeline_of_keras() -> None:
    x, y = np.arange(50.0, dtype=np.float32).reshape(25, 2), np.arange(25)
    dataset = fed_like_keras(x, y, 10)
    assert dataset.element_spec == (spec([None, 2], tf.float32), spec([None]))
    orders = []
    for _ in range(2):
        found = [(a.numpy(), b.numpy()) for a, b in dataset]
        assert [len(b) for _, b in found] == [10, 10, 5]
        labels = np.concatenate([b for _, b in found])
        assert (np.concatenate([a for a, _ in found]) == x[labels]).all()
        assert sorted(labels) == [*range(25)]
        orders.append(labels.tolist())
    assert orders[0] != orders[1]


def test_keras_can_tell_a_dataset() -> None:
    bases = [(c.__name__, c.__module__) for c in type(D.range(1)).__mro__]
    assert ("DatasetV2", "tensorflow.python.data.ops.dataset_ops") in bases


def test_signals_are_still_those_of_the_program() -> None:
    handler = signal.getsignal(signal.SIGINT)
    numbers(D.range(3).prefetch(1))
    assert signal.getsignal(signal.SIGINT) is handler


def test_group_by_reducer() -> None:
    reducer = tf.data.experimental.Reducer(
        lambda key: (np.int64(0), key),
        lambda state, x: (state[0] + x, state[1]),
        lambda total, key: {"key": key, "total": total},
    )
    step = tf.data.experimental.group_by_reducer(lambda x: x % 2, reducer)
    found = tf.data.Dataset.range(5).apply(step)
    assert found.element_spec["total"] == tf.TensorSpec([], tf.int64)
    assert list(found.as_numpy_iterator()) == [{"key": 0, "total": 6}, {"key": 1, "total": 4}]
    wrong = tf.data.experimental.Reducer(lambda key: 0.0, lambda s, x: x, lambda s: s)
    step = tf.data.experimental.group_by_reducer(lambda x: x % 2, wrong)
    with pytest.raises(TypeError, match="group_by_reducer: the state must stay of one kind"):
        list(tf.data.Dataset.range(5).apply(step))


def test_an_iterator_made_in_a_function():
    dataset = tf.data.Dataset.range(6).batch(2)

    @tf.function
    def total():
        steps, found = iter(dataset), tf.constant(0, tf.int64)
        for _ in tf.range(3):
            found += tf.reduce_sum(next(steps))
        return found

    @tf.function
    def two():
        steps = iter(dataset)
        return next(steps) + steps.get_next()

    assert int(total()) == int(total()) == 15  # it begins anew at each call
    assert two().numpy().tolist() == two().numpy().tolist() == [2, 4]


def test_the_end_of_an_iterator_in_a_function_names_the_users_lines():
    @tf.function
    def too_many():
        steps = iter(tf.data.Dataset.range(1))
        return next(steps) + next(steps)

    with pytest.raises(tf.errors.OutOfRangeError) as error:
        too_many()
    notes = "\n".join(error.value.__notes__)
    assert "return next(steps) + next(steps)" in notes and "<wengert" not in notes


def test_a_function_sees_the_variables_of_a_dataset_as_they_are() -> None:
    v = tf.Variable(2.0)
    ds = tf.data.Dataset.range(3).map(lambda i: tf.cast(i, tf.float32) * v)

    @tf.function
    def loop(ds):
        s = 0.0
        for b in ds:
            s += b
            v.assign_add(1.0)
        return s

    @tf.function
    def reduce(ds):
        v.assign(10.0)
        return ds.reduce(0.0, lambda a, b: a + b)

    @tf.function
    def reduce_by(ds):
        v.assign(3.0)
        return ds.reduce(0.0, lambda a, b: a + b * v)

    assert float(loop(ds)) == 11.0
    v.assign(2.0)
    assert float(reduce(ds)) == 30.0
    assert float(reduce_by(tf.data.Dataset.from_tensor_slices([1.0, 2.0]))) == 9.0


def test_datasets_are_numbered_and_joined_in_functions() -> None:
    ds = tf.data.Dataset.range(4)

    @tf.function
    def numbered(ds):
        q = tf.constant(0, tf.int64)
        for i, b in enumerate(ds, 5):
            q += i * b
        return q

    @tf.function
    def joined(ds):
        q = tf.constant(0, tf.int64)
        for i, (a, b) in enumerate(zip(ds, ds.skip(1), strict=False)):
            q += i * a * b
        return q

    assert int(numbered(ds)) == 6 + 14 + 24
    assert int(joined(ds)) == 2 + 12


def test_an_outer_loop_outlives_many_inner_ones_that_were_left() -> None:
    @tf.function
    def f():
        s = tf.constant(0, tf.int64)
        for _ in tf.data.Dataset.range(1100):
            for j in tf.data.Dataset.range(5):
                s += j
                if j > 0:
                    break
        return s

    assert int(f()) == 1100


@tf.function
def _total(ds):
    s = 0.0
    for b in ds:
        s += b
    return s


def _six():
    return tf.data.Dataset.range(6).map(lambda i: tf.cast(i, tf.float32))


def test_datasets_of_one_spec_share_a_trace() -> None:
    before, ds = _total.experimental_get_tracing_count(), _six()
    found = [float(_total(d)) for d in (ds, ds.shuffle(3), ds.map(lambda x: 2 * x), ds.repeat(1))]
    assert found == [15.0, 15.0, 30.0, 15.0]
    assert _total.experimental_get_tracing_count() == before + 1
    assert float(_total(ds.take(3))) == 3.0
    dropped = ds.shuffle(2)
    _total(dropped)
    gone = weakref.ref(dropped)
    del dropped
    assert gone() is None


def test_what_a_function_does_with_a_dataset_is_done_with_that_of_the_call() -> None:
    @tf.function
    def steps(ds):
        pairs = ds.map(lambda x: x + 1).batch(2)
        s = 0.0
        for i, b in enumerate(pairs):
            s += tf.reduce_sum(b) * tf.cast(i, tf.float32)
        return s, ds.reduce(0.0, lambda a, b: a + b), ds.cardinality()

    @tf.function
    def within(ds):
        s = _total(ds)
        for _ in tf.range(2):
            s += _total(ds.map(lambda x: 2 * x))
        return s

    @tf.function
    def nested(given):
        s = 0.0
        for x, y in tf.data.Dataset.zip((given["a"], given["b"])):
            s += x * y
        return s

    ds = _six()
    assert [float(x) for x in steps(ds)] == [29.0, 15.0, 6.0]
    assert [float(x) for x in steps(ds.map(lambda x: 10 * x))] == [236.0, 150.0, 6.0]
    assert steps.experimental_get_tracing_count() == 1
    assert [float(within(d)) for d in (ds, ds.map(lambda x: -x))] == [75.0, -75.0]
    assert float(nested({"a": ds, "b": ds.skip(1)})) == 40.0
    assert float(nested({"a": ds.map(lambda x: 2 * x), "b": ds.skip(1)})) == 80.0


def test_functions_return_datasets() -> None:
    ds = _six()
    same = tf.function(lambda d: d)
    more = tf.function(lambda d: d.map(lambda x: x + 1))
    assert [float(x) for x in same(ds)] == [0, 1, 2, 3, 4, 5]
    for k in (1.0, 2.0):
        found = more(ds.map(lambda x, k=k: k * x))
        assert [float(x) for x in found] == [k * i + 1 for i in range(6)]


def test_a_dataset_in_a_signature() -> None:
    spec = tf.data.DatasetSpec(tf.TensorSpec([], tf.float32))
    f = tf.function(lambda d: d.reduce(0.0, lambda a, b: a + b), input_signature=[spec])
    assert [float(f(d)) for d in (_six(), _six().take(3))] == [15.0, 3.0]


def test_threads_pass_datasets_of_their_own() -> None:
    found: dict[int, float] = {}

    def work(k: int) -> None:
        found[k] = float(_total(_six().map(lambda x: k * x)))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert found == {k: 15.0 * k for k in range(8)}


def test_datasets_of_tensors_that_a_function_computes() -> None:
    @tf.function(input_signature=[tf.TensorSpec([None])])
    def rows(x):
        s = 0.0
        for a, b in tf.data.Dataset.from_tensor_slices((x, 2 * x)):
            s += a * b
        return s

    @tf.function
    def numbers(n):
        s = tf.constant(0, tf.int64)
        for i in tf.data.Dataset.range(n):
            s += i
        return s

    @tf.function
    def whole(x):
        ds = tf.data.Dataset.from_tensors({"x": x})
        first = next(iter(tf.data.Dataset.from_tensor_slices(x).batch(2)))
        return ds.repeat(3).reduce(0.0, lambda a, e: a + e["x"][1]), first, ds.get_single_element()

    assert [float(rows(tf.constant(x))) for x in ([1.0, 2.0], [3.0])] == [10.0, 18.0]
    assert [int(numbers(tf.constant(n, tf.int64))) for n in (5, 3)] == [10, 3]
    thrice, first, element = whole(tf.constant([1.0, 2.0, 3.0]))
    assert (float(thrice), first.numpy().tolist()) == (6.0, [1.0, 2.0])
    assert element["x"].numpy().tolist() == [1.0, 2.0, 3.0]
    with pytest.raises(ValueError, match="of known rank, 1 or more"):
        tf.function(tf.data.Dataset.from_tensor_slices)(tf.constant(1.0))


def test_datasets_that_a_function_makes_do_not_pile_up() -> None:
    @tf.function
    def f(x):
        return tf.data.Dataset.from_tensor_slices(x).reduce(0.0, lambda a, b: a + b)

    before = len(dataset_arguments._known)
    assert [float(f(tf.constant([k, 1.0]))) for k in range(30)] == [k + 1.0 for k in range(30)]
    gc.collect()
    assert len(dataset_arguments._known) <= before + 8

"""Threads: calling the user's function on several elements at once, and prefetching.

Threads hold no reference to the iterator that started them. When it is dropped they are told to
stop, and whatever an element costs, at most a few elements are made in vain.
"""

from __future__ import annotations

import atexit
import os
import threading
import weakref
from collections import deque
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from queue import SimpleQueue
from time import perf_counter
from typing import TYPE_CHECKING, Any

from wengert.core import nest
from wengert.core.failures import failures
from wengert.core.tensor import Tensor
from wengert.data.array_rows import Rows
from wengert.data.dataset_options import Options
from wengert.data.plan import AUTOTUNE, Plan, Run
from wengert.engines.engine_choice import enter, wanted

if TYPE_CHECKING:
    from wengert.data.user_functions import UserFunction

    # An element or what was raised in its place; with it what was drawn for it; what a task gives.
    _Outcome = tuple[Any, BaseException | None]
    _Item = tuple[_Outcome, Any]
    _Done = tuple[list[_Outcome], float]


# A call shorter than this is done sooner than another thread is woken for it, and a task for one
# should last so long, so that it takes several elements.
_WORTH_A_THREAD, _TASK, _MANY = 1e-4, 2e-3, 32
# After so many tasks the threads must have gained so much, or Python's lock keeps them apart.
_TRIAL, _GAIN = 8, 1.2
# What `prefetch(AUTOTUNE)` holds: up to this many elements and, above two, this many bytes.
_MOST, _MOST_BYTES = 16, 64 << 20
# Seconds that a prefetching thread works at a time. Much more, and the reader, back from compiled
# code, would wait for Python's lock; much less, and the thread would be woken more than it works.
_SPELL = 1e-4


class ParallelMap(Iterator[Any]):
    """Calls a function in several threads, where two calls in a row were worth it and it pays.

    Threads pay for what lets Python's lock go: reading, decoding, NumPy on large arrays. The first
    tasks are timed; if an element takes the threads as long as it took alone, they are left.
    """

    def __init__(
        self,
        source: Iterator[Any],
        function: UserFunction,
        draws: Iterator[Any],
        most: int | None,
        ordered: bool,
        options: Options,
    ) -> None:
        self._source: Iterator[Any] | None = source
        self._function, self._draws, self._ordered = function, draws, ordered
        result = max(2, os.cpu_count() or 1) if most in (None, AUTOTUNE) else most
        self._most: int = min(result or 1, options.threading.private_threadpool_size or 1 << 30)
        self._pool: ThreadPoolExecutor | None = None
        self._alone = 0.0  # seconds of the last call in this thread
        self._worth = 0
        self._together: list[float] = []  # seconds for an element in the first tasks
        self._waiting: deque[Future[_Done]] = deque()
        self._ready: deque[_Outcome] = deque()

    def __next__(self) -> Any:
        if not self._ready:
            self._ready.extend(self._next_few())
        value, error = self._ready.popleft()
        if error is not None:
            raise error
        return value

    def _next_few(self) -> list[_Outcome]:
        if self._pool is None:
            return [self._inline()]
        if not self._pays():
            return self._leave(self._pool) or [self._inline()]
        self._fill(self._pool)
        if not self._waiting:
            raise StopIteration
        if not self._ordered:
            # Whoever is done first goes first.
            wait(self._waiting, return_when=FIRST_COMPLETED)
            self._waiting = deque(sorted(self._waiting, key=lambda f: not f.done()))
        outcomes, seconds = self._waiting[0].result()
        self._waiting.popleft()
        if len(self._together) < _TRIAL:
            self._together.append(seconds / len(outcomes))
        return outcomes

    def _inline(self) -> _Outcome:
        item = self._take()
        if item is None:
            raise StopIteration
        outcomes, self._alone = _call_each(self._function, [item])
        self._worth = self._worth + 1 if self._alone > _WORTH_A_THREAD else 0
        if self._worth == 2 and self._most > 1:
            self._pool = ThreadPoolExecutor(self._most, "wengert-map", enter, wanted())
        return outcomes[0]

    def _pays(self) -> bool:
        """Whether an element takes the threads less time than it took alone."""
        known = len(self._together) == _TRIAL
        return not known or self._alone * self._most > sorted(self._together)[_TRIAL // 2] * _GAIN

    def _leave(self, pool: ThreadPoolExecutor) -> list[_Outcome]:
        """Ends the threads; what they have begun is still used."""
        results = [x for task in self._waiting for x in task.result()[0]]
        self._waiting.clear()
        pool.shutdown(wait=False)
        self._pool, self._most = None, 1
        return results

    def _take(self) -> _Item | None:
        """The next element, or what the source raised instead, with what is drawn for it."""
        if self._source is None:
            return None
        try:
            outcome = next(self._source), None
        except StopIteration:
            self._source = None
            return None
        except failures() as error:
            outcome = None, error
        return outcome, next(self._draws)

    def _fill(self, pool: ThreadPoolExecutor) -> None:
        size = min(_MANY, max(1, round(_TASK / max(self._alone, 1e-6))))
        while self._source is not None and len(self._waiting) < self._most:
            items: list[_Item] = []
            while len(items) < size:
                item = self._take()
                if item is None:
                    break
                items.append(item)
            if items:
                self._waiting.append(pool.submit(_call_each, self._function, items))

    def __del__(self) -> None:
        pool = self.__dict__.get("_pool")
        if pool is not None:
            pool.shutdown(wait=False, cancel_futures=True)


def _call_each(function: UserFunction, items: list[_Item]) -> _Done:
    """Calls a function on some elements; what each came to, and the seconds that all took."""
    started = perf_counter()
    outcomes: list[_Outcome] = []
    for (element, error), draws in items:
        if error is None:
            try:
                outcomes.append((function(element, draws), None))
                continue
            except BaseException as raised:
                error = raised
        outcomes.append((None, error))
    return outcomes, perf_counter() - started


class Prefetch(Plan):
    """Makes elements in a background thread, some ahead of the reader."""

    kind = "_PrefetchDataset"

    def __init__(self, source: Plan, size: int) -> None:
        super().__init__(source)
        self._size = size

    def start(self, run: Run) -> Iterator[Any]:
        if self._size == 0:
            return self.input.start(run)
        return Prefetched(self.input.start(run), self._size)

    def rows(self) -> Rows | None:
        return self.input.rows()


class _Pace:
    """The seconds that the last element took the thread, which its reader looks at."""

    __slots__ = ("seconds",)

    def __init__(self) -> None:
        self.seconds = 0.0


class Prefetched(Iterator[Any]):
    """The reader's end: a queue of elements, and one of free slots for the thread to fill.

    Slots are returned in bundles, since waking a thread may cost more than an element. `_pace` is
    how long the last element took the thread.
    """

    def __init__(self, source: Iterator[Any], size: int) -> None:
        self._source: Iterator[Any] | None = source
        self._size = size
        self._process = os.getpid()
        self._ready: SimpleQueue[tuple[str, Any]] = SimpleQueue()
        self._slots: SimpleQueue[Any] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._freed = 0
        self._pace = _Pace()

    def __next__(self) -> Any:
        if self._thread is None:
            self._begin()
        if self._process != os.getpid():
            raise RuntimeError(
                "prefetch: this iterator belongs to the parent process, and so does its thread. "
                "Make a new iterator after the fork."
            )
        what, value = self._ready.get()
        if what == "end":
            self._ready.put(("end", None))
            raise StopIteration
        self._give_back(value)
        if what == "error":
            raise value
        return value

    def _begin(self) -> None:
        source, self._source = self._source, None
        bundle = 2 if self._size == AUTOTUNE else self._size
        self._slots.put(bundle)
        self._thread = threading.Thread(
            target=_produce,
            args=(source, self._ready, self._slots, self._pace, wanted()),
            name="wengert-prefetch",
            daemon=True,
        )
        # No `__del__`, nor Python code otherwise: Python would swallow an interrupt that comes
        # while it runs. The queue is handed the dead reference itself.
        end = weakref.ref(self, self._slots.put)
        _running[self._thread] = self._slots, end
        self._thread.start()

    def _give_back(self, value: Any) -> None:
        if self._size == AUTOTUNE:
            self._size = max(2, min(_MOST, _MOST_BYTES // max(1, _bytes(value))))
            self._freed += self._size - 2
        self._freed += 1
        if self._freed >= (self._size + 1) // 2 or self._freed * self._pace.seconds > _SPELL:
            self._slots.put(self._freed)
            self._freed = 0


# The threads, with the queue that tells each to stop and what tells it when its reader is gone.
_running: weakref.WeakKeyDictionary[threading.Thread, tuple[SimpleQueue[Any], Any]] = (
    weakref.WeakKeyDictionary()
)


def _produce(
    source: Any,
    ready: SimpleQueue[Any],
    slots: SimpleQueue[Any],
    pace: _Pace,
    scope: tuple[str | None, Any],
) -> None:
    """The thread: fills free slots, and ends when the queue holds anything but a number."""
    enter(*scope)
    free = 0
    while True:
        while not slots.empty() or free == 0:
            cached = slots.get()
            if type(cached) is not int:
                return
            free += cached
        started = perf_counter()
        try:
            item = ("value", next(source))
        except StopIteration:
            ready.put(("end", None))
            return
        except BaseException as error:
            item = ("error", error)
        pace.seconds = perf_counter() - started
        ready.put(item)
        free -= 1
        del item


def _bytes(value: Any) -> int:
    return sum(x._array.nbytes for x in nest.flatten(value) if isinstance(x, Tensor))


@atexit.register
def _stop_all() -> None:
    """Threads that still run when the program ends stop before Python takes itself apart."""
    results = list(_running.items())
    for _, (slots, _) in results:
        slots.put(None)
    for thread, _ in results:
        thread.join(1.0)

"""Several threads for large arrays on the host, where NumPy and XLA let go of Python's lock.

Work is cut into blocks whose size does not depend on how many threads there are, nor who takes
which, so results have the same bits on every machine of one kind. What a block is made of is not
known here.
"""

from __future__ import annotations

import functools
import inspect
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from typing import Any, TypeVar

import numpy as np

from wengert.core.locks import new_lock
from wengert.core.process_settings import PROCESS

T = TypeVar("T")

# Numbers in a block: a few arrays of so many stay in the second-level cache.
BLOCK = 2**16
# Threads beyond these wait for memory.
_MOST = 16

_lock = new_lock()
_here = threading.local()


class _Pool:
    """The threads, started when they are first needed; a forked process starts its own."""

    def __init__(self) -> None:
        self.threads: ThreadPoolExecutor | None = None
        self.size = 0

    def at_least(self, size: int) -> ThreadPoolExecutor:
        with _lock:
            if self.threads is None or self.size < size:
                self.threads = ThreadPoolExecutor(size, "wengert-blocks")
                self.size = size
            return self.threads

    def forget(self) -> None:
        self.threads, self.size = None, 0


_pool = _Pool()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.forget)


def thread_count() -> int:
    """How many threads work on one array: the cores that the process may use, or fewer if told."""
    told = PROCESS.block_threads
    if told:
        return min(told, _MOST)
    try:
        return min(len(os.sched_getaffinity(0)), _MOST)
    except AttributeError:  # not Linux
        return min(os.cpu_count() or 1, _MOST)


def share(work: Callable[[T], object], blocks: Iterable[T]) -> None:
    """Calls `work` with each block, in several threads at once; the first error is raised."""
    left = deque(blocks)
    helpers = 0 if getattr(_here, "busy", False) else min(thread_count(), len(left)) - 1
    if helpers < 1:
        for block in left:
            work(block)
        return
    futures = _started(helpers, work, left)
    try:
        _take(work, left)
    finally:
        left.clear()
        for future in futures:
            if not future.cancel():
                future.exception()  # waits: nobody may write to the arrays afterwards
    for future in futures:
        if not future.cancelled():
            future.result()


def _started(helpers: int, work: Callable[[T], object], left: deque[T]) -> list[Future[None]]:
    try:
        pool = _pool.at_least(helpers)
        # A context of its own for each, since NumPy's error state is kept in it.
        return [pool.submit(copy_context().run, _take, work, left) for _ in range(helpers)]
    except RuntimeError:  # the interpreter is on its way out and starts no threads
        return []


def _take(work: Callable[[T], object], left: deque[T]) -> None:
    before, _here.busy = getattr(_here, "busy", False), True
    try:
        while True:
            try:
                block = left.popleft()
            except IndexError:
                return
            work(block)
    finally:
        _here.busy = before


def blocks_of(size: int, block: int = BLOCK) -> list[slice]:
    """The ranges of so many numbers each that make up `size`; the last may be shorter."""
    return [slice(k, min(k + block, size)) for k in range(0, size, block)]


def in_parts(kernel: Callable[..., Any], least: int = 2 * BLOCK) -> Callable[..., Any]:
    """An elementwise kernel that works on large arrays block by block, in several threads.

    Arrays of different shapes, which broadcast, and those of fewer than `least` numbers are left
    to the kernel as they are.
    """

    def large(x: np.ndarray, *rest: np.ndarray, **attrs: Any) -> Any:
        if any(y.shape != x.shape for y in rest):
            return kernel(x, *rest, **attrs)
        flat = [y.reshape(-1) for y in (x, *rest)]
        first, *others = blocks_of(x.size)
        begin = kernel(*[y[first] for y in flat], **attrs)
        out = np.empty(x.shape, begin.dtype)
        target = out.reshape(-1)
        target[first] = begin

        def work(part: slice) -> None:
            target[part] = kernel(*[y[part] for y in flat], **attrs)

        share(work, others)
        return out

    return _by_size(kernel, large, least)


def _by_size(kernel: Callable[..., Any], large: Callable[..., Any], least: int) -> Any:
    """`large` for arrays of `least` numbers or more; small ones shall cost one test more."""

    def one(x: np.ndarray) -> Any:
        return kernel(x) if x.size < least else large(x)

    def two(x: np.ndarray, y: np.ndarray) -> Any:
        return kernel(x, y) if x.size < least else large(x, y)

    def several(x: np.ndarray, *rest: np.ndarray, **attrs: Any) -> Any:
        return (kernel if x.size < least else large)(x, *rest, **attrs)

    run = {("x",): one, ("x", "y"): two}.get(_parameters(kernel), several)
    return functools.update_wrapper(run, kernel)


def _parameters(kernel: Any) -> tuple[str, ...]:
    """The names `x` and `y` for a kernel of one or two arrays and nothing else."""
    if isinstance(kernel, np.ufunc):
        return ("x", "y")[: kernel.nin]
    code = inspect.unwrap(kernel).__code__
    names = code.co_varnames[: code.co_argcount]
    if code.co_kwonlyargcount or code.co_flags & _VARIES:
        return ()
    if len(names) == 1 or (len(names) == 2 and names[1] in _ARRAYS):  # the second may be a number
        return ("x", "y")[: len(names)]
    return ()


_ARRAYS = ("y", "g")
_VARIES = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS


def in_rows(kernel: Callable[..., Any], least: int = 2 * BLOCK) -> Callable[..., Any]:
    """A kernel that takes the rows of the last axis one by one: threads share those of large arrays.

    `axis`, if it has that attribute, may be another one, which is left to the kernel as it is; so
    are arrays of different shapes.
    """

    @functools.wraps(kernel)
    def run(x: np.ndarray, *rest: np.ndarray, **attrs: Any) -> Any:
        last = x.ndim - 1
        if x.size < least or last < 1 or attrs.get("axis", last) not in (last, -1):
            return kernel(x, *rest, **attrs)
        if any(y.shape != x.shape for y in rest):
            return kernel(x, *rest, **attrs)
        rows = [y.reshape(-1, y.shape[-1]) for y in (x, *rest)]
        if "axis" in attrs:
            attrs["axis"] = 1
        return _of_rows(kernel, rows, attrs, x.shape[:-1])

    return run


def in_batches(kernel: Callable[..., Any], least: int = 2 * BLOCK) -> Callable[..., Any]:
    """A kernel that takes the elements of the first axis of its first array one by one.

    Threads share those of a large array; the other arrays are whole for each.
    """

    @functools.wraps(kernel)
    def run(x: np.ndarray, *rest: np.ndarray, **attrs: Any) -> Any:
        if x.size < least or x.ndim < 2 or len(x) < 2:
            return kernel(x, *rest, **attrs)
        count = max(1, BLOCK // (x.size // len(x)))
        return _joined(lambda part: kernel(x[part], *rest, **attrs), blocks_of(len(x), count))

    return run


def _of_rows(
    kernel: Callable[..., Any], rows: list[np.ndarray], attrs: dict[str, Any], lead: tuple[int, ...]
) -> Any:
    count, width = rows[0].shape
    outs = _joined(
        lambda part: kernel(*[y[part] for y in rows], **attrs),
        blocks_of(count, max(1, BLOCK // width)),
    )
    if isinstance(outs, tuple):
        return tuple([out.reshape(*lead, *out.shape[1:]) for out in outs])
    return outs.reshape(*lead, *outs.shape[1:])


def _joined(call: Callable[[slice], Any], parts: list[slice]) -> Any:
    """The results of each part, one behind the other; perhaps several arrays."""
    first, *others = parts
    begin = call(first)
    single = not isinstance(begin, tuple)
    begins = (begin,) if single else begin
    outs = [np.empty((parts[-1].stop, *b.shape[1:]), b.dtype) for b in begins]

    def put(part: slice, results: tuple[np.ndarray, ...]) -> None:
        for out, result in zip(outs, results, strict=True):
            out[part] = result

    def work(part: slice) -> None:
        result = call(part)
        put(part, (result,) if single else result)

    put(first, begins)
    share(work, others)
    return outs[0] if single else tuple(outs)

"""Saves in children that are killed, or whose disk is full, and what is found afterwards."""

from __future__ import annotations

import faulthandler
import os
import random
import resource
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial

from tools.faults.saves import SAVES, Save

PATIENCE = 120.0  # seconds that a child has
OLD, NEW, NEXT = 1.0, 2.0, 3.0
LIMITS = [0, 7, 100, 1000, 4000, 11_000, 12_100, 20_000, 100_000]  # bytes


def in_child(action: Callable[[], object]) -> int:
    """Runs something in a forked child; its exit status, negative for a signal."""
    child = os.fork()
    if not child:
        status = 1
        try:
            faulthandler.dump_traceback_later(PATIENCE, exit=True)
            action()
            status = 0
        except BaseException:
            sys.excepthook(*sys.exc_info())
        finally:
            sys.stderr.flush()
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def killed_before(operation: int, folder: str, save: Callable[[], object]) -> None:
    """Saves, and dies before an operation on a folder, counted from nought."""
    left = operation

    def hook(event: str, args: tuple[object, ...]) -> None:
        nonlocal left
        if event.startswith(("open", "os.", "shutil.")) and args and folder in str(args[0]):
            left -= 1
            if left < 0:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)
    save()


def killed_after(seconds: float, save: Callable[[], object]) -> None:
    """Saves, and is killed at a moment; the operations of the disk between those that Python tells."""

    def kill() -> None:
        time.sleep(seconds)
        os.kill(os.getpid(), signal.SIGKILL)

    threading.Thread(target=kill, daemon=True).start()
    save()


def limited(size: int, folder: str, save: Callable[[], object]) -> None:
    """Saves where no file may grow beyond a size; an error must name a file of the folder."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    error: OSError | None = None
    try:
        save()
    except OSError as found:
        error = found
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    if error is not None:
        assert folder in str(error), f"the error names no file: {type(error).__name__}: {error}"


def look(save: Save, folder: str, next_one: float) -> float:
    """Which version is there; then the next save must work, and clear up."""
    data = save.read(folder)
    assert data in (OLD, NEW), f"version {data}"
    save.write(folder, next_one)
    assert save.read(folder) == next_one, "the next save is not found"
    left = [name for _, folders, files in os.walk(folder) for name in (*folders, *files)
            if name.endswith(".tmp")]  # fmt: skip
    assert not left, f"temporary files stay: {left}"
    return data


def kills(names: list[str], count: int, seed: int) -> Iterator[str]:
    """A line for each kind of save; AssertionError at what is wrong."""
    for name in names:
        save, tries, result, died = SAVES[name], 0, {OLD: 0, NEW: 0}, True
        rng = random.Random(f"{seed} {name}")
        with tempfile.TemporaryDirectory(prefix="faults-") as top:
            begun = time.monotonic()
            save.write(f"{_made(top, 'first')}", OLD)
            lasts = time.monotonic() - begun
            while died or tries < count:
                folder = _made(top, str(tries))
                save.write(folder, OLD)
                again = partial(save.write, folder, NEW)
                if died:
                    status = in_child(partial(killed_before, tries, folder, again))
                else:
                    moment = rng.uniform(0.0, 1.5 * lasts)
                    status = in_child(partial(killed_after, moment, again))
                assert status in (0, -signal.SIGKILL), f"{name}, kill {tries}: exit {status}"
                died = died and status != 0
                try:
                    result[look(save, folder, NEXT)] += 1
                except Exception as error:
                    raise AssertionError(f"{name}, kill {tries}: {error}") from error
                tries += 1
        yield f"{name}: {tries} kills; the old version {result[OLD]} times, the new {result[NEW]}"


def disk(names: list[str]) -> Iterator[str]:
    """A line for each kind of save; AssertionError at what is wrong."""
    for name in names:
        save, result = SAVES[name], {OLD: 0, NEW: 0}
        for size in LIMITS:
            with tempfile.TemporaryDirectory(prefix="faults-") as folder:
                save.write(folder, OLD)
                status = in_child(partial(limited, size, folder, partial(save.write, folder, NEW)))
                assert status == 0, f"{name}, {size} bytes: exit {status}"
                try:
                    result[look(save, folder, NEXT)] += 1
                except Exception as error:
                    raise AssertionError(f"{name}, {size} bytes: {error}") from error
        yield f"{name}: {len(LIMITS)} limits; the old version {result[OLD]} times, the new {result[NEW]}"


def _made(top: str, name: str) -> str:
    folder = os.path.join(top, name)
    os.mkdir(folder)
    return folder

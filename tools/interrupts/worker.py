"""One process that tries points of one scenario and prints a line for each."""

from __future__ import annotations

import dis
import faulthandler
import json
import os
import signal
import sys
import traceback
from collections.abc import Iterator
from random import Random
from typing import Any

from tools.interrupts.checking import Checker
from tools.interrupts.points import Point, record, signal_at
from tools.interrupts.scenarios import SCENARIOS, Subject

HANGS = 90.0  # seconds after which an attempt counts as stuck


class Alarm(Exception):
    """What a program's own handler raises, as one that limits the time of a step."""


def _ring(number: int, frame: Any) -> None:
    raise Alarm


# The number of the signal, the handler (`None`: Python's own), and what it raises.
KINDS: dict[str, tuple[int, Any, type[BaseException]]] = {
    "sigint": (signal.SIGINT, signal.default_int_handler, KeyboardInterrupt),
    "alarm": (getattr(signal, "SIGUSR1", signal.SIGINT), _ring, Alarm),
}


class Attempts:
    """Attempts on one scenario by one kind of signal, while the process is sound."""

    def __init__(self, name: str, kind: str) -> None:
        build, self.anew = SCENARIOS[name]
        self.number, handler, self.raised = KINDS[kind]
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(self.number, handler)
        self.build = build
        self.checker = Checker(build, fresh=self.anew)
        self.unraisable: list[str] = []
        sys.unraisablehook = self._note
        self._subject: Subject | None = None
        self.points = record(self._warm().act)

    def _note(self, found: Any) -> None:
        if isinstance(found.exc_value, self.raised):
            self.unraisable.append(repr(found.object))

    def _warm(self) -> Subject:
        """An object to interrupt, where its step is the usual one."""
        if self._subject is None:
            self._subject = self.build()
            if not self.anew:
                for _ in range(10):
                    self._subject.prepare()
                    self._subject.act()
        self._subject.prepare()
        return self._subject

    def attempt(self, point: Point, times: int) -> tuple[str, str]:
        """What came of a signal at a point, in a word, and more where it is worth a line."""
        if self.anew and self._subject is not None:
            self._subject.close()
            self._subject = None
        subject = self._warm()
        before = self.checker.golden.place(subject)
        outcome, detail = "lost", ""
        at_exit = False
        self.unraisable.clear()
        try:
            if not signal_at(subject.act, point, times, self.number):
                outcome = "not passed"
        except self.raised as error:
            outcome, at_exit = "raised", _begins_exit(error)
        except Exception as error:
            outcome, detail = "other", f"{type(error).__name__}: {error!s:.300}"
        if outcome == "lost" and self.unraisable:
            outcome, detail = "swallowed", self.unraisable[0]
        try:
            if at_exit and self.checker.restore():
                outcome = "at exit"
            self.checker.check(subject, before)
        except Exception as error:
            where = traceback.format_exc(limit=-3) if not isinstance(error, AssertionError) else ""
            return "broken", f"{type(error).__name__}: {error!s:.500} {where}".strip()
        return outcome, detail


def _begins_exit(error: BaseException) -> bool:
    """Whether the handler ran where an `__exit__` written in Python begins, before its first line.

    No Python code can be whole there: what its `with` set stays set, in any library.
    """
    tb, codes = error.__traceback__, []
    while tb is not None:
        codes.append((tb.tb_frame.f_code, tb.tb_lasti))
        tb = tb.tb_next
    for code, at in codes[-2:]:  # Python's own handler for SIGINT has no frame
        starts = [i.offset for i in dis.get_instructions(code) if i.opname == "RESUME"]
        if code.co_name == "__exit__" and at in starts:
            return True
    return False


def choose(points: dict[Point, tuple[int, int]], seed: int) -> Iterator[tuple[Point, int, int]]:
    """The points in an order given by the seed, with the passage to interrupt and the line."""
    order = sorted(points, key=str)
    Random(seed).shuffle(order)
    for point in order:
        count, line = points[point]
        yield point, Random(f"{seed} {point}").randint(1, count), line


def _tell(**line: Any) -> None:
    print(json.dumps(line), flush=True)


def main(name: str, kind: str, seed: int, most: int, skip: set[str], only: str) -> None:
    """Tries `most` points (0: all) without those in `skip`; ends early when something is broken."""
    faulthandler.enable()
    attempts = Attempts(name, kind)
    _tell(total=len(attempts.points))
    wanted = list(choose(attempts.points, seed))
    if only:
        wanted = [w for w in wanted if str(w[0]).startswith(only)]
    for point, times, line in wanted[: most or None]:
        if str(point) in skip:
            continue
        _tell(begins=str(point), times=times, line=line)
        faulthandler.dump_traceback_later(HANGS, exit=True)
        outcome, detail = attempts.attempt(point, times)
        faulthandler.cancel_dump_traceback_later()
        _tell(ended=str(point), outcome=outcome, detail=detail)
        if outcome == "broken":
            break  # the rest in another process
    os._exit(0)  # a thread may be stuck

"""`tools/interrupts` reaches the offsets it names, and finds faults that are put in on purpose."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import wengert as tf
from tools.interrupts import checking, scenarios
from tools.interrupts.points import Point, record, signal_at
from tools.interrupts.worker import Alarm, Attempts
from wengert.core import context

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX"),
    pytest.mark.skipif(sys.gettrace() is not None, reason="a debugger or coverage traces"),
]


SAMPLE = {"host": 60, "xla": 60, "save": 12}  # points of each


@pytest.mark.parametrize("kind", ["sigint", "alarm"])
@pytest.mark.parametrize("scenario", SAMPLE)
def test_a_sample_of_the_offsets(scenario: str, kind: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tools.interrupts", "--scenarios", scenario, "--kinds", kind,
         "--points", str(SAMPLE[scenario]), "--seed", "20"],
        capture_output=True, text=True, check=False, cwd=Path(__file__).parents[1],
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    raised = int(done.stdout.rpartition(" raised")[0].rpartition(" ")[2])
    assert raised >= 0.8 * SAMPLE[scenario], done.stdout


@pytest.fixture(autouse=True)
def _handlers() -> Iterator[None]:
    kept = {n: signal.getsignal(n) for n in (signal.SIGINT, signal.SIGUSR1)}
    hook = sys.unraisablehook
    yield
    sys.unraisablehook = hook
    for number, handler in kept.items():
        signal.signal(number, handler)


TEXT = """
v = tf.Variable(0)
variables = [v]
lock = threading.Lock()
log = []

def step():
    BEFORE
    v.assign((v + 1) % 5)
    AFTER
    return [v.numpy()]
"""


def _found(monkeypatch: pytest.MonkeyPatch, before: str, after: str, kind: str) -> dict[int, str]:
    """What the attempts on each line of the program say."""
    text = "import threading\n" + TEXT.replace("BEFORE", before).replace("AFTER", after)
    made: Any = type("Planted", (scenarios.Program,), {"text": text})
    monkeypatch.setitem(scenarios.SCENARIOS, "planted", (made, False))
    attempts = Attempts("planted", kind)
    found: dict[int, str] = {}
    own = {p: line for p, (_, line) in attempts.points.items() if p.file == "program"}
    for point, line in sorted(own.items(), key=str):
        outcome, detail = attempts.attempt(point, 1)
        if outcome != "raised":
            found.setdefault(line, f"{outcome}: {detail}")
            _mend(attempts)
    return found


def _mend(attempts: Attempts) -> None:
    subject: Any = attempts._subject
    context._state.set(None)
    if subject.space["lock"].locked():
        subject.space["lock"].release()
    for thread in threading.enumerate():
        if thread.daemon and "run" in thread.name:
            thread.join(60)
    attempts._subject = None


def test_a_lock_that_is_taken_before_its_try(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(checking, "PATIENCE", 1.0)
        found = _found(monkeypatch, "lock.acquire()", "lock.release()", "alarm")
    assert found and any("hangs" in text for text in found.values())
    assert not _found(monkeypatch, "with lock: pass", "pass", "alarm")


def test_an_exception_that_is_swallowed(monkeypatch: pytest.MonkeyPatch) -> None:
    swallowing = "try: log.append(len(log))\n    except Exception: pass"
    found = _found(monkeypatch, swallowing, "pass", "alarm")
    assert list(found.values()) == ["lost: "]
    assert not _found(monkeypatch, swallowing, "pass", "sigint")


def test_a_context_that_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    found = _found(
        monkeypatch,
        "from wengert.core import context\n    t = context._state.set(None)"
        "\n    context._state.set(context.State())",
        "context._state.reset(t)",
        "sigint",
    )
    assert any("the context keeps wengert_state" in text for text in found.values())


def test_a_signal_comes_at_the_instruction_and_passage_that_are_named() -> None:
    seen: list[int] = []

    def act() -> None:
        for k in range(4):
            seen.append(k)
            tf.constant(k)

    signal.signal(signal.SIGUSR1, _ring)
    points = {p: n for p, (n, _) in record(act).items()}
    entry = max((p for p in points if p.function == "constant"), key=lambda p: -p.offset)
    assert points[entry] == 4
    for times in (1, 3):
        seen.clear()
        with pytest.raises(Alarm):
            signal_at(act, entry, times, signal.SIGUSR1)
        assert seen == list(range(times))
    assert not signal_at(act, Point("none.py", "f", 1, 0), 1, signal.SIGUSR1)
    assert sys.gettrace() is None and threading.active_count() >= 1


def _ring(number: int, frame: Any) -> None:
    raise Alarm


def test_a_pause_that_ends_after_its_tape_does_not_start_it_again() -> None:
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        pause = tape.stop_recording()
        pause.__enter__()
    pause.__exit__(None, None, None)
    assert context.get_state() is None

    def pausing() -> Any:
        with tape.stop_recording():
            yield

    with tf.GradientTape() as tape:
        tape.watch(x)
        generator = pausing()
        next(generator)
        generator.close()
        y = x * x
    assert float(tape.gradient(y, x)) == 4.0

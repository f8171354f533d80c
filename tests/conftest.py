"""Every graph that a test builds is verified; the summary tells the time of each test file."""

from __future__ import annotations

import importlib.util
import os
import signal
import sys
from collections import defaultdict
from collections.abc import Iterator

import pytest

# The same tests on every machine; those of devices bring their own.
os.environ.setdefault("JAX_PLATFORMS", "cpu")
# Nor does a test find what another run compiled; JAX takes an empty name for no cache.
os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", "")
# A shell starts what runs in its background deaf to SIGINT, and programs inherit that: those of the
# tests of interrupts would wait for ever.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True, scope="session")
def _verified_graphs() -> Iterator[None]:
    if importlib.util.find_spec("wengert") is None:  # the semantics are being asked of another
        yield
        return
    from wengert.core.process_settings import PROCESS

    PROCESS.verifies_graphs = True
    PROCESS.filters_tracebacks = False  # here Wengert's own frames are what one wants to see
    try:
        yield
    finally:
        PROCESS.verifies_graphs, PROCESS.filters_tracebacks = False, True


@pytest.fixture(autouse=True)
def _context_as_it_was() -> Iterator[None]:
    """Fails a test that leaves a tape, a graph or another listener in the context."""
    yield
    if "wengert" not in sys.modules:
        return
    from wengert.core import context

    left = context.get_state()
    if left is not None:
        context._state.set(None)
        listeners = [type(x).__name__ for x in left.listeners]
        pytest.fail(f"the test left in the context: {listeners}, graph {left.graph}")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """The seconds that each test file took, set-up included, the slowest first."""
    seconds: defaultdict[str, float] = defaultdict(float)
    for reports in terminalreporter.stats.values():
        for report in reports:
            if isinstance(report, pytest.TestReport):
                seconds[report.nodeid.partition("::")[0]] += report.duration
    if len(seconds) > 1:
        slowest = sorted(seconds.items(), key=lambda item: -item[1])
        terminalreporter.section("seconds of each file")
        terminalreporter.write_line("  ".join(f"{f} {s:.1f}" for f, s in slowest))

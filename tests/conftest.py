"""Every graph that a test builds is verified, and no test leaves a setting to those after it.

The summary tells the time of each test file.
"""

from __future__ import annotations

import importlib.util
import os
import signal
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

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


# What programs set in the record of the process.
_SET = (
    "block_threads", "deterministic", "prefers_float32", "promotes", "runs_eagerly", "safe_promotion",
)  # fmt: skip


@pytest.fixture(autouse=True)
def _settings_as_they_were() -> Iterator[None]:
    """Puts back what a test, a page or a program that runs here has set for the whole process.

    That is what `tf.config` sets, such as logical devices, NumPy's rules, and the dtypes of Keras.
    What a fixture of a module or class sets stays until that ends.
    """
    if importlib.util.find_spec("wengert") is None:
        yield
        return
    from wengert.core.process_settings import PROCESS
    from wengert.runtime import hardware, settings

    tables: list[Any] = [hardware._hidden, hardware._logical, hardware._growth, settings._options]
    before = [table.copy() for table in tables]
    runtime, process = asdict(settings.RUNTIME), {name: getattr(PROCESS, name) for name in _SET}
    keras = _keras_dtypes()
    yield
    for table, old in zip(tables, before, strict=True):
        table.clear()
        table.update(old)
    for record, fields in ((settings.RUNTIME, runtime), (PROCESS, process)):
        for name, value in fields.items():
            setattr(record, name, value)
    if _keras_dtypes() != keras:
        config = sys.modules["keras"].config
        floatx, policy = keras or ("float32", "float32")
        config.set_floatx(floatx)
        config.set_dtype_policy(policy)


def _keras_dtypes() -> tuple[str, Any] | None:
    """The dtype that Keras computes in and its policy, once a test has loaded Keras."""
    config = getattr(sys.modules.get("keras"), "config", None)
    return None if config is None else (config.floatx(), config.dtype_policy())


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

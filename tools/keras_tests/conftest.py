"""What Keras's own tests expect of the `conftest` beside them, which its wheel does not carry.

On Wengert it also puts Wengert in TensorFlow's place, and it writes the outcome of each test to
the file that `KERAS_SUITE_RECORD` names.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from types import ModuleType
from typing import Any

import pytest


def _let_tests_read_events() -> None:
    """Gives the tests of the TensorBoard callback what they read event files with."""
    from tensorboard.backend.event_processing.event_file_loader import RawEventFileLoader
    from tensorboard.compat.proto import event_pb2

    def module(name: str, **names: Any) -> None:
        made = sys.modules[name] = ModuleType(name)
        made.__dict__.update(names, __path__=[])

    module("tensorflow.core")
    module("tensorflow.core.util", event_pb2=event_pb2)
    reader = ModuleType("tf_record")
    reader.__dict__["tf_record_iterator"] = lambda path: iter(RawEventFileLoader(path).Load())
    module("tensorflow.python.lib")
    module("tensorflow.python.lib.io", tf_record=reader)


if os.environ.get("KERAS_SUITE_ON") != "tensorflow":
    importlib.import_module("wengert.keras")
    if importlib.util.find_spec("tensorboard") is not None:
        _let_tests_read_events()


def pytest_configure(config: pytest.Config) -> None:
    """Declares the markers of Keras's tests."""
    for name in ("requires_trainable_backend", "multi_device", "requires_tpu"):
        config.addinivalue_line("markers", f"{name}: a marker of Keras's own tests")


def skip_if_backend(given_backend: str, reason: str) -> Any:
    """Skips a test on one of Keras's backends; Keras's tests import this by name."""
    import keras

    return pytest.mark.skipif(keras.backend.backend() == given_backend, reason=reason)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
    """Notes a line `outcome<TAB>test<TAB>last line of the error` for each test."""
    report = (yield).get_result()
    target = os.environ.get("KERAS_SUITE_RECORD")
    if target is None or (report.when != "call" and report.passed):
        return
    why = "" if report.passed else _last_line(report, call)
    with open(target, "a", encoding="utf-8") as file:
        file.write(f"{report.outcome}\t{item.nodeid}\t{why}\n")


def _last_line(report: Any, call: pytest.CallInfo[None]) -> str:
    if call.excinfo is None:
        return ""
    text = f"{call.excinfo.type.__name__}: {call.excinfo.value}"
    return " ".join(text.split())[:400]

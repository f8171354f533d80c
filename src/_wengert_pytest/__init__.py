"""For pytest: `--wengert-doctor` runs every test with Wengert's detectors on, and the setting
`wengert_tensorflow` puts Wengert in TensorFlow's place. Errors are reported by the program's frames.

It stands outside the package `wengert`, so that pytest loads nothing else where it is not used.
"""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import ExitStack
from importlib.machinery import ModuleSpec, PathFinder
from typing import Any

import pytest


class _Unchanged:
    """Finds the modules of `wengert` before pytest does.

    Pytest rewrites the assertions of every module that is installed together with a plugin: at the
    first run five hundred files would be compiled anew, and their checks be slower ever after.
    """

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name.partition(".")[0] != "wengert":
            return None
        return PathFinder.find_spec(name, path, target)


sys.meta_path.insert(0, _Unchanged())


def pytest_addoption(parser: Any) -> None:
    parser.addini(
        "wengert_tensorflow",
        "`import tensorflow` in tests, and in processes that they start, gives Wengert",
        type="bool",
        default=False,
    )
    parser.getgroup("wengert").addoption(
        "--wengert-doctor",
        action="store_true",
        help="run tests with Wengert's detectors on; what they are certain of fails the test",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: Any) -> None:
    """Puts Wengert in TensorFlow's place before the first file of tests is read."""
    if not early_config.getini("wengert_tensorflow"):
        return
    from wengert.cli.children import alias_in_children
    from wengert.keras_glue.alias import install

    install()
    children = ExitStack()
    children.enter_context(alias_in_children())
    early_config.add_cleanup(children.close)


def pytest_configure(config: Any) -> None:
    config.addinivalue_line(
        "markers", "wengert_allow(*codes): findings that the doctor may make in this test"
    )


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, Any, Any]:
    """Reports errors without the frames of libraries, unless `--full-trace` asks for all."""
    if call.excinfo is None or item.config.getoption("fulltrace") or "wengert" not in sys.modules:
        return (yield)
    from wengert.core.tracebacks import shown, trimmed

    excinfo, whole = call.excinfo, call.excinfo.traceback
    with shown(excinfo.value) as filters:
        if filters:
            excinfo.traceback = type(whole)(trimmed(excinfo.tb) or excinfo.tb)
        result = yield
    excinfo.traceback = whole
    return result


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    if not item.config.getoption("--wengert-doctor"):
        return (yield)
    from wengert.explain import doctor

    with doctor() as value:
        result = yield
    allowed = {code for mark in item.iter_markers("wengert_allow") for code in mark.args}
    report = [e for e in value.report().certain if e.code not in allowed]
    if report:
        pytest.fail("\n\n".join(e.to_text() for e in report), pytrace=False)
    return result

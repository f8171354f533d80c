"""Errors are shown by the program's frames; the error itself is as it was."""

from __future__ import annotations

import subprocess
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import wengert as tf
from wengert.core import tracebacks
from wengert.core.process_settings import PROCESS
from wengert.core.sites import Site

A = tf.ones([2, 3])


@pytest.fixture(autouse=True)
def _filtered() -> Iterator[None]:
    tf.debugging.enable_traceback_filtering()
    yield
    tf.debugging.disable_traceback_filtering()


def failure(program: Callable[[], Any]) -> BaseException:
    try:
        program()
    except BaseException as error:
        return error
    raise AssertionError("the program was to fail")


def files(error: BaseException) -> list[str]:
    """The files that are shown, for all exceptions of a chain."""
    with tracebacks.shown(error):
        text = "".join(traceback.format_exception(error))
    return [line.split('"')[1] for line in text.splitlines() if line.startswith('  File "')]


def eager() -> Any:
    return tf.matmul(A, A)


def operator() -> Any:
    return A + tf.ones([4])


def gradient() -> Any:
    with tf.GradientTape() as tape:
        y = tf.Variable(1.0) * 2.0
    tape.gradient(y, [A], unconnected_gradients="zero")
    tape.gradient(y, A)


def in_a_branch() -> Any:
    @tf.function
    def f(x: Any) -> Any:
        if tf.reduce_sum(x) > 0.0:
            x = tf.matmul(x, x)
        return x

    return f(A)


def in_a_loop() -> Any:
    @tf.function
    def f(x: Any) -> Any:
        for _ in tf.range(3):
            x = tf.concat([x, tf.ones([7, 7])], 0)
        return x

    return f(A)


def while_running() -> Any:
    @tf.function
    def f(x: Any, i: Any) -> Any:
        return tf.gather(x, i)

    return f(A, tf.constant(9))


def python_in_a_trace() -> Any:
    @tf.function
    def f(x: Any) -> Any:
        return x[{}["missing"]]

    return f(A)


def when_mapped() -> Any:
    return tf.data.Dataset.range(3).map(lambda x: tf.matmul(A, A))


def when_iterated() -> Any:
    return list(tf.data.Dataset.range(3).map(lambda x: tf.gather([1, 2], x)))


def in_a_host_call() -> Any:
    return tf.py_function(lambda x: {}["missing"], [A], tf.float32)


PROGRAMS = [eager, operator, gradient, in_a_branch, in_a_loop, while_running, python_in_a_trace,
            when_mapped, when_iterated, in_a_host_call]  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_only_frames_of_the_program_are_shown(program: Callable[[], Any]) -> None:
    error = failure(program)
    before = traceback.format_exception(error)
    assert set(files(error)) == {__file__}
    assert traceback.format_exception(error) == before
    assert any("wengert" in line and __file__ not in line for line in before)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
@pytest.mark.filterwarnings("ignore")
def test_the_last_lines_stay(program: Callable[[], Any]) -> None:
    error = failure(program)
    with tracebacks.shown(error):
        shown = traceback.format_exception(error)
    assert shown[-1:] == traceback.format_exception(error)[-1:]


def test_all_is_shown_when_it_is_switched_off() -> None:
    error = failure(eager)
    tf.debugging.disable_traceback_filtering()
    assert any("apply.py" in file for file in files(error))


def test_a_line_of_converted_control_flow_is_shown_once() -> None:
    error = failure(in_a_branch)
    with tracebacks.shown(error):
        lines = [line for _, line in traceback.walk_tb(error.__traceback__)]
    start = in_a_branch.__code__.co_firstlineno
    assert lines[-2:] == [start + 3, start + 4]
    assert lines.count(start + 3) == 1


@pytest.mark.skipif(find_spec("keras") is None, reason="Keras is not installed")
def test_fit() -> None:
    model: Any = tf.keras.Sequential([tf.keras.layers.Dense(3)])
    model.compile("sgd", "mse")
    error = failure(lambda: model.fit(tf.ones([4, 2]), tf.ones([4, 5])))
    assert set(files(error)) == {__file__}


def test_an_error_that_is_not_of_ours_stays_as_it_is() -> None:
    import json

    error = failure(lambda: json.loads("{"))
    tb = error.__traceback__
    with tracebacks.shown(error):
        assert error.__traceback__ is tb


def test_what_the_program_calls_in_a_library_is_shown() -> None:
    import json

    error = failure(lambda: tf.function(lambda x: json.loads("{"), autograph=False)(A))
    shown = files(error)
    assert shown[0] == __file__
    assert any("json" in file for file in shown)
    assert not any("function.py" in file for file in shown)


def test_causes_and_contexts_of_the_program_are_shown() -> None:
    def program() -> Any:
        try:
            eager()
        except ValueError as error:
            raise KeyError("mine") from error

    error = failure(program)
    with tracebacks.shown(error):
        assert "direct cause" in "".join(traceback.format_exception(error))
    assert set(files(error)) == {__file__}
    assert error.__cause__ is not None
    assert error.__cause__.__cause__ is not None, "NumPy's own words are there again"


def test_a_suppressed_context_stays_suppressed() -> None:
    def program() -> Any:
        try:
            raise KeyError("mine")
        except KeyError:
            try:
                eager()
            except ValueError as error:
                raise error from None

    error = failure(program)
    with tracebacks.shown(error):
        assert "mine" not in "".join(traceback.format_exception(error))


def test_groups_of_exceptions() -> None:
    error = ExceptionGroup("both", [failure(eager), failure(operator)])  # type: ignore[list-item]  # of exceptions
    with tracebacks.shown(error):
        text = "".join(traceback.format_exception(error))
    assert "apply.py" not in text
    assert text.count("tf.matmul(A, A)") == 2


def test_hooks_are_chained() -> None:
    seen: list[Any] = []
    before = sys.excepthook, threading.excepthook
    try:
        sys.excepthook = lambda kind, error, tb: seen.append(traceback.extract_tb(tb))
        threading.excepthook = lambda args: seen.append(traceback.extract_tb(args.exc_traceback))
        tracebacks.install()
        error = failure(eager)
        sys.excepthook(type(error), error, error.__traceback__)
        worker = threading.Thread(target=eager)
        worker.start()
        worker.join()
    finally:
        sys.excepthook, threading.excepthook = before
    assert [frame.name for frame in seen[0]] == ["failure", "eager"]
    assert seen[1][-1].name == "eager"


def test_an_error_is_shown_as_it_is_where_cutting_it_fails(monkeypatch: Any) -> None:
    def fails(error: BaseException) -> Any:
        raise LookupError("a fault of ours")

    monkeypatch.setattr(tracebacks, "trim", fails)
    error = failure(eager)
    before = error.__traceback__
    with tracebacks.shown(error) as is_cut:
        assert error.__traceback__ is before
    assert not is_cut


def test_an_interrupt_is_shown_at_the_line_of_the_program() -> None:
    def interrupted(x: Any) -> Any:
        raise KeyboardInterrupt

    error = failure(lambda: tf.map_fn(interrupted, A))
    assert isinstance(error, KeyboardInterrupt)
    assert set(files(error)) == {__file__}


def run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *command], cwd=folder, capture_output=True, text=True, check=False
    )


def test_a_script(tmp_path: Path) -> None:
    text = "import wengert as tf\na = tf.ones([2, 3])\ntf.matmul(a, a)\n"
    (tmp_path / "script.py").write_text(text, encoding="utf-8")
    done = run(tmp_path, "script.py")
    assert done.stderr.splitlines()[0] == "Traceback (most recent call last):"
    assert done.stderr.count("File ") == 1
    assert "matmul: inner dimensions must agree" in done.stderr


TESTS = """
import tensorflow as tf

def test_it():
    tf.matmul(tf.ones([2, 3]), tf.ones([2, 3]))

def test_that():
    assert tf.__version__.startswith("2.")
"""
SLIM = ("-p", "no:cacheprovider", "-p", "no:hypothesispytest", "-p", "no:xdist")


def test_pytest_shows_the_test_and_finds_wengert_as_tensorflow(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\nwengert_tensorflow = true\n", encoding="utf-8")
    (tmp_path / "conftest.py").write_text("import tensorflow\n", encoding="utf-8")
    (tmp_path / "test_it.py").write_text(TESTS, encoding="utf-8")
    done = run(tmp_path, "-m", "pytest", "-q", *SLIM)
    assert "1 failed, 1 passed" in done.stdout
    assert "test_it.py:5: InvalidArgumentError" in done.stdout
    assert "apply.py" not in done.stdout
    whole = run(tmp_path, "-m", "pytest", "-q", "--full-trace", *SLIM)
    assert "apply.py" in whole.stdout


def test_a_caught_error_as_text() -> None:
    x = tf.ones([2, 3])
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        tf.function(lambda: tf.matmul(x, x) if x[0, 0] > 0.0 else x)()
    before = caught.value.__traceback__
    text = tf.explain.format_exception(caught.value)
    assert text.startswith("Traceback (most recent call last):\n")
    assert "apply.py" not in text and "test_tracebacks.py" in text
    assert "matmul: inner dimensions must agree" in text
    assert caught.value.__traceback__ is before
    with pytest.raises(TypeError, match="an exception was expected; got 3"):
        tf.explain.format_exception(3)  # type: ignore[arg-type]


def test_pytest_does_not_rewrite_the_package_of_its_plugin(tmp_path: Path) -> None:
    """A wheel lists its files, and pytest rewrites what is installed together with a plugin."""
    info = tmp_path / "wheel-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: wheel\nVersion: 1\n", "utf-8")
    (info / "RECORD").write_text("wengert/__init__.py,,\n_wengert_pytest/__init__.py,,\n", "utf-8")
    (info / "entry_points.txt").write_text(
        "[pytest11]\n_wengert_pytest = _wengert_pytest\n", "utf-8"
    )
    (tmp_path / "test_it.py").write_text(
        "import wengert.core.apply\n\n"
        "def test() -> None:\n"
        "    assert type(wengert.core.apply.__loader__).__name__ == 'SourceFileLoader'\n"
        "    assert type(__loader__).__name__ == 'AssertionRewritingHook'\n",
        "utf-8",
    )
    done = run(tmp_path, "-m", "pytest", "-q", *SLIM)
    assert "1 passed" in done.stdout, done.stdout


def test_a_missing_tensorflow_names_the_ways(monkeypatch: Any) -> None:
    for name in [n for n in sys.modules if n.partition(".")[0] == "tensorflow"]:
        monkeypatch.delitem(sys.modules, name)
    error = ModuleNotFoundError("No module named 'tensorflow'", name="tensorflow")
    with tracebacks.shown(error):
        pass
    assert "`import wengert.keras` before" in error.__notes__[0]
    assert "wengert_tensorflow = true" in error.__notes__[0]
    other = ModuleNotFoundError("No module named 'torch'", name="torch")
    with tracebacks.shown(other):
        pass
    assert not hasattr(other, "__notes__")


class Shell:
    """As much of IPython as is asked."""

    custom_exceptions = ()
    compile = SimpleNamespace(
        format_code_name=lambda file: ("Cell", "In[3]") if file == "<cell>" else None
    )

    def set_custom_exc(self, kinds: Any, handler: Any) -> None:
        self.custom_exceptions, self.handler = kinds, handler

    def showtraceback(self, given: Any, tb_offset: Any, running_compiled_code: bool) -> None:
        self.shown = traceback.extract_tb(given[2])


def test_a_notebook(monkeypatch: Any) -> None:
    shell = Shell()
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    monkeypatch.setattr(threading, "excepthook", threading.excepthook)
    tracebacks.install()
    error = failure(eager)
    shell.handler(shell, type(error), error, error.__traceback__)
    assert [frame.name for frame in shell.shown] == ["failure", "eager"]
    assert str(Site("<cell>", 4, "f")) == "Cell In[3], line 4"
    assert str(Site("program.py", 4, "f")).startswith("program.py:4")
    assert PROCESS.filters_tracebacks


def test_a_real_ipython() -> None:
    pytest.importorskip("IPython")
    program = (
        "from IPython.core.interactiveshell import InteractiveShell\n"
        "shell = InteractiveShell.instance(colors='nocolor')\n"
        "shell.run_cell('import wengert as tf', store_history=True)\n"
        "shell.run_cell('1\\ntf.matmul(tf.ones([2, 3]), tf.ones([2, 3]))', store_history=True)\n"
    )
    done = run(Path.cwd(), "-c", program)
    assert "  --> Cell In[2], line 2: tf.matmul" in done.stdout
    assert "apply.py" not in done.stdout

"""The commands, run as people run them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from wengert.cli import api
from wengert.cli.children import STAND_IN
from wengert.cli.main import main
from wengert.cli.uses import Use, uses
from wengert.keras_glue.alias import as_tensorflow

FAULTY = """
import tensorflow as tf

x = tf.constant(3.0)
with tf.GradientTape() as tape:
    y = x * x
print(tape.gradient(y, x))
"""


def write(folder: Path, text: str, name: str = "script.py") -> Path:
    path = folder / name
    path.write_text(textwrap.dedent(text).lstrip(), encoding="utf-8")
    return path


def wengert(*args: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "wengert", *args],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def here(tmp_path: Path, monkeypatch: Any, capfd: Any) -> Any:
    """Runs a command in this process; answers exit status, output and errors."""
    monkeypatch.chdir(tmp_path)

    def command(*args: str) -> tuple[int, str, str]:
        status = main(list(args))
        out, err = capfd.readouterr()
        return status, out, err

    return command


class TestRun:
    def test_a_program_for_tensorflow(self, tmp_path: Path) -> None:
        write(tmp_path, "VALUE = 5.0\n", "beside.py")
        write(
            tmp_path,
            """
            import sys
            import tensorflow as tf
            import tensorflow.math
            import tensorflow.compat.v2 as tf2
            from tensorflow import nn as layers
            from tensorflow.linalg import matmul
            from beside import VALUE

            if __name__ == "__main__":
                import __main__
                print(sys.argv, __file__, __main__.VALUE, tf.__version__)
                print(tf.math is tensorflow.math, tf2.nn is layers, matmul.__module__)
                w = tf.Variable(VALUE)
                with tf.GradientTape() as tape:
                    y = tf.square(w)
                print(float(tape.gradient(y, w)))
                sys.exit(3)
            """,
        )
        done = wengert("run", "script.py", "--flag", "-x", "1", cwd=tmp_path)
        assert done.stderr == ""
        assert done.stdout.splitlines() == [
            "['script.py', '--flag', '-x', '1'] script.py 5.0 2.21.0",
            "True True wengert.ops.matmul",
            "10.0",
        ]
        assert done.returncode == 3

    def test_a_traceback_is_the_programs_own(self, tmp_path: Path) -> None:
        write(tmp_path, "import tensorflow as tf\n\ndef f():\n    raise KeyError('gone')\n\nf()\n")
        done = wengert("run", "script.py", cwd=tmp_path)
        assert done.returncode == 1
        lines = [x for x in done.stderr.splitlines() if x.strip(" ~^")]  # marks since Python 3.13
        assert lines == [
            "Traceback (most recent call last):",
            '  File "script.py", line 6, in <module>',
            "    f()",
            '  File "script.py", line 4, in f',
            "    raise KeyError('gone')",
            "KeyError: 'gone'",
        ]

    def test_a_syntax_error(self, tmp_path: Path, here: Any) -> None:
        write(tmp_path, "x = = 1\n")
        status, _, err = here("run", "script.py")
        assert status == 1
        assert "SyntaxError" in err
        assert "running.py" not in err

    def test_a_module(self, tmp_path: Path, here: Any) -> None:
        package = tmp_path / "package"
        package.mkdir()
        write(package, "", "__init__.py")
        write(
            package,
            "import sys\nimport tensorflow as tf\nprint(tf.add(1, 2), sys.argv[1:])\n",
            "go.py",
        )
        _, out, _ = here("run", "-m", "package.go", "a")
        assert out == "tf.Tensor(3, shape=(), dtype=int32) ['a']\n"

    def test_exit_with_a_message(self, tmp_path: Path, here: Any) -> None:
        write(tmp_path, "import sys\nsys.exit('that is all')\n")
        assert here("run", "script.py") == (1, "", "that is all\n")

    def test_a_missing_script(self, here: Any) -> None:
        status, _, err = here("run", "nothing.py")
        assert status == 2
        assert "No such file" in err


CHILDREN = """
import multiprocessing as mp
import subprocess
import sys

import tensorflow as tf
from tensorflow.math import square


def work(n):
    x = tf.constant(float(n))
    with tf.GradientTape() as tape:
        y = square(x)
    return tf.__version__, tape.gradient(y, x)


def twice():
    v = tf.Variable(1.0)
    with tf.GradientTape() as tape:
        y = v * v
    tape.gradient(y, v)
    tape.gradient(y, v)


if __name__ == "__main__":
    for method in mp.get_all_start_methods():
        with mp.get_context(method).Pool(2) as pool:
            print(pool.map(work, [1, 2]))
    text = "from tensorflow import nn; import tensorflow; print(tensorflow.__version__, nn.__name__)"
    subprocess.run([sys.executable, "-c", text], check=True)
    process = mp.get_context("spawn").Process(target=twice)
    process.start()
    process.join()
    print(process.exitcode)
"""


class TestChildren:
    """Processes that a program starts resolve `tensorflow` too."""

    def test_run(self, tmp_path: Path) -> None:
        write(tmp_path, CHILDREN)
        done = wengert("run", "script.py", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        answers = str([("2.21.0", None)] * 2)
        *pools, nested, status = sorted(done.stdout.splitlines(), key=lambda t: -len(t))
        assert set(pools) == {answers}
        assert (nested, status) == ("2.21.0 wengert.nn", "1")

    def test_doctor(self, tmp_path: Path) -> None:
        write(tmp_path, CHILDREN)
        done = wengert("doctor", "--json", "-o", "report.json", "script.py", cwd=tmp_path)
        assert done.returncode == 1
        report = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
        found = [
            (e["code"], e["sites"][0]["file"], e["sites"][0]["line"])
            for e in report["explanations"]
        ]
        assert sorted(found) == [("WG101", "script.py", 10), ("WG401", "script.py", 21)]

    def test_nothing_is_left_behind(self, tmp_path: Path, here: Any) -> None:
        before = dict(os.environ), list(sys.path)
        write(tmp_path, "import tensorflow as tf\n")
        assert here("doctor", "script.py")[0] == 0
        assert (dict(os.environ), list(sys.path)) == before

    def test_another_environment_keeps_its_own_tensorflow(self, tmp_path: Path) -> None:
        (tmp_path / "own" / "tensorflow").mkdir(parents=True)
        write(tmp_path / "own" / "tensorflow", "print('its own')\n", "__init__.py")
        path = os.pathsep.join([STAND_IN, str(tmp_path / "own")])
        done = subprocess.run(
            [sys.executable, "-c", "import tensorflow"],
            env={**os.environ, "PYTHONPATH": path, "WENGERT_RUN": "/elsewhere"},
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout == "its own\n"


KERAS = """
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

model = keras.Sequential([layers.Dense(4, activation="relu"), layers.Dense(1)])
model.compile(optimizer="sgd", loss="mse")
x = np.ones([8, 3], "float32")
history = model.fit(x, x[:, :1], epochs=2, verbose=0)
print(len(history.history["loss"]), keras is tf.keras)
"""


@pytest.mark.skipif(find_spec("keras") is None, reason="Keras is not installed")
@pytest.mark.parametrize("command", ["run", "doctor"])
def test_a_program_with_keras(command: str, tmp_path: Path) -> None:
    write(tmp_path, KERAS)
    done = wengert(command, "script.py", cwd=tmp_path)
    assert done.stdout == "2 True\n"
    assert done.stderr == ("wengert doctor: nothing found\n" if command == "doctor" else "")
    assert done.returncode == 0


class TestImports:
    def test_the_inside_of_tensorflow_is_refused(self) -> None:
        with as_tensorflow(), pytest.raises(ModuleNotFoundError, match="TensorFlow's inside"):
            exec("import tensorflow.python.nothing")

    def test_a_missing_name_is_explained(self) -> None:
        with as_tensorflow(), pytest.raises(ImportError, match="TensorFlow 1"):
            exec("from tensorflow import placeholder")

    def test_everything_is_put_back(self) -> None:
        before = {n for n in sys.modules if n.partition(".")[0] == "tensorflow"}
        finders = list(sys.meta_path)
        with as_tensorflow():
            exec("import tensorflow.nn")
            assert sys.modules["tensorflow.nn"].__spec__.name == "wengert.nn"  # type: ignore[union-attr]  # it has one
        assert {n for n in sys.modules if n.partition(".")[0] == "tensorflow"} == before
        assert sys.meta_path == finders

    def test_what_others_stand_in_for_is_seen(self) -> None:
        names: dict[str, Any] = {}
        with as_tensorflow():
            exec("import tensorflow as tf", names)
        tf = names["tf"]
        assert tf.reduce_sum is tf.math.reduce_sum
        assert "GradientTape" in dir(tf)
        with pytest.raises(AttributeError, match=r"Wengert has no `tf\.zzyzx`"):
            _ = tf.zzyzx


class TestDoctor:
    def test_a_finding_ends_in_1(self, tmp_path: Path) -> None:
        write(tmp_path, FAULTY)
        done = wengert("doctor", "script.py", cwd=tmp_path)
        assert done.returncode == 1
        assert done.stdout == "None\n"
        assert done.stderr.startswith("warning[WG101]: no gradient: the source was never watched\n")
        assert " --> script.py:3:5\n" in done.stderr
        assert done.stderr.endswith("wengert doctor: 1 finding\n")

    def test_nothing_found(self, tmp_path: Path, here: Any) -> None:
        write(tmp_path, FAULTY.replace("    y =", "    tape.watch(x)\n    y ="))
        status, _, err = here("doctor", "script.py")
        assert (status, err) == (0, "wengert doctor: nothing found\n")

    def test_what_is_likely_does_not_count(self, tmp_path: Path, here: Any) -> None:
        write(
            tmp_path,
            """
            import tensorflow as tf
            w = tf.Variable(tf.ones([1024, 1024]))
            with tf.GradientTape(persistent=True) as tape:
                loss = tf.reduce_sum(tf.tanh(w))
            tape.gradient(loss, w)
            """,
        )
        status, _, err = here("doctor", "script.py")
        assert status == 0
        assert err.endswith("1 finding, 1 of them likely, not certain\n")

    def test_an_error_is_explained_too(self, tmp_path: Path, here: Any) -> None:
        write(tmp_path, "import tensorflow as tf\n\nprint(tf.placeholder(tf.float32))\n")
        status, _, err = here("doctor", "--json", "-o", "found.json", "script.py")
        assert status == 1
        assert "AttributeError: Wengert has no `tf.placeholder`." in err
        (found,) = json.loads((tmp_path / "found.json").read_text())["explanations"]
        assert (found["code"], found["sites"][0]["line"]) == ("WG801", 3)

    def test_the_exit_status_of_the_program(self, tmp_path: Path, here: Any) -> None:
        write(tmp_path, "import sys\nsys.exit(7)\n")
        assert here("doctor", "script.py")[0] == 7

    @pytest.mark.parametrize("form", ["json", "sarif", "html"])
    def test_forms(self, form: str, tmp_path: Path, capsys: Any) -> None:
        script = write(tmp_path, FAULTY)
        assert main(["doctor", f"--{form}", str(script)]) == 1
        out = capsys.readouterr().out.removeprefix("None\n")
        if form == "html":
            assert out.startswith("<!doctype html>")
            assert "WG101" in out
        else:
            data = json.loads(out)
            assert "WG101" in json.dumps(data)


PROGRAM = """
import tensorflow as tf
import tensorflow.keras.backend as K
from tensorflow import math as m, placeholder
from tensorflow.nn import relu as activation

x = tf.constant([1.0])
y = m.log(tf.nn.softmax(x)) + tf.compat.v2.abs(x)
tf.Session()
linalg = tf.linalg
z = linalg.matmul(x[None], x[:, None]).shape
tf.Variable.from_proto
print(tf.__version__, K.epsilon())
"""


METHODS = """
import tensorflow as tf
a = tf.data.Dataset.range(3).map(lambda x: x).shuffel(3)
a.batch(2).bathc(2)
y = tf.constant(1.0)
(y * 2.0).evall()
v = tf.Variable(1.0)
v.assing(2.0)
y.shape.as_lits()
with tf.GradientTape() as tape:
    tape.wach(v)
it = iter(a)
it.get_nxt()
def f(t: tf.Tensor):
    t.foo()
tf.constant(3).op.name
"""
OTHERS = """
import tensorflow as tf
y = tf.constant(1.0)
y = read(y)
y.anything()
for y in [1, 2]:
    y.anything()
x = tf.Variable(1.0)
def f(x):
    return x.anything(), [x.anything() for x in range(3)], (lambda x: x.anything())
x.numpy(), x.shape.rank, x.dtype.name, x[0].assign(1.0)
r = tf.ragged.constant([[1], []])
(r * 2).to_list()
"""
INSIDE = """
import tensorflow.python.keras.backend as K
from tensorflow.python.framework import ops
from tensorflow.python.ops import math_ops
from tensorflow.python.trackable.data_structures import ListWrapper
math_ops.add(1, 2)
"""


class TestApi:
    def test_names_and_lines(self) -> None:
        found = {u.name: u.line for u in uses(PROGRAM.lstrip())}
        assert found["tf.math"] == 3
        assert found["tf.math.log"] == 7
        assert found["tf.nn.relu"] == 4
        assert found["tf.abs"] == 7
        assert found["tf.linalg.matmul"] == 10
        assert found["tf.keras.backend.epsilon"] == 12

    def test_what_hangs_below_a_class_is_about_the_class(self) -> None:
        assert api.shortened(Use("tf.Variable.from_proto", 1)) == Use("tf.Variable", 1)
        assert api.shortened(Use("tf.nn.nothing", 1)) == Use("tf.nn.nothing", 1)
        assert api.shortened(Use("tf.__version__", 1)) is None

    def test_a_script(self, tmp_path: Path, capsys: Any) -> None:
        script = write(tmp_path, PROGRAM.replace("import tensorflow.keras.backend as K\n", ""))
        assert main(["api", "--missing", str(script)]) == 1
        out, err = capsys.readouterr()
        lines = out.splitlines()
        assert lines[0].startswith(f"{script}:2: tf.placeholder  MISSING  Wengert has no ")
        assert "missing" in err

    def test_a_script_without_gaps(self, tmp_path: Path, capsys: Any) -> None:
        script = write(tmp_path, "import tensorflow as tf\nprint(tf.add(1, 2))\n")
        assert main(["api", "--json", str(script)]) == 0
        assert json.loads(capsys.readouterr().out) == [
            {"file": str(script), "line": 2, "name": "tf.add", "present": True}
        ]

    def test_methods_are_followed(self, tmp_path: Path, capsys: Any) -> None:
        script = write(tmp_path, METHODS)
        assert main(["api", "--missing", str(script)]) == 1
        said = [line.partition(":")[2] for line in capsys.readouterr().out.splitlines()]
        assert [line.split(": ")[1].split("  ")[0] for line in said] == [
            "tf.data.Dataset.shuffel", "tf.data.Dataset.bathc", "tf.Tensor.evall", "tf.Variable.assing",
            "tf.TensorShape.as_lits", "tf.GradientTape.wach", "tf.data.Iterator.get_nxt",
            "tf.Tensor.foo", "tf.Tensor.op.name",
        ]  # fmt: skip
        assert [int(line.split(":")[0]) for line in said] == [2, 3, 5, 7, 8, 10, 12, 14, 15]

    def test_names_that_are_bound_to_something_else_are_not_followed(self, tmp_path: Path) -> None:
        assert main(["api", "--missing", str(write(tmp_path, OTHERS))]) == 0

    def test_the_inside_of_tensorflow(self, tmp_path: Path, capsys: Any) -> None:
        script = write(tmp_path, INSIDE)
        assert main(["api", "--missing", str(script)]) == 1
        lines = capsys.readouterr().out.splitlines()
        assert [line.rpartition("; ")[2] for line in lines] == [
            "use `tf.keras.backend`.",
            "use `tf.add`.",
        ]

    @pytest.mark.skipif(find_spec("keras") is None, reason="Keras is not installed")
    def test_submodules_of_keras(self, tmp_path: Path, capsys: Any) -> None:
        text = "from tensorflow.keras import layers\nfrom tensorflow.keras.layers import *\n"
        script = write(tmp_path, text + "layers.Dense(2)\nlayers.Dens(3)\nConv2D(1, 2)\n")
        assert main(["api", str(script)]) == 1
        said = [line.split(": ")[1] for line in capsys.readouterr().out.splitlines()]
        assert [name.split("  ")[0] for name in said] == [
            "tf.keras.layers", "tf.keras.layers.Dense", "tf.keras.layers.Dens",
            "tf.keras.layers.Conv2D",
        ]  # fmt: skip
        assert "MISSING" in said[2]

    def test_a_script_that_is_no_python(self, tmp_path: Path, capsys: Any) -> None:
        script = write(tmp_path, "import tensorflow as tf\ntf.add(1,\n")
        assert main(["api", str(script)]) == 2
        assert capsys.readouterr().err == f"wengert: {script}:2: '(' was never closed\n"
        assert main(["api", str(tmp_path / "none.py")]) == 2
        assert "cannot open" in capsys.readouterr().err

    def test_the_table_of_names(self) -> None:
        names = api.tensorflow_names()
        assert {"tf.add", "tf.keras.layers.Dense", "tf.data.Dataset", "tf.math.special"} <= names
        assert "tf.contrib" not in names
        assert all(n.startswith("tf.") for n in names)


def test_without_a_command_help_is_shown(capsys: Any) -> None:
    assert main([]) == 2
    assert "run a TensorFlow program on Wengert" in capsys.readouterr().out


PLUGIN = """
import pytest
import wengert as tf

def ask():
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        y = x * x
    assert tape.gradient(y, x) is None

def test_plain():
    ask()

@pytest.mark.wengert_allow("WG101")
def test_allowed():
    ask()

def test_nothing():
    tf.add(1, 2)
"""


def test_the_pytest_option(tmp_path: Path) -> None:
    write(tmp_path, PLUGIN, "test_it.py")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "_wengert_pytest", "--wengert-doctor"]
    slim = ["-p", "no:cacheprovider", "-p", "no:hypothesispytest", "-p", "no:xdist"]
    done = subprocess.run(
        [*command, *slim], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert "1 failed, 2 passed" in done.stdout
    assert "warning[WG101]: no gradient: the source was never watched" in done.stdout

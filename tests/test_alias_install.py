"""`wengert alias`: Wengert in TensorFlow's place for a whole virtual environment."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from wengert.cli import environment
from wengert.cli.main import main

PROGRAM = """
import importlib.metadata
from tensorflow.python.util import nest
import tensorflow as tf
print(tf.Module.__module__.split(".")[0], nest.flatten([1, [2]]), tf.__version__)
print(importlib.metadata.version("tensorflow"))
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of packages of an environment that has no TensorFlow."""
    paths: Any = {**sysconfig.get_paths(), "purelib": str(tmp_path)}
    monkeypatch.setattr(environment.sysconfig, "get_paths", lambda: paths)
    monkeypatch.setattr(environment.sys, "prefix", str(tmp_path))
    monkeypatch.setattr(environment, "_real", lambda: iter(()))
    return tmp_path


def test_it_is_written_used_and_taken_away(folder: Path, capsys: Any):
    assert main(["alias"]) == 1
    assert main(["alias", "--install"]) == 0 and main(["alias", "--install"]) == 0
    assert main(["alias"]) == 0 and "tensorflow is Wengert" in capsys.readouterr().out
    run = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(folder)!r})\n{PROGRAM}"]
    out = subprocess.run(run, capture_output=True, text=True, check=True).stdout
    assert out == "wengert [1, 2] 2.21.0\n2.21.0\n"
    assert main(["alias", "--remove"]) == 0
    assert not list(folder.iterdir())
    assert main(["alias", "--remove"]) == 2
    assert "Nothing is done" in capsys.readouterr().err


def test_a_tensorflow_that_is_there_stays(folder: Path, monkeypatch: Any, capsys: Any):
    real = SimpleNamespace(version="2.21.0", metadata={"Name": "tensorflow_cpu"})
    monkeypatch.setattr(environment, "_real", lambda: iter([real]))
    assert main(["alias", "--install"]) == 2
    assert "pip uninstall tensorflow_cpu" in capsys.readouterr().err
    assert not list(folder.iterdir())


def test_a_package_of_others_stays(folder: Path, capsys: Any):
    (folder / "tensorflow").mkdir()
    (folder / "tensorflow" / "__init__.py").write_text("x = 1\n")
    assert main(["alias", "--install"]) == 2 and main(["alias", "--remove"]) == 2
    assert "is not Wengert's" in capsys.readouterr().err
    assert (folder / "tensorflow" / "__init__.py").read_text() == "x = 1\n"


def test_it_needs_a_virtual_environment(folder: Path, monkeypatch: Any, capsys: Any):
    monkeypatch.setattr(environment.sys, "base_prefix", str(folder))
    assert main(["alias", "--install"]) == 2
    assert "virtual environment" in capsys.readouterr().err

"""TensorFlow in another interpreter: programs go as text, outcomes come back, as lines of JSON.

`python -m tools.fuzz.worker` is the other side. There `wengert` is another name for TensorFlow, so
that the case table can be imported; rows that TensorFlow does not have are left out.
"""

from __future__ import annotations

import base64
import importlib
import json
import os
import pkgutil
import subprocess
import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from tools.fuzz import program as programs
from tools.fuzz.program import Program
from tools.fuzz.running import Outcome, run

ROOT = Path(__file__).parents[2]


class TensorFlow:
    """The worker's owner: `run` answers as `running.run` does."""

    def __init__(self, python: str) -> None:
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
        environment |= {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1"}
        self.process = subprocess.Popen(
            [python, "-m", "tools.fuzz.worker"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True, cwd=ROOT, env=environment,
        )  # fmt: skip

    def ask(self, **question: Any) -> Any:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(question) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise RuntimeError(f"the TensorFlow worker ended with {self.process.wait()}")
        return json.loads(answer)

    def rows(self) -> list[str]:
        return self.ask(rows=True)

    def run(self, program: Program, mode: str = "eager") -> Outcome:
        result = self.ask(
            text=program.text, seed=program.seed, order=program.order, dtype=program.dtype,
            mode=mode,
        )  # fmt: skip
        arrays = {k: _array(v) for k, v in result["arrays"].items()}
        return Outcome(arrays, result["error"], tuple(result["kinds"]), result["message"])

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(20)


def _text(x: np.ndarray) -> Any:
    if x.dtype.kind == "O":
        return ["object", list(x.shape), [str(v) for v in x.ravel()]]
    return [
        x.dtype.name,
        list(x.shape),
        base64.b64encode(np.ascontiguousarray(x).tobytes()).decode(),
    ]


def _array(found: Any) -> np.ndarray:
    name, shape, data = found
    if name == "object":
        return np.array(data, object).reshape(shape)
    if name == "bfloat16":
        import ml_dtypes

        return np.frombuffer(base64.b64decode(data), ml_dtypes.bfloat16).reshape(shape)
    return np.frombuffer(base64.b64decode(data), name).reshape(shape)


class _Absent(ModuleType):
    """A module that is not here: its names can be imported, and fail when a row uses them."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Absent(f"{self.__name__}.{name}")

    def __call__(self, *args: Any, **options: Any) -> Any:
        raise LookupError(f"{self.__name__} is not here")


class _AbsentModules(MetaPathFinder, Loader):
    """Finds SciPy, which only references call, and the inside of Wengert."""

    def find_spec(self, name: str, path: Any, target: Any = None) -> ModuleSpec | None:
        here = name.split(".")[0] in ("scipy", "wengert")
        return ModuleSpec(name, self, is_package=True) if here else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _Absent(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        pass


def _import_rows() -> None:
    import tests.cases

    sys.meta_path.append(_AbsentModules())

    for module in pkgutil.iter_modules(tests.cases.__path__):
        try:
            result = importlib.import_module(f"tests.cases.{module.name}").CASES
        except Exception as e:
            print(f"tests.cases.{module.name}: {e!r}", file=sys.stderr)
            continue
        programs._ROWS.update({c.name: c for c in result})


def main() -> None:
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    import tensorflow as tf

    sys.modules["wengert"] = tf
    _import_rows()
    for line in sys.stdin:
        question = json.loads(line)
        if "rows" in question:
            answers.write(json.dumps(sorted(programs.rows())) + "\n")
            continue
        mode = question.pop("mode")
        o = run(tf, Program(**question), mode)[0]
        arrays = {k: _text(np.asarray(v)) for k, v in o.arrays.items()}
        answers.write(json.dumps({
            "arrays": arrays, "error": o.error, "kinds": o.kinds, "message": o.message[:500],
        }) + "\n")  # fmt: skip


if __name__ == "__main__":
    main()

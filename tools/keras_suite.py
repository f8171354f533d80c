"""Runs Keras's own tests, shipped in its wheel, on Wengert, and prints a table per folder.

    python tools/keras_suite.py                     all folders, in the present environment
    python tools/keras_suite.py losses layers/rnn   some folders
    python tools/keras_suite.py --fast              the folders that take seconds, in one process
    python tools/keras_suite.py --fresh             in a new virtual environment, which it makes
    python tools/keras_suite.py --on tensorflow     on a real TensorFlow, to record its counts

`keras_tests/tensorflow.txt` says how many tests of each folder pass on TensorFlow, and
`keras_tests/exceptions.txt` names those that do not pass on Wengert, each with its reason. The
status is 1 if a test fails that is not named there, or if a folder falls below its share.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import subprocess
import sys
import tempfile
import venv
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

HERE = Path(__file__).parent
LISTS = HERE / "keras_tests"
FOLDERS = [
    "layers/core", "layers/activations", "layers/normalization", "layers/convolutional",
    "layers/pooling", "layers/rnn", "layers/attention", "layers/regularization",
    "layers/reshaping", "layers/merging", "optimizers", "losses", "metrics", "initializers",
    "constraints", "regularizers", "random", "ops", "models", "trainers", "callbacks", "saving",
    "backend/common",
]  # fmt: skip
FAST = [  # these import nothing besides Keras
    "layers/activations", "layers/attention", "layers/merging", "layers/normalization",
    "layers/pooling", "layers/regularization", "losses", "initializers", "constraints",
    "regularizers", "random",
]  # fmt: skip
# What Keras's tests import besides Keras itself.
PACKAGES = [
    "grain", "orbax-checkpoint", "pandas", "pytest", "pytest-xdist", "requests", "tensorboard",
    "torch==2.13.0",
]  # fmt: skip
OF_ALL, OF_FOLDER = 0.97, 0.90


@dataclass
class Outcome:
    """What became of the tests of one folder."""

    folder: str
    passed: set[str] = field(default_factory=set)
    failed: dict[str, str] = field(default_factory=dict)
    skipped: int = 0
    broken: str = ""  # what pytest said where it ran nothing


def run(folders: list[str], on: str, extra: list[str]) -> list[Outcome]:
    """Runs some folders in a process of their own."""
    spec = importlib.util.find_spec("keras")
    if spec is None or spec.origin is None:
        sys.exit("keras_suite: Keras is not installed here. Use --fresh.")
    packages = Path(spec.origin).parent.parent
    with tempfile.TemporaryDirectory() as scratch:
        record = Path(scratch) / "record"
        record.touch()
        command = [
            sys.executable, "-m", "pytest", "-p", "conftest", "-c", os.devnull, "--rootdir=.",
            "-q", "-p", "no:cacheprovider", "-p", "no:warnings", "--tb=no", "--no-header", *extra,
            *[f"keras/src/{folder}" for folder in folders],
        ]  # fmt: skip
        environment = {
            **os.environ,
            "KERAS_BACKEND": "tensorflow",
            "KERAS_SUITE_ON": on,
            "KERAS_SUITE_RECORD": str(record),
            "PYTHONPATH": str(LISTS),
            "CUDA_VISIBLE_DEVICES": "",
        }
        done = subprocess.run(
            command, cwd=packages, env=environment, capture_output=True, text=True, check=False
        )
        outcomes = [read(folder, record) for folder in folders]
    for result in outcomes:
        if not result.passed and not result.failed:
            result.broken = (done.stdout + done.stderr)[-2000:]
    return outcomes


def read(folder: str, record: Path) -> Outcome:
    """The outcomes that `keras_tests/conftest.py` noted."""
    result = Outcome(folder)
    for line in record.read_text(encoding="utf-8").splitlines():
        outcome, test, why = line.split("\t", 2)
        name = test.removeprefix("keras/src/")
        if not name.startswith(f"{folder}/"):
            continue
        if outcome == "passed":
            result.passed.add(name)
        elif outcome == "failed":
            result.failed[name] = why
        else:
            result.skipped += 1
    result.passed -= set(result.failed)  # a test may pass and fail when it is taken down
    return result


def exceptions() -> dict[str, str]:
    """Patterns of tests that need not pass, and why; a heading `# …` gives the reason."""
    table: dict[str, str] = {}
    reason = ""
    for line in (LISTS / "exceptions.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            reason = line.removeprefix("#").strip()
        elif line.strip():
            table[line.strip()] = reason
    return table


def counts() -> dict[str, int]:
    """How many tests of each folder pass on TensorFlow."""
    lines = (LISTS / "tensorflow.txt").read_text(encoding="utf-8").splitlines()
    pairs = [line.split() for line in lines if line and not line.startswith("#")]
    return {folder: int(count) for folder, count in pairs}


def table(outcomes: list[Outcome], known: dict[str, int]) -> bool:
    """Prints the table; whether each folder and the whole reach their share."""
    print(f"{'folder':24} {'TensorFlow':>10} {'Wengert':>8} {'share':>7}")
    good = True
    rows = [(o.folder, known.get(o.folder, 0), len(o.passed), OF_FOLDER) for o in outcomes]
    if len(rows) == len(FOLDERS):
        rows.append(("all", sum(r[1] for r in rows), sum(r[2] for r in rows), OF_ALL))
    for name, wanted, passed, least in rows:
        share = passed / wanted if wanted else 1.0
        good = good and share >= least
        print(f"{name:24} {wanted:10} {passed:8} {share:7.1%}{'' if share >= least else '  <--'}")
    return good


def unexpected(outcomes: list[Outcome]) -> bool:
    """Prints failures that no exception covers; whether there are any."""
    patterns = exceptions()
    bad = False
    for outcome in outcomes:
        if outcome.broken:
            bad = True
            print(f"\n{outcome.folder}: nothing ran\n{outcome.broken}")
        for test, why in sorted(outcome.failed.items()):
            if not any(fnmatchcase(test, p) for p in patterns):
                bad = True
                print(f"\nnot among the exceptions: {test}\n  {why[:200]}")
    return bad


def fresh(arguments: list[str]) -> int:
    """Makes an environment with Wengert, Keras and what the tests import, and runs there."""
    with tempfile.TemporaryDirectory() as scratch:
        venv.create(scratch, with_pip=True)
        python = Path(scratch) / ("Scripts" if os.name == "nt" else "bin") / "python"
        install = [str(python), "-m", "pip", "install", "-q", f"{HERE.parent}[keras]", *PACKAGES]
        subprocess.run(install, check=True)
        return subprocess.run([str(python), __file__, *arguments], check=False).returncode


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folders", nargs="*", help="folders below keras/src; all if none is named")
    parser.add_argument("--fast", action="store_true", help="the folders that take seconds")
    parser.add_argument("--fresh", action="store_true", help="in a new virtual environment")
    parser.add_argument("--on", choices=["wengert", "tensorflow"], default="wengert")
    parser.add_argument("-n", metavar="PROCESSES", default="0", help="processes of pytest-xdist")
    given = parser.parse_args()
    if given.fresh:
        return fresh([a for a in sys.argv[1:] if a != "--fresh"])
    groups = [FAST] if given.fast else [[folder] for folder in given.folders or FOLDERS]
    outcomes = []
    for folders in groups:
        print(f"{', '.join(folders)} …", flush=True, file=sys.stderr)
        outcomes.extend(run(folders, given.on, ["-n", given.n]))
    if given.on == "tensorflow":
        for o in outcomes:
            print(o.folder, len(o.passed))
        return 0
    good = table(outcomes, counts())
    return 1 if unexpected(outcomes) or not good else 0


if __name__ == "__main__":
    sys.exit(main())

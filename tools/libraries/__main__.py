"""Runs the table of libraries and writes it into `docs/libraries.md`.

    python -m tools.libraries                    each library in a fresh environment
    python -m tools.libraries gpflow dm-sonnet   these; the rows of the others stay
    python -m tools.libraries --in VENV          in an environment that is there

Wengert is installed from this checkout, the library unmodified from PyPI without its dependencies,
and what else it requires beside it. Then it is imported, its programs are compared with what
TensorFlow gave (`programs.py`), and where its source distribution ships tests, they run.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent.parent
PAGE = ROOT / "docs" / "libraries.md"
HERE = Path(__file__).parent


class Library(NamedTuple):
    """A library: its version, what it is imported as, and what it requires beside TensorFlow."""

    name: str
    version: str
    module: str
    beside: str
    programs: str = ""
    tests: str = ""  # the folder of its tests in its source distribution
    environment: str = ""


_KERAS = "requests h5py pillow absl-py"
_PROBABILITY = f"{_KERAS} six cloudpickle decorator gast dm-tree tf_keras==2.21.0 numpy<2.4"
LIBRARIES = [
    Library("tf_keras", "2.21.0", "tf_keras", _KERAS, "tf_keras"),
    Library(
        "tensorflow-probability", "0.25.0", "tensorflow_probability", _PROBABILITY,
        "tensorflow_probability",
    ),
    Library(
        "gpflow", "2.11.2", "gpflow",
        f"{_PROBABILITY} tensorflow-probability==0.25.0 check_shapes multipledispatch deprecated "
        "tabulate lark typing_extensions packaging pytest matplotlib",
        tests="tests/gpflow",
    ),
    Library(
        "deepxde", "1.15.0", "deepxde",
        f"{_PROBABILITY} tensorflow-probability==0.25.0 matplotlib scikit-learn scikit-optimize",
        "deepxde", environment="DDE_BACKEND=tensorflow",
    ),
    Library("dm-sonnet", "2.0.2", "sonnet", "wrapt dm-tree tabulate absl-py", "sonnet"),
]  # fmt: skip


def environment(library: Library, folder: Path) -> str:
    """A fresh environment with Wengert and the library; its interpreter."""
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    python = str(folder / "bin" / "python")
    pip = [python, "-m", "pip", "install", "-q"]
    subprocess.run([*pip, f"{ROOT}[keras]", "tensorboard"], check=True)
    subprocess.run([python, "-m", "wengert", "alias", "--install"], check=True)
    subprocess.run([*pip, *library.beside.split()], check=True)
    subprocess.run([*pip, "--no-deps", f"{library.name}=={library.version}"], check=True)
    return python


def ran(python: str, library: Library, *arguments: str) -> tuple[int, str]:
    """The status and output of a program under Wengert."""
    own = dict(pair.split("=") for pair in library.environment.split())
    found = subprocess.run(
        [python, "-m", "wengert", "run", *arguments],
        env={**os.environ, **own}, cwd=HERE, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return found.returncode, found.stdout + found.stderr


def tested(python: str, library: Library, folder: Path) -> str:
    """How many of the tests of a source distribution pass."""
    pip = [python, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", library.name]
    subprocess.run([*pip, f"{library.name}=={library.version}", "-d", folder], check=True)
    archive = next(folder.glob("*.tar.gz"))
    subprocess.run(["tar", "xzf", archive, "-C", folder, "--strip-components", "1"], check=True)
    # Under its own name the folder of the tests would hide the library.
    tests = (folder / library.tests).rename(folder / "tests" / "of_the_library")
    dotted = library.tests.replace("/", ".")
    for file in tests.rglob("*.py"):
        file.write_text(file.read_text().replace(dotted, "tests.of_the_library"))
    (folder / "tests" / "__init__.py").touch()
    found = subprocess.run(
        [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/of_the_library"],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    counts = {word: int(n) for n, word in re.findall(r"(\d+) (passed|failed|error)", found.stdout)}
    return f"{counts.get('passed', 0)} of {sum(counts.values())}"


def row(library: Library, python: str, folder: Path) -> str:
    """The row of a library in the table."""
    status, _ = _imported(python, library)
    programs = tests = ""
    if status == 0 and library.programs:
        _, text = ran(python, library, "programs.py", "check", library.programs)
        print(text)
        programs = (re.findall(r"^(\d+ of \d+) programs$", text, re.MULTILINE) or ["none"])[-1]
    if status == 0 and library.tests:
        tests = tested(python, library, folder)
    imports = "yes" if status == 0 else "no"
    return f"| {library.name} | {library.version} | {imports} | {programs} | {tests} |"


def _imported(python: str, library: Library) -> tuple[int, str]:
    with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
        file.write(f"import {library.module}\n")
        file.flush()
        return ran(python, library, file.name)


def write(rows: dict[str, str]) -> None:
    """Puts rows into the table of the page, in the place of those with the same names."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    for k, line in enumerate(lines):
        name = line.split("|")[1].strip() if line.startswith("|") else ""
        lines[k] = rows.get(name, line)
    PAGE.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main() -> None:
    """Runs the libraries that are named, or all."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--in", dest="there", help="an environment that is there")
    parser.add_argument("names", nargs="*")
    given = parser.parse_args()
    for library in LIBRARIES:
        if given.names and library.name not in given.names:
            continue
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            there = given.there and str(Path(given.there) / "bin" / "python")
            python = there or environment(library, folder / "venv")
            (folder / "source").mkdir()
            text = row(library, python, folder / "source")
        print(text, flush=True)
        write({library.name: text})


if __name__ == "__main__":
    main()

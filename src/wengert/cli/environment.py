"""`wengert alias`: Wengert in TensorFlow's place for all programs of a virtual environment.

It writes a small distribution named `tensorflow`, whose package hands over to Wengert when it is
first imported. So `pip` takes TensorFlow for installed, too, and libraries that require it can be
installed with what else they require. `--remove`, or `pip uninstall tensorflow`, takes it away.
"""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from importlib.metadata import Distribution, distributions
from pathlib import Path

from wengert.cli.programs import CommandError
from wengert.keras_glue.alias import VERSION

_REAL = {
    "intel-tensorflow", "tensorflow", "tensorflow-cpu", "tensorflow-gpu", "tensorflow-intel",
    "tensorflow-macos", "tensorflow-rocm", "tf-nightly", "tf-nightly-cpu",
}  # fmt: skip
_INSTALLER = "wengert"
_PACKAGE = '''"""Wengert in TensorFlow's place; `wengert alias --remove` takes it away."""

import sys

sys.modules.pop("tensorflow", None)
try:
    from wengert.keras_glue import alias
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "tensorflow: Wengert stands in its place in this environment, but is not installed. "
        "Install wengert, or run `pip uninstall tensorflow`.",
        name="wengert",
    ) from error
alias.install()
__import__("tensorflow")
'''
_METADATA = f"""Metadata-Version: 2.1
Name: tensorflow
Version: {VERSION}
Summary: Wengert in TensorFlow's place, written by `wengert alias --install`
"""


def alias(change: str | None) -> int:
    """Installs or removes the distribution, or says whether it is there."""
    folder = Path(sysconfig.get_paths()["purelib"])
    if change == "install":
        _install(folder)
    elif change == "remove":
        _remove(folder)
    there = _is_ours(folder)
    print(f"tensorflow is {'Wengert' if there else 'not Wengert'} in {sys.prefix}")
    return 0 if there or change == "remove" else 1


def _install(folder: Path) -> None:
    if sys.prefix == sys.base_prefix:
        raise CommandError(
            "alias: this Python is not that of a virtual environment. Make one with "
            "`python -m venv`, or run programs with `wengert run`."
        )
    for found in _real():
        raise CommandError(
            f"alias: {found.metadata['Name']} {found.version} is installed in this environment. "
            f"Run `pip uninstall {found.metadata['Name']}` first."
        )
    package = folder / "tensorflow"
    if package.exists() and not _is_ours(folder):
        raise CommandError(
            f"alias: {package} is there, and is not Wengert's. Take it away, or make a new "
            "virtual environment."
        )
    info = _info(folder)
    texts = {
        "METADATA": _METADATA,
        "INSTALLER": f"{_INSTALLER}\n",
        "RECORD": "".join(
            f"{name},,\n"
            for name in (
                "tensorflow/__init__.py",
                *(f"{info.name}/{n}" for n in ("METADATA", "INSTALLER", "RECORD")),
            )
        ),
    }
    _place(info, texts)
    _place(package, {"__init__.py": _PACKAGE})


def _remove(folder: Path) -> None:
    if not _is_ours(folder):
        raise CommandError("alias: tensorflow is not Wengert in this environment. Nothing is done.")
    shutil.rmtree(folder / "tensorflow")
    shutil.rmtree(_info(folder), ignore_errors=True)


def _place(folder: Path, texts: dict[str, str]) -> None:
    """Puts a folder with files where it belongs, in one step."""
    made = Path(tempfile.mkdtemp(prefix=".wengert-", dir=folder.parent))
    made.chmod(0o755)
    for name, text in texts.items():
        (made / name).write_text(text, encoding="utf-8")
    if folder.exists():
        shutil.rmtree(folder)
    os.replace(made, folder)


def _info(folder: Path) -> Path:
    return folder / f"tensorflow-{VERSION}.dist-info"


def _is_ours(folder: Path) -> bool:
    """Whether the package in a folder is the one that `_install` writes."""
    try:
        return (folder / "tensorflow" / "__init__.py").read_text(encoding="utf-8") == _PACKAGE
    except (OSError, UnicodeDecodeError):
        return False


def _real() -> Iterator[Distribution]:
    """The distributions of TensorFlow in this environment."""
    for one in distributions():
        name = (one.metadata["Name"] or "").lower().replace("_", "-")
        if name in _REAL and (one.read_text("INSTALLER") or "").strip() != _INSTALLER:
            yield one

"""A sample of `tools/faults`: kills at every operation of a save, full disks, forks during steps."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
SAVES = ["checkpoint.write", "checkpoint.save", "manager", "saved_model", "dataset", "summary"]


def _run(*arguments: str) -> str:
    """What the tool prints, in a process of its own, since forks want one without threads."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "tools.faults", *arguments],
        capture_output=True, text=True, check=False, cwd=Path(__file__).parents[1],
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("save", SAVES)
def test_whatever_operation_a_process_is_killed_at(save: str) -> None:
    text = _run("kills", "--saves", save, "--count", "0")
    kills = int(text.split(" kills")[0].rpartition(" ")[2])
    assert kills >= (3 if save == "summary" else 10), text
    assert "old version 0" not in text and "new 0" not in text


@pytest.mark.parametrize("save", SAVES)
def test_a_full_disk_is_an_error_that_names_the_file(save: str) -> None:
    text = _run("disk", "--saves", save)
    assert "old version 0" not in text and "new 0" not in text


def test_children_of_a_process_whose_threads_take_steps() -> None:
    assert _run("forks", "--count", "12") == "host: 12 forks\nxla: 12 forks\n"


def test_all_kinds_of_saves_are_here() -> None:
    from tools.faults.saves import SAVES as kinds

    assert [*kinds] == SAVES

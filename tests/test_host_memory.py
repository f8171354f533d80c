"""Freed arrays stay with the process, unless the environment says otherwise."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

PROGRAM = """
import resource
import wengert
for _ in range(3):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    bytearray(48 << 20)
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def page_faults(**environment: str) -> int:
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=os.environ | environment, capture_output=True, text=True, timeout=300, check=True,
    )  # fmt: skip
    return int(ran.stdout)


@pytest.mark.skipif(
    not sys.platform.startswith("linux") or "MALLOC_MMAP_MAX_" in os.environ, reason="glibc's way"
)
def test_memory_is_taken_from_the_system_once():
    if page_faults(MALLOC_MMAP_THRESHOLD_="131072") < 10_000:
        pytest.skip("pages are large here, or the C library is another")
    assert page_faults() < 1000

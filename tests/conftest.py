"""Every graph that a test builds is verified, with what gradients and passes make of it."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator

import pytest

# The same tests on every machine; those of devices bring their own.
os.environ.setdefault("JAX_PLATFORMS", "cpu")


@pytest.fixture(autouse=True, scope="session")
def _verified_graphs() -> Iterator[None]:
    if importlib.util.find_spec("wengert") is None:  # the semantics are being asked of another
        yield
        return
    from wengert.graph import verify

    verify.CHECK[0] = True
    try:
        yield
    finally:
        verify.CHECK[0] = False

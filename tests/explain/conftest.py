"""Neither lines nor functions nor tapes remember what other tests did."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from wengert.explain import settings
from wengert.functions import trace_log
from wengert.tape import history


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    history.SEEN.clear()
    for counter in trace_log._counters.values():
        counter.traced.clear()
        counter.warned = counter.functions = 0
    always, history.Taking.always = history.Taking.always, False
    assert not history.Taking.written_down, "a test before left the doctor's history on"
    yield
    settings.none_gradients = "warn"
    history.Taking.always = always

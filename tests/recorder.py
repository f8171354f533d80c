"""A listener that writes down every operation that runs, for lanes that look inside."""

from __future__ import annotations

from types import TracebackType
from typing import Any

from wengert.core.context import Listener, add_listener, remove_listener


class Recorder(Listener):
    """Collects (op, inputs, outputs, attrs) of everything inside its `with` block."""

    def __init__(self) -> None:
        self.records: list[tuple[Any, tuple[Any, ...], tuple[Any, ...], dict[str, Any]]] = []

    def record(self, op: Any, inputs: Any, outputs: Any, attrs: Any, site: Any) -> None:
        self.records.append((op, tuple(inputs), tuple(outputs), dict(attrs)))

    def __enter__(self) -> Recorder:
        add_listener(self)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        remove_listener(self)

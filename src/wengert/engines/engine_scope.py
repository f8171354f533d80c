"""The engine and the device that a `with` around a thread's beginning asks for.

Threads of the program start clean. Those that Wengert starts for itself, such as a dataset's, do
what the thread that reads from them would do, so they are given what it asked for.
"""

from __future__ import annotations

from typing import Any

from wengert.engines import devices, engine_choice


def wanted() -> tuple[str | None, Any]:
    """What is asked for here, for `enter` in another thread."""
    return engine_choice.forced(), devices.WISHED.get()


def enter(engine: str | None, device: Any) -> None:
    """Asks for the same in this thread, until it ends."""
    engine_choice.force(engine)
    devices.WISHED.put(device)

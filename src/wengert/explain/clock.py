"""When something happened to a tape, told from the id clock: before, after, or while it slept."""

from __future__ import annotations

from wengert.tape.history import CLOSED, OPENED, RESET, RESUMED, STOPPED, WATCHED, Event, Evidence

RECORDING, BEFORE, AFTER, PAUSED, FORGOTTEN = "recording", "before", "after", "paused", "forgotten"


def when(evidence: Evidence, clock: int) -> tuple[str, Event | None]:
    """What the tape did at a moment, and the event that says so."""
    state, cause = BEFORE, None
    for event in evidence.events:
        if event.clock > clock:
            break
        if event.kind in (OPENED, RESUMED):
            state, cause = RECORDING, event
        elif event.kind == CLOSED:
            state, cause = AFTER, event
        elif event.kind == STOPPED:
            state, cause = PAUSED, event
    if state == RECORDING:
        for event in evidence.events:
            if event.kind == RESET and event.clock > clock:
                return FORGOTTEN, event
    if state == BEFORE:
        cause = opened(evidence)
    return state, cause


def opened(evidence: Evidence) -> Event | None:
    """The first opening."""
    return next((e for e in evidence.events if e.kind == OPENED), None)


def watched(evidence: Evidence, about: int) -> Event | None:
    """The first time that the tape was told to watch a tensor, since it was reset."""
    result = None
    for event in evidence.events:
        if event.kind == RESET:
            result = None
        elif event.kind == WATCHED and event.about == about and result is None:
            result = event
    return result

"""A profile as a file: Chrome's trace format in JSON, which Perfetto and TensorBoard open.

Our spans stand beside the events that JAX wrote down for XLA; a mark that both know brings the
two clocks together.
"""

from __future__ import annotations

import glob
import gzip
import json
import os
from typing import Any

from wengert.checkpoint.atomic import replacing
from wengert.core.sites import RawSite, locate
from wengert.io.paths import reporting
from wengert.profiler.spans import PREFIX, Recorder, Sample, Span

MARK = PREFIX + "mark"
_OWN = 1  # the number of our own process in the timeline; JAX numbers its own otherwise


def write(path: str, recorder: Recorder, marked: int, theirs: list[dict[str, Any]]) -> None:
    """Writes the timeline; `marked` is when the mark was set on our clock."""
    events = [
        {"ph": "M", "pid": _OWN, "name": "process_name", "args": {"name": "Wengert"}},
        {"ph": "M", "pid": _OWN, "name": "process_sort_index", "args": {"sort_index": 0}},
        *_threads(recorder),
        *[_event(s, recorder.began) for s in recorder.spans],
        *[e for s in recorder.samples for e in _counters(s, recorder.began)],
        *_aligned(theirs, (marked - recorder.began) / 1000),
    ]
    metadata = {"producer": "wengert", "left_out": recorder.left_out}
    content = {"displayTimeUnit": "ms", "metadata": metadata, "traceEvents": events}
    with reporting("profiler", path), replacing(path) as temporary:
        with gzip.open(temporary, "wt", encoding="utf-8") as file:
            json.dump(content, file, separators=(",", ":"))


def _threads(recorder: Recorder) -> list[dict[str, Any]]:
    return [
        {"ph": "M", "pid": _OWN, "tid": thread, "name": "thread_name", "args": {"name": name}}
        for thread, name in recorder.threads.items()
    ]


def _event(span: Span, began: int) -> dict[str, float | str]:
    table: dict[str, Any] = {
        "ph": "X",
        "pid": _OWN,
        "tid": span.thread,
        "ts": (span.start - began) / 1000,
        "dur": (span.end - span.start) / 1000,
        "name": span.name,
        "cat": span.kind,
    }
    if span.kind == "operation" and span.details is not None:
        table["args"] = _told(*span.details)
    elif span.details:
        table["args"] = {str(k): str(v) for k, v in span.details.items()}
    return table


def _told(site: RawSite, results: Any) -> dict[str, str]:
    where = locate(site)
    shown = " ".join(f"{dtype}[{','.join(map(str, shape))}]" for dtype, shape in results)
    return {"results": shown} | ({"line": where.place} if where else {})


def _counters(sample: Sample, began: int) -> list[dict[str, Any]]:
    return [
        {"ph": "C", "pid": _OWN, "ts": (sample.time - began) / 1000, "name": f"memory: {name}",
         "args": {"MiB": round(used / 2**20, 3)}}
        for name, used in sample.used.items()
    ]  # fmt: skip


def _aligned(theirs: list[dict[str, Any]], marked: float) -> list[dict[str, Any]]:
    """JAX's events on our clock, without our own spans, which we tell in more detail."""
    mark = next((e for e in theirs if e.get("name") == MARK), None)
    if mark is None:
        return []
    shift = marked - mark["ts"]
    return [
        e | {"ts": e["ts"] + shift} if "ts" in e else e
        for e in theirs
        if "ph" in e and not str(e.get("name", "")).startswith(PREFIX)
    ]


def events_of_jax(folder: str) -> list[dict[str, Any]]:
    """The events in the timeline that JAX wrote to the folder of a run."""
    results: list[dict[str, Any]] = []
    for file in glob.glob(os.path.join(glob.escape(folder), "*.trace.json.gz")):
        with gzip.open(file, "rt", encoding="utf-8") as opened:
            results += json.load(opened).get("traceEvents", [])
    return results

"""Samples the memory of the process and of its accelerators at intervals."""

from __future__ import annotations

import os
import sys
import threading
from time import perf_counter_ns
from typing import Any

from wengert.profiler.spans import MOST, Recorder, Sample

_EVERY = 0.01


def resident() -> int:
    """The bytes of memory that the process holds; its peak, where the system tells no more."""
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        import resource

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024


def on_devices(devices: Any) -> dict[str, int]:
    """The bytes in use on each device that tells."""
    table = {}
    for device in devices:
        stats = device.memory_stats() or {}
        if "bytes_in_use" in stats:
            table[str(device)] = int(stats["bytes_in_use"])
    return table


class Sampler:
    """A thread that takes samples until it is stopped; one is taken at each end in any case."""

    def __init__(self, recorder: Recorder, devices: Any) -> None:
        self._recorder = recorder
        self._devices = devices
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="wengert-memory", daemon=True)
        self._take()
        self._thread.start()

    def _take(self) -> None:
        used = {"process": resident(), **on_devices(self._devices)}
        if len(self._recorder.samples) < MOST:
            self._recorder.samples.append(Sample(perf_counter_ns(), used))

    def _watch(self) -> None:
        while not self._ended.wait(_EVERY):
            self._take()

    def stop(self) -> None:
        """Takes the last sample and ends the thread."""
        self._ended.set()
        self._thread.join()
        self._take()

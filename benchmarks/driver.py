"""Starts the workers, interleaves their measurements, and gathers the best of every round."""

from __future__ import annotations

import json
import os
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.workloads import Workload

ROOT = Path(__file__).resolve().parent.parent
PAUSE = 0.05  # seconds: lets the thread pools of the framework before fall asleep
SLOW = 2.0  # seconds: a step that takes longer is repeated in fewer rounds
TOLERANCE = 1e-3


@dataclass(frozen=True)
class Contender:
    """Who is measured: a framework, the interpreter that has it, and the folder of its source.

    Without a folder the interpreter decides which installation is imported.
    """

    framework: str
    python: str
    source: Path | None = None

    def environment(self) -> dict[str, str]:
        if self.source is None:
            return dict(os.environ)
        return os.environ | {"PYTHONPATH": str(self.source)}


class Peer:
    """A framework in a process of its own; `version` is None where it cannot be imported."""

    def __init__(self, contender: Contender, threads: int, *, lean: bool = False):
        count = str(threads)
        names = ("OMP", "OPENBLAS", "MKL")
        environment = {f"{name}_NUM_THREADS": count for name in names}
        environment |= {"TF_NUM_INTRAOP_THREADS": count, "TF_NUM_INTEROP_THREADS": count}
        environment |= {
            "TF_CPP_MIN_LOG_LEVEL": "3",
            "JAX_PLATFORMS": "cpu",
            "CUDA_VISIBLE_DEVICES": "",
        }
        if lean:
            # Fixed, so that the C library gives every large array back when it is freed; left to
            # itself it keeps them for later, and the peak tells more of its moods than of the tape.
            environment["MALLOC_MMAP_THRESHOLD_"] = "131072"
        self.process = subprocess.Popen(
            [contender.python, "-m", "benchmarks.worker", contender.framework, count],
            cwd=ROOT,
            env=contender.environment() | environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        hello = self._read()
        self.version = hello.get("version")
        self.reason = hello.get("missing") or hello.get("error")

    def _read(self) -> dict:
        line = self.process.stdout.readline()
        return json.loads(line) if line else {"error": "the worker died"}

    def ask(self, work: Workload, span: float, pause: float = PAUSE) -> dict:
        if self.process.poll() is not None:
            return {"error": "the worker died"}
        request = {"build": work.build, "args": work.args, "warm": work.warm}
        request |= {"measure": work.measure, "span": span}
        time.sleep(pause)
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return self._read()

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait()


@dataclass
class Results:
    """Figures in the units of the workloads, by workload and contender; and what went wrong."""

    versions: dict[str, str | None] = field(default_factory=dict)
    figures: dict[str, dict[str, float]] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    def add(self, work: Workload, name: str, raw: float) -> None:
        row = self.figures.setdefault(work.name, {})
        row[name] = min(raw * work.scale, row.get(name, float("inf")))

    def agree(self, work: Workload, checks: dict[str, float]) -> None:
        """Notes frameworks whose first step gave another answer: their times mean nothing."""
        for framework, value in checks.items():
            reference = next(iter(checks.values()))
            if abs(value - reference) > TOLERANCE * max(1.0, abs(reference)):
                self.problems.append(
                    f"{work.name}: {framework} computed {value:.6g}, {next(iter(checks))} {reference:.6g}"
                )


def _wall(contender: Contender, code: str) -> float:
    start = time.perf_counter()
    subprocess.run(
        [contender.python, "-c", code],
        check=True,
        cwd=ROOT,
        env=contender.environment(),
        stderr=subprocess.DEVNULL,
    )
    return time.perf_counter() - start


class Driver:
    """Measures the contenders, named by the caller, in turns."""

    def __init__(self, contenders: dict[str, Contender], rounds: int, span: float, threads: int):
        self.contenders, self.rounds, self.span, self.threads = contenders, rounds, span, threads
        self.results = Results()
        self.peers: dict[str, Peer] = {}

    def start(self) -> None:
        for name, contender in self.contenders.items():
            peer = Peer(contender, self.threads)
            self.results.versions[name] = peer.version
            if peer.version is None:
                self.results.problems.append(f"{name} is missing: {peer.reason}")
                peer.close()
            else:
                self.peers[name] = peer

    def close(self) -> None:
        for peer in self.peers.values():
            peer.close()

    def run(self, work: Workload) -> None:
        getattr(self, f"_{work.measure}")(work)

    def _taking_part(self, work: Workload) -> list[str]:
        return [n for n in self.peers if self.contenders[n].framework in work.frameworks]

    def _import(self, work: Workload) -> None:
        code = {name: f"import {self.contenders[name].framework}" for name in self.peers}
        for name in self.peers:
            _wall(self.contenders[name], code[name])  # compiles the byte code, fills the disk cache
        times: dict[str, list[float]] = {name: [] for name in self.peers}
        empty: dict[str, list[float]] = {name: [] for name in self.peers}
        for _ in range(max(5, self.rounds)):
            for name in self.peers:
                empty[name].append(_wall(self.contenders[name], "pass"))
                times[name].append(_wall(self.contenders[name], code[name]))
        for name in self.peers:
            self.results.add(work, name, min(times[name]) - min(empty[name]))

    def _time(self, work: Workload) -> None:
        replies = {n: self.peers[n].ask(work, self.span) for n in self._taking_part(work)}
        ready = self._ready(work, replies)
        for turn in range(self.rounds):
            for name in list(ready):
                reply = self.peers[name].ask(work, self.span)
                if "figure" not in reply:
                    self._ready(work, {name: reply})
                    ready.remove(name)
                    continue
                self.results.add(work, name, reply["figure"])
                if reply["figure"] > SLOW and turn >= 1:
                    ready.remove(name)

    def _memory(self, work: Workload) -> None:
        """In fresh processes: what an earlier step left behind would hide the growth."""
        checks = {}
        for _ in range(min(2, self.rounds)):
            for name in self._taking_part(work):
                peer = Peer(self.contenders[name], self.threads, lean=True)
                reply = peer.ask(work, self.span)
                peer.close()
                checks[name] = reply
                if "figure" in reply:
                    self.results.add(work, name, reply["figure"])
        self._ready(work, checks)

    def _ready(self, work: Workload, replies: dict[str, dict]) -> list[str]:
        """The contenders that can take part; compares their first answers."""
        for name, reply in replies.items():
            if "error" in reply:
                self.results.problems.append(f"{work.name}: {name}: {reply['error'][:300]}")
        checks = {n: r["check"] for n, r in replies.items() if "check" in r}
        if checks:
            self.results.agree(work, checks)
        return list(checks)

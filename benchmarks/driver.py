"""Starts the workers, interleaves their measurements, and gathers the best of every round."""

from __future__ import annotations

import json
import os
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.workloads import FRAMEWORKS, Workload

ROOT = Path(__file__).resolve().parent.parent
PAUSE = 0.05  # seconds: lets the thread pools of the framework before fall asleep
SLOW = 2.0  # seconds: a step that takes longer is repeated in fewer rounds
TOLERANCE = 1e-3


class Peer:
    """A framework in a process of its own; `version` is None where it cannot be imported."""

    def __init__(self, framework: str, python: str, threads: int, *, lean: bool = False):
        self.framework = framework
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
            [python, "-m", "benchmarks.worker", framework, count],
            cwd=ROOT,
            env=os.environ | environment,
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

    def ask(self, work: Workload, span: float) -> dict:
        if self.process.poll() is not None:
            return {"error": "the worker died"}
        request = {"build": work.build, "args": work.args, "warm": work.warm}
        request |= {"measure": work.measure, "span": span}
        time.sleep(PAUSE)
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return self._read()

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait()


@dataclass
class Results:
    """Figures in the units of the workloads, by workload and framework; and what went wrong."""

    versions: dict[str, str | None] = field(default_factory=dict)
    figures: dict[str, dict[str, float]] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    def add(self, work: Workload, framework: str, raw: float) -> None:
        row = self.figures.setdefault(work.name, {})
        row[framework] = min(raw * work.scale, row.get(framework, float("inf")))

    def agree(self, work: Workload, checks: dict[str, float]) -> None:
        """Notes frameworks whose first step gave another answer: their times mean nothing."""
        for framework, value in checks.items():
            reference = next(iter(checks.values()))
            if abs(value - reference) > TOLERANCE * max(1.0, abs(reference)):
                self.problems.append(
                    f"{work.name}: {framework} computed {value:.6g}, {next(iter(checks))} {reference:.6g}"
                )


def _wall(python: str, code: str) -> float:
    start = time.perf_counter()
    subprocess.run([python, "-c", code], check=True, cwd=ROOT, stderr=subprocess.DEVNULL)
    return time.perf_counter() - start


class Driver:
    def __init__(self, pythons: dict[str, str], rounds: int, span: float, threads: int):
        self.pythons, self.rounds, self.span, self.threads = pythons, rounds, span, threads
        self.results = Results()
        self.peers: dict[str, Peer] = {}

    def start(self) -> None:
        for framework in FRAMEWORKS:
            peer = Peer(framework, self.pythons[framework], self.threads)
            self.results.versions[framework] = peer.version
            if peer.version is None:
                self.results.problems.append(f"{framework} is missing: {peer.reason}")
                peer.close()
            else:
                self.peers[framework] = peer

    def close(self) -> None:
        for peer in self.peers.values():
            peer.close()

    def run(self, work: Workload) -> None:
        getattr(self, f"_{work.measure}")(work)

    def _import(self, work: Workload) -> None:
        for framework in self.peers:
            python = self.pythons[framework]
            _wall(python, f"import {framework}")  # compiles the byte code, fills the disk cache
        times: dict[str, list[float]] = {framework: [] for framework in self.peers}
        empty: dict[str, list[float]] = {framework: [] for framework in self.peers}
        for _ in range(max(5, self.rounds)):
            for framework in self.peers:
                empty[framework].append(_wall(self.pythons[framework], "pass"))
                times[framework].append(_wall(self.pythons[framework], f"import {framework}"))
        for framework in self.peers:
            self.results.add(work, framework, min(times[framework]) - min(empty[framework]))

    def _time(self, work: Workload) -> None:
        replies = {f: p.ask(work, self.span) for f, p in self.peers.items() if f in work.frameworks}
        ready = self._ready(work, replies)
        for turn in range(self.rounds):
            for framework in list(ready):
                reply = self.peers[framework].ask(work, self.span)
                if "figure" not in reply:
                    self._ready(work, {framework: reply})
                    ready.remove(framework)
                    continue
                self.results.add(work, framework, reply["figure"])
                if reply["figure"] > SLOW and turn >= 1:
                    ready.remove(framework)

    def _memory(self, work: Workload) -> None:
        """In fresh processes: what an earlier step left behind would hide the growth."""
        checks = {}
        for _ in range(min(2, self.rounds)):
            for framework in self.peers:
                if framework not in work.frameworks:
                    continue
                peer = Peer(framework, self.pythons[framework], self.threads, lean=True)
                reply = peer.ask(work, self.span)
                peer.close()
                checks[framework] = reply
                if "figure" in reply:
                    self.results.add(work, framework, reply["figure"])
        self._ready(work, checks)

    def _ready(self, work: Workload, replies: dict[str, dict]) -> list[str]:
        """The frameworks that can take part; compares their first answers."""
        for framework, reply in replies.items():
            if "error" in reply:
                self.results.problems.append(f"{work.name}: {framework}: {reply['error'][:300]}")
        checks = {f: r["check"] for f, r in replies.items() if "check" in r}
        if checks:
            self.results.agree(work, checks)
        return list(checks)

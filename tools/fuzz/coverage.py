"""What ran and what was found, kept in a JSON file so that a run can go on."""

from __future__ import annotations

import json
import os
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path

from tools.fuzz.program import Program

# How often each row and each construct is met in a full run, and how long such a run is.
EACH_CASE, EACH_CONSTRUCT, FULL = 20, 200, 20_000


@dataclass
class State:
    next: int = 0
    programs: int = 0
    modes: dict[str, int] = field(default_factory=dict)
    used: dict[str, int] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    found: list[dict[str, str]] = field(default_factory=list)
    seconds: float = 0.0

    def ran(self, program: Program) -> None:
        self.programs += 1
        self.next = program.seed + 1
        self.used = dict(Counter(self.used) + Counter(program.used))

    def count(self, what: str) -> None:
        self.counts[what] = self.counts.get(what, 0) + 1

    def mode(self, name: str) -> None:
        self.modes[name] = self.modes.get(name, 0) + 1

    def save(self, path: Path) -> None:
        fresh = path.with_suffix(".new")
        fresh.write_text(json.dumps(asdict(self), indent=1))
        os.replace(fresh, path)


def load(path: Path | None, seed: int) -> State:
    """The state of an earlier run with the same file, or a new one from `seed` on."""
    if path is not None and path.exists():
        return State(**json.loads(path.read_text()))
    return State(next=seed)


def seldom(state: State, cases: list[str], constructs: list[str]) -> list[tuple[str, int]]:
    """The rows and constructs that were met less often than a full run has to meet them."""
    wanted = {
        **{f"case {c}": EACH_CASE for c in cases},
        **dict.fromkeys(constructs, EACH_CONSTRUCT),
    }
    met = [(name, state.used.get(name, 0)) for name, least in wanted.items()
           if state.used.get(name, 0) < least]  # fmt: skip
    return sorted(met, key=lambda pair: pair[1])


def fails(state: State, cases: list[str], constructs: list[str]) -> bool:
    """Whether something was met too seldom, in a run that is long enough to meet all of it."""
    return state.programs >= FULL and bool(seldom(state, cases, constructs))


def report(state: State, cases: list[str], constructs: list[str]) -> str:
    """The figures, and what was met too seldom for a full run."""
    lines = [
        f"{state.programs} programs in {state.seconds:.0f} s, next seed {state.next}; "
        + ", ".join(f"{m}: {n} runs" for m, n in sorted(state.modes.items())),
        "; ".join(f"{what}: {n}" for what, n in sorted(state.counts.items())),
        f"{len(state.found)} disagreements",
    ]
    for title, names, least in (
        ("rows of the case table", [f"case {c}" for c in cases], EACH_CASE),
        ("constructs", constructs, EACH_CONSTRUCT),
    ):
        met = [state.used.get(n, 0) for n in names]
        few = [pair for pair in seldom(state, cases, constructs) if pair[0] in names]
        some = ", ".join(f"{name.removeprefix('case ')} {n}" for name, n in few[:12])
        lines.append(
            f"{len(names)} {title}: least {min(met, default=0)} times; "
            f"{len(few)} below {least}" + (f" ({some}, ...)" if few else "")
        )
    return "\n".join(lines)

"""`python -m tools.fuzz`: runs programs within a budget and prints what differs and what was met."""

from __future__ import annotations

import argparse
import gc
import sys
import time
from pathlib import Path

from tools.fuzz import coverage
from tools.fuzz.checking import Checker, script
from tools.fuzz.comparing import Difference
from tools.fuzz.generator import CONSTRUCTS, generate, load_constructs
from tools.fuzz.program import VARIANTS, Program, repeatable_rows
from tools.fuzz.running import MODES, backend


def _arguments(given: list[str] | None) -> argparse.Namespace:
    p = argparse.ArgumentParser(prog="python -m tools.fuzz", description=__doc__)
    p.add_argument("--seed", type=int, default=0, help="the first seed (a resumed run goes on)")
    p.add_argument("--programs", type=int, default=200, help="how many programs in all")
    p.add_argument("--seconds", type=float, default=float("inf"), help="stop after this long")
    p.add_argument("--modes", default="eager,host,open", help=f"of {', '.join(MODES)}")
    p.add_argument("--tensorflow", metavar="PYTHON", help="an interpreter that has TensorFlow")
    p.add_argument(
        "--resume", type=Path, metavar="FILE", help="keeps what ran, and goes on from it"
    )
    p.add_argument("--without", default="", help="constructs to leave out, with commas between")
    p.add_argument("--only", default="", help="constructs to make programs of, with commas between")
    p.add_argument("--rows", default="", help="rows of the case table, with commas between")
    p.add_argument("--show", action="store_true", help="print the texts of the programs only")
    p.add_argument("--least", type=int, default=600, help="runs spent to minimise one difference")
    return p.parse_args(given)


def known_to_tensorflow(checker: Checker, names: list[str]) -> list[str]:
    """The rows that TensorFlow has, and on which both agree when they stand alone."""
    assert checker.tensorflow is not None
    theirs = set(checker.tensorflow.rows())
    return [name for name in names if name in theirs and not checker.differs_alone(name)]


def main(given: list[str] | None = None) -> int:
    options = _arguments(given)
    if options.show:
        for seed in range(options.seed, options.seed + options.programs):
            print(generate(seed, repeatable_rows(), _left_out(options)).text)
        return 0
    tf = backend()
    modes = options.modes.split(",")
    cases = options.rows.split(",") if options.rows else repeatable_rows()
    tensorflow = None
    if options.tensorflow:
        from tools.fuzz.worker import TensorFlow

        tensorflow = TensorFlow(options.tensorflow)
        cases = known_to_tensorflow(Checker(tf, ["eager"], tensorflow), cases)
        print(f"{len(cases)} rows agree with TensorFlow alone", flush=True)
    checker = Checker(tf, modes, tensorflow)
    state = coverage.load(options.resume, options.seed)
    _loop(checker, state, cases, options)
    left_out = _left_out(options)
    constructs = [*CONSTRUCTS, "break", "continue", "excursion", *(f"rows {v}" for v in VARIANTS)]
    constructs = [c for c in constructs if c not in left_out]
    print(coverage.report(state, cases, constructs))
    return 1 if state.found or coverage.fails(state, cases, constructs) else 0


def _left_out(options: argparse.Namespace) -> frozenset[str]:
    """The constructs that programs are not made of."""
    load_constructs()
    only = set(options.only.split(",")) if options.only else set(CONSTRUCTS)
    unknown = only - set(CONSTRUCTS)
    if unknown:
        raise SystemExit(f"--only: no construct is named {', '.join(sorted(unknown))}")
    return frozenset({*options.without.split(","), *(set(CONSTRUCTS) - only)})


def _loop(
    checker: Checker, state: coverage.State, cases: list[str], options: argparse.Namespace
) -> None:
    begun = time.monotonic()
    before = state.seconds
    kinds = [f["kind"] for f in state.found]
    left_out = _left_out(options)

    def count(what: str) -> None:
        state.mode(what[5:]) if what.startswith("mode ") else state.count(what)

    while state.programs < options.programs and time.monotonic() - begun < options.seconds:
        program = generate(state.next, cases, left_out)
        result = checker.check(program, count)
        state.ran(program)
        for d in result:
            seen = kinds.count(f"{d.mode} {d.kind}")
            kinds.append(f"{d.mode} {d.kind}")
            _tell(checker, state, program, d, options.least if seen < 12 else 0)
        state.seconds = before + time.monotonic() - begun
        if options.resume and state.programs % 20 == 0:
            state.save(options.resume)
    if options.resume:
        state.save(options.resume)


def _tell(
    checker: Checker, state: coverage.State, program: Program, d: Difference, most: int
) -> None:
    """Prints a difference as a script, minimised unless its like was seen often enough."""
    shorter = checker.minimise(program, d, most) if most else program
    text = script(shorter, d) if most else f"seed {program.seed}: {d.mode} {d.kind}"
    state.found.append({"seed": str(program.seed), "kind": f"{d.mode} {d.kind}", "script": text})
    print("=" * 80 + "\n" + text, flush=True)


if __name__ == "__main__":
    gc.set_threshold(20_000, 50, 100)  # a program leaves many small objects: a tenth of the time
    sys.exit(main())

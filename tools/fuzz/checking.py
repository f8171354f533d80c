"""One program in several modes: the differences that are left when all is considered."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from tools.fuzz.comparing import (
    NONSENSE,
    Difference,
    difference,
    expected,
    unstable,
    without_dead_code,
)
from tools.fuzz.generator import Generator
from tools.fuzz.minimise import minimise
from tools.fuzz.program import DISAGREE, PARAMETERS, REFUSED, Program, rows
from tools.fuzz.running import MODES, OPEN_MODES, XLA_MODES, Outcome, run

Count = Callable[[str], None]
# What a program needs if it may fail: a mistake, rows of few digits or of numbers that no rule takes.
MAY_FAIL = {"errors", "variants", "not finite"}
# What a mistake of a program raises in TensorFlow; other errors mean that it cannot run it.
MISTAKES = {"InvalidArgumentError", "AssertionError", "ValueError"}


class Checker:
    """Runs programs in `modes`, the first of which is the standard; `tensorflow` may be a worker."""

    def __init__(self, tf: Any, modes: list[str], tensorflow: Any = None) -> None:
        self.tf, self.modes, self.tensorflow = tf, modes, tensorflow
        self.alone: dict[tuple[str, str], bool] = {}

    def check(self, program: Program, count: Count = lambda what: None) -> list[Difference]:
        """The differences of a program; `count` hears what was run, refused and unstable."""
        want = run(self.tf, program, self.modes[0])
        if want[0].error:
            count("raise an error")
        results = []
        if DISAGREE in want[0].message:
            results = [Difference(self.modes[0], DISAGREE, want[0].message)]
        elif want[0].error and not program.needs & MAY_FAIL:
            results = [self._failed(want[0])]
        for mode in self.modes[1:]:
            if skipped(program, mode):
                continue
            count(f"mode {mode}")
            d = self._against(program, mode, want, count)
            results += [d] if d and d.kind not in [e.kind for e in results] else []
        if self.tensorflow is not None and "ours" not in program.needs:
            count("mode tensorflow")
            d = self._against_tensorflow(program, want[0], count)
            results += [d] if d else []
        return results

    def _failed(self, outcome: Outcome) -> Difference:
        """An error of the standard itself, for a program that is none of the mistaken ones."""
        text = f"{outcome.error}: {outcome.message}"
        return Difference(self.modes[0], f"raised {outcome.error}", text)

    def _against_tensorflow(
        self, program: Program, ours: Outcome, count: Count
    ) -> Difference | None:
        theirs = self.tensorflow.run(program)
        refused = theirs.error and not ours.error
        if refused and not ("errors" in program.needs and theirs.error in MISTAKES):
            count(f"TensorFlow refuses: {theirs.error}")
            return None
        for name, x in theirs.arrays.items():
            if x.shape == () and x.dtype.kind == "f" and x == REFUSED:  # which ours may answer
                theirs.arrays[name] = ours.arrays.get(name, x)
            if x.shape == (0,) and "map_fn" in program.text:  # docs/differences.md
                mine = ours.arrays.get(name)
                if mine is not None and not mine.size:
                    theirs.arrays[name] = mine
        d = self._pair(program, "tensorflow", 0, theirs, ours, count)
        if d and any(self.differs_alone(*row) for row in _ROW.findall(program.text)):
            count("a row differs from TensorFlow's alone")
            return None
        return d

    def differs_alone(self, name: str, how: str = "") -> bool:
        """Whether a row of the case table does it, or one of both refuses it; said once."""
        if (name, how) not in self.alone:
            p = alone(name, how)
            ours, theirs = run(self.tf, p, self.modes[0])[0], self.tensorflow.run(p)
            d = difference("tensorflow", theirs, ours, p.tolerance)
            self.alone[name, how] = bool(d or ours.error)
            if d and not theirs.error:
                print(f"alone, {name} {how}: {d.kind}: {d.text[:100]!r}", flush=True)
        return self.alone[name, how]

    def _against(
        self, program: Program, mode: str, want: list[Outcome], count: Count
    ) -> Difference | None:
        got = run(self.tf, program, mode)
        for which, outcome in enumerate(got):
            if which >= len(want):
                want.append(run(self.tf, program, self.modes[0], which)[0])
            d = self._pair(program, mode, which, want[which], outcome, count)
            if d:
                return d
        return None

    def _pair(
        self, program: Program, mode: str, which: int, want: Outcome, got: Outcome, count: Count
    ) -> Difference | None:
        d = difference(mode, want, got, program.tolerance)
        if d is None:
            return None
        if expected(program, d):
            count(f"{mode} {d.kind}")
            return None
        if unstable(self.tf, program, which, want, got):
            count("unstable")
            return None
        if want.error and self._is_dead(program, mode, which, got):
            count("an error in dead code")
            return None
        if got.error and mode in MODES and self._is_late(program, mode, which, got):
            count("an error that `outcome` met before it was raised")
            return None
        return d

    def _is_late(self, program: Program, mode: str, which: int, got: Outcome) -> bool:
        """Whether eager code raises what `got` did, once `outcome` lets errors pass.

        A function finds some mistakes when it runs, after `outcome` returned.
        """
        if "outcome(" not in program.text:
            return False
        open_text = "\ndef outcome(f, dtype):\n    return digest(f(), dtype)\n\ndef program("
        loud = program.with_text(program.text.replace("\ndef program(", open_text, 1))
        want = run(self.tf, loud, self.modes[0], which)[0]
        return bool(want.error) and difference(mode, want, got, program.tolerance) is None

    def _is_dead(self, program: Program, mode: str, which: int, got: Outcome) -> bool:
        """Whether eager code agrees with `got` once values that nobody reads are not computed.

        A traced function does not run them, as in TensorFlow, so their errors do not occur.
        """
        live = program.with_text(without_dead_code(program.text))
        if live.text == program.text:
            return False
        want = run(self.tf, live, self.modes[0], which)[0]
        return difference(mode, want, got, program.tolerance) is None

    def minimise(self, program: Program, d: Difference, most: int = 600) -> Program:
        """The program cut down to what still shows the difference `d`, of the least order."""
        alone = Checker(self.tf, [self.modes[0], d.mode], None)
        if d.mode == "tensorflow":
            alone = Checker(self.tf, [self.modes[0]], self.tensorflow)

        def fails(p: Program) -> bool:
            standard = run(self.tf, p, self.modes[0], limit=10)[0]
            if standard.error == "Endless":  # a loop has lost what ends it
                return False
            if standard.error in NONSENSE and standard.error not in d.kind:
                return False
            return any(e.kind == d.kind for e in alone.check(p))

        for order in range(program.order):
            if fails(replace(program, order=order)):
                program = replace(program, order=order)
                break
        text = minimise(program.text, lambda t: fails(program.with_text(t)), most)
        return program.with_text(text)


# A row in the text of a program, and how it is varied.
_ROW = re.compile(r"""case\(["']([^"']+)["'].*?(?:, ["'](\w+)["'](?:, r)?)?\), F\)""")


def alone(name: str, how: str = "") -> Program:
    """The program that has nothing but a row of the case table."""
    varied = f", {how!r}, r" if how else ""
    text = (
        "F = tf.float64\nVARIABLES = []\n\ndef program(x, m, s, r, n):\n"
        f"    return [digest(case({name!r}, s{varied}), F)]\n"
    )
    g = Generator(0, set())
    g.order = rows()[name].order
    g.vary(how or "plain")
    return Program(text, 0, "float64", g.order, g.tolerance, frozenset(g.needs))


def skipped(program: Program, mode: str) -> bool:
    """Whether the mode cannot run the program: rows that need sizes, or have no lowering."""
    if "tensorflow" in program.needs:  # eager code differs from functions, on purpose
        return True
    if mode in XLA_MODES and program.needs & {"lowering", "strings", "python"}:
        return True
    return mode in OPEN_MODES and "case sizes" in program.needs


def script(program: Program, d: Difference) -> str:
    """A file that shows the difference, run at the root of the repository."""
    np.set_printoptions(threshold=10_000)
    given = ", ".join(
        f"tf.constant({np.asarray(a).tolist()!r}, shape={np.asarray(a).shape}, dtype=tf."
        f"{np.asarray(a).dtype.name})"
        for a in program.arguments()
    )
    head = "import numpy as np\n\nimport wengert as tf\n"
    if "case(" in program.text or "digest(" in program.text:
        head += "from tools.fuzz.program import helpers\n\nglobals().update(helpers(tf))\n"
    quoted = "\n".join(f"# {line}" for line in d.text[:600].splitlines())
    options = MODES.get(d.mode, {})
    extra = ", jit_compile=True" if options.get("jit") else ""
    if options.get("open"):
        specs = ("None", "None, None", "", "None, None", "")
        kinds = zip(specs, PARAMETERS.values(), strict=True)
        spec = ", ".join(
            f"tf.TensorSpec([{s}], tf.{'int32' if k == 'i' else program.dtype})" for s, k in kinds
        )
        extra += f", input_signature=[{spec}]"
    engine = f"with tf.engine({options['engine']!r}):\n    " if options.get("engine") else ""
    return (
        f"# seed {program.seed}, {d.mode}, gradients of order {program.order}: {d.kind}\n{quoted}\n"
        f"{head}\n{program.text}\n\ngiven = [{given}]\nprint(program(*given))\n"
        f"{engine}print(tf.function(program{extra})(*given))\n"
    )

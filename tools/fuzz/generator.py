"""Makes the text of a program from a seed: statements of the constructs over a scope of names."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tools.fuzz import expressions
from tools.fuzz.program import PARAMETERS, VARIANTS, Program, rows

Construct = Callable[["Generator", int], None]
CONSTRUCTS: dict[str, Construct] = {}
# Constructs that TensorFlow refuses, or answers otherwise by docs/differences.md.
OURS_ALONE: set[str] = set()


def construct(ours_alone: bool = False) -> Callable[[Construct], Construct]:
    """Declares a function that writes one or more statements and adds names to the scope."""

    def declare(f: Construct) -> Construct:
        CONSTRUCTS[f.__name__.rstrip("_")] = f
        if ours_alone:
            OURS_ALONE.add(f.__name__.rstrip("_"))
        return f

    return declare


class Generator:
    """The lines written so far, the names in scope by kind, and the random choices."""

    def __init__(self, seed: int, without: set[str]) -> None:
        self.seed = seed
        self.random = random.Random(seed)
        self.without = without
        self.lines: list[str] = []
        self.indent = 1
        self.scope: dict[str, str] = dict(PARAMETERS)
        self.used: Counter[str] = Counter()
        self.needs: set[str] = set()
        self.names = 0
        self.order = self.pick(0, 1, 2, 2)
        self.dtype = "float32" if self.chance(0.12) else "float64"
        self.tolerance = 1e-7
        if self.dtype == "float32":
            self.order, self.tolerance = min(self.order, 1), 2e-3

    # Choices.

    def chance(self, p: float) -> bool:
        return self.random.random() < p

    def pick(self, *choices: Any) -> Any:
        return choices[self.random.randrange(len(choices))]

    def number(self) -> str:
        return str(round(self.random.gauss(0, 1), 2))

    def fresh(self, prefix: str = "t") -> str:
        self.names += 1
        return f"{prefix}{self.names}"

    def use(self, name: str) -> None:
        self.used[name] += 1

    def named(self, kind: str) -> list[str]:
        return [n for n, k in self.scope.items() if k == kind]

    # Text.

    def expr(self, kind: str, depth: int = 2) -> str:
        """A text of `kind`, never a variable alone: a branch reads it, eager code hands it on."""
        text = expressions.expression(self, kind, depth)
        return f"tf.identity({text})" if text in ("a", "b") else text

    def test(self) -> str:
        return expressions.test(self)

    def write(self, text: str) -> None:
        self.lines.append("    " * self.indent + text)

    @contextmanager
    def block(self, head: str, **names: str) -> Iterator[None]:
        """An indented block under `head`; names made in it are unknown after it."""
        self.write(head)
        before = dict(self.scope)
        self.scope.update(names)
        self.indent += 1
        yield
        self.indent -= 1
        self.scope = before

    def let(self, kind: str, text: str | None = None) -> str:
        """A new name for an expression."""
        name, text = self.fresh(), text or self.expr(kind)
        self.write(f"{name} = {text}")
        self.scope[name] = kind
        return name

    def statements(self, depth: int, most: int = 2) -> None:
        for _ in range(self.random.randrange(most + 1)):
            self.statement(depth)

    def statement(self, depth: int) -> None:
        if depth <= 0 or self.chance(0.25):
            self.use("let")
            self.let(self.pick(*"svmr"))
            return
        name = self.pick(*[c for c in CONSTRUCTS if c not in self.without])
        self.use(name)
        CONSTRUCTS[name](self, depth - 1)

    def row(self, name: str) -> None:
        """A statement with a row of the case table."""
        row = rows()[name]
        self.order = min(self.order, row.order)
        self.needs |= {"lowering"} if not row.lowered else set()
        self.needs |= {"case sizes"} if row.needs_sizes else set()
        self.use(f"case {name}")
        how = self.pick(*VARIANTS[1:]) if self.chance(0.5) else "plain"
        if (how == "open" and row.needs_sizes) or (
            how not in ("plain", "open") and not row.lowered
        ):
            how = "plain"
        if how in ("nan", "inf") and "searchsorted" in name:
            how = "plain"  # its sequence would not be sorted any more
        if how == "inf" and any(word in name for word in ("dct", "fft", "dst")):
            how = "nan"  # infinity minus infinity, in the order of the algorithm
        self.use(f"rows {how}")
        self.vary(how)
        extra = {"plain": "", "open": ', "open", r'}.get(how, f', "{how}"')
        self.let("s", f'digest(case("{name}", {self.expr("s", 1)}{extra}), F)')

    def vary(self, how: str) -> None:
        """Less is asked of half precision, and of what is not finite or empty."""
        order, tolerance = {
            "plain": (2, 0), "open": (2, 0), "float32": (1, 1e-3), "float16": (0, 5e-2),
            "bfloat16": (0, 2e-1),
        }.get(how, (1, 0))  # fmt: skip
        self.order, self.tolerance = min(self.order, order), max(self.tolerance, tolerance)
        self.needs |= {"variants"} if how in ("empty", "float16", "bfloat16") else set()
        self.needs |= {"not finite"} if how in ("nan", "inf") else set()


def load_constructs() -> None:
    """Imports the modules that declare constructs."""
    import tools.fuzz.constructs
    import tools.fuzz.dtypes
    import tools.fuzz.flow
    import tools.fuzz.inner  # noqa: F401


def generate(
    seed: int, cases: list[str] | None = None, without: frozenset[str] = frozenset()
) -> Program:
    """The program of a seed. It has one or two of `cases`, in turn, so that all are met."""
    load_constructs()
    g = Generator(seed, set(without))
    for _ in range(g.pick(1, 2, 2, 3)):
        g.statement(2)
    for k in range(2 if cases else 0):
        assert cases is not None
        g.row(cases[(2 * seed + k) * 7919 % len(cases)])
        if g.chance(0.5):
            g.statement(1)
    body = "\n".join(g.lines)
    results = [n for n in g.scope if n.startswith("t")] or ["x"]
    number = lambda: f"[{g.number()}, {g.number()}, {g.number()}]"
    text = (
        f"F = tf.{g.dtype}\n"
        f"a = tf.Variable({number()}, dtype=F)\n"
        f"b = tf.Variable({number()}, dtype=F)\n"
        f"W = tf.constant([{number()}, {number()}, {number()}], F) * 0.5\n"
        f"u = tf.Variable({number()}, dtype=F, shape=tf.TensorShape(None))\n"
        "VARIABLES = [a, b, u]\n\n"
        f"def program({', '.join(PARAMETERS)}):\n{body}\n    return [{', '.join(results)}]\n"
    )
    needs = frozenset(g.needs)
    return Program(text, seed, g.dtype, g.order, g.tolerance, needs, g.used)

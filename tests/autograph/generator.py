"""Random structured programs: branches, loops, jumps, lists, in every nesting.

A program is the text of a function `f(x, n, rows)` of two whole numbers and a vector. It ends
whatever its arguments, gives every variable a value before it is read, and returns the same
structure on every path, so that it means the same on numbers, on tensors, and in a trace.
"""

from __future__ import annotations

import random

NAMES = ("a", "b", "c")


class Program:
    """Writes one program; the same seed writes the same one."""

    def __init__(self, seed: int, size: int = 14) -> None:
        self.random = random.Random(seed)
        self.left = size
        self.count = 0
        self.lines: list[str] = []

    def text(self) -> str:
        self.lines = [
            "def f(x, n, rows):",
            "    a, b, c = x, n, x + n",
            "    out = [x]",
            "    box = Box()",
            "    box.v = x",
        ]
        while self.left > 0:
            self.statement(1, None)
        self.put(1, "return a, b, c, box.v, tf.stack(out)")
        return "\n".join(self.lines) + "\n"

    def put(self, depth: int, line: str) -> None:
        self.lines.append("    " * depth + line)

    def pick(self, *choices: str) -> str:
        return self.random.choice(choices)

    def name(self) -> str:
        return self.pick(*NAMES)

    def value(self) -> str:
        return self.pick(
            self.name(), self.name(), str(self.random.randint(-3, 3)), "box.v", "out[0]", "out[-1]"
        )

    def number(self) -> str:
        return f"({self.value()} {self.pick('+', '-', '*')} {self.value()}) % 7"

    def condition(self, deep: int = 2) -> str:
        kind = self.random.randrange(9 if deep else 3)
        if kind < 3:
            return f"{self.value()} {self.pick('<', '<=', '>', '==', '!=')} {self.name()}"
        if kind < 5:
            joint = self.pick("and", "or")
            return f"({self.condition(deep - 1)} {joint} {self.condition(deep - 1)})"
        if kind == 5:
            return f"(not {self.condition(deep - 1)})"
        if kind == 6:
            return f"{self.value()} < {self.name()} <= {self.value()}"
        if kind == 7:
            return f"{self.name()} {self.pick('in', 'not in')} ({self.value()}, {self.value()})"
        return f"isinstance(n, int) and {self.condition(deep - 1)}"

    def block(self, depth: int, loop: str | None) -> None:
        for _ in range(self.random.randint(1, 3)):
            self.statement(depth, loop)

    def statement(self, depth: int, loop: str | None) -> None:
        self.left -= 1
        deep = depth > 4 or self.left <= 0
        kinds = ["assign", "assign", "add", "choose", "append", "attribute", "call"]
        if loop is not None:
            kinds += ["break", "continue"]
        if not deep:
            kinds += ["if", "if", "if", "for", "rows", "tensor_range", "while", "with", "try"]
        if depth > 1:
            kinds += ["return"]
        getattr(self, f"_{self.pick(*kinds)}")(depth, loop)

    def _assign(self, depth: int, loop: str | None) -> None:
        self.put(depth, f"{self.name()} = {self.number()}")

    def _add(self, depth: int, loop: str | None) -> None:
        self.put(depth, f"{self.name()} += {self.value()}")

    def _choose(self, depth: int, loop: str | None) -> None:
        self.put(
            depth, f"{self.name()} = {self.value()} if {self.condition()} else {self.number()}"
        )

    def _append(self, depth: int, loop: str | None) -> None:
        self.put(depth, f"out.append({self.number()})")

    def _attribute(self, depth: int, loop: str | None) -> None:
        self.put(depth, f"box.v = {self.number()}")

    def _call(self, depth: int, loop: str | None) -> None:
        self.put(depth, f"{self.name()} = helper({self.value()}, {self.name()})")

    def _break(self, depth: int, loop: str | None) -> None:
        self._under(depth, "break")

    def _continue(self, depth: int, loop: str | None) -> None:
        self._under(depth, "continue")

    def _return(self, depth: int, loop: str | None) -> None:
        self._under(depth, f"return {self.number()}, b, c, {self.value()}, tf.stack(out)")

    def _under(self, depth: int, jump: str) -> None:
        self.put(depth, f"if {self.condition()}:")
        if self.random.random() < 0.3:
            self._assign(depth + 1, None)
        self.put(depth + 1, jump)

    def _if(self, depth: int, loop: str | None) -> None:
        self.put(depth, f"if {self.condition()}:")
        self.block(depth + 1, loop)
        if self.random.random() < 0.3:
            self.put(depth, f"elif {self.condition()}:")
            self.block(depth + 1, loop)
        if self.random.random() < 0.5:
            self.put(depth, "else:")
            self.block(depth + 1, loop)

    def _for(self, depth: int, loop: str | None) -> None:
        self._loop(depth, loop, f"range({self.random.randint(0, 3)})")

    def _rows(self, depth: int, loop: str | None) -> None:
        self._loop(depth, loop, self.pick("rows", "rows[1:]", "reversed(rows)"))

    def _tensor_range(self, depth: int, loop: str | None) -> None:
        source = self.pick("tf.range(3)", f"tf.range({self.name()} % 4)", "range(n % 3)")
        self._loop(depth, loop, source)

    def _loop(self, depth: int, outer: str | None, source: str) -> None:
        self.count += 1
        item = f"i{self.count}"
        self.put(depth, f"for {item} in {source}:")
        self.put(depth + 1, f"{self.name()} += {item}")
        self.block(depth + 1, "for")
        self._else(depth, outer)

    def _while(self, depth: int, loop: str | None) -> None:
        self.count += 1
        fuel = f"k{self.count}"
        self.put(depth, f"{fuel} = 0")
        test = self.pick(f"{self.condition()} and {fuel} < 3", f"{fuel} < 3", "True")
        self.put(depth, f"while {test}:")
        self.put(depth + 1, f"{fuel} += 1")
        if test == "True":
            self.put(depth + 1, f"if {fuel} >= 3 or {self.condition()}:")
            self.put(depth + 2, "break")
        self.block(depth + 1, "while")
        self._else(depth, loop)

    def _else(self, depth: int, loop: str | None) -> None:
        if self.random.random() < 0.25:
            self.put(depth, "else:")
            self.block(depth + 1, loop)

    def _with(self, depth: int, loop: str | None) -> None:
        self.put(depth, "with scope():")
        self.block(depth + 1, loop)

    def _try(self, depth: int, loop: str | None) -> None:
        self.put(depth, "try:")
        self.block(depth + 1, loop)
        self.put(depth, self.pick("finally:", "except ZeroDivisionError:"))
        self._assign(depth + 1, None)


class Box:
    """Something with an attribute."""

    v: object


class scope:
    """A context that does nothing."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: object) -> None:
        pass


def program(seed: int, size: int = 14) -> str:
    """The text of one program."""
    return Program(seed, size).text()

"""Memory that a compiled program wants and does not get, in words that name the operation.

XLA says how many bytes it could not have, not for what. The largest result of the program is the
best guess; it may be one that XLA never makes.
"""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np

from wengert.core.errors import ResourceExhaustedError, at_site, say, shown_bytes
from wengert.core.lowering_checks import is_symbol
from wengert.core.types import JaxArray
from wengert.graph.ir import Node

# No machine has as many bytes; XLA ends the process over products of sizes that overflow.
_MOST = 2**47


# Smaller programs are not asked for, which takes longer than a small program.
_LARGE = 2**26


def needed(compiled: Any) -> int:
    """The bytes that a compiled program takes beside its arguments; 0 where they are few."""
    result = compiled.memory_analysis()
    if result is None:
        return 0
    total = result.temp_size_in_bytes + result.output_size_in_bytes - result.alias_size_in_bytes
    return total if total >= _LARGE else 0


class Largest:
    """The largest result among the nodes of a program, while it is lowered and afterwards."""

    def __init__(self) -> None:
        self.bytes = 0
        self.name, self.what, self.site = "", "", None

    def see(
        self, node: Node, results: list[JaxArray | np.ndarray] | tuple[JaxArray | np.ndarray, ...]
    ) -> None:
        """Takes note of a node; a result that no memory holds is an error."""
        for x in results:
            shape = getattr(x, "shape", ())
            if not shape or any(map(is_symbol, shape)):
                continue
            size = math.prod(shape) * x.dtype.itemsize
            if size <= self.bytes:
                continue
            self.bytes, self.name, self.site = size, node.op.name, node.site
            self.what = f"{x.dtype.name}[{','.join(map(str, shape))}]"
            if size > _MOST:
                raise self.error(f"unable to allocate {shown_bytes(size)} for {self.what}")

    def ask(self, bytes: int) -> None:
        """Raises where the system does not grant so much memory, which is given back at once."""
        try:
            np.empty(bytes, np.uint8)
        except MemoryError:
            rule = f"the compiled function could not have {shown_bytes(bytes)}"
            raise self.error(f"{rule}; its largest result is {self.what}") from None

    def explain(self, error: BaseException) -> None:
        """Raises for the error of a program that ran out of memory; others are let be."""
        text = str(error)
        if "RESOURCE_EXHAUSTED" not in text or isinstance(error, ResourceExhaustedError):
            return
        match = re.search(r"(\d+) ?bytes", text)
        wish = f"could not have {shown_bytes(int(match[1]))}" if match else "had not memory enough"
        rule = f"the compiled function {wish}; its largest result is {self.what}"
        raise self.error(rule) from error

    def error(self, rule: str) -> ResourceExhaustedError:
        help = "Make it smaller, or work on parts of it."
        text = say(self.name or "function", rule, help=help)
        result: Any = at_site(ResourceExhaustedError(None, None, text), self.site)
        result._placed = True
        return result

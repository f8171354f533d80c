"""The offsets that code passes, and a signal that arrives at one of them."""

from __future__ import annotations

import _thread
import dis
import os
import sys
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import wengert

LIBRARY = str(Path(wengert.__file__).parent) + os.sep
PROGRAMS = "<program "  # how the names of the scenarios' own sources begin
# Instructions that run no other code and after which CPython does not look for signals: a signal
# that arrives before one of them is handled where one is that arrives before the next instruction.
_INERT = frozenset(
    [
        "CACHE",
        "NOP",
        "LOAD_FAST",
        "LOAD_CONST",
        "LOAD_GLOBAL",
        "LOAD_DEREF",
        "LOAD_CLOSURE",
        "PUSH_NULL",
        "COPY",
        "SWAP",
        "PRECALL",
        "KW_NAMES",
        "MAKE_CELL",
        "COPY_FREE_VARS",
        "BUILD_TUPLE",
        "BUILD_LIST",
        "BUILD_MAP",
        "IS_OP",
        "JUMP_FORWARD",
        "RESUME",
        "POP_JUMP_FORWARD_IF_TRUE",
        "POP_JUMP_FORWARD_IF_FALSE",
        "POP_JUMP_FORWARD_IF_NONE",
        "EXTENDED_ARG",
        "POP_JUMP_FORWARD_IF_NOT_NONE",
        "MAKE_FUNCTION",
        "RETURN_VALUE",
        "LOAD_FAST_CHECK",
        "LOAD_FAST_AND_CLEAR",
        "LOAD_FAST_LOAD_FAST",
        "RETURN_CONST",
        "POP_JUMP_IF_TRUE",
        "POP_JUMP_IF_FALSE",
        "PUSH_EXC_INFO",
        "POP_EXCEPT",
        "RERAISE",
    ]
)


@dataclass(frozen=True)
class Point:
    """An instruction: the file below the library, the function with its line, the offset."""

    file: str
    function: str
    line: int
    offset: int

    def __str__(self) -> str:
        return f"{self.file}:{self.function}:{self.line}:{self.offset}"

    @classmethod
    def parse(cls, text: str) -> Point:
        file, function, line, offset = text.rsplit(":", 3)
        return cls(file, function, int(line), int(offset))


def _file(code: CodeType) -> str | None:
    """The file of a code object as points name it; `None` for code that is not looked at."""
    name = code.co_filename
    if name.startswith(LIBRARY):
        return name[len(LIBRARY) :]
    return "program" if name.startswith(PROGRAMS) else None


def live_offsets(code: CodeType) -> dict[int, int]:
    """The offsets worth a signal, with their lines."""
    lines = {}
    line = code.co_firstlineno
    for i in dis.get_instructions(code):
        line = i.positions.lineno if i.positions and i.positions.lineno else line
        if i.opname not in _INERT:
            lines[i.offset] = line
    return lines


def _trace(calls: Any) -> None:
    """Like `sys.settrace`; frames may then ask for opcodes.

    Python 3.12 tells of opcodes only if a frame has asked for them before tracing begins.
    """
    sys._getframe().f_trace_opcodes = True
    sys.settrace(calls)


def _opcodes(frame: FrameType, local: Any) -> Any:
    """Lets `local` hear of each opcode of a frame, but not of its lines.

    Python 3.13 takes the wish for opcodes only of a frame that has a trace function.
    """
    frame.f_trace = local
    frame.f_trace_opcodes, frame.f_trace_lines = True, False
    return local


def record(act: Callable[[], Any]) -> dict[Point, tuple[int, int]]:
    """The points that `act` passes in this thread, how often each, and the lines they are on."""
    passed: Counter[tuple[int, int]] = Counter()
    codes: dict[int, CodeType] = {}

    def local(frame: FrameType, event: str, arg: Any) -> Any:
        if event == "opcode":
            passed[id(frame.f_code), frame.f_lasti] += 1
        return local

    def calls(frame: FrameType, event: str, arg: Any) -> Any:
        code = frame.f_code
        if id(code) not in codes:
            if _file(code) is None:
                return None
            codes[id(code)] = code
        return _opcodes(frame, local)

    _trace(calls)
    try:
        act()
    finally:
        sys.settrace(None)
    table: dict[Point, tuple[int, int]] = {}
    live = {key: live_offsets(code) for key, code in codes.items()}
    for (key, offset), count in passed.items():
        code = codes[key]
        if offset in live[key]:
            file = _file(code)
            assert file is not None, "codes of other files are not recorded"
            point = Point(file, code.co_qualname, code.co_firstlineno, offset)
            before = table.get(point, (0, 0))[0]
            table[point] = before + count, live[key][offset]
    return table


def signal_at(act: Callable[[], Any], point: Point, times: int, number: int) -> bool:
    """Runs `act`; a signal arrives when the point is passed for the `times`-th time.

    Returns whether it was. The handler's exception comes out of here.
    """
    # A look-up that fails calls this. Unlike after a call, CPython does not look for signals after
    # a look-up, nor at the end of a function: the handler runs in the code that is traced.
    arrive: Any = defaultdict(partial(_thread.interrupt_main, number))
    left = times
    line, function, offset = point.line, point.function, point.offset

    def local(frame: FrameType, event: str, arg: Any) -> Any:
        nonlocal left
        if event == "opcode" and frame.f_lasti == offset:
            left -= 1
            if left == 0:
                sys.settrace(None)
                arrive[0]  # see above
                return None
        return local

    def calls(frame: FrameType, event: str, arg: Any) -> Any:
        code = frame.f_code
        if code.co_firstlineno != line or code.co_qualname != function or _file(code) != point.file:
            return None
        return _opcodes(frame, local)

    _trace(calls)
    try:
        act()
    finally:
        sys.settrace(None)
    return left <= 0

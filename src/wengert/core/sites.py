"""Call sites: where in the user's program something was made.

A raw site is the pair (code object, instruction offset) of the first frame outside library code;
taking one costs about 0.2 µs. File, line and columns are worked out only when asked (`locate`).

The doors ask `place`, unless the code that called them is the one they saw last. Walking up the
stack costs a tenth of a microsecond a frame, since Python makes a frame object of each. The nearest
frames are always looked at; beyond them the way is remembered: from this instruction of a library
such as Keras, so many frames up stands this instruction of the user's. A way is trusted once a few
walks have confirmed it, is walked again now and then, and is never trusted again once it was wrong.
Inside `exactly` every site is walked to, so that what the doctor says is proved.
"""

from __future__ import annotations

import linecache
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from types import CodeType
from typing import TYPE_CHECKING, Any

from wengert.core.process_settings import PROCESS
from wengert.core.user_code import USER, is_user

if TYPE_CHECKING:
    from types import FrameType


RawSite = tuple[CodeType, int]


def find(frame: Any) -> RawSite | None:
    """The raw site of the first user frame from `frame` outwards."""
    user = USER
    while frame is not None:
        try:
            while not user[frame.f_code.co_filename]:
                frame = frame.f_back
            return frame.f_code, frame.f_lasti
        except KeyError:  # a file that was not judged yet
            is_user(frame.f_code.co_filename)
        except AttributeError:  # no frame is left
            return None
    return None


def caller(depth: int = 1) -> RawSite | None:
    """The raw site of the first user frame, starting `depth` frames above the caller of this."""
    return find(sys._getframe(depth + 1))


@dataclass(frozen=True)
class Site:
    """A place in the user's source."""

    file: str
    line: int
    function: str
    column: int | None = None
    end_column: int | None = None

    @property
    def text(self) -> str:
        """The source line, or nothing where Python no longer has it."""
        return linecache.getline(self.file, self.line).rstrip("\n")

    @property
    def place(self) -> str:
        """File and line, or the cell of a notebook as IPython names it."""
        cell = _cell(self.file)
        return f"{self.file}:{self.line}" if cell is None else f"{cell}, line {self.line}"

    def __str__(self) -> str:
        text = self.text.strip()
        return self.place + (f": {text}" if text else "")


def ipython() -> Any:
    """The IPython that the program runs in, if it does."""
    module = sys.modules.get("IPython")
    return None if module is None else getattr(module, "get_ipython", lambda: None)()


def _cell(file: str) -> str | None:
    """What IPython calls the cell whose code has this file name: `Cell In[1]`."""
    named = getattr(getattr(ipython(), "compile", None), "format_code_name", lambda file: None)(
        file
    )
    return None if named is None else " ".join(named)


def locate(site: RawSite | Site | None) -> Site | None:
    """Works out file, line and columns of a raw site."""
    if site is None or isinstance(site, Site):
        return site
    code, offset = site
    position = next(islice(code.co_positions(), offset // 2, None), (None,) * 4)
    line, _, column, end = position
    return Site(code.co_filename, line or code.co_firstlineno, code.co_qualname, column, end)


def user_frames(frame: FrameType | None) -> Iterator[FrameType]:
    """The frames of the program from `frame` outwards."""
    while frame is not None:
        if is_user(frame.f_code.co_filename):
            yield frame
        frame = frame.f_back


def raised_at(error: BaseException) -> RawSite | None:
    """The raw site of the innermost frame of the program that an error came through."""
    passed, step = None, error.__traceback__
    while step is not None:
        if is_user(step.tb_frame.f_code.co_filename):
            passed = step.tb_frame.f_code, step.tb_lasti
        step = step.tb_next
    return passed


def warn(message: str | Warning) -> None:
    """Warns at the user's line; Python shows it once for each such line."""
    frame = next(user_frames(sys._getframe(1)), None)
    if frame is None:
        warnings.warn(message, stacklevel=2)
        return
    warnings.warn_explicit(
        message,
        UserWarning,
        frame.f_code.co_filename,
        frame.f_lineno,
        registry=frame.f_globals.setdefault("__warningregistry__", {}),
    )


_NEAR = (None,) * 4  # frames that are always looked at
_OFFSET = 4 + len(_NEAR)  # from `_remembered` to the first frame beyond, but for those of the door
_SURE, _AGAIN, _WAYS, _MOST = 8, 32, 4, 4096
_frame = sys._getframe


class Seen:
    """The user's code that was the last to call a door; whichever thread's, it is a user's."""

    __slots__ = ("code",)

    def __init__(self) -> None:
        self.code: CodeType | None = None


SEEN = Seen()


class Known:
    """What is known of the ways up from one instruction of a library."""

    __slots__ = ("code", "left", "sure", "ways", "wrong")

    def __init__(self, code: CodeType) -> None:
        self.code = code  # held, so that no other code gets its id
        self.ways: tuple[tuple[int, RawSite], ...] = ()  # frames to go up, and what is there
        self.sure = 0  # walks that confirmed what was remembered
        self.left = 0  # questions until the next walk
        self.wrong = False

    def learn(self, guessed: RawSite | None, depth: int, site: RawSite) -> None:
        """Compares a walk with what would have been answered without it."""
        if guessed is None and len(self.ways) < _WAYS:
            self.ways = (*self.ways, (depth, site))
            self.sure = 0
        elif guessed != site:  # also where there are too many ways to try
            self.wrong = True
            self.ways = ()
        else:
            self.sure += 1
        self.left = _AGAIN if self.sure >= _SURE else 0


_known: dict[int, Known] = {}


def place(frame: FrameType, up: int) -> RawSite | None:
    """The user's site at `frame` or above: the door's `find`, called by doors alone.

    The frame is the door's own `sys._getframe(up)`.
    """
    code = frame.f_code
    user = USER.get(code.co_filename)
    if user:
        SEEN.code = code
        return code, frame.f_lasti
    return find(frame) if user is None else _above(frame, up)


def _above(frame: Any, up: int) -> RawSite | None:
    """The user's site above `frame`, a library's."""
    user = USER
    try:
        for _ in _NEAR:
            frame = frame.f_back
            if user[frame.f_code.co_filename]:
                return frame.f_code, frame.f_lasti
        frame = frame.f_back
        return _remembered(frame, _OFFSET + up)
    except (KeyError, AttributeError):  # a file seen for the first time, or no frame is left
        return find(frame)


def _remembered(frame: FrameType, offset: int) -> RawSite | None:
    code = frame.f_code
    key = id(code) + frame.f_lasti  # an instruction's place in memory
    known = _known.get(key)
    if known is None or known.wrong or PROCESS.exact_sites:
        return _walked(frame, key, known, offset)
    known.left -= 1
    guess = None
    try:
        for depth, site in known.ways:
            up = _frame(depth)
            if up.f_lasti == site[1] and up.f_code is site[0]:
                guess = site
                break
    except ValueError:  # there are not so many frames
        pass
    if guess is not None and known.left >= 0:
        return guess
    depth, result = _walk(frame, offset)
    if result is not None:
        known.learn(guess, depth, result)
    return result


def _walked(frame: FrameType, key: int, known: Known | None, offset: int) -> RawSite | None:
    depth, result = _walk(frame, offset)
    if known is None and result is not None and not PROCESS.exact_sites:
        if len(_known) >= _MOST:
            _known.clear()
        _known[key] = known = Known(frame.f_code)
        known.learn(None, depth, result)
    return result


def _walk(frame: Any, depth: int) -> tuple[int, RawSite | None]:
    """How many frames above `_remembered` the user's stands, and its site."""
    while frame is not None:
        code = frame.f_code
        if code.co_filename not in USER:
            find(frame)  # judges the file
        if USER[code.co_filename]:
            return depth, (code, frame.f_lasti)
        frame = frame.f_back
        depth += 1
    return depth, None


@contextmanager
def exactly() -> Iterator[None]:
    """Walks every time inside the block, in all threads."""
    PROCESS.exact_sites += 1
    try:
        yield
    finally:
        PROCESS.exact_sites -= 1

"""Regular expressions as TensorFlow has them: those of RE2, on UTF-8.

A pattern is read once and becomes three of Python's: of bytes for ASCII, of characters for other
texts, and of bytes that spell UTF-8 for those that do not decode.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

from wengert.ops import charsets
from wengert.ops.pattern_syntax import PatternError, Reader

# A character as RE2 steps over it; other bytes count singly.
_STEP = re.compile(charsets.utf8_class(((0x80, charsets.LAST - 1),)).encode() + rb"|[\x00-\xff]")


class Pattern:
    """A regular expression that replaces and matches as RE2 does."""

    def __init__(self, source: bytes) -> None:
        try:
            reader = Reader(source.decode())
            piece = reader.whole()
            self._ascii = re.compile(piece.forms[0].encode())
        except UnicodeDecodeError:
            raise PatternError("its bytes are no UTF-8", "Encode it by str.encode().") from None
        except RecursionError:
            raise PatternError("groups are nested too deep", "Leave groups out.") from None
        self._forms = piece.forms
        self._empty = piece.empty
        places = self._ascii.groupindex
        self._groups = 0, *(places[f"group{n + 1}"] for n in range(reader.groups))
        # \C and \B look between the bytes of a character.
        self._bytewise = reader.bytewise

    @cached_property
    def _text(self) -> re.Pattern[str]:
        return re.compile(self._forms[1], re.ASCII)

    @cached_property
    def _utf8(self) -> re.Pattern[bytes]:
        alike = self._forms[0] == self._forms[2]
        return self._ascii if alike else re.compile(self._forms[2].encode())

    def _suited(self, text: bytes) -> tuple[Any, Any]:
        """The form of this pattern for `text`, which is not ASCII, and the text for that form."""
        if not self._bytewise and self._utf8 is not self._ascii:
            with suppress(UnicodeDecodeError):
                return self._text, text.decode()
        return self._utf8, text

    def matches(self, texts: Sequence[bytes]) -> list[bool]:
        """Whether each whole text matches."""
        match = self._ascii.fullmatch

        def other(text: bytes) -> Any:
            form, suited = self._suited(text)
            return form.fullmatch(suited)

        return [(match(t) if t.isascii() else other(t)) is not None for t in texts]

    def replaced(self, texts: Sequence[bytes], rewrite: bytes, *, every: bool) -> list[bytes]:
        """The texts with all matches replaced, or with `every=False` the first."""
        new = _rewriting(rewrite, self._groups)
        if new.highest >= len(self._groups) or not (every or new.whole):
            return list(texts)
        if every and self._empty:
            return [self._between(text, new) for text in texts]
        fill, sub, count = new.fill, self._ascii.sub, 0 if every else 1
        if self._utf8 is self._ascii:
            return [sub(fill, text, count) for text in texts]

        def other(text: bytes) -> bytes:
            form, suited = self._suited(text)
            if suited is text:
                return form.sub(fill, text, count)
            return form.sub(new.text_fill, suited, count).encode(errors="surrogateescape")

        return [sub(fill, t, count) if t.isascii() else other(t) for t in texts]

    def _between(self, text: bytes, new: _Rewriting) -> bytes:
        """Replaces where a match may be empty, which for RE2 it is not right after another one."""
        if not text.isascii():
            return _stepping(self._utf8, text, new)
        fill, constant = new.fill, isinstance(new.fill, bytes)
        found: list[bytes] = []
        at, last, empty = 0, -1, -1
        for match in self._ascii.finditer(text):
            start, end = match.span()
            if start == end:
                empty = start
                if start == last:
                    continue
            elif start == empty:  # RE2 would find nothing there once more, and go on
                return _stepping(self._ascii, text, new)
            found += text[at:start], fill if constant else fill(match)
            at = last = end
        return b"".join([*found, text[at:]])


def _stepping(form: re.Pattern[bytes], text: bytes, new: _Rewriting) -> bytes:
    """Replaces by the very steps of RE2, of whole characters where a match is empty."""
    found: list[bytes] = []
    at, last = 0, -1
    while at <= len(text) and (match := form.search(text, at)):
        start, end = match.span()
        if start == end == last:
            step = _STEP.match(text, at)
            end = step.end() if step else at + 1
            found.append(text[at:end])
            at = end
        else:
            found += text[at:start], new.fill if isinstance(new.fill, bytes) else new.fill(match)
            at = last = end
    return b"".join([*found, text[at:]])


@lru_cache(maxsize=512)
def compiled(source: bytes) -> Pattern:
    """The pattern that `source` spells; raises `PatternError` for what RE2 refuses."""
    return Pattern(source)


class _Rewriting(NamedTuple):
    """What `re.sub` takes for bytes and for characters; the highest group; whether all was read."""

    fill: Any
    text_fill: Any
    highest: int
    whole: bool


_REWRITE = re.compile(rb"([^\\]+)|\\(?:([0-9])|(\\))")


@lru_cache(maxsize=512)
def _rewriting(rewrite: bytes, groups: tuple[int, ...]) -> _Rewriting:
    r"""Reads \0 to \9, which are at `groups`, and \\; from other backslashes on RE2 drops the rest."""
    parts: list[Any] = []
    at = 0
    while found := _REWRITE.match(rewrite, at):
        known = found[2] and int(found[2]) < len(groups)
        parts.append(groups[int(found[2])] if known else found[1] or found[3] or b"")
        at = found.end()
    texts = [p if isinstance(p, int) else p.decode(errors="surrogateescape") for p in parts]
    numbers = re.findall(rb"(?s)\\(?:([0-9])|.)", rewrite)
    highest = max(int(n or 0) for n in [*numbers, 0])
    return _Rewriting(_fill(parts, b""), _fill(texts, ""), highest, at == len(rewrite))


def _fill(parts: list[Any], nothing: Any) -> Any:
    """A text, or a function of matches where `parts` has numbers of groups or backslashes."""
    if any(isinstance(p, int) for p in parts):
        return lambda match: nothing.join(
            [(match[p] or nothing) if isinstance(p, int) else p for p in parts]
        )
    text = nothing.join(parts)
    return text if not any(p in (b"\\", "\\") for p in parts) else lambda match: text

"""Regular expressions as TensorFlow has them: RE2, on UTF-8, in time linear in the text.

RE2 itself reads and matches; this module owns the rewriting of matches and the remedies of errors.
A match by RE2 costs two to four microseconds of Python. Python's `re` takes a sixtieth of that for
the patterns used most, so it serves those on which the two cannot differ: see `_SIMPLE`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple, Protocol

_CHARACTER = "Write \\ before signs that stand for themselves."
_ESCAPE = "Write \\\\ for a backslash, and \\ only before signs that stand for themselves."
# What to write instead of what RE2 refuses, by the beginning of the refused part, or else of the
# error that RE2 reports.
_REMEDIES = {
    "(?=": "Lookahead: match what follows too, and write it back as \\1.",
    "(?!": "Lookahead: match what may follow instead, by [^...].",
    "(?<=": "Lookbehind: match what precedes too, and write it back as \\1.",
    "(?<!": "Lookbehind: match what may precede instead, by [^...].",
    "(?>": "An atomic group: write (?:...).",
    "(?(": "A conditional group: write both alternatives out, with |.",
    "(?#": "A comment: leave it out.",
    "(?P": "Write (?P<name>...). For a backreference match twice, or compare the parts in Python.",
    "(?": "Groups are (...), (?:...) and (?P<name>...); the flags are i, m, s and U, as in (?i).",
    "\\Z": "Write \\z for the end of the text.",
    "\\x": "Write \\x41 or \\x{1F600} for a character by its number.",
    "\\u": "Write \\x41 or \\x{1F600} for a character by its number.",
    **{f"\\{n}": "A backreference: match twice, or compare the parts in Python." for n in range(1, 10)},
    "\\p": "Name a general category (L, Lu, ...) or a living script (Greek, Han, ...).",
    "\\P": "Name a general category (L, Lu, ...) or a living script (Greek, Han, ...).",
    "[[:": "The names are alnum, alpha, ascii, blank, cntrl, digit, graph, lower, print, punct, "
    "space, upper, word and xdigit.",
    "[:": "The names are alnum, alpha, ascii, blank, cntrl, digit, graph, lower, print, punct, "
    "space, upper, word and xdigit.",
    "invalid escape sequence": _ESCAPE,
    "trailing \\": _ESCAPE,
    "invalid named capture group": "Write (?P<name>...).",
    "bad repetition operator": "One repetition of a group is enough: write (?:...) around it.",
    "invalid repetition size": "The counts go up to 1000, those of nested groups multiplied; "
    "use * or +, or turn {m,n} around.",
    "invalid character class range": "Turn the range around, or write \\- for a minus sign.",
    "invalid UTF-8": "Encode it by str.encode().",
    "expression nested too deeply": "Leave groups out.",
    "pattern too large": "Split it into several patterns, or repeat less.",
}  # fmt: skip


# Literals and sets of ASCII, of which the last may repeat: on a text of ASCII `re` finds the same
# matches, none is empty, and without a choice of lengths in the middle there is nothing to try again.
_SIGN = rb"[\w ,;:!\"#%&'/<=>@`~]|\\[^\w\s]"
_MEMBER = rb"(?:" + _SIGN + rb"|[.$*+?(){}|^])"
_SET = rb"\[\^?-?(?:" + _MEMBER + rb"(?:-" + _MEMBER + rb")?|\\[dw])+\]"
_SIMPLE = re.compile(
    rb"(?!.*(?:--|&&|~~|\|\|))"  # `re` reserves these in sets
    rb"(?:" + _SIGN + rb"|-|\\[dws]|" + _SET + rb")+\+?",
    re.ASCII,
)


class PatternError(Exception):
    """Why RE2 refuses a pattern, and what to write instead."""

    def __init__(self, rule: str) -> None:
        super().__init__(rule if len(rule) <= 100 else f"{rule[:97]}...")
        kind, _, part = rule.partition(": ")
        refused = part if kind.startswith("invalid") else ""
        known = sorted(filter(refused.startswith, _REMEDIES)) or [
            *filter(kind.startswith, _REMEDIES)
        ]
        self.help = _REMEDIES[known[-1]] if known else _CHARACTER


class Pattern:
    """A regular expression of RE2."""

    def __init__(self, source: bytes) -> None:
        import re2

        options = re2.Options()
        options.log_errors = False
        try:
            self._regexp = re2.compile(source, options)
        except re2.error as error:
            raise PatternError(_text(error.args[0])) from None
        simple = source.isascii() and _SIMPLE.fullmatch(source)
        self._simple = re.compile(_ESCAPED.sub(_to_re, source), re.ASCII) if simple else None

    def matches(self, texts: Sequence[bytes]) -> list[bool]:
        """Whether each whole text matches."""
        match, simple = self._regexp.fullmatch, self._simple and self._simple.fullmatch
        return [
            (simple(text) if simple and text.isascii() else match(text)) is not None
            for text in texts
        ]

    def replaced(self, texts: Sequence[bytes], rewrite: bytes, *, every: bool) -> list[bytes]:
        """The texts with all matches replaced, or with `every=False` the first.

        An invalid rewrite leaves the texts as they are, as RE2 has it: one that names a group that
        the pattern lacks, or, for the first match alone, one that ends in the middle of an escape.
        """
        new = _rewriting(rewrite)
        if new.highest > self._regexp.groups or not (every or new.valid):
            return list(texts)
        one = self._every if every else self._first
        if self._simple is None:
            return [one(text, new) for text in texts]
        sub, fill, count = self._simple.sub, new.fill, 0 if every else 1
        return [sub(fill, text, count) if text.isascii() else one(text, new) for text in texts]

    def _first(self, text: bytes, new: _Rewriting) -> bytes:
        match = self._regexp.search(text)
        if match is None:
            return text
        start, end = match.span()
        return text[:start] + new.fill(match) + text[end:]

    def _every(self, text: bytes, new: _Rewriting) -> bytes:
        """Replaces from left to right; right after a match no empty one counts, and a character passes."""
        search, fill = self._regexp.search, new.fill
        parts: list[bytes] = []
        at, last = 0, -1
        while at <= len(text) and (match := search(text, at)):
            start, end = match.span()
            if start == end == last:
                end = at + _width(text, at)
                parts.append(text[at:end])
                at = end
            else:
                parts += text[at:start], fill(match)
                at = last = end
        return b"".join([*parts, text[at:]]) if parts else text


_ESCAPED = re.compile(rb"\\.")


def _to_re(escape: re.Match[bytes]) -> bytes:
    """An escape of RE2 as `re` has it, where they differ: only there a vertical tab is no space."""
    return b"[\\t\\n\\f\\r ]" if escape[0] == rb"\s" else escape[0]


def _text(words: str | bytes) -> str:
    return words if isinstance(words, str) else words.decode(errors="replace")


def _width(text: bytes, at: int) -> int:
    """The number of bytes of the character at a position; 1 for a byte that begins none."""
    for count in (1, 2, 3, 4):
        try:
            text[at : at + count].decode()
            return count
        except UnicodeDecodeError:
            continue
    return 1


@lru_cache(maxsize=512)
def compiled(source: bytes) -> Pattern:
    """The pattern that `source` spells; raises `PatternError` for what RE2 refuses."""
    return Pattern(source)


class Match(Protocol):
    """What the matches of `re` and RE2 have in common."""

    def __getitem__(self, group: int, /) -> bytes | None: ...


class _Rewriting(NamedTuple):
    """What replaces a match: texts and numbers of groups.

    `highest` is the highest number that RE2 finds in it; `valid` says whether RE2 can read all of it.
    """

    parts: tuple[bytes | int, ...]
    highest: int
    valid: bool

    def fill(self, match: Match) -> bytes:
        return b"".join([(match[p] or b"") if isinstance(p, int) else p for p in self.parts])


_REWRITE = re.compile(rb"([^\\]+)|\\(?:([0-9])|(\\))")


@lru_cache(maxsize=512)
def _rewriting(rewrite: bytes) -> _Rewriting:
    r"""Reads \0 to \9 and \\; from any other backslash on RE2 drops the rest."""
    parts: list[bytes | int] = []
    at = 0
    while match := _REWRITE.match(rewrite, at):
        parts.append(int(match[2]) if match[2] else match[1] or match[3])
        at = match.end()
    numbers = re.findall(rb"(?s)\\(?:([0-9])|.)", rewrite)
    return _Rewriting(tuple(parts), max(int(n or 0) for n in [*numbers, 0]), at == len(rewrite))

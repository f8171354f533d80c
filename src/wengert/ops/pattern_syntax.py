r"""The syntax of RE2, read into sources of Python's patterns, or refused with a remedy.

Python's own classes, flags and anchors mean other things, so that hardly any of them is left.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from wengert.ops import charsets
from wengert.ops.charsets import Ranges

_MOST_REPEATS = 1000
_LOOPS = {"*": "?", "+": "", "{0,}": "?", "{1,}": ""}
_IN_LINE = charsets.inverted(((10, 10),))
_SIGNS = {"n": 10, "r": 13, "t": 9, "a": 7, "f": 12, "v": 11}
_ANCHORS = {"A": r"\A", "z": r"\Z", "b": r"\b", "B": r"(?!\b)"}
_COUNTS = re.compile(r"\{(0|[1-9][0-9]{0,8})(?:(,)(0|[1-9][0-9]{0,8})?)?\}")
_OCTAL = re.compile(r"0[0-7]{0,2}|[1-7][0-7]{1,2}")
_HEX = re.compile(r"x(?:\{([0-9A-Fa-f]+)\}|([0-9A-Fa-f]{2}))")
_REFUSED = {
    "=": ("lookahead, (?=...),", "Match what follows too, and write it back as \\1."),
    "!": ("lookahead, (?!...),", "Match what may follow instead, by [^...]."),
    "<=": ("lookbehind, (?<=...),", "Match what precedes too, and write it back as \\1."),
    "<!": ("lookbehind, (?<!...),", "Match what may precede instead, by [^...]."),
    "<": ("(?<name>...)", "Write (?P<name>...)."),
    ">": ("an atomic group, (?>...),", "Write (?:...)."),
    "(": ("a conditional group, (?(1)...),", "Write both alternatives out, with |."),
    "#": ("a comment, (?#...),", "Leave it out."),
    "P=": ("a backreference, (?P=name),", "Match twice, or compare the parts in Python."),
}
_ESCAPE = "Write \\\\ for a backslash, and \\ only before signs that stand for themselves."


class PatternError(Exception):
    """Why RE2 refuses a pattern, and what to write instead."""

    def __init__(self, rule: str, help: str | None = None) -> None:
        super().__init__(rule)
        self.help = help or "Write \\ before signs that stand for themselves."


class Piece(NamedTuple):
    """A part of a pattern; `empty` says whether it can match nothing.

    `forms` are its sources for bytes that are ASCII, for characters, and for bytes of UTF-8. `times`
    counts repetitions of repetitions, of which RE2 takes only so many.
    """

    forms: tuple[str, ...]
    empty: bool
    times: int = 1


def _same(text: str, *, empty: bool) -> Piece:
    return Piece((text,) * 3, empty)


def _one_of(ranges: Ranges) -> Piece:
    kinds = charsets.ascii_class, charsets.text_class, charsets.utf8_class
    return Piece(tuple(kind(ranges) for kind in kinds), empty=False)


def _wrapped(before: str, piece: Piece, after: str) -> tuple[str, ...]:
    return tuple(before + form + after for form in piece.forms)


def _joined(mark: str, pieces: list[Piece], *, empty: bool) -> Piece:
    forms = zip(*[p.forms for p in pieces], strict=True) if pieces else [()] * 3
    times = max((p.times for p in pieces), default=1)
    return Piece(tuple(map(mark.join, forms)), empty, times)


class Reader:
    """Reads a pattern from left to right; `flags` are those of `i`, `m`, `s`, `U` that hold."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.groups = 0
        self.loops = 0
        self.bytewise = False
        self.flags = frozenset[str]()

    def whole(self) -> Piece:
        found = self._alternatives()
        if self.at < len(self.text):
            raise PatternError("unexpected )")
        return found

    def _ahead(self, *starts: str) -> bool:
        return self.text.startswith(starts, self.at)

    def _taken(self, start: str) -> bool:
        found = self._ahead(start)
        self.at += len(start) * found
        return found

    def _next(self) -> str:
        self.at += 1
        return self.text[self.at - 1 : self.at]

    def _alternatives(self) -> Piece:
        found = [self._sequence()]
        while self._taken("|"):
            found.append(self._sequence())
        return _joined("|", found, empty=any(p.empty for p in found))

    def _sequence(self) -> Piece:
        found: list[Piece] = []
        last = -1
        while self.at < len(self.text) and not self._ahead("|", ")"):
            if self._repetition(found, follows=last == self.at):
                last = self.at
            else:
                self._item(found)
        return _joined("", found, empty=all(p.empty for p in found))

    def _repetition(self, found: list[Piece], *, follows: bool) -> bool:
        """Reads *, +, ?, {n}, {n,}, {n,m} if one is next; it repeats the last of `found`."""
        counts = _COUNTS.match(self.text, self.at)
        if not counts and not self._ahead("*", "+", "?"):
            return False
        sign = counts[0] if counts else self.text[self.at]
        self.at += len(sign)
        lazy = self._taken("?") != ("U" in self.flags)
        if follows:
            rule = f"{sign} repeats what is repeated; possessive and double ones are not supported"
            raise PatternError(rule, "Leave it out, or put the first repetition in (?:...).")
        if not found:
            raise PatternError(f"nothing that {sign} could repeat")
        piece = found.pop()
        low, times = _bounds(counts, piece) if counts else (int(sign == "+"), piece.times)
        tail = "?" * lazy
        if piece.empty and sign in _LOOPS:
            forms = self._looped(piece, tail, _LOOPS[sign])
        else:
            forms = _wrapped("(?:", piece, f"){sign}{tail}")
        found.append(Piece(forms, piece.empty or not low, times))
        return True

    def _looped(self, piece: Piece, tail: str, optional: str) -> tuple[str, ...]:
        """A loop around what may match nothing, which for RE2 it may in the first turn only.

        The place is told by the rest of the text: where the loop starts, and where a turn does.
        """
        self.loops += 1
        start, turn = f"start{self.loops}", f"turn{self.loops}"
        before = f"(?:(?=(?P<{start}>(?s:.*)))(?:(?=(?P<{turn}>(?s:.*)))(?:"
        advanced = rf"(?:(?!(?P={turn})\Z)|(?=(?P={start})\Z))"
        after = f"){advanced})+{tail}){optional and optional + tail}"
        return _wrapped(before, piece, after)

    def _item(self, found: list[Piece]) -> None:
        """Reads one thing that may be repeated; flags and quotes may add nothing, or more."""
        sign = self._next()
        if sign == "(":
            self._group(found)
        elif sign == "[":
            found.append(_one_of(self._class()))
        elif sign == ".":
            found.append(_one_of(charsets.ANY if "s" in self.flags else _IN_LINE))
        elif sign == "^":
            found.append(_same("(?m:^)" if "m" in self.flags else r"\A", empty=True))
        elif sign == "$":
            found.append(_same("(?m:$)" if "m" in self.flags else r"\Z", empty=True))
        elif sign == "\\":
            self._escaped(found)
        else:
            found.append(self._literal(sign))

    def _literal(self, sign: str) -> Piece:
        return _one_of(self._cased(((ord(sign), ord(sign)),)))

    def _cased(self, ranges: Ranges) -> Ranges:
        return charsets.folded(ranges) if "i" in self.flags else ranges

    def _escaped(self, found: list[Piece]) -> None:
        kind = self.text[self.at : self.at + 1]
        if kind in _ANCHORS:
            self.at += 1
            self.bytewise |= kind == "B"
            found.append(_same(_ANCHORS[kind], empty=True))
        elif self._taken("C"):
            self.bytewise = True
            found.append(_same(r"[\x00-\xff]", empty=False))
        elif self._taken("Q"):
            quoted, end, _ = self.text[self.at :].partition("\\E")
            self.at += len(quoted) + len(end)
            found += map(self._literal, quoted)
        elif (ranges := self._class_escape()) is not None:
            found.append(_one_of(ranges))
        else:
            found.append(self._literal(self._sign_escape()))

    def _class_escape(self) -> Ranges | None:
        r"""The set of \d, \s, \w, \p{...}, or their opposites in capitals, if one is next."""
        kind = self.text[self.at : self.at + 1]
        if kind not in {*"dswpDSWP"}:
            return None
        self.at += 1
        opposite = kind.isupper()
        if kind in "pP":
            name = self._unicode_name()
            opposite ^= name.startswith("^")
            ranges = charsets.unicode_class(name.removeprefix("^"))
            if ranges is None:
                help = (
                    "Name a general category (L, Lu, P, ...) or a living script (Greek, Han, ...)."
                )
                raise PatternError(f"the class \\{kind}{{{name}}} is not known", help)
        else:
            ranges = charsets.ESCAPED[kind.lower()]
        ranges = self._cased(ranges)
        return charsets.inverted(ranges) if opposite else ranges

    def _unicode_name(self) -> str:
        if not self._taken("{"):
            return self._next().removeprefix("^")
        name, end, _ = self.text[self.at :].partition("}")
        if not end:
            raise PatternError("missing } of a class \\p{...}")
        self.at += len(name) + 1
        return name

    def _sign_escape(self) -> str:
        """The character that the escape at hand stands for, after its backslash."""
        if self.at == len(self.text):
            raise PatternError("a single \\ at the end", "Write \\\\ for a backslash.")
        if found := _OCTAL.match(self.text, self.at):
            point = int(found[0], 8)
        elif found := _HEX.match(self.text, self.at):
            point = int(found[1] or found[2], 16)
        else:
            sign = self._next()
            if not sign.isascii() or (sign.isalnum() and sign not in _SIGNS):
                raise _bad_escape(sign)
            return chr(_SIGNS.get(sign, ord(sign)))
        self.at = found.end()
        if point > charsets.LAST:
            raise PatternError(f"no character has the number \\x{{{point:x}}}", _ESCAPE)
        return chr(point)

    def _class(self) -> Ranges:
        opposite = self._taken("^")
        found: list[tuple[int, int]] = []
        start = self.at
        while self.at == start or not self._ahead("]"):
            if self.at >= len(self.text):
                raise PatternError("missing ]")
            found += self._member()
        self.at += 1
        ranges = charsets.united(found)
        return charsets.inverted(ranges) if opposite else ranges

    def _member(self) -> Ranges:
        """A class inside a class, a range, or a single character."""
        if self._ahead("[:") and (end := self.text.find(":]", self.at + 2)) > 0:
            name = self.text[self.at + 2 : end]
            ranges = charsets.NAMED.get(name.removeprefix("^"))
            if ranges is None:
                help = f"The names are {', '.join(charsets.NAMED)}."
                raise PatternError(f"the class [:{name}:] is not known", help)
            self.at = end + 2
            ranges = self._cased(ranges)
            return charsets.inverted(ranges) if name.startswith("^") else ranges
        low = self._next()
        if low == "\\":
            if (ranges := self._class_escape()) is not None:
                return ranges
            low = self._sign_escape()
        high = low
        if self._ahead("-") and not self._ahead("-]") and self.at + 1 < len(self.text):
            self.at += 1
            high = self._next()
            high = self._sign_escape() if high == "\\" else high
        if high < low:
            help = "Turn the range around, or put - first."
            raise PatternError(f"the range {low}-{high} ends before it begins", help)
        return self._cased(((ord(low), ord(high)),))

    def _group(self, found: list[Piece]) -> None:
        before, opening = self.flags, "("
        if self._taken("?P<"):
            name, end, _ = self.text[self.at :].partition(">")
            if not end or not name.replace("_", "a").isalnum():
                raise PatternError(f"{name!r} is no name of a group", "Write (?P<name>...).")
            self.at += len(name) + 1
        elif self._taken("?"):
            opening = "(?:"
            if not self._set_flags():
                return
        if opening == "(":
            self.groups += 1
            opening = f"(?P<group{self.groups}>"
        inside = self._alternatives()
        if not self._taken(")"):
            raise PatternError("missing )")
        self.flags = before
        found.append(Piece(_wrapped(opening, inside, ")"), inside.empty, inside.times))

    def _set_flags(self) -> bool:
        """Reads flags up to : or ); whether a group follows them."""
        start, on, off, seen = self.at, self.flags, False, True
        while (sign := self._next()) in {*"imsU"} or (sign == "-" and not off):
            seen = sign != "-"
            off |= sign == "-"
            on = on - {sign} if off else on | ({sign} - {"-"})
        if sign not in {":", ")"} or not seen:
            raise _bad_group(self.text[start:])
        self.flags = on
        return sign == ":"


def _bounds(counts: re.Match[str], piece: Piece) -> tuple[int, int]:
    """The least count, and the repetitions of a piece repeated so, if there are not too many."""
    low = int(counts[1])
    high = int(counts[3]) if counts[3] else low
    times = max(high, 1) * piece.times
    if high < low:
        raise PatternError(f"{counts[0]} ends before it begins", "Turn the counts around.")
    if max(low, high) > _MOST_REPEATS or (high > 1 and times > _MOST_REPEATS):
        rule = f"{counts[0]} makes more than {_MOST_REPEATS} repetitions, with those inside"
        raise PatternError(rule, "Use * or +, or check lengths by tf.strings.length.")
    return low, times


def _bad_escape(sign: str) -> PatternError:
    if sign in {*"123456789"}:
        help = "Match twice, or compare the parts in Python."
        return PatternError(f"a backreference, \\{sign}, is not supported", help)
    if sign == "Z":
        return PatternError("\\Z is not supported", "Write \\z for the end of the text.")
    help = "Write \\x41 or \\x{1F600}, in hexadecimal digits." if sign in {"x", "u"} else _ESCAPE
    return PatternError(f"the escape \\{sign} is not known", help)


def _bad_group(rest: str) -> PatternError:
    for start, (what, help) in _REFUSED.items():
        if rest.startswith(start):
            return PatternError(f"{what} is not supported", help)
    help = "The flags are i, m, s and U, as in (?i) and (?i:...)."
    return PatternError(f"(?{rest[:1]} begins no group", help)

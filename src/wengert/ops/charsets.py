"""Sets of characters in regular expressions: classes by name, letter case, and bytes of UTF-8.

A set is a sorted tuple of ranges of code points, both ends included. This module knows nothing
of the syntax around them.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from itertools import groupby

from wengert.ops.scripts import SCRIPTS

Ranges = tuple[tuple[int, int], ...]

LAST = 0x10FFFF
ANY: Ranges = ((0, LAST),)


def united(pairs: Iterable[tuple[int, int]]) -> Ranges:
    """The set of all ranges of `pairs`, which may overlap."""
    found: list[tuple[int, int]] = []
    for low, high in sorted(pairs):
        if found and low <= found[-1][1] + 1:
            found[-1] = found[-1][0], max(high, found[-1][1])
        else:
            found.append((low, high))
    return tuple(found)


def inverted(ranges: Ranges) -> Ranges:
    """All characters that `ranges` lacks."""
    ends = [-1, *(point for pair in ranges for point in pair), LAST + 1]
    pairs = zip(ends[::2], ends[1::2], strict=True)
    return tuple((low + 1, high - 1) for low, high in pairs if low + 1 < high)


def _of(signs: str) -> Ranges:
    """A set from pairs of first and last characters."""
    return united((ord(a), ord(b)) for a, b in zip(signs[::2], signs[1::2], strict=True))


NAMED: dict[str, Ranges] = {
    "alnum": _of("09AZaz"),
    "alpha": _of("AZaz"),
    "ascii": _of("\0\x7f"),
    "blank": _of("\t\t  "),
    "cntrl": _of("\0\x1f\x7f\x7f"),
    "digit": _of("09"),
    "graph": _of("!~"),
    "lower": _of("az"),
    "print": _of(" ~"),
    "punct": _of("!/:@[`{~"),
    "space": _of("\t\r  "),
    "upper": _of("AZ"),
    "word": _of("09AZaz__"),
    "xdigit": _of("09AFaf"),
}
ESCAPED: dict[str, Ranges] = {"d": _of("09"), "s": _of("\t\n\f\r  "), "w": NAMED["word"]}


@cache
def _categories() -> dict[str, Ranges]:
    """Each general category of Unicode, and each first letter of several, but for unassigned."""
    found: dict[str, list[tuple[int, int]]] = {}
    of_all = enumerate(map(unicodedata.category, map(chr, range(LAST + 1))))
    for name, run in groupby(of_all, key=lambda pair: pair[1]):
        points = [point for point, _ in run]
        for key in () if name == "Cn" else (name, name[0]):
            found.setdefault(key, []).append((points[0], points[-1]))
    return {name: united(pairs) for name, pairs in found.items()}


@lru_cache(maxsize=512)
def unicode_class(name: str) -> Ranges | None:
    """The characters of a general category or a script; `None` for names not known here."""
    if name == "Any":
        return ANY
    if name in SCRIPTS:
        ends = [part.partition("-") for part in SCRIPTS[name].split()]
        return tuple((int(low, 16), int(high or low, 16)) for low, _, high in ends)
    return _categories().get(name) if len(name) < 3 else None


def _fold(sign: str) -> str:
    """The one character that stands for `sign` and its other cases."""
    return next((s for s in (sign.casefold(), sign.lower()) if len(s) == 1), sign)


@cache
def _cases() -> dict[int, list[int]]:
    """The other cases of each character that has some; no script with cases lies further up."""
    kin: dict[str, list[int]] = {}
    for point in range(0x1F000):
        kin.setdefault(_fold(chr(point)), []).append(point)
    return {point: kind for kind in kin.values() if len(kind) > 1 for point in kind}


def _ascii_cases(point: int) -> list[int]:
    return [point, *({75: [0x212A], 83: [0x17F]}.get(point & ~32, [])), point ^ 32]


def folded(ranges: Ranges) -> Ranges:
    """`ranges` with the other cases of all its letters, among which Kelvin's sign is a K."""
    extra: list[int] = []
    for low, high in ranges:
        for point in range(low, min(high, 127) + 1):
            extra += _ascii_cases(point) if chr(point).isalpha() else ()
    if ranges and ranges[-1][1] > 127 and ranges != ANY:
        cases = _cases()
        for low, high in ranges:
            whole = high - low > len(cases)
            points = (p for p in cases if low <= p <= high) if whole else range(low, high + 1)
            extra += [other for p in points for other in cases.get(p, ())]
    return united([*ranges, *((p, p) for p in extra)])


def byte_class(ranges: Iterable[tuple[int, int]]) -> str:
    """The source of a pattern for one byte out of `ranges`."""
    pairs = list(ranges)
    if len(pairs) == 1 and pairs[0][0] == pairs[0][1]:
        return f"\\x{pairs[0][0]:02x}"
    return "[" + "".join(f"\\x{a:02x}-\\x{b:02x}" for a, b in pairs) + "]" if pairs else "(?!)"


def _within(ranges: Iterable[tuple[int, int]], low: int, high: int) -> Iterator[tuple[int, int]]:
    for a, b in ranges:
        if a <= high and b >= low:
            yield max(a, low), min(b, high)


# Python has quick instructions for these, other than for sets.
_QUICK = {ANY: "(?s:.)", inverted(((10, 10),)): "."}


def ascii_class(ranges: Ranges) -> str:
    """The source of a pattern of bytes for one character, in texts that are ASCII."""
    return _QUICK.get(ranges) or byte_class(_within(ranges, 0, 127))


def text_class(ranges: Ranges) -> str:
    """The source of a pattern of characters for one of them."""
    if ranges in _QUICK:
        return _QUICK[ranges]
    if len(ranges) == 1 and ranges[0][0] == ranges[0][1]:
        return f"\\U{ranges[0][0]:08x}"
    return "[" + "".join(f"\\U{a:08x}-\\U{b:08x}" for a, b in ranges) + "]" if ranges else "(?!)"


def _spelled(ranges: Iterable[tuple[int, int]], size: int, lead: int) -> list[str]:
    """Alternatives for a byte, counted from `lead`, and the `size` bytes after it."""
    if not size:
        return [byte_class((a + lead, b + lead) for a, b in ranges)]
    unit, parts = 64**size, {}
    for low, high in ranges:
        for digit in range(low // unit, high // unit + 1):
            inside = max(low - digit * unit, 0), min(high - digit * unit, unit - 1)
            parts.setdefault(digit, []).append(inside)
    heads: dict[str, list[tuple[int, int]]] = {}
    for digit, inside in parts.items():
        rest = grouped(_spelled(inside, size - 1, 128))
        heads.setdefault(rest, []).append((digit + lead, digit + lead))
    return [byte_class(united(digits)) + rest for rest, digits in heads.items()]


def grouped(alternatives: list[str]) -> str:
    return alternatives[0] if len(alternatives) == 1 else f"(?:{'|'.join(alternatives)})"


# RE2 lets overlong and too large sequences pass where a set has all that is not ASCII.
_ANY_LONG = [
    r"[\xc2-\xdf][\x80-\xbf]",
    r"[\xe0-\xef][\x80-\xbf][\x80-\xbf]",
    r"[\xf0-\xf4][\x80-\xbf][\x80-\xbf][\x80-\xbf]",
]


@lru_cache(maxsize=512)
def utf8_class(ranges: Ranges) -> str:
    """The source of a pattern of bytes for one character; what is no UTF-8 does not match."""
    short = list(_within(ranges, 0, 127))
    found = [byte_class(short)] if short else []
    if ranges and ranges[-1][0] <= 128 and ranges[-1][1] == LAST:
        return grouped(found + _ANY_LONG)
    for size, low, high, lead in (
        (1, 0x80, 0x7FF, 0xC0), (2, 0x800, 0xFFFF, 0xE0), (3, 0x10000, LAST, 0xF0),
    ):  # fmt: skip
        if inside := list(_within(ranges, low, high)):
            found += _spelled(inside, size, lead)
    return grouped(found) if found else "(?!)"

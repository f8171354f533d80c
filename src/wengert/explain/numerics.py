"""Where NaN and infinity come from: the first operation that made one of finite numbers, and why.

`Numerics` looks at the results of operations as they happen and remembers those that are not
finite, each with what it was made of; from any of them it goes back to the beginning.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from wengert.core import dtypes
from wengert.core.op import Op
from wengert.explain.explanation import Explanation, reason
from wengert.explain.places import known, place
from wengert.explain.verdicts import Verdict, at_pole, verdict
from wengert.ops.row_list import Rows
from wengert.ops.select import SELECT

if TYPE_CHECKING:
    from wengert.core.types import RawSite, Value


_MOST = 10_000
Arrays = list[np.ndarray] | tuple[np.ndarray, ...]


class Bad(NamedTuple):
    """An operation whose result is not finite."""

    name: str
    outputs: tuple[int, ...]
    site: Any
    backward: bool
    verdict: Verdict | None  # none where an input was not finite already
    cancels: bool  # whether 0 met infinity here, or on the way from the origin
    ranges: tuple[str, ...]
    before: Bad | None = None  # the origin of what was not finite already

    @property
    def origin(self) -> Bad:
        """The first operation on the way to this one whose result is not finite."""
        return self.before or self


class Numerics:
    """The operations whose results were not finite."""

    def __init__(self) -> None:
        self._bad: dict[int, Bad | None] = {}
        self._inside: dict[int, tuple[Any, Bad]] = {}  # arrays that came out of functions
        self._names: dict[Any, str] = {}  # by site: the last operation there
        self._poles: dict[Any, tuple[str, int, str]] = {}  # by site: name, result, where
        self._from: dict[int, int] = {}  # what was made of the result of an operation at a pole
        self._where: dict[int, Any] = {}

    def check(
        self, op: Op, given: Arrays, made: Arrays, ids: tuple[int, ...], outs: tuple[int, ...],
        site: RawSite | None, backward: bool,
    ) -> Bad | None:  # fmt: skip
        """Looks at one operation; answers it if its result is not finite."""
        if not backward:
            if not op.hazards.tame:
                self._remember(op, given, outs, site)
            if self._from and not self._from.keys().isdisjoint(ids):
                self._spread(op, ids, outs, site)
        if all(map(finite, made)) or len(self._bad) > _MOST:
            return None
        bad = self._describe(op, given, made, ids, outs, site, backward)
        for o, array in zip(outs, made, strict=True):
            if not finite(array):
                self._bad[o] = bad
        return bad

    def _describe(
        self, op: Op, given: Arrays, made: Arrays, ids: tuple[int, ...], outs: tuple[int, ...],
        site: RawSite | None, backward: bool,
    ) -> Bad:  # fmt: skip
        wrong = [i for array, i in zip(given, ids, strict=True) if self._knows(array, i)]
        first = self._bad[wrong[0]] if wrong else None
        cancels = _cancels(op, given) or (first is not None and first.cancels)
        why = None if wrong else verdict(op, list(given), list(made))
        ranges = tuple(extent(a) for a in given)
        before = None if first is None else first.origin
        return Bad(op.name, outs, site, backward, why, cancels, ranges, before)

    def _knows(self, array: np.ndarray, number: int) -> bool:
        """Whether an input is not finite; where that began is noted."""
        if finite(array):
            return False
        inside = self.made_inside(array)
        if inside is not None or number not in self._bad:
            self._bad[number] = inside
        return True

    def at(self, number: int) -> Bad | None:
        """The operation that made a value, if it is not finite."""
        return self._bad.get(number)

    def pass_on(self, number: int, array: np.ndarray, bad: Bad | None) -> None:
        """Notes that a value, and whoever gets its array, is what `bad` made."""
        self._bad[number] = bad
        if bad is not None and len(self._inside) < _MOST:
            self._inside[id(array)] = array, bad

    def apart(self) -> Numerics:
        """For the values of one run of a graph: knows the places that are known here."""
        new = Numerics()
        new._inside, new._names, new._poles = self._inside, self._names, self._poles
        new._where = self._where
        return new

    def made_inside(self, array: np.ndarray) -> Bad | None:
        """The operation in a function that made an array, if it is not finite."""
        return self._inside.get(id(array), (None, None))[1]

    def _remember(self, op: Op, given: Arrays, outs: tuple[int, ...], site: RawSite | None) -> None:
        """Notes operations at a pole."""
        if len(self._names) > _MOST:
            for table in (self._names, self._poles, self._from, self._where):
                table.clear()
        self._names[site_key(site)] = op.name
        pole = at_pole(op, list(given))
        if pole:
            self._poles[site_key(site)] = op.name, outs[0], pole
            self._from[outs[0]] = outs[0]

    def _spread(
        self, op: Op, ids: tuple[int, ...], outs: tuple[int, ...], site: RawSite | None
    ) -> None:
        """Notes what is made of results at a pole, and where `where` chooses between them."""
        for i in ids:
            origin = self._from.get(i)
            if origin is not None and op is SELECT:
                self._where[origin] = site
            elif origin is not None:
                self._from.update(dict.fromkeys(outs, origin))

    def explain(self, tensor: Value, what: str, asked: RawSite | None = None) -> Explanation | None:
        """Why a tensor is not finite."""
        if self._bad.get(tensor._id) is None:
            self._bad[tensor._id] = self.made_inside(tensor._array)
        return self.explain_value(tensor._id, what, asked)

    def explain_value(self, number: int, what: str, asked: RawSite | None) -> Explanation | None:
        """The same for a tensor or a value of a graph by its number."""
        first = self._bad.get(number)
        if first is None:
            return None
        origin = first.origin
        if origin.verdict is None:
            return self._given(origin, what, asked)
        made = origin.outputs[0] if origin.outputs else 0
        masked = first.backward and self._where.get(made)
        if origin.backward or masked:
            return self._backward(origin, first.cancels or bool(masked), what, asked)
        code, cause, remedy = origin.verdict
        return reason(
            code,
            f"{cause}; so {what} is not finite",
            *known(place(origin.site, _label(origin)), place(asked, "noticed here")),
            remedy=remedy,
            details=_details(origin),
        )

    def _given(self, origin: Bad, what: str, asked: RawSite | None) -> Explanation:
        return reason(
            "WG509",
            f"a value given to {origin.name} was not finite already; so {what} is not finite",
            *known(place(origin.site, _label(origin)), place(asked, "noticed here")),
            remedy="Look at the data or the initial values, e.g. with tf.debugging.check_numerics.",
            details=_details(origin),
        )

    def _backward(
        self, origin: Bad, cancels: bool, what: str, asked: RawSite | None
    ) -> Explanation:
        key = site_key(origin.site)
        plain = self._names.get(key, origin.name).removesuffix("_grad")
        name, result, pole = self._poles.get(key, (plain, 0, ""))
        chosen = self._where.get(result)
        places = known(
            place(origin.site, f"the derivative of {name} here: {_label(origin)}"),
            place(chosen, "chosen between here"),
            place(asked, "noticed here"),
        )
        end = f"so {what} is not finite"
        code, cause, remedy = origin.verdict or ("WG508", "the result is undefined", "")
        if cancels and chosen is not None:
            code = "WG505"
            cause = (
                f"{name} has an infinite derivative {pole}, on the side that `where` did not "
                f"choose, and 0 times infinity is NaN; {end}"
            )
            remedy = "Choose its argument too: `tf.where(ok, f(tf.where(ok, x, 1.0)), other)`."
        elif pole or code not in ("WG503", "WG506"):
            code = "WG507"
            cause = f"the derivative of {name} is infinite {pole or 'at this point'}; {end}"
            remedy = "Keep away from that point, e.g. by adding a small number before it."
        else:
            cause = f"in the gradient of {name}, {cause}; {end}"
        return reason(code, cause, *places, remedy=remedy, details=_details(origin))


def site_key(site: RawSite | None) -> tuple[int, int] | None:
    """A call site as a key; hashing a code object would cost more than an operation."""
    return None if site is None else (id(site[0]), site[1])


def _label(bad: Bad) -> str:
    return f"{bad.name} of {' and '.join(bad.ranges)}"


def _details(bad: Bad) -> dict[str, Any]:
    return {"operation": bad.name, "backward": bad.backward, "inputs": list(bad.ranges)}


def finite(array: np.ndarray | Rows) -> bool:
    """Whether all numbers of an array are finite; what is no float is."""
    if not isinstance(array, np.ndarray) or array.dtype.num not in dtypes.INEXACT:
        return True
    return b"\0" not in np.isfinite(array).tobytes()  # quicker than to reduce it


def _cancels(op: Op, arrays: Arrays) -> bool:
    """Whether 0 meets infinity: as a factor, or as 0 divided by 0."""
    floats = [a for a in arrays if isinstance(a, np.ndarray) and a.dtype.num in dtypes.INEXACT]
    if len(floats) != 2:
        return False
    a, b = floats
    if op.hazards.divides:
        return bool(((a == 0) & (b == 0)).any())
    return any((x == 0).any() and not np.isfinite(y).all() for x, y in ((a, b), (b, a)))


def extent(array: np.ndarray) -> str:
    """The range of an array in words: `float32[3] in [-1, 2.5]`."""
    if not isinstance(array, np.ndarray):
        return "a tensor of a function"
    kind = f"{dtypes.of(array).name}[{','.join(map(str, array.shape))}]"
    if not array.size or array.dtype.kind not in "fiuV":
        return kind
    wide = array.astype(np.float64)
    good = wide[np.isfinite(wide)]
    text = f"{kind} in [{good.min():.6g}, {good.max():.6g}]" if good.size else kind
    for word, test in (("NaN", np.isnan), ("infinity", np.isinf)):
        count = int(test(wide).sum())
        text += f", {count} × {word}" if count else ""
    return text

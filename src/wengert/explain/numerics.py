"""Where NaN and infinity come from: the first operation that made one of finite numbers, and why.

`Numerics` looks at the results of operations as they happen and remembers those that are not
finite, each with what it was made of; from any of them it goes back to the beginning.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from wengert.core import dtypes
from wengert.core.types import Op, RawSite, Value
from wengert.explain.explanation import Explanation, reason
from wengert.explain.places import known, place
from wengert.explain.verdicts import Verdict, at_pole, verdict
from wengert.ops.row_list import Rows
from wengert.ops.select import SELECT

_MOST = 10_000
_MOST_BYTES = 1 << 28
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
    met: tuple[RawSite | None, str] | None = None  # the first operation on what was given so

    @property
    def is_given(self) -> bool:
        """Whether no operation made it: it stands for a value that came from outside."""
        return self.verdict is not None and self.verdict.code == "WG509"

    @property
    def overflows_backward(self) -> bool:
        """Whether a gradient of half precision left the range of numbers here."""
        return self.backward and self.verdict is not None and self.verdict.code == "WG506"

    @property
    def origin(self) -> Bad:
        """The first operation on the way to this one whose result is not finite."""
        return self.before or self


class Numerics:
    """The operations whose results were not finite."""

    def __init__(self) -> None:
        self._bad: dict[int, Bad | None] = {}
        self._inside: dict[int, tuple[Any, Bad]] = {}  # arrays that are not finite
        self._kept = 0  # their bytes
        self.count = 0  # of operations on finite numbers whose result is not finite
        self.latest: Bad | None = None
        self._names: dict[Any, str] = {}  # by site: the last operation there
        self._poles: dict[Any, tuple[str, int, str]] = {}  # by site: name, result, where
        self._from: dict[int, int] = {}  # what was made of the result of an operation at a pole
        self._where: dict[int, Any] = {}

    def check(
        self, op: Op, given: Arrays, made: Arrays, ids: tuple[int, ...], outs: tuple[int, ...],
        site: RawSite | None, backward: bool, values: Sequence[Any] = (),
    ) -> Bad | None:  # fmt: skip
        """Looks at one operation; answers it if its result is not finite.

        `values` are the tensors and variables that it was given, where there are any.
        """
        if not backward:
            if not op.hazards.tame:
                self._remember(op, given, outs, site)
            if self._from and not self._from.keys().isdisjoint(ids):
                self._spread(op, ids, outs, site)
        if all(map(finite, made)) or len(self._bad) > _MOST:
            return None
        bad = self._describe(op, given, made, ids, outs, site, backward, values)
        if bad.before is None and bad.verdict is not None:
            self.count, self.latest = self.count + 1, bad
        for o, array in zip(outs, made, strict=True):
            if not finite(array):
                self.pass_on(o, array, bad)
        return bad

    def _describe(
        self, op: Op, given: Arrays, made: Arrays, ids: tuple[int, ...], outs: tuple[int, ...],
        site: RawSite | None, backward: bool, values: Sequence[Any],
    ) -> Bad:  # fmt: skip
        wrong = next((k for k, array in enumerate(given) if not finite(array)), None)
        first = None
        if wrong is not None:
            value = values[wrong] if values else None
            first = self._source(op.name, given[wrong], ids[wrong], value)
        cancels = _cancels(op, given) or (first is not None and first.cancels)
        why = verdict(op, list(given), list(made)) if first is None else None
        ranges = tuple(extent(a) for a in given)
        before = None if first is None else first.origin
        if before is not None and before.is_given and before.met is None:
            before = before._replace(met=(site, f"{op.name} of {' and '.join(ranges)}"))
        return Bad(op.name, outs, site, backward, why, cancels, ranges, before)

    def _source(self, name: str, array: np.ndarray, number: int, value: Any) -> Bad:
        """What made an input that is not finite."""
        bad = self.made_inside(array) or self._bad.get(number)
        if bad is None and value is not None:
            bad = self._bad.get(value._id)
        if bad is None:
            site = getattr(value, "_site", None)
            bad = outside(f"a value given to {name}", array, site)
        self._bad[number] = bad
        return bad

    def at(self, number: int) -> Bad | None:
        """The operation that made a value, if it is not finite."""
        return self._bad.get(number)

    def pass_on(self, number: int, array: np.ndarray, bad: Bad | None) -> None:
        """Notes that a value, and whoever gets its array, is what `bad` made."""
        self._bad[number] = bad
        if bad is None:
            return
        if id(array) not in self._inside:
            self._kept += array.nbytes
        if len(self._inside) < _MOST and self._kept < _MOST_BYTES:
            self._inside[id(array)] = array, bad

    def meet(self, x: Any, name: str) -> None:
        """Notes a tensor or variable that goes into a graph of this name, if it is not finite."""
        if not finite(x._array):
            site = getattr(x, "_site", None)
            bad = self.known(x) or outside(f"a value given to {name}", x._array, site)
            self.pass_on(x._id, x._array, bad)

    def known(self, x: Any) -> Bad | None:
        """What made a tensor or variable that is not finite, if it is known."""
        return self.made_inside(x._array) or self._bad.get(x._id)

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

    def unexplained(self, what: str, asked: RawSite | None) -> Explanation:
        """What is said of a value that is not finite where nothing is known of it."""
        return reason(
            "WG508",
            f"{what} is not finite; the operation that made it so was not seen",
            *known(place(asked, "noticed here")),
            remedy="Run again with tf.config.run_functions_eagerly(True) to see inside functions.",
        )

    def explain_value(self, number: int, what: str, asked: RawSite | None) -> Explanation | None:
        """The same for a tensor or a value of a graph by its number."""
        first = self._bad.get(number)
        if first is None:
            return None
        origin = first.origin
        assert origin.verdict is not None, "what begins it has a cause"
        made = origin.outputs[0] if origin.outputs else 0
        masked = first.backward and self._where.get(made)
        if origin.backward or masked:
            return self._backward(origin, first.cancels or bool(masked), what, asked)
        code, cause, remedy = origin.verdict
        places = [place(origin.site, _label(origin)), place(asked, "noticed here")]
        if origin.met is not None:
            places.insert(1, place(*origin.met))
        return reason(
            code,
            f"{cause}; so {what} is not finite",
            *known(*places),
            remedy=remedy,
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
        assert origin.verdict is not None, "what begins it has a cause"
        code, cause, remedy = origin.verdict
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


def outside(what: str, array: np.ndarray, site: RawSite | None) -> Bad:
    """The record of a value that came from outside the operations and was not finite then."""
    advice = "Look at the data or the initial values, e.g. with tf.debugging.check_numerics."
    cause = Verdict("WG509", f"{what} was not finite already", advice)
    return Bad(what, (), site, False, cause, False, (extent(array),))


def _label(bad: Bad) -> str:
    if bad.is_given:
        return f"given here: {bad.ranges[0]}"
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

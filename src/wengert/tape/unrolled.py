"""The backward loop written out, for tapes that come again and again.

A training loop records the same operations step after step. When a tape of so many entries, asked
for so many gradients, has come often enough, the walk back through it becomes one Python function
with a few lines per entry, as `engines.host` makes one of a graph: gradients are local variables, and
what the loop of `backward` finds out for each entry is settled. Nothing is taken on trust: before
the lines of an entry do anything, they make sure that it is the one they were written for, up to
its numbers and sizes. If it is not, the loop goes on from there, so a wrong guess costs some time and
nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy import ndarray

from wengert.core import dtypes
from wengert.core.apply import wrap
from wengert.core.context import NO_ATTRS, State, _state
from wengert.core.op import Plan, Rule
from wengert.core.tensor import Tensor, new_id
from wengert.ops.shaping import SUM_TO
from wengert.tape.backward import calmly
from wengert.tape.entries import NO_ID, SHORT, explain
from wengert.tape.flow import accumulate, ones

LONGEST = 1024  # entries: to write one out takes some hundred times as long as to walk through it
_SHORT_TAPE = 128
_WIDEST = 8  # gradients on their way at once: each new one is compared with all others
_SOON, _LATER = (
    16,
    256,
)  # a tape is written out when one like it has come so often, a long one later
_PATIENCE = 8  # so many others may come, and one for so many tapes that were written out
_MOST = 256  # kinds of tapes remembered
_FILE = "<wengert unrolled tape>"
_Function = Callable[..., Any]


class _Kind:
    """What is known of the tapes of one length and number of sources.

    `function` walks the one that was written out. It is given up when too many others come, and then
    the next try has to wait four times as long.
    """

    __slots__ = ("function", "hits", "misses", "seen", "wait")

    def __init__(self, count: int) -> None:
        self.function: _Function | None = None
        self.hits = self.misses = self.seen = 0
        self.wait = _SOON if count <= _SHORT_TAPE else _LATER


_kinds: dict[tuple[int, int, bool], _Kind] = {}


def walk(
    entries: list[Any], target: Any, seed: Any, ids: list[int], sources: set[int],
    needed: set[int] | None, release: bool,
) -> list[Any] | tuple[int, dict[int, Any] | None]:  # fmt: skip
    """The gradients of the sources, or how many entries are left to the loop, and what it begins with.

    Only where nobody listens and no number is complex. `ids` are those of the sources, in order; a
    seed or beginning that is `None` is the usual one.
    """
    count = len(entries)
    key = count, len(ids), needed is None
    kind = _kinds.get(key)
    if kind is None:
        if len(_kinds) >= _MOST:
            _kinds.clear()
        kind = _kinds[key] = _Kind(count)
    function = kind.function
    if function is None:
        kind.seen += 1
        if kind.seen < kind.wait:
            return count, None
    number = target._id
    if type(target) is not Tensor or number in sources or len(ids) != len(sources):
        return count, None
    array = target._array
    if array.dtype.num not in dtypes.FLOAT:
        return count, None
    if seed is None:
        g = ones(array)
    elif type(seed) is Tensor:
        g = seed._array
    else:
        return count, None
    if function is None:
        kind.seen = kind.hits = kind.misses = 0
        kind.wait *= 4
        function = kind.function = write(entries, number, ids, needed)
        if function is None:
            return count, None
    take = entries.pop if release else reversed(entries).__next__
    found = function(take, g, number, ids, sources, needed)
    if type(found) is list:
        kind.hits += 1
        return found
    kind.misses += 1
    if kind.misses > _PATIENCE + kind.hits // _PATIENCE:
        kind.function = None
    left, entry, live = found
    if release:
        entries.append(entry)
    return left, live


def write(
    entries: list[Any], target: int, ids: list[int], needed: set[int] | None
) -> _Function | None:
    """The walk through a tape as a function; `None` if it has an entry that cannot be written."""
    writer = _Writer(target, ids, needed)
    for k in range(len(entries) - 1, -1, -1):
        if not writer.add(k + 1, entries[k]):
            return None
    return writer.function()


def _inside() -> tuple[State, Any]:
    """Where rules run that go through the door."""
    state = State()
    state.plain = False
    return state, _state.set(state)


# What the functions are made of, beside the plans and kernels of their tapes.
_COMMON = {
    "__name__": "wengert.tape.unrolled_tape", "Tensor": Tensor, "accumulate": accumulate,
    "asarray": np.asarray, "calmly": calmly, "explain": explain, "ndarray": ndarray,
    "new": object.__new__, "new_id": new_id, "no_attrs": NO_ATTRS, "outside": _state.reset,
    "sum_to": SUM_TO.kernel, "warned": (RuntimeWarning, FloatingPointError), "wrap": wrap,
    "inside": _inside,
}  # fmt: skip
_TWO = "(x, y), (z,), s, no_attrs"  # what rules of two inputs are given beside the gradient


def _handing_over(
    live: dict[int, tuple[list[tuple[str, str]], int]], reached: list[tuple[str, str]]
) -> _Function:
    """What gives the loop the rest of a tape that is another from some entry on.

    The gradients by number are the local variables that are `live` at that entry, and those of so
    many sources, in the order in which they are reached.
    """

    def other(left: int, names: dict[str, Any]) -> tuple[int, Any, dict[int, Any]]:
        places, count = live[left]
        found = {names[n]: names[g] for n, g in (*places, *reached[:count])}
        return left, names["entry"], found

    return other


class _Entry(NamedTuple):
    """The entry that is being written out."""

    left: int  # how many there are, up to it
    plan: Plan
    g: str  # the gradient that comes in
    sized: bool  # whether it has shapes
    spare: bool  # whether it has what the kernel left over


class _Writer:
    """Writes the function, entry by entry from the last.

    In it, `s2` is the number of the third source and `w2` its gradient, a tensor. Of another tensor
    that a gradient is on its way to, `n5` is the number, say, and `g0` the gradient, an array; such
    a variable is used again when its array has gone further. The other names are those of the loop.
    """

    def __init__(self, target: int, ids: list[int], needed: set[int] | None) -> None:
        self._sources = {number: k for k, number in enumerate(ids)}
        self._needed = needed
        self._reached: dict[int, tuple[str, str]] = {}  # the sources that have a gradient
        self._numbers = {target: "n0"}  # of the others that have one
        self._places = {target: "g0"}
        self._own: set[str] = set()  # places whose array nobody else has
        self._free: list[str] = []
        self._count = 0
        self._runs = False  # whether rules go through the door
        self._live: dict[int, tuple[list[tuple[str, str]], int]] = {}  # gradients at each entry
        self._space: dict[str, Any] = dict(_COMMON)
        self._lines: list[str] = []

    def function(self) -> _Function:
        """What was written."""
        found = [f"w{k}" if i in self._reached else "None" for i, k in self._sources.items()]
        text = [
            "def walk(take, g0, n0, sources, wanted, needed):",
            "    entry = None",
            f"    [{', '.join(f's{k}' for k in range(len(found)))}] = sources",
            *["    state, token = inside()"] * self._runs,
            "    try:",
            *self._lines,
            f"        return [{', '.join(found)}]",
            "    except Exception as error:",
            "        explain(error, entry)",
            "        raise",
            *["    finally:", "        outside(token)"] * self._runs,
        ]
        self._space["other"] = _handing_over(self._live, [*self._reached.values()])
        exec(compile("\n".join(text), _FILE, "exec"), self._space)
        return self._space["walk"]

    def _say(self, *lines: str) -> None:
        self._lines += [f"        {line}" for line in lines]

    def _new(self, kind: str) -> str:
        self._count += 1
        return f"{kind}{self._count}"

    def add(self, left: int, entry: Any) -> bool:
        """Writes the lines of one entry, the last of those `left`; `False` if that cannot be."""
        if len(entry) != SHORT or len(self._numbers) > _WIDEST:
            return False
        op, plan, x_id, y_id, out_id, _, _, kept, shapes, _ = entry
        places = [(self._numbers[i], place) for i, place in self._places.items()]
        self._live[left] = places, len(self._reached)
        if out_id in self._reached:
            number, w = self._reached[out_id]
            g = f"{w}._array"
        elif out_id in self._numbers:
            number, g = self._numbers[out_id], self._places[out_id]
        else:  # nothing comes back to it
            misfits = ["o in wanted", *[f"o == {n}" for n in self._numbers.values()]]
            self._take(left, ["i", "j"], misfits)
            return out_id not in self._sources
        spare = op.spare is not None and kept is not None
        now = _Entry(left, plan, g, shapes is not None, spare)
        misfits = [f"p is not p{left}", f"o != {number}"]
        self._space[f"p{left}"] = plan
        if plan.one is None and plan.shapes is not None:
            misfits.append(f"s is {'not ' if shapes is None else ''}None")
        if op.spare is not None:
            misfits.append(f"z is {'' if spare else 'not '}None")
        names, steps = self._inputs(plan, (x_id, y_id), out_id, misfits)
        self._take(left, names, misfits)
        for _, i, rule in steps:
            if rule.form is None and not rule.passes:
                self._run(now, i, rule, "(x,), (z,), s, y" if y_id == NO_ID else _TWO)
        self._numbers.pop(out_id, None)
        place = self._places.pop(out_id, None)
        # What is not asked for comes last, and the last of it takes the place of `g`.
        steps.sort(key=lambda step: (step[0] not in self._sources, step[0] not in self._places))
        for k, (key, i, rule) in enumerate(steps):
            self._pass(now, key, i, rule, place if k == len(steps) - 1 else None)
        if place is not None and place not in self._places.values():
            self._say(f"{place} = None")
            self._free.append(place)
        return True

    def _inputs(
        self, plan: Plan, keys: tuple[int, int], out_id: int, misfits: list[str]
    ) -> tuple[list[str], list[tuple[int, int, Rule]]]:
        """The names of the numbers of the inputs, and the rules with their inputs.

        Adds to `misfits` what may not be true of those numbers.
        """
        others = [n for i, n in self._numbers.items() if i != out_id]
        names, steps = ["i", "j"], []
        for i, _, rule in plan.steps:
            key = keys[i]
            if self._needed is not None and key not in self._needed:
                misfits.append(f"{names[i]} in needed")
                continue
            if key in self._sources:
                misfits.append(f"{names[i]} != s{self._sources[key]}")
            elif key in self._numbers:
                misfits.append(f"{names[i]} != {self._numbers[key]}")
            else:
                names[i] = self._numbers[key] = self._new("n")
                misfits += [f"{names[i]} in wanted", *[f"{names[i]} == {n}" for n in others]]
                others.append(names[i])
            steps.append((key, i, rule))
        return names, steps

    def _take(self, left: int, names: list[str], misfits: list[str]) -> None:
        """Writes what takes the next entry and makes sure that it is as it was."""
        self._say(
            "try:", f"    entry = _, p, {', '.join(names)}, o, x, y, z, s, site = take()",
            "except ValueError:", f"    return other({left}, locals())",  # one of the long form
            f"if {' or '.join(misfits)}:", f"    return other({left}, locals())",
        )  # fmt: skip

    def _run(self, now: _Entry, i: int, rule: Rule, given: str) -> None:
        """Writes what runs a rule of several operations, before anything else is done with the entry.

        If it gives something else than a tensor, the loop takes the entry.
        """
        self._runs = True
        name = f"k{now.left}_{i}"
        self._space[name] = rule.run
        self._say(
            "state.site = site", f"r{i} = {name}(wrap({now.g}, site), {given}, p.needs)",
            f"if type(r{i}) is not Tensor:", f"    return other({now.left}, locals())",
        )  # fmt: skip

    def _pass(self, now: _Entry, key: int, i: int, rule: Rule, place: str | None) -> None:
        """Writes how a gradient goes on to one input, at `place` if it may be there."""
        old = self._places.get(key)
        if key in self._sources or old is not None:
            at = "t"
        else:
            at = place or (self._free.pop() if self._free else self._new("g"))
        own = self._value(now, i, rule, at)
        if now.sized:
            size = "s" if now.plan.one is not None else f"s[{i}]"
            self._say(f"if {at}.shape != {size}:")
            self._call(at, "sum_to", f"{at}, {size}", "    ")
        if key in self._sources:
            k = self._sources[key]
            w = f"w{k}"
            if key in self._reached:
                self._say(f"t = accumulate({w}._array, t)")
            self._reached.setdefault(key, (f"s{k}", w))
            self._say(
                f"{w} = new(Tensor)", f"{w}._array = t", f"{w}._id = new_id()", f"{w}._site = site"
            )
        elif old is not None:
            self._say(f"{old} = accumulate({old}, t)", "t = None")
            self._own.discard(old)
        else:
            self._places[key] = at
            (self._own.add if own else self._own.discard)(at)

    def _value(self, now: _Entry, i: int, rule: Rule, at: str) -> bool:
        """Writes what a rule makes of `g`; tells whether nobody else has the array."""
        g, only = now.g, now.plan.one
        if rule.passes:
            if at != g:
                self._say(f"{at} = {g}")
            return only is not None and at == g and g in self._own
        if rule.form is None:
            self._say(f"{at} = r{i}._array", f"r{i} = None")
            return False
        kernel, codes, sizes, same = rule.form
        given = [g if c == -1 else f"{'z' if c == -2 else 'xy'[c]}._array" for c in codes]
        given += [f"{a}=s" for a in sizes] + [f"{a}=y[{b!r}]" for a, b in same.items()]
        if now.spare and rule.spare is not None:
            kernel, given = rule.spare.use, [g, "x._array", "z._array"]
        name = f"k{now.left}_{i}"
        self._space[name] = kernel
        scales = only is not None and only[2] is not None
        if scales and at == g and g in self._own:
            # NumPy complains when all is written.
            self._say(
                "try:", f"    {name}({given[0]}, {given[1]}, {g})", "except warned:", "    pass"
            )
        else:
            self._call(at, name, ", ".join(given))
            self._say(f"if type({at}) is not ndarray:", f"    {at} = asarray({at})")
        return scales

    def _call(self, at: str, kernel: str, given: str, indent: str = "") -> None:
        """Writes a call of a kernel, whose warnings are not meant for the program."""
        self._say(
            f"{indent}try:", f"{indent}    {at} = {kernel}({given})",
            f"{indent}except warned:", f"{indent}    {at} = calmly({kernel}, {given})",
        )  # fmt: skip

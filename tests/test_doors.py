"""The short forms of the door and of recording do what `apply` and `record` do.

`apply1`, `apply2` and the infix operators, `record1` and `record2` are written out for speed. Each
eager operation of the case table is run through all forms that take it: results, sites, what a tape
notes and errors must agree.
"""

from __future__ import annotations

import operator
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import numpy as np
import pytest

import wengert as tf
from tests.test_operations import CASES, tensors
from wengert.core.apply import apply, apply1, apply2
from wengert.core.context import State, using
from wengert.core.observers import Observer, observing
from wengert.core.op import Op
from wengert.core.tensor import Tensor
from wengert.ops.operators import INFIX
from wengert.tape.entries import full_form

Sample = tuple[Op, tuple[Tensor, ...], dict[str, Any]]
Door = Callable[..., Any]
_EACH = 3  # samples of an operation


class _Samples(Observer):
    """Keeps some calls of each operation on one or two tensors with one result."""

    operations = True

    def __init__(self) -> None:
        self.kept: dict[Op, list[Sample]] = defaultdict(list)

    def operation(self, proceed: Any, op: Any, inputs: Any, attrs: Any) -> Any:
        usual = 0 < len(inputs) < 3 and op.outputs == 1 and not op.effect and op.folds
        if usual and all(type(x) is Tensor for x in inputs) and len(self.kept[op]) < _EACH:
            self.kept[op].append((op, inputs, attrs))
        return proceed(op, inputs, attrs)


@pytest.fixture(scope="module")
def samples() -> list[Sample]:
    watch = _Samples()
    with observing(watch):
        for case in CASES:
            dtype = "float32" if "float32" in case.dtypes or not case.dtypes else case.dtypes[0]
            tf.random.set_seed(1)
            case.call(*tensors(case, dtype), **case.options)
    found = [sample for each in watch.kept.values() for sample in each]
    assert len({op.name for op, *_ in found}) > 200
    return found


def doors(op: Op, count: int, attrs: dict[str, Any]) -> dict[str, Door]:
    """The forms that take an operation, the general one first; each as a public function."""
    made: dict[str, Door] = {"apply": lambda *xs: apply(op, *xs, **attrs)}
    if count == 1:
        made["apply1"] = lambda x: apply1(op, x, **attrs)
    elif not attrs:
        made["apply2"] = lambda x, y: apply2(op, x, y)
        names = [name for name, of in INFIX.items() if of is op]
        made |= {name: getattr(operator, name) for name in names}
    return made


def outcome(door: Door, xs: tuple[Tensor, ...], watched: int, tapes: int, site: Any) -> Any:
    """What a call gives and what tapes note, without ids that differ from call to call."""
    with ExitStack() as stack:
        made = [stack.enter_context(tf.GradientTape()) for _ in range(tapes)]
        for tape in made:
            for k, x in enumerate(xs):
                if watched >> k & 1 and x.dtype.is_differentiable:
                    tape.watch(x)
        if site is not None:
            stack.enter_context(using(State(tuple(made), None, site)))
        try:
            out = door(*xs)
        except Exception as error:
            return type(error), str(error).split("\n")[0]
    names = {out._id: "out"} | {x._id: k for k, x in enumerate(xs)}
    notes = [[_note(entry, names, xs) for entry in tape._entries] for tape in made]
    followed = [out._id in tape._tracked for tape in made]
    cuts = [len(tape._cuts) for tape in made]
    place = out._site if site is not None else out._site[0].co_filename
    array = np.asarray(out.numpy())
    value = array.tolist() if array.dtype.kind == "O" else array.tobytes()
    return out.dtype, out.shape, value, place, notes, followed, cuts


def _note(entry: Any, names: dict[int, Any], xs: tuple[Tensor, ...]) -> Any:
    op, plan, ids, out, inputs, outs, shapes, attrs, _, specs, _ = full_form(entry)
    if op.broadcasts:  # shapes are left out where they are equal, or no rule reads them
        shapes = [tuple(xs[i].shape if shapes is None else shapes[i]) for i, _ in plan.rules]
    kept = [None if x is None else names[x._id] for x in inputs or (None,) * len(ids)]
    result = None if op.residual is not None or not plan.outs else [names[o._id] for o in outs]
    return op, plan, [names[i] for i in ids], names[out], kept, result, shapes, attrs, specs


STATES = {
    "no tape": (0, False),
    "one tape": (1, False),
    "two tapes": (2, False),
    "a site": (1, True),
}


@pytest.mark.parametrize("state", STATES)
def test_all_forms_agree(samples: list[Sample], state: str) -> None:
    tapes, sited = STATES[state]
    compared = 0
    for op, xs, attrs in samples:
        for watched in range(1 << len(xs)) if tapes else (0,):
            forms = doors(op, len(xs), attrs)
            site = (test_all_forms_agree.__code__, 0) if sited else None
            expected = outcome(forms.pop("apply"), xs, watched, tapes, site)
            for name, door in forms.items():
                found = outcome(door, xs, watched, tapes, site)
                assert found == expected, (op.name, name, watched)
                compared += 1
    assert compared > 400


def _bad(x: Tensor) -> Iterator[Tensor]:
    """Partners that do not fit: of another dtype, and of another shape."""
    yield tf.cast(tf.ones(x.shape), tf.int64 if x.dtype != tf.int64 else tf.int32)
    if x.shape.rank:
        yield tf.zeros([n + 3 for n in x._array.shape], x.dtype)


def test_all_forms_refuse_with_the_same_words(samples: list[Sample]) -> None:
    refused = 0
    for op, xs, attrs in samples:
        if len(xs) != 2 or not op.broadcasts or attrs:
            continue
        for y in _bad(xs[0]):
            forms = doors(op, 2, attrs)
            expected = outcome(forms.pop("apply"), (xs[0], y), 0, 0, None)
            for name, door in forms.items():
                assert outcome(door, (xs[0], y), 0, 0, None) == expected, (op.name, name)
            refused += len(expected) == 2
    assert refused > 40

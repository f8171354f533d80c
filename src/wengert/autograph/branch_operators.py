"""The operators of branches: an `if` on a Python value runs; one on a tensor traces both sides.

Both sides are traced from the same state of the user's function, one after the other;
`branch_merge` merges the two resulting states.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from wengert.autograph import primitives, traced_values, value_trees
from wengert.autograph.branch_merge import Dead, Joint, Recipe
from wengert.autograph.closure_state import Cells, State
from wengert.autograph.conversion import guarded_by
from wengert.autograph.conversion_unit import Construct, extended
from wengert.autograph.handlers import is_handled
from wengert.autograph.lists import TracedList
from wengert.autograph.object_state import OBJECTS, learn_of, put_back, watch
from wengert.autograph.retrace import Growing, Owner, inside, retrying, was_meant
from wengert.core.failures import failures
from wengert.core.sites import raised_at

if TYPE_CHECKING:
    from wengert.core.types import SymbolicTensor, Tensor, Value
    from wengert.functions.tensor_array import TensorArray


def _nothing() -> None:
    pass


def if_(site: Construct, cells: Cells, test: Value, then: Any, otherwise: Any = _nothing) -> None:
    """Runs one branch, or both under a condition of the graph."""
    if not traced_values.symbolic(test):
        (then if test else otherwise)()
        return
    choose_branch(site, cells, primitives.truth(test), then, otherwise)


def unless(site: Construct, cells: Cells, rest: Any) -> None:
    """Runs what follows a jump, unless the jump happened."""
    stop = stopped(site, cells)
    if stop is False:
        rest()
    elif stop is not True:
        before = [cells.get(f) for f in site.flags]

        def go_on() -> None:
            for f in site.flags:
                cells.set(f, False)
            rest()

        choose_branch(site, cells, ~stop, go_on, lambda: _up(site, cells), skips=True)
        changed = {s.base for s in site.symbols}
        for f, v in zip(site.flags, before, strict=True):
            if f not in changed:
                cells.set(f, v)


def _up(site: Construct, cells: Cells) -> None:
    """Where the rest is skipped and there is one flag, that flag is known to be set."""
    if len(site.flags) == 1:
        cells.set(site.flags[0], True)


def stopped(site: Construct, cells: Cells) -> Any:
    """Whether one of the flags of a construct is set: a `bool`, or a tensor."""
    results = [cells.get(name) for name in site.flags]
    if any(f is True for f in results):
        return True
    open_ = [primitives.truth(f) for f in results if f is not False]
    if not open_:
        return False
    stop = open_[0]
    for f in open_[1:]:
        stop = stop | f
    return stop


def choose_branch(
    site: Construct,
    cells: Cells,
    condition: Any,
    then: Any,
    otherwise: Any,
    lenient: frozenset[int] = frozenset(),
    skips: bool = False,
) -> None:
    """Traces both branches on the state of the function and joins what they made of it.

    `lenient` are the numbers of symbols whose `None` zeros may stand in for; `skips` says that
    the second branch is where a jump has happened.
    """
    site.met = True
    key = ("if", *map(value_trees.form, State(site, cells).before), cells.forms())
    sides = then, otherwise

    def attempt(hints: Any, owner: Owner) -> None:
        state = State(extended(site, hints.get(OBJECTS, ())), cells)
        _both(state, condition, sides, hints, Joint(state, lenient, skips, owner))

    retrying(site.learned, key, attempt)


def _both(state: State, condition: SymbolicTensor, sides: Any, hints: Any, joint: Joint) -> None:
    started = [_grown(v, hints.get(k)) for k, v in enumerate(state.before)]
    watched = watch(state.cells)
    recipes: list[Recipe] = []

    def side(run: Any) -> Callable[[], Any]:
        def traced() -> Any:
            state.write([value_trees.copied(v) for v in started])
            result = _run(run, state)
            learn_of(watched, state, hints.get(OBJECTS, ()), joint.owner)
            if isinstance(result, Dead):
                return result
            return [
                value_trees.values_of_variables(v) if ("read", k) in hints else v
                for k, v in enumerate(result)
            ]

        return traced

    def join(
        left: Any, right: Any
    ) -> tuple[list[Tensor | TensorArray], list[Tensor | TensorArray]]:
        recipes.extend(joint.states(left, right))
        return joint.left, joint.right

    try:
        chosen = primitives.conditional(condition, side(sides[0]), side(sides[1]), join)
    except BaseException:
        state.restore()
        put_back(watched)
        raise
    new = [r(chosen) for r in recipes]
    state.write([value_trees.put_back(old, v) for old, v in zip(state.before, new, strict=True)])


def _grown(value: Any, hint: Growing | None) -> Any:
    if isinstance(hint, Growing) and isinstance(value, list):
        return TracedList.start(hint.element, value)
    return value


def _run(run: Any, state: State) -> Any:
    """The state after one branch."""
    try:
        with inside():
            run()
    except failures() as error:
        if not was_meant(error) or is_handled(error, guarded_by):
            raise
        primitives.fail(error, raised_at(error))
        return Dead()
    new = state.read()
    # What only the state holds is no leak.
    state.restore()
    return new

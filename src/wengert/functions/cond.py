"""`tf.cond`, `case` and `switch_case`: eagerly plain Python, in a trace one node that chooses."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from wengert.core import dtypes, nest
from wengert.core.context import State, get_state, restoring, using
from wengert.core.convert import operand, to_tensor
from wengert.core.errors import (
    InvalidArgumentError,
    StructureError,
    at_site,
    describe,
    require,
)
from wengert.core.sites import caller
from wengert.core.types import IndexedSlices, SymbolicTensor, Tensor, TensorLike, Value, Variable
from wengert.functions.branch_nodes import emit_switch
from wengert.functions.graph_calls import assign_all, snapshot
from wengert.functions.subgraphs import (
    Inner,
    Text,
    close,
    ends,
    same_structure,
    trace_inner,
    written,
)
from wengert.functions.trace import put_together
from wengert.graph.builder import building
from wengert.ops.cast import cast
from wengert.ops.shaping import reshape


def decided(value: TensorLike | None) -> bool:
    """Whether a value is known now."""
    if isinstance(value, Variable):
        return building() is None
    return not isinstance(value, SymbolicTensor)


def cond(
    pred: TensorLike | None,
    true_fn: Callable[[], Any] | None = None,
    false_fn: Callable[[], Any] | None = None,
    name: str | None = None,
) -> Any:
    """The result of `true_fn` if `pred` holds, else of `false_fn`.

    Args:
        pred: one truth.
        true_fn, false_fn: functions without arguments, whose results have one structure.
        name: without effect.

    Returns:
        What the chosen function gives.

    Raises:
        TypeError: a function is missing or not callable.

    >>> x = tf.constant(-2.0)
    >>> float(tf.cond(x > 0.0, lambda: x, lambda: -x)) == 2.0
    True
    """
    _need_function("cond", "true_fn", true_fn)
    _need_function("cond", "false_fn", false_fn)
    return _choose("cond", pred, true_fn, false_fn)


def _need_function(name: str, argument: str, value: Any) -> None:
    require(callable(value), name, f"`{argument}` must be a function", value, kind=TypeError)


def _choose(name: str, pred: Any, yes: Any, no: Any) -> Any:
    if decided(pred):
        return _settled(yes() if bool(operand(pred)) else no())
    # Python runs in the order in which the branches are written, though the false one is number 0.
    sides = ["false_fn", "true_fn"]
    return _switch(name, condition(name, pred), [no, yes], sides, last_first=True)


def _settled(result: Any) -> Any:
    """What the branch taken gave: in a graph, numbers are tensors, whichever way it was chosen."""
    if building() is None:
        return result
    kinds = (bool, int, float, complex, np.ndarray, np.generic)
    return nest.map_structure(lambda x: to_tensor(x) if isinstance(x, kinds) else x, result)


def condition(name: str, pred: Value | IndexedSlices) -> Value | IndexedSlices:
    """A tensor of the trace as one boolean."""
    pred = operand(pred)
    if not pred.dtype.is_bool:
        pred = cast(pred, "bool")
    return as_scalar(name, "a condition", pred)


def as_scalar(name: str, what: str, x: Value | IndexedSlices) -> Value | IndexedSlices:
    """A tensor of one element as a scalar."""
    if x.shape.rank == 0:
        return x
    require(
        not x.shape.is_fully_defined() or x.shape.num_elements() == 1,
        name,
        f"{what} must be a scalar",
        x,
        help="Reduce it, or use tf.where.",
    )
    return reshape(x, ())


def switch_case(
    branch_index: TensorLike, branch_fns: Any, default: Any = None, name: str = "switch_case"
) -> Any:
    """The result of the function with this number; of the last, or `default`, if there is none."""
    functions = _numbered(branch_fns)
    if default is not None:
        _need_function("switch_case", "default", default)
        functions = [*functions, default]
    index = operand(branch_index)
    require(
        index.dtype.is_integer,
        "switch_case",
        "the index must be a whole number",
        index,
        kind=TypeError,
    )
    require(index.shape.rank in (0, None), "switch_case", "the index must be a scalar", index)
    if decided(branch_index):
        i = int(index)
        return _settled(functions[i if 0 <= i < len(functions) else -1]())
    names = [f"branch {k}" for k in range(len(functions))]
    return _switch("switch_case", as_scalar("switch_case", "the index", index), functions, names)


def _numbered(branch_fns: Any) -> list[Callable[[], Any]]:
    """The functions in the order of their numbers."""
    given = () if branch_fns is None else branch_fns
    if not isinstance(given, Iterable) or isinstance(given, Value | str):
        got = describe(given)
        raise at_site(
            TypeError(f"switch_case: `branch_fns` must be a list, tuple or dict; got {got}.")
        )
    pairs: list[Any] = list(given.items() if isinstance(given, Mapping) else given)
    require(pairs, "switch_case", "`branch_fns` must hold at least one function", kind=ValueError)
    if not callable(pairs[0]):
        pairs = _sorted(pairs)
    for k, function in enumerate(pairs):
        _need_function("switch_case", f"branch_fns[{k}]", function)
    return pairs


def _sorted(pairs: list[Any]) -> list[Any]:
    for pair in pairs:
        require(
            isinstance(pair, tuple) and len(pair) == 2 and isinstance(pair[0], int),
            "switch_case",
            "`branch_fns` must hold functions, or pairs of a whole number and a function",
            pair,
            kind=TypeError,
        )
    numbers = sorted(k for k, _ in pairs)
    require(
        numbers == list(range(len(pairs))),
        "switch_case",
        lambda: (
            f"branches are numbered from 0 to {len(pairs) - 1}, each number once; got {numbers}"
        ),
        kind=ValueError,
    )
    table = dict(pairs)
    return [table[k] for k in numbers]


def case(
    pred_fn_pairs: Any,
    default: Callable[[], Any] | None = None,
    exclusive: bool = False,
    strict: bool = False,
    name: str = "case",
) -> Any:
    """The result of the first function whose condition holds, or of `default`.

    Without a default, one of the conditions must hold. `exclusive` demands that no two hold; as
    in TensorFlow, without a default the last condition is not asked.
    """
    pairs = _pairs(pred_fn_pairs)
    if default is not None:
        _need_function("case", "default", default)
        last: Any = default
    elif not pairs:
        raise at_site(ValueError("case: give at least one pair or a `default`."))
    else:
        last = _or_fail(*pairs.pop())
    if exclusive:
        _check_exclusive([p for p, _ in pairs])
    return _first_of(pairs, last)


def _first_of(pairs: list[Any], last: Any) -> Any:
    if not pairs:
        return last()
    (pred, function), *rest = pairs
    return _choose("case", pred, function, lambda: _first_of(rest, last))


def _pairs(given: Any) -> list[tuple[Any, Callable[[], Any]]]:
    require(
        isinstance(given, list | tuple | Mapping),
        "case",
        "`pred_fn_pairs` must be a list of pairs (condition, function)",
        given,
        kind=TypeError,
    )
    pairs = []
    for pair in given.items() if isinstance(given, Mapping) else given:
        require(
            isinstance(pair, tuple) and len(pair) == 2,
            "case",
            "a pair (condition, function) was expected",
            pair,
            kind=TypeError,
        )
        pred, function = pair
        pred = pred.deref() if hasattr(pred, "deref") else pred
        kind = operand(pred)
        require(
            kind.dtype.is_bool,
            "case",
            "a condition must be a boolean",
            kind,
            help="Compare it.",
            kind=TypeError,
        )
        _need_function("case", "pred_fn_pairs", function)
        pairs.append((pred, function))
    return pairs


def _or_fail(pred: Tensor, function: Callable[[], Any]) -> Callable[[], Any]:
    """The last function, for use without a default: its condition must hold."""
    site = caller(1)

    def run() -> int:
        _check(site, pred, "case: no condition holds, and there is no `default`.")
        return function()

    return run


def _check_exclusive(preds: list[Tensor]) -> None:
    from wengert.ops.joining import stack
    from wengert.ops.reduce import reduce_sum

    if len(preds) > 1:
        held = reduce_sum(cast(stack([operand(p) for p in preds]), "int32"))
        _check(caller(1), held < 2, "case: more than one condition holds (`exclusive`).")


def _check(site: Any, verdict: Tensor, text: str) -> None:
    """Fails, now or when the function runs, unless the verdict holds."""
    from wengert.ops.checks import CHECK

    verdict = operand(verdict)
    if decided(verdict):
        if not bool(verdict):
            raise at_site(InvalidArgumentError(None, None, text), site)
        return
    here: Any = building()

    def explain(*found: Any) -> None:
        raise InvalidArgumentError(None, None, text)

    here.emit(CHECK, (here.value_of(verdict),), {"explain": explain}, [], site)


@restoring
def _switch(
    name: str,
    index: Value | IndexedSlices,
    functions: list[Any],
    names: list[str],
    last_first: bool = False,
) -> Any:
    """The branch of this number, in the graph; `last_first` says in which order Python runs."""
    state: Any = get_state()
    site = state.site or caller(2)
    order = -1 if last_first else 1
    pairs = list(zip(names, functions, strict=True))[::order]
    inners = [trace_inner(n, f, []) for n, f in pairs][::order]
    if _rows_differ(inners):
        for inner in inners:
            _widen_rows(inner)
    _check_branches(name, inners, names)
    graphs = [i.graph for i in inners]
    changed = written(graphs)
    with using(State(state.listeners, state.graph, site)):
        closed = close(graphs, changed)
        inputs = [*[snapshot(state.graph, v) for v in changed], *closed.tensors]
        outs = emit_switch(index, closed.graphs, inputs)
        count = len(graphs[0].outputs)
        assign_all(changed, outs[count:])
    return put_together(inners[0].skeleton, outs[:count])


def _rows_differ(inners: list[Inner]) -> bool:
    """Whether row-sparse results may differ in the type of their row numbers."""
    kinds = {tuple([s.dtype for s in ends(i)]) for i in inners}
    if len(kinds) == 1:
        return False
    return any(isinstance(x, IndexedSlices) for i in inners for x in nest.flatten(i.skeleton))


@restoring
def _widen_rows(inner: Inner) -> None:
    """Makes row numbers int64 in the row-sparse results of a branch; its Python has run."""
    graph: Any = inner.graph
    outputs = list(graph.outputs)
    with using(State((), graph)):
        for x in nest.flatten(inner.skeleton):
            if isinstance(x, IndexedSlices):
                place: Any = x.indices
                rows = graph.tensor(outputs[place.number])
                outputs[place.number] = graph.value_of(cast(rows, dtypes.int64))
    graph.outputs = outputs


def _check_branches(name: str, inners: list[Inner], names: list[str]) -> None:
    first = inners[0]
    for inner, label in zip(inners[1:], names[1:], strict=True):
        if not same_structure(first.skeleton, inner.skeleton):
            raise at_site(
                StructureError(
                    f"{name}: all branches must return the same structure; {names[0]} gives "
                    f"{describe_result(first)}, {label} gives {describe_result(inner)}."
                )
            )
        for k, (a, b) in enumerate(zip(ends(first), ends(inner), strict=True)):
            if a.dtype is not b.dtype:
                raise at_site(
                    TypeError(
                        f"{name}: result {k} must have the same dtype in all branches; "
                        f"{names[0]} gives {describe(a)}, {label} gives {describe(b)}. Cast one."
                    )
                )


def describe_result(inner: Inner) -> str:
    """The structure of a result with shapes and dtypes."""
    return str(put_together(inner.skeleton, [Text(describe(s)) for s in ends(inner)]))

"""`tf.cond`, `case`, `switch_case` and `while_loop`: eagerly plain Python, in a trace nodes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.core import nest
from wengert.core.apply import wrap
from wengert.core.convert import operand
from wengert.core.errors import InvalidArgumentError, at_site, describe
from wengert.core.op import Spec
from wengert.core.shapes import TensorShape, as_shape, compatible
from wengert.core.spec import TensorSpec
from wengert.core.symbolic import SymbolicTensor
from wengert.core.variable import Variable
from wengert.functions.inner import Inner, close, snapshot, trace_inner, written
from wengert.functions.loops import OPEN, TURN, Loop, emit_loop
from wengert.functions.switch import emit_switch
from wengert.functions.trace import put_together, take_apart
from wengert.graph.ir import building


def _decided(value: Any) -> bool:
    """Whether a condition is known now."""
    if isinstance(value, Variable):
        return building() is None
    return not isinstance(value, SymbolicTensor)


def cond(
    pred: Any,
    true_fn: Callable[[], Any] | None = None,
    false_fn: Callable[[], Any] | None = None,
    name: Any = None,
) -> Any:
    """The result of `true_fn` if `pred` holds, else of `false_fn`."""
    if not callable(true_fn) or not callable(false_fn):
        raise at_site(TypeError("cond: `true_fn` and `false_fn` must be functions."))
    if _decided(pred):
        return true_fn() if bool(operand(pred)) else false_fn()
    pred = operand(pred)
    if not pred.dtype.is_bool:
        from wengert.ops.cast import cast

        pred = cast(pred, "bool")
    return _switch("cond", pred, [false_fn, true_fn], ["false_fn", "true_fn"])


def switch_case(
    branch_index: Any, branch_fns: Any, default: Any = None, name: str = "switch_case"
) -> Any:
    """The result of the function with this number; of the last, or `default`, if there is none."""
    functions = _numbered(branch_fns)
    if default is not None:
        functions = [*functions, default]
    index = operand(branch_index)
    if not index.dtype.is_integer:
        raise at_site(TypeError(f"switch_case: the index must be int32; got {describe(index)}."))
    if _decided(branch_index):
        i = int(index)
        return functions[i if 0 <= i < len(functions) else -1]()
    return _switch("switch_case", index, functions, [f"branch {k}" for k in range(len(functions))])


def _numbered(branch_fns: Any) -> list[Callable[[], Any]]:
    if isinstance(branch_fns, dict):
        branch_fns = sorted(branch_fns.items())
    pairs = list(branch_fns)
    if pairs and isinstance(pairs[0], tuple):
        pairs.sort(key=lambda p: p[0])
        if [k for k, _ in pairs] != list(range(len(pairs))):
            raise at_site(
                ValueError(f"switch_case: branches are numbered 0 to {len(pairs) - 1}, each once.")
            )
        pairs = [f for _, f in pairs]
    if not pairs or not all(map(callable, pairs)):
        raise at_site(TypeError("switch_case: `branch_fns` must be functions, at least one."))
    return pairs


def case(
    pred_fn_pairs: Any,
    default: Callable[[], Any] | None = None,
    exclusive: bool = False,
    strict: bool = False,
    name: str = "case",
) -> Any:
    """The result of the first function whose condition holds, or of `default`."""
    pairs = list(pred_fn_pairs.items() if isinstance(pred_fn_pairs, dict) else pred_fn_pairs)
    pairs = [(p.deref() if hasattr(p, "deref") else p, f) for p, f in pairs]
    if exclusive:
        _check_exclusive([p for p, _ in pairs])
    if not pairs:
        if default is None:
            raise at_site(ValueError("case: give at least one pair or a `default`."))
        return default()
    pred, function = pairs[0]
    if len(pairs) > 1:
        rest = lambda: case(pairs[1:], default)
    elif default is not None:
        rest = default
    elif _decided(pred) and not bool(operand(pred)):
        raise at_site(
            InvalidArgumentError(None, None, "case: no condition holds and there is no `default`.")
        )
    else:
        rest = _none_holds(pred, function)
    return cond(pred, function, rest)


def _none_holds(pred: Any, function: Callable[[], Any]) -> Callable[[], Any]:
    def fails() -> Any:
        from wengert.ops.checks import Assert

        Assert(False if building() is None else operand(pred), ["case: no condition holds."])
        return function()

    return fails


def _check_exclusive(preds: list[Any]) -> None:
    if all(map(_decided, preds)) and sum(bool(operand(p)) for p in preds) > 1:
        raise at_site(
            InvalidArgumentError(None, None, "case: more than one condition holds (`exclusive`).")
        )


def _switch(name: str, index: Any, functions: list[Any], names: list[str]) -> Any:
    inners = [trace_inner(n, f, []) for n, f in zip(names, functions, strict=True)]
    _check_branches(name, inners, names)
    graphs = [i.graph for i in inners]
    changed = written(graphs)
    closed = close(graphs, changed)
    here: Any = building()
    inputs = [*[snapshot(here, v) for v in changed], *closed.tensors]
    outs = emit_switch(index, closed.graphs, inputs)
    count = len(graphs[0].outputs)
    for variable, new in zip(changed, outs[count:], strict=True):
        variable.assign(new)
    return put_together(inners[0].skeleton, outs[:count])


def _check_branches(name: str, inners: list[Inner], names: list[str]) -> None:
    first = inners[0]
    for inner, label in zip(inners[1:], names[1:], strict=True):
        problem = difference(first.skeleton, inner.skeleton)
        if problem:
            raise at_site(
                TypeError(
                    f"{name}: all branches must return the same structure: {names[0]} gives "
                    f"{describe_result(first)}, {label} gives {describe_result(inner)} ({problem})."
                )
            )
        for k, (a, b) in enumerate(zip(_ends(first), _ends(inner), strict=True)):
            if a.dtype is not b.dtype:
                raise at_site(
                    TypeError(
                        f"{name}: result {k} must have the same dtype in all branches: "
                        f"{names[0]} gives {describe(a)}, {label} gives {describe(b)}. Cast one."
                    )
                )


def difference(a: Any, b: Any) -> str:
    """How two structures differ; empty if they do not."""
    try:
        nest.assert_same_structure(a, b)
    except (TypeError, ValueError) as error:
        return str(error).removeprefix("assert_same_structure: ")
    flat = zip(nest.flatten(a), nest.flatten(b), strict=True)
    return "" if all((x is None) == (y is None) for x, y in flat) else "one is None"


def _ends(inner: Inner) -> list[Spec]:
    return [inner.graph.specs[v] for v in inner.graph.outputs]


def describe_result(inner: Inner) -> str:
    """The structure of a result with shapes and dtypes."""
    specs = [describe(s) for s in _ends(inner)]
    return str(put_together(inner.skeleton, [_Text(s) for s in specs]))


class _Text(str):
    def __repr__(self) -> str:
        return str(self)


def while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Any,
    shape_invariants: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    maximum_iterations: Any = None,
    name: Any = None,
    checkpoint: bool = False,
) -> Any:
    """Runs `body` on the loop variables as long as `cond` of them holds.

    `checkpoint=True` keeps only about √n of n turns for the gradient and computes the others
    again.
    """
    if not callable(cond) or not callable(body):
        raise at_site(TypeError("while_loop: `cond` and `body` must be functions."))
    if not isinstance(loop_vars, list | tuple | dict) or not loop_vars:
        raise at_site(ValueError("while_loop: give at least one loop variable, in a list."))
    if building() is None:
        return _python_loop(cond, body, loop_vars, maximum_iterations)
    if checkpoint:
        from wengert.functions.checkpoints import checkpointed

        return checkpointed(cond, body, loop_vars, shape_invariants, maximum_iterations)
    return traced_loop(cond, body, loop_vars, shape_invariants, maximum_iterations)


def _python_loop(cond: Any, body: Any, loop_vars: Any, most: Any) -> Any:
    state = nest.map_structure(_as_tensor, loop_vars)
    single = len(loop_vars) == 1
    left = None if most is None else int(operand(most))
    while (left is None or left > 0) and bool(operand(_with(cond, state))):
        found = _with(body, state)
        state = _like(loop_vars, found, single)
        left = None if left is None else left - 1
    return state[0] if single and not isinstance(loop_vars, dict) else state


def _with(function: Any, state: Any) -> Any:
    return function(state) if isinstance(state, dict) else function(*state)


def _as_tensor(x: Any) -> Any:
    return operand(x) if isinstance(x, bool | int | float | complex | np.ndarray) else x


def _like(loop_vars: Any, found: Any, single: bool) -> Any:
    """What the body returned in the structure of the loop variables."""
    if isinstance(loop_vars, dict):
        return found
    if single and not (isinstance(found, list | tuple) and len(found) == 1):
        found = [found]
    found = list(found) if isinstance(found, list | tuple) else [found]
    if len(found) != len(loop_vars):
        raise at_site(
            ValueError(
                f"while_loop: the body must return {len(loop_vars)} values, one for each loop "
                f"variable; got {len(found)}."
            )
        )
    kind: Any = type(loop_vars)
    new = [nest.map_structure(_as_tensor, x) for x in found]
    return kind(*new) if hasattr(loop_vars, "_fields") else kind(new)


def traced_loop(cond: Any, body: Any, loop_vars: Any, shape_invariants: Any, most: Any) -> Any:
    """`while_loop` in a trace."""
    skeleton, starts = take_apart("while_loop", loop_vars)
    specs = _start_specs(starts, loop_vars, shape_invariants)
    single = len(loop_vars) == 1

    def unpack(xs: Any) -> Any:
        return put_together(skeleton, list(xs))

    inner_body = trace_inner(
        "body", lambda *xs: _like(loop_vars, _with(body, unpack(xs)), single), [TURN, *specs], True
    )
    _check_body(inner_body, skeleton, specs, starts)
    inner_test = trace_inner("test", lambda *xs: _with(cond, unpack(xs)), [TURN, *specs], True)
    _check_test(inner_test)
    changed = written([inner_body.graph])
    closed = close([inner_test.graph, inner_body.graph], changed)
    here: Any = building()
    test, step = closed.graphs
    test.outputs = test.outputs[:1]
    inputs = [*starts, *[snapshot(here, v) for v in changed], *closed.tensors]
    loop = Loop(test, step, len(starts) + len(changed), len(closed.tensors), 0)
    count = wrap(np.asarray(OPEN, np.int32)) if most is None else _whole(most)
    found = emit_loop(loop, count, wrap(np.zeros((), np.int32)), inputs)
    for variable, new in zip(changed, found.states[len(starts) :], strict=True):
        variable.assign(new)
    result = put_together(skeleton, found.states[: len(starts)])
    return result[0] if single and not isinstance(loop_vars, dict) else result


def _whole(most: Any) -> Any:
    from wengert.ops.cast import cast

    x = operand(most)
    return x if x.dtype.name == "int32" else cast(x, "int32")


def _start_specs(starts: list[Any], loop_vars: Any, invariants: Any) -> list[Spec]:
    here: Any = building()
    specs = [here.specs[here.value_of(x)] for x in starts]
    if invariants is None:
        return specs
    shapes = [
        s.shape if isinstance(s, TensorSpec) else s
        for s in nest.flatten(
            nest.map_structure(lambda s: s, invariants)
            if not _is_shape(invariants)
            else [invariants]
        )
    ]
    if len(shapes) != len(specs):
        raise at_site(
            ValueError(
                f"while_loop: `shape_invariants` must match the {len(specs)} loop variables; got "
                f"{len(shapes)}."
            )
        )
    found = []
    for spec, shape in zip(specs, shapes, strict=True):
        wide = as_shape(shape)
        if not TensorShape(spec.shape).is_subtype_of(wide):
            raise at_site(
                ValueError(
                    f"while_loop: a start of shape {TensorShape(spec.shape)} does not fit its shape "
                    f"invariant {TensorShape(wide)}."
                )
            )
        found.append(Spec(wide, spec.dtype))
    return found


def _is_shape(value: Any) -> bool:
    return isinstance(value, TensorShape)


def _check_body(inner: Inner, skeleton: Any, specs: list[Spec], starts: list[Any]) -> None:
    problem = difference(skeleton, inner.skeleton)
    if problem:
        raise at_site(
            TypeError(
                f"while_loop: the body must return the structure of the loop variables; {problem}."
            )
        )
    for k, (old, new) in enumerate(zip(specs, _ends(inner), strict=True)):
        if old.dtype is not new.dtype:
            raise at_site(
                TypeError(
                    f"while_loop: loop variable {k} changes its dtype: before {describe(old)}, "
                    f"after {describe(new)}. Cast it in the body."
                )
            )
        if not TensorShape(new.shape).is_subtype_of(old.shape) and not _may_fit(old, new):
            raise at_site(
                ValueError(
                    f"while_loop: loop variable {k} changes its shape: before {describe(old)}, "
                    f"after {describe(new)}. Give `shape_invariants` with None where sizes vary."
                )
            )


def _may_fit(old: Spec, new: Spec) -> bool:
    """An unknown size that may well be the old one is checked when the loop runs."""
    return compatible(old.shape, new.shape) and new.shape is not None


def _check_test(inner: Inner) -> None:
    ends = _ends(inner)
    if len(ends) != 1 or not ends[0].dtype.is_bool or ends[0].shape not in ((), None):
        raise at_site(
            TypeError(
                f"while_loop: `cond` must return one boolean; got "
                f"{', '.join(map(describe, ends)) or 'None'}."
            )
        )

"""What a gradient rule comes down to: the arguments it is handed, and perhaps a single kernel.

A rule is a Python function on tensors. It is run once with names in place of them; if all it does
is to call one operation on its arguments, plain arrays can go through that operation's kernel
alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import numpy as np

    from wengert.core.types import IndexedSlices, Tensor


from wengert.core.failures import failures

# A kernel as a function of the array `g`, the tensors x, y and out, and the shape of x, by the
# places of its arguments: the number of an input, -1 for `g`, -2 for `out`.
FORMS: dict[tuple[int, ...], Callable[..., Any]] = {
    (-1,): lambda k: lambda g, x, y, out, shape: k(g),
    (-1, 0): lambda k: lambda g, x, y, out, shape: k(g, x._array),
    (-1, 1): lambda k: lambda g, x, y, out, shape: k(g, y._array),
    (-1, -2): lambda k: lambda g, x, y, out, shape: k(g, out._array),
    (0, -1): lambda k: lambda g, x, y, out, shape: k(x._array, g),
    (1, -1): lambda k: lambda g, x, y, out, shape: k(y._array, g),
    (-2, -1): lambda k: lambda g, x, y, out, shape: k(out._array, g),
    (-1, 0, 1): lambda k: lambda g, x, y, out, shape: k(g, x._array, y._array),
}


class _Name:
    """Stands for an argument of a rule; whatever is done with it besides handing it on fails."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def _refuse(self, *_: Any) -> Any:
        raise TypeError("only a name")

    __bool__ = __eq__ = __hash__ = _refuse  # type: ignore[assignment]  # never answered


class Call(NamedTuple):
    """An operation and what it is called on."""

    op: Any
    inputs: tuple[Any, ...]
    attrs: dict[str, Any]


def as_call(function: Callable[..., Any]) -> Call | None:
    """The one operation that a rule is, on arguments of the rule; `None` if it does more."""
    code = function.__code__
    if code.co_freevars or code.co_kwonlyargcount or _jumps(code):
        return None
    read = {n: function.__globals__.get(n) for n in code.co_names}
    for door in ("apply", "apply1", "apply2"):
        read[door] = lambda op, *inputs, **attrs: Call(op, inputs, attrs)
    try:
        result = FunctionType(code, read)(*map(_Name, code.co_varnames[: code.co_argcount]))
    except failures():  # the rule does more than hand its arguments to one operation
        return None
    values = (*result.inputs, *result.attrs.values()) if type(result) is Call else (None,)
    return result if all(type(v) is _Name for v in values) else None


def _jumps(code: CodeType) -> bool:
    """Whether what a function does depends on its arguments."""
    import dis

    return any(
        i.opcode in dis.hasjrel or i.opcode in dis.hasjabs for i in dis.get_instructions(code)
    )


def on_one(
    kernel: Callable[..., Any], codes: tuple[int, ...], sizes: tuple[str, ...], same: dict[str, str]
) -> Callable[..., Any]:
    """The `direct` of a rule for one input.

    `codes` are the places of the kernel's arguments, as in `FORMS`; `sizes` the attributes that are
    the shape of x, and `same` those that are attributes of the operation, with their names there.
    """
    plain, alone = all(k == v for k, v in same.items()), codes == (-1,)
    one_size, size = len(sizes) == 1, "".join(sizes[:1])

    def run(
        g: np.ndarray, x: Any, attrs: Any, out: Any, shape: tuple[int, ...] | None
    ) -> np.ndarray:
        if not plain or len(attrs) != len(same):
            attrs = {k: attrs[v] for k, v in same.items()}
        if one_size:
            attrs = {**attrs, size: shape}
        elif sizes:
            attrs = attrs | dict.fromkeys(sizes, shape)
        if alone:
            return kernel(g, **attrs)
        return kernel(*[g if c == -1 else (out if c == -2 else x)._array for c in codes], **attrs)

    return run


def on_arrays(
    kernel: Callable[..., Any], codes: tuple[int, ...], sizes: dict[str, int], same: dict[str, str]
) -> Callable[..., Any]:
    plain = all(k == v for k, v in same.items())

    def run(
        g: np.ndarray, inputs: Any, outs: Any, shapes: Any, attrs: dict[str, int]
    ) -> np.ndarray:
        given = [g if c == -1 else (outs[0] if c == -2 else inputs[c])._array for c in codes]
        if not plain or len(attrs) != len(same):
            attrs = {k: attrs[v] for k, v in same.items()}
        if sizes:
            attrs = attrs | {k: shapes[i] for k, i in sizes.items()}
        return kernel(*given, **attrs)

    return run


def runner(
    function: Callable[..., Any], names: Sequence[str], index: dict[str, int]
) -> Callable[..., Any]:
    """A function of (g, inputs, outs, shapes, attrs, needs) that hands the rule what it names."""
    if not names:
        return lambda g, inputs, outs, shapes, attrs, needs: function(g)
    if len(names) == 1 and names[0] in index:
        only = index[names[0]]
        return lambda g, inputs, outs, shapes, attrs, needs: function(g, inputs[only])
    if list(names) == ["out"]:
        return lambda g, inputs, outs, shapes, attrs, needs: function(g, outs[0])

    def run(
        g: Tensor | tuple[Tensor, ...],
        inputs: Any,
        outs: Any,
        shapes: Any,
        attrs: Any,
        needs: tuple[bool, ...],
    ) -> Tensor | list[Tensor] | tuple[Tensor | None, ...] | IndexedSlices:
        given = {}
        for name in names:
            if name in index:
                given[name] = inputs[index[name]]
            elif name == "out":
                given[name] = outs[0]
            elif name == "outs":
                given[name] = outs
            elif name.endswith("_shape") and name[:-6] in index:
                given[name] = shapes[index[name[:-6]]]
            elif name == "inputs":
                given[name] = inputs
            elif name == "shapes":
                given[name] = shapes
            elif name == "needs":
                given[name] = needs
            else:
                given[name] = attrs[name]
        return function(g, **given)

    return run

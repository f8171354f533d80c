"""The record of an operation: everything Wengert knows about it, declared once.

A gradient rule names in its own parameters what it needs: `g` first, then inputs by name
(kept as values), `x_shape` (only the shape of input `x` is kept), `out` or `outs`, `inputs`,
`shapes` (of all inputs), `needs` (which inputs want a gradient) and attributes. So what a tape
keeps is read off the rule and never said twice.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np

from wengert.core import dtypes
from wengert.core.dtypes import DType
from wengert.core.gradient_kernels import FORMS, as_call, on_arrays, on_one, runner
from wengert.core.hooks import HookTable
from wengert.core.op_facts import NO_HAZARDS, Cost, Hazards, Neutral
from wengert.core.process_settings import PROCESS
from wengert.core.shapes import Shape
from wengert.core.tensor import Tensor

REGISTRY: dict[str, Op] = {}
# Operations that share work with their gradient on the host: from `f(x…)` and `df(g, x…)` in one
# graph to `(y, kept) = both(x…)` and `from_kept(g, x[0], kept)`.
PAIRS: HookTable[Op, tuple[Op, Op, Op]] = HookTable("pairs", "wengert.ops.sparse_losses")
# Operations that are cheaper to run again than to keep, and what to run the second time.
AGAIN: HookTable[Op, Op] = HookTable("again", "wengert.ops.slicing")
_NO_DTYPES: frozenset[int] = frozenset()
_all: weakref.WeakSet[Op] = weakref.WeakSet()


class ShapeDtype(NamedTuple):
    """What is known of a value before it exists: its shape, perhaps in part, and its dtype."""

    shape: Shape
    dtype: DType

    def row(self) -> ShapeDtype:
        """The same of a row of the value."""
        return ShapeDtype(self.shape and self.shape[1:], self.dtype)

    def stacked(self, count: int | None = None) -> ShapeDtype:
        """The same of `count` such values, stacked."""
        return ShapeDtype(None if self.shape is None else (count, *self.shape), self.dtype)


class Ranked(NamedTuple):
    """A `ShapeDtype` of known rank: what a shape rule sees that is asked for no others."""

    shape: tuple[int | None, ...]
    dtype: DType


class Residual:
    """A by-product of the forward kernel of an operation on two tensors that the gradient reuses.

    Such as the softmax inside a cross-entropy; a tape keeps it.

    `use` is the kernel of the gradient from `g`, the first input and that. The kernel of the
    operation sets `latest` to its result and the rest. In graphs the same is said by `PAIRS`.
    """

    __slots__ = ("latest", "use")

    def __init__(self, use: Callable[..., np.ndarray]) -> None:
        self.use = use
        self.latest: tuple[Any, Any] = _NOTHING

    def take(self, out: Tensor) -> Tensor | None:
        """What belongs to a result; `None` if another thread has run the kernel since."""
        result, rest = self.latest
        if result is not out._array:
            return None
        self.latest = _NOTHING
        kept = object.__new__(Tensor)
        kept._array, kept._id, kept._site = rest, 0, None
        return kept


_NOTHING = (None, None)


class Joint:
    """Marks a gradient rule that returns the gradients of all inputs at once."""

    __slots__ = ("function",)

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function


_FLOAT = dtypes.float32.np  # the dtype of most tensors
_UNCHANGED = (lambda g: g).__code__.co_code  # of a rule that hands the gradient on as it is


def _with_residual(direct: Any, residual: Residual) -> Any:
    use = residual.use
    return lambda g, x, y, out, shape: (
        direct(g, x, y, out, shape) if out is None else use(g, x._array, out._array)
    )


class Rule:
    """A gradient rule bound to an operation: what it reads, and how it is called."""

    __slots__ = (
        "_index",
        "arrays",
        "direct",
        "function",
        "inputs",
        "outs",
        "passes",
        "residual",
        "run",
        "scale",
        "settled",
        "shapes",
    )  # fmt: skip

    def __init__(self, op: Op, function: Callable[..., Any]) -> None:
        code = function.__code__
        count = code.co_argcount + code.co_kwonlyargcount
        names = code.co_varnames[1:count]
        index = {name: i for i, name in enumerate(op.inputs)}
        self.function = function
        self.inputs: tuple[int, ...] | None = tuple(index[n] for n in names if n in index)
        self.outs = any(n in ("out", "outs") for n in names)
        self.shapes: tuple[int, ...] | None = tuple(
            index[n[:-6]] for n in names if n.endswith("_shape") and n[:-6] in index
        )
        if "inputs" in names:
            self.inputs = None
        if "shapes" in names:
            self.shapes = None
        self.run = runner(function, names, index)
        self.passes = not names and code.co_code == _UNCHANGED
        self.residual = op.residual
        self._index = index
        self.settled = False
        self.direct: Callable[..., Any] | None = None
        self.arrays: Callable[..., Any] | None = None
        self.scale: tuple[int, np.ufunc] | None = None

    def settle(self) -> None:
        """Finds the kernel that the rule comes down to, if it is a single operation.

        `direct` runs it on the array `g`, the tensors x, y and out and the shape of x, where the
        rule's operation has one input, with its attributes in place of y, or two and none;
        `arrays` runs it on (g, inputs, outs, shapes, attrs), for any other. `scale` is the number
        of the input and the kernel, if it is a NumPy function of `g` and an input, which can write
        its result over `g`. Not done when the rule is declared, since it may name operations that
        are declared later.
        """
        if self.settled:
            return
        self.settled = True
        call = as_call(self.function)
        if call is None or type(call.op) is not Op or call.op.outputs != 1:
            return
        kernel: Any = call.op.kernel
        places = {"g": -1, "out": -2, **self._index}
        if not all(x.name in places for x in call.inputs):
            return
        codes = tuple(places[x.name] for x in call.inputs)
        if codes in FORMS and not call.attrs:
            self.direct = FORMS[codes](kernel)
            if self.residual is not None:
                self.direct = _with_residual(self.direct, self.residual)
            if codes[0] == -1 and codes[-1] >= 0 and type(kernel) is np.ufunc:
                self.scale = codes[1], kernel
            return
        shapes = {f"{name}_shape": i for name, i in self._index.items()}
        sizes = {k: shapes[v.name] for k, v in call.attrs.items() if v.name in shapes}
        same = {k: v.name for k, v in call.attrs.items() if k not in sizes}
        if not {"inputs", "shapes", "needs", "outs", *places}.intersection(same.values()):
            if len(self._index) == 1:
                self.direct = on_one(kernel, codes, (*sizes,), same)
            else:
                self.arrays = on_arrays(kernel, codes, sizes, same)


class RecordingPlan:
    """What to keep for one pattern of tracked inputs, and which rules will want it.

    `cut` says that no rule does: no gradient flows through the operation. `one` is the number of
    the only input with a rule and what that does to an array, if it is one kernel; `None` in the
    latter's place hands the array on. The third of `one` is the NumPy function of the array and
    the other input that it is, if any. `steps` are the rules with what each does to an array.
    """

    __slots__ = (
        "cut", "inputs", "keep2", "keeps", "needs", "one", "outs", "rules", "shapes", "sizes", "steps",
    )  # fmt: skip

    def __init__(
        self,
        inputs: tuple[bool, ...] | None,
        outs: bool,
        shapes: tuple[bool, ...] | None,
        needs: tuple[bool, ...],
        rules: tuple[tuple[int, Rule], ...],
        cut: bool,
        residual: Residual | None,
    ) -> None:
        self.cut = cut
        self.inputs = inputs
        self.outs = outs
        self.shapes = shapes
        self.needs = needs
        self.rules = rules
        self.steps = tuple((i, rule.direct, rule) for i, rule in rules)
        self.keep2 = (*(*(inputs or ()), False, False)[:2], outs or residual)
        self.one: tuple[int, Callable[..., Any] | None, np.ufunc | None] | None = None
        if len(rules) == 1:
            i, rule = rules[0]
            scale = rule.scale[1] if rule.scale and rule.scale[0] == 1 - i else None
            if rule.passes or rule.direct is not None:
                self.one = i, None if rule.passes else rule.direct, scale
        # Whether anything of two tensors and their result is kept, and which shapes: none (0), that
        # of the first (1) or second (2), or both where they differ (3).
        self.keeps = any(self.keep2)
        self.sizes = 0 if shapes is None else 3 if self.one is None else self.one[0] + 1


class Op:
    """One operation: NumPy kernel, shape-and-dtype rule, XLA lowering and gradient.

    `inputs` names the tensor arguments; a single name with a star (`"*xs"`) takes any number.
    `accepts` holds the NumPy type numbers allowed, `match` the inputs that must share a dtype
    (default: all), `broadcasts` lets the backward loop undo broadcasting, `holomorphic` lets it
    conjugate around the rule for complex numbers. `rows` names the inputs in which it is linear row
    by row when the others are scalars, so that row-sparse gradients stay sparse. `pointwise` says
    that the result has the (broadcast) shape of the inputs, as is the rule where they broadcast;
    `effect` that it does something besides computing a result, so that no pass may drop, merge or
    move it. What does not fold is never worked out while tracing. A `partial` joint rule takes
    `None` for a result that no gradient reached. One that `scatters` is its first input, changed at
    the index tuples of the second by the third; its lowering leaves out what lies outside.
    `residual` is what the kernel works out beside its result. `usual` is the dtype that the door
    lets pass at a glance: float32, where the operation takes that. `passes` are the type numbers
    that it lets pass at a second look: those of `accepts`, or none while operations are observed.

    The other facts are asked for by passes, engines, composites and explanations:

    - `elementwise`: each element of the result depends on the elements in its place alone, so that
      the operation works on the flat values of ragged tensors, with rows that broadcast where it
      `broadcasts`, and on stacks of which only some rows count. Other operations refuse ragged
      tensors, unless `composite.rules` has a rule.
    - `on_sparse`: it works on the values of a sparse tensor and leaves the rest zero; others refuse
      sparse tensors, unless there is a rule.
    - `cost`: the arithmetic for one element of the result, or a function of the specs of inputs
      and results that gives that of the whole; the choice of engine adds it up.
    - `moves`: the result has elements of the inputs only, and perhaps zeros, so that a number that
      is not finite was not made here.
    - `view`: on the host the result is the memory of the input, under another shape or dtype.
    - `xla_share`: how long XLA's program for a CPU takes for work that takes the kernel 1; more than
      1 where XLA has no good code, as for sorting. Graphs that gain nothing stay with the host.
    - `compiles`: the host kernel is a program of XLA's, which is compiled for each shape.
    - `harmless`: it cannot fail and costs next to nothing, so a branch may compute it unasked.
    - `unchanged`: a function of the spec of the first input and the attributes; where it holds, the
      results equal the first inputs. Not asked where an attribute is an unknown size.
    - `neutral`: the number that as one of two arguments leaves the other as it is.
    - `sums`: the result is the sum of its two inputs, and nothing else.
    - `sizes`: what the result is for a tuple of sizes, if it depends on the shape of its input
      alone.
    - `fill`: the number that all elements of the result are.
    - `contents`: a function of the graph and the node that gives the elements of a small integer
      result, in part unknown (`graph.known_elements`), or `None`.
    - `row_lists`: whether the host kernel `"takes"` lists of rows or `"makes"` one, where XLA has
      arrays.
    - `takes_padded`: its lowering takes stacks of which only some rows count (`core.padded_stacks`).
    - `adds_up`: a function of the specs of the inputs and the attributes: the axes, one for each input,
      along which they may be parted so that the results of the parts add up to that of the whole.
    - `replicas`: whether the result is `"joined"`, made of the values of all replicas and the same in
      each, or its `"own"` in each replica; other operations compute with what their replica has.
    - `calls_python`: it hands arrays to Python, or variables whose values Python may have changed.
    - `hazards`: where finite arguments give NaN, infinity or an infinite derivative.
    - `instead`: what to use in its place where a gradient is wanted, as a sentence.
    - `user`: the name of the user's function whose gradient rule it has; made for one call.
    """

    __slots__ = (
        "__weakref__",
        "accepts",
        "adds_up",
        "broadcasts",
        "calls_python",
        "compiles",
        "contents",
        "cost",
        "effect",
        "elementwise",
        "fill",
        "folds",
        "gradient",
        "harmless",
        "hazards",
        "holomorphic",
        "infer",
        "inputs",
        "instead",
        "joint",
        "kernel",
        "lower",
        "match",
        "moves",
        "name",
        "neutral",
        "on_sparse",
        "outputs",
        "partial",
        "passes",
        "plans",
        "pointwise",
        "replicas",
        "residual",
        "row_lists",
        "rows",
        "rules",
        "scatters",
        "sizes",
        "sums",
        "takes_padded",
        "unchanged",
        "user",
        "usual",
        "variadic",
        "view",
        "xla_share",
    )  # fmt: skip

    def __init__(
        self,
        name: str,
        inputs: str,
        *,
        kernel: Callable[..., Any],
        infer: Callable[..., Any],
        lower: Callable[..., Any] | None,
        grad: Any,
        accepts: frozenset[int] = dtypes.ANY,
        match: tuple[int, ...] | None = None,
        broadcasts: bool = False,
        outputs: int | None = 1,
        holomorphic: bool = True,
        rows: bool | tuple[int, ...] = False,
        pointwise: bool | None = None,
        elementwise: bool = False,
        on_sparse: bool = False,
        effect: bool = False,
        folds: bool = True,
        partial: bool = False,
        scatters: bool = False,
        residual: Residual | None = None,
        cost: Cost = 1.0,
        compiles: bool = False,
        moves: bool = False,
        harmless: bool = False,
        unchanged: Callable[..., bool] | None = None,
        view: bool = False,
        xla_share: float = 0.5,
        neutral: Neutral | None = None,
        sums: bool = False,
        sizes: Callable[[tuple[Any, ...]], Any] | None = None,
        fill: int | None = None,
        contents: Callable[[Any, Any], np.ndarray | None] | None = None,
        row_lists: Literal["", "takes", "makes"] = "",
        takes_padded: bool = False,
        adds_up: Callable[..., tuple[int, ...] | None] | None = None,
        replicas: Literal["", "joined", "own"] = "",
        calls_python: bool = False,
        hazards: Hazards = NO_HAZARDS,
        instead: str = "",
        user: str = "",
        register: bool = True,
    ) -> None:
        self.name = name
        self.variadic = inputs.startswith("*")
        self.inputs = tuple(inputs.replace("*", "").split())
        self.kernel = kernel
        self.infer = infer
        self.lower = lower
        self.gradient = grad
        self.accepts = accepts
        self.usual: np.dtype | None = None
        self.passes = _NO_DTYPES
        self.watch(PROCESS.watches_operations)
        _all.add(self)
        self.match = match
        self.broadcasts = broadcasts
        self.outputs = outputs
        self.holomorphic = holomorphic
        self.pointwise = broadcasts if pointwise is None else pointwise
        self.elementwise = elementwise
        self.on_sparse = on_sparse
        self.effect = effect
        self.folds = folds and not effect
        self.partial = partial
        self.scatters = scatters
        self.residual = residual
        self.cost = cost
        self.compiles = compiles
        self.moves = moves
        self.harmless = harmless
        self.unchanged = unchanged
        self.view = view
        self.xla_share = xla_share
        self.neutral = neutral
        self.sums = sums
        self.sizes = sizes
        self.fill = fill
        self.contents = contents
        self.row_lists: Literal["", "takes", "makes"] = row_lists
        self.takes_padded = takes_padded
        self.adds_up = adds_up
        self.replicas: Literal["", "joined", "own"] = replicas
        self.calls_python = calls_python
        self.hazards = hazards
        self.instead = instead
        self.user = user
        self.rows: tuple[int, ...] = rows if isinstance(rows, tuple) else (0,) if rows else ()
        self.plans: dict[int, RecordingPlan] = {}
        self.joint: Rule | None = None
        self.rules: tuple[Rule | None, ...] = ()
        if isinstance(grad, Joint):
            self.joint = Rule(self, grad.function)
        elif grad is not None:
            rules = grad if isinstance(grad, tuple) else (grad,)
            assert len(rules) == len(self.inputs), f"{name}: one gradient rule per input"
            self.rules = tuple(None if r is None else Rule(self, r) for r in rules)
        if register:
            assert name not in REGISTRY, f"operation {name} is declared twice"
            REGISTRY[name] = self

    def __repr__(self) -> str:
        return f"<operation {self.name}>"

    def watch(self, watched: bool) -> None:
        """Has the door take its slow branch for any arrays, or only for those that do not fit."""
        fast = _FLOAT.num in self.accepts and not watched
        self.usual = _FLOAT if fast else None
        self.passes = _NO_DTYPES if watched else self.accepts

    def plan(self, key: int) -> RecordingPlan:
        """What to keep when the inputs whose bits are set in `key` are tracked.

        The highest bit of the key marks the number of inputs.
        """
        count = key.bit_length() - 1
        needs = tuple(bool(key >> i & 1) for i in range(count))
        rules: list[Rule]
        if self.gradient is None:
            rules, needs = [], (False,) * count
        elif self.joint is not None:
            rules = [self.joint] if any(needs) else []
        else:
            rules = [r for r, need in zip(self.rules, needs, strict=True) if need and r]
            needs = tuple(n and r is not None for n, r in zip(needs, self.rules, strict=True))
        keep = [False] * count
        shapes = [self.broadcasts and n for n in needs]
        for rule in rules:
            for i in range(count) if rule.inputs is None else rule.inputs:
                keep[i] = True
            for i in range(count) if rule.shapes is None else rule.shapes:
                shapes[i] = True
        for rule in rules:
            rule.settle()
        plan = RecordingPlan(
            tuple(keep) if any(keep) else None,
            any(r.outs for r in rules),
            tuple(shapes) if any(shapes) else None,
            needs,
            tuple((i, r) for i, r in enumerate(self.rules) if r and needs[i]),
            cut=not rules,
            residual=self.residual,
        )
        self.plans[key] = plan
        return plan


def watch_operations(watched: bool) -> None:
    """Sends eager operations through the slow branch of the door, where observers hear of them."""
    if PROCESS.watches_operations != watched:
        PROCESS.watches_operations = watched
        for op in [*_all]:
            op.watch(watched)

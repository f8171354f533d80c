"""Einstein's notation as data: equations, the sizes of their labels, and plans of work.

An equation is explicit here: letters name axes, digits the axes that stood under an ellipsis;
only those broadcast. Nothing in this module touches the elements of a tensor.
"""

from __future__ import annotations

import functools
import math
import re
import string
from typing import Any, NamedTuple

import numpy as np

from wengert.ops.declare import Dim, invalid, known_unequal, require

Sizes = tuple[tuple[str, int], ...]

_FORM = re.compile(r"[a-zA-Z.]*(,[a-zA-Z.]*)*(->[a-zA-Z.]*)?")
# Labels for axes under an ellipsis, and for axes of size 1 that a gradient puts back.
DOTS = "0123456789" + "".join(chr(0x3B1 + i) for i in range(54))
_NEW = "".join(chr(0x401 + i) for i in range(64))
# What an unknown size counts as when the order of products is chosen.
_GUESS = 32


def cut(equation: str) -> tuple[list[str], str]:
    """The labels of the inputs, and of the output."""
    inputs, _, out = equation.partition("->")
    return inputs.split(","), out


def unique(labels: str) -> str:
    """Each label once, in the order of first appearance."""
    return "".join(dict.fromkeys(labels))


class Operand(NamedTuple):
    """How one tensor is made ready: its diagonals taken, axes summed; what labels are left."""

    labels: str
    summed: tuple[int, ...]
    kept: str


class Layout(NamedTuple):
    """How a tensor becomes a stack of matrices: order of axes, shape, and whether to turn them."""

    perm: tuple[int, ...] | None
    shape: tuple[int, ...] | None
    flip: bool


class ContractionPlan(NamedTuple):
    """How two tensors of known shapes are multiplied.

    Labels are `batch` (in both and the output), `contract` (in both, summed) or only in one; the
    product has the labels `product` and `shape`, `order` are those of the output without repeats.
    """

    x: Operand
    y: Operand
    left: Layout
    right: Layout
    batch: str
    contract: str
    product: str
    shape: tuple[int, ...] | None
    order: str
    out: str
    dims: dict[str, int]


def label_sizes(
    equation: str,
    shapes: list[tuple[int | None, ...]] | tuple[tuple[int | None, ...], ...],
    sizes: Sizes,
) -> dict[str, Any]:
    """The size of every label, if known; raises where the tensors disagree."""
    inputs, _ = cut(equation)
    dims: dict[str, Any] = dict(sizes)
    for labels, shape in zip(inputs, shapes, strict=True):
        require(
            len(labels) == len(shape),
            "einsum",
            f"`{labels}` names {len(labels)} axes of a tensor of rank {len(shape)}",
        )
        for label, d in zip(labels, shape, strict=True):
            known, repeats = dims.get(label), label in DOTS
            if d is None or known == d:
                dims.setdefault(label, d)
            elif known is None or (known == 1 and repeats):
                dims[label] = d
            elif type(known) is Dim:
                dims[label] = known if d == 1 and repeats else d
            elif type(d) is not Dim and (d != 1 or not repeats):
                what = "the ellipsis" if label in DOTS else f"label `{label}`"
                raise invalid(
                    "einsum", f"{what} stands for sizes {known} and {d} in `{equation}`",
                    help="Sizes of one label must agree; only axes under `...` broadcast.",
                )  # fmt: skip
    return dims


def _ready(labels: str, kept: str) -> Operand:
    """How to leave only the labels `kept` of a tensor."""
    once = unique(labels)
    summed = tuple(i for i, label in enumerate(once) if label not in kept)
    return Operand(labels, summed, "".join(c for c in once if c in kept))


@functools.lru_cache(maxsize=4096)
def plan(
    equation: str, sizes: Sizes, x_shape: tuple[int, ...], y_shape: tuple[int, ...]
) -> ContractionPlan:
    """Sorts the labels of two tensors into those to repeat, to sum and to keep."""
    (a, b), out = cut(equation)
    dims = label_sizes(equation, (x_shape, y_shape), sizes)
    # An axis of size 1 that meets a longer one is left out: the product repeats it anyway.
    x_has = {c for c, d in zip(a, x_shape, strict=True) if d != 1 or dims[c] == 1}
    y_has = {c for c, d in zip(b, y_shape, strict=True) if d != 1 or dims[c] == 1}
    x = _ready(a, "".join(c for c in x_has if c in out or c in y_has))
    y = _ready(b, "".join(c for c in y_has if c in out or c in x_has))
    both = [c for c in x.kept if c in y.kept]
    batch = "".join(c for c in unique(out) if c in both)
    contract = "".join(c for c in both if c not in out)
    rows = "".join(c for c in x.kept if c not in both)
    columns = "".join(c for c in y.kept if c not in both)
    product = batch + rows + columns
    plain = len(rows) == len(columns) == 1
    return ContractionPlan(
        x,
        y,
        _layout(x.kept, batch, rows, contract, dims),
        _layout(y.kept, batch, contract, columns, dims),
        batch,
        contract,
        product,
        None if plain else tuple(dims[c] for c in product),
        "".join(c for c in unique(out) if c in product),
        out,
        dims,
    )


@functools.lru_cache(maxsize=4096)
def plan_one(
    equation: str, sizes: Sizes, shape: tuple[int, ...]
) -> tuple[Operand, str, dict[str, int]]:
    """How one tensor is made ready, the labels of the output, and all sizes."""
    (labels,), out = cut(equation)
    return _ready(labels, out), out, label_sizes(equation, (shape,), sizes)


def _layout(labels: str, batch: str, first: str, second: str, dims: dict[str, int]) -> Layout:
    flip = bool(first and second) and labels.index(first[0]) > labels.index(second[0])
    one, two = (second, first) if flip else (first, second)
    perm = tuple(labels.index(c) for c in batch + one + two)
    plain = len(one) == len(two) == 1
    groups = [*batch, one, two]
    shape = tuple(math.prod([dims[c] for c in g]) for g in groups)
    return Layout(None if perm == tuple(range(len(perm))) else perm, None if plain else shape, flip)


def back(
    equation: str, place: int, shape: tuple[int | Dim, ...], known: dict[str, Any]
) -> tuple[str, Sizes, bool]:
    """Labels for the gradient of one input: what to sum, to repeat, or to put back as size 1.

    Where unknown sizes leave open whether an axis was repeated, it is left long, and the last
    result is true.
    """
    new = iter(c for c in _NEW if c not in equation)
    labels, sizes, unsure = "", [], False
    for c, d in zip(cut(equation)[0][place], shape, strict=True):
        label = next(new) if known_unequal(known.get(c, d), d) else c
        unsure = unsure or (label in DOTS and known.get(c, d) != d)
        labels += label
        if label not in known:
            sizes.append((label, d))
    return labels, tuple(dict(sizes).items()), unsure


@functools.lru_cache(maxsize=4096)
def explicit(equation: str, ranks: tuple[int, ...]) -> str:
    """The equation with its output written out and every ellipsis as digits."""
    text = equation.replace(" ", "")
    bare = text.replace("...", "")
    require(
        _FORM.fullmatch(text)
        and "." not in bare
        and all(p.count("...") <= 1 for p in text.replace("->", ",").split(",")),
        "einsum",
        f"`{equation}` is not an equation",
        help="Write letters for axes, commas between tensors and one `->`, as in `ij,jk->ik`.",
    )
    inputs, arrow, out = text.partition("->")
    terms = inputs.split(",")
    require(
        len(terms) == len(ranks),
        "einsum",
        f"`{equation}` is about {len(terms)} tensors; got {len(ranks)}",
    )
    hidden = [r - len(t.replace("...", "")) for t, r in zip(terms, ranks, strict=True)]
    for t, r, h in zip(terms, ranks, hidden, strict=True):
        require(
            h >= 0 and (not h or "..." in t),
            "einsum",
            f"`{t}` does not fit a tensor of rank {r} in `{equation}`",
        )
    most = max(hidden)
    if not arrow:
        every = bare.replace(",", "")
        out = "..." + "".join(sorted(c for c in set(every) if every.count(c) == 1))
    _check_output(equation, bare, out, most)
    filled = [t.replace("...", DOTS[most - h : most]) for t, h in zip(terms, hidden, strict=True)]
    return f"{','.join(filled)}->{out.replace('...', DOTS[:most])}"


def _check_output(equation: str, bare: str, out: str, most: int) -> None:
    letters = out.replace("...", "")
    unknown = sorted(set(letters) - set(bare.partition("->")[0]))
    require(
        not unknown,
        "einsum",
        lambda: f"the output label `{unknown[0]}` of `{equation}` is in no input",
    )
    require(
        len(set(letters)) >= len(letters),
        "einsum",
        f"an output label appears more than once in `{equation}`",
    )
    require(
        not most or "..." in out,
        "einsum",
        f"the output of `{equation}` must have an ellipsis, since the inputs do",
        help="Write `...` after the arrow, or name the axes.",
    )


@functools.lru_cache(maxsize=1024)
def path(
    equation: str, shapes: tuple[tuple[int | None, ...], ...], optimize: str
) -> list[tuple[int, ...]]:
    """The order in which to multiply more than two tensors."""
    labels = [c for c in unique(equation) if c not in ",->"]
    letters = dict(zip(labels, string.ascii_letters, strict=False)) | {c: c for c in ",->"}
    plain = "".join(letters[c] for c in equation)
    how = "greedy" if optimize in ("greedy", "eager") else "optimal"
    dims = {c: d or _GUESS for c, d in label_sizes(equation, shapes, ()).items()}
    terms = zip(cut(equation)[0], shapes, strict=True)
    guessed = [[dims[c] if d is None else d for c, d in zip(t, s, strict=True)] for t, s in terms]
    blanks = [np.broadcast_to(np.zeros(()), s) for s in guessed]
    return np.einsum_path(plain, *blanks, optimize=how)[0][1:]

"""Expressions without control flow: texts of a known kind over the names in scope."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tools.fuzz.generator import Generator

UNARY = (
    "tf.sin({0})", "tf.tanh({0})", "tf.exp(-{0} * {0})", "tf.sqrt(1.0 + {0} * {0})", "tf.abs({0})",
    "tf.nn.relu({0})", "({0} * 0.5)", "tf.nn.softplus({0})", "tf.clip_by_value({0}, -0.5, 0.5)",
    "tf.where({0} > 0.1, {0} * {0}, {0} * 3.0)", "tf.stop_gradient({0})", "(-{0})", "tf.identity({0})",
    "tf.math.sigmoid({0})", "tf.zeros_like({0})", "({0} ** 2)", "tf.math.erf({0})",
)  # fmt: skip
BINARY = (
    "({0} + {1})", "({0} - {1})", "({0} * {1})", "({0} / (1.0 + {1} * {1}))", "tf.maximum({0}, {1})",
    "tf.minimum({0}, {1})", "tf.math.squared_difference({0}, {1})",
    "tf.where({0} < {1}, {0}, {1} * 2.0)", "tf.math.multiply_no_nan({0}, {1})",
)  # fmt: skip
REDUCE = ("sum", "mean", "max", "min", "logsumexp", "prod")
EMPTY_TOO = ("sum", "prod")

# By kind: templates with a kind in each pair of braces. `{i3}` is a position 0 to 2, `{=}`
# the text of the braces before.
TEMPLATES: dict[str, tuple[str, ...]] = {
    "s": (
        "{v}[{i3}]", "tf.reduce_sum({r})", "tf.norm({v} + 0.3)", "tf.tensordot({v}, {v}, 1)",
        "tf.reduce_sum({m} * {v})", "{m}[{i3} % 2, {i3}]", "tf.gather({v}, {i3})",
        "tf.cast(tf.shape({r})[0], F)", "tf.cast(tf.size({r}), F)", "tf.linalg.trace({m})",
        "tf.cast(tf.argmax({v}), F)", "tf.reduce_sum(tf.cast({v} > {s}, F))",
        "tf.einsum('i,ij->', {v}[:2], {m})", "tf.cast({i}, F)", "tf.reshape({v}[:1], [])",
    ),
    "v": (
        "{m}[{i3} % 2]", "tf.reduce_sum({m}, 0)", "tf.reduce_mean({m}, axis=0)", "{v}[::-1]",
        "tf.linalg.matvec(tf.matmul({m}, {m}, transpose_a=True), {v})", "({s} * {v})",
        "tf.roll({v}, {i3}, 0)", "tf.gather({v}, tf.stack([{i3}, 0, {i3}]))", "tf.sort({v})",
        "tf.concat([tf.slice({v}, [{i3} % 2], [2]), {v}[:1]], 0)", "tf.cumsum({v})",
        "tf.tensor_scatter_nd_add({v}, [[{i3}]], [{s}])", "tf.stack([{s}, {s}, {s}])",
        "tf.reduce_sum({r}, 0)", "tf.reduce_sum(tf.concat([{r}, {m}], 0), 0)", "tf.nn.softmax({v})",
        "tf.reduce_max(tf.concat([{r}, {m}], 0), 0)", "tf.broadcast_to({s}, [3])", "tf.fill([3], {s})",
        "tf.transpose({m})[:, {i3} % 2]", "tf.concat([{v}[1:], {v}[:1]], 0)",
        "tf.math.unsorted_segment_sum({v}, tf.stack([{i3}, 0, 1]), 3)", "tf.one_hot({i3}, 3, dtype=F)",
        "tf.tensor_scatter_nd_update({v}, [[{i3}]], [{s}])", "tf.pad({v}[:2], [[0, 1]])",
        "tf.reverse({v}, [0])", "tf.math.cumprod({v}, exclusive=True)", "tf.nn.top_k({v}, 3)[0]",
        "tf.where(tf.range(3) < {i3}, {v}, {v} * 0.5)", "tf.ensure_shape({v}, [3])",
    ),
    "m": (
        "tf.stack([{v}, {v}])", "tf.matmul({m}, W)", "tf.reshape(tf.concat([{v}, {v}], 0), [2, 3])",
        "tf.concat([{m}[1:], {m}[:1]], 0)", "tf.tile({v}[None], [2, 1])", "({m} + {v})",
        "tf.transpose(tf.reshape({m}, [3, 2]))", "tf.gather({m}, [1, 0])", "tf.nn.softmax({m})",
        "tf.linalg.matmul({m}, tf.linalg.diag({v}))", "(tf.expand_dims({v}, 0) * {m})",
        "tf.cumsum({m}, 1, reverse=True)", "tf.einsum('ij,jk->ik', {m}, W)", "{m}[::-1, ::-1]",
        "tf.where({m} > {s}, {m}, {v})", "(tf.split({m}, 2, 0)[0] + {m})",
    ),
    "r": (
        "({r} * {v})", "tf.concat([{r}, {m}], 0)", "{r}[:{i}]", "{r}[{i3}:]", "tf.matmul({r}, W)",
        "tf.boolean_mask({r}, {=}[:, 0] > {s})", "{r}[::-1]", "{r}[::2]", "tf.zeros([0, 3], F)",
        "tf.tile({v}[None], [{i}, 1])", "tf.reshape(tf.reshape({r}, [-1]), [-1, 3])", "tf.abs({r})",
        "tf.gather({r}, tf.where({=}[:, 1] < {s})[:, 0])", "tf.pad({r}, [[{i3}, 1], [0, 0]])",
        "tf.repeat({m}, {i}, 0)", "tf.cumsum({r}, 0)", "tf.nn.softmax({r}, 1)", "tf.sort({r}, 0)",
        "tf.transpose(tf.transpose({r}))", "tf.broadcast_to({v}, [{i}, 3])", "tf.stack([{v}] * 2)",
    ),
    "i": (
        "n", "tf.constant({1to3})", "tf.minimum(tf.shape({r})[0], 3)", "(1 + {i3})", "(4 - {i})",
    ),
    "i3": (
        "tf.constant({0to2})", "({i} % 3)", "tf.cast(tf.abs({s}) * 7.0, tf.int32) % 3",
        "tf.cast(tf.argmin({v}), tf.int32)", "tf.minimum(tf.shape({r})[0], 2)",
        "tf.cast(tf.reduce_sum({v}) > {s}, tf.int32)",
    ),
}  # fmt: skip
# Templates that XLA cannot have, because a size depends on data.
DATA_SIZES = ("boolean_mask", "tf.where({r}", "[:{i}]", "{i3}:]", "[{i}, 1]", "[[{i3}, 1]", "[{i}, 3]",
              "({m}, {i}, 0)", "[:{i3}]")  # fmt: skip

# Excursions through other dtypes: exact in each, so that all modes agree to the last bit.
EXCURSIONS = (
    "tf.cast(tf.cast(tf.round({0} * 2.0), tf.bfloat16) * 3, F)",
    "tf.cast(tf.cast(tf.round({0} * 2.0), tf.float16) + 1, F)",
    "tf.cast(tf.cast({0} * 4.0, tf.int64) // 3, F)",
    "tf.cast(tf.cast({0} * 4.0, tf.int32) % 5, F)",
    "tf.cast(tf.bitwise.bitwise_xor(tf.cast({0} * 9.0, tf.int32), 5), F)",
    "tf.cast(tf.cast(tf.abs({0}) * 9.0, tf.uint8) + tf.constant(200, tf.uint8), F)",
    "tf.cast(tf.math.real(tf.complex({0}, {0} * 0.5) * tf.math.conj(tf.complex({0}, -{0}))), F)",
    "tf.math.imag(tf.exp(tf.complex({0} * 0.1, {0})))",
    "tf.cast(tf.math.logical_xor({0} > 0.2, {0} < -0.3), F)",
    "tf.cast(tf.cast(tf.round({0} * 2.0), tf.float32) * 0.5, F)",
)
TESTS = (
    "{s} > {num}", "tf.reduce_sum({v}) < {num}", "{i} > 1", "{i} % 2 == 0", "{s} > {num} and {i} < 3",
    "tf.reduce_any({v} > {num})", "not ({s} > {num})", "{num} < {s} < 1.0", "tf.shape({r})[0] > 1",
    "{i} == 2 or {s} < {num}", "tf.logical_and({s} > {num}, {i} != 1)", "tf.reduce_all({r} < 1.0)",
)  # fmt: skip


def expression(g: Generator, kind: str, depth: int) -> str:
    """A text of `kind`: a name in scope, a template, pointwise arithmetic or an excursion."""
    if depth <= 0 or g.chance(0.15):
        return leaf(g, kind)
    if kind not in ("i", "i3") and g.chance(0.45):
        return pointwise(g, kind, depth - 1)
    if kind == "s" and g.chance(0.3):
        return reduced(g, depth - 1)
    template = g.pick(*TEMPLATES[kind])
    if any(part in template for part in DATA_SIZES):
        g.needs.add("sizes")
    return fill(g, template, depth - 1)


def fill(g: Generator, template: str, depth: int) -> str:
    """The template with an expression for each pair of braces."""
    values: dict[str, Callable[[], str]] = {
        **{k: (lambda k=k: expression(g, k, depth)) for k in (*"svmri", "i3")},
        "num": g.number, "1to3": lambda: g.pick("1", "2", "3"), "0to2": lambda: g.pick("0", "1", "2"),
    }  # fmt: skip
    first, *rest = template.split("{")
    out, value = first, ""
    for piece in rest:
        name, text = piece.split("}", 1)
        value = value if name == "=" else values[name]()
        out += value + text
    return out


def pointwise(g: Generator, kind: str, depth: int) -> str:
    x = expression(g, kind, depth)
    if g.chance(0.15) and kind != "r":
        g.use("excursion")
        return g.pick(*EXCURSIONS).format(x)
    if g.chance(0.5) or kind == "r":
        return g.pick(*UNARY).format(x)
    return g.pick(*BINARY).format(x, expression(g, kind, depth))


def reduced(g: Generator, depth: int) -> str:
    kind = g.pick("v", "m", "r")
    name = g.pick(*(EMPTY_TOO if kind == "r" else REDUCE))
    return f"tf.reduce_{name}({expression(g, kind, depth)})"


def leaf(g: Generator, kind: str) -> str:
    if kind == "i3":
        return g.pick("0", "1", "2", "n % 3")
    names = g.named(kind)
    if names and g.chance(0.85):
        return g.pick(*names)
    n = g.number
    return {
        "s": lambda: g.pick(f"tf.constant({n()}, F)", "tf.reduce_sum(a)"),
        "v": lambda: g.pick(f"tf.constant([{n()}, {n()}, {n()}], F)", "a", "b", "(a * 1.0)"),
        "m": lambda: f"tf.constant([[{n()}, {n()}, {n()}], [{n()}, {n()}, {n()}]], F)",
        "r": lambda: g.pick(f"tf.constant([[{n()}, {n()}, {n()}]], F)", "tf.ones([0, 3], F)"),
        "i": lambda: g.pick("tf.constant(1)", "tf.constant(2)", "tf.constant(3)"),
    }[kind]()


def test(g: Generator) -> str:
    return fill(g, g.pick(*TESTS), 1)

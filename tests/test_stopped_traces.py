"""What a signal's handler raises while something is traced leaves nothing of it behind."""

from __future__ import annotations

import ast
import random
import signal
import sys
from collections.abc import Callable, Iterator
from contextvars import Context, copy_context
from pathlib import Path
from typing import Any

import pytest

import wengert as tf
from tests.signals_at import Place, places_of, raising, stopped_at
from wengert.core import context

SOURCES = Path(tf.__path__[0])
# Blocks that are always inside a trace or a compilation, whose outermost function restores the context.
INSIDE = {
    "autograph", "graph/builder.py", "engines/subgraph_lowering.py", "engines/rollback.py", "engines/padded_stacks.py",
    "functions/export.py", "functions/trace.py:trace",
}  # fmt: skip


def _simple() -> Any:
    v = tf.Variable(1.0)
    return tf.function(lambda x: v.assign_add(x * 2.0))(tf.constant(1.0))


def _control_flow() -> Any:
    @tf.function
    def f(x: Any) -> Any:
        for i in tf.range(3):
            if x[0] > 2.0:
                x = x + tf.cast(i, tf.float32)
            else:
                x = x * 2.0
        return tf.map_fn(lambda y: y * 2.0, x)

    return f(tf.constant([1.0, 2.0]))


def _gradients() -> Any:
    w = tf.Variable([[1.0, 2.0], [3.0, 4.0]])

    @tf.function
    def f(x: Any) -> Any:
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(tf.tanh(x @ w))
        return tape.gradient(y, w)

    with tf.GradientTape() as tape:
        y = f(tf.constant([[1.0, 2.0]]))
    return tape.gradient(y, w)


def _eager() -> Any:
    x = tf.constant([1.0, 2.0])

    @tf.custom_gradient
    def doubled(x: Any) -> Any:
        return x * 2.0, lambda g: g * 2.0

    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = doubled(tf.recompute_grad(tf.sin)(x)) * x
    tape.jacobian(y, x)
    with tf.autodiff.ForwardAccumulator(x, tf.ones([2])):
        z = tf.vectorized_map(lambda t: t * 2.0, x)
    tf.debugging.Assert(tf.reduce_all(z > 0.0), [z])
    return next(iter(tf.data.Dataset.from_tensor_slices(x).map(lambda t: t * 2.0).batch(2)))


def _left() -> list[str]:
    """The context variables that are not as they are outside everything."""
    outside = Context()
    return [v.name for v in context._own if v.get() != outside.run(v.get)]


# At the ends of the user's own `with` blocks Python gives no guarantee.
ENDS = ("__enter__", "__exit__")


def _attempt(action: Callable[[], Any], place: Place) -> tuple[bool, list[str]]:
    """Whether a signal at a place stopped an action, and what is left in the context then."""
    return stopped_at(action, place, signal.SIGALRM), _left()


@pytest.mark.skipif(sys.platform == "win32", reason="there are few signals")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("action", [_simple, _control_flow, _gradients, _eager])
def test_a_signal_while_tracing(action: Callable[[], Any]) -> None:
    action()  # what is imported and set up once
    with raising(signal.SIGALRM) as names:
        places = [p for p in places_of(action) if p[0].co_name not in ENDS]
        chosen = random.Random(7).sample(places, min(len(places), 120))
        stopped = 0
        for place in chosen:
            names.clear()
            stops, left = copy_context().run(_attempt, action, place)
            stopped += stops
            # Python calls a handler at few instructions, and so perhaps at the next such end.
            if not any(name in ENDS for name in names):
                assert left == [], f"{place[0].co_qualname} at {place[1]}"
    assert stopped > len(chosen) // 2
    action()


def _blocks(tree: ast.AST, around: tuple[ast.FunctionDef, ...] = ()) -> Iterator[Any]:
    """Each block that sets our context, with the functions around it."""
    for node in ast.iter_child_nodes(tree):
        inner = (*around, node) if isinstance(node, ast.FunctionDef) else around
        if isinstance(node, ast.With):
            for item in node.items:
                call = item.context_expr
                name = getattr(call, "func", None)
                if getattr(name, "attr", getattr(name, "id", "")) in ("using", "gathering"):
                    yield call, around
        yield from _blocks(node, inner)


def test_who_sets_the_context_restores_it() -> None:
    missing = []
    for path in sorted(SOURCES.rglob("*.py")):
        where = path.relative_to(SOURCES).as_posix()
        if where in INSIDE or where.split("/")[0] in INSIDE:
            continue
        for call, around in _blocks(ast.parse(path.read_text())):
            if f"{where}:{around[0].name}" in INSIDE:
                continue
            marks = {ast.unparse(d) for f in around for d in f.decorator_list}
            if "restoring" not in marks:
                missing.append(f"{where}:{call.lineno}")
    assert not missing, "decorate the functions around these with `restoring`"

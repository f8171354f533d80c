"""Random programs of operations and control flow, as closures over named tensors.

An expression is a text and a function from an environment (names to tensors) to a tensor of a
known kind: a scalar, a vector of three, or a matrix of 2 by 3, all float64; or a position 0 to 2.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import wengert as tf

Env = dict[str, Any]
SHAPES = {"s": [], "v": [3], "m": [2, 3]}


class Expr(NamedTuple):
    text: str
    run: Callable[[Env], Any]


class Programs:
    """Makes expressions from a seed; `variables` may be read and changed by them.

    With `free`, also what XLA cannot do: tensors that grow, calls of Python.
    """

    def __init__(self, seed: int, variables: list[Any], free: bool) -> None:
        self.rng = np.random.default_rng(seed)
        self.variables = variables
        self.free = free
        self.names = 0

    def pick(self, *choices: Any) -> Any:
        return choices[self.rng.integers(len(choices))]

    def fresh(self) -> str:
        self.names += 1
        return f"n{self.names}"

    def number(self) -> float:
        return round(float(self.rng.normal()), 2)

    # Expressions of each kind. A scope names the tensors there are, by kind.

    def make(self, kind: str, scope: Env, depth: int) -> Expr:
        if depth <= 0 or self.rng.random() < 0.15:
            return self.leaf(kind, scope)
        rules = {
            "s": [self.reduced, self.element, self.pointwise, self.pointwise],
            "v": [
                self.pointwise, self.pointwise, self.row, self.column_sums, self.product,
                self.reordered, self.part, self.put, self.spread,
            ],
            "m": [self.pointwise, self.matmul, self.stacked],
        }  # fmt: skip
        flow = [self.cond, self.switch, self.loop, self.call, self.marked, self.counting]
        if kind == "v":
            flow += [self.fold, self.array, self.changing, self.assigning, self.nested_map]
            flow += [self.growing, self.appending, self.python] if self.free else []
        if kind == "m":
            flow += [self.map_rows, self.scan]
        chosen = self.pick(*(flow if depth > 1 and self.rng.random() < 0.6 else rules[kind]))
        return chosen(kind, scope, depth - 1)

    def leaf(self, kind: str, scope: Env) -> Expr:
        names = [n for n, k in scope.items() if k == kind]
        if names and self.rng.random() < 0.8:
            name = self.pick(*names)
            return Expr(name, lambda env: env[name])
        if kind == "v" and self.rng.random() < 0.5:
            k = int(self.rng.integers(len(self.variables)))
            return Expr(f"var{k}", lambda env: self.variables[k] * 1.0)
        value = np.round(self.rng.normal(size=SHAPES[kind]), 2)
        return Expr(str(value.tolist()), lambda env: tf.constant(value))

    def pointwise(self, kind: str, scope: Env, depth: int) -> Expr:
        x = self.make(kind, scope, depth)
        if self.rng.random() < 0.5:
            name, f = self.pick(*UNARY.items())
            return Expr(f"{name}({x.text})", lambda env: f(x.run(env)))
        y = self.make(kind, scope, depth)
        name, g = self.pick(*BINARY.items())
        return Expr(f"{name}({x.text}, {y.text})", lambda env: g(x.run(env), y.run(env)))

    def reduced(self, kind: str, scope: Env, depth: int) -> Expr:
        x = self.make(self.pick("v", "m"), scope, depth)
        name, f = self.pick(*REDUCTIONS.items())
        return Expr(f"{name}({x.text})", lambda env: f(x.run(env)))

    def element(self, kind: str, scope: Env, depth: int) -> Expr:
        x, i = self.make("v", scope, depth), self.position(scope, depth)
        return Expr(f"{x.text}[{i.text}]", lambda env: x.run(env)[i.run(env)])

    def row(self, kind: str, scope: Env, depth: int) -> Expr:
        x, i = self.make("m", scope, depth), self.position(scope, depth)
        return Expr(f"{x.text}[{i.text} % 2]", lambda env: x.run(env)[i.run(env) % 2])

    def column_sums(self, kind: str, scope: Env, depth: int) -> Expr:
        x = self.make("m", scope, depth)
        name, f = self.pick(*REDUCTIONS.items())
        return Expr(f"{name}({x.text}, 0)", lambda env: f(x.run(env), 0))

    def product(self, kind: str, scope: Env, depth: int) -> Expr:
        x, m = self.make("v", scope, depth), self.make("m", scope, depth)

        def run(env: Env) -> Any:
            found = m.run(env)
            return tf.linalg.matvec(found, tf.linalg.matvec(found, x.run(env)), transpose_a=True)

        return Expr(f"MtM({m.text}, {x.text})", run)

    def reordered(self, kind: str, scope: Env, depth: int) -> Expr:
        x, i = self.make("v", scope, depth), self.position(scope, depth)
        return self.pick(
            Expr(f"{x.text}[::-1]", lambda env: x.run(env)[::-1]),
            Expr(f"roll({x.text}, {i.text})", lambda env: tf.roll(x.run(env), i.run(env), 0)),
            Expr(
                f"gather({x.text}, [{i.text}, 0, {i.text}])",
                lambda env: tf.gather(x.run(env), tf.stack([i.run(env), 0, i.run(env)])),
            ),
            Expr(f"sort({x.text})", lambda env: tf.sort(x.run(env))),
        )

    def part(self, kind: str, scope: Env, depth: int) -> Expr:
        x, i = self.make("v", scope, depth), self.position(scope, depth)

        def run(env: Env) -> Any:
            found = x.run(env)
            two = tf.slice(found, [i.run(env) % 2], [2])
            return tf.concat([two, found[:1]], 0)

        return Expr(f"part({x.text}, {i.text})", run)

    def put(self, kind: str, scope: Env, depth: int) -> Expr:
        x, s = self.make("v", scope, depth), self.make("s", scope, depth)
        i = self.position(scope, depth)

        def run(env: Env) -> Any:
            return tf.tensor_scatter_nd_add(x.run(env), [[i.run(env)]], [s.run(env)])

        return Expr(f"put({x.text}, {i.text}, {s.text})", run)

    def spread(self, kind: str, scope: Env, depth: int) -> Expr:
        s, x = self.make("s", scope, depth), self.make("v", scope, depth)
        return Expr(f"({s.text} * {x.text})", lambda env: s.run(env) * x.run(env))

    def matmul(self, kind: str, scope: Env, depth: int) -> Expr:
        x = self.make("m", scope, depth)
        weights = np.round(self.rng.normal(size=(3, 3)) * 0.5, 2)
        return Expr(f"({x.text} @ W)", lambda env: tf.matmul(x.run(env), tf.constant(weights)))

    def stacked(self, kind: str, scope: Env, depth: int) -> Expr:
        x, y = self.make("v", scope, depth), self.make("v", scope, depth)
        return Expr(f"stack({x.text}, {y.text})", lambda env: tf.stack([x.run(env), y.run(env)]))

    def position(self, scope: Env, depth: int) -> Expr:
        counters = [n for n, k in scope.items() if k == "i"]
        if counters and self.rng.random() < 0.6:
            name = self.pick(*counters)
            return Expr(f"{name} % 3", lambda env: env[name] % 3)
        if self.rng.random() < 0.5:
            k = int(self.rng.integers(3))
            return Expr(str(k), lambda env: tf.constant(k))
        x = self.make("s", scope, min(depth, 1))
        return Expr(f"int({x.text})", lambda env: tf.cast(tf.abs(x.run(env)) * 7.0, tf.int32) % 3)

    # Control flow.

    def test(self, scope: Env) -> Expr:
        x, limit = self.make("s", scope, 1), self.number()
        return Expr(f"{x.text} > {limit}", lambda env: x.run(env) > limit)

    def cond(self, kind: str, scope: Env, depth: int) -> Expr:
        p, a, b = self.test(scope), self.make(kind, scope, depth), self.make(kind, scope, depth)
        return Expr(
            f"cond({p.text}, {a.text}, {b.text})",
            lambda env: tf.cond(p.run(env), lambda: a.run(env), lambda: b.run(env)),
        )

    def switch(self, kind: str, scope: Env, depth: int) -> Expr:
        i = self.position(scope, depth)
        parts = [self.make(kind, scope, depth) for _ in range(3)]
        return Expr(
            f"switch({i.text}, {', '.join(p.text for p in parts)})",
            lambda env: tf.switch_case(i.run(env), [lambda p=p: p.run(env) for p in parts]),
        )

    def loop(self, kind: str, scope: Env, depth: int) -> Expr:
        count, state = self.fresh(), self.fresh()
        inner = {**scope, count: "i", state: kind}
        start, step = self.make(kind, scope, depth), self.make(kind, inner, depth)
        how = self.pick("known", "unknown", "break")
        limit = int(self.rng.integers(0, 4))
        stop = self.make("s", inner, 1)
        bound = self.position(scope, 1)

        def run(env: Env) -> Any:
            most = bound.run(env) + 1 if how == "unknown" else tf.constant(limit)

            def going(i: Any, s: Any) -> Any:
                if how != "break":
                    return i < most
                inside = {**env, count: i, state: s}
                return tf.logical_and(i < 4, stop.run(inside) < 0.5)

            def turn(i: Any, s: Any) -> Any:
                return i + 1, tf.tanh(step.run({**env, count: i, state: s}))

            return tf.while_loop(going, turn, (tf.constant(0), start.run(env)))[1]

        text = f"{how} {limit if how == 'known' else bound.text if how == 'unknown' else stop.text}"
        return Expr(f"while[{count}, {state}]({text}, {start.text}, {step.text})", run)

    def fold(self, kind: str, scope: Env, depth: int) -> Expr:
        state, row = self.fresh(), self.fresh()
        rows, start = self.make("m", scope, depth), self.make("v", scope, depth)
        step = self.make("v", {**scope, state: "v", row: "v"}, depth)
        fold, name = self.pick((tf.foldl, "foldl"), (tf.foldr, "foldr"))

        def run(env: Env) -> Any:
            f = lambda s, r: tf.tanh(step.run({**env, state: s, row: r}))
            return fold(f, rows.run(env), initializer=start.run(env))

        return Expr(f"{name}[{state}, {row}]({rows.text}, {start.text}, {step.text})", run)

    def scan(self, kind: str, scope: Env, depth: int) -> Expr:
        state, row = self.fresh(), self.fresh()
        rows, start = self.make("m", scope, depth), self.make("v", scope, depth)
        step = self.make("v", {**scope, state: "v", row: "v"}, depth)
        options = self.pick({}, {"reverse": True}, {"begin": True})

        def run(env: Env) -> Any:
            f = lambda s, r: tf.tanh(step.run({**env, state: s, row: r}))
            if "begin" in options:
                return tf.scan(f, rows.run(env))
            return tf.scan(f, rows.run(env), initializer=start.run(env), **options)

        return Expr(f"scan[{state}, {row}]({rows.text}, {start.text}, {step.text}, {options})", run)

    def map_rows(self, kind: str, scope: Env, depth: int) -> Expr:
        row = self.fresh()
        rows, step = self.make("m", scope, depth), self.make("v", {**scope, row: "v"}, depth)
        f = lambda env: lambda r: step.run({**env, row: r})
        return Expr(
            f"map[{row}]({rows.text}, {step.text})", lambda env: tf.map_fn(f(env), rows.run(env))
        )

    def nested_map(self, kind: str, scope: Env, depth: int) -> Expr:
        one, number = self.fresh(), self.fresh()
        x = self.make("v", scope, depth)
        step = self.make("s", {**scope, one: "s", number: "i"}, depth)

        def run(env: Env) -> Any:
            f = lambda p: step.run({**env, one: p[0], number: p[1]})
            return tf.map_fn(f, (x.run(env), tf.range(3)), fn_output_signature=tf.float64)

        return Expr(f"map[{one}, {number}]({x.text}, {step.text})", run)

    def array(self, kind: str, scope: Env, depth: int) -> Expr:
        """Rows written from those before, then read in another order."""
        count, last = self.fresh(), self.fresh()
        start = self.make("v", scope, depth)
        step = self.make("v", {**scope, count: "i", last: "v"}, depth)
        i = self.position(scope, 1)

        def run(env: Env) -> Any:
            rows = tf.TensorArray(tf.float64, 4, clear_after_read=False, element_shape=[3])
            rows = rows.write(0, start.run(env))

            def turn(k: Any, rows: Any) -> Any:
                old = rows.read(k - 1)
                return k + 1, rows.write(k, tf.tanh(step.run({**env, count: k, last: old})))

            _, rows = tf.while_loop(lambda k, _: k < 4, turn, (tf.constant(1), rows))
            return rows.read(i.run(env)) + tf.reduce_sum(rows.stack(), 0)

        return Expr(f"array[{count}, {last}]({start.text}, {step.text}, {i.text})", run)

    def changing(self, kind: str, scope: Env, depth: int) -> Expr:
        """An array written in a branch, at a place that depends on data."""
        p, i = self.test(scope), self.position(scope, 1)
        a, b = self.make("s", scope, depth), self.make("s", scope, depth)

        def run(env: Env) -> Any:
            rows = tf.TensorArray(tf.float64, 3, clear_after_read=False)
            rows = rows.unstack(tf.stack([a.run(env), b.run(env), a.run(env)]))
            change = lambda: rows.write(i.run(env), b.run(env)).stack()
            return tf.cond(p.run(env), change, rows.stack)

        return Expr(f"written({p.text}, {i.text}, {a.text}, {b.text})", run)

    def counting(self, kind: str, scope: Env, depth: int) -> Expr:
        """A loop with numbers, a flag and a dict in its state, which decide what it does."""
        count, state = self.fresh(), self.fresh()
        start = self.make(kind, scope, depth)
        step = self.make(kind, {**scope, count: "i", state: kind}, depth)

        def run(env: Env) -> Any:
            def turn(i: Any, flag: Any, rest: Any) -> Any:
                s = step.run({**env, count: i, state: rest["s"]})
                new = tf.where(flag, tf.tanh(s), rest["s"] * 0.5)
                more = tf.logical_and(i % 2 == 0, tf.reduce_sum(new) < 1.0)
                return i + 1, more, {"s": new, "n": rest["n"] * 2 + i}

            first = {"s": start.run(env), "n": tf.constant(1)}
            going = lambda i, flag, rest: rest["n"] < 12
            found = tf.while_loop(going, turn, (tf.constant(0), tf.constant(True), first))
            return found[2]["s"] * tf.cast(found[2]["n"], tf.float64) * 0.1

        return Expr(f"counting[{count}, {state}]({start.text}, {step.text})", run)

    def growing(self, kind: str, scope: Env, depth: int) -> Expr:
        """A vector that becomes longer in each turn."""
        count, last = self.fresh(), self.fresh()
        start = self.make("v", scope, depth)
        step = self.make("s", {**scope, count: "i", last: "s"}, depth)
        bound = self.position(scope, 1)

        def run(env: Env) -> Any:
            def turn(i: Any, s: Any) -> Any:
                new = step.run({**env, count: i, last: s[-1]})
                return i + 1, tf.concat([s * 0.9, tf.tanh(new)[None]], 0)

            shapes = (tf.TensorShape([]), tf.TensorShape([None]))
            begin = (tf.constant(0), start.run(env))
            most = bound.run(env) + 1
            s = tf.while_loop(lambda i, s: i < most, turn, begin, shape_invariants=shapes)[1]
            return s[:3] + tf.reduce_sum(s * s)

        return Expr(f"growing[{count}, {last}]({start.text}, {step.text}, {bound.text})", run)

    def appending(self, kind: str, scope: Env, depth: int) -> Expr:
        """An array that grows, with elements of several lengths."""
        count = self.fresh()
        x = self.make("v", {**scope, count: "i"}, depth)
        bound = self.position(scope, 1)

        def run(env: Env) -> Any:
            rows = tf.TensorArray(
                tf.float64, 0, dynamic_size=True, infer_shape=False, clear_after_read=False
            )

            def turn(i: Any, rows: Any) -> Any:
                return i + 1, rows.write(i, x.run({**env, count: i})[: 1 + i % 3])

            most = bound.run(env) + 2
            _, rows = tf.while_loop(lambda i, _: i < most, turn, (tf.constant(0), rows))
            joined = rows.concat()
            return joined[:3] * tf.reduce_sum(rows.read(1)) + tf.reduce_sum(joined)

        return Expr(f"appending[{count}]({x.text}, {bound.text})", run)

    def python(self, kind: str, scope: Env, depth: int) -> Expr:
        x = self.make("v", scope, depth)

        def run(env: Env) -> Any:
            found = tf.py_function(lambda y: tf.sin(y) * y, [x.run(env)], tf.float64)
            return tf.ensure_shape(found, [3])

        return Expr(f"python({x.text})", run)

    def assigning(self, kind: str, scope: Env, depth: int) -> Expr:
        """A variable changed in a branch, and read after it."""
        k = int(self.rng.integers(len(self.variables)))
        p, x = self.test(scope), self.make("v", scope, depth)

        def run(env: Env) -> Any:
            v = self.variables[k]
            new = lambda: v.assign(tf.tanh(v * 0.5 + x.run(env))) * 1.0
            found = tf.cond(p.run(env), new, lambda: v * 2.0)
            return found + v

        return Expr(f"assign(var{k}, {p.text}, {x.text})", run)

    def call(self, kind: str, scope: Env, depth: int) -> Expr:
        a, b = self.fresh(), self.fresh()
        x, y = self.make(kind, scope, depth), self.make("s", scope, depth)
        body = self.make(kind, {a: kind, b: "s"}, depth)
        f = tf.function(lambda p, q: body.run({a: p, b: q}), autograph=False)
        return Expr(
            f"call[{a}, {b}]({body.text})({x.text}, {y.text})",
            lambda env: f(x.run(env), y.run(env)),
        )

    def marked(self, kind: str, scope: Env, depth: int) -> Expr:
        x = self.make(kind, scope, depth)
        name, f = self.pick(*MARKS.items())
        return Expr(f"{name}({x.text})", lambda env: f(x.run(env)))


@tf.custom_gradient
def halved(x: Any) -> Any:
    y = tf.sin(x)
    return y * x, lambda g: g * (y + x * tf.cos(x)) * 0.5


MARKS: dict[str, Callable[..., Any]] = {
    "custom": halved,
    "recompute": tf.recompute_grad(lambda x: tf.sin(x) * x),
    "stop": lambda x: tf.stop_gradient(x) * 0.5 + x,
}
UNARY: dict[str, Callable[..., Any]] = {
    "sin": tf.sin,
    "tanh": tf.tanh,
    "bell": lambda x: tf.exp(-x * x),
    "norm": lambda x: tf.sqrt(1.0 + x * x),
    "abs": tf.abs,
    "relu": tf.nn.relu,
    "half": lambda x: x * 0.5,
    "step": lambda x: tf.where(x > 0.1, x * x, x * 3.0),
    "clip": lambda x: tf.clip_by_value(x, -0.5, 0.5),
    "softplus": tf.nn.softplus,
}
BINARY: dict[str, Callable[..., Any]] = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / (1.0 + y * y),
    "max": tf.maximum,
    "min": tf.minimum,
}
REDUCTIONS: dict[str, Callable[..., Any]] = {
    "sum": tf.reduce_sum,
    "mean": tf.reduce_mean,
    "max": tf.reduce_max,
    "logsumexp": tf.reduce_logsumexp,
    "prod": tf.reduce_prod,
}

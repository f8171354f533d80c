"""Constructs that are calls: functional control flow, tapes, rules, variables, composites, errors."""

from __future__ import annotations

from tools.fuzz.generator import Generator, construct


@construct()
def cond(g: Generator, depth: int) -> None:
    kind = g.pick("s", "v", "m")
    g.let(kind, f"tf.cond({g.test()}, lambda: {g.expr(kind)}, lambda: {g.expr(kind)})")


@construct()
def switch_case(g: Generator, depth: int) -> None:
    kind = g.pick("s", "v", "m")
    branches = ", ".join(f"lambda: {g.expr(kind, 1)}" for _ in range(3))
    g.let(kind, f"tf.switch_case({g.expr('i3', 1)}, [{branches}])")


@construct()
def case(g: Generator, depth: int) -> None:
    tests = ", ".join(f"({g.test()}, lambda: {g.expr('v', 1)})" for _ in range(2))
    g.let("v", f"tf.case([{tests}], default=lambda: {g.expr('v', 1)})")


@construct()
def while_loop(g: Generator, depth: int) -> None:
    kind, start, limit = g.pick("s", "v", "m"), g.fresh("w"), g.expr("i", 1)
    g.write(f"{start} = {g.expr(kind)}")
    body, turn, state = g.fresh("h"), g.fresh("i"), g.fresh("z")
    with g.block(f"def {body}({turn}, {state}):", **{turn: "i", state: kind}):
        g.statements(depth, 1)
        g.write(f"return {turn} + 1, tf.tanh({g.expr(kind)})")
    extra = f" and tf.reduce_sum({state}) < 1.93" if g.chance(0.3) else ""
    test = f"lambda {turn}, {state}: {turn} < {limit}{extra}"
    most = ", maximum_iterations=2" if g.chance(0.2) else ""
    g.let(kind, f"tf.while_loop({test}, {body}, (tf.constant(0), {start}){most})[1]")


@construct()
def growing_loop(g: Generator, depth: int) -> None:
    """A state that becomes longer in each turn."""
    g.needs.add("sizes")
    limit, i, z = g.expr("i", 1), g.fresh("i"), g.fresh("z")
    g.scope[i], g.scope[z] = "i", "r"
    body = f"lambda {i}, {z}: ({i} + 1, tf.concat([{z}, tf.tanh({g.expr('v')})[None]], 0))"
    del g.scope[i], g.scope[z]
    shapes = "shape_invariants=(tf.TensorShape([]), tf.TensorShape([None, None]))"
    g.let("r", f"tf.while_loop(lambda {i}, {z}: {i} < {limit}, {body}, "
          f"(tf.constant(0), {g.expr('r', 1)}), {shapes})[1]")  # fmt: skip


def _each(g: Generator, depth: int, call: str, kind: str, names: dict[str, str], made: str) -> None:
    """`call` of a function of `names` that gives `made`; the result is of `kind`."""
    body = g.fresh("h")
    with g.block(f"def {body}({', '.join(names)}):", **names):
        g.statements(depth, 1)
        g.write(f"return tf.tanh({g.expr(made)})")
    g.let(kind, call.format(body))


@construct()
def map_fn(g: Generator, depth: int) -> None:
    rows, kind = g.pick((g.expr("r", 1), "r"), (g.expr("m", 1), "m"))
    _each(g, depth, f"tf.map_fn({{}}, {rows})", kind, {g.fresh("p"): "v"}, "v")


@construct()
def map_two(g: Generator, depth: int) -> None:
    elements = f"({g.expr('v', 1)}, tf.range(3))"
    one, two = g.fresh("p"), g.fresh("p")
    g.let("v", f"tf.map_fn(lambda z: z[0] * tf.cast(z[1], F), {elements}, fn_output_signature=F)")
    call = f"tf.map_fn(lambda z: {{}}(z[0], z[1]), {elements}, fn_output_signature=F)"
    _each(g, depth, call, "v", {one: "s", two: "i"}, "s")


@construct()
def vectorized_map(g: Generator, depth: int) -> None:
    p = g.fresh("p")
    g.scope[p] = "v"
    made = g.pick("s", "v")
    text = f"tf.vectorized_map(lambda {p}: {g.expr(made, 2)}, {g.expr('m', 1)})"
    del g.scope[p]
    g.let("m", text if made == "v" else f"({text}[:, None] * tf.ones([2, 3], F))")


@construct()
def scan(g: Generator, depth: int) -> None:
    rows, kind = g.pick((g.expr("r", 1), "r"), (g.expr("m", 1), "m"))
    options = g.pick("", ", reverse=True")
    call = f"tf.scan({{}}, {rows}, initializer={g.expr('v', 1)}{options})"
    _each(g, depth, call, kind, {g.fresh("p"): "v", g.fresh("p"): "v"}, "v")


@construct()
def fold(g: Generator, depth: int) -> None:
    call = f"tf.{g.pick('foldl', 'foldr')}({{}}, {g.expr('r', 1)}, initializer={g.expr('v', 1)})"
    _each(g, depth, call, "v", {g.fresh("p"): "v", g.fresh("p"): "v"}, "v")


@construct()
def nested_function(g: Generator, depth: int) -> None:
    """A function in the function, with or without a signature, called with one or two sizes."""
    name, p, q = g.fresh("h"), g.fresh("p"), g.fresh("p")
    spec = g.pick(
        "tf.TensorSpec([None, 3], F)", "tf.TensorSpec([None, 3], F)", "tf.TensorSpec(None, F)"
    )
    g.write(g.pick("@tf.function", f"@tf.function(input_signature=[{spec}, tf.TensorSpec([], F)])",
                   "@tf.function(reduce_retracing=True)", "@tf.function(autograph=False)"))  # fmt: skip
    converted = "False" not in g.lines[-1]
    kind = g.pick("v", "r")
    with g.block(f"def {name}({p}, {q}):", **{p: "r", q: "s"}):
        if converted:
            g.statements(depth, 1)
        g.write(f"return {g.expr(kind)}")
    g.let(kind, f"{name}({g.expr('r', 1)}, {g.expr('s', 1)})")
    if g.chance(0.5):
        g.let(kind, f"{name}({g.expr('r', 1)}, {g.expr('s', 1)})")


@construct()
def custom_gradient(g: Generator, depth: int) -> None:
    name, kind = g.fresh("h"), g.pick("v", "m")
    g.write("@tf.custom_gradient")
    with g.block(f"def {name}(p):"):
        g.write("y = tf.sin(p)")
        g.write("return y * p, lambda dy: dy * (y + p * tf.cos(p)) * 0.5")
    g.let(kind, f"{name}({g.expr(kind)})")


@construct()
def recompute_grad(g: Generator, depth: int) -> None:
    kind, p = g.pick("v", "m"), g.fresh("p")
    x = g.expr(kind)
    outer, g.scope = g.scope, {p: kind}
    text = (
        f"tf.recompute_grad(lambda {p}: tf.sin({p}) * {g.expr(kind).replace('(a * 1.0)', p)})({x})"
    )
    g.scope = outer
    if "reduce_sum(a)" in text or " b" in text or "(a" in text or "(b" in text:
        text = f"tf.recompute_grad(lambda {p}: tf.sin({p}) * {p})({x})"
    g.let(kind, text)


@construct()
def tape(g: Generator, depth: int) -> None:
    """A tape in the program, perhaps persistent or with another one inside."""
    t, kind = g.fresh("tape"), g.pick("s", "v", "m")
    x = g.let(kind)
    persistent = g.chance(0.4)
    with g.block(f"with tf.GradientTape({'persistent=True' if persistent else ''}) as {t}:"):
        g.write(f"{t}.watch({x})")
        if g.chance(0.5):
            g.statements(depth, 1)
        y = g.fresh("y")
        g.write(f"{y} = tf.reduce_sum({x} * {g.expr(kind)})")
    zero = "unconnected_gradients='zero'"
    g.let(kind, f"{t}.gradient({y}, {x}, {zero})")
    if persistent:
        g.let("v", f"tf.convert_to_tensor({t}.gradient({y}, a, {zero}))")


@construct()
def nested_tapes(g: Generator, depth: int) -> None:
    outer, inner, kind = g.fresh("tape"), g.fresh("tape"), g.pick("s", "v")
    x = g.let(kind)
    with g.block(f"with tf.GradientTape() as {outer}:"):
        g.write(f"{outer}.watch({x})")
        with g.block(f"with tf.GradientTape() as {inner}:"):
            g.write(f"{inner}.watch({x})")
            g.write(f"y = tf.reduce_sum({x} * {g.expr(kind)})")
        g.write(f"d = {inner}.gradient(y, {x})")
        g.write("e = tf.reduce_sum(tf.sin(d))")
    g.let(kind, f"{outer}.gradient(e, {x}, unconnected_gradients='zero')")


@construct()
def jacobian(g: Generator, depth: int) -> None:
    t = g.fresh("tape")
    x = g.let("v")
    with g.block(f"with tf.GradientTape(persistent=True) as {t}:"):
        g.write(f"{t}.watch({x})")
        y = g.fresh("y")
        g.write(f"{y} = {x} * {g.expr('v')}")
    pfor = g.pick("", ", experimental_use_pfor=False")
    g.let("r", f"{t}.jacobian({y}, {x}, unconnected_gradients='zero'{pfor})")


@construct()
def forward(g: Generator, depth: int) -> None:
    x, acc, y = g.let("v"), g.fresh("acc"), g.fresh("y")
    direction = f"tf.constant([{g.number()}, 1.0, {g.number()}], F)"
    with g.block(f"with tf.autodiff.ForwardAccumulator({x}, {direction}) as {acc}:"):
        g.write(f"{y} = {x} * {g.expr('v', 1)}")
    g.let("v", f"{acc}.jvp({y}, unconnected_gradients='zero')")


@construct()
def assign(g: Generator, depth: int) -> None:
    v, x = g.pick("a", "b"), f"tf.tanh({g.expr('v')})"
    how = g.pick("{v}.assign({x})", "{v}.assign_add({x})", "{v}.assign_sub({x} * 0.5)")
    g.write(how.format(v=v, x=x))
    if g.chance(0.4):
        g.let("v", f"{v} * 1.0")


@construct()
def scatter(g: Generator, depth: int) -> None:
    """Parts of a variable written, added, multiplied; perhaps a place named twice."""
    v, i, k = g.pick("a", "b"), g.expr("i3", 1), g.expr("i3", 1)
    value, other = (f"tf.tanh({g.expr('s', 1)})" for _ in range(2))
    rows = f"tf.IndexedSlices(tf.stack([{value}, {other}]), tf.stack([{i}, {k}]))"
    by = f"tf.IndexedSlices(tf.stack([1.5 + {value}, 1.5 + {other}]), tf.stack([{i}, {k}]))"
    method = g.pick("add", "sub", "max", "min", "update", "mul", "div")
    g.write(g.pick(
        f"{v}.scatter_{method}({by if method in ('mul', 'div') else rows})",
        f"{v}.scatter_nd_{g.pick('add', 'sub', 'max', 'min', 'update')}([[{i}], [{k}]], [{value}, {other}])",
        f"{v}[1:].assign(tf.tanh({g.expr('v', 1)})[1:])", f"{v}[:{i}].assign(tf.tanh({g.expr('v', 1)})[:{i}])",
        f"{v}[::2].assign_{g.pick('add', 'sub')}(tf.tanh({g.expr('v', 1)})[1:])",
        f"{v}.batch_scatter_update(tf.IndexedSlices(tf.stack([{value}]), tf.constant([1])))",
    ))  # fmt: skip


@construct()
def ragged(g: Generator, depth: int) -> None:
    made = g.pick(
        f"tf.RaggedTensor.from_row_lengths({g.expr('v')}, [1, 0, 2])",
        f"tf.RaggedTensor.from_value_rowids({g.expr('v')}, [0, 0, 2], nrows=3)",
    )
    how = g.pick("tf.reduce_sum({}, axis=1)", "tf.reduce_sum({} * 2.0, axis=1)",
                 "tf.cast({}.row_lengths(), F)", "{}.to_tensor(0.5, shape=[3, 3])[:, 0]",
                 "tf.sin({}).flat_values")  # fmt: skip
    g.let("v", how.format(made))


@construct()
def strings(g: Generator, depth: int) -> None:
    g.needs.add("strings")
    text = f"tf.strings.as_string(tf.cast({g.expr('v', 1)} * 9.0, tf.int32))"
    g.let("v", g.pick(
        f"tf.cast(tf.strings.length({text}), F)", f"tf.strings.to_number({text}, F)",
        f"tf.cast(tf.strings.length(tf.strings.join([{text}, {text}], '-')), F)",
        f"tf.cast(tf.strings.substr({text}, 0, 1) == '-', F)",
        f"tf.cast(tf.strings.split({text}, '1').row_lengths(), F)",
    ))  # fmt: skip


@construct()
def sparse(g: Generator, depth: int) -> None:
    made = f"tf.sparse.from_dense({g.expr('m', 1)})"
    g.needs.add("sizes")
    g.let("v", f"tf.sparse.reduce_sum({made}, 0)" if g.chance(0.5) else
          f"tf.reduce_sum(tf.sparse.to_dense({made}), 0)")  # fmt: skip


@construct()
def py_function(g: Generator, depth: int) -> None:
    g.needs.add("python")
    g.let("v", f"tf.ensure_shape(tf.py_function(lambda q: tf.sin(q) * q, [{g.expr('v')}], F), [3])")


@construct()
def mistake(g: Generator, depth: int) -> None:
    """A statement that may fail, at a place that depends on data."""
    if g.chance(0.75):
        g.let("v")
        return
    g.needs.add("errors")
    r, i = g.expr("r", 1), g.expr("i", 1)
    x = g.let("s", g.pick(
        f"tf.reduce_sum({r} + {g.expr('r', 1)})", f"tf.cast(tf.reduce_all({r} == {r}[1:]), F)",
        f"tf.reduce_sum(tf.gather({g.expr('v', 1)}, {i}))", f"{g.expr('v', 1)}[{i}]",
        f"tf.reduce_sum(tf.reshape({r}, [{i}, 3]))", f"tf.reduce_sum(tf.ensure_shape({r}, [2, 3]))",
        f"tf.reduce_sum(tf.matmul({r}, {r}))", f"tf.cast(12 // ({i} - 1), F)",
        f"tf.reduce_sum(tf.concat([{r}, {g.expr('m', 1)}], 1))",
        f"tf.reduce_sum(tf.stack([{r}, {r}[1:]]))", f"tf.squeeze({r}[:{i}, 0], 0)",
    ))  # fmt: skip
    g.write(f"b.assign_add({x} * tf.zeros([3], F))")  # what nobody needs is not computed


@construct()
def assertion(g: Generator, depth: int) -> None:
    if g.chance(0.3):
        g.needs.add("errors")
        g.write(
            g.pick(
                f"assert {g.test()}",
                f"tf.debugging.assert_less({g.expr('s', 1)}, tf.constant(0.5, F))",
            )
        )
    else:
        g.write("tf.debugging.assert_less(n, 9)")

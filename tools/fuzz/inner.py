"""Constructs with functions inside, and two ways to one value, which have to agree."""

from __future__ import annotations

from tools.fuzz.expressions import fill
from tools.fuzz.generator import Generator, construct

ZERO = "unconnected_gradients='zero'"


@construct()
def gradients_inside(g: Generator, depth: int) -> None:
    """`tf.gradients` in a function by an argument, a constant of the trace or any value, and a tape."""
    h, p, c, y, t = (g.fresh(k) for k in ("h", "p", "c", "y", "tape"))
    kind = g.pick("s", "v", "m")
    g.write("@tf.function")
    with g.block(f"def {h}({p}):", **{p: kind}):
        numbers = {"s": "{}", "v": "[{}, {}, {}]", "m": "[[{}, {}, {}], [{}, {}, {}]]"}[kind]
        constant = f"tf.constant({numbers.format(*(g.number() for _ in range(6)))}, F)"
        with g.block(f"with tf.GradientTape() as {t}:"):
            g.write(f"{c} = {g.pick(constant, constant, p, g.expr(kind, 1))}")
            g.write(f"{c} = tf.identity({c})" if g.chance(0.4) else f"{t}.watch({c})")
            g.write(f"{t}.watch({c})")
            g.scope[c] = kind
            g.scope |= {p: kind}
            text = f"{c} * {c}" if g.chance(0.2) else f"{c} * {g.expr(kind)}"
            g.write(f"{y} = tf.reduce_sum({text})")
        g.write(f"return agree(tf.gradients({y}, {c}, {ZERO})[0], {t}.gradient({y}, {c}, {ZERO}))")
    g.let(kind, f"{h}({g.expr(kind, 1)})")


@construct()
def last_turn(g: Generator, depth: int) -> None:
    """The loop's own variable after the loop, of perhaps no turn."""
    h, p, i = g.fresh("h"), g.fresh("p"), g.fresh("i")
    known = g.chance(0.4)
    g.write("@tf.function")
    with g.block(f"def {h}({p}):", **{p: "i"}):
        if known:
            g.write(f"{i} = tf.constant(7)")
        with g.block(f"for {i} in tf.range({p}):", **{i: "i"}):
            g.let("v")
        g.write(f"return {i}")
    k = g.fresh("k")
    g.write(f"{k} = {g.pick(g.expr('i', 1), 'n - 1', '0 * n', 'n - n')}")
    last = f"tf.where({k} > 0, {k} - 1, 7)" if known else f"tf.maximum({k} - 1, 0)"
    g.let("s", f"tf.cast(agree({h}({k}), {last}), F)")


@construct()
def mapped(g: Generator, depth: int) -> None:
    """One function over rows, by `vectorized_map`, `map_fn` and a plain list."""
    f, p, made = g.fresh("h"), g.fresh("p"), g.pick("s", "v")
    with g.block(f"def {f}({p}):", **{p: "v"}):
        tiled = f"tf.reduce_sum(tf.tile({p}[None], [{g.pick('n', '2')}, 1]), 0)"
        body = (
            g.expr(made) if g.chance(0.7) else tiled if made == "v" else f"tf.reduce_sum({tiled})"
        )
        g.write(f"return tf.tanh({body})")
    one, other = g.pick(
        (f"tf.vectorized_map({f}, z)", f"tf.map_fn({f}, z)"),
        (f"tf.map_fn({f}, z)", f"tf.stack([{f}(z[0]), {f}(z[1])])"),
        (f"tf.vectorized_map({f}, z)", f"tf.stack([{f}(q) for q in tf.unstack(z)])"),
    )
    z = g.let("m")
    text = f"agree({one}, {other})".replace("(z", f"({z}").replace(" z", f" {z}")
    g.let("m", text if made == "v" else f"({text}[:, None] * tf.ones([2, 3], F))")


@construct()
def same_in_a_function(g: Generator, depth: int) -> None:
    """A helper called plainly and as a function, with one size or with open ones."""
    h, p, q = g.fresh("h"), g.fresh("p"), g.fresh("p")
    kind = g.pick("s", "v", "m", "r")
    with g.block(f"def {h}({p}, {q}):", **{p: "r", q: "v"}):
        g.statements(depth, 2)
        g.write(f"return {g.expr(kind)}")
    if any("assign" in line or "scatter_" in line for line in g.lines):
        g.let(kind, f"{h}({g.expr('r', 1)}, {g.expr('v', 1)})")
        return
    spec = "tf.TensorSpec([None, None], F), tf.TensorSpec([None], F)"
    options = g.pick("", f", input_signature=[{spec}]", ", reduce_retracing=True")
    given = f"{g.let('r')}, {g.let('v')}"
    close = "" if g.dtype == "float64" else ", 1e-2"
    g.needs.add("agreement")
    g.let(kind, f"agree(tf.function({h}{options})({given}), {h}({given}){close})")


@construct()
def arguments(g: Generator, depth: int) -> None:
    """Arguments and results that are nests: dicts, tuples, records, keywords, defaults."""
    h, p, q = g.fresh("h"), g.fresh("p"), g.fresh("q")
    if g.chance(0.7):
        g.write("@tf.function")
    v, s, m = g.expr("v", 1), g.expr("s", 1), g.expr("m", 1)
    given, read = g.pick(
        (f"Pair({v}, {s})", "{0}.x * {0}.y"), (f"{{'v': {v}, 's': [{s}]}}", "{0}['v'] * {0}['s'][0]"),
        (f"Record({v}, [1, 'note'])", "{0}.x * 2.0"), (f"({v}, ({s}, None))", "{0}[0] + {0}[1][0]"),
        (f"[{v}, {m}]", "{0}[0] * {0}[1][0]"), (f"Record({v}, {{'k': 2}})", "{0}.x * {0}.note['k']"),
    )  # fmt: skip
    with g.block(f"def {h}({p}, {q}=2.0, *rest, **more):"):
        read = read.format(p)
        extra = g.pick("", " + sum(rest)", " * more.get('k', 1.0)")
        result = g.pick("{}", "{{'r': {}}}", "Pair({}, 1)", "[{}, None]")
        g.write("return " + result.format(f"tf.tanh({read} * {q}{extra})"))
    more = g.pick(
        "",
        ", 3.0",
        f", q={g.expr('s', 1)}".replace("q=", f"{q}="),
        f", 1.5, {g.expr('s', 1)}",
        ", k=2.0",
    )
    z = g.fresh("z")
    g.write(f"{z} = {h}({given}{more})")
    g.let(
        "v",
        f"{z}"
        + {"{}": "", "{{'r': {}}}": "['r']", "Pair({}, 1)": ".x", "[{}, None]": "[0]"}[result],
    )
    if g.chance(0.5):
        g.let("s", f"kinds({z}, F)")


@construct()
def loop_structure(g: Generator, depth: int) -> None:
    """States of a functional loop that are nests, and what it returns."""
    state, names = g.pick(
        ("[{0}, {1}]", "p, q"), ("({0}, {1})", "p, q"), ("[{0}]", "p"), ("({0},)", "p"),
        ("[({0}, {1})]", "p"), ("[{{'k': {0}}}]", "p"), ("Pair({0}, {1})", "p, q"),
        ("[[{0}], {1}]", "p, q"),
    )  # fmt: skip
    h, p, q, w = (g.fresh(k) for k in ("h", "p", "p", "w"))
    same = "tf.nest.map_structure(lambda k: tf.tanh(k * 1.1), {})"
    body = ", ".join(same.format(name) for name in names.split(", "))
    body = f"[{body}]" if g.chance(0.5) else f"({body},)"
    if g.chance(0.8):
        g.write("@tf.function")
    else:  # eager code returns what the body does, in TensorFlow, too
        g.needs.add("tensorflow")
    with g.block(f"def {h}({p}, {q}):"):
        g.write(
            f"{w} = tf.while_loop(lambda {names}: True, lambda {names}: {body}, "
            f"{state.format(p, q)}, maximum_iterations={g.pick('2', 'n', '0')})"
        )
        g.write(f"return tf.nest.flatten({w})[0], kinds({w}, F)")
    w = g.fresh("w")
    g.write(f"{w} = {h}({g.expr('v', 1)}, {g.expr('s', 1)})")
    g.let("v", f"{w}[0]")
    g.let("s", f"{w}[1]")


NESTS = (
    "tf.split({m}, 2)", "tf.unstack({m})", "tf.nn.moments({m}, [0])", "tf.linalg.qr({m})", "tf.math.top_k({v}, 2)",
    "tf.unique(tf.round({v}))", "tf.linalg.slogdet({m} @ tf.transpose({m}))", "tf.meshgrid({v}, {v})",
    "tf.cond({s} > 0.0, lambda: [{v}, {s}], lambda: [{v}, {s}])", "tf.linalg.svd({m})",
    "tf.map_fn(lambda q: (q, [q]), {m}, fn_output_signature=(F, [F]))", "tf.nest.flatten(dict(b={s}, a={v}))",
    "tf.scan(lambda z, q: [z[0] + q, z[1] * 0.5], {m}, initializer=[{v}, {s}])", "tf.case([({s} > 0.0, lambda: [{v}])], default=lambda: [-x])",
    "tf.unique_with_counts(tf.round({v}))", "tf.nest.map_structure(tf.sin, Pair({v}, [{s}]))", "tf.sparse.from_dense({m})",
    "tf.dynamic_partition({v}, [0, 1, 0], 2)", "tf.RaggedTensor.from_row_lengths({v}, [1, 2])", "tf.shape({r})",
    "tf.switch_case({i3}, [lambda: ({v}, {s})] * 3)", "tf.math.reduce_variance({m}, 0)", "tf.linalg.lu({m} @ tf.transpose({m}) + tf.eye(2, dtype=F))",
    "tf.vectorized_map(lambda q: (q, dict(k=q[0])), {m})", "tf.histogram_fixed_width({v}, [-1.0, 1.0], 4)",
)  # fmt: skip


@construct()
def nests(g: Generator, depth: int) -> None:
    """What public functions return: the types of containers and the values in them."""
    g.needs |= {"sizes"}
    z, call = g.fresh("z"), g.pick(*NESTS)
    if "sparse" in call:
        g.needs.add("sparse")
    g.write(f"{z} = {fill(g, call, 1)}")
    g.let("s", f"kinds({z}, F)")
    if "svd" not in call and "qr" not in call:
        g.let("s", f"digest({z}, F)")


@construct()
def looked_up(g: Generator, depth: int) -> None:
    """Gradients of rows that were looked up: `IndexedSlices` or not, in functions or not."""
    h, t, z = g.fresh("h"), g.fresh("tape"), g.fresh("z")
    i = f"tf.stack([{g.expr('i3', 1)}, 0])"
    if g.chance(0.4):
        g.write("@tf.function")
    table, rows = g.pick(("a", "v"), ("b", "v"), ("p", "v"), ("p", "m"))
    if rows == "m":
        i += " % 2"
    call = g.pick("tf.gather({}, {})", "tf.nn.embedding_lookup({}, {})", "tf.gather(tf.convert_to_tensor({}), {})",
                  "tf.gather_nd({}, ({})[:, None])", "tf.gather({}, {}) + tf.gather(p, [0, 1])")  # fmt: skip
    y = f"tf.reduce_sum(tf.sin({call.format(table, i)}) * 2.0)"
    if g.chance(0.5):
        with g.block(f"def {h}(p):"):
            with g.block(f"with tf.GradientTape() as {t}:"):
                g.write(f"{t}.watch(p)")
                g.write(f"y = {y}")
            g.write(f"return {t}.gradient(y, {table})")
        g.write(f"{z} = {h}({g.expr(rows, 1)})")
    else:
        with g.block(f"def {h}(p):"):
            g.write(f"return {y}")
        p = g.let(rows)
        with g.block(f"with tf.GradientTape(persistent=True) as {t}:"):
            g.write(f"{t}.watch({p})")
            g.write(f"y, q = {h}({p}), tf.function({h})({p})")
        source = p if table == "p" else table
        g.write(f"{z} = {t}.gradient(y, {source})")
        g.let("s", f"agree(kinds({z}, F), kinds({t}.gradient(q, {source}), F))")
    g.let("s", f"kinds({z}, F)")
    g.let(rows, f"tf.convert_to_tensor({z})")


@construct()
def lazy_variable(g: Generator, depth: int) -> None:
    """A variable made by the first call of an inner function, and read by the next."""
    k, p = g.fresh("K"), g.fresh("p")
    with g.block(f"class {k}(tf.Module):"):
        with g.block("def __init__(self):"):
            g.write("super().__init__()")
            g.write("self.v = None")
        g.write("@tf.function")
        if g.chance(0.33):
            g.write("@tf.Module.with_name_scope")
        with g.block(f"def __call__(self, {p}):", **{p: "v"}):
            with g.block("if self.v is None:"):
                g.write(
                    f"self.v = tf.Variable([{g.number()}, {g.number()}, {g.number()}], dtype=F)"
                )
            g.write(f"return self.v * {g.expr('v', 1)}")
    z = g.fresh("z")
    g.write(f"{z} = {k}()")
    g.let("v", f"{z}({g.expr('v', 1)}) + {z}({g.expr('v', 1)})")


@construct()
def batch_jacobian(g: Generator, depth: int) -> None:
    """Jacobians by two ways: row by row of the batch, and in one."""
    t, x, y = g.fresh("tape"), g.let("m"), g.fresh("y")
    with g.block(f"with tf.GradientTape(persistent=True) as {t}:"):
        g.write(f"{t}.watch({x})")
        g.write(f"{y} = tf.tanh({x} * tf.reduce_sum({x}, 1, keepdims=True))")
    z = g.fresh("z")
    g.write(f"{z} = {t}.jacobian({y}, {x})")
    g.let(
        "m",
        f"tf.reduce_sum(agree({t}.batch_jacobian({y}, {x}), tf.stack([{z}[0, :, 0], {z}[1, :, 1]])), 2)",
    )


@construct()
def tape_options(g: Generator, depth: int) -> None:
    """Tapes that stop, reset, follow what they are told, or take a list and weights."""
    t, x = g.fresh("tape"), g.let("v")
    how = g.pick("stop", "reset", "told", "weights", "targets")
    options = {"told": "watch_accessed_variables=False", "targets": "persistent=True"}.get(how, "")
    y = g.fresh("y")
    with g.block(f"with tf.GradientTape({options}) as {t}:"):
        g.write(f"{t}.watch({x})")
        g.write(f"{y} = {x} * {g.expr('v', 1)} * a")
        if how == "stop":
            with g.block(f"with {t}.stop_recording():"):
                g.write(f"{y} = {y} + {x} * {g.expr('v', 1)}")
        if how == "reset":
            g.write(f"{t}.reset()")
            g.write(f"{t}.watch({x})")
            g.write(f"{y} = tf.sin({x}) * {g.expr('v', 1)}")
    target = f"[{y}, tf.sin({x})]" if how == "targets" else y
    weights = f", output_gradients={g.expr('v', 1)}" if how == "weights" else ""
    z = g.fresh("z")
    g.write(f"{z} = {t}.gradient({target}, {{'x': {x}, 'a': a}}{weights}, {ZERO})")
    g.let("v", f"{z}['x'] + {z}['a']")


@construct()
def rule_with_variables(g: Generator, depth: int) -> None:
    """A `custom_gradient` whose rule has control flow, options, or the gradient of a variable."""
    f, p = g.fresh("h"), g.fresh("p")
    g.write("@tf.custom_gradient")
    if g.chance(0.5):
        with g.block(f"def {f}({p}):"):
            with g.block("def rule(g, variables=None):"):
                g.write(
                    f"return g * a, [tf.reduce_sum(g * {p}) * tf.ones_like(v) for v in variables]"
                )
            g.write(f"return {p} * a, rule")
        # Not a name: a variable among the arguments is none of `variables` in eager code alone.
        g.let("v", f"{f}(tf.identity({g.expr('v', 1)}))")
        return
    with g.block(f"def {f}({p}, q):"):
        with g.block("def rule(g, h):"):
            with g.block(f"if tf.reduce_sum(g) > {g.number()}:"):
                g.write("g = g * 2.0")
            g.write(f"return g * tf.cos({p}) + h * q, h * {p} * 0.5")
        g.write(f"return (tf.sin({p}), {p} * q), rule")
    z = g.fresh("z")
    g.write(f"{z} = {f}({g.expr('v', 1)}, {g.expr('v', 1)})")
    g.let("v", g.pick(f"{z}[0]", f"{z}[1]", f"{z}[0] * {z}[1]"))


@construct()
def array_operations(g: Generator, depth: int) -> None:
    """A `TensorArray` filled, gathered and split by the operations that are no loops."""
    ta, i = g.fresh("ta"), g.expr("i3", 1)
    x = g.let("r")
    g.write(
        f"{ta} = tf.TensorArray(F, tf.shape({x})[0] + 1, element_shape=[3], clear_after_read=False)"
    )
    g.write(g.pick(
        f"{ta} = {ta}.unstack(tf.concat([{x}, {g.expr('v', 1)}[None]], 0))",
        f"{ta} = {ta}.scatter(tf.range(tf.shape({x})[0] + 1), tf.pad({x}, [[0, 1], [0, 0]]))",
        f"{ta} = {ta}.write(tf.shape({x})[0], {g.expr('v', 1)})",
    ))  # fmt: skip
    g.needs.add("sizes")
    g.let(
        "r",
        g.pick(
            f"{ta}.stack()",
            f"{ta}.gather([0])",
            f"{ta}.gather(tf.range(tf.shape({x})[0] + 1)[::-1])",
        ),
    )
    g.let("v", f"{ta}.read({i} * 0)")


@construct()
def third_order(g: Generator, depth: int) -> None:
    """Three tapes around a function whose gradient rule has a function with a rule of its own."""
    h, inner, p, q, x, y = (g.fresh(k) for k in ("h", "h", "p", "q", "t", "y"))
    kind = g.pick("s", "v")
    g.write("@tf.custom_gradient")
    with g.block(f"def {h}({p}):"):
        with g.block("def rule(g):"):
            g.write("@tf.custom_gradient")
            with g.block(f"def {inner}({q}):"):
                g.write(f"return tf.cos({q}), lambda e: -e * tf.sin({q})")
            g.write(f"return g * {inner}({p})")
        g.write(f"return tf.sin({p}), rule")
    g.write(f"{x} = {g.expr(kind)}")
    tapes = [g.fresh("tape") for _ in range(3)]
    for k, t in enumerate(tapes):
        g.write("    " * k + f"with tf.GradientTape() as {t}:")
        g.write("    " * (k + 1) + f"{t}.watch({x})")
    called = g.pick(f"{h}({x})", f"{h}({x} * {x})", f"tf.function({h})({x})")
    total = g.pick("tf.reduce_sum({})", "{}")
    g.write("    " * 3 + f"{y} = {total.format(f'{called} * {x}')}")
    for k in (2, 1):
        slope = f"{tapes[k]}.gradient({y}, {x}, unconnected_gradients='zero')"
        g.write("    " * k + f"{y} = {total.format(slope)}")
    g.scope[x] = kind
    g.let(kind, f"{tapes[0]}.gradient({y}, {x}, {ZERO})")


@construct()
def set_in_loop(g: Generator, depth: int) -> None:
    """An item or attribute that only a loop sets, which perhaps makes no turn."""
    d, i, limit = g.fresh("d"), g.fresh("i"), g.expr("i", 1)
    made, place = g.pick(("{}", "['k']"), ("{'k': 0.0 * x}", "['k']"), ("Record(None, 1)", ".x"))
    if "0.0" not in made:
        g.needs.add("errors")
        limit += g.pick("", " - 1", " - 1")
    g.write(f"{d} = {made}")
    with g.block(f"for {i} in tf.range({limit}):", **{i: "i"}):
        g.write(f"{d}{place} = tf.tanh({g.expr('v')})")
    v = g.let("v", f"{d}{place} * 1.0")
    g.write(f"b.assign_add({v} * 0.0)")


# NumPy's functions are operations in functions, and in eager code arrays that lead back to them.
NUMPY: dict[str, tuple[str, ...]] = {
    "s": (
        "np.sum({v})", "np.mean({m})", "np.max({v})", "np.sum(np.square({v}))", "np.prod({v})",
        "np.dot({v}, {v})", "np.sin({s})", "np.std({v})",
    ),
    "v": (
        "np.sin({v})", "np.exp(-np.square({v}))", "np.mean({m}, 0)", "np.sum({r}, axis=0)",
        "np.maximum({v}, {s})", "np.multiply({v}, {v}) + {v}", "np.tanh({v})[::-1]", "np.cumsum({v})",
        "np.concatenate([{v}[:1], {v}[1:]])", "np.sqrt(np.abs({v}) + 1.0)", "np.clip({v}, -0.5, 0.5)",
        "np.where({v} > 0.0, {v}, {s} * {v})", "np.tile({s}, 3)", "np.roll({v}, 1)", "np.stack([{v}, {v}])[0]",
        "np.tanh({m}).mean(0)", "np.sin({m})[1]", "np.transpose(np.sin({m}))[:, 1]", "2.0 * np.cos({v}) - {v}",
    ),
    "m": ("np.matmul({m}, W)", "np.sin({m}) * {m}", "np.stack([{v}, np.sin({v})])", "np.broadcast_to({v}, (2, 3))"),
}  # fmt: skip


@construct(ours_alone=True)
def numpy_function(g: Generator, depth: int) -> None:
    """NumPy's functions of tensors, whose results go back into operations."""
    g.needs.add("ours")
    kind = g.pick("s", "v", "v", "m")
    text = fill(g, g.pick(*NUMPY[kind]), 1)
    g.let(kind, f"tf.convert_to_tensor({text}, F)")


# Values of a number of rows that only the run knows, where one shape is wanted; `u` says no rank.
MISFITS = (
    "u.assign_add({c})", "u.assign_sub({c})", "u.assign_add({s})", "u.assign_sub([{s}])", "u.assign_add({v})",
    "a.assign({c})", "b.assign_add({c})", "a.assign_sub({c})", "a.scatter_nd_update([[0], [1]], {c})",
    "b.scatter_nd_add([[0], [2], [1]], {c})", "a.scatter_update(tf.IndexedSlices({c}, [0, 1, 0]))",
    "tf.tensor_scatter_nd_add({v}, [[0], [1]], {c})", "tf.tensor_scatter_nd_update({v}, [[0], [1], [2]], {c})",
    "tf.scatter_nd([[0], [1]], {c}, [4])", "tf.linalg.set_diag(tf.eye(3, dtype=F), {c})", "tf.linalg.matvec({m}, {c})",
    "tf.nn.softmax_cross_entropy_with_logits(labels={r}, logits={r}[1:])", "tf.where({r} > 0.0, {r}, {r}[1:])",
    "tf.TensorArray(F, 2, element_shape=[3]).write(0, {c}).write(1, {v}).stack()", "tf.boolean_mask({v}, {c} > 0.0)",
    "tf.map_fn(lambda q: {c}, {m}, fn_output_signature=tf.TensorSpec([3], F))", "tf.einsum('i,i->', {v}, {c})",
    "tf.RaggedTensor.from_row_lengths({c}, [1, 2])", "tf.math.segment_sum({v}, tf.zeros(tf.shape({r})[:1], tf.int32))",
    "tf.gather({m}, tf.zeros([tf.shape({r})[0], 1], tf.int32), batch_dims=1)", "tf.tensordot({v}, {c}, 1)",
    "tf.nn.bias_add({m}, {c})", "tf.reshape({c}, [3])", "tf.stack([{v}, {c}])", "tf.concat([{m}, {c}[None]], 0)",
    "tf.nn.sigmoid_cross_entropy_with_logits(labels={v}, logits={c})", "tf.cross({v}, {c})", "tf.add_n([{v}, {c}])",
    "tf.linalg.diag_part(tf.reshape({c}, [1, 3]))", "tf.vectorized_map(lambda q: q[0] + q[1], ({m}, {r}))",
    "tf.map_fn(lambda q: q[0] + q[1], ({m}, {r}), fn_output_signature=F)", "a[:2].assign({c})", "a[1:].assign_add({c})",
)  # fmt: skip


@construct()
def misfit(g: Generator, depth: int) -> None:
    """A shape that fits, or does not, by the number of rows that an argument turns out to have."""
    g.needs |= {"errors", "sizes"}
    text = g.pick(*MISFITS).replace("{c}", "{r}[:, 0]").replace("tf.cross", "tf.linalg.cross")
    x = g.let("s", f"digest({fill(g, text, 1)}, F)")
    g.write(f"b.assign_add({x} * tf.zeros([3], F))")  # what nobody needs is not computed

"""Constructs that are Python statements, which AutoGraph converts: branches, loops, lists, try."""

from __future__ import annotations

from tools.fuzz.generator import Generator, construct


@construct()
def if_(g: Generator, depth: int) -> None:
    kind = g.pick("s", "v", "m", "r")
    t = g.let(kind)
    heads = [f"if {g.test()}:", *([f"elif {g.test()}:"] if g.chance(0.3) else [])]
    for head in [*heads, *(["else:"] if g.chance(0.6) else [])]:
        with g.block(head):
            g.statements(depth, 1)
            g.write(f"{t} = {g.expr(kind)}")


def _leave(g: Generator) -> None:
    if g.chance(0.5):
        g.use("break" if (word := g.pick("break", "continue")) == "break" else "continue")
        with g.block(f"if {g.test()}:"):
            g.write(word)


def _turn(g: Generator, depth: int, t: str, kind: str) -> None:
    _leave(g)
    g.statements(depth, 1)
    g.write(f"{t} = tf.tanh({g.expr(kind)})")
    if g.chance(0.2):
        _leave(g)


@construct()
def while_(g: Generator, depth: int) -> None:
    kind = g.pick("s", "v", "m")
    t, i, limit = g.let(kind), g.fresh("i"), g.expr("i", 1)
    g.write(f"{i} = tf.constant(0)")
    extra = f" and tf.reduce_sum({t}) < 1.93" if g.chance(0.3) else ""
    with g.block(f"while {i} < {limit}{extra}:", **{i: "i"}):
        g.write(f"{i} += 1")
        _turn(g, depth, t, kind)
    if g.chance(0.3):
        g.let("s", f"tf.cast({i}, F)")


@construct()
def for_range(g: Generator, depth: int) -> None:
    kind = g.pick("s", "v", "m")
    t, i = g.let(kind), g.fresh("i")
    with g.block(f"for {i} in tf.range({g.pick(g.expr('i', 1), '2', '0')}):", **{i: "i"}):
        _turn(g, depth, t, kind)


@construct()
def for_rows(g: Generator, depth: int) -> None:
    kind = g.pick("s", "v", "m")
    t, p = g.let(kind), g.fresh("p")
    with g.block(f"for {p} in {g.expr(g.pick('r', 'm'), 1)}:", **{p: "v"}):
        _turn(g, depth, t, kind)


@construct()
def for_python(g: Generator, depth: int) -> None:
    kind = g.pick("s", "v", "m")
    t, k = g.let(kind), g.fresh("k")
    with g.block(f"for {k} in range({g.pick(1, 2)}):"):
        _turn(g, depth, t, kind)
        g.write(f"{t} = {t} * ({k} + 1)")


@construct()
def early_return(g: Generator, depth: int) -> None:
    """A helper with returns in branches and loops, called plainly or as a function."""
    h, p, q, i = g.fresh("h"), g.fresh("p"), g.fresh("p"), g.fresh("i")
    kind = g.pick("s", "v", "m")
    if g.chance(0.3):
        g.write("@tf.function")
    with g.block(f"def {h}({p}, {q}):", **{p: kind, q: "s"}):
        if g.chance(0.7):
            with g.block(f"if {g.test()}:"):
                g.statements(depth, 1)
                g.write(f"return {g.expr(kind)}")
        if g.chance(0.7):
            with g.block(f"for {i} in tf.range({g.expr('i', 1)}):", **{i: "i"}):
                with g.block(f"if {g.test()}:"):
                    g.write(f"return {g.expr(kind)}")
                g.write(f"{p} = tf.tanh({g.expr(kind)})")
        g.write(f"return {g.expr(kind)}")
    g.let(kind, f"{h}({g.expr(kind, 1)}, {g.expr('s', 1)})")


@construct()
def try_finally(g: Generator, depth: int) -> None:
    h, p = g.fresh("h"), g.fresh("p")
    with g.block(f"def {h}({p}):", **{p: "v"}):
        w = g.fresh("w")
        g.write(f"{w} = {g.expr('v', 1)}")
        with g.block("try:"):
            g.statements(depth, 1)
            if g.chance(0.6):
                with g.block(f"if {g.test()}:"):
                    g.write(f"return {g.expr('v', 1)}")
            g.write(g.pick(f"{w} = {g.expr('v')}", f"return {g.expr('v')}"))
        with g.block("finally:"):
            how = g.pick("assign", "set", "return", "return")
            if how == "assign":
                g.write(f"a.assign_add(tf.tanh({g.expr('v', 1)}))")
            else:
                with g.block(f"if {g.test()}:"):
                    text = g.expr("v", 1)
                    g.write(f"return {text}" if how == "return" else f"{w} = {text}")
        g.write(f"return {w}")
    g.let("v", f"{h}({g.expr('v', 1)})")


@construct()
def try_except(g: Generator, depth: int) -> None:
    t = g.let("v")
    with g.block("try:"):
        g.statements(depth, 1)
        if g.chance(0.5):
            g.write("raise KeyError('fuzz')")
        g.write(f"{t} = {g.expr('v')}")
    with g.block("except KeyError:"):
        g.write(f"{t} = {g.expr('v')}")
    with g.block(g.pick("else:", "finally:")):
        g.write(f"{t} = {t} * 2.0")


@construct(ours_alone=True)
def list_append(g: Generator, depth: int) -> None:
    """A list that grows in a loop, joined after it; sizes and means would show a padded one."""
    rows, i = g.fresh("rows"), g.fresh("i")
    g.write(f"{rows} = [{g.expr('v', 1) if g.chance(0.3) else ''}]")
    filled = g.lines[-1].strip() != f"{rows} = []"
    loop, names = g.pick(
        (f"for {i} in tf.range(tf.maximum({g.expr('i', 1)}, 1)):", {i: "i"}),
        (f"for {i} in tf.concat([{g.expr('r', 1)}, {g.expr('m', 1)}], 0):", {i: "v"}),
    )
    g.needs.add("lists")
    with g.block(loop, **names):
        if filled and g.chance(0.5):
            _leave(g)
        g.statements(depth, 1)
        g.write(f"{rows}.append(tf.tanh({g.expr('v')}))")
    g.let("r", f"tf.stack({rows})")
    g.let("v", g.pick(f"tf.reduce_mean(tf.stack({rows}), 0)", f"{rows}[0] + {rows}[-1]",
                      f"tf.concat({rows}, 0)[:3] * tf.cast(tf.shape(tf.stack({rows}))[0], F)",
                      f"tf.reduce_max(tf.stack({rows}), 0)"))  # fmt: skip


@construct()
def tensor_array(g: Generator, depth: int) -> None:
    ta, i, p = g.fresh("ta"), g.fresh("i"), g.fresh("p")
    size, dynamic = g.pick(("0", True), ("n", False), ("4", False), ("1", True))
    options = f"dynamic_size={dynamic}, element_shape=[3], clear_after_read=False"
    limit = g.expr("i", 1) if dynamic else "n"
    g.write(f"{ta} = tf.TensorArray(F, {size}, {options})")
    with g.block(f"for {i} in tf.range({limit}):", **{i: "i"}):
        if g.chance(0.4):
            g.write(f"{p} = {g.expr('v', 1)}")
            with g.block(f"if {i} > 0:"):
                g.write(f"{p} = {ta}.read({i} - 1)")
            g.scope[p] = "v"
        g.statements(depth, 1)
        g.write(f"{ta} = {ta}.write({i}, tf.tanh({g.expr('v')}))")
    g.let("r", f"{ta}.stack()" if g.chance(0.7) else f"tf.reshape({ta}.concat(), [-1, 3])")
    if g.chance(0.5):
        g.let("s", f"tf.cast({ta}.size(), F)")
    if g.chance(0.5):
        g.let("v", f"{ta}.read(0) + tf.reduce_mean({ta}.stack(), 0)")


@construct()
def structures(g: Generator, depth: int) -> None:
    """A dict and a tuple carried through a loop."""
    d, i = g.fresh("d"), g.fresh("i")
    g.write(f"{d} = {{'v': {g.expr('v', 1)}, 'p': (tf.constant(1), {g.expr('s', 1)})}}")
    with g.block(f"for {i} in tf.range({g.expr('i', 1)}):", **{i: "i"}):
        v = f"tf.tanh({g.expr('v', 1)} + {d}['v'])"
        g.write(f"{d} = {{'v': {v}, 'p': ({d}['p'][0] * 2 + {i}, tf.tanh({g.expr('s', 1)}))}}")
    g.let("v", f"{d}['v'] * tf.cast({d}['p'][0], F) * 0.1 + {d}['p'][1]")


@construct()
def conditional_expression(g: Generator, depth: int) -> None:
    kind = g.pick("s", "v", "m")
    g.let(kind, f"{g.expr(kind)} if {g.test()} else {g.expr(kind)}")


@construct()
def set_in_branch(g: Generator, depth: int) -> None:
    """Variables changed in one branch only, inside a loop."""
    i, v = g.fresh("i"), g.pick("a", "b")
    with g.block(f"for {i} in tf.range({g.expr('i', 1)}):", **{i: "i"}):
        with g.block(f"if {g.test()}:"):
            g.write(f"{v}.assign(tf.tanh({g.expr('v')}))")
    g.let("v", f"{v} + {g.expr('v', 1)}")


@construct()
def while_true(g: Generator, depth: int) -> None:
    """A loop that only `break` or `return` ends."""
    kind = g.pick("s", "v", "m")
    t, i, limit = g.let(kind), g.fresh("i"), g.expr("i", 1)
    g.write(f"{i} = tf.constant(0)")
    with g.block("while True:", **{i: "i"}):
        g.write(f"{i} += 1")
        with g.block(f"if {i} > {limit}:"):
            g.write("break")
        _turn(g, depth, t, kind)
    g.let("s", f"tf.cast({i}, F)")


@construct()
def comprehension(g: Generator, depth: int) -> None:
    """Lists and dicts made by comprehensions over parts of tensors."""
    p, rows = g.fresh("p"), g.fresh("rows")
    g.scope[p] = "v"
    made, second = g.expr("v", 1), g.expr("v", 1)
    del g.scope[p]
    test = g.pick("", f" if {g.pick('True', 'len(F.name) > 2')}")
    g.write(g.pick(
        f"{rows} = [{made} for {p} in tf.unstack({g.expr('m', 1)}){test}]",
        f"{rows} = list({{k: {made} for k, {p} in enumerate(tf.unstack({g.expr('m', 1)}))}}.values())",
        f"{rows} = [{made} + {second} for {p}, k in zip(tf.unstack({g.expr('m', 1)}), range(5))]",
        f"{rows} = list(map(lambda {p}: {made}, tf.unstack({g.expr('m', 1)})))",
    ))  # fmt: skip
    g.let("v", g.pick(f"tf.add_n({rows})", f"sum({rows})", f"tf.reduce_max(tf.stack({rows}), 0)"))


@construct()
def recursion(g: Generator, depth: int) -> None:
    h, p = g.fresh("h"), g.fresh("p")
    with g.block(f"def {h}({p}, k):", **{p: "v"}):
        with g.block("if k == 0:"):
            g.write(f"return {g.expr('v')}")
        with g.block(f"if {g.test()}:"):
            g.write(f"return {h}(tf.tanh({g.expr('v', 1)}), k - 1)")
        g.write(f"return {h}({g.expr('v', 1)}, k - 1) * 0.5")
    g.let("v", f"{h}({g.expr('v', 1)}, {g.pick(0, 1, 2)})")


@construct()
def loop_else(g: Generator, depth: int) -> None:
    """`else` of loops over Python values; loops whose bodies end early."""
    t, k = g.let("v"), g.fresh("k")
    with g.block(g.pick(f"for {k} in range({g.pick(0, 2, 3)}):", f"for {k} in (1, 2):")):
        with g.block(f"if {k} == {g.pick(1, 2, 7)}:"):
            g.write(g.pick("break", "continue"))
        g.write(f"{t} = tf.tanh({g.expr('v')}) * ({k} + 1)")
    with g.block("else:"):
        g.write(f"{t} = {t} * 2.0")


@construct()
def nested_loops(g: Generator, depth: int) -> None:
    """A loop in a loop, each with its own `break` or `continue`, the inner one of varying length."""
    kind = g.pick("s", "v", "r")
    t, i, k = g.let(kind), g.fresh("i"), g.fresh("k")
    with g.block(f"for {i} in tf.range({g.expr('i', 1)}):", **{i: "i"}):
        if g.chance(0.5):
            _leave(g)
        with g.block(f"for {k} in tf.range({g.pick(i, f'{i} + 1', '2', 'n')}):", **{k: "i"}):
            _leave(g)
            g.write(f"{t} = tf.tanh({g.expr(kind)}){'' if kind != 'r' else f'[:tf.shape({t})[0]]'}")
            if kind == "r":
                g.lines[-1] = "    " * g.indent + f"{t} = tf.tanh({t} * {g.expr('v')})"
        if g.chance(0.4):
            g.write(f"{t} = {t} * tf.cast({i} + 1, F)")


@construct()
def growing_state(g: Generator, depth: int) -> None:
    """Rows that a loop makes longer, or replaces by rows of another number."""
    exact = lambda text: f"tf.ensure_shape({text}, [None, 3])"
    t, i, spec = g.let("r", exact(g.expr("r"))), g.fresh("i"), "tf.TensorShape([None, 3])"
    g.needs |= {"sizes", "lists"}
    with g.block(f"for {i} in tf.range({g.expr('i', 1)}):", **{i: "i"}):
        g.write(f"tf.autograph.experimental.set_loop_options(shape_invariants=[({t}, {spec})])")
        g.write(g.pick(f"{t} = tf.concat([{t}, tf.tanh({g.expr('v')})[None]], 0)",
                       f"{t} = {exact(g.expr('r'))}", f"{t} = {t}[1:] * 2.0",
                       f"{t} = tf.boolean_mask({t}, {t}[:, 0] > {g.number()})"))  # fmt: skip
    g.let("s", f"tf.cast(tf.shape({t})[0], F)")


@construct()
def dataset(g: Generator, depth: int) -> None:
    """Datasets made, mapped, batched and reduced or walked inside the program."""
    g.needs |= {"python", "sizes"}
    p, q = g.fresh("p"), g.fresh("q")
    g.scope |= {p: "v"}
    f = f"lambda {p}: tf.tanh({g.expr('v', 1)})"
    g.scope |= {q: "v"}
    h = f"lambda {q}, {p}: tf.tanh({q} + {g.expr('v', 1)})"
    del g.scope[p], g.scope[q]
    made = f"tf.data.Dataset.from_tensor_slices({g.expr('r', 1)})"
    made += g.pick(
        "", f".map({f})", ".take(2)", ".repeat(2)", f".map({f}).skip(1)", ".batch(2).unbatch()"
    )
    if g.chance(0.5):
        g.let("v", f"{made}.reduce({g.expr('v', 1)}, {h})")
        return
    t, p = g.let("v"), g.fresh("p")
    with g.block(f"for {p} in {made}:", **{p: "v"}):
        g.write(f"{t} = tf.tanh({g.expr('v')} + {p})")


@construct()
def python_list(g: Generator, depth: int) -> None:
    """A list that Python makes longer, cuts and walks while the function is traced."""
    rows, p, k = g.fresh("rows"), g.fresh("p"), g.fresh("k")
    g.write(f"{rows} = [{g.expr('v', 1)}, {g.expr('v', 1)}]")
    with g.block(f"for {k} in range({g.pick(1, 2)}):"):
        g.write(f"{rows}.append(tf.tanh({g.expr('v')}) * ({k} + 1))")
    changes = (
        f"{rows}.extend([{g.expr('v', 1)}])", f"{rows}.insert(0, {g.expr('v', 1)})", f"{rows}.reverse()",
        f"{rows} += [{g.expr('v', 1)}]", f"{rows}[1] = {g.expr('v', 1)}", f"{rows} = {rows}[::-1]",
        f"{rows} = tf.nest.map_structure(tf.tanh, {rows})", f"del {rows}[0]", f"{rows}[:1] = []",
        f"{rows} = tf.nest.flatten({{'b': {rows}, 'a': {g.expr('v', 1)}}})", f"{rows} = [*{rows}, {rows}[0]]",
        f"{rows} = tf.nest.pack_sequence_as({rows}, tf.nest.flatten({rows}))", f"{rows} = list(reversed({rows}))",
    )  # fmt: skip
    for _ in range(2):
        g.write(g.pick(*changes))
    g.let("v", g.pick(
        f"tf.add_n({rows})", f"{rows}.pop() + {rows}[0]", f"sum({rows})", f"tf.reduce_max(tf.stack({rows}), 0)",
        f"tf.stack([{p} * 0.5 for {p} in {rows}])[-1]", f"{rows}[-1] * float(len({rows}))",
    ))  # fmt: skip

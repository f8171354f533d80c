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
    extra = f" and tf.reduce_sum({t}) < 2.0" if g.chance(0.3) else ""
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
        (f"for {i} in tf.range({g.expr('i', 1)}):", {i: "i"}),
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

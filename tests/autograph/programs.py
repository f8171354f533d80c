"""Programs whose control flow depends on tensors; each means the same as plain Python.

`@program(args, ...)` names the arguments of each run: floats and lists become tensors, and what
must stay a Python value is wrapped in `Py`. `gradient` asks for gradients by the first argument,
`xla` for a run by the compiled engine too.
"""

# Programs are written as users write them, not as a linter would have them.
# ruff: noqa: B007, B905, C416, F841, PERF401, PERF402, RET504, RET505, RET506, SIM201
# pyright: reportPossiblyUnboundVariable=false, reportAttributeAccessIssue=false
from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import wengert as tf


@dataclass(frozen=True)
class Py:
    """A Python value that stays one."""

    value: Any


@dataclass
class Case:
    """A program with the arguments to run it on."""

    function: Callable[..., Any]
    runs: list[tuple[Any, ...]]
    gradient: bool = False
    xla: bool = False
    reset: Callable[[], None] = field(default=lambda: None)

    @property
    def name(self) -> str:
        return self.function.__name__


CASES: list[Case] = []


def program(*runs: Any, **options: Any) -> Callable[[Any], Any]:
    def add(function: Any) -> Any:
        given = [r if isinstance(r, tuple) else (r,) for r in runs]
        CASES.append(Case(function, given, **options))
        return function

    return add


# Branches.


@program(1.0, -2.0, gradient=True, xla=True)
def if_else(x):
    if x > 0.0:
        y = x * x
    else:
        y = -x
    return y


@program(1.0, -2.0, 0.0, gradient=True)
def if_elif_else(x):
    if x > 0.5:
        return x * 3.0
    elif x < -0.5:
        return x * x
    else:
        return x + 1.0


@program(1.0, -2.0, gradient=True)
def if_without_else(x):
    y = x
    if x > 0.0:
        y = y * 2.0
    return y


@program(3.0, 1.0, -1.0, gradient=True, xla=True)
def early_returns(x):
    if x > 2.0:
        return x
    y = x * 2.0
    if x > 0.0:
        return y
    return y - 1.0


@program(3.0, 1.0, -1.0)
def branches_in_branches(x):
    y = 0.0
    if x > 0.0:
        if x > 2.0:
            y = x
        else:
            if x == 1.0:
                y = x * 10.0
    elif x < -5.0:
        y = -x
    return y


@program(3.0, -3.0)
def numbers_become_tensors(x):
    n, name = 0, "a"
    if x > 0.0:
        n = 1
        label = "b"
    else:
        n = 2
        label = "b"
    return n, name + label == "ab"


@program(3.0, -3.0)
def number_meets_tensor(x):
    if x > 0.0:
        y = 0
    else:
        y = x
    return y


@program((3.0, Py(True)), (3.0, Py(False)), (-3.0, Py(True)))
def python_conditions_stay_python(x, flag):
    if flag:
        y = x
        z = "set"
    else:
        y = -x
    if x > 0.0 and flag:
        assert z == "set"
        y = y * 2.0
    return y


@program(3.0, -3.0)
def unused_names_may_differ(x):
    if x > 0.0:
        tmp = "text"
        y = x
    else:
        tmp = 3
        extra = None
        y = -x
    return y


@program(3.0, -3.0)
def containers_as_state(x):
    d = {"a": x, "b": [x, 1.0]}
    pair = (x, x)
    if x > 0.0:
        d["a"] = x * 2.0
        d["b"][1] = x
        pair = (pair[1], d["a"])
    else:
        d["b"][0] = -x
    return d, pair


class Box:
    def __init__(self, v):
        self.v = v
        self.inner = None

    def double(self):
        if self.v > 0.0:
            self.v = self.v * 2.0
        return self


@program(3.0, -3.0, gradient=True)
def attributes_as_state(x):
    box = Box(x)
    box.inner = Box(1.0)
    if x > 0.0:
        box.v = x * x
        box.inner.v = box.v + 1.0
    else:
        box.inner.v = x
    return box.v + box.inner.v


@program(3.0, -3.0)
def methods_are_converted(x):
    return Box(x).double().double().v


@program(3.0, -3.0, gradient=True)
def conditional_expressions(x):
    y = x * 2.0 if x > 0.0 else -x
    z = (x if x > 5.0 else y) if x != 0.0 else 7.0
    return y + z


@program(3.0, 0.5, -3.0, xla=True)
def logic(x):
    a = x > 0.0 and x < 1.0
    b = x < -1.0 or x > 2.0
    c = not (x > 0.0)
    d = 0.0 < x < 1.0 <= 1.0
    e = x > 0.0 and (x > 2.0 or x < 0.6) and not x == 3.0
    return a, b, c, d, e


@program(3.0, 0.5, -3.0)
def logic_with_python(x):
    flag = True
    if (flag and x > 0.0) or (x < -1.0 and not flag):
        return x
    return -x


@program(([1, 2, 3], 2), ([1, 2, 3], 7))
def membership(xs, x):
    a = x in xs
    b = x in [1, x + 1, 2]
    c = x not in (4, 7)
    return a, b, c


@program((2.0, 4.0), (-1.0, 4.0))
def walrus(x, y):
    if (z := x * y) > 0.0:
        w = z
    else:
        w = -z
    while (y := y - 1.0) > 0.0:
        w += y
    return w, z, y


# While loops.


@program(27, 1, 2, xla=True)
def collatz(n):
    turns = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        turns += 1
    return turns


@program(2.0, 10.0, 200.0, gradient=True, xla=True)
def while_state(x):
    y = x
    while y < 100.0:
        y = y * y + 1.0
    return y


@program(([3.0, -1.0, 2.0],), ([3.0, 1.0, 2.0],), gradient=True, xla=True)
def while_with_lazy_index(x):
    i = 0
    total = 0.0
    while i < 3 and x[i] > 0.0:
        total += x[i]
        i += 1
    return total, i


@program(5.0, -5.0, gradient=True, xla=True)
def while_break(x):
    i = 0
    while i < 10:
        x = x * 1.5
        if x > 20.0:
            break
        i += 1
    return x, i


@program(5.0, -5.0)
def while_true(x):
    i = 0
    while True:
        x = x * 1.5
        i += 1
        if x > 20.0 or i >= 4:
            break
    return x, i


@program(5, 6)
def while_continue(n):
    i = 0
    total = 0
    while i < n:
        i += 1
        if i % 2 == 0:
            continue
        total += i
    return total


@program(5, 50, xla=True)
def while_return(n):
    i = 0
    while i < n:
        if i * i > 30:
            return i, i * i
        i += 1
    return i, -1


@program(5, 50)
def while_else(n):
    i = 0
    while i < n:
        if i > 10:
            break
        i += 1
    else:
        i = -i
    return i


@program(3)
def nested_while(n):
    i = total = 0
    while i < n:
        j = 0
        while j < i:
            if (i + j) % 3 == 0:
                break
            total += i * j + 1
            j += 1
        i += 1
    return total


@program(3.0, 0.0, xla=True)
def numbers_adopt(x):
    total = 0
    i = 0
    while i < 3:
        total += x
        i += 1
    return total


@program((3, Py(2)), (0, Py(2)))
def while_python_then_tensor(n, k):
    i = 0
    while k > 0 or i < n:
        i += 1
        k -= 1
    return i


# For loops.


@program(([1.0, 2.0, 3.0],), gradient=True, xla=True)
def for_rows(x):
    total = 0.0
    for v in x:
        total = total * 2.0 + v
    return total


@program(([[1.0, 2.0], [3.0, 4.0]],), gradient=True, xla=True)
def for_matrix_rows(x):
    total = 0
    for row in x:
        for v in row:
            total += v * v
    return total


@program(4, 0)
def for_range(n):
    total = 0
    for i in range(n):
        total += i * i
    for i in range(1, n, 2):
        total -= i
    for i in range(n, 0, -1):
        total = total * 2 + i
    return total


@program(4, 0)
def for_tensor_range(n):
    total = 0
    for i in tf.range(n):
        total += i
    for i in tf.range(5):
        total += i * 2
    for i in tf.range(0, n, 2):
        total += 10 * i
    return total


@program(([1, 2, 3, 4, 5],), ([9, 1, 2],), xla=True)
def for_break_continue(x):
    total = 0
    for v in x:
        if v % 2 == 0:
            continue
        if v > 4:
            break
        total += v
    return total


@program(([1, 2, 3],), ([1, 5, 3],))
def for_else_return(x):
    for v in x:
        if v == 5:
            return v * 10
    else:
        y = x[0]
    return -y


@program(([1, 2, 3], [4, 5, 6]), xla=True)
def enumerate_zip_reversed(x, y):
    total = 0
    for i, v in enumerate(x):
        total += i * v
    for i, v in enumerate(x, 5):
        total += i * v
    for a, b in zip(x, y):
        total = total * 2 + a * b
    for i, (a, b) in enumerate(zip(y, reversed(x))):
        total += i * a - b
    for v in reversed(x):
        total = total * 3 + v
    return total


@program(([1.0, 5.0, 2.0],), ([1.0, 2.0],), xla=True)
def python_loop_with_tensor_break(x):
    total = 0.0
    for k in range(3):
        total += float(k)
        if x[1] > 4.0 + k:
            break
        total += x[0]
    else:
        total += 100.0
    return total


@program(([1.0, 5.0, 2.0],), ([7.0, 2.0, 1.0],))
def python_loop_with_tensor_return(x):
    for name in ("a", "b", "c"):
        if x[0] > 6.0:
            return x[0]
        x = x + 1.0
    return x[1]


@program(([[1.0, 2.0], [3.0, 4.0]],), gradient=True, xla=True)
def for_carries_structures(x):
    state = {"h": x[0], "c": [x[1], 0.0]}
    for row in x:
        state = {"h": state["h"] + row, "c": [state["h"], state["c"][1] + 1.0]}
    return state["h"] * state["c"][0] * state["c"][1]


@program(([3.0, 1.0, 2.0],), xla=True)
def none_at_the_start(x):
    best = None
    for v in x:
        if best is None:
            best = v
        else:
            best = tf.maximum(best, v)
    return best


@program((3, [1.0, 2.0]))
def none_at_the_start_of_while(n, x):
    last = None
    i = 0
    while i < n:
        last = x if last is None else last * 2.0
        i += 1
    return last


@program(([3.0, 1.0, 2.0],))
def value_made_in_the_loop(x):
    for v in x:
        last = v * 2.0
    return last


@program(3)
def shape_changes(n):
    x = tf.zeros([1, 2])
    i = 0
    while i < n:
        x = tf.concat([x, x + 1.0], 0)
        i += 1
    return x


@program(([1.0, 2.0, 3.0],))
def loop_attributes(x):
    box = Box(0.0)
    box.inner = Box(1.0)
    for v in x:
        box.v += v
        if v > 1.5:
            box.inner.v *= v
    return box.v, box.inner.v


@program(([1, 2, 3],))
def loop_dict_items(x):
    d = {"sum": 0, "last": 0}
    key = "last"
    for v in x:
        d["sum"] += v
        d[key] = v
    return d["sum"], d["last"]


# Lists.


@program(([1.0, 2.0, 3.0],), gradient=True, xla=True)
def append_each_turn(x):
    out = []
    for v in x:
        out.append(v * v)
    return tf.stack(out)


@program(([1.0, 2.0, 3.0],), xla=True)
def append_more(x):
    out = [x[0] - 1.0]
    for v in x:
        out.append(v)
        out.append(-v)
    return tf.stack(out), len(out), out[-1], out[0]


@program(([1.0, -2.0, 3.0],))
def append_sometimes(x):
    out = []
    for v in x:
        if v > 0.0:
            out.append(v)
    return tf.stack(out), len(out)


@program((4,))
def append_in_while(n):
    out = [n * 0]
    i = 0
    while i < n:
        out.append(out[-1] + i)
        i += 1
    return tf.stack(out)


@program(([[1.0, 2.0], [3.0, 4.0]],))
def append_tuples(x):
    out = []
    for row in x:
        out.append((row[0], row * 2.0))
    return [a for a, _ in out], len(out)


@program(([[1.0, 2.0], [3.0, 4.0]],))
def append_then_concat(x):
    out = []
    for row in x:
        out.append(row)
    return tf.concat(out, 0), tf.add_n(out), sum(out)


@program(([1.0, 2.0],))
def append_after_the_loop(x):
    out = []
    for v in x:
        out.append(v)
    out.append(x[0] * 5.0)
    for v in x:
        out.append(-v)
    return tf.stack(out)


@program(([1.0, 2.0, 3.0],), gradient=True, xla=True)
def comprehensions(x):
    doubled = [v * 2.0 for v in x]
    pairs = [i * 1.0 + v for i, v in enumerate(x)] if False else [v for v in x]
    return tf.stack(doubled) + tf.stack(pairs), sum(v * v for v in x)


@program(([1.0, -2.0, 3.0],))
def comprehension_with_condition(x):
    return tf.stack([v for v in x if v > 0.0])


@program(2.0)
def python_comprehensions(x):
    ys = [x * k if x > k else -x for k in range(4)]
    return ys, {k: x + k for k in range(2)}, any(y > 5.0 for y in ys), all(y > -9.0 for y in ys)


# Functions.


def clip(x, low=0.0, *, high=1.0):
    if x < low:
        return low
    if x > high:
        return high
    return x


@program(0.5, 3.0, -3.0)
def called_functions(x):
    return clip(x), clip(x, -1.0, high=2.0), functools.partial(clip, low=-5.0)(x)


def power(x, n):
    if n == 0:
        return tf.ones_like(x)
    y = power(x * x, n // 2)
    return y * x if n % 2 else y


@program(2.0, gradient=True)
def recursion(x):
    return power(x, 5)


def traced_twice(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs) * 2.0

    return wrapper


@traced_twice
@traced_twice
def decorated(x):
    if x > 0.0:
        return x
    return -x


@program(2.0, -2.0)
def decorators(x):
    return decorated(x)


@program(2.0, -2.0)
def inner_functions(x):
    count = 0

    def visit(v):
        nonlocal count
        count = count + 1
        if v > 0.0:
            return v * 2.0
        return -v

    y = visit(x) + visit(-x)
    sign = lambda v: 1.0 if v > 0.0 else -1.0
    return y, count, sign(x)


@program(3)
def nonlocal_in_a_loop(n):
    count = 0

    def step(i):
        nonlocal count
        count += i

    for i in tf.range(n):
        step(i)
    return count


class Base:
    scale = 2.0

    def run(self, x):
        if x > 0.0:
            return x * self.scale
        return x

    def __call__(self, x):
        return self.run(x)


class Derived(Base):
    __secret = 10.0

    def run(self, x):
        y = super().run(x)
        if y > 1.0:
            y = super().run(y) + self.__secret
        return y

    @classmethod
    def make(cls, x):
        return cls()(x) if x > 0.0 else x

    @staticmethod
    def static(x):
        return 1.0 if x > 0.0 else 2.0


@program(2.0, -2.0)
def classes(x):
    d = Derived()
    return d(x), d.run(x), Derived.make(x), d.static(x), Derived.static(-x)


@tf.custom_gradient
def halved(x):
    if x > 0.0:
        y = x * x
    else:
        y = -x

    def gradient(g):
        return g * 0.5 if x > 0.0 else g * 7.0

    return y, gradient


@program(3.0, -3.0, gradient=True, xla=True)
def custom_gradients(x):
    return halved(x) * 2.0


def sign_of(x):
    if x > 0.0:
        return 1.0
    return -1.0


@program(([1.0, -2.0],))
def functions_given_to_operations(x):
    return tf.map_fn(sign_of, x), tf.map_fn(lambda v: v if v > 0.0 else v * 10.0, x)


@tf.function
def inner_step(x):
    if x > 0.0:
        return x * 2.0
    return x


@program(1.0, -1.0, gradient=True, xla=True)
def functions_in_functions(x):
    y = x
    while tf.abs(y) < 10.0:
        y = inner_step(y) + x
    return y


@program(([0.5, 2.0],))
def builtins_on_tensors(x):
    n = len(x)
    total = sum(x) + max(x[0], x[1]) - min(x[0], 1.0)
    whole = int(x[1]) + n
    return total, whole, float(whole), any(x > 1.0), all(x > 1.0), bool(x[0]), abs(x[0])


# Statements around.


@contextmanager
def noting(log: list[str]) -> Iterator[None]:
    log.append("in")
    yield
    log.append("out")


@program(2.0, -2.0)
def with_around(x):
    log = []
    with noting(log):
        if x > 0.0:
            return x * 2.0, len(log)
        x = x - 1.0
    return x, len(log)


@program(2.0, -2.0, gradient=True)
def try_around(x):
    y = x
    try:
        if x > 0.0:
            y = x * 3.0
            return y
        y = y * 2.0
    finally:
        x = x + 1.0
    try:
        {}["missing"]
    except KeyError:
        y = y + x if x > -5.0 else y
    return y


@program(([1.0, 2.0, 3.0],))
def try_in_a_loop(x):
    total = 0.0
    for v in x:
        try:
            if v > 2.5:
                break
            total += v
        finally:
            total += 1.0
    return total


@program((2.0, Py("double")), (2.0, Py("other")), (-2.0, Py(("pair", 3.0))))
def match_python_values(x, mode):
    match mode:
        case "double":
            if x > 0.0:
                return x * 2.0
            y = x
        case (_, k):
            y = x * k
        case _:
            y = -x
    return y


@program(2.0, -2.0)
def raise_on_the_other_side(x):
    if x > 5.0:
        raise ValueError("too large")
    elif x > 3.0:
        y = x
    else:
        y = -x
    assert x < 4.0, "still too large"
    return y


@program(2.0, gradient=True, xla=True)
def tape_in_a_loop(x):
    i = 0
    while i < 3:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x
        x = x - 0.1 * tape.gradient(y, x)
        i += 1
    return x


@program(3, xla=True)
def tensor_array(n):
    ta = tf.TensorArray(tf.int32, size=3, element_shape=[])
    for i in tf.range(3):
        if i < n:
            ta = ta.write(i, i * i)
    return ta.stack()


@program(4, 0)
def loop_variable_after_the_loop(n):
    i = -1
    for i in range(n):
        pass
    return i


def deep(x, n):
    total = 0
    for row in x:
        for v in row:
            k = 0
            while k < n:
                k += 1
                if v > 2.0:
                    if k == 2:
                        continue
                    total += v
                elif k > 1:
                    break
                else:
                    total = total - v
    return total


@program(([[1.0, 2.0], [3.0, 4.0]], 3), gradient=True)
def nested_three_deep(x, n):
    return deep(x, n)


VARIABLE = tf.Variable(1.0)


@program(1.0, -1.0, reset=lambda: VARIABLE.assign(1.0), xla=True)
def variables(x):
    if x > 0.0:
        VARIABLE.assign(x * 3.0)
    else:
        VARIABLE.assign_add(x)
    while VARIABLE < 10.0:
        VARIABLE.assign_add(2.5)
    y = VARIABLE * 1.0
    if VARIABLE:
        y = y + 1.0
    return y, VARIABLE.read_value()


@program(2.0, -3.0)
def deleted_names(x):
    y = x
    if x > 0.0:
        del y
        y = x * 2.0
    else:
        z = y
        del z
    return y


@program(([3, 1, 2],), ([1, 1],))
def jumps_under_python_conditions(x):
    for k in range(3):
        if k == 1:
            continue
        for v in x:
            if k == 2 and v > 2:
                return v + 100
            if v == 2:
                break
        else:
            if k == 2:
                return x[0] * 7
    return x[0]


# Odds and ends.


@program(1.0, -1.0)
def walrus_lazy(x):
    y = 0.0
    if x > 0.0 and (y := x * 2.0) > 1.0:
        return y
    return y - 1.0


@program(([1, 2, 3],))
def shadow(xs):
    range = lambda n: xs[:n]
    total = 0
    for v in range(2):
        total += v

    def len(x):
        return 100

    return total + len(xs)


@program(([[1.0, 2.0], [3.0, 4.0]],))
def targets(x):
    a = [0.0, 0.0]
    s = 0.0
    for p, q in x:
        s += p * q
    for a[0] in x[0]:
        s += a[0]
    for i, (p, *rest) in enumerate(x):
        s += p + rest[0]
    return s, a[0]


@program(1.0, -1.0)
def local_class(x):
    class K:
        k = 3.0

        def m(self, v):
            if v > 0.0:
                return v * self.k
            return v

    return K().m(x)


@program(1.0, -1.0)
def tries(x):
    try:
        y = x
        if x > 0.0:
            try:
                raise KeyError("a")
            except KeyError as e:
                y = x * 5.0
            else:
                y = x
        z = 1.0
    except (ValueError, TypeError) as e:
        z = 0.0
    finally:
        w = 7.0
    return y, z, w


@program(1.0, -1.0)
def withs(x):
    with nullcontext(x) as a, nullcontext((x, 2.0)) as (b, c):
        if a > 0.0:
            r = b * c
        else:
            r = c
    return r


@program(1.0, -1.0)
def annotated(x):
    y: float = 0.0
    n: int
    if x > 0.0:
        y = x
        twice: float = x * 2.0
        y = y + twice
        n = 3
    else:
        n = 4
    return y, n


@program(1.0, -1.0)
def augmented(x):
    d = {"a": {"b": 1.0}}
    box = Box(Box(2.0))
    pair = [1.0, 2.0]
    if x > 0.0:
        d["a"]["b"] += x
        box.v.v *= 3.0
        pair[1] -= x
        pair[0], box.v.v = box.v.v, pair[0]
    return d["a"]["b"], box.v.v, pair


@program((1.0,), (-1.0,))
def matching(x):
    class Point:
        __match_args__ = ("u", "v")

        def __init__(self, u, v):
            self.u = u
            self.v = v

    out = []
    for item in (Point(x, 1.0), {"k": x, "z": 3}, [x, 2.0, 3.0], 5, None):
        match item:
            case Point(u, v):
                r = u + v
            case {"k": k, **rest}:
                r = k * rest["z"]
            case [h, *t] if len(t) > 1:
                r = h + t[1]
            case int(n):
                r = float(n)
            case _:
                r = 0.0
        if r > 2.0:
            r = r * 10.0
        out.append(r)
    return out


@program(1.0, -1.0)
def late_lambda(x):
    fs = [lambda v, k=k: v * k if v > 0.0 else v - k for k in range(3)]
    return [f(x) for f in fs]


@program(1.0, -1.0)
def python_dict_items(x):
    d = {"a": x, "b": -x, "c": 2.0}
    total = 0.0
    for k, v in d.items():
        if v > 0.0:
            total += v
        elif k == "b":
            continue
        total += 0.5
    return total


@program(([1.0, 2.0, 3.0],))
def zip_mixed(x):
    s = 0.0
    for a, b in zip(x, [10.0, 20.0, 30.0]):
        s += a * b
    for i, (a, k) in enumerate(zip(x, range(3))):
        s += a * tf.cast(k, tf.float32)
    return s


@program(3, 0)
def nested_defs(n):
    def outer(a):
        t = 0

        def inner(b):
            nonlocal t
            if b > 1:
                t = t + b
            return t

        for i in tf.range(a):
            inner(i)
        return t

    return outer(n) + outer(n)


@program(([1.0, -2.0, 3.0],))
def fstring_and_more(x):
    parts = []
    for k in range(3):
        parts.append(f"{'pos' if k > 1 else 'neg'}{k!r:>3}")
    v = x[0] if parts[2].startswith("pos") else x[1]
    return v, len(parts), sorted([3, 1, 2], key=lambda q: -q)[0]


@program(1.0, -1.0)
def kwargs_calls(x):
    def g(*args, a=1.0, **kw):
        if args[0] > 0.0:
            return args[0] * a + kw["b"]
        return a

    opts = {"b": 2.0}
    return g(*[x], **opts), g(x, a=x, b=x)


@program((5,), (0,))
def for_else_nested(n):
    found = -1
    for i in range(n):
        for j in range(n):
            if i * j == 6:
                found = i * 10 + j
                break
        else:
            continue
        break
    return found


@program((1.0,), (-1.0,))
def return_in_with_in_loop(x):
    for k in range(3):
        with nullcontext():
            x = x + 1.0
            if x > 1.5:
                return x
        x = x * 2.0
    return -x


@program((3.0,), (-3.0,))
def bool_values(x):
    c = x and 2.0
    d = x or 5.0
    e = not (x and d - 5.0)
    return c, d, e


@program(([1.0, 2.0, 3.0, 4.0],))
def accumulate_dict(x):
    d = {}
    d["s"] = 0.0
    d["m"] = x[0]
    for v in x:
        d = {**d, "s": d["s"] + v}
        d["m"] = max(d["m"], v)
    return d["s"], d["m"]


@program(([3.0, 1.0, 2.0],))
def sort_bubble(x):
    n = len(x)
    ys = [x[i] for i in range(n)]
    for i in range(n):
        for j in range(n - 1):
            if ys[j] > ys[j + 1]:
                ys[j], ys[j + 1] = ys[j + 1], ys[j]
    return tf.stack(ys)


@program((10,), (7,))
def gcd(a):
    b = tf.constant(4)
    while b:
        a, b = b, a % b
    return a


@program(
    (0.5,),
)
def newton(x):
    y = x
    for _ in range(20):
        y2 = y - (y * y - 2.0) / (2.0 * y)
        if tf.abs(y2 - y) < 1e-6:
            break
        y = y2
    return y


@program(([1, 2, 3, 4],))
def set_in(x):
    allowed = {1, 3}
    total = 0
    for k in range(4):
        if k in allowed:
            total += x[k]
    return total


@program(
    ([0.0, 1.0],),
)
def np_use(x):
    s = np.float32(0.0)
    arr = np.array([1.0, 2.0], np.float32)
    for v in x:
        s = s + v * arr[0]
        arr = arr + 1.0
    return s, arr


@program((2.0,), (-2.0,))
def ternary_tuple(x):
    a, b = (x, 1.0) if x > 0.0 else (0.0, x)
    return a + b


@program(
    (4,),
)
def fib_list(n):
    xs = [1, 1]
    for i in tf.range(n):
        xs.append(xs[-1] + xs[-2])
    return xs[-1], xs[0]


@program(([[1.0, 2.0], [3.0, 4.0]],))
def nested_comp(x):
    sums = [tf.reduce_sum(r) if r[0] > 2.0 else r[1] for r in x]
    doubled = [[v * 2.0 for v in r] for r in x]
    return tf.stack(sums), doubled


@program(2.0, -2.0)
def finally_reads_what_a_return_leaves(x):
    seen = []
    out = [x]
    try:
        if x > 0.0:
            out.append(x * 2.0)
            with nullcontext():
                if x > 1.0:
                    return x
                out.append(x * 3.0)
        y = x
    finally:
        seen.append(out[-1])
    return y + seen[0]


# Lists that shrink.


@program(7, 1, 12)
def depth_first(n):
    stack = [n]
    visited = 0
    while len(stack) > 0:
        v = stack.pop()
        visited += v
        if v > 1:
            stack.append(v // 2)
            stack.append(v - 2)
    return visited


@program((3.0, 2), (3.0, 0), gradient=True)
def only_pops(x, n):
    stack = [x, x * 2.0, x * 3.0]
    total = x * 0.0
    for _ in tf.range(n):
        total = total * 2.0 + stack.pop()
    return total, len(stack)


@program((1.0, 5), gradient=True)
def queue(x, n):
    waiting = [x]
    total = x * 0.0
    for _ in tf.range(n):
        v = waiting.pop(0)
        total += v
        waiting.append(v * 2.0)
        waiting.append(v * 3.0)
    return total


@program((2.0, 4), gradient=True)
def insert_reverse_delete(x, n):
    found = []
    for i in tf.range(n):
        found.insert(0, x * tf.cast(i, tf.float32))
    found.reverse()
    del found[1]
    found[0] = x * 100.0
    return tf.stack(found)


@program(([2.0, 3.0, -1.0, 4.0, -2.0],), ([5.0],), gradient=True)
def reverse_polish(tokens):
    stack = []
    for t in tokens:
        if t >= 0.0:
            stack.append(t)
        elif t == -1.0:
            b = stack.pop()
            a = stack.pop()
            stack.append(a + b)
        else:
            b = stack.pop()
            a = stack.pop()
            stack.append(a * b)
    return stack.pop()


@program(([1, 2, -2, -1],), ([1, -2],), ([-1],), ([1],), ([1, 2, -1, -2],))
def brackets(text):
    stack = []
    ok = True
    for c in text:
        if c > 0:
            stack.append(c)
        else:
            if len(stack) == 0:
                ok = False
            else:
                if stack.pop() != -c:
                    ok = False
    return ok and len(stack) == 0


@program(([[False, True, False], [True, False, True], [False, True, False]], 0))
def breadth_first(adjacent, start):
    n = adjacent.shape[0]
    distance = tf.tensor_scatter_nd_update(-tf.ones([n], tf.int32), [[start]], [0])
    waiting = [start]
    while len(waiting) > 0:
        u = waiting.pop(0)
        for v in tf.range(n):
            if adjacent[u, v] and distance[v] < 0:
                distance = tf.tensor_scatter_nd_update(distance, [[v]], [distance[u] + 1])
                waiting.append(v)
    return distance


# Comprehensions of several clauses.


@program(([1.0, 2.0, 3.0], [10.0, 20.0]), gradient=True)
def pairs(x, y):
    return tf.stack([a * b for a in x for b in y])


@program(([1.0, 2.0, 3.0], [10.0, 20.0]), gradient=True)
def pairs_with_conditions(x, y):
    return tf.stack([a * b for a in x if a > 1.0 for b in y if b > 10.0])


@program(([1.0, 2.0, 3.0],), gradient=True)
def python_inside_and_outside(x):
    one = [a + b for a in x for b in range(2) if a > 1.0]
    other = [a * b for b in range(1, 3) for a in x if a > 1.0]
    return tf.stack(one), tf.stack(other)


@program(([1.0, 2.0, 3.0], [10.0, 20.0]))
def three_clauses(x, y):
    return tf.stack([a * b * c for a in x for b in y for c in x if c > b / 10.0])


@program(([1.0, 2.0, 3.0], [10.0, 20.0]))
def generator_of_two_clauses(x, y):
    return sum(a * b for a in x for b in y), max(a for a in x), min(y)


@program(([1.0, 2.0, 3.0],), ([-1.0, -2.0, -3.0],))
def python_source_with_a_tensor_condition(x):
    return len([v for v in [x[0], x[1], x[2]] if v > 1.0])


@program(([1.0, 2.0, 3.0],))
def nested_targets(x):
    return tf.stack([a + b for (a, (b, _)) in zip(x, zip(x, x))])


@program(([1.0, 2.0, 3.0],))
def plain_clauses(x):
    table = {i + 10 * j: x[i] for i in range(2) for j in range(2)}
    return [i * j for i in range(3) for j in range(i)], [table[k] for k in sorted(table)]

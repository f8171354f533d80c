"""The names of `tf.autograph`, what is converted and what is not, and what is kept of it."""
# Names that are not there are what is tested.
# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

import gc
import logging
import threading
import weakref
from typing import Any

import pytest

import wengert as tf
from wengert.autograph.call_conversion import _made
from wengert.autograph.conversion import convert, known
from wengert.autograph.public import constructs


def positive(x):
    """A docstring."""
    out = []
    for v in x:  # each
        if v > 0.0:
            y = v * 2.0
            out.append(y)
    while out is None or x[0] > 5.0:
        x = x - 1.0
    return x


def test_to_code_explains_the_users_own_text() -> None:
    assert tf.autograph.to_code(positive) == (
        "def positive(x):\n"
        '    """A docstring."""\n'
        "    out = []\n"
        "    for v in x:  # each  # over a tensor: a loop carrying out; v, y of each turn\n"
        "        if v > 0.0:  # if a tensor: both branches, giving out\n"
        "            y = v * 2.0\n"
        "            out.append(y)\n"
        "    while out is None or x[0] > 5.0:  # if a tensor: a loop carrying x\n"
        "        x = x - 1.0\n"
        "    return x\n"
    )
    assert tf.autograph.to_code(tf.function(positive)) == tf.autograph.to_code(positive)


def test_to_code_and_to_graph_refuse_what_is_not_converted() -> None:
    with pytest.raises(ValueError, match=r"^to_code: only functions have code to show"):
        tf.autograph.to_code(3)
    with pytest.raises(ValueError, match="is not converted, because it is library code"):
        tf.autograph.to_graph(logging.getLogger)


def test_to_graph_gives_the_converted_function() -> None:
    found = tf.autograph.to_graph(lambda x: x if x > 0.0 else -x)
    assert found(-2.0) == 2.0
    assert tf.function(found, autograph=False)(tf.constant(-2.0)) == 2.0


def plain_if(x):
    if x > 0.0:
        return x
    return -x


@pytest.mark.parametrize(
    "mark",
    [
        tf.autograph.experimental.do_not_convert,
        lambda f: tf.autograph.experimental.do_not_convert()(f),
    ],
)
def test_do_not_convert(mark: Any) -> None:
    marked = mark(plain_if)
    assert marked(-2.0) == 2.0
    assert marked.__name__ == "plain_if"
    assert convert(marked) == (marked, "it is marked `do_not_convert`")

    @mark
    def calls_another(x):
        return plain_if(x)

    for function in (marked, calls_another, lambda x: marked(x), lambda x: calls_another(x)):
        with pytest.raises(TypeError, match="bool: inside a function"):
            tf.function(function)(tf.constant(1.0))


def test_do_not_convert_on_an_inner_function() -> None:
    @tf.function
    def f(x):
        @tf.autograph.experimental.do_not_convert
        def inner(x):
            return x if x > 0.0 else -x

        return inner(x)

    with pytest.raises(TypeError, match="bool: inside a function"):
        f(tf.constant(1.0))


def test_conversion_switched_off() -> None:
    with pytest.raises(TypeError, match="bool: inside a function"):
        tf.function(plain_if, autograph=False)(tf.constant(1.0))


def test_coverage_tells_why_a_function_was_not_converted() -> None:
    scope: dict[str, Any] = {}
    exec(compile("def f(x):\n    return x\n", "<made>", "exec"), scope)
    f = tf.function(scope["f"])
    f(tf.constant(1.0))
    assert f.coverage().conversion == (
        "not converted (its source is not available: Python no longer has the text of '<made>')"
    )
    g = tf.function(plain_if)
    g(tf.constant(1.0))
    assert g.coverage().conversion == "converted"


def growing(n):
    x = tf.zeros([1])
    i = 0
    while i < n:
        tf.autograph.experimental.set_loop_options(
            shape_invariants=[(x, tf.TensorShape([None]))], maximum_iterations=3
        )
        x = tf.concat([x, x], 0)
        i += 1
    return x, i


def test_set_loop_options() -> None:
    x, i = tf.function(growing)(tf.constant(2))
    assert (x.shape, int(i)) == ((4,), 2)
    x, i = tf.function(growing)(tf.constant(9))
    assert (x.shape, int(i)) == ((8,), 3)
    assert growing(2)[0].shape == (4,), "in plain Python it does nothing"


def test_features_and_verbosity_exist() -> None:
    feature = tf.autograph.experimental.Feature
    assert feature.LISTS in feature.all()
    assert feature.LISTS not in feature.all_but(feature.LISTS)
    logger = logging.getLogger("wengert.autograph")
    tf.autograph.set_verbosity(1)
    assert logger.level == logging.DEBUG
    tf.autograph.set_verbosity(0)
    assert logger.level == logging.WARNING


def test_verbosity_names_each_function_that_is_converted(caplog: Any) -> None:
    def fresh(x):
        return x if x > 0.0 else -x

    with caplog.at_level(logging.DEBUG, "wengert.autograph"):
        convert(fresh)
    assert [r.getMessage() for r in caplog.records] == [
        f"converted {fresh.__qualname__} ({__file__}:{fresh.__code__.co_firstlineno})"
    ]


def test_trace_prints_while_tracing(capsys: Any) -> None:
    @tf.function
    def f(x):
        tf.autograph.trace("tracing", 1)
        print("and this")
        return x

    f(tf.constant(1.0))
    f(tf.constant(2.0))
    assert capsys.readouterr().out == "tracing 1\nand this\n"


def test_conversions_die_with_their_functions() -> None:
    def make() -> Any:
        data = list(range(1000))

        def recursive(x):
            if x > 0.0:
                return x
            return recursive(x + 1.0) if data else None

        class Thing:
            def method(self, x):
                return x * 2.0 if x > 0.0 else (recursive, x)[1]

        converted, _ = convert(recursive)
        assert converted(-1.5) == 0.5
        assert tf.function(Thing().method)(tf.constant(1.0)) == 2.0
        return weakref.ref(recursive), weakref.ref(Thing)

    # The code of inner functions is part of the code around them, and stays with it.
    make()
    gc.collect()
    before = len(known), len(_made)
    gone = [make() for _ in range(3)]
    gc.collect()
    assert all(r() is None for pair in gone for r in pair)
    assert (len(known), len(_made)) == before


def test_a_function_is_converted_once() -> None:
    first, second = convert(plain_if)[0], convert(plain_if)[0]
    assert first.__code__ is second.__code__
    assert convert(first)[0] is first


def test_conversion_in_threads() -> None:
    scope: dict[str, Any] = {"tf": tf}
    text = "".join(f"def f{i}(x):\n    return x * {i} if x > 0 else -x\n" for i in range(20))
    import linecache

    linecache.cache["<threads>"] = (len(text), None, text.splitlines(True), "<threads>")
    exec(compile(text, "<threads>", "exec"), scope)
    found: dict[int, list[float]] = {}

    def work(k: int) -> None:
        found[k] = [convert(scope[f"f{i}"])[0](2) for i in range(20)]

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert all(found[k] == [2 * i for i in range(20)] for k in range(4))
    assert gc.isenabled()


def test_what_traces_learn_keeps_no_graph_alive() -> None:
    @tf.function
    def f(x):
        out = []
        total = 0
        best = None
        for v in x:
            if v > 0.0:
                out.append(v)
            total += v
            best = v if best is None else best + v
        return tf.stack(out), total, best

    f(tf.constant([1.0, -2.0, 3.0]))
    graph = weakref.ref(f.get_concrete_function(tf.constant([1.0, -2.0, 3.0])).graph)
    del f
    gc.collect()
    assert graph() is None


def test_which_statements_met_a_tensor() -> None:
    @tf.function
    def f(x, k):
        if k > 1:
            x = x + 1.0
        for _ in range(k):
            if x > 0.0:
                x = x - 1.0
        while x < 3.0:
            x = x + 1.0
        return x

    f(tf.constant(1.0), 2)
    first = f.python_function.__code__.co_firstlineno + 1
    found = [(p.line - first, p.kind, p.in_graph) for p in constructs(f)]
    assert found == [(1, "if", False), (3, "for", False), (4, "if", True), (6, "while", True)]


def test_a_name_that_is_not_there() -> None:
    with pytest.raises(AttributeError, match=r"^Wengert has no `tf\.autograph\.zzyzx`\.$"):
        _ = tf.autograph.zzyzx

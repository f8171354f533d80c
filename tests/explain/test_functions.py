"""What is said about traced functions: the ledger, the warning, parity, and the ten faults."""

from __future__ import annotations

import itertools
import json
import logging
import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import wengert as tf
from wengert import explain
from wengert.cli.main import main
from wengert.explain.insides import walk

ROOT = Path(__file__).parents[2]


class TestLedger:
    def test_every_trace_has_its_cause_and_cost(self) -> None:
        @tf.function
        def f(x: Any, n: int = 1) -> Any:
            return x * n

        f(tf.ones([2]))
        f(tf.ones([3]))
        f(tf.ones([3]), 2)
        f(tf.ones([3]))
        ledger = explain.retraces(f)
        assert [[str(c) for c in t.changes] for t in ledger.traces] == [
            [],
            ["`x` was float32[2], now float32[3]"],
            ["`n` was 1, now 2"],
        ]
        assert all(t.milliseconds > 0 for t in ledger.traces)
        assert ledger.milliseconds == sum(t.milliseconds for t in ledger.traces)
        assert ledger.traces[1].site is not None
        assert ledger.traces[1].site.text.strip() == "f(tf.ones([3]))"
        assert ledger.signature is None  # `n` is a Python value

    def test_the_cheapest_signature(self) -> None:
        @tf.function
        def f(x: Any, y: Any) -> Any:
            return tf.reduce_sum(x) + tf.reduce_sum(y)

        for size in (2, 3):
            f(tf.ones([size, 4]), tf.ones([5]))
        ledger = explain.retraces(f)
        assert ledger.signature == (
            "[tf.TensorSpec([None, 4], tf.float32), tf.TensorSpec([5], tf.float32)]"
        )
        assert str(ledger).splitlines()[-1] == (
            f"One trace would do with input_signature={ledger.signature}"
        )
        f(tf.ones([2]), tf.ones([5]))
        assert "tf.TensorSpec(None, tf.float32)" in str(explain.retraces(f).signature)

    def test_structures_and_keywords(self) -> None:
        @tf.function
        def f(batch: Any, *, name: str) -> Any:
            return batch["x"][0]

        f({"x": [tf.ones([2])]}, name="a")
        f({"x": [tf.ones([2], tf.int32)]}, name="a")
        f({"x": [tf.ones([2]), tf.ones([1])]}, name="a")
        f({"x": [tf.ones([2])]}, name="b")
        changes = [[str(c) for c in t.changes] for t in explain.retraces(f).traces[1:]]
        assert changes == [
            ["`batch['x'][0]` was float32[2], now int32[2]"],
            [
                "`batch (structure)` was dict('x': list(tensor)), now dict('x': list(tensor, tensor))",
                "`batch['x'][1]` is new",
            ],
            ["`name` was a, now b"],
        ]

    def test_it_keeps_nothing_alive(self) -> None:
        import gc
        import weakref

        class Config:
            rate = 2.0

        @tf.function
        def f(x: Any, config: Any) -> Any:
            return x * config.rate

        x, config = tf.ones([2]), Config()
        seen = [weakref.ref(x), weakref.ref(config)]
        f(x, config)
        del x, config
        gc.collect()
        assert [r() for r in seen] == [None, None]
        assert len(explain.retraces(f).traces) == 1

    def test_as_data(self) -> None:
        @tf.function
        def f(x: Any) -> Any:
            return x

        f(tf.ones([2]))
        data = json.loads(json.dumps(explain.retraces(f).to_dict()))
        assert data["function"] == "f"
        assert data["traces"][0]["file"] == __file__

    def test_only_functions_have_one(self) -> None:
        with pytest.raises(TypeError, match=r"retraces: a tf\.function was expected; got"):
            explain.retraces(len)

    def test_max_traces_names_the_argument(self) -> None:
        @tf.function(max_traces=1)
        def f(x: Any, n: int) -> Any:
            return x * n

        f(tf.ones([2]), 1)
        with pytest.raises(RuntimeError, match="`n` was 1, now 2") as found:
            f(tf.ones([2]), 2)
        assert found.value.code == "WG207"  # type: ignore[attr-defined]  # set by `coded`


class TestWarning:
    def test_after_five_of_ten_calls_it_names_the_argument(self, caplog: Any) -> None:
        @tf.function
        def f(x: Any, n: int) -> Any:
            return x * n

        with caplog.at_level(logging.WARNING, "wengert"):
            for n in range(4):
                f(tf.constant(1.0), n)
            assert caplog.messages == []
            f(tf.constant(1.0), 4)
            (text,) = caplog.messages
            assert text.startswith(
                "5 out of the last 5 calls to f triggered tf.function retracing. WG203: `n` was 3, "
                "now 4; `f` was traced 5 times ("
            )
            assert "Pass `n` as a tensor, tf.constant(n), if its value may vary." in text

    def test_twice_at_most(self, caplog: Any) -> None:
        @tf.function
        def f(x: Any, n: int) -> Any:
            return x * n

        with caplog.at_level(logging.WARNING, "wengert"):
            for n in range(40):
                f(tf.constant(1.0), n)
        assert len(caplog.messages) == 2

    def test_calls_from_other_functions_are_no_reason(self, caplog: Any) -> None:
        @tf.function
        def inner(x: Any) -> Any:
            return x * 2

        @tf.function
        def outer(x: Any) -> Any:
            return inner(x)

        with caplog.at_level(logging.WARNING, "wengert"):
            for n in range(1, 8):
                for _ in range(30):
                    outer(tf.ones([n] * n))
        assert caplog.messages == []

    def test_traces_among_many_calls_are_no_reason(self, caplog: Any) -> None:
        @tf.function
        def f(x: Any, n: int) -> Any:
            return x * n

        with caplog.at_level(logging.WARNING, "wengert"):
            for n in range(8):
                for _ in range(5):
                    f(tf.constant(1.0), n)
        assert caplog.messages == []


class TestParity:
    def test_engines_agree(self) -> None:
        def f(x: Any) -> Any:
            return tf.reduce_sum(tf.sin(x) * tf.exp(-x))

        assert explain.parity(f, tf.constant(np.linspace(0, 1, 50), tf.float32)) is None

    def test_a_function_with_variables_and_a_loop(self) -> None:
        v = tf.Variable([1.0, 2.0])

        @tf.function
        def f(x: Any) -> Any:
            _, y = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * v), (0, x))
            v.assign_add(y)
            return y

        assert explain.parity(f, tf.constant([1.0, 2.0])) is None

    def test_the_first_operation_that_differs(self) -> None:
        numbers = itertools.count(1)

        def f(x: Any) -> Any:
            y = x + 1.0
            z = y * float(next(numbers))  # here
            return tf.reduce_sum(z)

        found = explain.parity(f, tf.constant([1.0, 2.0]))
        assert found is not None
        assert found.code == "WG601"
        assert found.line == f.__code__.co_firstlineno + 2
        assert found.details == {"operation": "multiply", "engines": ["eager", "host"]}

    def test_between_host_and_compiler(self, monkeypatch: Any) -> None:
        from wengert.ops.power import EXP

        lower = EXP.lower
        monkeypatch.setattr(EXP, "lower", lambda x: lower(x) * 1.01)  # type: ignore[misc]  # it has one
        found = explain.parity(lambda x: tf.reduce_sum(tf.exp(x)), tf.constant([0.0, 1.0]))
        assert found is not None
        assert found.details["engines"] == ["host", "XLA"]
        assert "exp gives different results on host and XLA: 2.718" in found.cause


def test_a_graph_walked_node_by_node_gives_what_the_engine_gives() -> None:
    @tf.function
    def f(x: Any, n: Any) -> Any:
        _, y = tf.while_loop(
            lambda i, y: i < n, lambda i, y: (i + 1, y + tf.sin(x)), (0, tf.zeros_like(x))
        )
        return tf.where(n > 2, y, -y), tf.reshape(x, [-1, tf.shape(x)[0]])

    x, n = tf.constant([1.0, 2.0]), tf.constant(4)
    trace = f.get_concrete_function(x, n)._trace
    made: dict[int, Any] = {}
    walk(
        trace.graph,
        [x._array, n._array],
        lambda node, given, out: made.update(zip(node.outputs, out, strict=True)),
    )
    for value, result in zip(trace.graph.outputs, f(x, n), strict=True):
        np.testing.assert_allclose(made[value], result.numpy())


def marks(path: Path) -> set[tuple[str, int]]:
    found = re.compile(r"  # (WG\d+)$")
    lines = path.read_text(encoding="utf-8").splitlines()
    return {(m[1], k) for k, line in enumerate(lines, 1) if (m := found.search(line))}


def test_the_doctor_finds_the_ten_faults_and_nothing_else(tmp_path: Path, capfd: Any) -> None:
    program = ROOT / "examples" / "faulty" / "ten_faults.py"
    wanted = marks(program)
    assert len({code for code, _ in wanted}) == 10
    out = tmp_path / "report.json"
    assert main(["doctor", "--json", "-o", str(out), str(program)]) == 1
    report = json.loads(out.read_text(encoding="utf-8"))["explanations"]
    assert {(e["code"], e["sites"][0]["line"]) for e in report} == wanted
    assert len(report) == 10
    assert "RuntimeError: gradient: a non-persistent GradientTape" in capfd.readouterr().err


EXAMPLES = sorted(p.stem for p in (ROOT / "examples").glob("[a-z]*.py"))


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_doctor_finds_nothing_in_correct_programs(
    name: str, tmp_path: Path, monkeypatch: Any, capfd: Any
) -> None:
    if name == "image_classifier" and find_spec("keras") is None:
        pytest.skip("Keras is not installed")
    monkeypatch.chdir(tmp_path)
    program = str(ROOT / "examples" / f"{name}.py")
    assert main(["doctor", program, "--steps", "5", "--out", "picture.svg"]) == 0
    assert capfd.readouterr().err.endswith("wengert doctor: nothing found\n")

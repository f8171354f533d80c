"""What each operation does with a ragged or sparse argument: its dense result, or words."""
# Checkers take what functions give for ragged and sparse tensors for plain tensors.
# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

import ast
import importlib
import pkgutil
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import wengert as tf
import wengert.ops
from tests.cases import Case, all_cases
from tests.recorder import Recorder
from tests.test_operations import tensors
from wengert.composite import rules
from wengert.core import nest
from wengert.core.composite_operands import CompositeArgument
from wengert.core.op import REGISTRY, Op
from wengert.core.tensor import Value

PACKAGE = Path(__file__).parent.parent / "src" / "wengert"
CASES = all_cases()
FAMILIES = [
    importlib.import_module(f"wengert.ops.{family.name}")
    for family in pkgutil.iter_modules(wengert.ops.__path__)
]
RAGGED = tf.ragged.constant([[1.0, 2.0], [], [3.0]])
SPARSE = tf.sparse.from_dense([[1.0, 0.0]])
MAKE: dict[str, Any] = {"ragged": tf.RaggedTensor.from_tensor, "sparse": tf.sparse.from_dense}


def dense(value: Any) -> np.ndarray:
    if isinstance(value, tf.RaggedTensor):
        value = value.to_tensor()
    elif isinstance(value, tf.SparseTensor):
        value = tf.sparse.to_dense(value)
    elif hasattr(value, "static_inner_shape"):
        value = value.static_inner_shape
    return np.asarray(value)


def same(got: Any, want: Any) -> bool:
    found, wanted = nest.flatten(got), nest.flatten(want)
    if len(found) != len(wanted):
        return False
    for a, b in zip(map(dense, found), map(dense, wanted), strict=True):
        close = np.array_equal if b.dtype.kind in "OSU" else _close
        if a.shape != b.shape or not close(a, b):
            return False
    return True


def _close(a: np.ndarray, b: np.ndarray) -> bool:
    return np.allclose(a, b, atol=1e-6, equal_nan=True)


# Where a composite means something else than the dense tensor.
ELSE = {
    "ragged": {
        "dynamic_partition_matrix",  # numbers for each element, where the dense one takes rows
        "gather_nothing", "reshape_open_beside_zero", "unsorted_segment_sum_empty",  # inner sizes
        "reduce_max_empty", "reduce_min_empty", "reduce_sum_empty",  # of no rows are not known
        "reduce_mean_int",  # divides
        "shape",  # is a DynamicRaggedShape
    },
    "sparse": {"bincount_rows", "bincount_weights"},  # elements that are not there do not count
}  # fmt: skip


@pytest.mark.parametrize("kind", MAKE)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_an_operation_gives_its_dense_result_or_says_that_it_does_not(
    case: Case, kind: str
) -> None:
    """No operation lacks a decision: nothing is silently wrong, and nothing fails by accident."""
    given = tensors(case)
    places = [k for k, x in enumerate(given) if (x.shape.rank or 0) > 1]
    if not places or case.name in ELSE[kind]:
        return
    want = case.call(*given, **case.options)
    for k in places:
        got, error = attempt(case, [*given[:k], MAKE[kind](given[k]), *given[k + 1 :]])
        if error is None:
            assert same(got, want), f"argument {k}"
        else:
            assert is_explained(error), f"argument {k}: {error}"


def attempt(case: Case, given: list[Any]) -> tuple[Any, Exception | None]:
    try:
        return case.call(*given, **case.options), None
    except (TypeError, ValueError) as error:
        return None, error


def is_explained(error: Exception) -> bool:
    """Whether we refuse a composite in our words, or Python because it has no such method."""
    ours = isinstance(error, CompositeArgument | tf.errors.InvalidArgumentError)
    pythons = ("not subscriptable", "not iterable", "bad operand type", "unsupported operand")
    return ours or hasattr(error, "site") or any(words in str(error) for words in pythons)


def elementwise_runs() -> Iterator[tuple[str, Op, list[np.ndarray], dict[str, Any]]]:
    for case in CASES:
        with Recorder() as recorder:
            case.call(*tensors(case), **case.options)
        for op, inputs, _, attrs in recorder.records:
            if op.elementwise:
                yield case.name, op, [x._array for x in inputs], attrs


def test_an_elementwise_operation_looks_at_elements_one_by_one() -> None:
    """Turning the arguments around turns the result around."""
    seen = set()
    for name, op, arrays, attrs in elementwise_runs():
        whole = np.broadcast_shapes(*[a.shape for a in arrays])
        if not whole or 0 in whole:
            continue
        seen.add(op.name)
        flat = [np.broadcast_to(a, whole).ravel() if a.ndim else a for a in arrays]
        turned = [a[::-1].copy() if a.ndim else a for a in flat]
        count = int(np.prod(whole))
        with np.errstate(all="ignore"):
            got = np.asarray(op.kernel(*turned, **attrs)).reshape(count, -1)
            want = np.asarray(op.kernel(*flat, **attrs)).reshape(count, -1)[::-1]
        same_type = np.array_equal if want.dtype.kind in "OV" else _close
        assert same_type(got, want), f"{op.name} in {name}"
    assert len(seen) > 100


def test_rules_belong_to_operations_and_public_functions() -> None:
    rules.find(REGISTRY["shape"], RAGGED)
    public = {id(value) for family in FAMILIES for value in vars(family).values()}
    for kind, table in rules._RULES.items():
        for plain in table:
            assert id(plain) in public
            if isinstance(plain, Op):
                assert not plain.elementwise or kind is tf.SparseTensor, plain


def test_a_rule_is_registered_once() -> None:
    with pytest.raises(AssertionError, match="two rules"):
        rules.for_ragged(tf.reduce_sum)(lambda x: x)


def codes() -> dict[str, Any]:
    """The bytecode of every public function of operations, and of the operators of tensors."""
    functions = {
        f"{family.__name__}.{name}": value
        for family in FAMILIES
        for name, value in vars(family).items()
        if type(value) is types.FunctionType
    }
    methods = {name: v for name, v in vars(Value).items() if type(v) is types.FunctionType}
    return {name: (f, f.__code__) for name, f in {**functions, **methods}.items()}


def test_composites_and_unknown_ranks_leave_functions_as_they_are() -> None:
    before = codes()
    assert tf.reduce_sum(tf.ragged.constant([[1.0], []]), 1).shape == (2,)
    assert (tf.constant(2.0) * tf.sparse.from_dense([[1.0]])).values.numpy().tolist() == [2.0]
    last = tf.function(lambda x: tf.reduce_sum(x, -1), input_signature=[tf.TensorSpec(None)])
    assert last(tf.ones([2, 3])).shape == (2,)
    after = codes()
    for name, (function, code) in before.items():
        assert after[name][0] is function
        assert after[name][1] is code


# Modules that set attributes of classes of others, and what for.
INSTALLERS = {
    "cli/children.py": "processes that a program starts begin as it did, while `wengert run` runs",
    "explain/settings.py": "a setting of the doctor, no method",
    "keras_glue/private_names.py": "the names under which classes are shown",
    "ops/array_methods.py": "methods of tensors and linked arrays, on import",
    "ops/numpy_protocols.py": "protocols of NumPy, on import",
    "ops/operators.py": "operators of tensors, on import",
    "ops/slicing.py": "indexing of tensors, on import",
}


def replacements(module: ast.Module) -> Iterator[tuple[str, int]]:
    """Where a module gives a function other code, or sets an attribute of an imported class."""
    imported = {
        alias.asname or alias.name
        for node in ast.walk(module)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }

    def is_class(node: ast.expr) -> bool:
        name = node.id if isinstance(node, ast.Name) else ""
        return name in imported and name[:1].isupper() and not name.isupper()

    for node in ast.walk(module):
        if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                if isinstance(target, ast.Attribute) and target.attr == "__code__":
                    yield "code", node.lineno
                elif isinstance(target, ast.Attribute) and is_class(target.value):
                    yield "class", node.lineno
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in ("setattr", "delattr"):
            if "__code__" in ast.unparse(node.args[1]):
                yield "code", node.lineno
            elif is_class(node.args[0]):
                yield "class", node.lineno


FILES = sorted(f.relative_to(PACKAGE).as_posix() for f in PACKAGE.rglob("*.py"))


@pytest.mark.parametrize("file", FILES)
def test_no_function_gets_other_code_and_no_method_is_replaced(file: str) -> None:
    found = dict(replacements(ast.parse((PACKAGE / file).read_text(encoding="utf-8"))))
    assert "code" not in found, f"line {found['code']}: give the function a fallback"
    assert ("class" in found) == (file in INSTALLERS), f"line {found}: use a hook or an observer"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("f.__code__ = g.__code__", "code"),
        ("setattr(f, '__code__', code)", "code"),
        ("from a import Value\nValue.__add__ = add", "class"),
        ("from a import Value\nsetattr(Value, name, add)", "class"),
    ],
)
def test_replacements_are_seen(text: str, kind: str) -> None:
    assert dict(replacements(ast.parse(text))).keys() == {kind}


def test_settings_and_own_classes_are_let_be() -> None:
    text = "from a import SEEN\nclass Own: ...\nSEEN.code = 1\nOwn.x = 2\nself.x = f.__code__"
    assert not [*replacements(ast.parse(text))]

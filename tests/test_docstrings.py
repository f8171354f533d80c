"""What `help` says: examples that run, and all parts for the names that programs use most."""

from __future__ import annotations

import doctest
import inspect
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import wengert as tf

# By how often programs name them.
MOST_USED = [
    "constant",
    "Variable",
    "Variable.assign",
    "GradientTape",
    "GradientTape.gradient",
    "GradientTape.jacobian",
    "GradientTape.batch_jacobian",
    "GradientTape.watch",
    "function",
    "convert_to_tensor",
    "matmul",
    "reduce_sum",
    "reduce_mean",
    "reduce_max",
    "reduce_min",
    "reduce_prod",
    "reduce_any",
    "reduce_all",
    "cast",
    "reshape",
    "concat",
    "stack",
    "unstack",
    "split",
    "gather",
    "gather_nd",
    "where",
    "one_hot",
    "zeros",
    "ones",
    "zeros_like",
    "ones_like",
    "fill",
    "range",
    "linspace",
    "eye",
    "transpose",
    "expand_dims",
    "squeeze",
    "tile",
    "repeat",
    "pad",
    "einsum",
    "tensordot",
    "argmax",
    "argmin",
    "clip_by_value",
    "clip_by_global_norm",
    "shape",
    "stop_gradient",
    "boolean_mask",
    "sort",
    "cumsum",
    "math.log",
    "sqrt",
    "square",
    "abs",
    "maximum",
    "minimum",
    "equal",
    "nn.relu",
    "nn.softmax",
    "nn.conv2d",
    "nn.max_pool2d",
    "nn.avg_pool2d",
    "nn.dropout",
    "nn.sparse_softmax_cross_entropy_with_logits",
    "nn.softmax_cross_entropy_with_logits",
    "nn.sigmoid_cross_entropy_with_logits",
    "nn.embedding_lookup",
    "nn.batch_normalization",
    "nn.moments",
    "math.top_k",
    "math.l2_normalize",
    "data.Dataset",
    "data.Dataset.from_tensor_slices",
    "data.Dataset.from_generator",
    "data.Dataset.map",
    "data.Dataset.batch",
    "data.Dataset.shuffle",
    "data.Dataset.repeat",
    "data.Dataset.prefetch",
    "data.Dataset.take",
    "data.Dataset.skip",
    "data.Dataset.filter",
    "data.Dataset.zip",
    "data.Dataset.cache",
    "data.Dataset.padded_batch",
    "random.normal",
    "random.uniform",
    "random.set_seed",
    "random.shuffle",
    "random.categorical",
    "image.resize",
    "io.read_file",
    "io.write_file",
    "io.decode_image",
    "io.parse_single_example",
    "train.Checkpoint",
    "train.Checkpoint.save",
    "train.Checkpoint.restore",
    "train.CheckpointManager",
    "train.latest_checkpoint",
    "TensorArray",
    "while_loop",
    "cond",
    "map_fn",
    "scan",
    "vectorized_map",
    "custom_gradient",
    "recompute_grad",
    "py_function",
    "numpy_function",
    "saved_model.save",
    "saved_model.load",
    "config.list_physical_devices",
    "config.run_functions_eagerly",
    "debugging.check_numerics",
    "debugging.enable_check_numerics",
    "TensorSpec",
    "RaggedTensor",
    "ragged.constant",
    "SparseTensor",
    "sparse.to_dense",
    "strings.split",
    "strings.join",
    "strings.regex_replace",
    "linalg.inv",
    "linalg.solve",
    "linalg.svd",
    "Variable.assign_add",
    "Variable.assign_sub",
    "debugging.assert_equal",
    "debugging.assert_greater",
    "executing_eagerly",
    "device",
    "name_scope",
    "is_tensor",
    "identity",
    "exp",
    "sigmoid",
    "tanh",
    "size",
    "rank",
    "math.count_nonzero",
    "dynamic_stitch",
    "dynamic_partition",
    "linalg.cholesky",
    "linalg.triangular_solve",
    "image.convert_image_dtype",
    "ensure_shape",
    "init_scope",
    "nest.map_structure",
    "norm",
    "broadcast_to",
    "roll",
    "reverse",
    "add_n",
    "reduce_logsumexp",
    "linalg.trace",
    "linalg.eigh",
    "nn.bias_add",
]
NEVER_RAISE = {"executing_eagerly", "name_scope", "is_tensor", "init_scope"}
OTHERS = ("tf.keras", "tf.losses", "tf.metrics", "tf.optimizers", "tf.compat", "tf.initializers")
KINDS = (types.FunctionType, types.MethodType, classmethod, staticmethod, property)


def documented(place: str, value: Any, seen: set[int]) -> Iterator[tuple[str, str]]:
    """The docstrings with examples of a namespace or class and of what is in it, by their names."""
    if id(value) in seen or place in OTHERS:
        return
    if str(getattr(value, "__module__", "")).partition(".")[0] == "numpy":
        return  # its examples are its own
    seen.add(id(value))
    if isinstance(value, types.ModuleType | types.SimpleNamespace):
        inside = [(n, getattr(value, n)) for n in dir(value) if n[0] != "_"]
    else:
        text = inspect.getdoc(value) or ""
        if ">>> " in text:
            yield place, text
        inside = []
        if isinstance(value, type) and value.__module__.startswith(("wengert.", "tensorflow.")):
            inside = [
                (n, v) for n, v in vars(value).items() if isinstance(v, KINDS) and n[0] != "_"
            ]
    for name, one in inside:
        yield from documented(f"{place}.{name}", one, seen)


EXAMPLES = dict(documented("tf", tf, set()))


@pytest.mark.parametrize("place", EXAMPLES)
def test_an_example_runs(place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names = {"tf": tf, "np": np}
    example = doctest.DocTestParser().get_doctest(EXAMPLES[place], names, place, None, 0)
    said: list[str] = []
    done = doctest.DocTestRunner(verbose=False).run(example, out=said.append)
    assert done.attempted
    assert not done.failed, "".join(said)


def the(place: str) -> Any:
    value: Any = tf
    for part in place.split("."):
        value = getattr(value, part)
    return value


def sections(text: str) -> dict[str, str]:
    """The parts of a docstring by their headings."""
    result: dict[str, str] = {}
    name = "summary"
    for line in text.splitlines():
        if line in ("Args:", "Returns:", "Raises:"):
            name = line[:-1]
        elif line.startswith(">>> "):
            name = "example"
        result[name] = f"{result.get(name, '')}{line}\n"
    return result


@pytest.mark.parametrize("place", MOST_USED)
def test_help_says_all(place: str) -> None:
    value = the(place)
    parts = sections(inspect.getdoc(value) or "")
    call = inspect.signature(value.__init__ if isinstance(value, type) else value)
    wanted = {"summary", "example", "Args", "Raises", "Returns"}
    wanted -= {"Returns"} if isinstance(value, type) else set()
    wanted -= {"Args"} if not call.parameters else set()
    wanted -= {"Raises"} if place in NEVER_RAISE else set()
    assert parts.keys() >= wanted
    said = [
        word.strip().lstrip("*")
        for line in parts.get("Args", "").splitlines()
        if line.startswith("    ") and line[4] != " "
        for word in line.partition(":")[0].split(",")
    ]
    assert [n for n in call.parameters if n not in said and n != "self"] == []


def test_the_hundred_are_a_hundred() -> None:
    assert len(set(MOST_USED)) == len(MOST_USED) >= 100

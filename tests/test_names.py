"""The public names: every one is documented, and an unknown one is answered in plain words."""
# Names that are not there are what is tested.
# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

import types
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

import wengert as tf
from tools import stubs
from wengert.core.missing_names import LATER

MODULES = (
    "autodiff", "bitwise", "config", "debugging", "distribute", "dtypes", "errors", "experimental", "image", "io",
    "io.gfile", "linalg", "math", "math.special", "nest", "nn", "ragged", "random", "sets",
    "signal", "sparse", "strings", "summary", "train",
)  # fmt: skip
PLACES = ("tf", *(f"tf.{name}" for name in MODULES))


def namespace(place: str) -> Any:
    """The module behind a dotted name such as `tf.math.special`."""
    found: Any = tf
    for part in place.split(".")[1:]:
        found = getattr(found, part)
    return found


def public(place: str) -> list[str]:
    module = namespace(place)
    # Keras is a package of its own.
    other = ("annotations", "newaxis", "keras", "losses", "metrics", "optimizers")
    return [n for n in dir(module) if not n.startswith("_") and n not in other]


@pytest.mark.parametrize("place", PLACES)
def test_an_unknown_name_is_answered_with_the_full_name(place: str) -> None:
    module = namespace(place)
    with pytest.raises(AttributeError, match=rf"^Wengert has no `{place}\.zzyzx`\.$"):
        _ = module.zzyzx
    assert not hasattr(module, "zzyzx")
    assert getattr(module, "zzyzx", 7) == 7


@pytest.mark.parametrize(
    ("place", "wrong", "right"),
    [
        ("tf", "redcue_sum", "tf.reduce_sum"),
        ("tf.autodiff", "GradientTap", "tf.autodiff.GradientTape"),
        ("tf.bitwise", "bitwise_nor", "tf.bitwise.bitwise_or"),
        ("tf.debugging", "assert_equals", "tf.debugging.assert_equal"),
        ("tf.dtypes", "int31", "tf.dtypes.int32"),
        ("tf.image", "resise", "tf.image.resize"),
        ("tf.io", "read_files", "tf.io.read_file"),
        ("tf.io.gfile", "exist", "tf.io.gfile.exists"),
        ("tf.linalg", "cholesky_slove", "tf.linalg.cholesky_solve"),
        ("tf.math", "logsigmoid", "tf.math.log_sigmoid"),
        ("tf.math.special", "bessel_j00", "tf.math.special.bessel_j0"),
        ("tf.nn", "conv2", "tf.nn.conv2d"),
        ("tf.ragged", "constnat", "tf.ragged.constant"),
        ("tf.random", "norml", "tf.random.normal"),
        ("tf.sets", "intersect", "tf.sets.intersection"),
        ("tf.signal", "rffts", "tf.signal.rfft"),
        ("tf.sparse", "to_dens", "tf.sparse.to_dense"),
        ("tf.strings", "regex_replaces", "tf.strings.regex_replace"),
        ("tf.summary", "scalars", "tf.summary.scalar"),
        ("tf.train", "CheckPoint", "tf.train.Checkpoint"),
    ],
)
def test_a_misspelt_name_is_answered_with_the_nearest(place: str, wrong: str, right: str) -> None:
    with pytest.raises(AttributeError) as caught:
        getattr(namespace(place), wrong)
    assert str(caught.value).startswith(f"Wengert has no `{place}.{wrong}`. Did you mean ")
    assert f"`{right}`" in str(caught.value)


@pytest.mark.parametrize("name", sorted(LATER))
def test_what_is_still_to_come_says_yet(name: str) -> None:
    with pytest.raises(AttributeError, match=rf"^Wengert has no `{name}` yet\.$"):
        getattr(tf, name.removeprefix("tf."))
    assert not hasattr(tf, name.removeprefix("tf."))


def test_dunder_names_are_answered_as_python_does() -> None:
    with pytest.raises(AttributeError, match=r"^module 'tf\.math' has no attribute '__path__'$"):
        _ = tf.math.__path__
    with pytest.raises(ImportError):
        import_module("wengert.math.nothing")


@pytest.mark.parametrize("place", PLACES)
def test_every_public_name_is_documented_and_of_use(place: str) -> None:
    module = namespace(place)
    for name in public(place):
        value = getattr(module, name)
        assert (value.__doc__ or "").strip(), f"{place}.{name} has no docstring"
        kinds = (
            types.ModuleType,
            types.SimpleNamespace,
            tf.DType,
            *((int,) if name.isupper() else ()),
        )
        assert callable(value) or isinstance(value, kinds), f"{place}.{name} is {value!r}"


@pytest.mark.parametrize("place", PLACES)
def test_no_foreign_module_is_a_public_name(place: str) -> None:
    for name in public(place):
        value = getattr(namespace(place), name)
        # pytest puts `@py_builtins` into the modules of installed packages with a plugin.
        if isinstance(value, types.ModuleType) and not name.startswith("@"):
            assert value.__name__.startswith("wengert."), f"{place}.{name} is {value.__name__}"


def test_a_name_that_lives_elsewhere_is_found() -> None:
    with pytest.raises(AttributeError, match=r"no `tf\.log`\. Did you mean `tf\.math\.log`\?"):
        _ = tf.log
    with pytest.raises(AttributeError) as caught:
        _ = tf.opz
    assert "tf.ops" not in str(caught.value)


# What Wengert shows beside TensorFlow's names.
OWN = {
    "tf": {"engine", "experimental", "explain", "testing"},
    "tf.config.experimental": {"get_compile_cache", "set_compile_cache"},
    "tf.data.experimental": {"OptionalSpec"},
    "tf.initializers": {
        "constant_initializer",
        "ones_initializer",
        "random_normal_initializer",
        "random_uniform_initializer",
        "zeros_initializer",
    },
    "tf.math": {"approximate_equal"},
    "tf.nn": {"scaled_dot_product_attention"},
    "tf.train": {"CheckpointState"},
}
TABLE = Path(tf.__file__).parent / "cli" / "tensorflow_names.txt"
THEIRS = {
    place: set(names.split())
    for place, _, names in (line.partition(": ") for line in TABLE.read_text().splitlines())
}


def namespaces(place: str, module: Any, seen: dict[str, Any]) -> dict[str, Any]:
    """Every namespace below a module, those of Keras left out."""
    seen[place] = module
    for name in dir(module):
        value = getattr(module, name)
        full = f"{place}.{name}"
        if name[0] == "_" or full in (
            *WHOLE,
            "tf.keras",
            "tf.losses",
            "tf.metrics",
            "tf.optimizers",
        ):
            continue
        if isinstance(value, types.ModuleType | types.SimpleNamespace):
            namespaces(full, value, seen)
    return seen


WHOLE = ("tf.compat", "tf.explain", "tf.raw_ops", "tf.testing")  # no table has their names
NAMESPACES = namespaces("tf", tf, {})


@pytest.mark.parametrize("place", NAMESPACES)
def test_a_namespace_shows_the_names_of_tensorflow(place: str) -> None:
    namespace = NAMESPACES[place]
    shows = {n for n in dir(namespace) if n[0] != "_"}
    if isinstance(namespace, types.ModuleType):
        assert shows == set(dir(namespace)), f"{place} shows private names"
    theirs = THEIRS.get(place)
    if theirs is not None:
        assert shows - theirs == OWN.get(place, set())


def test_every_namespace_is_looked_at() -> None:
    assert {"tf.nn", "tf.io.gfile", "tf.math.special", "tf.errors", "tf.nest"} <= set(NAMESPACES)
    assert {"tf.experimental.numpy", "tf.data.experimental", "tf.profiler"} <= set(NAMESPACES)
    assert {"finfo", "select", "tensordot"} <= set(dir(tf.experimental.numpy))
    assert {"flatten", "map_structure"} <= set(dir(tf.nest))
    assert {"InvalidArgumentError", "OpError"} <= set(dir(tf.errors))
    assert {"as_str", "v1", "v2"} <= set(dir(tf.compat))
    assert "import_module" not in dir(tf.compat.v1)
    assert {"placeholder", "Any"}.isdisjoint(dir(tf.compat.v1))
    assert {"cast", "logging", "to_float"} <= set(dir(tf.compat.v1))


@pytest.mark.parametrize("make", [tf.constant, tf.Variable])
def test_an_object_offers_what_it_has(make: Any) -> None:
    value = make(1.0)
    shows = dir(value)
    assert {"numpy", "shape", "dtype"} <= set(shows)
    for name in shows:
        # An eager tensor has no name and no graph, in TensorFlow neither.
        if name[0] != "_" and name not in ("graph", "name", "op"):
            assert hasattr(value, name), name
    assert {"backward", "detach", "grad", "requires_grad", "view"}.isdisjoint(shows)
    with pytest.raises(AttributeError, match=r"Gradients come from tf\.GradientTape"):
        value.backward()


def test_the_codes_of_errors_are_those_of_tensorflow() -> None:
    codes = [
        "OK",
        "CANCELLED",
        "UNKNOWN",
        "INVALID_ARGUMENT",
        "DEADLINE_EXCEEDED",
        "NOT_FOUND",
        "ALREADY_EXISTS",
        "PERMISSION_DENIED",
        "RESOURCE_EXHAUSTED",
        "FAILED_PRECONDITION",
        "ABORTED",
        "OUT_OF_RANGE",
        "UNIMPLEMENTED",
        "INTERNAL",
        "UNAVAILABLE",
        "DATA_LOSS",
        "UNAUTHENTICATED",
    ]
    assert [getattr(tf.errors, name) for name in codes] == list(range(17))
    for name in codes[1:]:
        kind = getattr(tf.errors, f"{name.title().replace('_', '')}Error")
        assert kind(None, None, "").error_code == getattr(tf.errors, name)


@pytest.fixture(scope="module")
def made() -> dict[Path, str]:
    return stubs.namespaces()


def test_stubs_agree_with_the_tables(made: dict[Path, str]) -> None:
    of_keras = stubs.PACKAGE / "keras.pyi"
    if f"Keras {version('keras')}," not in of_keras.read_text(encoding="utf-8"):
        made = {p: text for p, text in made.items() if stubs.KERAS not in text}
    for path, text in made.items():
        assert path.read_text(encoding="utf-8") == text, f"{path}: run `python -m tools.stubs`"


def test_each_name_of_keras_is_in_the_stub_by_itself(made: dict[Path, str]) -> None:
    """Mypy does not look into a package without `py.typed`, so to it a `*` has no names."""
    text = made[stubs.PACKAGE / "keras.pyi"]
    for name in ("layers", "Model", "Sequential", "optimizers", "utils"):
        assert f"from {stubs.KERAS} import {name} as {name}\n" in text
    assert "import GlorotUniform as GlorotUniform" in made[stubs.PACKAGE / "initializers.pyi"]


def test_there_is_no_other_stub(made: dict[Path, str]) -> None:
    assert set(stubs.PACKAGE.rglob("*.pyi")) == set(made)

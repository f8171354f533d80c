"""The public names: every one is documented, and an unknown one is answered in plain words."""

from __future__ import annotations

import types
from importlib import import_module
from typing import Any

import pytest

import wengert as tf
from wengert.core.missing_names import LATER

MODULES = (
    "autodiff", "bitwise", "config", "debugging", "distribute", "dtypes", "experimental", "image", "io",
    "io.gfile", "linalg", "math", "math.special", "nn", "ragged", "random", "sets",
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
        kinds = (types.ModuleType, types.SimpleNamespace, tf.DType)
        assert callable(value) or isinstance(value, kinds), f"{place}.{name} is {value!r}"


@pytest.mark.parametrize("place", PLACES)
def test_no_foreign_module_is_a_public_name(place: str) -> None:
    for name in public(place):
        value = getattr(namespace(place), name)
        if isinstance(value, types.ModuleType):
            assert value.__name__.startswith("wengert."), f"{place}.{name} is {value.__name__}"


def test_a_name_that_lives_elsewhere_is_found() -> None:
    with pytest.raises(AttributeError, match=r"no `tf\.log`\. Did you mean `tf\.math\.log`\?"):
        _ = tf.log
    with pytest.raises(AttributeError) as caught:
        _ = tf.opz
    assert "tf.ops" not in str(caught.value)

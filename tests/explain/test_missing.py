"""What is said of names that Wengert does not have: the advice leads to names that it has."""

from __future__ import annotations

import re

import pytest

import wengert as tf
from wengert.cli.names import has
from wengert.core.remedies import REMEDIES, remedy

# Keras is a library of its own, which need not be installed.
MENTIONED = sorted(
    {
        name.rstrip(".")
        for text in REMEDIES.values()
        for name in re.findall(r"\b(?:tf|wengert)\.[A-Za-z_.0-9]+", text)
        if "keras" not in name
    }
)


@pytest.mark.parametrize("name", MENTIONED)
def test_what_the_advice_names_is_there(name: str) -> None:
    assert has(name.replace("wengert", "tf", 1))


@pytest.mark.parametrize("name", [n for n in REMEDIES if "*" not in n and not has(n)])
def test_a_name_with_advice_is_answered_with_it(name: str) -> None:
    owner, _, last = name.rpartition(".")
    found = tf
    for part in owner.split(".")[1:]:
        found = getattr(found, part)
    with pytest.raises(AttributeError) as caught:
        getattr(found, last)
    assert str(caught.value) in (f"Wengert has no `{name}`. {REMEDIES[name]}",
                                 f"Wengert has no `{name}` yet.")  # fmt: skip
    assert caught.value.code == "WG801"  # type: ignore[attr-defined]  # set by `absent`


def test_families_of_names_have_one_advice() -> None:
    assert remedy("tf.image.resize_bilinear") == remedy("tf.image.resize_bicubic") != ""
    assert remedy("tf.compat.v1.Session").startswith("It belongs to TensorFlow 1.")
    assert remedy("tf.train.AdamOptimizer").endswith("Use tf.keras.optimizers.")
    assert remedy("tf.train.exponential_decay").endswith("Use tf.keras.optimizers.schedules.")
    assert remedy("tf.no_such_name") == ""

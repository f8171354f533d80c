"""Names of private Keras modules that Wengert relies on: still there, and still what they were.

Each test fails with the first version of Keras in which a name no longer means the same.
"""

from __future__ import annotations

import inspect
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

import wengert as tf
from wengert.core.process_settings import PROCESS
from wengert.data import sources
from wengert.functions.function import Function
from wengert.keras_glue.private_names import ARRAY_LENDER, STEP_DRIVER

pytestmark = [
    pytest.mark.skipif(find_spec("keras") is None, reason="Keras is not installed"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]


@pytest.fixture
def model() -> Any:
    keras: Any = tf.keras
    model = keras.Sequential([keras.layers.Input((2,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    return model


def test_the_version_is_supported() -> None:
    assert tuple(map(int, version("keras").split(".")[:2])) >= (3, 15)


def test_loading_keras_announces_the_names(model: Any) -> None:
    assert (PROCESS.array_lender, PROCESS.step_driver) == (ARRAY_LENDER, STEP_DRIVER)


def test_fit_lends_its_arrays(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    lent = sources.lent
    monkeypatch.setattr(sources, "lent", lambda value: seen.append(value) or lent(value))
    x = np.ones((4, 2), "float32")
    model.fit(x, np.ones((4, 1), "float32"), verbose=0)
    model.predict(x, verbose=0)
    assert len(seen) >= 2, f"{ARRAY_LENDER} no longer makes the dataset: arrays are copied"


@pytest.mark.parametrize("kind", ["train", "test"])
def test_functions_of_an_iterator_only_drive(model: Any, kind: str) -> None:
    getattr(model, f"make_{kind}_function")()
    calls = getattr(model, f"{kind}_function")
    functions = [c.cell_contents for c in calls.__closure__]
    driving = [f for f in functions if isinstance(f, Function) and f._options.drives]
    (driver,) = driving
    assert [*inspect.signature(driver.python_function).parameters] == ["iterator"]

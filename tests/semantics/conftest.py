"""What a program computes is stated here; the warnings it meets on the way are stated elsewhere."""

import pytest

from tests.semantics.api import AGAINST_TENSORFLOW

# TensorFlow logs its advice, others may warn; TensorFlow itself uses what NumPy deprecates.
IGNORED = ["ignore::UserWarning"] + ["ignore::DeprecationWarning"] * AGAINST_TENSORFLOW


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "tests/semantics/" in item.path.as_posix():
            for rule in IGNORED:
                item.add_marker(pytest.mark.filterwarnings(rule))

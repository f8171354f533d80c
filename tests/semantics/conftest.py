"""What a program computes is stated here; what it is told on the way (warnings) is stated elsewhere."""

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    # TensorFlow logs its advice, others may warn: neither is a failure of the semantics.
    for item in items:
        if "tests/semantics/" in item.path.as_posix():
            item.add_marker(pytest.mark.filterwarnings("ignore::UserWarning"))

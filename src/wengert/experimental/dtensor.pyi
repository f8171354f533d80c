"""Made by `python -m tools.stubs`: the names that checkers and editors see."""

from wengert.experimental.dtensor_classes import DTensorDataset as DTensorDataset
from wengert.experimental.dtensor_classes import DVariable as DVariable

"""Cases of `tf.distribute` with four replicas, and what TensorFlow 2.21 answers to them.

`python -m tests.distribute_cases` in an environment with TensorFlow records `answers.json` again.
"""

from tests.distribute_cases import (
    collectives,
    contexts,
    datasets,
    mistakes,
    reductions,
    running,
    values,
    variables,
)
from tests.distribute_cases.environment import CASES, answer

__all__ = [
    "CASES", "answer", "collectives", "contexts", "datasets", "mistakes", "reductions", "running",
    "values", "variables",
]  # fmt: skip

"""Records what TensorFlow and Keras answer: `python -m tests.keras_strategy_cases`.

Each case runs in a process of its own, forked before TensorFlow has started, as the cases of
`tests.distribute_cases` do.
"""

import json
from typing import Any

import keras
import tensorflow as tf  # pyright: ignore[reportMissingImports, reportMissingModuleSource]

from tests.distribute_cases.__main__ import apart
from tests.keras_strategy_cases import CASES, REPLICAS, TARGET, summary, trained


def _answer(name: str) -> Any:
    try:
        return summary(*trained(tf, keras, name, REPLICAS))
    except Exception as error:
        return {"error": type(error).__name__, "text": str(error)[:200]}


def main() -> None:
    """Writes `answers.json`."""
    lines = []
    for name in CASES:
        answer = apart(tf, lambda name=name: _answer(name))
        lines.append(f' "{name}": {json.dumps(answer)}')
        print(name, str(answer)[:150], flush=True)
    TARGET.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()

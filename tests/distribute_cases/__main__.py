"""Records TensorFlow's answers: `python -m tests.distribute_cases`.

Each case runs in a process of its own, forked before TensorFlow has started: the keys of its
collectives belong to the process, so strategies that are made one after another disturb each other.
"""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import tensorflow as tf  # pyright: ignore[reportMissingImports, reportMissingModuleSource]

from tests.distribute_cases import CASES, answer

TARGET = Path(__file__).with_name("answers.json")


def main() -> None:
    """Writes `answers.json`: one answer, or two where functions differ from eager code."""
    lines = []
    for name in CASES:
        both = (False, True)
        eager, traced = (apart(tf, lambda n=name, t=traced: answer(tf, n, t)) for traced in both)
        answers = [eager] if eager == traced else [eager, traced]
        lines.append(f' "{name}": {json.dumps(answers)}')
    TARGET.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def apart(tf: Any, ask: Callable[[], Any]) -> Any:
    """An answer from a process of its own, in which there are four logical CPUs."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        os.close(read)
        cpu = tf.config.list_physical_devices("CPU")[0]
        shown = [tf.config.LogicalDeviceConfiguration()] * 4
        tf.config.set_logical_device_configuration(cpu, shown)
        with os.fdopen(write, "w") as file:
            json.dump(ask(), file)
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as file:
        text = file.read()
    os.waitpid(child, 0)
    return json.loads(text) if text else ["no answer"]


if __name__ == "__main__":
    main()

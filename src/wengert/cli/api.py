"""`wengert api`: which `tf.` names a program uses, and which of them Wengert does not have."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

from wengert.cli.names import advice, has, modules, tensorflow_names
from wengert.cli.programs import read
from wengert.cli.uses import Use, uses


def shortened(use: Use) -> Use | None:
    """The part of a name that is TensorFlow's: `tf.keras.Model.fit` is about `tf.keras.Model`.

    `None` for an attribute of something that is not in the table, such as `tf.__version__`.
    """
    if use.name.rpartition(".")[2].startswith("__"):
        return None
    known, name = tensorflow_names(), use.name
    while not use.member and name.count(".") > 1 and name not in known:
        above = name.rpartition(".")[0]
        if above in modules() or above not in known:
            break  # what hangs below a class or function is not listed
        name = above
    return use._replace(name=name) if name != "tf" else None


def tell(scripts: list[str], missing: bool, as_json: bool) -> int:
    """Prints the answer; 1 if a program uses names that Wengert does not have."""
    if not scripts:
        return _tell_all(missing, as_json)
    rows = [(script, use) for script in scripts for use in _of_script(script)]
    lacking = [(script, use) for script, use in rows if not has(use.name, use.member)]
    shown = lacking if missing else rows
    if as_json:
        print(json.dumps([_row(script, use) for script, use in shown], indent=2))
    else:
        for script, use in shown:
            print(f"{script}:{use.line}: {use.name}{_remark(use)}")
        print(f"{len(rows)} names, {len(lacking)} missing", file=sys.stderr)
    return 1 if lacking else 0


def _of_script(script: str) -> Iterator[Use]:
    first: dict[str, Use] = {}
    for use in filter(None, map(shortened, uses(read(script), script))):
        first.setdefault(use.name, use)
    yield from first.values()


def _row(script: str, use: Use) -> dict[str, Any]:
    there = has(use.name, use.member)
    row = {"file": script, "line": use.line, "name": use.name, "present": there}
    return row if there else {**row, "remedy": advice(use.name, use.member)}


def _remark(use: Use) -> str:
    if has(use.name, use.member):
        return ""
    return f"  MISSING  {advice(use.name, use.member)}".rstrip()


def _tell_all(missing: bool, as_json: bool) -> int:
    present = {name: has(name) for name in sorted(tensorflow_names())}
    shown = {name: there for name, there in present.items() if not (missing and there)}
    if as_json:
        print(json.dumps(shown))
        return 0
    for name, there in shown.items():
        print(name if there else f"{name}  MISSING")
    print(f"{sum(present.values())} of {len(present)} names of TensorFlow 2.21", file=sys.stderr)
    return 0

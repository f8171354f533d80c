"""The programs of the pages in four settings: as they are, in a function, in `fit`, in a dataset.

What a program makes before anything happens (imports, functions, variables, constants, devices)
stays where it is; the rest moves into the setting, where a last `print(x)` becomes the result. Keras
calls `train_step` without AutoGraph, as TensorFlow's does, so one that loops is a `tf.function`.
"""

from __future__ import annotations

import ast
from textwrap import indent

EAGER, FUNCTION, FIT, DATASET = "eager", "function", "fit", "dataset"

_TEMPLATES = {
    FUNCTION: """
{setup}

@tf.function
def program():
{body}
    return result

program()
""",
    FIT: """
{setup}

class Program(tf.keras.Model):
    {decorator}
    def train_step(self, batch):
{deeper}
        return {{"number %d" % k: x for k, x in enumerate({results})}}

model = Program()
model.compile()
model.fit(tf.zeros([2, 1]), epochs=1, verbose=0)
""",
    DATASET: """
{setup}

def program(i):
{body}
    return {results} or 0.0

for _ in tf.data.Dataset.range(2).map(program):
    pass
""",
}

_RESULTS = "[tf.reduce_sum(x) for x in tf.nest.flatten(result) if hasattr(x, 'dtype')]"
_MADE = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef, ast.Assign)


def in_setting(text: str, setting: str) -> str:
    """A program moved into a setting."""
    if setting == EAGER:
        return ast.unparse(ast.parse(text))
    statements = ast.parse(text).body
    starts = (k for k, s in enumerate(statements) if not _is_made(s))
    first = next(starts, len(statements) - 1)
    last = statements[-1]
    if isinstance(last, ast.Expr) and isinstance(last.value, ast.Call):
        is_print = ast.unparse(last.value.func) == "print"
        value = last.value.args[0] if is_print else last.value
        statements[-1] = ast.Assign([ast.Name("result", ast.Store())], value, lineno=last.lineno)
    elif isinstance(last, ast.Assign):
        statements += ast.parse(f"result = {ast.unparse(last.targets[0])}").body
    else:
        statements += ast.parse("result = None").body
    before, after = statements[:first], statements[first:]
    shared = sorted(_assigned(before) & _assigned(after))
    if shared:
        after.insert(0, ast.Global(shared))
    setup, body = ("\n".join(map(ast.unparse, part)) for part in (before, after))
    loops = any(isinstance(s, ast.For | ast.While) for s in after)
    return _TEMPLATES[setting].format(
        setup=setup, body=indent(body, " " * 4), deeper=indent(body, " " * 8), results=_RESULTS,
        decorator="@tf.function" if loops else "",
    )  # fmt: skip


def _is_made(statement: ast.stmt) -> bool:
    """Whether a statement makes something, as in the scope of a strategy, or shows devices."""
    if isinstance(statement, ast.With):
        scopes = all(ast.unparse(i.context_expr).endswith(".scope()") for i in statement.items)
        return scopes and all(map(_is_made, statement.body))
    if isinstance(statement, ast.Expr):
        return ast.unparse(statement).startswith("tf.config.")
    return isinstance(statement, _MADE)


def _assigned(statements: list[ast.stmt]) -> set[str]:
    """The names that statements give values to, outside functions."""
    assigned = [s for s in statements if not isinstance(s, ast.FunctionDef)]
    names = (n for s in assigned for n in ast.walk(s) if isinstance(n, ast.Name))
    return {n.id for n in names if isinstance(n.ctx, ast.Store)}

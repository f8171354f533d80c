"""Sources are found wherever Python still has the text, and only there."""

from __future__ import annotations

import functools
import linecache
from pathlib import Path
from typing import Any

import pytest

import wengert as tf
from wengert.autograph.conversion import convert


def converted(f: Any) -> Any:
    found, reason = convert(f)
    assert reason is None
    assert found is not f
    return found


def traced(f: Any, *args: Any) -> list[Any]:
    """The results of a function in a trace, on numbers given as tensors."""
    result = tf.function(f)(*[tf.constant(a) for a in args])
    return [float(y) for y in tf.nest.flatten(result)]


SEVERAL = [lambda x: x if x > 0 else -x, lambda x: x if x > 5 else 0 * x, lambda x: (x or x + 7)]  # fmt: skip


@pytest.mark.parametrize(("number", "wanted"), [(0, [3.0]), (1, [0.0]), (2, [-3.0])])
def test_lambdas_on_one_line(number: int, wanted: list[float]) -> None:
    assert traced(SEVERAL[number], -3) == wanted


def test_a_lambda_over_several_lines() -> None:
    # fmt: off
    f = (
        lambda x,
        y=2: x
        if x > y
        else (
            y  # the smaller one
            + 0 * x
        )
    )
    # fmt: on
    assert traced(f, 1) == [2.0]
    assert traced(f, 3) == [3.0]


def test_lambdas_inside_each_other() -> None:
    f = lambda x: (lambda x: x + 1 if x > 0 else x)(x) if x > -5 else (lambda x: x)(x)
    assert traced(f, 2) == [3.0]
    assert traced(f, -2) == [-2.0]
    assert traced(f, -7) == [-7.0]


def show_python(name: str, text: str) -> None:
    """Puts text where Python looks for the source of a file."""
    linecache.cache[name] = (len(text), None, list(text.splitlines(True)), name)


def run_text(text: str, name: str) -> dict[str, Any]:
    found: dict[str, Any] = {"tf": tf}
    exec(compile(text, name, "exec"), found)
    return found


TEXT = "def f(x):\n    if x > 0:\n        return x\n    return -x\n"


def test_text_that_a_notebook_has_put_into_the_cache() -> None:
    name = "<cell 7>"
    show_python(name, TEXT)
    assert traced(run_text(TEXT, name)["f"], -3) == [3.0]


def test_text_that_is_gone_is_an_error_only_at_a_tensor_condition() -> None:
    f = run_text(TEXT, "<gone>")["f"]
    found, reason = convert(f)
    assert found is f
    assert reason == "its source is not available: Python no longer has the text of '<gone>'"
    assert tf.function(f)(3) == 3
    with pytest.raises(TypeError, match="bool: inside a function a tensor has no value yet"):
        tf.function(f)(tf.constant(3))


def test_a_file_that_has_changed_is_not_trusted(tmp_path: Path) -> None:
    file = tmp_path / "module.py"
    file.write_text(TEXT)
    f = run_text(TEXT, str(file))["f"]
    file.write_text("import os\n\n" + TEXT.replace("x", "other"))
    linecache.checkcache(str(file))
    assert "is not available" in str(convert(f)[1])


def test_text_at_the_margin_inside_a_function() -> None:
    def f(x):
        text = """
at the margin
"""
        y = (x,
len(text))  # fmt: skip
        if x > 0:
            return y[0] * y[1]
        return x

    assert traced(f, 2) == [30.0]
    assert traced(f, -2) == [-2.0]


def test_closures_are_shared_not_copied() -> None:
    count = 0

    def add(x):
        nonlocal count
        if x > 0:
            count += 1
        return count

    new = converted(add)
    assert [new(1), new(-1), new(1)] == [1, 1, 2]
    assert count == 2
    count = 10
    assert new(1) == 11


def test_defaults_and_keywords_are_kept() -> None:
    def f(a, /, b=2, *args, c, d=[4], **kwargs):  # noqa: B006  # the very list must be kept
        d.append(a)
        return (a, b, args, c, d, kwargs) if a else None

    new = converted(f)
    assert new(1, c=3) == (1, 2, (), 3, [4, 1], {})
    assert new(1, 5, 6, c=3, e=7) == (1, 5, (6,), 3, [4, 1, 1], {"e": 7})
    assert f.__defaults__ == (2,) and f.__kwdefaults__ == {"d": [4, 1, 1]}


class Account:
    __limit = 10

    def __init__(self) -> None:
        self.__balance = 0.0

    def add(self, x):
        if self.__balance + x > self.__limit:
            self.__balance = 0.0 * x
        else:
            self.__balance = self.__balance + x
        return self.__balance

    def __call__(self, x):
        __twice = x
        if x > 0.0:
            __twice = x * 2.0
        return self.add(__twice)


class Bonus(Account):
    def add(self, x):
        if x > 0.0:
            return super().add(x + 1.0)
        return super().add(x)


def test_private_names_and_super() -> None:
    assert traced(Account().add, 3.0) == [3.0]
    assert traced(Account().add, 30.0) == [0.0]
    assert traced(Bonus().add, 3.0) == [4.0]
    assert traced(Bonus().add, -3.0) == [-3.0]
    assert traced(Bonus(), 2.0) == [5.0]
    assert traced(functools.partial(Bonus().add), 3.0) == [4.0]


def test_generators_and_coroutines_are_left_alone() -> None:
    def numbers(n):
        for i in range(n):
            if i % 2:
                yield i

    async def later(x):
        return x if x else None

    assert convert(numbers) == (numbers, "it is a generator or a coroutine")
    assert convert(later) == (later, "it is a generator or a coroutine")
    assert tf.function(lambda x: sum(x * i for i in numbers(4)))(tf.constant(2)) == 8


def test_libraries_are_left_alone() -> None:
    assert convert(linecache.getlines) == (linecache.getlines, "it is library code")
    assert convert(tf.reduce_mean)[1] == "it is library code"
    assert convert(len) == (len, "it is not written in Python")
    assert convert(dict) == (dict, "it is a class")


def test_an_installed_package_is_converted_if_it_uses_wengert() -> None:
    text = TEXT.replace("def f", "\ndef f")
    for head, expected in (("import wengert as tf", None), ("import os", "it is library code")):
        name = f"/usr/lib/python3/site-packages/{expected is None}.py"
        full = head + text
        show_python(name, full)
        scope: dict[str, Any] = {"__name__": name}
        exec(compile(full, name, "exec"), scope)
        assert convert(scope["f"])[1] == expected


def test_decorated_functions_are_stripped_of_decorators() -> None:
    calls = []

    def noting(function):
        calls.append(function.__name__)
        return function

    @noting
    @noting
    def f(x):
        return x if x > 0 else -x

    assert traced(f, -2) == [2.0]
    assert calls == ["f", "f"]


def test_names_like_ours_in_user_code() -> None:
    def f(x):
        ag__ops = x
        if ag__ops > 0:
            ag__t = ag__ops * 2
        else:
            ag__t = ag__ops
        return ag__t

    assert traced(f, 2) == [4.0]
    assert traced(f, -2) == [-2.0]


COUNTER = 0


def count_up(n):
    global COUNTER
    for i in tf.range(n):
        if i > 1:
            COUNTER += 1
    return COUNTER


def test_global_names_as_state() -> None:
    global COUNTER
    COUNTER = 0
    try:
        assert traced(count_up, 5) == [3.0]
    finally:
        COUNTER = 0

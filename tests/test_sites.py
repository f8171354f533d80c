"""Call sites through library code: always the user's nearest line."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import wengert as tf
from wengert.core import sites, user_code
from wengert.explain import doctor

LIBRARY = """
import wengert as tf


def through(depth, work):
    return work() if not depth else through(depth - 1, work)


def compute():
    return tf.negative(1.0)


def infix():
    return ONE + ONE


ONE = tf.constant(1.0)


def inner():
    return through(9, compute)


def other(middle):
    return middle(inner)


def more(work):
    return work()
"""


@pytest.fixture
def library() -> Iterator[Any]:
    """A module that counts as a library's; ways learnt by other tests are forgotten."""
    names: dict[str, Any] = {}
    file = str(Path(tf.__file__).parent / "a_library.py")
    exec(compile(LIBRARY, file, "exec"), names)
    sites._known.clear()
    yield type("Library", (), {k: staticmethod(v) for k, v in names.items() if callable(v)})
    sites._known.clear()


def line(tensor: Any) -> tuple[str, int]:
    where = sites.locate(tensor._site)
    assert where is not None
    return where.function, where.line


def here(tensor: Any) -> str:
    return line(tensor)[0].rpartition(".")[2]


@pytest.mark.parametrize("depth", [0, 1, 3, 5, 6, 7, 15, 40])
def test_the_line_is_right_however_far_away(library: Any, depth: int) -> None:
    for _ in range(100):
        found = library.through(depth, library.compute), tf.negative(1.0)
        assert line(found[0]) == line(found[1])


@pytest.mark.parametrize("work", ["compute", "infix"])
def test_the_way_up_from_every_door_is_remembered(library: Any, work: str) -> None:
    for _ in range(60):
        made = library.through(12, getattr(library, work))
        assert here(made) == "test_the_way_up_from_every_door_is_remembered"
    (known,) = sites._known.values()
    assert known.sure >= sites._SURE
    assert len(known.ways) == 1


def test_several_lines_take_turns(library: Any) -> None:
    for _ in range(60):
        a = library.through(12, library.compute)
        b = library.through(12, library.compute)
        c = library.through(14, library.compute)
        first = line(a)[1]
        assert (line(b)[1], line(c)[1]) == (first + 1, first + 2)


def test_user_code_in_the_middle_is_nearer(library: Any) -> None:
    """The same number of frames, but one of them is the user's."""

    def inner() -> Any:
        return library.through(9, library.compute)

    for _ in range(100):
        plain = library.through(9, inner)
        assert here(plain) == "inner"
    for _ in range(100):
        own = library.through(20, library.compute)
        assert here(own) == "test_user_code_in_the_middle_is_nearer"


def mine(work: Any) -> Any:
    """The user's frame where `more` is the library's."""
    return work()


def test_a_way_that_was_wrong_is_not_trusted_again(library: Any) -> None:
    for _ in range(100):
        assert here(library.other(library.more)) == "test_a_way_that_was_wrong_is_not_trusted_again"
        assert here(library.other(mine)) == "mine"


def test_a_later_change_of_the_way_is_noticed(library: Any) -> None:
    found = [here(library.other(m)) for m in [library.more] * 200 + [mine] * 200]
    own = found[0]
    assert own != "mine"
    assert found[:200] == [own] * 200
    assert found[200 + sites._AGAIN + 1 :] == ["mine"] * (200 - sites._AGAIN - 1)


def test_the_doctor_walks_every_time(library: Any) -> None:
    for _ in range(50):
        library.through(15, library.compute)
    with doctor():
        (known,) = sites._known.values()
        left = known.left
        for _ in range(50):
            assert here(library.through(15, library.compute)) == "test_the_doctor_walks_every_time"
        assert known.left == left


def test_random_stacks(library: Any) -> None:
    """The remembered way against a walk, over programs with frames of both kinds."""
    rng = random.Random(0)
    seen = []

    def user(rest: list[Any]) -> Any:
        return go(rest)

    def go(rest: list[Any]) -> Any:
        if not rest:
            return library.compute()
        kind, *more = rest
        if kind == "user":
            return user(more)
        return library.through(kind, lambda: go(more))

    for _ in range(300):
        chain = [rng.choice(["user", 3, 9, 15]) for _ in range(rng.randint(0, 4))]
        made = go(chain)
        seen.append(here(made) == "go")
    assert all(seen)


def test_what_is_remembered_is_bounded(library: Any) -> None:
    for k in range(sites._MOST + 50):
        sites._known[-k] = sites.Known(library.compute.__code__)
    library.through(15, library.compute)
    assert len(sites._known) <= sites._MOST + 50
    library.through(15, library.compute)
    assert len(sites._known) < sites._MOST


@pytest.mark.parametrize(
    ("path", "library"),
    [
        ("/env/lib/python3.12/site-packages/jax/_src/core.py", True),
        ("/env/lib/python3.12/site-packages/jax_plugins/xla_cuda13/__init__.py", True),
        ("/env/lib/python3.12/site-packages/somebody/model.py", False),
        ("/home/me/jax_model.py", False),
    ],
)
def test_which_files_are_not_the_users(path: str, library: bool) -> None:
    assert user_code.is_library(path) is library

"""The picture of the rooms shows the imports as they are."""

from __future__ import annotations

from tools import rooms


def test_the_picture_is_up_to_date() -> None:
    drawn = rooms.draw(rooms.edges())
    assert rooms.TARGET.read_text() == drawn, "run `python -m tools.rooms`"


def test_edges_that_others_imply_are_left_out() -> None:
    graph = {"a": set(), "b": {"a"}, "c": {"a", "b"}}
    assert rooms.reduced(graph) == {"a": set(), "b": {"a"}, "c": {"b"}}

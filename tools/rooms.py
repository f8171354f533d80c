"""Draws the rooms of `src/wengert` and their imports as an SVG: `python -m tools.rooms`.

The rooms and their order are those of `tests/test_layers.py`, the arrows come from the import
statements. An arrow that others imply (a room imports what a room below it imports, too) is left
out. A test compares `docs/rooms.svg` with what this draws.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from pathlib import Path

from tests.test_layers import FILES, PACKAGE, ROOMS, imports, room

TARGET = Path(__file__).parent.parent / "docs" / "rooms.svg"
WIDTH, HEIGHT, GAP_X, GAP_Y, MARGIN = 116, 34, 22, 40, 16

Edges = dict[str, set[str]]


def edges() -> Edges:
    """The rooms that each room imports from, itself left out."""
    table: Edges = {name: set() for name in ROOMS}
    for path in FILES:
        parts = path.relative_to(PACKAGE).parts
        here = room(parts)
        package = ["wengert", *parts[:-1]]
        for _, names in imports(ast.parse(path.read_text()), package, lazy=True):
            if names[0] == "wengert" and len(names) > 1:
                table[here].add(room(tuple(names[1:])))
        table[here].discard(here)
    return table


def below(graph: Edges, name: str) -> set[str]:
    """All rooms that a room reaches by imports."""
    reached: set[str] = set()
    waiting = list(graph[name])
    while waiting:
        current = waiting.pop()
        if current not in reached:
            reached.add(current)
            waiting += graph[current]
    return reached


def reduced(graph: Edges) -> Edges:
    """The edges that no other path implies."""
    return {
        name: {x for x in targets if not any(x in below(graph, y) for y in targets - {x})}
        for name, targets in graph.items()
    }


def floors(graph: Edges) -> list[list[str]]:
    """The rooms by the length of their longest path to the ground, the lowest first."""
    height: dict[str, int] = {}
    for name in ROOMS:  # a room imports only from rooms before it
        height[name] = 1 + max((height[x] for x in graph[name] if x in height), default=-1)
    top = max(height.values())
    return [[name for name in ROOMS if height[name] == k] for k in range(top + 1)]


def draw(graph: Edges) -> str:
    """The picture: one row for each floor, the ground at the bottom."""
    rows = floors(graph)
    widest = max(map(len, rows))
    width = 2 * MARGIN + widest * WIDTH + (widest - 1) * GAP_X
    height = 2 * MARGIN + len(rows) * HEIGHT + (len(rows) - 1) * GAP_Y
    corner: dict[str, tuple[float, float]] = {}
    for k, row in enumerate(rows):
        left = (width - len(row) * WIDTH - (len(row) - 1) * GAP_X) / 2
        y = height - MARGIN - HEIGHT - k * (HEIGHT + GAP_Y)
        corner |= {name: (left + i * (WIDTH + GAP_X), y) for i, name in enumerate(row)}
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" font-family="sans-serif" font-size="13">',
        "<title>The rooms of src/wengert and their imports, by tools/rooms.py</title>",
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" '
        'markerHeight="7" orient="auto"><path d="M0 0 8 4 0 8z" fill="#667"/></marker></defs>',
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
        *_arrows(reduced(graph), corner),
        *_boxes(corner),
        "</svg>\n",
    ])  # fmt: skip


def _arrows(graph: Edges, corner: dict[str, tuple[float, float]]) -> Iterable[str]:
    for name in ROOMS:
        for target in sorted(graph[name], key=ROOMS.index):
            (x1, y1), (x2, y2) = corner[name], corner[target]
            x1, x2 = x1 + WIDTH / 2, x2 + WIDTH / 2
            yield (
                f'<path d="M{x1:g} {y1 + HEIGHT:g} L{x2:g} {y2:g}" stroke="#667" fill="none" '
                f'marker-end="url(#tip)"/>'
            )


def _boxes(corner: dict[str, tuple[float, float]]) -> Iterable[str]:
    for name, (x, y) in corner.items():
        yield (
            f'<rect x="{x:g}" y="{y:g}" width="{WIDTH}" height="{HEIGHT}" rx="4" '
            f'fill="#eef2fb" stroke="#335"/>'
            f'<text x="{x + WIDTH / 2:g}" y="{y + 22:g}" text-anchor="middle">{name}</text>'
        )


if __name__ == "__main__":
    TARGET.write_text(draw(edges()))

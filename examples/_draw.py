"""Draws panels of lines and dots: in the terminal with braille characters, and as an SVG file.

Owns plotting for the examples and nothing else; knows NumPy and rich, and no tensor library.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

import numpy as np
from rich.text import Text


@dataclass(frozen=True)
class Series:
    """One line, or with `dots` a cloud of points."""

    x: np.ndarray
    y: np.ndarray
    label: str
    colour: str
    dots: bool = False


@dataclass(frozen=True)
class Panel:
    """Series that share axes; with `log` the y axis is logarithmic."""

    title: str
    series: list[Series]
    log: bool = False

    def limits(self) -> tuple[float, float, float, float]:
        """Smallest and largest x, then y (its logarithm where `log`), never an empty range."""
        x = np.concatenate([s.x for s in self.series])
        y = self.scale(np.concatenate([s.y for s in self.series]))
        pad = 0.04 * (np.ptp(y) or 1.0)
        ends = x.min(), x.max() + (np.ptp(x) == 0), y.min() - pad, y.max() + pad
        x0, x1, y0, y1 = (float(end) for end in ends)
        return x0, x1, y0, y1

    def scale(self, y: np.ndarray) -> np.ndarray:
        """`y` as it is drawn."""
        return np.log10(y) if self.log else y

    def pixels(self, s: Series, width: float, height: float) -> tuple[np.ndarray, np.ndarray]:
        """The points of `s` on a canvas whose origin is the upper left corner."""
        x0, x1, y0, y1 = self.limits()
        return (s.x - x0) / (x1 - x0) * width, (y1 - self.scale(s.y)) / (y1 - y0) * height

    def ticks(self) -> tuple[str, str, str, str]:
        """The limits as text, in the units of the data."""
        x0, x1, y0, y1 = self.limits()
        if self.log:
            return (*_ticks(x0, x1), f"{10**y0:.2g}", f"{10**y1:.2g}")
        return _ticks(x0, x1) + _ticks(y0, y1)


def _ticks(low: float, high: float) -> tuple[str, str]:
    """Both ends with the digits that the range between them makes worth reading."""
    digits = 2 - int(np.floor(np.log10(high - low)))
    return f"{round(low, digits):.12g}", f"{round(high, digits):.12g}"


# The bit of each of a braille character's 4×2 dots, by row and column.
BRAILLE = np.array([[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]])


def _dense(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Points along the line at most one pixel apart."""
    steps = np.ceil(np.maximum(np.abs(np.diff(x)), np.abs(np.diff(y)))).astype(int) + 1
    at = np.concatenate([i + np.arange(n) / n for i, n in enumerate(steps)] + [[len(x) - 1.0]])
    index = np.arange(len(x))
    return np.interp(at, index, x), np.interp(at, index, y)


def terminal(panel: Panel, width: int = 72, height: int = 16) -> Text:
    """The panel as coloured text, `width` characters wide and `height` lines high plus labels."""
    bits = np.zeros((height, width), int)
    colours = np.full((height, width), "", object)
    for s in panel.series:
        x, y = panel.pixels(s, 2 * width - 1, 4 * height - 1)
        if not s.dots and len(x) > 1:
            x, y = _dense(x, y)
        for column, row in set(zip(np.rint(x).astype(int), np.rint(y).astype(int), strict=True)):
            bits[row // 4, column // 2] |= BRAILLE[row % 4, column % 2]
            colours[row // 4, column // 2] = s.colour
    x0, x1, y0, y1 = panel.ticks()
    margin = max(len(y0), len(y1))
    out = Text(" " * (margin + 1)).append(panel.title, "bold")
    for s in panel.series:
        out.append("   ").append("●" if s.dots else "━", s.colour).append(f" {s.label}")
    for row in range(height):
        tick = {0: y1, height - 1: y0}.get(row, "")
        out.append(f"\n{tick:>{margin}}│", "dim")
        for b, colour in zip(bits[row], colours[row], strict=True):
            out.append(chr(0x2800 + b) if b else " ", colour)
    out.append(f"\n{'':{margin}}└{'─' * width}\n", "dim")
    return out.append(f"{'':{margin}} {x0}{x1:>{width - len(x0)}}", "dim")


def svg(panels: list[Panel], width: int = 760, height: int = 300) -> str:
    """The panels below each other as one SVG document."""
    left, top, between = 60, 36, 70
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" '
        f'height="{len(panels) * (height + between)}" font-family="sans-serif" font-size="12">',
        '<rect width="100%" height="100%" fill="white"/>',
    ]
    for i, panel in enumerate(panels):
        parts.append(f'<g transform="translate({left},{top + i * (height + between)})">')
        parts += _svg_panel(panel, width - left - 20, height)
        parts.append("</g>")
    return "\n".join([*parts, "</svg>\n"])


def _svg_panel(panel: Panel, width: int, height: int) -> list[str]:
    x0, x1, y0, y1 = panel.ticks()
    parts = [
        f'<rect width="{width}" height="{height}" fill="none" stroke="#999"/>',
        f'<text y="-10" font-weight="bold">{escape(panel.title)}</text>',
        f'<text x="-6" y="10" text-anchor="end">{y1}</text>',
        f'<text x="-6" y="{height}" text-anchor="end">{y0}</text>',
        f'<text y="{height + 16}">{x0}</text>',
        f'<text x="{width}" y="{height + 16}" text-anchor="end">{x1}</text>',
    ]
    for i, s in enumerate(panel.series):
        x, y = panel.pixels(s, width, height)
        points = list(zip(x.round(1), y.round(1), strict=True))
        if s.dots:
            parts += [f'<circle cx="{a}" cy="{b}" r="1.8" fill="{s.colour}"/>' for a, b in points]
        else:
            line = " ".join(f"{a},{b}" for a, b in points)
            parts.append(
                f'<polyline points="{line}" fill="none" stroke="{s.colour}" stroke-width="2"/>'
            )
        at = width - 110 * (len(panel.series) - i)
        parts.append(f'<text x="{at}" y="-10" fill="{s.colour}">{escape(s.label)}</text>')
    return parts

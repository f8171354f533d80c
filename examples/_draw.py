"""Draws panels of lines, dots and images: in the terminal, and as an SVG file.

Owns plotting for the examples and nothing else; knows NumPy and rich, and no tensor library.
In the terminal lines are made of braille characters, images of shaded blocks.
"""

from __future__ import annotations

import base64
import struct
import zlib
from dataclasses import dataclass
from html import escape
from pathlib import Path

import numpy as np
from rich.console import Console
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


@dataclass(frozen=True)
class Images:
    """Images beside each other, in rows: `count × height × width` with values from 0 to 1.

    A last axis of size 3 holds red, green and blue. Captions stand below the images of the file;
    those that begin with "!" are red. The terminal shows the first row alone.
    """

    title: str
    images: np.ndarray
    captions: tuple[str, ...] = ()
    columns: int = 12

    def bytes(self) -> np.ndarray:
        """All images as `count × height × width × 3` bytes."""
        values = np.rint(255 * np.clip(self.images, 0.0, 1.0)).astype(np.uint8)
        return values if values.ndim == 4 else np.repeat(values[..., None], 3, axis=-1)


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


def terminal(panel: Panel | Images, width: int = 72, height: int = 16) -> Text:
    """The panel as coloured text, `width` characters wide and `height` lines high plus labels."""
    if isinstance(panel, Images):
        return _shades(panel, width)
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


SHADES = " ░▒▓█"


def _shades(panel: Images, width: int) -> Text:
    """The first images beside each other, shrunk until four of them fit; readable in grey too."""
    pixels = panel.bytes() / 255.0
    count, _, w, _ = pixels.shape
    fit = min(count, panel.columns, 4)
    step = max(1, -(-fit * (w + 1) // width))
    pixels = pixels[: min(count, panel.columns, width // (-(-w // step) + 1))]
    cells = [_shrunk(image, 2 * step, step) for image in pixels]  # characters are twice as high
    out = Text(panel.title, "bold")
    for rows in zip(*cells, strict=True):
        out.append("\n")
        for row in rows:
            for colour in row:
                bright = colour.max()
                r, g, b = (int(255 * c / max(bright, 1e-3)) for c in colour)
                out.append(SHADES[round(4 * bright)], f"rgb({r},{g},{b})")
            out.append(" ")
    return out


def _shrunk(image: np.ndarray, high: int, wide: int) -> np.ndarray:
    """Means over cells of `high × wide` pixels; what is left over at the edges is dropped."""
    h, w = image.shape[0] // high, image.shape[1] // wide
    return image[: h * high, : w * wide].reshape(h, high, w, wide, 3).mean(axis=(1, 3))


def show(panels: list[Panel | Images], console: Console, out: Path) -> None:
    """Prints the panels and writes the picture."""
    for panel in panels:
        console.print(terminal(panel, width=min(100, console.width - 10)))
    out.write_text(svg(panels), encoding="utf-8")


def svg(panels: list[Panel | Images] | list[Panel], width: int = 760, height: int = 300) -> str:
    """The panels below each other as one SVG document."""
    left, y, between = 60, 36, 70
    parts = ['<rect width="100%" height="100%" fill="white"/>']
    for panel in panels:
        parts.append(f'<g transform="translate({left},{y})">')
        if isinstance(panel, Images):
            drawn, high = _svg_images(panel, width - left - 20)
        else:
            drawn, high = _svg_panel(panel, width - left - 20, height), height
        parts += [*drawn, "</g>"]
        y += high + between
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{y - 36}" '
        f'font-family="sans-serif" font-size="12">'
    )
    return "\n".join([head, *parts, "</svg>\n"])


def _svg_images(panel: Images, width: int) -> tuple[list[str], int]:
    """The drawing and its height; pixels stay squares however large they are drawn."""
    pixels = panel.bytes()
    size = width // panel.columns
    tall = round((size - 4) * pixels.shape[1] / pixels.shape[2])
    high = tall + 4 + 14 * bool(panel.captions)
    parts = [f'<text y="-10" font-weight="bold">{escape(panel.title)}</text>']
    for i, image in enumerate(pixels):
        x, y = i % panel.columns * size, i // panel.columns * high
        data = base64.b64encode(png(image)).decode()
        parts.append(
            f'<image x="{x}" y="{y}" width="{size - 4}" height="{tall}" '
            f'style="image-rendering:pixelated" href="data:image/png;base64,{data}"/>'
        )
    for i, caption in enumerate(panel.captions):
        x, y = i % panel.columns * size, (i // panel.columns + 1) * high - 6
        colour = "#cc2222" if caption.startswith("!") else "#444"
        parts.append(f'<text x="{x}" y="{y}" fill="{colour}">{escape(caption.lstrip("!"))}</text>')
    return parts, -(-len(pixels) // panel.columns) * high


def png(image: np.ndarray) -> bytes:
    """A PNG file of `height × width × 3` bytes."""
    height, width, _ = image.shape

    def chunk(name: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        )

    rows = b"".join(b"\0" + row.tobytes() for row in np.ascontiguousarray(image))
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
        + chunk(b"IDAT", zlib.compress(rows, 9))
        + chunk(b"IEND", b"")
    )


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
    apart = min(110, 24 + 9 * max(len(s.label) for s in panel.series))
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
        at = width - apart * (len(panel.series) - i)
        parts.append(f'<text x="{at}" y="-10" fill="{s.colour}">{escape(s.label)}</text>')
    return parts

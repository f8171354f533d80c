"""Draws digits by hand: strokes, turned, slanted and thickened at random, as small grey images.

Owns the data of the examples that need images, so that nothing is downloaded; knows NumPy alone.
"""

from __future__ import annotations

import numpy as np


def _arc(x: float, y: float, rx: float, ry: float, start: float, end: float) -> np.ndarray:
    """Points on an ellipse, from one angle to another in turns; 0 is right, 1/4 is down."""
    turn = 2 * np.pi * np.linspace(start, end, 9)
    return np.stack([x + rx * np.cos(turn), y + ry * np.sin(turn)], axis=1)


def _line(*points: tuple[float, float]) -> np.ndarray:
    return np.array(points)


# Each digit as strokes in a square from -1 to 1, y pointing down.
STROKES = [
    [_arc(0, 0, 0.55, 0.9, 0, 1)],
    [_line((-0.35, -0.55), (0.05, -0.9), (0.05, 0.9))],
    [_arc(0, -0.4, 0.5, 0.5, -0.5, 0.1), _line((0.4, -0.1), (-0.55, 0.9), (0.6, 0.9))],
    [_arc(0, -0.45, 0.5, 0.45, -0.4, 0.25), _arc(0, 0.45, 0.55, 0.45, -0.25, 0.4)],
    [_line((0.15, -0.9), (-0.6, 0.3), (0.6, 0.3)), _line((0.25, -0.2), (0.25, 0.9))],
    [_line((0.5, -0.9), (-0.4, -0.9), (-0.45, -0.1)), _arc(-0.05, 0.35, 0.55, 0.52, -0.35, 0.4)],
    [_arc(0.1, 0.1, 0.6, 1.0, -0.22, -0.5), _arc(0, 0.4, 0.5, 0.5, 0, 1)],
    [_line((-0.55, -0.9), (0.55, -0.9), (-0.1, 0.9))],
    [_arc(0, -0.45, 0.42, 0.43, 0, 1), _arc(0, 0.43, 0.5, 0.47, 0, 1)],
    [_arc(0, -0.4, 0.5, 0.48, 0, 1), _line((0.5, -0.4), (0.35, 0.9))],
]


def _segments(strokes: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Both ends of every piece of the strokes."""
    starts = np.concatenate([s[:-1] for s in strokes])
    return starts, np.concatenate([s[1:] for s in strokes])


def _moved(points: np.ndarray, rng: np.random.Generator, count: int) -> np.ndarray:
    """`count` versions of the points: turned, slanted, scaled, shifted."""
    turn, slant = rng.normal(0.0, 0.12, (2, count))
    wide, high = rng.uniform(0.65, 1.0, (2, count))
    rows = np.array([[wide * np.cos(turn), wide * (slant - np.sin(turn))],
                     [high * np.sin(turn), high * np.cos(turn)]])  # fmt: skip
    return np.einsum("ijn,pj->npi", rows, points) + rng.uniform(-0.15, 0.15, (count, 1, 2))


def draw(rng: np.random.Generator, digit: int, count: int, size: int) -> np.ndarray:
    """`count` images of one digit, `size × size`, from 0 to 1."""
    starts, ends = _segments(STROKES[digit])
    moved = _moved(np.concatenate([starts, ends]), rng, count).astype(np.float32)
    a, b = moved[:, None, : len(starts)], moved[:, None, len(starts) :]
    axis = np.linspace(-1.25, 1.25, size, dtype=np.float32)
    pixels = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(1, -1, 1, 2)
    along = b - a
    share = ((pixels - a) * along).sum(-1) / (along**2).sum(-1)
    nearest = a + np.clip(share, 0.0, 1.0)[..., None] * along
    distance = np.sqrt(((pixels - nearest) ** 2).sum(-1)).min(-1)
    width = rng.uniform(0.08, 0.17, (count, 1))
    ink = 1.0 / (1.0 + np.exp((distance - width) * 2.2 * size / 2.5))
    return ink.reshape(count, size, size)


def digits(
    rng: np.random.Generator, count: int, size: int = 28, noise: float = 0.05
) -> tuple[np.ndarray, np.ndarray]:
    """`count` images and their labels, in random order."""
    labels = rng.integers(0, 10, count)
    images = np.empty((count, size, size), np.float32)
    for digit in range(10):
        at = np.flatnonzero(labels == digit)
        for part in np.array_split(at, max(1, len(at) // 64)):
            images[part] = draw(rng, digit, len(part), size)
    images += noise * rng.standard_normal(images.shape).astype(np.float32)
    return np.clip(images, 0.0, 1.0), labels

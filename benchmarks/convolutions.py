"""`python -m benchmarks.convolutions`: ways to compute a convolution on the CPU with XLA.

For each shape the three products of a training step (forward, gradient by input, gradient by
filter), each by XLA's own convolution, by a matrix product for each place of the window, and by
matrix products of gathered patches of a few images at a time; in milliseconds, best of some turns.
"""

from __future__ import annotations

import functools
import itertools
import time
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jax import lax

from wengert.core.compiler import options

# images, side, channels in, channels out, side of the window; stride 1, padding SAME
SHAPES = [
    (128, 28, 1, 32, 3),
    (128, 26, 32, 64, 3),
    (32, 32, 3, 32, 3),
    (32, 32, 32, 32, 3),
    (32, 32, 64, 64, 3),
    (32, 16, 64, 128, 3),
    (32, 8, 128, 128, 3),
    (32, 28, 16, 32, 5),
    (32, 32, 32, 64, 1),
    (8, 14, 256, 256, 3),
    (8, 7, 512, 512, 3),
]
BLOCK = 1 << 20  # bytes of patches that are gathered at a time
TURNS = 9

Array = Any


def own(x: Array, w: Array) -> Array:
    return lax.conv_general_dilated(
        x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
    )


def _met(x: Array, side: int) -> list[Array]:
    """What each place of the window meets, image by image."""
    low = (side - 1) // 2
    ends = (low, side - 1 - low, 0)
    padded = lax.pad(x, x.dtype.type(0), [(0, 0, 0), ends, ends, (0, 0, 0)])
    n, height, width, channels = x.shape
    return [
        lax.slice(padded, (0, i, j, 0), (n, i + height, j + width, channels))
        for i, j in itertools.product(range(side), repeat=2)
    ]


def _rows(x: Array) -> Array:
    return x.reshape(-1, x.shape[-1])


def by_place(x: Array, w: Array) -> Array:
    parts = zip(_met(x, w.shape[0]), w.reshape(-1, *w.shape[2:]), strict=True)
    total = functools.reduce(lax.add, [lax.dot(_rows(part), tap) for part, tap in parts])
    return total.reshape(*x.shape[:3], -1)


def _blocks(x: Array, side: int) -> int:
    """How many images are gathered at a time: a divisor of their number."""
    most = max(1, BLOCK // (x[0].size * side * side * 4))
    return max(n for n in range(1, x.shape[0] + 1) if x.shape[0] % n == 0 and n <= most)


def by_patches(x: Array, w: Array) -> Array:
    side, count = w.shape[0], _blocks(x, w.shape[0])

    def block(part: Array) -> Array:
        return lax.dot(_rows(lax.concatenate(_met(part, side), 3)), w.reshape(-1, w.shape[-1]))

    return lax.map(block, x.reshape(-1, count, *x.shape[1:])).reshape(*x.shape[:3], -1)


def filter_by_place(x: Array, g: Array, side: int) -> Array:
    flat = _rows(g)
    parts = [lax.dot_general(_rows(p), flat, (((0,), (0,)), ((), ()))) for p in _met(x, side)]
    return jax.numpy.stack(parts).reshape(side, side, x.shape[-1], -1)


def filter_by_patches(x: Array, g: Array, side: int) -> Array:
    count, start = _blocks(x, side), np.zeros((side**2 * x.shape[-1], g.shape[-1]), np.float32)

    def add(total: Array, pair: tuple[Array, Array]) -> tuple[Array, None]:
        patches = _rows(lax.concatenate(_met(pair[0], side), 3))
        return total + lax.dot_general(patches, _rows(pair[1]), (((0,), (0,)), ((), ()))), None

    pairs = tuple(v.reshape(-1, count, *v.shape[1:]) for v in (x, g))
    return lax.scan(add, start, pairs)[0].reshape(side, side, x.shape[-1], -1)


def _turned(w: Array) -> Array:
    return lax.transpose(lax.rev(w, (0, 1)), (0, 1, 3, 2))


def seconds(run: Callable[..., Array], *args: np.ndarray) -> tuple[float, np.ndarray]:
    """The best time of a compiled function, and its result."""
    program = jax.jit(run, compiler_options=options())
    result, best = np.asarray(program(*args)), float("inf")
    for _ in range(TURNS):
        start = time.perf_counter()
        jax.block_until_ready(program(*args))
        best = min(best, time.perf_counter() - start)
    return best, result


def main() -> None:
    r = np.random.default_rng(0)
    print("| images, side, in, out, window | product | XLA's own | by place | by patches |")
    print("|---|---|---|---|---|")
    for n, size, inner, outer, side in SHAPES:
        x, w, g = (
            r.standard_normal(shape, np.float32)
            for shape in (
                (n, size, size, inner),
                (side, side, inner, outer),
                (n, size, size, outer),
            )
        )
        by_filter = lambda x, g, w=w: jax.vjp(lambda w: own(x, w), w)[1](g)[0]
        products = {
            "forward": ((x, w), (own, by_place, by_patches)),
            "by input": (
                (g, w),
                [lambda g, w, f=f: f(g, _turned(w)) for f in (own, by_place, by_patches)],
            ),
            "by filter": (
                (x, g),
                [by_filter, *(functools.partial(f, side=side)
                              for f in (filter_by_place, filter_by_patches))],
            ),
        }  # fmt: skip
        for name, (args, ways) in products.items():
            times, results = zip(*(seconds(way, *args) for way in ways), strict=True)
            assert all(np.allclose(results[0], y, 1e-2, 1e-2) for y in results), "ways disagree"
            cells = " | ".join(f"{1e3 * t:.2f}" for t in times)
            print(f"| {n}, {size}, {inner}, {outer}, {side} | {name} | {cells} |", flush=True)


if __name__ == "__main__":
    main()

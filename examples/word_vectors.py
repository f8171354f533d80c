"""Learns word vectors with a table of a million rows, touching a few hundred rows a step.

    python examples/word_vectors.py --steps 6000 --out word_vectors.svg

A made-up language has twelve themes around a circle; a text drifts from theme to theme, so words
that stand near each other are related (skip-gram with negative samples). The gradient of a lookup
is a set of rows, and Adagrad updates those rows alone. Ends with the common words' vectors in the
plane, and what a step costs with a small table and with the large one.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import Progress

import wengert as tf
from _draw import Panel, Series, show

WORDS, WIDTH, THEMES = 1_000_000, 24, 12
BATCH, NEGATIVES = 256, 4
PALETTE = ["#d62728", "#ff7f0e", "#bcbd22", "#2ca02c", "#17becf", "#1f77b4",
           "#3344dd", "#9467bd", "#c244c2", "#e377c2", "#8c564b", "#7f7f7f"]  # fmt: skip


class Language:
    """Words by rank: frequent ones first, as in every language, and word i is about i % THEMES."""

    def __init__(self, rng, words):
        self.rng, self.words = rng, words

    def ranks(self, count):
        """Zipf's law, cut off at the end of the vocabulary."""
        return np.exp(self.rng.uniform(0.0, np.log(self.words // THEMES), count)).astype(int)

    def pairs(self, count):
        """Words that stand near each other: of the same theme, or one next to it."""
        theme = self.rng.integers(THEMES, size=count)
        other = (theme + self.rng.choice([-1, 0, 0, 0, 1], count)) % THEMES
        word = self.ranks(count) * THEMES - THEMES + theme
        return word, self.ranks(count) * THEMES - THEMES + other

    def anything(self, shape):
        """Words from all over the text."""
        ranks = self.ranks(int(np.prod(shape)))
        return (ranks * THEMES - THEMES + self.rng.integers(THEMES, size=ranks.size)).reshape(shape)


class Table(tf.Module):
    """Vectors of words, updated row by row: each row has its own step size (Adagrad)."""

    def __init__(self, rng, words):
        super().__init__()
        values = rng.standard_normal((words, WIDTH), dtype=np.float32)
        self.rows = tf.Variable(0.3 * values)
        self.seen = tf.Variable(tf.fill([words, 1], 0.1))

    def update(self, gradient, rate):
        """`gradient` is an IndexedSlices: the rows that were looked up, some of them twice."""
        at, inverse = tf.unique(gradient.indices)
        values = tf.math.unsorted_segment_sum(gradient.values, inverse, tf.size(at))
        size = tf.reduce_mean(values**2, axis=1, keepdims=True)
        self.seen.scatter_add(tf.IndexedSlices(size, at))
        step = rate * values * tf.math.rsqrt(tf.gather(self.seen, at))
        self.rows.scatter_sub(tf.IndexedSlices(step, at))


def train_step(inner, outer, word, near, far, rate):
    """Pulls words that stand together, pushes those that do not."""
    with tf.GradientTape() as tape:
        x = tf.nn.embedding_lookup(inner.rows, word)
        good = tf.reduce_sum(x * tf.nn.embedding_lookup(outer.rows, near), axis=1)
        bad = tf.einsum("bw,bnw->bn", x, tf.nn.embedding_lookup(outer.rows, far))
        loss = tf.reduce_sum(tf.nn.softplus(-good)) + tf.reduce_sum(tf.nn.softplus(bad))
    for table, gradient in zip(
        (inner, outer), tape.gradient(loss, [inner.rows, outer.rows]), strict=True
    ):
        table.update(gradient, rate)
    return loss / (BATCH * (1 + NEGATIVES))


def batch(language):
    word, near = language.pairs(BATCH)
    return tf.constant(word), tf.constant(near), tf.constant(language.anything((BATCH, NEGATIVES)))


def milliseconds(rng, words, steps=100):
    """What a step costs with a table of so many words."""
    language, tables = Language(rng, words), (Table(rng, words), Table(rng, words))
    batches = [batch(language) for _ in range(steps)]
    train_step(*tables, *batches[0], 0.1)
    start = time.process_time()
    for given in batches:
        train_step(*tables, *given, 0.1)
    return (time.process_time() - start) / steps * 1000


def plane(vectors):
    """The two directions in which the vectors differ most."""
    centred = vectors - vectors.mean(axis=0)
    return centred @ np.linalg.svd(centred, full_matrices=False)[2][:2].T


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=6000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("word_vectors.svg"))
    options = parser.parse_args()
    console, rng = Console(), np.random.default_rng(options.seed)

    with console.status("a million rows"):
        inner, outer, language = Table(rng, WORDS), Table(rng, WORDS), Language(rng, WORDS)
    losses = []
    with Progress(console=console) as progress:
        task = progress.add_task("reading", total=options.steps)
        for _ in range(options.steps):
            losses.append(float(train_step(inner, outer, *batch(language), 0.1)))
            progress.update(task, advance=1, description=f"loss {losses[-1]:.3f}")

    common = np.arange(60 * THEMES)
    flat = plane(inner.rows[: len(common)].numpy())
    window = min(50, len(losses))
    smooth = np.convolve(losses, np.ones(window) / window, "valid")
    themes = [
        Series(*flat[common % THEMES == i].T, str(i + 1), PALETTE[i], dots=True)
        for i in range(THEMES)
    ]
    panels = [
        Panel("loss", [Series(np.arange(len(smooth)), smooth, "nats per pair", "#cc6600")]),
        Panel("words, by theme", themes),
    ]
    show(panels, console, options.out)
    small, large = milliseconds(rng, 10_000), milliseconds(rng, WORDS)
    console.print(
        f"a step with 10,000 rows {small:.2f} ms, with 1,000,000 rows {large:.2f} ms; "
        f"picture in [bold]{options.out}[/]"
    )


if __name__ == "__main__":
    main()

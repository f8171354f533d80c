"""Writes verse letter by letter: a two-layer transformer trained on two poems of Lewis Carroll.

    python examples/char_transformer.py --steps 1000 --out char_transformer.svg

The model is plain operations: embeddings, causal attention by `einsum`, normalisation, a mixer.
Training is one compiled step. Ends with the loss, one head's attention over a line, and new verse.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import Progress

import wengert as tf
from _draw import Images, Panel, Series, show

CONTEXT, WIDTH, HEADS, LAYERS, BATCH = 48, 64, 4, 2, 16

TEXT = """\
The sun was shining on the sea,
Shining with all his might:
He did his very best to make
The billows smooth and bright:
And this was odd, because it was
The middle of the night.

The moon was shining sulkily,
Because she thought the sun
Had got no business to be there
After the day was done:
"It's very rude of him," she said,
"To come and spoil the fun!"

The sea was wet as wet could be,
The sands were dry as dry.
You could not see a cloud, because
No cloud was in the sky:
No birds were flying overhead:
There were no birds to fly.

The Walrus and the Carpenter
Were walking close at hand:
They wept like anything to see
Such quantities of sand:
"If this were only cleared away,"
They said, "it would be grand!"

"If seven maids with seven mops
Swept it for half a year,
Do you suppose," the Walrus said,
"That they could get it clear?"
"I doubt it," said the Carpenter,
And shed a bitter tear.

"O Oysters, come and walk with us!"
The Walrus did beseech.
"A pleasant walk, a pleasant talk,
Along the briny beach:
We cannot do with more than four,
To give a hand to each."

The eldest Oyster looked at him,
But never a word he said:
The eldest Oyster winked his eye,
And shook his heavy head:
Meaning to say he did not choose
To leave the oyster-bed.

"The time has come," the Walrus said,
"To talk of many things:
Of shoes and ships and sealing-wax,
Of cabbages and kings:
And why the sea is boiling hot,
And whether pigs have wings."

'Twas brillig, and the slithy toves
Did gyre and gimble in the wabe:
All mimsy were the borogoves,
And the mome raths outgrabe.

"Beware the Jabberwock, my son!
The jaws that bite, the claws that catch!
Beware the Jubjub bird, and shun
The frumious Bandersnatch!"

He took his vorpal sword in hand:
Long time the manxome foe he sought,
So rested he by the Tumtum tree,
And stood awhile in thought.

And, as in uffish thought he stood,
The Jabberwock, with eyes of flame,
Came whiffling through the tulgey wood,
And burbled as it came!

One, two! One, two! And through and through
The vorpal blade went snicker-snack!
He left it dead, and with its head
He went galumphing back.

"And hast thou slain the Jabberwock?
Come to my arms, my beamish boy!
O frabjous day! Callooh! Callay!"
He chortled in his joy.
"""


class Block(tf.Module):
    """Attention, then a mixer, each added to what came in."""

    def __init__(self, rng):
        super().__init__()
        normal = lambda *shape: rng.normal(0.0, shape[0] ** -0.5, shape).astype(np.float32)
        self.qkv = tf.Variable(normal(WIDTH, 3, HEADS, WIDTH // HEADS))
        self.out = tf.Variable(normal(WIDTH, WIDTH) / math.sqrt(2 * LAYERS))
        self.wide = tf.Variable(normal(WIDTH, 4 * WIDTH))
        self.narrow = tf.Variable(normal(4 * WIDTH, WIDTH) / math.sqrt(2 * LAYERS))
        self.scales = tf.Variable(tf.ones([2, WIDTH]))

    def weights(self, x):
        """How much each letter looks at each earlier one, head by head; and the values."""
        qkv = tf.einsum("btw,wkhd->kbhtd", normalised(x) * self.scales[0], self.qkv)
        scores = tf.einsum("bhtd,bhsd->bhts", qkv[0], qkv[1]) * (WIDTH // HEADS) ** -0.5
        size = tf.shape(x)[1]
        seen = tf.linalg.band_part(tf.ones([size, size], tf.bool), -1, 0)
        return tf.nn.softmax(tf.where(seen, scores, -1e9)), qkv[2]

    def __call__(self, x):
        weights, values = self.weights(x)
        mixed = tf.einsum("bhts,bhsd->bthd", weights, values)
        x += tf.reshape(mixed, tf.shape(x)) @ self.out
        return x + tf.nn.gelu((normalised(x) * self.scales[1]) @ self.wide) @ self.narrow


def normalised(x):
    """Each letter's vector with mean 0 and variance 1."""
    mean, variance = tf.nn.moments(x, axes=[-1], keepdims=True)
    return (x - mean) * tf.math.rsqrt(variance + 1e-5)


class Transformer(tf.Module):
    def __init__(self, rng, letters):
        super().__init__()
        normal = lambda *shape: rng.normal(0.0, 0.3, shape).astype(np.float32)
        self.letters = tf.Variable(normal(letters, WIDTH))
        self.places = tf.Variable(normal(CONTEXT, WIDTH))
        self.blocks = [Block(rng) for _ in range(LAYERS)]
        self.head = tf.Variable(0.1 * normal(WIDTH, letters))

    def embed(self, codes):
        return tf.gather(self.letters, codes) + self.places[: tf.shape(codes)[1]]

    def __call__(self, codes):
        """The chances of the next letter, as logits, after each letter."""
        x = self.embed(codes)
        for block in self.blocks:
            x = block(x)
        return normalised(x) @ self.head


class Trainer:
    """A compiled step of Adam."""

    def __init__(self, model):
        self.model = model
        self.variables = model.trainable_variables
        self.means = [tf.Variable(tf.zeros_like(v)) for v in self.variables]
        self.squares = [tf.Variable(tf.zeros_like(v)) for v in self.variables]

    @tf.function
    def step(self, codes, rate):
        with tf.GradientTape() as tape:
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(
                codes[:, 1:], self.model(codes[:, :-1])
            )
            loss = tf.reduce_mean(losses)
        gradients, _ = tf.clip_by_global_norm(tape.gradient(loss, self.variables), 1.0)
        for v, m, s, g in zip(self.variables, self.means, self.squares, gradients, strict=True):
            g = tf.convert_to_tensor(g)  # of the table of letters only some rows came
            m.assign_add(0.1 * (g - m))
            s.assign_add(0.01 * (g * g - s))
            v.assign_sub(rate * m / (tf.sqrt(s) + 1e-8))
        return loss


@tf.function
def write(model, codes, count, heat):
    """`count` more letters, each drawn from the model's chances after those before it."""
    written = tf.TensorArray(tf.int32, size=count)
    for i in tf.range(count):
        logits = model(codes)[:, -1] / heat
        letter = tf.random.categorical(logits, 1, dtype=tf.int32)
        written = written.write(i, letter[0, 0])
        codes = tf.concat([codes[:, 1:], letter], axis=1)
    return written.stack()


def attention(model, codes):
    """What the heads of the last layer look at, each as an image: bright is much."""
    x = model.embed(codes)
    for block in model.blocks[:-1]:
        x = block(x)
    weights, _ = model.blocks[-1].weights(x)
    return weights.numpy()[0] ** 0.5


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("char_transformer.svg"))
    options = parser.parse_args()
    console, rng = Console(), np.random.default_rng(options.seed)
    tf.random.set_seed(options.seed)

    letters = sorted(set(TEXT))
    codes = np.array([letters.index(c) for c in TEXT], np.int32)
    model = Transformer(rng, len(letters))
    trainer, losses = Trainer(model), []
    with Progress(console=console) as progress:
        task = progress.add_task("reading", total=options.steps)
        for i in range(options.steps):
            starts = rng.integers(len(codes) - CONTEXT, size=(BATCH, 1))
            rate = 1.5e-3 * min(1.0, (i + 1) / 50) * (1.01 + math.cos(math.pi * i / options.steps))
            batch = tf.constant(codes[starts + np.arange(CONTEXT + 1)])
            losses.append(float(trainer.step(batch, tf.constant(rate))))
            progress.update(task, advance=1, description=f"nats per letter {losses[-1]:.3f}")

    start = tf.constant(codes[None, :CONTEXT])
    with console.status("writing"):
        written = write(model, start, tf.constant(400), tf.constant(0.6))
    shown = attention(model, start)
    panels = [
        Panel("loss", [Series(np.arange(len(losses)), np.array(losses), "nats", "#cc6600")]),
        Images(
            "what each head looks at: a row per letter, a column per earlier letter",
            shown,
            columns=4,
        ),
    ]
    show(panels, console, options.out)
    console.print(
        TEXT[:CONTEXT] + "".join(letters[c] for c in written.numpy()), style="italic", markup=False
    )
    console.print(f"\nnats per letter {losses[-1]:.3f}; picture in [bold]{options.out}[/]")


if __name__ == "__main__":
    main()

"""What to do about errors that Python and Keras raise in their own words.

The hints are added as notes while an error is shown (see `suggestions`). Each stands beside the words
that it answers; only errors that came through a frame of Wengert or Keras, or are about one of our
objects, are looked at.
"""

from __future__ import annotations

import difflib
import re
import sys
from collections.abc import Iterable

# Beginnings or parts of messages, and the remedy.
_HINTS: list[tuple[re.Pattern[str], str]] = [
    (re.compile(words), remedy)
    for words, remedy in (
        (
            r"`target` and `output` must have the same (rank|shape)",
            "Labels that are numbers of classes go with a loss or metric whose name begins with "
            "Sparse; one-hot labels are made by tf.one_hot(labels, depth).",
        ),
        (
            r"^Invalid dtype: (str|object|<U|<class 'str)",
            "Make numbers of text first, e.g. with tf.keras.layers.StringLookup or "
            "tf.strings.to_number.",
        ),
        (
            r"'Tensor' object has no attribute '_unique_id'",
            "`apply_gradients` takes pairs of gradient and variable, in this order: "
            "zip(gradients, variables).",
        ),
        (
            r"^No gradients provided for any variable",
            "All gradients are None; tape.explain(target, variable) says why.",
        ),
        (
            r"'\w*Dataset' object is not subscriptable",
            "Write `for x in dataset`; element i is next(iter(dataset.skip(i))).",
        ),
        (
            r"is incompatible with the layer: expected axis -?\d+ of input shape to have value",
            "The layer was made for inputs of another width: compare the shape of the data with that "
            "of the Input, or of the data that came first.",
        ),
        (
            r"is incompatible with the layer: expected (min_)?ndim=\d+, found ndim=",
            "An axis that is missing is added by x[..., tf.newaxis] or tf.expand_dims(x, axis); "
            "the first axis is that of the batch.",
        ),
        (
            r"^All `(inputs|outputs)` values must be KerasTensors",
            "Build the model of tf.keras.Input(shape), and call it on data afterwards.",
        ),
        (r"^Cannot convert '.*' to a shape", "Give the sizes as a tuple, such as (3,)."),
        (
            r"objects could not be loaded",
            "The model needs the layers and sizes that it had when its weights were saved; "
            "skip_mismatch=True leaves out what does not fit.",
        ),
        (
            r"^'(Tensor|FreshTensor|ResourceVariable|Variable)' object is not callable",
            "A tensor stands where a function is called: is its name that of the function, too?",
        ),
    )
]
_IDENTIFIER = re.compile(r"^Could not interpret (\w+)(?: function)? identifier: '?(\w+)'?$")
# Where Keras looks for what a name stands for.
_HOMES = {
    "activation": "activations",
    "optimizer": "optimizers",
    "loss": "losses",
    "metric": "metrics",
    "initializer": "initializers",
    "regularizer": "regularizers",
    "constraint": "constraints",
}
_SHORT = {"metric": ("acc", "accuracy", "mse", "mae"), "loss": ("mse", "mae")}


def hint(text: str) -> str | None:
    """What to do about an error with this text, if it is one of those known here."""
    match = _IDENTIFIER.match(text)
    if match is not None:
        return _nearest(match[2], _names(match[1]))
    return next((remedy for words, remedy in _HINTS if words.search(text)), None)


def _names(kind: str) -> list[str]:
    module = sys.modules.get(f"keras.{_HOMES.get(kind, kind)}")
    public = (n for n in vars(module or object) if n[0] != "_")
    return [*public, *_SHORT.get(kind, ())]


def _nearest(name: str, names: Iterable[str]) -> str | None:
    """The name that is spelt most alike; Keras does not mind capitals."""
    spelt = {n.lower(): n for n in sorted(names)}
    near = difflib.get_close_matches(name.lower(), spelt, 1, 0.6)
    return f'Did you mean "{spelt[near[0]]}"?' if near else None

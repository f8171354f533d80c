"""Packages that cannot run without TensorFlow itself, why, and what to use instead."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
from collections.abc import Sequence
from types import ModuleType

_BINARY = "its operations are compiled for TensorFlow's own library"
_GRAPHS = "it reads TensorFlow's GraphDefs, which Wengert does not have"

# By the name that programs import: the reason, and the alternative.
PACKAGES = {
    "tensorflow_addons": (_BINARY, "Most of it is in Keras: tf.keras.optimizers, losses, layers."),
    "tensorflow_decision_forests": (
        _BINARY,
        "Use the package ydf, which does not need TensorFlow.",
    ),
    "tensorflow_io": (_BINARY, "Read the files with Python and tf.data.Dataset.from_generator."),
    "tensorflow_quantum": (_BINARY, "Use PennyLane or Cirq."),
    "tensorflow_recommenders_addons": (_BINARY, "Use tf.nn.embedding_lookup and Keras."),
    "tensorflow_text": (_BINARY, "Use tf.strings, keras_hub's tokenizers, or tokenizers."),
    "tf2onnx": (_GRAPHS, "Export the Keras model on the backend torch, or with jax2onnx."),
    "tflite_model_maker": (_GRAPHS, "Convert the model with TensorFlow itself."),
    "tflite_support": (_BINARY, "Convert and run the model with TensorFlow itself."),
}


class Refusal(importlib.abc.Loader):
    """Loads nothing: importing the package is an error that says why."""

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        why, instead = PACKAGES[spec.name]
        raise ImportError(
            f"{spec.name}: it cannot run on Wengert, since {why}. {instead}", name=spec.name
        )

    def exec_module(self, module: ModuleType) -> None:
        raise AssertionError("no module is made")


def refusal(fullname: str, path: Sequence[str] | None) -> importlib.machinery.ModuleSpec | None:
    """The spec of a package that is installed and cannot run; `None` for all others."""
    if fullname not in PACKAGES or importlib.machinery.PathFinder.find_spec(fullname, path) is None:
        return None
    return importlib.machinery.ModuleSpec(fullname, Refusal())

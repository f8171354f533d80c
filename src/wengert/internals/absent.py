"""Classes of which there are no objects here: libraries only ask whether something is one."""

from __future__ import annotations

from typing import Any

from wengert.core.errors import at_site


class _Absent:
    """A class that libraries test for; making an object of it is an error."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        name = type(self).__name__
        raise at_site(
            NotImplementedError(f"{name}: Wengert has no such objects. {_REMEDIES.get(name, '')}")
        )


_REMEDIES = {
    "RaggedTensorValue": "Make a tf.RaggedTensor.",
    "ClusterCoordinator": "Programs run in one process; see tf.distribute.",
    "Transformer": "See tf.autograph.to_graph.",
    "Optimizer": "It belongs to TensorFlow 1. Use tf.keras.optimizers.",
    "ClusterSpec": "Programs run in one process; see tf.distribute.",
    "SimpleClusterResolver": "Programs run in one process; see tf.distribute.",
}


class RaggedTensorValue(_Absent):
    """A ragged tensor as a session of TensorFlow 1 gave it."""


class RemoteValue(_Absent):
    """A value on another machine."""


class ClusterCoordinator(_Absent):
    """Hands work to other machines."""


class Transformer(_Absent):
    """Rewrites syntax trees by TensorFlow's autograph."""


class Optimizer(_Absent):
    """An optimizer of TensorFlow 1."""


class ShardedVariable(_Absent):
    """A variable cut over parameter servers."""


class FeatureColumn(_Absent):
    """A column of TensorFlow 1's estimators; Keras's preprocessing layers do the same."""


class DenseColumn(FeatureColumn):
    """A column of numbers."""


class SequenceDenseColumn(FeatureColumn):
    """A column of sequences."""


class StateManager(_Absent):
    """Keeps the variables of columns."""


class FeatureTransformationCache(_Absent):
    """Keeps what columns computed."""


def serialize_feature_column(*args: Any, **kwargs: Any) -> Any:
    """Refused: there are no columns."""
    return FeatureColumn()


deserialize_feature_column = serialize_feature_column


# Datasets of one kind, for which `tf_keras` leaves out a warning about shuffling.
class _GeneratorDataset(_Absent):
    pass


class _RangeDataset(_Absent):
    pass


class _TensorDataset(_Absent):
    pass


class _TensorSliceDataset(_Absent):
    pass


class _SparseTensorSliceDataset(_Absent):
    pass


class RestoredResource(_Absent):
    """A resource of a saved model of TensorFlow's."""


class ClusterSpec(_Absent):
    """The machines of a cluster."""


class SimpleClusterResolver(_Absent):
    """Finds the machines of a cluster."""


class KerasModeKeys:
    """What a model runs for, as saved models of TensorFlow 1 say it."""

    TRAIN, TEST, PREDICT = "train", "test", "predict"


def _function(name: str, remedy: str) -> Any:
    """A function of TensorFlow 1, which is refused."""

    def refused(*args: Any, **kwargs: Any) -> Any:
        raise at_site(NotImplementedError(f"{name}: it belongs to TensorFlow 1. {remedy}"))

    refused.__name__ = refused.__qualname__ = name
    return refused


_KEEP = "Make a tf.Variable and keep it on a tf.Module."
get_variable = _function("get_variable", _KEEP)
global_variables_initializer = _function(
    "global_variables_initializer", "Variables have a value when they are made."
)
parameterized_truncated_normal = _function(
    "parameterized_truncated_normal", "Use tf.random.stateless_parameterized_truncated_normal."
)
sparse_softmax_cross_entropy = _function(
    "sparse_softmax_cross_entropy", "Use tf.nn.sparse_softmax_cross_entropy_with_logits."
)


class Initializer(_Absent):
    """An initializer of TensorFlow 1, as `tf_keras` publishes it beside its own."""


def _initializer(name: str) -> type:
    _REMEDIES[name] = f"Use tf.keras.initializers.{name}."
    return type(name, (Initializer,), {"__module__": __name__, "__doc__": Initializer.__doc__})


Constant = _initializer("Constant")
GlorotNormal = _initializer("GlorotNormal")
GlorotUniform = _initializer("GlorotUniform")
Identity = _initializer("Identity")
Ones = _initializer("Ones")
Orthogonal = _initializer("Orthogonal")
RandomNormal = _initializer("RandomNormal")
RandomUniform = _initializer("RandomUniform")
TruncatedNormal = _initializer("TruncatedNormal")
VarianceScaling = _initializer("VarianceScaling")
Zeros = _initializer("Zeros")

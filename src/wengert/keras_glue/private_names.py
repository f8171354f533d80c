"""Private modules of Keras by name, whose calls are treated in a way of their own.

Keras marks neither the arrays that it lends nor the functions that only drive others; a mark of its
own, or an option of the public functions that it calls, would replace these names.
`tests/test_keras_names.py` compares them with the installed Keras.
"""

from __future__ import annotations

from wengert.core.process_settings import PROCESS

# Lends the arrays of `fit` and `predict` for as long as these run, and gathers batches from them;
# on Keras's other backends they are not copied either.
ARRAY_LENDER = "keras.src.trainers.data_adapters.array_data_adapter"
# Its functions that take the iterator of a dataset only call the step function.
STEP_DRIVER = "keras.src.backend.tensorflow.trainer"


def announce() -> None:
    """Tells the rooms below which modules these are, once Keras is loaded."""
    PROCESS.array_lender, PROCESS.step_driver = ARRAY_LENDER, STEP_DRIVER


def introduce() -> None:
    """Makes Keras and Wengert known to each other.

    Three classes get the module names by which Keras knows tensors in `fit(x=...)`, and Wengert
    hears which modules of Keras are treated in their own way.
    """
    from wengert.composite.ragged_tensor import RaggedTensor
    from wengert.composite.sparse_tensor import SparseTensor
    from wengert.core.tensor import Tensor

    announce()
    Tensor.__module__ = "tensorflow.python.framework.tensor"
    SparseTensor.__module__ = "tensorflow.python.framework.sparse_tensor"
    RaggedTensor.__module__ = "tensorflow.python.ops.ragged.ragged_tensor"

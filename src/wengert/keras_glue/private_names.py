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

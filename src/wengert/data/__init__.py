"""The names of `tf.data`: datasets, made and mixed in plain Python and NumPy."""

from wengert.core.missing_names import namespace as _namespace
from wengert.data import experimental
from wengert.data.dataset import Dataset
from wengert.data.dataset_options import Options, ThreadingOptions
from wengert.data.file_readers import FixedLengthRecordDataset, TextLineDataset, TFRecordDataset
from wengert.data.iterator import Iterator, NumpyIterator
from wengert.data.iterator_specs import DatasetSpec, IteratorSpec
from wengert.data.plan import AUTOTUNE, INFINITE_CARDINALITY, UNKNOWN_CARDINALITY

__all__ = [
    "AUTOTUNE", "Dataset", "DatasetSpec", "FixedLengthRecordDataset", "INFINITE_CARDINALITY", "Iterator", "IteratorSpec",
    "NumpyIterator", "Options", "TFRecordDataset", "TextLineDataset", "ThreadingOptions",
    "UNKNOWN_CARDINALITY", "experimental",
]  # fmt: skip

__getattr__, __dir__ = _namespace("tf.data", globals())

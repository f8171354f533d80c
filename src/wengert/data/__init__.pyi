"""Made by `python -m tools.stubs`: the names that checkers and editors see."""

from wengert.data import experimental as experimental
from wengert.data.dataset import Dataset as Dataset
from wengert.data.dataset_options import Options as Options
from wengert.data.dataset_options import ThreadingOptions as ThreadingOptions
from wengert.data.file_readers import FixedLengthRecordDataset as FixedLengthRecordDataset
from wengert.data.file_readers import TextLineDataset as TextLineDataset
from wengert.data.file_readers import TFRecordDataset as TFRecordDataset
from wengert.data.iterator import Iterator as Iterator
from wengert.data.iterator import NumpyIterator as NumpyIterator
from wengert.data.iterator_specs import DatasetSpec as DatasetSpec
from wengert.data.iterator_specs import IteratorSpec as IteratorSpec
from wengert.data.plan import AUTOTUNE as AUTOTUNE
from wengert.data.plan import INFINITE_CARDINALITY as INFINITE_CARDINALITY
from wengert.data.plan import UNKNOWN_CARDINALITY as UNKNOWN_CARDINALITY

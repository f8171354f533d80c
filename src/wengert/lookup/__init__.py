"""The names of `tf.lookup`."""

from types import SimpleNamespace as _Namespace

from wengert.core.missing_names import namespace as _namespace
from wengert.lookup.lookup_tables import DenseHashTable as _DenseHashTable
from wengert.lookup.lookup_tables import (
    KeyValueTensorInitializer,
    StaticHashTable,
    StaticVocabularyTable,
    TextFileIndex,
    TextFileInitializer,
)
from wengert.lookup.lookup_tables import MutableHashTable as _MutableHashTable

experimental = _Namespace(DenseHashTable=_DenseHashTable, MutableHashTable=_MutableHashTable)

__getattr__, __dir__ = _namespace("tf.lookup", globals())

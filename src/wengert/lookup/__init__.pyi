"""Made by `python -m tools.stubs`: the names that checkers and editors see."""

from wengert.lookup.lookup_tables import DenseHashTable as _DenseHashTable
from wengert.lookup.lookup_tables import KeyValueTensorInitializer as KeyValueTensorInitializer
from wengert.lookup.lookup_tables import MutableHashTable as _MutableHashTable
from wengert.lookup.lookup_tables import StaticHashTable as StaticHashTable
from wengert.lookup.lookup_tables import StaticVocabularyTable as StaticVocabularyTable
from wengert.lookup.lookup_tables import TextFileIndex as TextFileIndex
from wengert.lookup.lookup_tables import TextFileInitializer as TextFileInitializer

class experimental:
    DenseHashTable = _DenseHashTable
    MutableHashTable = _MutableHashTable

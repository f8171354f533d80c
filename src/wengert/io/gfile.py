"""The names of `tf.io.gfile`: local files and folders."""

from wengert.core.missing_names import namespace as _namespace
from wengert.io.file_tree import (
    copy,
    exists,
    get_registered_schemes,
    glob,
    isdir,
    join,
    listdir,
    makedirs,
    mkdir,
    remove,
    rename,
    rmtree,
    stat,
    walk,
)
from wengert.io.gfile_object import GFile

__getattr__, __dir__ = _namespace("tf.io.gfile", globals())

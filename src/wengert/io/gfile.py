"""The names of `tf.io.gfile`: local files and folders."""

from wengert.core.missing import missing as _missing
from wengert.io.handle import GFile
from wengert.io.tree import (
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

__getattr__ = _missing("tf.io.gfile", globals())

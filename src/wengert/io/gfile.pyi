"""Made by `python -m tools.stubs`: the names that checkers and editors see."""

from wengert.io.file_tree import copy as copy
from wengert.io.file_tree import exists as exists
from wengert.io.file_tree import get_registered_schemes as get_registered_schemes
from wengert.io.file_tree import glob as glob
from wengert.io.file_tree import isdir as isdir
from wengert.io.file_tree import join as join
from wengert.io.file_tree import listdir as listdir
from wengert.io.file_tree import makedirs as makedirs
from wengert.io.file_tree import mkdir as mkdir
from wengert.io.file_tree import remove as remove
from wengert.io.file_tree import rename as rename
from wengert.io.file_tree import rmtree as rmtree
from wengert.io.file_tree import stat as stat
from wengert.io.file_tree import walk as walk
from wengert.io.gfile_object import GFile as GFile

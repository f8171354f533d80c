"""Made by `python -m tools.stubs`: the names that checkers and editors see."""

from keras._tf_keras.keras.initializers import *

from wengert.ops.initializers import Initializer as Initializer
from wengert.ops.initializers import constant_initializer as constant_initializer
from wengert.ops.initializers import ones_initializer as ones_initializer
from wengert.ops.initializers import random_normal_initializer as random_normal_initializer
from wengert.ops.initializers import random_uniform_initializer as random_uniform_initializer
from wengert.ops.initializers import zeros_initializer as zeros_initializer

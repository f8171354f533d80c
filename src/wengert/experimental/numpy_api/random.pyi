"""Made by `python -m tools.stubs`: the names that checkers and editors see."""

from wengert.experimental.numpy_api.randoms import poisson as poisson
from wengert.experimental.numpy_api.randoms import rand as rand
from wengert.experimental.numpy_api.randoms import randint as randint
from wengert.experimental.numpy_api.randoms import randn as randn
from wengert.experimental.numpy_api.randoms import random as random
from wengert.experimental.numpy_api.randoms import seed as seed
from wengert.experimental.numpy_api.randoms import standard_normal as standard_normal
from wengert.experimental.numpy_api.randoms import uniform as uniform

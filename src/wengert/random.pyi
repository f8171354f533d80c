"""Made by `python -m tools.stubs`: the names that checkers and editors see."""

from wengert.ops.candidates import log_uniform_candidate_sampler as log_uniform_candidate_sampler
from wengert.ops.candidates import uniform_candidate_sampler as uniform_candidate_sampler
from wengert.ops.generator import Generator as Generator
from wengert.ops.generator import Generator as _Generator
from wengert.ops.generator import create_rng_state as _create_rng_state
from wengert.ops.generator import create_rng_state as create_rng_state
from wengert.ops.generator import get_global_generator as _get_global_generator
from wengert.ops.generator import get_global_generator as get_global_generator
from wengert.ops.generator import set_global_generator as _set_global_generator
from wengert.ops.generator import set_global_generator as set_global_generator
from wengert.ops.random import Algorithm as Algorithm
from wengert.ops.random import Algorithm as _Algorithm
from wengert.ops.random import categorical as categorical
from wengert.ops.random import fold_in as _fold_in
from wengert.ops.random import fold_in as fold_in
from wengert.ops.random import gamma as gamma
from wengert.ops.random import normal as normal
from wengert.ops.random import poisson as poisson
from wengert.ops.random import shuffle as shuffle
from wengert.ops.random import split as _split
from wengert.ops.random import split as split
from wengert.ops.random import stateless_binomial as stateless_binomial
from wengert.ops.random import stateless_categorical as stateless_categorical
from wengert.ops.random import stateless_gamma as stateless_gamma
from wengert.ops.random import stateless_normal as stateless_normal
from wengert.ops.random import (
    stateless_parameterized_truncated_normal as stateless_parameterized_truncated_normal,
)
from wengert.ops.random import stateless_poisson as stateless_poisson
from wengert.ops.random import stateless_shuffle as _stateless_shuffle
from wengert.ops.random import stateless_truncated_normal as stateless_truncated_normal
from wengert.ops.random import stateless_uniform as stateless_uniform
from wengert.ops.random import truncated_normal as truncated_normal
from wengert.ops.random import uniform as uniform
from wengert.ops.seeds import set_seed as set_seed

class experimental:
    Algorithm = _Algorithm
    Generator = _Generator
    create_rng_state = staticmethod(_create_rng_state)
    get_global_generator = staticmethod(_get_global_generator)
    set_global_generator = staticmethod(_set_global_generator)
    stateless_fold_in = staticmethod(_fold_in)
    stateless_shuffle = staticmethod(_stateless_shuffle)
    stateless_split = staticmethod(_split)

"""The names of `tf.random`."""

from types import SimpleNamespace as _Namespace

from wengert.core.missing_names import namespace as _namespace
from wengert.ops.candidates import log_uniform_candidate_sampler, uniform_candidate_sampler
from wengert.ops.generator import (
    Generator,
    create_rng_state,
    get_global_generator,
    set_global_generator,
)
from wengert.ops.random import (
    Algorithm,
    categorical,
    fold_in,
    gamma,
    normal,
    poisson,
    shuffle,
    split,
    stateless_binomial,
    stateless_categorical,
    stateless_gamma,
    stateless_normal,
    stateless_parameterized_truncated_normal,
    stateless_poisson,
    stateless_truncated_normal,
    stateless_uniform,
    truncated_normal,
    uniform,
)
from wengert.ops.random import (
    stateless_shuffle as _stateless_shuffle,
)
from wengert.ops.seeds import set_seed

experimental = _Namespace(
    Algorithm=Algorithm,
    Generator=Generator,
    create_rng_state=create_rng_state,
    get_global_generator=get_global_generator,
    set_global_generator=set_global_generator,
    stateless_fold_in=fold_in,
    stateless_shuffle=_stateless_shuffle,
    stateless_split=split,
)

__getattr__, __dir__ = _namespace("tf.random", globals())

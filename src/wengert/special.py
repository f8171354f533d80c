"""The names of `tf.math.special`."""

from wengert.core.missing_names import namespace as _namespace
from wengert.ops.bessel import (
    bessel_i0,
    bessel_i0e,
    bessel_i1,
    bessel_i1e,
    bessel_j0,
    bessel_j1,
    bessel_k0,
    bessel_k0e,
    bessel_k1,
    bessel_k1e,
    bessel_y0,
    bessel_y1,
)  # fmt: skip
from wengert.ops.special import dawsn, expint, fresnel_cos, fresnel_sin, spence

__getattr__, __dir__ = _namespace("tf.math.special", globals())

"""The names of `tf.nn`."""

from types import SimpleNamespace as _Namespace

from wengert.composite.sequences import ctc_beam_search_decoder, ctc_greedy_decoder
from wengert.composite.sparse_segments import (
    embedding_lookup_sparse,
    safe_embedding_lookup_sparse,
)  # fmt: skip
from wengert.core.missing_names import namespace as _namespace
from wengert.ops.activations import crelu, elu, leaky_relu, relu, relu6, selu
from wengert.ops.attention import scaled_dot_product_attention
from wengert.ops.beams import collapse_repeated
from wengert.ops.blocks import depth_to_space, space_to_batch, space_to_depth
from wengert.ops.candidates import nce_loss, sampled_softmax_loss
from wengert.ops.convolution import (
    atrous_conv2d,
    atrous_conv2d_transpose,
    conv1d,
    conv1d_transpose,
    conv2d,
    conv2d_transpose,
    conv3d,
    conv3d_transpose,
    conv_transpose,
    convolution,
    depthwise_conv2d,
    separable_conv2d,
)  # fmt: skip
from wengert.ops.ctc import ctc_loss
from wengert.ops.dropout import dropout
from wengert.ops.dropout import stateless_dropout as _stateless_dropout
from wengert.ops.embedding import embedding_lookup
from wengert.ops.fractional import fractional_avg_pool, fractional_max_pool
from wengert.ops.isotonic import isotonic_regression
from wengert.ops.losses import (
    compute_average_loss,
    l2_loss,
    log_poisson_loss,
    scale_regularization_loss,
    sigmoid_cross_entropy_with_logits,
    softmax_cross_entropy_with_logits,
    weighted_cross_entropy_with_logits,
)  # fmt: skip
from wengert.ops.morphology import dilation2d, erosion2d
from wengert.ops.normalization import (
    batch_normalization,
    bias_add,
    l2_normalize,
    local_response_normalization,
    lrn,
    moments,
    normalize_moments,
    sufficient_statistics,
    weighted_moments,
)  # fmt: skip
from wengert.ops.pools import (
    avg_pool,
    avg_pool1d,
    avg_pool2d,
    avg_pool3d,
    max_pool,
    max_pool1d,
    max_pool2d,
    max_pool3d,
    max_pool_with_argmax,
    pool,
)  # fmt: skip
from wengert.ops.positions import in_top_k
from wengert.ops.reduce import zero_fraction
from wengert.ops.smooth import gelu, silu, softsign, swish
from wengert.ops.softmax import log_softmax, softmax
from wengert.ops.sorting import approx_max_k, approx_min_k, top_k
from wengert.ops.sparse_losses import sparse_softmax_cross_entropy_with_logits
from wengert.ops.unary import sigmoid, softplus, tanh

experimental = _Namespace(stateless_dropout=_stateless_dropout)

__getattr__, __dir__ = _namespace("tf.nn", globals())

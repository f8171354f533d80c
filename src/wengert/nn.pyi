"""Made by `python -m tools.stubs`: the names that checkers and editors see."""

from wengert.composite.sequences import ctc_beam_search_decoder as ctc_beam_search_decoder
from wengert.composite.sequences import ctc_greedy_decoder as ctc_greedy_decoder
from wengert.composite.sparse_segments import embedding_lookup_sparse as embedding_lookup_sparse
from wengert.composite.sparse_segments import (
    safe_embedding_lookup_sparse as safe_embedding_lookup_sparse,
)
from wengert.ops.activations import crelu as crelu
from wengert.ops.activations import elu as elu
from wengert.ops.activations import leaky_relu as leaky_relu
from wengert.ops.activations import relu as relu
from wengert.ops.activations import relu6 as relu6
from wengert.ops.activations import selu as selu
from wengert.ops.attention import scaled_dot_product_attention as scaled_dot_product_attention
from wengert.ops.beams import collapse_repeated as collapse_repeated
from wengert.ops.blocks import depth_to_space as depth_to_space
from wengert.ops.blocks import space_to_batch as space_to_batch
from wengert.ops.blocks import space_to_depth as space_to_depth
from wengert.ops.candidates import nce_loss as nce_loss
from wengert.ops.candidates import sampled_softmax_loss as sampled_softmax_loss
from wengert.ops.convolution import atrous_conv2d as atrous_conv2d
from wengert.ops.convolution import atrous_conv2d_transpose as atrous_conv2d_transpose
from wengert.ops.convolution import conv1d as conv1d
from wengert.ops.convolution import conv1d_transpose as conv1d_transpose
from wengert.ops.convolution import conv2d as conv2d
from wengert.ops.convolution import conv2d_transpose as conv2d_transpose
from wengert.ops.convolution import conv3d as conv3d
from wengert.ops.convolution import conv3d_transpose as conv3d_transpose
from wengert.ops.convolution import conv_transpose as conv_transpose
from wengert.ops.convolution import convolution as convolution
from wengert.ops.convolution import depthwise_conv2d as depthwise_conv2d
from wengert.ops.convolution import separable_conv2d as separable_conv2d
from wengert.ops.ctc import ctc_loss as ctc_loss
from wengert.ops.dropout import dropout as dropout
from wengert.ops.dropout import stateless_dropout as _stateless_dropout
from wengert.ops.embedding import embedding_lookup as embedding_lookup
from wengert.ops.fractional import fractional_avg_pool as fractional_avg_pool
from wengert.ops.fractional import fractional_max_pool as fractional_max_pool
from wengert.ops.isotonic import isotonic_regression as isotonic_regression
from wengert.ops.losses import compute_average_loss as compute_average_loss
from wengert.ops.losses import l2_loss as l2_loss
from wengert.ops.losses import log_poisson_loss as log_poisson_loss
from wengert.ops.losses import scale_regularization_loss as scale_regularization_loss
from wengert.ops.losses import (
    sigmoid_cross_entropy_with_logits as sigmoid_cross_entropy_with_logits,
)
from wengert.ops.losses import (
    softmax_cross_entropy_with_logits as softmax_cross_entropy_with_logits,
)
from wengert.ops.losses import (
    weighted_cross_entropy_with_logits as weighted_cross_entropy_with_logits,
)
from wengert.ops.morphology import dilation2d as dilation2d
from wengert.ops.morphology import erosion2d as erosion2d
from wengert.ops.normalization import batch_normalization as batch_normalization
from wengert.ops.normalization import bias_add as bias_add
from wengert.ops.normalization import l2_normalize as l2_normalize
from wengert.ops.normalization import local_response_normalization as local_response_normalization
from wengert.ops.normalization import lrn as lrn
from wengert.ops.normalization import moments as moments
from wengert.ops.normalization import normalize_moments as normalize_moments
from wengert.ops.normalization import sufficient_statistics as sufficient_statistics
from wengert.ops.normalization import weighted_moments as weighted_moments
from wengert.ops.pools import avg_pool as avg_pool
from wengert.ops.pools import avg_pool1d as avg_pool1d
from wengert.ops.pools import avg_pool2d as avg_pool2d
from wengert.ops.pools import avg_pool3d as avg_pool3d
from wengert.ops.pools import max_pool as max_pool
from wengert.ops.pools import max_pool1d as max_pool1d
from wengert.ops.pools import max_pool2d as max_pool2d
from wengert.ops.pools import max_pool3d as max_pool3d
from wengert.ops.pools import max_pool_with_argmax as max_pool_with_argmax
from wengert.ops.pools import pool as pool
from wengert.ops.positions import in_top_k as in_top_k
from wengert.ops.reduce import zero_fraction as zero_fraction
from wengert.ops.smooth import gelu as gelu
from wengert.ops.smooth import silu as silu
from wengert.ops.smooth import softsign as softsign
from wengert.ops.smooth import swish as swish
from wengert.ops.softmax import log_softmax as log_softmax
from wengert.ops.softmax import softmax as softmax
from wengert.ops.sorting import approx_max_k as approx_max_k
from wengert.ops.sorting import approx_min_k as approx_min_k
from wengert.ops.sorting import top_k as top_k
from wengert.ops.sparse_losses import (
    sparse_softmax_cross_entropy_with_logits as sparse_softmax_cross_entropy_with_logits,
)
from wengert.ops.unary import sigmoid as sigmoid
from wengert.ops.unary import softplus as softplus
from wengert.ops.unary import tanh as tanh

class experimental:
    stateless_dropout = staticmethod(_stateless_dropout)

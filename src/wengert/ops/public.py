"""Public functions of operations by name, each imported at first use.

Gradient rules and functions made of operations are written in them: `tf.reshape(tf.cast(x, d), s)`
after `from wengert.ops import public as tf`. So families need not import each other, which many
could not do in a circle, and a family is loaded when one of its functions is called. `public.pyi`
has the types; a test holds the two together.
"""

from __future__ import annotations

from wengert.core.name_tables import lazily, read

TABLE = {
    "ops.activations": "relu",
    "ops.arithmetic": "add add_n multiply negative squared_difference subtract truediv",
    "ops.bessel": (
        "bessel_i0 bessel_i0e bessel_i1 bessel_i1e bessel_j0 bessel_j1 bessel_k0 bessel_k0e "
        "bessel_k1 bessel_k1e bessel_y0 bessel_y1"
    ),
    "ops.cast": "bitcast cast ensure_shape saturate_cast",
    "ops.checks": "Assert assert_less_equal print_",
    "ops.color": "adjust_hue adjust_saturation convert_image_dtype",
    "ops.compare": (
        "bitwise_and bitwise_or bitwise_xor equal greater greater_equal invert is_finite is_inf "
        "is_nan less less_equal "
        "logical_and logical_not logical_or logical_xor not_equal"
    ),
    "ops.complex": "angle complex conj imag real",
    "ops.create": "fill ones ones_like range zeros zeros_like",
    "ops.cuts": "slice",
    "ops.dct": "dct",
    "ops.decompose": "cholesky",
    "ops.diagonal": "band_part diag diag_part set_diag",
    "ops.dims": "expand_dims rank shape size squeeze",
    "ops.division": "floordiv floormod truncatediv",
    "ops.eigen": "eigh eigvalsh",
    "ops.embedding": "embedding_lookup",
    "ops.fft": "irfft rfft",
    "ops.gamma": "polygamma zeta",
    "ops.gather": "gather gather_nd",
    "ops.guarded": "divide_no_nan multiply_no_nan xdivy xlog1py xlogy",
    "ops.indexing": "boolean_mask invert_permutation one_hot sequence_mask",
    "ops.joining": "concat split stack unstack",
    "ops.losses": "sigmoid_cross_entropy_with_logits softmax_cross_entropy_with_logits",
    "ops.matmul": "matmul",
    "ops.norms": "clip_by_norm norm",
    "ops.padding": "pad",
    "ops.partition": "dynamic_partition",
    "ops.pools": "avg_pool2d",
    "ops.positions": "argmax argmin searchsorted",
    "ops.power": "exp expm1 log log1p pow reciprocal rsqrt sqrt square",
    "ops.random": "normal stateless_uniform uniform",
    "ops.reduce": "reduce_all reduce_any reduce_max reduce_mean reduce_min reduce_prod reduce_sum",
    "ops.reordering": "reverse roll",
    "ops.repeating": "repeat tile",
    "ops.scan": "cumprod cumsum",
    "ops.scatter": "scatter_nd tensor_scatter_nd_add tensor_scatter_nd_update",
    "ops.segment": (
        "segment_max segment_sum unsorted_segment_max unsorted_segment_mean unsorted_segment_sum"
    ),
    "ops.select": "clip_by_value maximum minimum where",
    "ops.shaping": "broadcast_to identity reshape stop_gradient transpose",
    "ops.softmax": "log_softmax softmax",
    "ops.solve": "det inv solve triangular_solve",
    "ops.sorting": "argsort sort",
    "ops.statistics": "reduce_euclidean_norm reduce_std reduce_variance",
    "ops.strings": "join reduce_join string_format",
    "ops.svd": "pinv svd",
    "ops.tensordot": "adjoint matrix_transpose tensordot",
    "ops.trigonometric": "cos cosh sin sinh",
    "ops.unary": "abs ceil floor round sigmoid sign softplus tanh",
    "ops.unique": "unique",
}
__getattr__, __dir__ = lazily("wengert.ops.public", read(TABLE), globals())

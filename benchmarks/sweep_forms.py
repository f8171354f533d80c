"""How the sweep calls operations that take more than tensors of numbers, for any framework.

`f` is the operation, `d` gives tensors by name (`benchmarks.sweep_data`), and sizes. What is not
named here is tried with the forms of `PROBES`, in turn, until one suits.
"""

from __future__ import annotations

PROBES = {
    "x": lambda f, d: f(d.x),
    "x y": lambda f, d: f(d.x, d.y),
    "x y z": lambda f, d: f(d.x, d.y, d.z),
    "integers": lambda f, d: f(d.i),
    "two integers": lambda f, d: f(d.i, d.j),
    "booleans": lambda f, d: f(d.b),
    "two booleans": lambda f, d: f(d.b, d.c),
    "image": lambda f, d: f(d.image),
    "complex": lambda f, d: f(d.complex),
}

_SEGMENTS = ("segment_max", "segment_mean", "segment_min", "segment_prod", "segment_sum")
_UNSORTED = ("max", "mean", "min", "prod", "sqrt_n", "sum")
_POOLS = ("avg_pool", "avg_pool2d", "max_pool", "max_pool2d")
_WINDOWS = ("hamming_window", "hann_window", "kaiser_window", "vorbis_window")
_UPDATES = ("add", "max", "min", "sub", "update")


def _same(names, form):
    return dict.fromkeys(names, form)


_ROOT = {
    "acosh": lambda f, d: f(d.above),
    "math.digamma": lambda f, d: f(d.large),
    "math.lgamma": lambda f, d: f(d.large),
    "abs": lambda f, d: f(d.signed),
    "add_n": lambda f, d: f([d.x, d.y, d.z]),
    "argsort": lambda f, d: f(d.x),
    "sort": lambda f, d: f(d.x),
    "batch_to_space": lambda f, d: f(d.feature_batch, [2, 2], [[0, 0], [0, 0]]),
    "bitcast": lambda f, d: f(d.x, d.int32),
    "boolean_mask": lambda f, d: f(d.x, d.b),
    "broadcast_to": lambda f, d: f(d.row, [d.n, d.n]),
    "cast": lambda f, d: f(d.i, d.float32),
    "saturate_cast": lambda f, d: f(d.signed, d.uint8),
    "clip_by_norm": lambda f, d: f(d.x, 1.0),
    "clip_by_global_norm": lambda f, d: f([d.x, d.y], 1.0),
    "clip_by_value": lambda f, d: f(d.x, 0.3, 0.6),
    "complex": lambda f, d: f(d.x, d.y),
    "concat": lambda f, d: f([d.x, d.y], 0),
    "cumsum": lambda f, d: f(d.x, 1),
    "dynamic_partition": lambda f, d: f(d.x, d.parts, 4),
    "dynamic_stitch": lambda f, d: f([d.order], [d.x]),
    "einsum": lambda f, d: f("ij,jk->ik", d.a, d.a2),
    "ensure_shape": lambda f, d: f(d.x, [d.n, d.n]),
    "expand_dims": lambda f, d: f(d.x, 0),
    "eye": lambda f, d: f(d.n),
    "fill": lambda f, d: f([d.n, d.n], 2.0),
    "ones": lambda f, d: f([d.n, d.n]),
    "zeros": lambda f, d: f([d.n, d.n]),
    "gather": lambda f, d: f(d.x, d.rows),
    "gather_nd": lambda f, d: f(d.x, d.points),
    "histogram_fixed_width": lambda f, d: f(d.x, [0.0, 1.0]),
    "histogram_fixed_width_bins": lambda f, d: f(d.x, [0.0, 1.0]),
    "linspace": lambda f, d: f(0.0, 1.0, d.count),
    "identity_n": lambda f, d: f([d.x, d.y]),
    "matmul": lambda f, d: f(d.a, d.a2),
    "meshgrid": lambda f, d: f(d.row, d.row),
    "norm": lambda f, d: f(d.x),
    "one_hot": lambda f, d: f(d.classes, d.n),
    "pad": lambda f, d: f(d.x, [[1, 2], [3, 4]]),
    "parallel_stack": lambda f, d: f([d.x, d.y]),
    "range": lambda f, d: f(d.count),
    "repeat": lambda f, d: f(d.x, 2, 1),
    "reshape": lambda f, d: f(d.x, [-1]),
    "reverse": lambda f, d: f(d.x, [1]),
    "reverse_sequence": lambda f, d: f(d.x, d.lengths, 1, 0),
    "roll": lambda f, d: f(d.x, 2, 1),
    "round": lambda f, d: f(d.signed),
    "scalar_mul": lambda f, d: f(2.0, d.x),
    "scatter_nd": lambda f, d: f(d.points, d.updates, [d.n, d.n]),
    "searchsorted": lambda f, d: f(d.sorted, d.x),
    "sequence_mask": lambda f, d: f(d.lengths, d.n),
    "slice": lambda f, d: f(d.x, [1, 1], [d.n // 2, d.n // 2]),
    "strided_slice": lambda f, d: f(d.x, [0, 1], [d.n, d.n], [2, 2]),
    "space_to_batch": lambda f, d: f(d.feature, [2, 2], [[0, 0], [0, 0]]),
    "split": lambda f, d: f(d.x, 2, 1),
    "squeeze": lambda f, d: f(d.cube[None]),
    "stack": lambda f, d: f([d.x, d.y], 1),
    "unstack": lambda f, d: f(d.x[: min(d.n, 64)]),
    "tensordot": lambda f, d: f(d.a, d.a2, 1),
    "tile": lambda f, d: f(d.x[: d.n // 2], [2, 1]),
    "unique": lambda f, d: f(d.many),
    "unique_with_counts": lambda f, d: f(d.many),
    "unravel_index": lambda f, d: f(d.long_order, [d.n, d.n]),
    "where": lambda f, d: f(d.b, d.x, d.y),
    **{f"tensor_scatter_nd_{u}": lambda f, d: f(d.x, d.points, d.updates) for u in _UPDATES},
    **_same(
        ["bitwise.left_shift", "bitwise.right_shift"],
        lambda f, d: f(d.i, d.j),
    ),
}

_MATH = {
    "math.accumulate_n": lambda f, d: f([d.x, d.y, d.z]),
    "math.betainc": lambda f, d: f(d.x, d.y, d.z),
    "math.bincount": lambda f, d: f(d.many),
    "math.confusion_matrix": lambda f, d: f(d.classes, d.rows, d.n),
    "math.cumprod": lambda f, d: f(d.x, 1),
    "math.cumulative_logsumexp": lambda f, d: f(d.x, 1),
    "math.conj": lambda f, d: f(d.complex),
    "math.imag": lambda f, d: f(d.complex),
    "math.real": lambda f, d: f(d.complex),
    "math.angle": lambda f, d: f(d.complex),
    "math.erfcinv": lambda f, d: f(d.x),
    "math.in_top_k": lambda f, d: f(d.classes, d.x, 3),
    "math.invert_permutation": lambda f, d: f(d.long_order),
    "math.l2_normalize": lambda f, d: f(d.x, 1),
    "math.polygamma": lambda f, d: f(d.j_float, d.large),
    "math.polyval": lambda f, d: f([d.x, d.y, d.z], d.x),
    "math.top_k": lambda f, d: f(d.x, min(d.n, 10)),
    "math.zeta": lambda f, d: f(d.above, d.x),
    **_same([f"math.{s}" for s in _SEGMENTS], lambda f, d: f(d.x, d.ids)),
    **_same(
        [f"math.unsorted_segment_{s}" for s in _UNSORTED], lambda f, d: f(d.x, d.ids, d.n // 4)
    ),
}

_NN = {
    "nn.atrous_conv2d": lambda f, d: f(d.feature, d.filter, 2, "SAME"),
    "nn.atrous_conv2d_transpose": lambda f, d: f(d.feature, d.filter, d.features, 2, "SAME"),
    **_same([f"nn.{p}" for p in _POOLS], lambda f, d: f(d.feature, 2, 2, "VALID")),
    "nn.max_pool_with_argmax": lambda f, d: f(d.feature, 2, 2, "VALID"),
    **_same(["nn.avg_pool1d", "nn.max_pool1d"], lambda f, d: f(d.sequence, 2, 2, "VALID")),
    **_same(["nn.avg_pool3d", "nn.max_pool3d"], lambda f, d: f(d.space, 2, 2, "VALID")),
    "nn.pool": lambda f, d: f(d.feature, 2, "MAX", 2),
    "nn.batch_normalization": lambda f, d: f(
        d.feature, d.channels, d.channels2, d.channels, d.channels2, 1e-3
    ),
    "nn.normalize_moments": lambda f, d: f(3.0, d.x, d.above, None),
    "nn.bias_add": lambda f, d: f(d.feature, d.channels),
    "nn.compute_average_loss": lambda f, d: f(d.flat, global_batch_size=7),
    "nn.scale_regularization_loss": lambda f, d: f(d.x),
    "nn.conv1d": lambda f, d: f(d.sequence, d.filter1, 1, "SAME"),
    "nn.conv1d_transpose": lambda f, d: f(
        d.sequence, d.filter1, [d.features[0], d.features[1] * d.features[2], d.features[3]], 1
    ),
    "nn.conv2d": lambda f, d: f(d.feature, d.filter, 1, "SAME"),
    "nn.conv2d_transpose": lambda f, d: f(d.feature, d.filter, d.features, 1, "SAME"),
    "nn.conv_transpose": lambda f, d: f(d.feature, d.filter, d.features, 1, "SAME"),
    "nn.conv3d": lambda f, d: f(d.space, d.filter3, [1, 1, 1, 1, 1], "SAME"),
    "nn.conv3d_transpose": lambda f, d: f(d.space, d.filter3, d.volume, [1, 1, 1, 1, 1], "SAME"),
    "nn.convolution": lambda f, d: f(d.feature, d.filter, 1, "SAME"),
    "nn.depthwise_conv2d": lambda f, d: f(d.feature, d.depth_filter, [1, 1, 1, 1], "SAME"),
    "nn.separable_conv2d": lambda f, d: f(
        d.feature, d.depth_filter, d.point_filter, [1, 1, 1, 1], "SAME"
    ),
    "nn.depth_to_space": lambda f, d: f(d.feature, 2),
    "nn.space_to_depth": lambda f, d: f(d.feature, 2),
    "nn.dilation2d": lambda f, d: f(
        d.feature, d.shape_filter, [1, 1, 1, 1], "SAME", "NHWC", [1, 1, 1, 1]
    ),
    "nn.erosion2d": lambda f, d: f(
        d.feature, d.shape_filter, [1, 1, 1, 1], "SAME", "NHWC", [1, 1, 1, 1]
    ),
    "nn.dropout": lambda f, d: f(d.x, 0.3),
    "nn.embedding_lookup": lambda f, d: f(d.x, d.rows),
    **_same(
        ["nn.elu", "nn.gelu", "nn.leaky_relu", "nn.relu", "nn.relu6", "nn.selu", "nn.silu"],
        lambda f, d: f(d.signed),
    ),
    "nn.fractional_avg_pool": lambda f, d: f(d.feature, [1.0, 1.5, 1.5, 1.0], seed=7),
    "nn.fractional_max_pool": lambda f, d: f(d.feature, [1.0, 1.5, 1.5, 1.0], seed=7),
    "nn.isotonic_regression": lambda f, d: f(d.x[: min(d.n, 256)]),
    "nn.local_response_normalization": lambda f, d: f(d.feature),
    "nn.moments": lambda f, d: f(d.feature, [0, 1, 2]),
    "nn.weighted_moments": lambda f, d: f(d.x, [0], d.y),
    "nn.sufficient_statistics": lambda f, d: f(d.x, [0]),
    "nn.sparse_softmax_cross_entropy_with_logits": lambda f, d: f(d.classes, d.x),
    "nn.softmax_cross_entropy_with_logits": lambda f, d: f(d.one_hot, d.x),
    "nn.sigmoid_cross_entropy_with_logits": lambda f, d: f(d.x, d.signed),
    "nn.weighted_cross_entropy_with_logits": lambda f, d: f(d.x, d.signed, 2.0),
    "nn.scaled_dot_product_attention": lambda f, d: f(d.heads, d.heads, d.heads),
    "nn.ctc_loss": lambda f, d: f(
        d.ctc_labels, d.ctc_logits, d.ctc_label_lengths, d.ctc_lengths, blank_index=0
    ),
}

_LINALG = {
    "linalg.band_part": lambda f, d: f(d.x, 2, 2),
    "linalg.cholesky": lambda f, d: f(d.definite),
    "linalg.cholesky_solve": lambda f, d: f(d.triangle, d.side),
    "linalg.cross": lambda f, d: f(d.three, d.three2),
    "linalg.eigh": lambda f, d: f(d.definite),
    "linalg.eigvalsh": lambda f, d: f(d.definite),
    "eig": lambda f, d: f(d.quarter),
    "eigvals": lambda f, d: f(d.quarter),
    "linalg.logdet": lambda f, d: f(d.definite),
    "linalg.lstsq": lambda f, d: f(d.tall, d.tall_side),
    "linalg.solve": lambda f, d: f(d.a, d.side),
    "linalg.triangular_solve": lambda f, d: f(d.triangle, d.side),
    "linalg.lu_matrix_inverse": lambda f, d: f(d.a, d.permutation),
    "linalg.lu_reconstruct": lambda f, d: f(d.a, d.permutation),
    "linalg.lu_solve": lambda f, d: f(d.a, d.permutation, d.side),
    **_same(
        [
            f"linalg.{n}"
            for n in ("det", "inv", "lu", "matrix_rank", "pinv", "slogdet", "svd", "trace")
        ],
        lambda f, d: f(d.a),
    ),
    "linalg.qr": lambda f, d: f(d.tall),
    "linalg.expm": lambda f, d: f(d.small_norm),
    "linalg.logm": lambda f, d: f(d.quarter_complex),
    "linalg.sqrtm": lambda f, d: f(d.quarter),
    "linalg.matvec": lambda f, d: f(d.a, d.vector),
    "linalg.set_diag": lambda f, d: f(d.x, d.row),
    "linalg.diag": lambda f, d: f(d.row),
    "linalg.tensor_diag": lambda f, d: f(d.row),
    "linalg.tridiagonal_matmul": lambda f, d: f(d.bands, d.side, diagonals_format="compact"),
    "linalg.tridiagonal_solve": lambda f, d: f(d.bands, d.side),
    "linalg.eigh_tridiagonal": lambda f, d: f(d.bands[1], d.bands[0][1:], eigvals_only=True),
    "linalg.global_norm": lambda f, d: f([d.x, d.y]),
}

_IMAGE = {
    "image.adjust_brightness": lambda f, d: f(d.image, 0.1),
    "image.adjust_contrast": lambda f, d: f(d.image, 0.6),
    "image.adjust_gamma": lambda f, d: f(d.image, 0.6),
    "image.adjust_hue": lambda f, d: f(d.image, 0.1),
    "image.adjust_saturation": lambda f, d: f(d.image, 0.6),
    "image.central_crop": lambda f, d: f(d.image, 0.5),
    "image.convert_image_dtype": lambda f, d: f(d.bytes, d.float32),
    "image.crop_and_resize": lambda f, d: f(d.image, d.boxes, d.box_images, [16, 16]),
    "image.crop_to_bounding_box": lambda f, d: f(d.image, 1, 1, 6, 6),
    "image.pad_to_bounding_box": lambda f, d: f(d.image, 1, 1, d.images[1] + 3, d.images[2] + 3),
    "image.draw_bounding_boxes": lambda f, d: f(d.image, d.image_boxes, [[1.0, 0.0, 0.0]]),
    "image.extract_glimpse": lambda f, d: f(d.image, [4, 4], d.offsets),
    "image.extract_patches": lambda f, d: f(
        d.image, [1, 3, 3, 1], [1, 2, 2, 1], [1, 1, 1, 1], "VALID"
    ),
    "image.grayscale_to_rgb": lambda f, d: f(d.gray),
    **_same(
        [
            f"image.{n}"
            for n in ("flip_left_right", "flip_up_down", "hsv_to_rgb", "image_gradients")
            + ("per_image_standardization", "rgb_to_grayscale", "rgb_to_hsv", "rgb_to_yiq")
            + ("rgb_to_yuv", "rot90", "sobel_edges", "total_variation", "transpose")
            + ("yiq_to_rgb", "yuv_to_rgb")
        ],
        lambda f, d: f(d.image),
    ),
    "image.non_max_suppression": lambda f, d: f(d.boxes, d.scores, 50),
    "image.non_max_suppression_padded": lambda f, d: f(d.boxes, d.scores, 50),
    "image.non_max_suppression_with_scores": lambda f, d: f(d.boxes, d.scores, 50),
    "image.combined_non_max_suppression": lambda f, d: f(
        d.boxes[None, :, None], d.scores[None, :, None], 10, 10
    ),
    "image.psnr": lambda f, d: f(d.image, d.image2, 1.0),
    "image.ssim": lambda f, d: f(d.image, d.image2, 1.0, filter_size=5),
    "image.random_brightness": lambda f, d: f(d.image, 0.1),
    "image.random_contrast": lambda f, d: f(d.image, 0.2, 0.6),
    "image.random_crop": lambda f, d: f(d.image, [1, 5, 5, 3]),
    "image.random_hue": lambda f, d: f(d.image, 0.1),
    "image.random_saturation": lambda f, d: f(d.image, 0.2, 0.6),
    "image.random_flip_left_right": lambda f, d: f(d.image),
    "image.random_flip_up_down": lambda f, d: f(d.image),
    "image.stateless_random_brightness": lambda f, d: f(d.image, 0.1, (1, 2)),
    "image.stateless_random_contrast": lambda f, d: f(d.image, 0.2, 0.6, (1, 2)),
    "image.stateless_random_crop": lambda f, d: f(d.image, [1, 5, 5, 3], (1, 2)),
    "image.stateless_random_flip_left_right": lambda f, d: f(d.image, (1, 2)),
    "image.stateless_random_flip_up_down": lambda f, d: f(d.image, (1, 2)),
    "image.stateless_random_hue": lambda f, d: f(d.image, 0.1, (1, 2)),
    "image.stateless_random_saturation": lambda f, d: f(d.image, 0.2, 0.6, (1, 2)),
    "image.resize": lambda f, d: f(d.image, [d.images[1] * 3 // 2, d.images[2] * 3 // 2]),
    "image.resize_with_crop_or_pad": lambda f, d: f(d.image, d.images[1] + 3, 5),
    "image.resize_with_pad": lambda f, d: f(d.image, d.images[1] * 2, d.images[2]),
}

_SIGNAL = {
    **_same(["signal.fft", "signal.ifft"], lambda f, d: f(d.wave)),
    **_same(
        ["signal.fft2d", "signal.ifft2d", "signal.fft3d", "signal.ifft3d"],
        lambda f, d: f(d.plane),
    ),
    "signal.rfft": lambda f, d: f(d.signal),
    "signal.irfft": lambda f, d: f(d.wave),
    **_same(["signal.rfft2d", "signal.rfft3d"], lambda f, d: f(d.real_plane)),
    **_same(["signal.irfft2d", "signal.irfft3d"], lambda f, d: f(d.plane)),
    "signal.fftshift": lambda f, d: f(d.wave),
    "signal.ifftshift": lambda f, d: f(d.wave),
    "signal.dct": lambda f, d: f(d.signal),
    "signal.idct": lambda f, d: f(d.signal),
    "signal.mdct": lambda f, d: f(d.signal, 32),
    "signal.frame": lambda f, d: f(d.signal, 32, 16),
    "signal.overlap_and_add": lambda f, d: f(d.frames, 16),
    "signal.stft": lambda f, d: f(d.signal, 64, 32),
    "signal.inverse_stft": lambda f, d: f(d.spectra, 64, 32),
    "signal.linear_to_mel_weight_matrix": lambda f, d: f(20, 1 + d.n * 4),
    "signal.mfccs_from_log_mel_spectrograms": lambda f, d: f(d.x),
    **_same([f"signal.{w}" for w in _WINDOWS], lambda f, d: f(d.count)),
    "signal.kaiser_bessel_derived_window": lambda f, d: f(d.count),
}

_RANDOM = {
    "random.normal": lambda f, d: f([d.n, d.n]),
    "random.truncated_normal": lambda f, d: f([d.n, d.n]),
    "random.uniform": lambda f, d: f([d.n, d.n]),
    "random.gamma": lambda f, d: f([d.n], d.row),
    "random.poisson": lambda f, d: f([d.n], d.row),
    "random.shuffle": lambda f, d: f(d.x),
    "random.categorical": lambda f, d: f(d.x, 4),
    "random.stateless_normal": lambda f, d: f([d.n, d.n], (1, 2)),
    "random.stateless_truncated_normal": lambda f, d: f([d.n, d.n], (1, 2)),
    "random.stateless_uniform": lambda f, d: f([d.n, d.n], (1, 2)),
    "random.stateless_gamma": lambda f, d: f([d.n, d.n], (1, 2), d.row),
    "random.stateless_poisson": lambda f, d: f([d.n, d.n], (1, 2), d.row, d.int32),
    "random.stateless_binomial": lambda f, d: f([d.n, d.n], (1, 2), d.whole, d.row),
    "random.stateless_categorical": lambda f, d: f(d.x, 4, (1, 2)),
    "random.log_uniform_candidate_sampler": lambda f, d: f(d.true_classes, 1, 4, False, d.n),
    "random.uniform_candidate_sampler": lambda f, d: f(d.true_classes, 1, 4, False, d.n),
    "quantization.fake_quant_with_min_max_args": lambda f, d: f(d.x),
    "quantization.fake_quant_with_min_max_args_gradient": lambda f, d: f(d.x, d.y),
    "quantization.fake_quant_with_min_max_vars": lambda f, d: f(d.x, 0.2, 0.8),
    "quantization.fake_quant_with_min_max_vars_gradient": lambda f, d: f(d.x, d.y, 0.2, 0.8),
    "quantization.fake_quant_with_min_max_vars_per_channel": lambda f, d: f(
        d.feature, d.channels * 0.0, d.channels
    ),
    "quantization.fake_quant_with_min_max_vars_per_channel_gradient": lambda f, d: f(
        d.feature, d.feature, d.channels * 0.0, d.channels
    ),
}

# Strings, codecs and decoders, which have a table of their own.
TEXT = {
    "as_string": lambda f, d: f(d.row),
    "strings.bytes_split": lambda f, d: f(d.words),
    "strings.format": lambda f, d: f("{}", d.row),
    "strings.join": lambda f, d: f([d.words, d.numerals]),
    "strings.length": lambda f, d: f(d.words),
    "strings.lower": lambda f, d: f(d.words),
    "strings.upper": lambda f, d: f(d.words),
    "strings.strip": lambda f, d: f(d.words),
    "strings.reduce_join": lambda f, d: f(d.texts, 1),
    "strings.regex_full_match": lambda f, d: f(d.words, "W.*5.*"),
    "strings.regex_replace": lambda f, d: f(d.words, "[aeiou]", "_"),
    "strings.split": lambda f, d: f(d.words).flat_values,
    "strings.substr": lambda f, d: f(d.words, 1, 4),
    "strings.to_hash_bucket": lambda f, d: f(d.words, 100),
    "strings.to_hash_bucket_fast": lambda f, d: f(d.words, 100),
    "strings.to_hash_bucket_strong": lambda f, d: f(d.words, 100, [1, 2]),
    "strings.to_number": lambda f, d: f(d.numerals),
    "strings.unicode_decode": lambda f, d: f(d.words, "UTF-8").flat_values,
    "strings.unicode_encode": lambda f, d: f(d.codes, "UTF-8"),
    "strings.unicode_split": lambda f, d: f(d.words, "UTF-8").flat_values,
    "strings.unicode_transcode": lambda f, d: f(d.words, "UTF-8", "UTF-16-BE"),
    "strings.ngrams": lambda f, d: f(d.texts, 2),
    "io.decode_base64": lambda f, d: f(d.coded),
    "io.encode_base64": lambda f, d: f(d.raw),
    "io.decode_csv": lambda f, d: f(d.lines, [0.0, 0, ""]),
    "io.decode_raw": lambda f, d: f(d.raw, d.int32),
    "image.encode_png": lambda f, d: f(d.bytes[0]),
    "image.encode_jpeg": lambda f, d: f(d.bytes[0]),
    "image.adjust_jpeg_quality": lambda f, d: f(d.image[0], 70),
    "image.decode_png": lambda f, d: f(d.png),
    "image.decode_jpeg": lambda f, d: f(d.jpeg),
}

FORMS = {**_ROOT, **_MATH, **_NN, **_LINALG, **_IMAGE, **_SIGNAL, **_RANDOM, **TEXT}

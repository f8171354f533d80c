"""The names of `tf.nn`."""

from wengert.ops.blocks import depth_to_space, space_to_batch, space_to_depth
from wengert.ops.positions import in_top_k
from wengert.ops.reduce import zero_fraction
from wengert.ops.sorting import top_k

"""The names of `tf.nn`."""

from wengert.ops.blocks import depth_to_space, space_to_batch, space_to_depth

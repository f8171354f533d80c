"""The names of `tf.experimental`."""

from wengert.experimental import dlpack

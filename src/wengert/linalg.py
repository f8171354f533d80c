"""The names of `tf.linalg`."""

from wengert.ops.matmul import matmul, matvec

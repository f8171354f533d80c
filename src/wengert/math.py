"""The names of `tf.math`."""

from wengert.ops.arithmetic import add, divide, exp, log, multiply, negative, subtract, tanh
from wengert.ops.reduce import reduce_sum

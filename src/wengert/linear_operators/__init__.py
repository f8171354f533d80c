"""Matrices that are known by their structure: `tf.linalg.LinearOperator` and its kinds."""

from wengert.linear_operators import functions

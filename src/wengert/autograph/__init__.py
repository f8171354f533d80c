"""`tf.autograph`: Python control flow on tensors, at the user's own file and line."""

from wengert.autograph.conversion import convert

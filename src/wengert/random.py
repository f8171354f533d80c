"""The names of `tf.random`."""

"""The names of `tf.linalg`."""

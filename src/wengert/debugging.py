"""The names of `tf.debugging`."""

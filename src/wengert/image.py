"""The names of `tf.image`."""

"""The names of `tf.strings`."""

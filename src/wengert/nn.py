"""The names of `tf.nn`."""

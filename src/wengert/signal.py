"""The names of `tf.signal`."""

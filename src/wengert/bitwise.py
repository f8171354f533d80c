"""The names of `tf.bitwise`."""

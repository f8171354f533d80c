"""Libraries built on TensorFlow, unmodified on Wengert: a table of what runs."""

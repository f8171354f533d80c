"""Wengert under the name `tensorflow`, and what Keras asks of TensorFlow's private modules."""

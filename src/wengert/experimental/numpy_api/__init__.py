"""NumPy's functions on tensors with NumPy's dtypes and promotion: `tf.experimental.numpy`."""

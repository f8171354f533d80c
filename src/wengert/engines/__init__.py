"""Engines: run a finished graph on arrays, by NumPy kernels or compiled through XLA."""

"""The machine and TensorFlow's settings of it: devices, placement, what the program asked for."""

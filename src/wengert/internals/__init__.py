"""TensorFlow's inside names: what libraries touch below `tensorflow.python` and its kin.

`table.py` lists each name, who needs it, and the module here or elsewhere that has its meaning. They
are found below `tensorflow` only, and nothing is loaded before it is touched.
"""

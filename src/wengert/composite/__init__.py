"""Values made of several tensors: sparse and ragged tensors, optionals, and operations on them.

Everything here is written in Wengert's own operations on the components, so gradients flow
through values, and functions trace it like any other code. It knows nothing of engines.
"""

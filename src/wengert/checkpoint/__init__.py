"""Checkpoints: which objects have state, the file it is kept in, and how it comes back.

`trackable` says what an object's children are, `graph` walks them, `format` reads and writes one
safetensors file, `restore` matches a file with objects, `checkpoint` and `manager` are the faces.
"""

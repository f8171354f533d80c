"""The foundation: dtypes, shapes, nests, errors, sites, tensors, variables and the door `apply`.

It knows no particular operation and no compiler; the rooms above declare operations with `Op`.
"""

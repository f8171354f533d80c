"""The operations, in families: each is declared once, with kernel, rules and public function.

`operators`, `slicing` and `numpy_protocols` put themselves on tensors when imported. This room
does not know how graphs are run, nor what a tape is.
"""

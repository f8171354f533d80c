"""The operations, in families: each is declared once, with kernel, rules and public function.

Importing this room installs the operators on tensors. It does not know how graphs are run.
"""

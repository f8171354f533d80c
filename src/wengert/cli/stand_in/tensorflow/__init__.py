"""`tensorflow` in the processes that a program under `wengert run` starts.

They inherit the folder above on Python's path, and so find this module where they would look for
TensorFlow; it gives way to Wengert. An interpreter of another environment, which inherits the
path too, goes on to what it has itself. See `wengert.cli.children`.
"""

import os
import sys

if os.environ.get("WENGERT_RUN") == sys.prefix:
    from wengert.cli.children import alias_in_this_child

    alias_in_this_child()
else:
    import importlib

    _here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    sys.path[:] = [p for p in sys.path if os.path.abspath(p) != _here]
    del sys.modules["tensorflow"]
    importlib.import_module("tensorflow")

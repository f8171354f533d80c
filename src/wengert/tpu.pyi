"""Made by `python -m tools.stubs`: the names that checkers and editors see."""

from wengert.distribute.tpu import initialize_tpu_system as _initialize
from wengert.distribute.tpu import shutdown_tpu_system as _shutdown

class experimental:
    initialize_tpu_system = staticmethod(_initialize)
    shutdown_tpu_system = staticmethod(_shutdown)

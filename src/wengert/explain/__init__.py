"""Why something went wrong: reasons as data, and their rendering.

`tape.explain`, warnings about `None` gradients and `wengert doctor` are built on this room. It
looks at tapes and functions from outside and changes nothing in them.
"""

from wengert.explain.checking import nan
from wengert.explain.codes import CODES
from wengert.explain.examining import doctor
from wengert.explain.memory import MemoryReport
from wengert.explain.parity import parity
from wengert.explain.record import Explanation, Place, Report
from wengert.explain.retraces import Ledger, retraces
from wengert.explain.settings import NoGradientWarning, settings

__all__ = [
    "CODES",
    "Explanation",
    "Ledger",
    "MemoryReport",
    "NoGradientWarning",
    "Place",
    "Report",
    "doctor",
    "nan",
    "parity",
    "retraces",
    "settings",
]

"""Why something went wrong: reasons as data, and their rendering.

`tape.explain`, warnings about `None` gradients and `wengert doctor` are built on this room. It
looks at tapes and functions from outside and changes nothing in them.
"""

from typing import TYPE_CHECKING

from wengert.core.name_tables import lazily as _lazily
from wengert.core.name_tables import read as _read
from wengert.explain.codes import CODES
from wengert.explain.explanation import Explanation, Place, Report
from wengert.explain.settings import NoGradientWarning, settings

if TYPE_CHECKING:  # imported when first used
    from wengert.explain.agreement import parity
    from wengert.explain.checking import nan
    from wengert.explain.examining import doctor
    from wengert.explain.ledgers import Ledger, retraces
    from wengert.explain.memory import MemoryReport

__getattr__, __dir__ = _lazily(
    "tf.explain",
    _read(
        {
            "explain.agreement": "parity",
            "explain.checking": "nan",
            "explain.examining": "doctor",
            "explain.ledgers": "Ledger retraces",
            "explain.memory": "MemoryReport",
        }
    ),
    globals(),
)

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

"""Why something went wrong: reasons as data, and their rendering.

`tape.explain`, warnings about `None` gradients and `wengert doctor` are built on this room. It
looks at tapes and functions from outside and changes nothing in them.
"""

from wengert.core.name_tables import lazily as _lazily
from wengert.core.name_tables import read as _read
from wengert.explain.codes import CODES
from wengert.explain.explanation import Explanation, Place, Report
from wengert.explain.settings import NoGradientWarning, settings

_PLACES = _read(
    {
        "explain.agreement": "parity",
        "explain.checking": "nan",
        "explain.examining": "doctor",
        "explain.ledgers": "Ledger retraces",
        "explain.memory": "MemoryReport",
        "core.tracebacks": "format_exception",
    }
)

__getattr__, __dir__ = _lazily("tf.explain", _PLACES, globals())

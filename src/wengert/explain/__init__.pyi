"""Made by `python -m tools.stubs`: the names that checkers and editors see."""

from wengert.core.tracebacks import format_exception as format_exception
from wengert.explain.agreement import parity as parity
from wengert.explain.checking import nan as nan
from wengert.explain.codes import CODES as CODES
from wengert.explain.examining import doctor as doctor
from wengert.explain.explanation import Explanation as Explanation
from wengert.explain.explanation import Place as Place
from wengert.explain.explanation import Report as Report
from wengert.explain.ledgers import Ledger as Ledger
from wengert.explain.ledgers import retraces as retraces
from wengert.explain.memory import MemoryReport as MemoryReport
from wengert.explain.settings import NoGradientWarning as NoGradientWarning
from wengert.explain.settings import settings as settings

"""Made by `python -m tools.stubs`: the names that checkers and editors see."""

from wengert.summary.graphs import graph as graph
from wengert.summary.graphs import trace_export as trace_export
from wengert.summary.graphs import trace_off as trace_off
from wengert.summary.graphs import trace_on as trace_on
from wengert.summary.record import audio as audio
from wengert.summary.record import histogram as histogram
from wengert.summary.record import image as image
from wengert.summary.record import scalar as scalar
from wengert.summary.record import text as text
from wengert.summary.record import write as write
from wengert.summary.record import write_raw_pb as _write_raw_pb
from wengert.summary.writer import SummaryWriter as SummaryWriter
from wengert.summary.writer import create_file_writer as create_file_writer
from wengert.summary.writer import create_noop_writer as create_noop_writer
from wengert.summary.writer import flush as flush
from wengert.summary.writer import get_step as _get_step
from wengert.summary.writer import record_if as record_if
from wengert.summary.writer import set_step as _set_step
from wengert.summary.writer import should_record_summaries as should_record_summaries
from wengert.summary.writer import summary_scope as _summary_scope

class experimental:
    get_step = staticmethod(_get_step)
    set_step = staticmethod(_set_step)
    summary_scope = staticmethod(_summary_scope)
    write_raw_pb = staticmethod(_write_raw_pb)

"""The names of `tf.summary`: values over time, in files that TensorBoard shows."""

from types import SimpleNamespace as _Namespace

from wengert.core.missing_names import namespace as _namespace
from wengert.summary.graphs import graph, trace_export, trace_off, trace_on
from wengert.summary.record import audio, histogram, image, scalar, text, write
from wengert.summary.record import write_raw_pb as _write_raw_pb
from wengert.summary.writer import (
    SummaryWriter,
    create_file_writer,
    create_noop_writer,
    flush,
    record_if,
    should_record_summaries,
)
from wengert.summary.writer import get_step as _get_step
from wengert.summary.writer import set_step as _set_step
from wengert.summary.writer import summary_scope as _summary_scope

experimental = _Namespace(
    get_step=_get_step,
    set_step=_set_step,
    summary_scope=_summary_scope,
    write_raw_pb=_write_raw_pb,
)

__getattr__, __dir__ = _namespace("tf.summary", globals())

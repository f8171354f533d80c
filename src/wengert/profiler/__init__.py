"""The names of `tf.profiler`: a timeline of operations, traces, compilations and calls."""

from types import SimpleNamespace as _Namespace

from wengert.core.missing_names import namespace as _namespace
from wengert.profiler import session as _session

experimental = _Namespace(
    Profile=_session.Profile,
    ProfilerOptions=_session.ProfilerOptions,
    Trace=_session.Trace,
    server=_Namespace(start=_session.start_server),
    start=_session.start,
    stop=_session.stop,
)

__getattr__, __dir__ = _namespace("tf.profiler", globals())

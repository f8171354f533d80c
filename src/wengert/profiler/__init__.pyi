"""Made by `python -m tools.stubs`: the names that checkers and editors see."""

from wengert.profiler import session as _session

class experimental:
    Profile = _session.Profile
    ProfilerOptions = _session.ProfilerOptions
    Trace = _session.Trace
    class server:
        start = staticmethod(_session.start_server)

    start = staticmethod(_session.start)
    stop = staticmethod(_session.stop)

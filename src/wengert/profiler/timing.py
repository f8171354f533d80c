"""The observer that writes spans of time: traces, compilations, calls, gradients, operations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wengert.core.observers import Observer
from wengert.core.types import JaxArray, Op, Tensor, Value
from wengert.profiler.spans import Recorder

if TYPE_CHECKING:
    import numpy as np

    from wengert.engines.executables import Executable
    from wengert.functions.function import Function
    from wengert.functions.trace import Trace
    from wengert.tape.gradient_tape import GradientTape


class Timer(Observer):
    """Writes down how long each event took; of level 1 only traces and compilations."""

    def __init__(self, recorder: Recorder, level: int) -> None:
        self._recorder = recorder
        self._all = self.operations = level > 1

    def _timed(self, kind: str, name: str, proceed: Any, *given: Any) -> Any:
        return self._recorder.timed(kind, name, lambda: proceed(*given))

    def call(self, proceed: Any, function: Function, args: Any, kwargs: Any) -> Tensor | None:
        if not self._all:
            return proceed(function, args, kwargs)
        return self._timed("call", function.label, proceed, function, args, kwargs)

    def trace(
        self,
        proceed: Any,
        function: Function,
        pairs: list[tuple[str, Tensor]],
        named: Any,
        specs: Any,
        site: Any,
    ) -> Trace | None:
        given = pairs, named, specs, site
        return self._timed("trace", function.name, proceed, function, *given)

    def compile(self, proceed: Any, executable: Executable) -> Any:
        return self._timed("compile", executable.graph.name, proceed, executable)

    def launch(
        self, proceed: Any, executable: Executable, arrays: list[np.ndarray], run: Any
    ) -> tuple[JaxArray, ...] | None:
        if not self._all:
            return proceed(executable, arrays, run)
        return self._timed("xla", executable.graph.name, proceed, executable, arrays, run)

    def gradient(self, proceed: Any, tape: GradientTape, what: str, *given: Any) -> Tensor | None:
        if not self._all:
            return proceed(tape, what, *given)
        return self._timed("gradient", what, proceed, tape, what, *given)

    def operation(self, proceed: Any, op: Op, inputs: tuple[Value, ...], attrs: Any) -> Any:
        run = lambda: proceed(op, inputs, attrs)
        return self._recorder.timed("operation", op.name, run, _results)


def _results(result: Any) -> Any:
    """The line and the results of an operation; the words come when the timeline is written."""
    outs = result if isinstance(result, tuple) else (result,)
    if not outs or not isinstance(outs[0], Tensor):
        return None
    return outs[0]._site, tuple([(o._array.dtype, o._array.shape) for o in outs])

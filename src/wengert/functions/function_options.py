"""What was said when a function was made, and the parameters of its Python function.

Making a function is cheap: its signature is read when the first call needs it. What the arguments
are, tensors or not, does not matter here.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from wengert.core.errors import at_site
from wengert.core.process_settings import PROCESS
from wengert.functions import trace_log


class Options:
    """What was said when the function was made."""

    def __init__(
        self,
        function: Callable[..., Any],
        name: str,
        input_signature: Any,
        autograph: bool,
        jit_compile: bool | None,
        reduce_retracing: bool,
        max_traces: int | None,
    ) -> None:
        self.function = function
        self.name = name
        self.input_signature = input_signature
        self.autograph = autograph
        self.jit = jit_compile
        self.reduce_retracing = reduce_retracing
        self.max_traces = max_traces
        self.counter = trace_log.counter(function)
        # A function that takes the iterator of a dataset and only drives others. They are compiled,
        # each step a transaction with its variables donated; it runs as it is.
        self.drives = getattr(function, "__module__", None) == PROCESS.step_driver
        self.positional: list[str] | None = None
        self.signature: Any = None
        self.simple = False
        # Whether a call by positional arguments needs nothing but the trace of their signature.
        self.quick = not self.drives and input_signature is None
        self.count = -1  # of the positional parameters, where there are no others

    def learn(self) -> None:
        """Reads the Python signature, once."""
        try:
            self.signature = inspect.signature(self.function)
        except (TypeError, ValueError):
            self.signature = inspect.Signature(
                [inspect.Parameter("args", inspect.Parameter.VAR_POSITIONAL)]
            )
        parameters = list(self.signature.parameters.values())
        self.positional = [
            p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
        ]
        self.simple = len(self.positional) == len(parameters)
        self.count = len(parameters) if self.simple else -1

    def names(self, instance: Any) -> list[str]:
        """The positional parameters that a caller gives."""
        if self.positional is None:
            self.learn()
        names: Any = self.positional
        return names[1:] if instance is not None else names

    def bound(
        self, instance: Any, args: Any, kwargs: Any
    ) -> tuple[list[tuple[str, Any]], dict[str, Any]]:
        """Arguments by the parameters of the Python function, with defaults filled in."""
        arguments = self._arguments(args if instance is None else (instance, *args), kwargs)
        pairs: list[tuple[str, Any]] = []
        named: dict[str, Any] = {}
        for name, parameter in self.signature.parameters.items():
            value = arguments[name]
            if parameter.kind is parameter.VAR_POSITIONAL:
                pairs.extend((f"{name}[{i}]", v) for i, v in enumerate(value))
            elif parameter.kind is parameter.VAR_KEYWORD:
                named.update(sorted(value.items()))
            elif parameter.kind is parameter.KEYWORD_ONLY:
                named[name] = value
            else:
                pairs.append((name, value))
        return (pairs if instance is None else pairs[1:]), named

    def _arguments(self, given: Any, kwargs: Any) -> dict[str, Any]:
        if self.signature is None:
            self.learn()
        signature: Any = self.signature
        try:
            bound = signature.bind(*given, **kwargs)
        except TypeError as error:
            plain = [str(p.replace(annotation=p.empty)) for p in signature.parameters.values()]
            words = f"{self.name}: {error}. Its parameters are ({', '.join(plain)})."
            raise at_site(TypeError(words)) from None
        bound.apply_defaults()
        return bound.arguments

    def is_default(self, name: str, value: Any) -> bool:
        """Whether an argument is what its parameter would be without it."""
        parameter = self.signature.parameters.get(name)
        return parameter is not None and parameter.default is value

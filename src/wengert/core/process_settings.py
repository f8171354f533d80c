"""What is true for the whole process: settings that every thread obeys, in one typed record.

What a `with` sets belongs to the context instead and stands in a `ContextVar` where it is used:
tapes and graphs (`core.context`), the engine, the device, name scopes, strategies. This module
does not know who reads a field, nor what follows from it.
"""

from __future__ import annotations


class Process:
    """One field for each fact; read at every call, so plain attributes."""

    __slots__ = (
        "_eager",
        "array_lender",
        "block_threads",
        "calls_in_full",
        "deterministic",
        "exact_sites",
        "filters_tracebacks",
        "lost_xla",
        "prefers_float32",
        "promotes",
        "safe_promotion",
        "step_driver",
        "told_jax",
        "used_xla",
        "verifies_graphs",
        "watches_operations",
    )

    def __init__(self) -> None:
        self._eager = False
        self.calls_in_full = False  # calls of functions look where they are made
        self.array_lender = ""  # the module whose datasets are made over arrays without a copy
        self.block_threads = 0  # how many threads share a large array on the host; 0: all cores
        self.deterministic = False  # random numbers that no seed fixes are refused
        self.exact_sites = 0  # how many want call sites walked to, not remembered
        self.filters_tracebacks = True  # errors are shown without frames of libraries
        self.lost_xla = False  # forked from a process that used XLA
        self.prefers_float32 = False  # of NumPy's functions: numbers without a dtype have 32 bits
        self.promotes = False  # operators promote dtypes by NumPy's rules
        self.safe_promotion = False  # and refuse promotions that lose numbers or widen them
        self.step_driver = ""  # the module whose functions of an iterator run as plain Python
        self.told_jax = False  # JAX runs programs for the CPU in the calling thread
        self.used_xla = False
        self.verifies_graphs = False  # every graph that is built is verified, in the tests
        self.watches_operations = False  # observers want to hear of eager operations

    @property
    def runs_eagerly(self) -> bool:
        """Whether functions run as plain Python."""
        return self._eager

    @runs_eagerly.setter
    def runs_eagerly(self, value: bool) -> None:
        self._eager = value
        self.calls_in_full |= value


PROCESS = Process()

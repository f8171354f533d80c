"""The objects of a loaded model: functions with their traces, signatures, and their holders."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wengert.checkpoint.trackable import AutoTrackable, Trackable
from wengert.core.errors import at_site, describe
from wengert.core.sites import caller
from wengert.core.types import Tensor, TensorSpec, Variable
from wengert.functions import structure_json
from wengert.functions.concrete import ConcreteFunction


class RestoredFunction(Trackable):
    """A function with the traces that it had when it was saved; it never traces again."""

    def __init__(
        self, name: str, concretes: list[ConcreteFunction], defaults: Any, missing: list[str]
    ) -> None:
        self.name = self.__name__ = name
        self.concrete_functions = concretes
        self.packed_defaults = defaults
        self.missing = [str(m) for m in missing]
        self._defaults = {n: structure_json.unpack(v, _no_tensor) for n, v in defaults}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        site = caller(0)
        concrete, leaves = self._match(args, kwargs)
        return concrete._trace.call(leaves, site)

    def _match(self, args: Any, kwargs: Any) -> tuple[ConcreteFunction, list[Tensor]]:
        for concrete in self.concrete_functions:
            try:
                return concrete, concrete._structured(args, self._filled(concrete, args, kwargs))
            except TypeError:
                continue
        raise at_site(ValueError(self._no_match(args, kwargs)))

    def _filled(self, concrete: ConcreteFunction, args: Any, kwargs: Any) -> dict[str, float]:
        """Keyword arguments with the defaults of those that were not given."""
        names = [*[n for n, _ in concrete._pairs], *concrete._named][len(args) :]
        return {n: self._defaults[n] for n in names if n in self._defaults} | kwargs

    def _no_match(self, args: Any, kwargs: Any) -> str:
        if not self.concrete_functions:
            reason = self.missing[0] if self.missing else "it had not been called"
            return f"{self.name}: this function was saved without a trace: {reason}"
        given = [describe(a) for a in args] + [f"{k}={describe(v)}" for k, v in kwargs.items()]
        known = "".join(f"\n  {c.pretty_printed_signature(False)}" for c in self.concrete_functions)
        return (
            f"{self.name}: it was saved for other arguments; got ({', '.join(given)}). A loaded "
            f"function has these signatures and cannot be traced again:{known}"
        )

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> ConcreteFunction:
        """The trace for these arguments; the only one, where none are given."""
        if not args and not kwargs and len(self.concrete_functions) == 1:
            return self.concrete_functions[0]
        return self._match(args, kwargs)[0]

    def _list_all_concrete_functions(self) -> list[ConcreteFunction]:
        return self.concrete_functions

    def __repr__(self) -> str:
        return f"<loaded function {self.name}, {len(self.concrete_functions)} traces>"


class ByName(ConcreteFunction):
    """A signature: tensors in and out by name."""

    @property
    def structured_outputs(self) -> dict[str, TensorSpec]:
        result = super().structured_outputs
        return {n: TensorSpec(s.shape, s.dtype, n) for n, s in result.items()}


class SeveralRanks(ByName):
    """A signature whose arguments may have several ranks, with a program for each."""

    def __init__(self, concretes: list[ConcreteFunction]) -> None:
        first = concretes[0]
        super().__init__(first._name, first._trace, first._pairs, first._named)
        self._concretes = concretes

    def __call__(self, *args: Any, **kwargs: Any) -> dict[str, Tensor]:
        site = caller(0)
        for concrete in self._concretes:
            try:
                leaves = concrete._arguments(args, kwargs)
            except TypeError:
                continue
            return concrete._trace.call(leaves, site)
        return self._concretes[-1](*args, **kwargs)

    @property
    def structured_input_signature(self) -> tuple[Any, Any]:
        known = [c._named for c in self._concretes]
        return (), {n: self._widest([k[n] for k in known]) for n in known[0]}

    @property
    def structured_outputs(self) -> dict[str, TensorSpec]:
        known = [c.structured_outputs for c in self._concretes]
        return {n: self._widest([k[n] for k in known]) for n in known[0]}

    @staticmethod
    def _widest(specs: list[TensorSpec]) -> TensorSpec:
        ranks = {s.shape.rank for s in specs}
        shape = specs[0].shape if len(ranks) == 1 else None
        return TensorSpec(shape, specs[0].dtype, specs[0].name)


def _no_tensor(number: int) -> Any:
    raise ValueError("a default holds no tensors")


class RestoredObject(AutoTrackable):
    """An object of a saved model: its children are attributes.

    `variables`, `trainable_variables` and `non_trainable_variables` are all those below it, unless
    it was saved with attributes of these names. The object that `load` gives has `signatures`.
    """

    if TYPE_CHECKING:  # of one that was saved with a `__call__`, see below

        def __call__(self, *args: Any, **kwargs: Any) -> Any: ...

    def __getattr__(self, name: str) -> Any:
        if name == "variables":
            return tuple(_variables(self))
        if name == "trainable_variables":
            return tuple(v for v in _variables(self) if v.trainable)
        if name == "non_trainable_variables":
            return tuple(v for v in _variables(self) if not v.trainable)
        help = "" if name[0] == "_" else f". It was saved with: {_names(self)}."
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}{help}")

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {_names(self)}>"


def _names(x: RestoredObject) -> str:
    """The attributes that an object was saved with."""
    return ", ".join(n for n in vars(x) if n[0] != "_") or "no attributes"


class CallableObject(RestoredObject):
    """An object that was saved with a `__call__`."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.__dict__["__call__"](*args, **kwargs)


def _variables(root: Any) -> list[Variable]:
    """The variables of an object and of the functions below it, each once."""
    table: dict[int, Variable] = {}
    seen: set[int] = set()
    queue = [root]
    while queue:
        x = queue.pop(0)
        if id(x) in seen:
            continue
        seen.add(id(x))
        if isinstance(x, Variable):
            table[x._id] = x
        elif isinstance(x, dict):
            queue += x.values()
        elif isinstance(x, list | tuple):
            queue += x
        elif isinstance(x, RestoredFunction):
            queue += [v for c in x.concrete_functions for v in c.variables]
        elif isinstance(x, RestoredObject):
            queue += [v for k, v in x.__dict__.items() if k != "signatures"]
    return list(table.values())

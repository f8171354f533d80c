"""Traces with arguments of unknown rank, for each rank that they are likely to have.

A program has arguments of known rank. So a trace that leaves a rank open becomes several: it is
called in a new trace, where its graph is replayed with what is known there.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from wengert.core.context import restoring
from wengert.core.sites import caller
from wengert.core.types import Tensor, TensorSpec
from wengert.functions.concrete import ConcreteFunction
from wengert.functions.signature import rebuild, spec_of
from wengert.functions.trace import trace

_RANKS = range(5)


def by_rank(concrete: ConcreteFunction) -> list[ConcreteFunction]:
    """The function itself, or its forms for arguments of several ranks."""
    specs = list(concrete._trace.specs)
    unknown = [k for k, s in enumerate(specs) if s.shape.rank is None]
    if not unknown:
        return [concrete]
    results = []
    for ranks in _choices(len(unknown)):
        known = dict(zip(unknown, ranks, strict=True))
        try:
            results.append(
                _at(concrete, [_with_rank(s, known.get(k)) for k, s in enumerate(specs)])
            )
        except (TypeError, ValueError):  # what the function does needs another rank
            continue
    return results or [concrete]


def _choices(count: int) -> Iterator[tuple[int, ...]]:
    """All of one rank; of two arguments, also a scalar and another."""
    for rank in _RANKS:
        yield (rank,) * count
    if count == 2:
        for rank in _RANKS[1:]:
            yield rank, 0
            yield 0, rank


def _with_rank(spec: TensorSpec, rank: int | None) -> TensorSpec:
    return spec if rank is None else TensorSpec([None] * rank, spec.dtype, spec.name)


@restoring
def _at(concrete: ConcreteFunction, specs: list[TensorSpec]) -> ConcreteFunction:
    left = iter(specs)

    def known(value: TensorSpec) -> TensorSpec:
        return rebuild(value, lambda x, path: _named(x, next(left)))

    pairs = [(n, known(v)) for n, v in concrete._pairs]
    named = {n: known(v) for n, v in concrete._named.items()}
    site = caller()

    def body(*args: Any, **kwargs: Any) -> Tensor:
        leaves: list[Any] = []
        for value in (*args, *kwargs.values()):
            rebuild(value, lambda x, path: leaves.append(x))
        return concrete._trace.call(leaves, site)

    made = trace(concrete._name, body, pairs, named, spec_of, None, None, site)
    return ConcreteFunction(concrete._name, made, pairs, named)


def _named(old: TensorSpec, spec: TensorSpec) -> TensorSpec:
    return TensorSpec(spec.shape, spec.dtype, getattr(old, "name", None))

"""What operations and public functions give for ragged and sparse tensors.

An operation that is `elementwise` works on the flat values of ragged tensors, and one that is
`on_sparse` on the values of a sparse one. Others, and functions that read the rank of their
arguments, have a rule: a function beside the code of the composite, registered by `for_ragged`,
`for_sparse` or `for_composite` under the `Op`, whose inputs and attributes it takes, or under the
public function, whose arguments it takes. What has no rule refuses composites and says what to do instead."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeVar

from wengert.composite.ragged_tensor import RaggedTensor
from wengert.composite.sparse_tensor import SparseTensor
from wengert.core.composite_operands import ANSWER, CompositeOperand
from wengert.core.fallbacks import FIND_RULE, Rule
from wengert.ops.declare import Op, apply

F = TypeVar("F", bound=Callable[..., Any])
_HOMES = (
    "ragged_gather", "ragged_joining", "ragged_map", "ragged_products", "ragged_reduce",
    "ragged_shaping", "ragged_strings", "sparse_plain",
)  # fmt: skip
# The rules of each kind of composite; the first kind that a value is of decides.
_RULES: dict[type[CompositeOperand], dict[Op | Rule, Rule]] = {}


def for_ragged(*plain: Op | Rule) -> Callable[[F], F]:
    """Registers what operations or public functions give for ragged tensors."""
    return for_composite(RaggedTensor, *plain)


def for_sparse(*plain: Op | Rule) -> Callable[[F], F]:
    """Registers what operations or public functions give for sparse tensors."""
    return for_composite(SparseTensor, *plain)


def for_composite(kind: type[CompositeOperand], *plain: Op | Rule) -> Callable[[F], F]:
    """Registers what operations or public functions give for a kind of composite."""
    rules = _RULES.setdefault(kind, {})

    def register(rule: F) -> F:
        for one in plain:
            assert one not in rules, f"{one} has two rules"
            rules[one] = rule
        return rule

    return register


# What answers where there is no rule: of a kind whose classes are the program's own.
_FINDERS: dict[type[CompositeOperand], Callable[[Op | Rule], Rule | None]] = {}


def for_kind(kind: type[CompositeOperand], finder: Callable[[Op | Rule], Rule | None]) -> None:
    """Registers what finds the rule of any operation or public function for a kind of composite."""
    _FINDERS[kind] = finder


def find(plain: Op | Rule, value: CompositeOperand) -> Rule | None:
    """The rule of an operation or a public function for the kind of a composite."""
    for home in _HOMES:
        import_module(f"wengert.composite.{home}")
    kinds = (rules for kind, rules in _RULES.items() if isinstance(value, kind))
    rule = next(kinds, {}).get(plain)
    finders = (find for kind, find in _FINDERS.items() if rule is None and isinstance(value, kind))
    return next((finder(plain) for finder in finders), rule)


def answer(op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
    """What an operation gives for inputs of which some are composites."""
    value: CompositeOperand = next(x for x in inputs if isinstance(x, CompositeOperand))
    rule = find(op, value)
    if rule is not None:
        return rule(*inputs, **attrs)
    if isinstance(value, SparseTensor):
        if op.on_sparse:
            return value.with_values(apply(op, value.values, **attrs))
    elif isinstance(value, RaggedTensor) and op.elementwise:
        from wengert.composite.ragged_map import elementwise

        return elementwise(op, inputs, attrs)
    raise value.not_dense()


FIND_RULE.fill(find)
ANSWER.fill(answer)

"""How plain public functions take sparse and ragged tensors.

A table says which function of this room answers for which operation. Programs without composites
must not pay for the question, so it is asked only from the first composite on: `activate` then
exchanges the code of the functions in the table, where they stand, for code that looks at the
arguments. References that a program took before, even `tf.exp` in the very expression that makes
the first composite, lead to the same function and so to the new code. Operators of tensors step
back before a composite in the same way.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any, TypeVar

from wengert.core.exchange import Answer, exchange
from wengert.core.tensor import Value


def _table(home: str, names: dict[str, str], every: str = "") -> dict[str, tuple[str, str]]:
    """Who answers for each operation: the function of its name in `home`, or `every`."""
    return {
        f"wengert.{module}.{name}": (f"wengert.composite.{home}", every or name)
        for module, listed in names.items()
        for name in listed.split()
    }


_PRINTED = _table("printing", {"ops.checks": "print_", "ops.strings": "string_format"})
_SPARSE = (
    _PRINTED
    | _table(
        "sparse_plain",
        {
            "ops.arithmetic": "negative",
            "ops.bessel": "bessel_i0e bessel_i1e",
            "ops.cast": "cast",
            "ops.power": "sqrt square",
            "ops.shaping": "identity stop_gradient",
            "ops.special": "erf",
            "ops.trigonometric": "asin asinh atan atanh sin tan",
            "ops.unary": "abs sign tanh",
        },
        every="on_values",
    )
    | _table(
        "sparse_plain",
        {
            "ops.arithmetic": "truediv",
            "ops.create": "ones_like zeros_like",
            "ops.dims": "rank shape size",
            "ops.histogram": "bincount",
        },
    )
    | _table("sparse_plain", {"ops.ctc": "ctc_loss"}, every="ctc_of_rows")
)
_RAGGED = (
    _PRINTED
    | _table(
        "ragged_map",
        {
            "ops.activations": "elu leaky_relu relu relu6 selu",
            "ops.arithmetic": "negative",
            "ops.bessel": (
                "bessel_i0 bessel_i0e bessel_i1 bessel_i1e bessel_j0 bessel_j1 bessel_k0 "
                "bessel_k0e bessel_k1 bessel_k1e bessel_y0 bessel_y1"
            ),
            "ops.cast": "bitcast cast saturate_cast",
            "ops.checks": "check_numerics",
            "ops.color": "adjust_brightness adjust_gamma convert_image_dtype",
            "ops.compare": "is_finite is_inf is_nan nextafter",
            "ops.complex": "angle conj imag real",
            "ops.create": "ones_like zeros_like",
            "ops.dropout": "dropout stateless_dropout",
            "ops.gamma": "digamma lgamma",
            "ops.guarded": "reciprocal_no_nan",
            "ops.hashing": "to_hash_bucket to_hash_bucket_fast to_hash_bucket_strong",
            "ops.logical": "invert logical_not",
            "ops.power": "exp expm1 log log1p reciprocal rsqrt sqrt square",
            "ops.select": "clip_by_value",
            "ops.shaping": "identity stop_gradient",
            "ops.smooth": "gelu silu softsign",
            "ops.special": (
                "dawsn erf erfc erfcinv erfinv expint fresnel_cos fresnel_sin ndtri spence"
            ),
            "ops.strings": (
                "as_string length lower regex_full_match regex_replace strip substr to_number upper"
            ),
            "ops.trigonometric": "acos acosh asin asinh atan atanh cos cosh sin sinh tan",
            "ops.unary": "abs ceil floor log_sigmoid rint round sigmoid sign softplus tanh",
        },
        every="unary",
    )
    | _table(
        "ragged_map",
        {
            "ops.arithmetic": (
                "add multiply realdiv scalar_mul squared_difference subtract truediv"
            ),
            "ops.compare": "equal greater greater_equal less less_equal not_equal",
            "ops.complex": "complex",
            "ops.division": "floordiv floormod truncatediv truncatemod",
            "ops.gamma": "zeta",
            "ops.guarded": "divide_no_nan multiply_no_nan xdivy xlog1py xlogy",
            "ops.logical": (
                "bitwise_and bitwise_or bitwise_xor left_shift logical_and logical_or "
                "logical_xor right_shift"
            ),
            "ops.losses": "sigmoid_cross_entropy_with_logits",
            "ops.power": "pow",
            "ops.select": "maximum minimum",
            "ops.trigonometric": "atan2",
        },
        every="binary",
    )
    | _table("ragged_map", {"ops.arithmetic": "add_n", "ops.select": "where"})
    | _table(
        "ragged_reduce",
        {
            "ops.histogram": "bincount",
            "ops.reduce": (
                "reduce_all reduce_any reduce_max reduce_mean reduce_min reduce_prod reduce_sum"
            ),
            "ops.scan": "cumsum",
            "ops.segment": (
                "unsorted_segment_max unsorted_segment_mean unsorted_segment_min "
                "unsorted_segment_prod unsorted_segment_sqrt_n unsorted_segment_sum"
            ),
            "ops.softmax": "softmax",
            "ops.statistics": "reduce_std reduce_variance",
        },
    )
    | _table(
        "ragged_joining",
        {"ops.joining": "concat split stack", "ops.repeating": "tile", "ops.reordering": "reverse"},
    )
    | _table(
        "ragged_shaping",
        {
            "ops.dims": "expand_dims rank shape size squeeze",
            "ops.indexing": "one_hot",
            "ops.shaping": "reshape",
        },
    )
    | _table(
        "ragged_gather",
        {
            "ops.embedding": "embedding_lookup",
            "ops.gather": "gather gather_nd",
            "ops.partition": "dynamic_partition",
        },
    )
    | _table("ragged_products", {"ops.matmul": "matmul matvec"})
    | _table("ragged_strings", {"ops.strings": "join reduce_join"})
)
_TABLES = {"RaggedTensor": _RAGGED, "SparseTensor": _SPARSE}
_kinds: dict[type, dict[str, tuple[str, str]]] = {}
_ready: list[bool] = []
T = TypeVar("T")
# Arguments that are never rows of numbers: a composite there is no reason to hand over.
_OPTIONS = {
    "axis", "batch_dims", "depth", "dtype", "exclusive", "keepdims", "maxlength", "minlength",
    "name", "num_partitions", "num_segments", "out_type", "placeholder", "reverse", "separator",
    "shape", "summarize", "template", "validate_indices",
}  # fmt: skip
_OPERATORS = "add sub mul truediv floordiv mod pow matmul and or xor lt le gt ge eq ne"


def register(kind: type[T]) -> type[T]:
    """Lets public functions recognise a kind of composite."""
    _kinds[kind] = _TABLES[kind.__name__]
    return kind


def activate() -> None:
    """Lets the functions in the tables look for composites, once."""
    if _ready:
        return
    _ready.append(True)
    for key in {key for table in _TABLES.values() for key in table}:
        module, _, name = key.rpartition(".")
        exchange(getattr(import_module(module), name), partial(_asking, key=key))
    for symbol in _OPERATORS.split():
        name = f"__{symbol}__"
        setattr(Value, name, _yielding(getattr(Value, name)))


def _asking(plain: Any, key: str) -> Answer:
    """Hands arguments over where one is a composite."""

    def ask(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        kind = _composite(args)
        if kind is None and kwargs:
            kind = _composite(kwargs.values())
        place = None if kind is None else _kinds[kind].get(key)
        if place is None or _only_options(plain, args, kwargs):
            return plain(*args, **kwargs)
        answer = getattr(import_module(place[0]), place[1])
        if place[1] == plain.__name__:
            return answer(*args, **kwargs)
        return answer(plain, *args, **kwargs)

    return ask


def _only_options(plain: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether all composites stand where a number or a name belongs; the function says so then."""
    names = plain.__code__.co_varnames[: plain.__code__.co_argcount]
    given = [*zip(names, args, strict=False), *kwargs.items()]
    data = [value for name, value in given if name not in _OPTIONS]
    return len(names) >= len(args) and _composite(data) is None


def _composite(values: Any) -> type | None:
    """The kind of the first composite among arguments, or in a list among them."""
    for value in values:
        kind = type(value)
        if kind in _kinds:
            return kind
        if kind is list or kind is tuple:
            for one in value:
                if type(one) in _kinds:
                    return type(one)
    return None


def _yielding(operator: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """An operator of tensors that leaves the answer to a composite on its right."""

    def operate(self: Any, other: Any) -> Any:
        return NotImplemented if type(other) in _kinds else operator(self, other)

    return operate

"""`experimental_enable_numpy_behavior`: operators of tensors promote dtypes by NumPy's rules."""

from __future__ import annotations

from typing import Any

import ml_dtypes

from wengert.core import dtypes
from wengert.core.apply import PROMOTE
from wengert.core.errors import at_site
from wengert.core.process_settings import PROCESS
from wengert.experimental.numpy_api.arrays import promoted

_MODES = ("legacy", "all", "safe", "off")


def experimental_enable_numpy_behavior(
    prefer_float32: bool = False, dtype_conversion_mode: str = "legacy"
) -> None:
    """Lets operators of tensors promote dtypes by NumPy's rules, for the process.

    Args:
        prefer_float32: numbers without a dtype, and promotions of 32 bits, have 32 bits.
        dtype_conversion_mode: "legacy" and "all" promote; "safe" refuses promotions that lose
            numbers or widen them; "off" takes it back.

    Raises:
        ValueError: there is no such mode.
    """
    mode = getattr(dtype_conversion_mode, "name", dtype_conversion_mode).lower()
    if mode not in _MODES:
        words = f"`dtype_conversion_mode` must be one of {', '.join(_MODES)}"
        raise at_site(
            ValueError(
                f"experimental_enable_numpy_behavior: {words}; got {dtype_conversion_mode!r}."
            )
        )
    PROCESS.promotes = mode != "off"
    PROCESS.prefers_float32 = bool(prefer_float32)
    PROCESS.safe_promotion = mode == "safe"


PROMOTE.fill(lambda values: promoted(*values))


def finfo(dtype: Any) -> Any:
    """The limits of a floating-point type."""
    return ml_dtypes.finfo(dtypes.as_dtype(dtype).np)

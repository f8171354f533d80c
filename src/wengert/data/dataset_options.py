"""`tf.data.Options`: settings that travel with a dataset.

What concerns threads and order is obeyed; the rest, which tunes TensorFlow's own runtime, is
checked, kept and handed back.
"""

from __future__ import annotations

import enum
import functools
from typing import Any, ClassVar


class AutoShardPolicy(enum.IntEnum):
    """How a dataset is split among workers; one process takes all of it."""

    OFF = -1
    AUTO = 0
    FILE = 1
    DATA = 2
    HINT = 3


class ExternalStatePolicy(enum.Enum):
    """What to do about state outside the dataset when it is saved."""

    WARN = 0
    IGNORE = 1
    FAIL = 2


class AutotuneAlgorithm(enum.Enum):
    """How TensorFlow picks the numbers left to it; kept, not used."""

    DEFAULT = 0
    HILL_CLIMB = 1
    GRADIENT_DESCENT = 2
    MAX_PARALLELISM = 3
    STAGE_BASED = 4


class Settings:
    """A bag of settings: each has a type and is `None`, or its default, until it is set."""

    _kinds: ClassVar[dict[str, Any]] = {}
    _defaults: ClassVar[dict[str, Any]] = {}

    def __init__(self) -> None:
        values = {name: self._defaults.get(name) for name in self._kinds}
        groups = {n: k() for n, k in self._kinds.items() if _is_group(k)}
        self.__dict__.update(values | groups, _frozen=False, _set=set())

    def __setattr__(self, name: str, value: Any) -> None:
        if self.__dict__["_frozen"]:
            raise ValueError(
                "Options: what `Dataset.options()` returned does not change the dataset. "
                "Use `Dataset.with_options`."
            )
        name = _ALIASES.get(name, name)
        if name not in self._kinds:
            raise AttributeError(f"{type(self).__name__} has no setting {name!r}.")
        kind = self._kinds[name]
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise TypeError(
                f"{type(self).__name__}: `{name}` must be of type {kind.__name__}; got {value!r}."
            )
        self.__dict__[name] = value
        self._set.add(name)

    def __getattr__(self, name: str) -> Any:
        cached = self.__dict__.get(_ALIASES.get(name, name))
        if cached is None and name not in _ALIASES:
            raise AttributeError(f"{type(self).__name__} has no setting {name!r}.")
        return cached

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and all(
            self.__dict__[n] == other.__dict__[n] for n in self._kinds
        )

    __hash__ = None  # type: ignore[assignment]  # settings change

    def __repr__(self) -> str:
        shown = [f"{n}={self.__dict__[n]!r}" for n in self._kinds if n in self._set]
        return f"{type(self).__name__}({', '.join(shown)})"

    def _merge(self, other: Settings) -> Any:
        """These settings, and over them what was set in `other`."""
        merged = type(self)()
        for name, kind in self._kinds.items():
            if _is_group(kind):
                merged.__dict__[name] = self.__dict__[name]._merge(other.__dict__[name])
                continue
            for source in (self, other):
                if name in source._set:
                    setattr(merged, name, source.__dict__[name])
        return merged

    def _freeze(self) -> Any:
        for name, kind in self._kinds.items():
            if _is_group(kind):
                self.__dict__[name]._freeze()
        self.__dict__["_frozen"] = True
        return self


def _is_group(kind: type) -> bool:
    return isinstance(kind, type) and issubclass(kind, Settings)


_ALIASES = {"experimental_threading": "threading", "experimental_deterministic": "deterministic"}


class ThreadingOptions(Settings):
    """`private_threadpool_size` is the most threads a parallel step uses."""

    _kinds: ClassVar[dict[str, Any]] = {
        "max_intra_op_parallelism": int,
        "private_threadpool_size": int,
    }


class AutotuneOptions(Settings):
    """Kept for programs that set them."""

    _kinds: ClassVar[dict[str, Any]] = {
        "autotune_algorithm": AutotuneAlgorithm,
        "cpu_budget": int,
        "enabled": bool,
        "initial_parallelism": int,
        "min_parallelism": int,
        "ram_budget": int,
    }


class DistributeOptions(Settings):
    """How a dataset is split among workers."""

    _kinds: ClassVar[dict[str, Any]] = {"auto_shard_policy": AutoShardPolicy, "num_devices": int}
    _defaults: ClassVar[dict[str, Any]] = {"auto_shard_policy": AutoShardPolicy.AUTO}


class ServiceOptions(Settings):
    """Kept for programs that set them."""

    _kinds: ClassVar[dict[str, Any]] = {"pinned": bool}


class OptimizationOptions(Settings):
    """Kept for programs that set them: the steps here are not rewritten."""

    _kinds: ClassVar[dict[str, Any]] = dict.fromkeys(
        (
            "apply_default_optimizations", "filter_fusion", "filter_parallelization",
            "inject_prefetch", "map_and_batch_fusion", "map_and_filter_fusion", "map_fusion",
            "map_parallelization", "noop_elimination", "parallel_batch",
            "seq_interleave_prefetch", "shuffle_and_repeat_fusion",
        ),
        bool,
    )  # fmt: skip


class Options(Settings):
    """The settings of a dataset: `options.threading.private_threadpool_size = 2`.

    `deterministic=False` lets parallel steps hand on elements as they are ready.
    """

    _kinds: ClassVar[dict[str, Any]] = {
        "autotune": AutotuneOptions,
        "dataset_name": str,
        "deterministic": bool,
        "experimental_distribute": DistributeOptions,
        "experimental_external_state_policy": ExternalStatePolicy,
        "experimental_optimization": OptimizationOptions,
        "experimental_service": ServiceOptions,
        "experimental_slack": bool,
        "experimental_symbolic_checkpoint": bool,
        "experimental_warm_start": bool,
        "framework_type": list,
        "threading": ThreadingOptions,
    }

    def merge(self, options: Options) -> Options:
        """These settings, and over them those that `options` sets."""
        return self._merge(options)


UNSET: Options = Options()._freeze()  # of datasets that nobody gave options


def merge(given: list[Options]) -> Options:
    """The options of a list, frozen; where two set the same, the later wins."""
    return functools.reduce(Options.merge, given)._freeze() if given else UNSET

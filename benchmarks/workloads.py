"""What is measured, and the targets: tables of data that know no framework.

A workload names a function that every part (`workloads_tf.py`, `workloads_torch.py`, …) may
define; it returns a step to be called repeatedly. A part that lacks the function sits out.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

FRAMEWORKS = {
    "wengert": "Wengert",
    "torch": "PyTorch",
    "tensorflow": "TensorFlow",
    "jax": "JAX",
    "numpy": "NumPy",
}
ALL = tuple(FRAMEWORKS)
MIB = 2**20


@dataclass(frozen=True)
class Workload:
    """One row. The figure is seconds ("time"), or bytes at the peak of one step over what the
    process held before it ("memory"), times `scale` and shown in `unit`. Memory is measured after
    a step with the smaller arguments `warm`, which allocates what a framework makes only once."""

    name: str
    title: str
    unit: str
    scale: float
    measure: str = "time"
    build: str = ""
    args: dict[str, Any] = field(default_factory=dict)
    frameworks: tuple[str, ...] = ALL
    warm: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Target:
    """Wengert's figure for `work`, over that of `versus`, is to be at most `limit`.

    `versus` is a framework, "best" (of the peers), "limit" (the figure itself), or the name of
    another workload of Wengert's own.
    """

    work: str
    limit: float
    versus: str
    text: str


CHAIN = 1000
MLP_SMALL = {"widths": [64, 64, 64, 10], "batch": 32}
MLP_BIG = {"widths": [784, 1024, 1024, 10], "batch": 256}
TAPE_FRIENDS = ("wengert", "torch", "tensorflow")
# A million entries take TensorFlow the better part of a minute.
TAPE_FAST = ("wengert", "torch")
ROWS = {"10k": 10_000, "100k": 100_000, "1M": 1_000_000}


def _chains() -> list[Workload]:
    return [
        Workload(
            f"chain{name}{'-grad' if backward else ''}",
            f"chain of {CHAIN} multiply/add on {text}, {way}, per operation",
            "µs",
            1e6 / CHAIN,
            build="chain",
            args={"shape": shape, "count": CHAIN, "backward": backward},
        )
        for name, text, shape in (("16", "16 floats", [16]), ("64x64", "64×64 floats", [64, 64]))
        for backward, way in ((False, "forward"), (True, "forward + backward"))
    ]


def _embeddings() -> list[Workload]:
    return [
        Workload(
            f"embedding{label}{'-memory' if measure == 'memory' else ''}",
            f"embedding {label} × 64, 256 rows, sparse SGD step{text}",
            unit,
            scale,
            measure,
            "embedding",
            {"rows": rows},
            warm={"rows": 1000},
        )
        for measure, text, unit, scale in (
            ("time", "", "µs", 1e6),
            ("memory", ": peak", "MiB", 1 / MIB),
        )
        for label, rows in ROWS.items()
    ]


def _tapes() -> list[Workload]:
    return [
        Workload(
            f"tape{label}{'-memory' if measure == 'memory' else ''}",
            f"tape of {label} entries on 16 floats{text}, per entry",
            unit,
            scale / count,
            measure,
            "chain",
            {"shape": [16], "count": count, "backward": True},
            TAPE_FAST if count > 100_000 else TAPE_FRIENDS,
            {"count": 100},
        )
        for measure, text, unit, scale in (
            ("time", "", "µs", 1e6),
            ("memory", ": peak", "bytes", 1.0),
        )
        for label, count in ROWS.items()
    ]


def _functions() -> list[Workload]:
    compiled = ("wengert", "tensorflow", "jax")
    xla = {"xla": True}
    row = Workload
    return [
        row("f-trivial", "call of a trivial function", "µs", 1e6, build="trivial", frameworks=compiled),
        row("f-trivial-xla", "call of a trivial function, XLA", "µs", 1e6, build="trivial", args=xla,
            frameworks=compiled),
        row("f-mlp-small", "MLP 64-64-64-10 step in a function", "µs", 1e6, build="mlp_function",
            args=MLP_SMALL, frameworks=compiled),
        row("f-mlp-big", "MLP 784-1024-1024-10 step in a function", "ms", 1e3,
            build="mlp_function", args=MLP_BIG, frameworks=compiled),
        row("f-mlp-big-xla", "MLP 784-1024-1024-10 step in a function, XLA", "ms", 1e3,
            build="mlp_function", args=MLP_BIG | xla, frameworks=compiled),
        row("f-first", "first call of the small MLP step", "ms", 1e3, build="first_call",
            args=MLP_SMALL, frameworks=compiled),
        row("f-batches", "100 batch sizes, one function", "ms", 1e3, build="batch_sizes",
            args={"count": 100, "traced": True}, frameworks=("wengert", "tensorflow")),
        row("f-batches-eager", "100 batch sizes, eager", "ms", 1e3, build="batch_sizes",
            args={"count": 100, "traced": False}, frameworks=("wengert", "tensorflow")),
        row("f-scalars", "trace and compile 1000 scalar operations", "ms", 1e3, build="scalars",
            args={"count": 1000}, frameworks=compiled),
        row("f-tracing", "tracing alone, per operation", "µs", 1e3, build="tracing",
            args={"count": 1000}, frameworks=("wengert", "tensorflow")),
        row("f-while", "gradient of a while_loop of 100 steps", "µs", 1e6, build="recurrent",
            args={"steps": 100}, frameworks=compiled),
        row("f-scan", "gradient of a scan of 100 steps", "µs", 1e6, build="recurrent",
            args={"steps": 100, "form": "scan"}, frameworks=("wengert", "jax")),
        row("f-until", "gradient of a loop of unknown length, XLA", "µs", 1e6, build="until",
            args={"known": False}, frameworks=("wengert",)),
        row("f-until-known", "the same loop, length known", "µs", 1e6, build="until",
            args={"known": True}, frameworks=("wengert",)),
        row("ag-convert", "conversion of a 100-line function", "ms", 1e3, build="convert",
            args={"lines": 100}, frameworks=("wengert",)),
        row("ag-on", "trace with Python conditions, converted", "ms", 1e3, build="converted",
            args={"autograph": True}, frameworks=("wengert", "tensorflow")),
        row("ag-off", "trace with Python conditions, not converted", "ms", 1e3, build="converted",
            args={"autograph": False}, frameworks=("wengert", "tensorflow")),
        row("ag-collatz", "Collatz-like loop of 1,000,000 turns", "ms", 1e3, build="collatz",
            args={"turns": 1_000_000}, frameworks=("wengert", "jax")),
        *[row(f"ag-rnn{n}", f"plain Python recurrent loop, {n} steps, gradient", "µs", 1e6,
              build="plain_recurrent", args={"steps": n}, frameworks=("wengert", "jax"))
          for n in (10, 20, 30, 40, 50, 60, 70, 80, 90, 100)],
    ]  # fmt: skip


WORKLOADS = [
    Workload("import", "import", "s", 1.0, "import"),
    *_chains(),
    Workload(
        "mlp-small", "MLP 64-64-64-10, batch 32, SGD step", "µs", 1e6, build="mlp", args=MLP_SMALL
    ),
    Workload(
        "mlp-big", "MLP 784-1024-1024-10, batch 256, SGD step", "ms", 1e3, build="mlp", args=MLP_BIG
    ),
    Workload("conv", "conv network 28×28, batch 32, SGD step", "ms", 1e3, build="conv"),
    *_embeddings(),
    *_tapes(),
    Workload(
        "deep-memory",
        "gradient of a 50-layer MLP, 4096 × 256: peak",
        "MiB",
        1 / MIB,
        "memory",
        "deep",
        {"layers": 50, "batch": 4096, "width": 256},
        warm={"batch": 8},
    ),
    *(
        Workload(
            f"recompute-{'on' if on else 'off'}",
            f"gradient of 50 blocks of 10 layers, recompute_grad {'on' if on else 'off'}: peak",
            "MiB",
            1 / MIB,
            "memory",
            "blocks",
            {"blocks": 50, "layers": 10, "batch": 4096, "width": 64, "recompute": on},
            warm={"batch": 8},
        )
        for on in (False, True)
    ),
    *_functions(),
]

TARGETS = [
    Target("chain16-grad", 0.45, "torch", "chain on 16 floats, forward + backward"),
    Target("chain16-grad", 0.08, "tensorflow", "chain on 16 floats, forward + backward"),
    Target("chain64x64-grad", 0.5, "torch", "chain on 64×64 floats, forward + backward"),
    Target("mlp-small", 0.5, "torch", "small MLP step"),
    Target("mlp-big", 1.05, "best", "big MLP step"),
    Target("conv", 2.0, "torch", "conv network step"),
    Target("embedding1M", 1.25, "embedding10k", "embedding: time independent of the rows"),
    Target("embedding1M-memory", 1.0, "limit", "embedding: a million rows, MiB over the table"),
    Target("tape1M", 1.25, "tape100k", "tape: time linear in its entries"),
    Target("tape1M-memory", 1.25, "tape100k-memory", "tape: memory linear in its entries"),
    Target("deep-memory", 1.1, "torch", "tape memory of a 50-layer MLP"),
    Target("recompute-on", 0.2, "recompute-off", "recompute_grad: peak with over without"),
    Target("import", 0.25, "limit", "import, seconds"),
    Target("f-trivial", 2.7, "jax", "call of a trivial function"),
    Target("f-trivial", 0.1, "tensorflow", "call of a trivial function"),
    Target("f-mlp-small", 0.8, "jax", "small MLP step in a function"),
    Target("f-mlp-small", 0.25, "tensorflow", "small MLP step in a function"),
    Target("f-mlp-big", 1.02, "jax", "big MLP step in a function (JAX with donation)"),
    Target("f-mlp-big-xla", 1.0, "tensorflow", "big MLP step in a function (both XLA)"),
    Target("f-first", 0.3, "tensorflow", "first call of the small MLP step"),
    Target("f-batches", 1.3, "f-batches-eager", "100 batch sizes through one function"),
    Target("f-scalars", 1.0, "jax", "trace and compile 1000 scalar operations"),
    Target("f-tracing", 10.0, "limit", "tracing, µs per operation"),
    Target("f-while", 1.1, "jax", "recurrent loop by while_loop, gradient"),
    Target("f-while", 0.8, "tensorflow", "recurrent loop by while_loop, gradient"),
    Target("f-scan", 1.1, "jax", "recurrent loop by scan, gradient"),
    Target("f-until", 1.2, "f-until-known", "loop of unknown length over known"),
    Target("ag-convert", 20.0, "limit", "conversion of a 100-line function, ms"),
    Target("ag-on", 1.2, "ag-off", "Python conditions: converted over not"),
    Target("ag-collatz", 1.2, "jax", "Collatz-like loop"),
    *[Target(f"ag-rnn{n}", 1.2, "jax", f"plain Python recurrent loop, {n} steps")
      for n in (10, 20, 30, 40, 50, 60, 70, 80, 90, 100)],
]  # fmt: skip

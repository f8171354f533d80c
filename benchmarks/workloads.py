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
    Target("tape1M", 1.25, "tape10k", "tape: time linear in its entries"),
    Target("tape1M-memory", 1.25, "tape100k-memory", "tape: memory linear in its entries"),
    Target("deep-memory", 1.1, "torch", "tape memory of a 50-layer MLP"),
    Target("recompute-on", 0.2, "recompute-off", "recompute_grad: peak with over without"),
    Target("import", 0.25, "limit", "import, seconds"),
]

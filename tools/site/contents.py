"""What the site consists of: sections, the files in them, and the page of each file."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent.parent


class Section(NamedTuple):
    """Pages that stand together in the column at the side; the first opens the section."""

    title: str
    sources: tuple[str, ...]


SECTIONS = (
    Section("Start", ("docs/index.md", "README.md", "examples/README.md")),
    Section(
        "Guides",
        (
            "docs/training.md",
            "docs/saving.md",
            "docs/checkpoints.md",
            "docs/data.md",
            "docs/keras.md",
            "docs/tapes.md",
            "docs/functions.md",
            "docs/control-flow.md",
            "docs/composite.md",
            "docs/performance.md",
            "docs/memory.md",
            "docs/gpu.md",
            "docs/distribute.md",
            "docs/engines.md",
            "docs/explain.md",
        ),
    ),
    Section(
        "Migration",
        (
            "docs/from-tensorflow.md",
            "docs/from-pytorch.md",
            "docs/libraries.md",
            "docs/differences.md",
        ),
    ),
    Section("Diagnostics", ("docs/diagnostics/README.md",)),
    Section("Benchmarks", ("benchmarks/RESULTS.md", "benchmarks/README.md")),
    Section(
        "Project",
        ("CHANGELOG.md", "CONTRIBUTING.md", "docs/architecture.md", "docs/operations.md"),
    ),
)
CODES = tuple(
    f"docs/diagnostics/{path.name}" for path in sorted(ROOT.glob("docs/diagnostics/WG*.md"))
)
PAGES = tuple(source for section in SECTIONS for source in section.sources) + CODES


def page_of(source: str) -> str:
    """The page of a Markdown file, below the site's folder: `docs/data.md` is `data.html`."""
    if source == "README.md":
        return "start.html"
    path = Path(source.removeprefix("docs/"))
    name = "index" if path.stem == "README" else path.stem
    return path.with_name(f"{name}.html").as_posix()


def title_of(source: str) -> str:
    """The heading that a file begins with, without what follows a colon."""
    if source == "README.md":
        return "First steps"
    heading = (ROOT / source).read_text(encoding="utf-8").split("\n", 1)[0].lstrip("# ")
    return heading if re.match(r"WG\d", heading) else heading.split(": ")[0].replace("`", "")


def relative(target: str, page: str) -> str:
    """The link from one page to another, both given from the site's folder."""
    return Path(os.path.relpath(target, Path(page).parent)).as_posix()

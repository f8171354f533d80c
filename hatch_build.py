"""Gives the package the README with links that work where the repository is not at hand.

The README's links are relative, for whoever reads it in a checkout; a package index shows the same
text without the files. So a build writes them below the address `Source` of `project.urls`.
"""

from __future__ import annotations

import re
from pathlib import Path

from hatchling.metadata.plugin.interface import MetadataHookInterface


class ReadmeHook(MetadataHookInterface):
    """Sets `project.readme`, which `pyproject.toml` calls dynamic."""

    def update(self, metadata: dict) -> None:
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        source = metadata["urls"]["Source"]
        metadata["readme"] = {
            "content-type": "text/markdown",
            "text": re.sub(r"\]\((?!https?://|#)", f"]({source}/blob/main/", text),
        }

"""An explanation as data: what happened, where, why, and what to do about it.

`Explanation` is one reason, `Report` a list of them. Nothing here knows how a reason was found;
how it looks is the business of the renderers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from wengert.core.sites import Site
from wengert.explain.codes import CODES


@dataclass(frozen=True)
class Place:
    """A place in the user's source and what happened there."""

    site: Site
    label: str = ""

    def to_dict(self) -> dict[str, int | str | None]:
        """The place as plain data."""
        return {
            "file": self.site.file,
            "line": self.site.line,
            "column": self.site.column,
            "end_column": self.site.end_column,
            "function": self.site.function,
            "text": self.site.text.strip(),
            "label": self.label,
        }


class Shown:
    """What has a text of several lines, and shows it at the end of a notebook's cell."""

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))

    def _repr_html_(self) -> str:
        from wengert.explain.html import preformatted

        return preformatted(str(self))


@dataclass(frozen=True, repr=False)
class Explanation(Shown):
    """One reason. The first of `sites` is where it went wrong; the others show how it came there.

    `certain` says whether the records prove it; otherwise it is the likeliest reason.
    """

    code: str
    title: str
    cause: str
    sites: tuple[Place, ...] = ()
    remedy: str = ""
    details: dict[str, Any] = field(default_factory=dict)
    certain: bool = True

    @property
    def site(self) -> Site | None:
        """Where it went wrong, if that is known."""
        return self.sites[0].site if self.sites else None

    @property
    def line(self) -> int | None:
        """The line where it went wrong."""
        return self.sites[0].site.line if self.sites else None

    @property
    def summary(self) -> str:
        """The reason in one line, with its place."""
        where = f" ({self.site.place})" if self.site else ""
        likely = "" if self.certain else "probably, "
        return f"{self.code}: {likely}{self.cause}{where}"

    def to_dict(self) -> dict[str, Any]:
        """The explanation as plain data, as JSON has it."""
        return {
            "code": self.code,
            "title": self.title,
            "cause": self.cause,
            "certain": self.certain,
            "remedy": self.remedy,
            "sites": [p.to_dict() for p in self.sites],
            "details": self.details,
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Explanation:
        """The explanation that `to_dict` told."""
        places = [
            Place(
                Site(*(p[key] for key in ("file", "line", "function", "column", "end_column"))),
                p["label"],
            )
            for p in data["sites"]
        ]
        rest = {
            name: data[name] for name in ("code", "title", "cause", "remedy", "details", "certain")
        }
        return cls(sites=tuple(places), **rest)

    def to_text(self, color: bool = False) -> str:
        """The explanation with the user's source lines, as a terminal shows it."""
        from wengert.explain.terminal import render

        return render(self, color)

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        return f"<Explanation {self.summary}>"

    def _repr_html_(self) -> str:
        from wengert.explain.html import fragment

        return fragment([self])


def reason(code: str, cause: str, *sites: Place, remedy: str = "", **rest: Any) -> Explanation:
    """An explanation under the title that the table of codes has for it."""
    return Explanation(code, CODES[code], cause, sites, remedy, **rest)


class Report(Shown, Sequence[Explanation]):
    """Explanations in the order they were found; empty where there is nothing to explain."""

    def __init__(self, found: Sequence[Explanation] = (), silence: str = "") -> None:
        self._found = tuple(found)
        self._silence = silence or "Nothing to explain."

    def __getitem__(self, index: Any) -> Any:
        return self._found[index]

    def __len__(self) -> int:
        return len(self._found)

    def __iter__(self) -> Iterator[Explanation]:
        return iter(self._found)

    @property
    def codes(self) -> list[str]:
        """The codes found, in order."""
        return [e.code for e in self._found]

    @property
    def certain(self) -> list[Explanation]:
        """Those that the records prove."""
        return [e for e in self._found if e.certain]

    def to_dict(self) -> dict[str, Any]:
        """The report as plain data, as JSON has it."""
        return {"version": 1, "explanations": [e.to_dict() for e in self._found]}

    def to_json(self) -> str:
        """The report as JSON."""
        import json

        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, default=str)

    def to_sarif(self) -> dict[str, Any]:
        """The report in the Static Analysis Results Interchange Format, version 2.1.0."""
        from wengert.explain.sarif import log

        return log(self._found)

    def to_text(self, color: bool = False) -> str:
        """The report as a terminal shows it."""
        return "\n\n".join(e.to_text(color) for e in self._found) or self._silence

    def to_html(self, title: str = "Wengert report") -> str:
        """A page that stands alone."""
        from wengert.explain.html import page

        return page(self._found, title, self._silence)

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        return f"<Report: {', '.join(self.codes) or 'nothing'}>"

    def _repr_html_(self) -> str:
        from wengert.explain.html import fragment

        return fragment(self._found, self._silence)


__all__ = ["Explanation", "Place", "Report", "Shown", "reason"]

"""`python -m tools.site --out FOLDER` writes all pages."""

from __future__ import annotations

import argparse
import os
import shutil
from collections.abc import Callable
from pathlib import Path

from tools.site import markdown, reference, sources, tensorflow
from tools.site.contents import CODES, PAGES, ROOT, SECTIONS, page_of, relative, title_of
from tools.site.layout import Entry, frame

HERE = Path(__file__).parent
NAMES = "names.html"


class Site:
    """Writes pages, and remembers the source files that they link to."""

    def __init__(self, out: Path) -> None:
        self.out = out
        self.pages = {source: page_of(source) for source in PAGES}
        self.linked: list[str] = []
        self.top = [Entry(page_of(s.sources[0]), s.title) for s in SECTIONS]
        self.top[3:3] = [Entry(reference.INDEX, "Reference"), Entry(NAMES, "TensorFlow's names")]

    def write(self, page: str, title: str, body: str, here: str, side: list[Entry]) -> None:
        path = self.out / page
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(frame(page, title, body, self.top, here, side), encoding="utf-8")

    def link(self, source: str, page: str) -> Callable[[str], str]:
        """What makes links of a file into links of its page."""

        def leads(target: str) -> str:
            path, _, anchor = target.partition("#")
            full = os.path.normpath(ROOT / Path(source).parent / path)
            name = Path(full).relative_to(ROOT).as_posix()
            return relative(self.found(name), page) + (f"#{anchor}" if anchor else "")

        return leads

    def found(self, name: str) -> str:
        """The page of a file; a picture is copied, any other file becomes a page of source."""
        if name in self.pages:
            return self.pages[name]
        if Path(name).suffix in (".svg", ".png"):
            shutil.copy(ROOT / name, self.out / Path(name).name)
            self.pages[name] = Path(name).name
        else:
            self.pages[name] = sources.page_of(name)
            self.linked.append(name)
        return self.pages[name]

    def guides(self) -> None:
        for section in SECTIONS:
            members = section.sources + (CODES if section.title == "Diagnostics" else ())
            side = [Entry(page_of(s), title_of(s)) for s in members]
            for source in members:
                page = page_of(source)
                text = (ROOT / source).read_text(encoding="utf-8")
                body = markdown.render(text, self.link(source, page))
                self.write(page, title_of(source), body, section.title, side)

    def tables(self) -> None:
        side = [Entry(reference.page_of(s), s) for s in reference.items()]
        self.write(reference.INDEX, "Reference", reference.index(), "Reference", side)
        for space in reference.items():
            page = reference.page_of(space)
            self.write(page, space, reference.page(space), "Reference", side)
        body = tensorflow.table(reference.places().get)
        self.write(NAMES, "TensorFlow's names", body, "TensorFlow's names", [Entry(NAMES, "All")])

    def files(self) -> None:
        for name in self.linked:  # it grows: a folder that is linked does not add its files
            page = sources.page_of(name)
            body = sources.page(name, lambda n, p=page: self._known(n, p))
            self.write(page, name, body, "Project", [Entry(page_of("CHANGELOG.md"), "Project")])

    def _known(self, name: str, page: str) -> str | None:
        return relative(self.pages[name], page) if name in self.pages else None


def build(out: Path) -> None:
    """Makes the folder anew, with all pages."""
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    shutil.copy(HERE / "style.css", out / "style.css")
    site = Site(out)
    site.guides()
    site.tables()
    site.files()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.site", description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "site", help="the folder (site)")
    out = parser.parse_args().out
    build(out)
    count = sum(1 for _ in out.rglob("*.html"))
    size = sum(path.stat().st_size for path in out.rglob("*") if path.is_file())
    print(f"{count} pages, {size / 2**20:.1f} MiB: {out / 'index.html'}")


if __name__ == "__main__":
    main()

"""The methods of `tf.data.Dataset` that write elements to files and read them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from wengert.core import nest
from wengert.core.errors import UnimplementedError, at_site, require
from wengert.data.file_format import Stored, Writer, write
from wengert.data.plan import Plan, Run
from wengert.data.sources import Tensors
from wengert.io.paths import MissingFileError, local, refused

if TYPE_CHECKING:
    from wengert.core.types import Tensor, TensorSpec
    from wengert.data.dataset import Dataset

_FILE = "elements.zip"


class Saving:
    """Writing a dataset to a folder, and reading it back."""

    _plan: Plan

    def save(
        self,
        path: Any,
        compression: str | None = None,
        shard_func: Callable[..., Any] | None = None,
        checkpoint_args: Any = None,
    ) -> None:
        """Writes the elements to a folder, from which `tf.data.Dataset.load` reads them.

        All elements go to one file, so `shard_func` changes nothing.
        """
        require(
            checkpoint_args is None,
            "save",
            "`checkpoint_args` are not taken",
            help="A dataset is written from its start to its end.",
            kind=UnimplementedError,
        )
        file = os.path.join(local("save", path), _FILE)
        elements = self._plan.start(Run(self._plan.options))
        write("save", file, self._plan.spec, elements, _compressed("save", compression))

    @staticmethod
    def load(
        path: Any,
        element_spec: TensorSpec | None = None,
        compression: str | None = None,
        reader_func: Callable[..., Any] | None = None,
        wait: bool = False,
    ) -> Dataset:
        """The elements that `save` has written to a folder.

        `reader_func` is given a dataset with one element, the dataset of the file.
        """
        from wengert.data.dataset import Dataset

        folder = local("load", path)
        _compressed("load", compression)
        if os.path.exists(os.path.join(folder, "dataset_spec.pb")):
            rule = "this dataset was written by TensorFlow; Wengert reads files of its own"
            help = "Write the elements with TensorFlow as .npz or text."
            raise refused("load", rule, folder, help, UnimplementedError)
        if not os.path.isdir(folder):
            raise refused(
                "load", "there is no such dataset", folder, "Check the path.", MissingFileError
            )
        result = Dataset(Stored("load", os.path.join(folder, _FILE)))
        if element_spec is not None and not _fits(element_spec, result.element_spec):
            raise at_site(
                ValueError(
                    f"load: the elements in the file are not of `element_spec`; they are "
                    f"{result.element_spec}. Leave it out."
                )
            )
        return result if reader_func is None else reader_func(Dataset(Tensors([result])))

    def snapshot(
        self,
        path: str,
        compression: str | None = "AUTO",
        reader_func: Callable[..., Any] | None = None,
        shard_func: Callable[..., Any] | None = None,
        name: str | None = None,
    ) -> Dataset:
        """The elements of the first complete iteration, kept in a folder for all later ones.

        Later programs read the folder too, whatever their dataset is.
        """
        from wengert.data.dataset import Dataset

        file = os.path.join(local("snapshot", path), _FILE)
        compress = compression != "AUTO" and _compressed("snapshot", compression)
        result = Dataset(OnDisk("snapshot", self._plan, file, compress))
        return result if reader_func is None else reader_func(Dataset(Tensors([result])))


def _compressed(name: str, compression: str | None) -> bool:
    require(
        compression in (None, "", "NONE", "GZIP", "SNAPPY", "ZLIB"),
        name,
        f"`compression` must be None or 'GZIP'; got {compression!r}",
        kind=ValueError,
    )
    return compression not in (None, "", "NONE")


def _fits(wanted: TensorSpec, given: TensorSpec) -> bool:
    fits = lambda a, b: a.is_compatible_with(b)
    try:
        return all(nest.flatten(nest.map_structure(fits, wanted, given)))
    except (TypeError, ValueError):
        return False


class OnDisk(Plan):
    """Keeps the elements of the first complete iteration in a file."""

    def __init__(self, name: str, source: Plan, path: str, compress: bool = False) -> None:
        super().__init__(source)
        self.kind = "CacheDataset" if name == "cache" else "_SnapshotDataset"
        self._name, self._path, self._compress = name, path, compress

    def start(self, run: Run) -> Iterator[Any]:
        if os.path.exists(self._path):
            return Stored(self._name, self._path).start(run)
        writer = Writer(self._name, self._path, self.spec, self._compress)
        return _Writing(writer, self.input.start(run))


class _Writing(Iterator[Any]):
    def __init__(self, writer: Writer, source: Iterator[Any]) -> None:
        self._writer: Writer | None = writer
        self._source = source

    def __next__(self) -> Tensor:
        try:
            element = next(self._source)
        except StopIteration:
            writer, self._writer = self._writer, None
            if writer is not None:
                writer.close()
            raise
        if self._writer is not None:
            self._writer.add(element)
        return element

    def __del__(self) -> None:
        if self._writer is not None:
            self._writer.give_up()

"""The formats: how a sound file is made, how it is read, and what may be said of a damaged one."""

from __future__ import annotations

import gzip
import io
import wave
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from google.protobuf.message import DecodeError

import wengert as tf

Bad = (tf.errors.OpError, ValueError, TypeError)


class Format(NamedTuple):
    """`make` writes into a folder; `read` gives plain values, which can be compared.

    `files` says which files of the folder are damaged in turn. `checked`: damage is found by
    checksums, so a read gives what was written or fails (`prefix`: a shorter list will do, since
    a cut between records cannot be seen; `empty`: so will an empty file). `errors` are the kinds that a damaged file may end in.
    """

    make: Callable[[Path], None]
    read: Callable[[Path], Any]
    files: str = "file"
    checked: bool = False
    prefix: bool = False
    empty: bool = False
    names: bool = True
    errors: tuple[type[BaseException], ...] = (tf.errors.OpError,)


FORMATS: dict[str, Format] = {}


def blob(name: str, data: Callable[[], bytes], read: Callable[[bytes], Any], **facts: Any) -> None:
    """A format of byte strings, which no file's name is known of."""
    facts.setdefault("errors", (tf.errors.InvalidArgumentError, tf.errors.DataLossError))
    FORMATS[name] = Format(
        lambda folder: _discard((folder / "file").write_bytes(data())),
        lambda folder: read((folder / "file").read_bytes()),
        names=False,
        **facts,
    )


def _discard(value: object) -> None:
    del value


def _plain(value: Any) -> Any:
    return tf.nest.map_structure(lambda x: x.numpy() if hasattr(x, "numpy") else x, value)


# Records, and what is kept in them.

RECORDS = [b"one", b"", b"three" * 20, bytes(range(256))]


def _records(kind: str) -> Format:
    def make(folder: Path) -> None:
        with tf.io.TFRecordWriter(str(folder / "file"), kind) as writer:
            for record in RECORDS:
                writer.write(record)

    def read(folder: Path) -> Any:
        data = tf.data.TFRecordDataset(str(folder / "file"), compression_type=kind)
        return [x.numpy() for x in data]

    loss = (tf.errors.DataLossError,)
    return Format(make, read, checked=True, prefix=kind == "", empty=kind != "", errors=loss)


FORMATS["tfrecord"] = _records("")
FORMATS["tfrecord_gzip"] = _records("GZIP")
FORMATS["tfrecord_zlib"] = _records("ZLIB")


def _example() -> Any:
    feature = tf.train.Feature
    return tf.train.Example(
        features=tf.train.Features(
            feature={
                "n": feature(int64_list=tf.train.Int64List(value=[1, -2, 300, 2**40])),
                "x": feature(float_list=tf.train.FloatList(value=[0.5, -1.5])),
                "s": feature(bytes_list=tf.train.BytesList(value=[b"word", b"\xff"])),
            }
        )
    )


def _sequence() -> Any:
    lists = tf.train.FeatureLists(
        feature_list={"l": tf.train.FeatureList(feature=[_example().features.feature["n"]] * 2)}
    )
    return tf.train.SequenceExample(context=_example().features, feature_lists=lists)


SPEC = {
    "n": tf.io.VarLenFeature(tf.int64),
    "x": tf.io.FixedLenFeature([2], tf.float32),
    "s": tf.io.RaggedFeature(tf.string),
}

blob(
    "example",
    lambda: _example().SerializeToString(),
    lambda data: str(tf.train.Example.FromString(data)),
    errors=(DecodeError,),
)
blob(
    "sequence_example",
    lambda: _sequence().SerializeToString(),
    lambda data: str(tf.train.SequenceExample.FromString(data)),
    errors=(DecodeError,),
)
blob(
    "features",
    lambda: _example().features.SerializeToString(),
    lambda data: str(tf.train.Features.FromString(data)),
    errors=(DecodeError,),
)
blob(
    "parse_single_example",
    lambda: _example().SerializeToString(),
    lambda data: str(tf.io.parse_single_example(data, SPEC)),
)
blob(
    "parse_example",
    lambda: _example().SerializeToString(),
    lambda data: str(tf.io.parse_example([data, data], SPEC)),
)
blob(
    "parse_sequence_example",
    lambda: _sequence().SerializeToString(),
    lambda data: str(
        tf.io.parse_single_sequence_example(
            data, {"n": SPEC["n"]}, {"l": tf.io.VarLenFeature(tf.int64)}
        )
    ),
)
blob(
    "tensor",
    lambda: tf.io.serialize_tensor(tf.reshape(tf.range(24.0), [2, 3, 4])).numpy(),
    lambda data: tf.io.parse_tensor(data, tf.float32).numpy(),
)
blob(
    "tensor_of_strings",
    lambda: tf.io.serialize_tensor(tf.constant(["a", "bcd", ""])).numpy(),
    lambda data: np.asarray(tf.io.parse_tensor(data, tf.string).numpy()),
)

# Compressed strings and text.

TEXT = b"".join(b"line %d of a text\n" % i for i in range(40))
blob("gzip", lambda: gzip.compress(TEXT, mtime=0),
     lambda data: tf.io.decode_compressed(data, "GZIP").numpy(), checked=True, empty=True)  # fmt: skip
blob("zlib", lambda: zlib.compress(TEXT),
     lambda data: tf.io.decode_compressed(data, "ZLIB").numpy(), checked=True, empty=True)  # fmt: skip
blob("base64", lambda: tf.io.encode_base64(TEXT).numpy(),
     lambda data: tf.io.decode_base64(data).numpy())  # fmt: skip
blob("csv", lambda: b'1,2.5,"a ""b"" c",\n'.strip(),
     lambda data: _plain(tf.io.decode_csv(data, [0, 0.0, "", 1])))  # fmt: skip


def _text(kind: str, compression: str) -> Format:
    def make(folder: Path) -> None:
        pack = {"": bytes, "GZIP": lambda b: gzip.compress(b, mtime=0), "ZLIB": zlib.compress}
        rows = b"".join(b'%02d,%02d.5,"w%02d"\n' % (i, i, i) for i in range(30))
        (folder / "file").write_bytes(pack[compression](rows))

    def read(folder: Path) -> Any:
        path = str(folder / "file")
        if kind == "lines":
            return [x.numpy() for x in tf.data.TextLineDataset(path, compression)]
        if kind == "bytes":
            return [
                x.numpy()
                for x in tf.data.FixedLengthRecordDataset(path, 14, compression_type=compression)
            ]
        data = tf.data.experimental.CsvDataset(path, [0, 0.0, ""], compression or None)
        return [_plain(x) for x in data]

    packed = compression != ""
    return Format(make, read, checked=packed, empty=packed)


for _compression in ("", "GZIP", "ZLIB"):
    for _kind in ("lines", "bytes", "csv_file"):
        FORMATS[f"{_kind}_{_compression.lower()}".rstrip("_")] = _text(_kind, _compression)


def _vocabulary(folder: Path) -> Any:
    index = tf.lookup.TextFileIndex
    made = tf.lookup.TextFileInitializer(
        str(folder / "file"), tf.string, 0, tf.int64, 1, delimiter=" "
    )
    numbers = tf.lookup.TextFileInitializer(
        str(folder / "file"), tf.string, index.WHOLE_LINE, tf.int64, index.LINE_NUMBER
    )
    tables = [tf.lookup.StaticHashTable(m, -1) for m in (made, numbers)]
    return [int(t.size()) for t in tables]


FORMATS["vocabulary"] = Format(
    lambda folder: _discard((folder / "file").write_text("a 1\nbc 22\nd 333\n")), _vocabulary
)

# Pictures and sound.

PIXELS = np.random.default_rng(0).integers(0, 256, (9, 7, 3), np.uint8)


def _picture(kind: str) -> bytes:
    from PIL import Image

    out = io.BytesIO()
    Image.fromarray(PIXELS).save(out, kind)
    return out.getvalue()


blob("png", lambda: tf.io.encode_png(PIXELS).numpy(), lambda d: tf.io.decode_png(d).numpy())
blob("png16", lambda: tf.io.encode_png(PIXELS.astype(np.uint16) * 257).numpy(),
     lambda d: tf.io.decode_png(d, dtype=tf.uint16).numpy())  # fmt: skip
blob("jpeg", lambda: tf.io.encode_jpeg(PIXELS).numpy(), lambda d: tf.io.decode_jpeg(d).numpy())
blob("gif", lambda: _picture("GIF"), lambda d: tf.io.decode_gif(d).numpy())
blob("bmp", lambda: _picture("BMP"), lambda d: tf.io.decode_bmp(d).numpy())
blob("image", lambda: _picture("PNG"), lambda d: tf.io.decode_image(d).numpy())


def _sound() -> bytes:
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(2)
        file.setsampwidth(2)
        file.setframerate(8000)
        file.writeframes(np.arange(64, dtype=np.int16).tobytes())
    return out.getvalue()


blob("wav", _sound, lambda d: _plain(tf.audio.decode_wav(d)))

# Datasets, checkpoints and saved functions.


def _dataset() -> Any:
    data = tf.data.Dataset.from_tensor_slices((np.arange(12.0).reshape(6, 2), ["a"] * 6))
    return data.map(lambda x, s: {"x": x, "s": s, "r": tf.ragged.constant([[1], [2, 3]])})


def _elements(data: Any) -> Any:
    return [str(_plain(x)) for x in data]


LOSS: Any = (tf.errors.DataLossError, tf.errors.UnimplementedError)

FORMATS["dataset"] = Format(
    lambda folder: _dataset().save(str(folder / "data")),
    lambda folder: _elements(tf.data.Dataset.load(str(folder / "data"))),
    "data/*", checked=True, errors=LOSS,
)  # fmt: skip
FORMATS["dataset_gzip"] = Format(
    lambda folder: _dataset().save(str(folder / "data"), compression="GZIP"),
    lambda folder: _elements(tf.data.Dataset.load(str(folder / "data"), compression="GZIP")),
    "data/*", checked=True, errors=LOSS,
)  # fmt: skip
FORMATS["snapshot"] = Format(
    lambda folder: _discard(_elements(_dataset().snapshot(str(folder / "snap")))),
    lambda folder: _elements(_dataset().snapshot(str(folder / "snap"))),
    "snap/*", checked=True, errors=LOSS,
)  # fmt: skip
FORMATS["cache"] = Format(
    lambda folder: _discard(_elements(_dataset().cache(str(folder / "cache")))),
    lambda folder: _elements(_dataset().cache(str(folder / "cache"))),
    "cache*", checked=True, errors=LOSS,
)  # fmt: skip


def _checkpoint(value: float) -> Any:
    return tf.train.Checkpoint(
        v=tf.Variable([value, 2.0]), s=tf.Variable(["ab"]), n=[tf.Variable(3)]
    )


def _restored(folder: Path) -> Any:
    result = _checkpoint(0.0)
    result.restore(str(folder / "ckpt-1")).assert_consumed()
    return result.v.numpy().tolist(), result.s.numpy().tolist(), int(result.n[0])


FORMATS["checkpoint"] = Format(
    lambda folder: _discard(_checkpoint(1.0).save(str(folder / "ckpt"))),
    _restored, "ckpt-1.safetensors", checked=True, errors=LOSS,
)  # fmt: skip


def _managed(folder: Path) -> Any:
    manager = tf.train.CheckpointManager(_checkpoint(0.0), str(folder), 3)
    results = [tf.train.latest_checkpoint(str(folder)), *manager.checkpoints]
    return [None if p is None else Path(p).name for p in results]


def _two(folder: Path) -> None:
    manager = tf.train.CheckpointManager(_checkpoint(1.0), str(folder), 3)
    manager.save()
    manager.save()


FORMATS["checkpoint_index"] = Format(_two, _managed, "checkpoint", errors=LOSS)
FORMATS["load_variable"] = Format(
    lambda folder: _discard(_checkpoint(1.0).save(str(folder / "ckpt"))),
    lambda folder: [
        tf.train.load_checkpoint(str(folder / "ckpt-1")).get_tensor(name).tolist()
        for name, _ in tf.train.list_variables(str(folder / "ckpt-1"))
    ],
    "ckpt-1.safetensors", checked=True, errors=LOSS,
)  # fmt: skip


class _Module(tf.Module):
    def __init__(self) -> None:
        super().__init__()
        self.v = tf.Variable([2.0, 3.0])

    @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32)])
    def f(self, x: Any) -> Any:
        return x * self.v


FORMATS["saved_model"] = Format(
    lambda folder: _discard(tf.saved_model.save(_Module(), str(folder / "model"))),
    lambda folder: tf.saved_model.load(str(folder / "model")).f(tf.ones([1, 2])).numpy(),
    "model/**/*", checked=True, errors=LOSS,
)  # fmt: skip

"""Damaged files: a sample of `python -m tools.damage`, and what it found."""

from __future__ import annotations

import gzip
import time
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import wengert as tf
from tools.damage.checking import check
from tools.damage.damages import damages
from tools.damage.formats import FORMATS, Format

CASES = 60


@pytest.mark.parametrize("name", FORMATS)
def test_damaged_files_are_refused_in_words(name: str, tmp_path: Path) -> None:
    found = list(check(name, FORMATS[name], tmp_path, seed=1, count=CASES))
    assert len(found) > CASES // 4
    assert not [str(f) for f in found if f is not None]


def test_the_harness_finds_what_it_looks_for(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"0123456789")

    def findings(read: Any, **facts: Any) -> list[str]:
        form = Format(lambda folder: None, read, **facts)
        found = check("x", form, tmp_path, 0, 8, limit=0.1, memory=1 << 20)
        return [f.problem for f in found if f is not None]

    def fails(kind: Any, text: str = "") -> Any:
        def read(folder: Path) -> Any:
            if (folder / "file").read_bytes() != b"0123456789":
                raise kind(text)

        return read

    def endless(folder: Path) -> None:
        if (folder / "file").read_bytes() != b"0123456789":
            while True:
                time.sleep(0.01)

    def large(folder: Path) -> int:
        wanted = (folder / "file").read_bytes() != b"0123456789"
        return len(bytearray(1 << 22)) if wanted else 1 << 22

    assert "the wrong kind of error: IndexError" in findings(fails(IndexError))[0]
    lost = findings(fails(tf.errors.DataLossError))
    assert "an error without the line of the user" in lost[0]
    assert "it was read as b''" in findings(lambda f: (f / "file").read_bytes(), checked=True)[0]
    assert "took more than" in findings(endless)[0]
    assert "MiB" in findings(large)[0]


def test_damages_depend_on_the_seed_alone() -> None:
    data = bytes(range(200))
    first, second = (list(damages(data, 3, 100)) for _ in range(2))
    assert first == second != list(damages(data, 4, 100))
    assert len(first) > 90
    short = [d.data for d in damages(b"abc", 0, 100)]
    assert {b"", b"a", b"ab"} <= set(short)


# Compressed strings and files.

TEXT = b"one\rtwo\r\nthree\n" * 100
PACK: dict[str, Any] = {"GZIP": gzip.compress, "ZLIB": zlib.compress}


@pytest.mark.parametrize("kind", PACK)
def test_strings_that_were_compressed(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    decode = tf.io.decode_compressed
    whole = PACK[kind](TEXT)
    assert decode(whole, kind).numpy() == TEXT
    assert decode(b"", kind).numpy() == b""  # as in TensorFlow 2.21
    with pytest.raises(tf.errors.InvalidArgumentError, match=f"no {kind} data, or cut"):
        decode(whole[:-2], kind)
    bomb = PACK[kind](bytes(5 << 20))
    assert len(decode(bomb, kind).numpy()) == 5 << 20
    monkeypatch.setenv("WENGERT_DECOMPRESSION_LIMIT", str(1 << 20))
    for call in (decode, tf.function(lambda x, k=kind: decode(x, k))):
        with pytest.raises(tf.errors.ResourceExhaustedError, match="to more than 1048576") as error:
            call(tf.constant(bomb), kind) if call is decode else call(tf.constant(bomb))
        assert "WENGERT_DECOMPRESSION_LIMIT" in str(error.value)


def test_members_one_after_the_other() -> None:
    two = gzip.compress(b"abc") + b"\0\0" + gzip.compress(b"def")
    assert tf.io.decode_compressed(two, "GZIP").numpy() == b"abcdef"  # as in TensorFlow 2.21
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.io.decode_compressed(two + b"rest", "GZIP")


@pytest.mark.parametrize("kind", PACK)
def test_lines_of_compressed_files_end_at_line_feeds(kind: str, tmp_path: Path) -> None:
    (tmp_path / "plain").write_bytes(TEXT)
    (tmp_path / "packed").write_bytes(PACK[kind](TEXT))
    plain, packed = (
        [x.numpy() for x in tf.data.TextLineDataset(str(tmp_path / name), packing)]
        for name, packing in (("plain", ""), ("packed", kind))
    )
    assert plain == packed
    assert plain[:2] == [b"one\rtwo", b"three"]


def test_large_compressed_files_come_in_pieces(tmp_path: Path) -> None:
    rows = np.random.default_rng(0).integers(0, 256, (3000, 1000), np.uint8)
    for kind, pack in PACK.items():
        path = tmp_path / kind
        path.write_bytes(pack(rows.tobytes() + bytes(1 << 20)))
        found = tf.data.FixedLengthRecordDataset(
            str(path), 1000, footer_bytes=1 << 20, compression_type=kind
        )
        assert [x.numpy() for x in found] == [row.tobytes() for row in rows]


# Messages.


def test_fields_of_another_kind_are_unknown_as_in_protocol_buffers() -> None:
    example = tf.train.Example
    assert str(example.FromString(b"\x08\x01")) == ""  # field 1 as a number
    # A feature "n" of the numbers [7], with a float in its field 1 and a number in the map's.
    data = bytes.fromhex("0a13 0a0f 0a016e 120a 1a08 0a0107 0d0000803f 0805")
    assert list(example.FromString(data).features.feature["n"].int64_list.value) == [7]
    found = tf.io.parse_single_example(data, {"n": tf.io.FixedLenFeature([1], tf.int64)})
    assert found["n"].numpy().tolist() == [7]


# Archives.


def test_a_member_that_is_missing(tmp_path: Path) -> None:
    tf.data.Dataset.range(3).save(str(tmp_path / "data"))
    path = tmp_path / "data" / "elements.zip"
    with zipfile.ZipFile(path) as file:
        index = file.read("dataset.json")
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("dataset.json", index)
    with pytest.raises(tf.errors.DataLossError, match=str(path)):
        list(tf.data.Dataset.load(str(tmp_path / "data")))


def test_a_checkpoint_whose_format_has_no_name(tmp_path: Path) -> None:
    saved = tf.train.Checkpoint(v=tf.Variable(["ab"])).save(str(tmp_path / "ckpt"))
    path = Path(saved + ".safetensors")
    path.write_bytes(path.read_bytes().replace(b'"format"', b'"fgrmat"'))
    with pytest.raises(tf.errors.DataLossError, match=str(path)):
        tf.train.load_checkpoint(saved)


def test_a_vocabulary_with_a_line_that_does_not_fit(tmp_path: Path) -> None:
    path = tmp_path / "words"
    for text, words in (
        ("a 1\nb\n", "line 1 has 1 columns, but column 1 is wanted"),
        ("a 1\nb x\n", "b'x' in line 1 is no int64"),
        ("a 1\na 2\n", "key b'a' has two values"),
    ):
        path.write_text(text)
        made = tf.lookup.TextFileInitializer(
            str(path), tf.string, 0, tf.int64, 1, delimiter=" "
        )  # fmt: skip
        with pytest.raises(tf.errors.OpError, match=words) as error:
            tf.lookup.StaticHashTable(made, -1)
        assert str(path) in str(error.value)

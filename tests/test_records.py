"""TFRecord files, the examples in them, and comma-separated values."""
# Checkers take what functions give for ragged and sparse tensors for plain tensors.
# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

import gzip
import pickle
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from google.protobuf.message import DecodeError

import wengert as tf


def ints(*values: Any) -> Any:
    return tf.train.Feature(int64_list=tf.train.Int64List(value=values))


def floats(*values: Any) -> Any:
    return tf.train.Feature(float_list=tf.train.FloatList(value=values))


def texts(*values: Any) -> Any:
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=values))


def example(**features: Any) -> bytes:
    return tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString()


def written(path: Path, records: list[bytes], options: Any = None) -> str:
    with tf.io.TFRecordWriter(path, options) as writer:
        for record in records:
            writer.write(record)
    return str(path)


def listed(dataset: Any) -> list[Any]:
    return list(dataset.as_numpy_iterator())


class TestFiles:
    def test_a_file_is_what_tensorflow_writes(self, tmp_path: Path) -> None:
        path = written(tmp_path / "x", [b"abc"])
        # The length, its checksum, the record, its checksum.
        assert Path(path).read_bytes().hex() == "0300000000000000b099490e6162636e57f121"

    @pytest.mark.parametrize("kind", ["", "GZIP", "ZLIB"])
    def test_compressed_or_not(self, tmp_path: Path, kind: str) -> None:
        records = [b"x" * n for n in (0, 1, 3000)]
        path = written(tmp_path / "x", records, tf.io.TFRecordOptions(compression_type=kind))
        assert listed(tf.data.TFRecordDataset(path, compression_type=kind)) == records
        assert listed(tf.data.TFRecordDataset([path, path], kind)) == records * 2

    def test_pieces_of_one_length(self, tmp_path: Path) -> None:
        path = tmp_path / "x"
        path.write_bytes(b"HHabcdefF")
        data = tf.data.FixedLengthRecordDataset(str(path), 3, header_bytes=2, footer_bytes=1)
        assert listed(data) == [b"abc", b"def"]
        with pytest.raises(tf.errors.InvalidArgumentError, match="9 bytes are no whole number"):
            listed(tf.data.FixedLengthRecordDataset(str(path), 4))

    def test_strings_that_were_compressed(self) -> None:
        packed = [gzip.compress(b"one"), gzip.compress(b"two")]
        assert tf.io.decode_compressed(packed, "GZIP").numpy().tolist() == [b"one", b"two"]
        assert tf.io.decode_compressed(zlib.compress(b"x"), "ZLIB").numpy() == b"x"
        with pytest.raises(tf.errors.InvalidArgumentError, match="the bytes are no ZLIB data"):
            tf.io.decode_compressed("x", "ZLIB")

    def test_names_may_come_from_a_dataset(self, tmp_path: Path) -> None:
        names = [written(tmp_path / n, [n.encode() * 2]) for n in ("a", "b")]
        files = tf.data.Dataset.from_tensor_slices(names)
        assert listed(files.flat_map(tf.data.TFRecordDataset)) == [b"aa", b"bb"]
        assert listed(files.interleave(lambda f: tf.data.TFRecordDataset(f))) == [b"aa", b"bb"]

    @pytest.mark.parametrize(
        ("damage", "words"),
        [
            (lambda d: d[:-2], "record 1 is cut or damaged"),
            (lambda d: d[:21], "record 1 has no valid length"),
            (lambda d: d[:12] + b"Z" + d[13:], "record 0 is cut or damaged"),
            (lambda d: b"these are no records", "record 0 has no valid length"),
            (gzip.compress, "give `compression_type`"),
        ],
    )
    def test_damage_is_found(
        self, tmp_path: Path, damage: Callable[[bytes], bytes], words: str
    ) -> None:
        path = Path(written(tmp_path / "x", [b"abc", b"defg"]))
        path.write_bytes(damage(path.read_bytes()))
        with pytest.raises(tf.errors.DataLossError, match=words):
            listed(tf.data.TFRecordDataset(str(path)))

    def test_other_mistakes(self, tmp_path: Path) -> None:
        path = written(tmp_path / "x", [b"abc"])
        with pytest.raises(tf.errors.DataLossError, match="Is it compressed with GZIP"):
            listed(tf.data.TFRecordDataset(path, compression_type="GZIP"))
        with pytest.raises(tf.errors.NotFoundError, match="missing"):
            listed(tf.data.TFRecordDataset(str(tmp_path / "missing")))
        with pytest.raises(tf.errors.InvalidArgumentError, match="'GZIP' and 'ZLIB'; got ZIP"):
            tf.data.TFRecordDataset(path, compression_type="ZIP")
        writer = tf.io.TFRecordWriter(path)
        with pytest.raises(TypeError, match="a record is bytes; got 3"):
            writer.write(3)
        writer.close()
        with pytest.raises(tf.errors.PermissionDeniedError, match="was closed"):
            writer.write(b"x")


class TestMessages:
    def test_features_are_made_when_asked_for(self) -> None:
        found = tf.train.Example()
        found.features.feature["n"].int64_list.value.extend([1, -2, 1 << 40])
        again = tf.train.Example.FromString(found.SerializeToString())
        assert again == found
        assert list(again.features.feature["n"].int64_list.value) == [1, -2, 1 << 40]
        assert again.features.feature["n"].WhichOneof("kind") == "int64_list"
        assert again.features.feature["other"].WhichOneof("kind") is None
        assert pickle.loads(pickle.dumps(found)) == found

    def test_parts_are_copied_in(self) -> None:
        part = tf.train.Int64List(value=[1])
        whole = tf.train.Feature(int64_list=part)
        part.value.append(2)
        assert list(whole.int64_list.value) == [1]
        assert len(part.value) == 2
        empty = tf.train.Feature(int64_list=tf.train.Int64List())
        assert empty.WhichOneof("kind") == "int64_list"
        assert tf.train.Feature.FromString(empty.SerializeToString()) == empty

    def test_floats_have_32_bits(self) -> None:
        values = tf.train.FloatList(value=np.array([0.1, 2])).value
        assert values[0] == np.float32(0.1)
        assert np.array(values).dtype == np.float32

    def test_text(self) -> None:
        assert str(tf.train.Features(feature={"b": texts(b'x\n"\xff')})) == (
            'feature {\n  key: "b"\n  value {\n    bytes_list {\n'
            '      value: "x\\n\\"\\377"\n    }\n  }\n}\n'
        )

    @pytest.mark.parametrize(
        ("make", "kind", "words"),
        [
            (lambda: texts("s"), TypeError, r"byte strings; got value=\('s',\) .*Encode text with"),
            (lambda: ints(1.5), TypeError, r"whole numbers of 64 bits; got value=\(1\.5,\)"),
            (lambda: ints(1 << 63), ValueError, "a list of whole numbers of 64 bits"),
            (lambda: floats("a"), TypeError, r"takes a list of numbers; got value=\('a',\)"),
            (
                lambda: tf.train.Int64List(value=3),
                TypeError,
                "`value` takes a list .*; got value=3",
            ),
            (lambda: tf.train.Feature(int64_list=[1]), TypeError, r"Int64List.* got .*list"),
            (lambda: tf.train.Feature(ints=1), ValueError, "its fields are bytes_list, float"),
            (
                lambda: tf.train.Example.FromString(b"junk!"),
                DecodeError,
                "no such message; got b.junk",
            ),
        ],
    )
    def test_mistakes(self, make: Any, kind: Any, words: str) -> None:
        with pytest.raises(kind, match=words):
            make()


class TestParsing:
    records = (
        example(a=ints(1, 2), b=floats(0.5), c=texts(b"x", b"y"), v=ints(1)),
        example(a=ints(3, 4), c=texts(b"z"), v=ints(7, 8)),
    )
    wanted = {  # noqa: RUF012  # read only
        "a": tf.io.FixedLenFeature([2], tf.int64),
        "b": tf.io.FixedLenFeature([], tf.float32, default_value=-1.0),
        "c": tf.io.VarLenFeature(tf.string),
        "v": tf.io.RaggedFeature(tf.int64),
        "q": tf.io.FixedLenSequenceFeature([], tf.int64, allow_missing=True),
    }

    def check(self, found: Any) -> None:
        assert found["a"].numpy().tolist() == [[1, 2], [3, 4]]
        assert found["b"].numpy().tolist() == [0.5, -1.0]
        assert tf.sparse.to_dense(found["c"], b"").numpy().tolist() == [[b"x", b"y"], [b"z", b""]]
        assert found["v"].to_list() == [[1], [7, 8]]
        assert found["q"].shape == (2, 0)

    def test_batches(self) -> None:
        self.check(tf.io.parse_example(self.records, self.wanted))

    def test_in_functions_and_datasets(self) -> None:
        def parse(x: Any) -> Any:
            return tf.io.parse_example(x, self.wanted)

        self.check(tf.function(parse)(tf.constant(self.records)))
        data = tf.data.Dataset.from_tensor_slices(list(self.records)).batch(2).map(parse)
        assert data.element_spec["a"] == tf.TensorSpec([None, 2], tf.int64)
        self.check(next(iter(data)))

    def test_one(self) -> None:
        found = tf.io.parse_single_example(self.records[1], self.wanted)
        assert found["a"].numpy().tolist() == [3, 4]
        assert found["c"].dense_shape.numpy().tolist() == [1]
        assert found["v"].numpy().tolist() == [7, 8]

    def test_sparse_features(self) -> None:
        data = [example(i=ints(3, 1), x=floats(0.5, 0.25)), example(i=ints(0), x=floats(2))]
        wanted = {"s": tf.io.SparseFeature("i", "x", tf.float32, 4)}
        found = tf.io.parse_example(data, wanted)["s"]
        assert tf.sparse.to_dense(found).numpy().tolist() == [[0, 0.25, 0, 0.5], [2, 0, 0, 0]]

    def test_sequences(self) -> None:
        message = tf.train.SequenceExample()
        message.context.feature["n"].int64_list.value.append(2)
        for k in (1, 2):
            message.feature_lists.feature_list["t"].feature.add().int64_list.value.extend([k, 9])
            message.feature_lists.feature_list["v"].feature.add().float_list.value.extend([k] * k)
        context, rows = tf.io.parse_single_sequence_example(
            message.SerializeToString(),
            {"n": tf.io.FixedLenFeature([], tf.int64)},
            {
                "t": tf.io.FixedLenSequenceFeature([2], tf.int64),
                "v": tf.io.RaggedFeature(tf.float32),
            },
        )
        assert int(context["n"]) == 2
        assert rows["t"].numpy().tolist() == [[1, 9], [2, 9]]
        assert rows["v"].to_list() == [[1.0], [2.0, 2.0]]

    def test_sequences_in_batches(self) -> None:
        def made(count: int) -> bytes:
            message = tf.train.SequenceExample()
            lists = message.feature_lists.feature_list
            for k in range(count):
                lists["t"].feature.add().int64_list.value.append(k + 1)
                lists["v"].feature.add().float_list.value.extend([0.5] * k)
                lists["r"].feature.add().float_list.value.extend([0.5] * k)
            return message.SerializeToString()

        wanted = {
            "t": tf.io.FixedLenSequenceFeature([], tf.int64),
            "v": tf.io.VarLenFeature(tf.float32),
            "r": tf.io.RaggedFeature(tf.float32),
        }
        _, rows, lengths = tf.io.parse_sequence_example(
            [made(1), made(2)], sequence_features=wanted
        )
        assert rows["t"].numpy().tolist() == [[1, 0], [1, 2]]
        assert lengths["t"].numpy().tolist() == [1, 2]
        assert tf.sparse.to_dense(rows["v"]).numpy().tolist() == [[[0], [0]], [[0], [0.5]]]
        assert rows["r"].to_list() == [[[]], [[], [0.5]]]
        with pytest.raises(
            tf.errors.InvalidArgumentError, match=r"'u' is required.*it has r, t, v"
        ):
            tf.io.parse_sequence_example([made(1)], None, {"u": wanted["t"]})

    @pytest.mark.parametrize(
        ("feature", "words"),
        [
            (tf.io.FixedLenFeature([], tf.int64), r"'a' has 2 values, but shape \[\] takes 1"),
            (tf.io.FixedLenFeature([2], tf.float32), "holds int64 values, but float32 is asked"),
            (tf.io.FixedLenFeature([2], tf.int32), "must be float32, int64 or string"),
            (tf.io.FixedLenFeature([None], tf.int64), "all sizes of its shape must be known"),
            (tf.io.FixedLenFeature([2], tf.int64, [1, 2, 3]), "must be one value or have shape"),
            (tf.io.FixedLenSequenceFeature([], tf.int64), "needs allow_missing=True"),
            (tf.int64, "must be one of FixedLenFeature, "),
        ],
    )
    def test_mistakes(self, feature: Any, words: str) -> None:
        with pytest.raises(ValueError, match=words):
            tf.io.parse_single_example(self.records[0], {"a": feature})

    def test_missing_features_are_named_with_the_line(self) -> None:
        wanted = {"age": tf.io.FixedLenFeature([], tf.int64)}
        data = tf.data.Dataset.from_tensor_slices([self.records[0]])
        data = data.map(lambda x: tf.io.parse_single_example(x, wanted))
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            next(iter(data))
        assert "'age' is required, but an example does not have it; it has a, b, c, v" in str(
            caught.value
        )
        assert "test_records.py" in "".join(caught.value.__notes__)
        with pytest.raises(tf.errors.InvalidArgumentError, match="the bytes are no example"):
            tf.io.parse_single_example(b"junk!", wanted)


class TestTensors:
    @pytest.mark.parametrize(
        "value",
        [
            tf.constant([[1.0, 2.0]]), tf.constant(["a", "bb"]), tf.constant(5), tf.zeros([0, 3]),
            tf.constant([True]), tf.constant([1 + 2j]), tf.cast([1.5], tf.bfloat16),
        ],
    )  # fmt: skip
    def test_there_and_back(self, value: Any) -> None:
        found = tf.io.parse_tensor(tf.io.serialize_tensor(value), value.dtype)
        assert found.dtype == value.dtype
        assert found.shape == value.shape
        np.testing.assert_array_equal(found.numpy(), value.numpy())

    def test_the_bytes_are_tensorflows(self) -> None:
        found = tf.io.serialize_tensor([1.0, 2.0]).numpy().hex()
        assert found == "08011204120208022208" + "0000803f00000040"

    def test_single_values_are_read(self) -> None:
        # A message that holds its values one by one, the last for the rest.
        data = bytes.fromhex("08011204120208032a080000803f00000040")
        assert tf.io.parse_tensor(data, tf.float32).numpy().tolist() == [1.0, 2.0, 2.0]

    def test_mistakes(self) -> None:
        with pytest.raises(tf.errors.InvalidArgumentError, match="is float32, not int32"):
            tf.io.parse_tensor(tf.io.serialize_tensor([1.0]), tf.int32)
        with pytest.raises(tf.errors.InvalidArgumentError, match="the bytes are no tensor"):
            tf.io.parse_tensor("junk", tf.float32)


class TestTables:
    text = 'y,sex,age\n0,m,22.5\n1,f,\n1,"a, ""b""",3\n'

    def test_lines(self) -> None:
        a, b, c = tf.io.decode_csv(["1,2.5,x", '4,,"a,b"'], [0, -1.0, ""])
        assert a.numpy().tolist() == [1, 4]
        assert b.numpy().tolist() == [2.5, -1.0]
        assert c.numpy().tolist() == [b"x", b"a,b"]
        found = tf.io.decode_csv("1|NA|3", [0, [7]], "|", na_value="NA", select_cols=[0, 1])
        assert [int(x) for x in found] == [1, 7]
        traced = tf.function(lambda x: tf.stack(tf.io.decode_csv(x, [0.0, 0.0]), 1))
        assert traced(tf.constant(["1,2", "3,4"])).numpy().tolist() == [[1, 2], [3, 4]]

    def test_rows(self, tmp_path: Path) -> None:
        path = tmp_path / "t.csv"
        path.write_text(self.text)
        data = tf.data.experimental.CsvDataset(str(path), [tf.int32, "", 0.0], header=True)
        assert listed(data) == [(0, b"m", 22.5), (1, b"f", 0.0), (1, b'a, "b"', 3.0)]
        data = tf.data.experimental.CsvDataset(
            [str(path)], [tf.string], header=True, exclude_cols=[0, 2]
        )
        assert listed(data) == [(b"m",), (b"f",), (b'a, "b"',)]

    def test_named_columns_in_batches(self, tmp_path: Path) -> None:
        (tmp_path / "t.csv").write_text(self.text)
        data = tf.data.experimental.make_csv_dataset(
            str(tmp_path / "*.csv"), 2, label_name="y", num_epochs=1, shuffle=False
        )
        features, label = next(iter(data))
        assert list(features) == ["sex", "age"]
        assert label.dtype == tf.int32
        assert features["age"].numpy().tolist() == [22.5, 0.0]
        assert [len(y) for _, y in data] == [2, 1]
        data = tf.data.experimental.make_csv_dataset(
            str(tmp_path / "t.csv"), 2, select_columns=["age"], shuffle=False
        )
        assert [list(x) for x in data.take(3)] == [["age"]] * 3

    @pytest.mark.parametrize(
        ("line", "defaults", "words"),
        [
            ("1,2", [0], "record 0 has 2 fields, but 1 are expected"),
            ("a", [0], "field 0 in record 0 is no valid int32; got 'a'"),
            (",1", [tf.int32, 0], "field 0 is required, but missing in record 0"),
            ('"a', [""], "a line is not well formed"),
        ],
    )
    def test_mistakes(self, line: str, defaults: Any, words: str) -> None:
        with pytest.raises(tf.errors.InvalidArgumentError, match=words):
            tf.io.decode_csv(line, defaults)

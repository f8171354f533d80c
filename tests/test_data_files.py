"""Datasets in files: saved and loaded, cached, and where an iterator was."""

from __future__ import annotations

import gc
import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import wengert as tf

D = tf.data.Dataset


def lists(dataset: Any) -> list[Any]:
    return [np.asarray(e).tolist() for e in dataset]


class TestSaving:
    def test_all_kinds_of_elements_come_back(self, tmp_path: Path) -> None:
        element = {
            "n": tf.constant([[1, 2], [3, 4]], tf.int64),
            "pair": (tf.constant(1.5, tf.bfloat16), tf.constant(["a", "né", ""])),
            "z": tf.constant(1 + 2j, tf.complex64),
            "r": tf.ragged.constant([[1.0], [], [2.0, 3.0]]),
            "s": tf.sparse.from_dense([[0, 5], [6, 0]]),
        }
        dataset = D.from_tensors(element).repeat(3)
        dataset.save(tmp_path / "all")
        found = D.load(tmp_path / "all")
        assert found.element_spec == dataset.element_spec
        assert len(found) == 3
        for one in found:
            np.testing.assert_array_equal(one["n"], element["n"])
            assert float(one["pair"][0]) == 1.5
            assert one["pair"][1].numpy().tolist() == [b"a", "né".encode(), b""]
            assert complex(one["z"].numpy()) == 1 + 2j
            assert one["r"].to_list() == [[1.0], [], [2.0, 3.0]]
            np.testing.assert_array_equal(tf.sparse.to_dense(one["s"]), [[0, 5], [6, 0]])

    def test_elements_of_unequal_sizes(self, tmp_path: Path) -> None:
        dataset = D.range(5).map(lambda n: tf.range(n))
        dataset.save(str(tmp_path), compression="GZIP")
        assert lists(D.load(str(tmp_path))) == [list(range(n)) for n in range(5)]

    def test_a_reader_gets_a_dataset_of_datasets(self, tmp_path: Path) -> None:
        D.range(4).save(str(tmp_path))
        found = D.load(
            str(tmp_path), reader_func=lambda ds: ds.flat_map(lambda d: d.map(lambda x: -x))
        )
        assert lists(found) == [0, -1, -2, -3]

    def test_an_empty_dataset(self, tmp_path: Path) -> None:
        D.range(0).save(str(tmp_path))
        assert lists(D.load(str(tmp_path))) == []

    def test_another_spec_is_refused(self, tmp_path: Path) -> None:
        D.range(4).save(str(tmp_path))
        with pytest.raises(ValueError, match="load: the elements in the file are not of"):
            D.load(str(tmp_path), tf.TensorSpec([], tf.float32))

    def test_nothing_there(self, tmp_path: Path) -> None:
        with pytest.raises(tf.errors.NotFoundError, match="load: there is no such dataset"):
            D.load(str(tmp_path / "none"))

    def test_a_damaged_file_is_refused(self, tmp_path: Path) -> None:
        D.range(1000).save(str(tmp_path))
        file = tmp_path / "elements.zip"
        data = bytearray(file.read_bytes())
        data[500] ^= 255
        file.write_bytes(data)
        with pytest.raises(tf.errors.DataLossError, match="load: this file is damaged"):
            lists(D.load(str(tmp_path)))
        file.write_bytes(b"hello")
        with pytest.raises(tf.errors.DataLossError, match="load: this file is damaged"):
            D.load(str(tmp_path))
        with zipfile.ZipFile(file, "w") as other:
            other.writestr("a.txt", "b")
        with pytest.raises(tf.errors.DataLossError, match="it has no table of contents"):
            D.load(str(tmp_path))

    def test_an_error_on_the_way_leaves_the_last_good_one(self, tmp_path: Path) -> None:
        D.range(3).save(str(tmp_path))
        with pytest.raises(ValueError, match="reshape"):
            D.range(3).map(lambda x: tf.reshape(tf.range(x), [2])).save(str(tmp_path))
        assert lists(D.load(str(tmp_path))) == [0, 1, 2]
        assert os.listdir(tmp_path) == ["elements.zip"]


class TestCaches:
    def test_a_cache_in_a_file(self, tmp_path: Path) -> None:
        calls: list[int] = []

        def seen(x: Any) -> Any:
            if not hasattr(x, "_graph"):
                calls.append(int(x))
            return x * x

        dataset = D.range(4).map(seen).cache(str(tmp_path / "c"))
        assert lists(dataset) == [0, 1, 4, 9]
        calls.clear()
        assert lists(dataset) == [0, 1, 4, 9]
        assert lists(D.range(4).map(seen).cache(str(tmp_path / "c"))) == [0, 1, 4, 9]
        assert not calls

    def test_an_unfinished_iteration_leaves_nothing(self, tmp_path: Path) -> None:
        dataset = D.range(9).cache(str(tmp_path / "c"))
        iterator = iter(dataset)
        next(iterator)
        del iterator
        gc.collect()
        assert os.listdir(tmp_path) == []
        assert len(lists(dataset)) == 9

    def test_a_snapshot_is_what_later_programs_see(self, tmp_path: Path) -> None:
        assert lists(D.range(3).snapshot(str(tmp_path / "s"))) == [0, 1, 2]
        assert lists(D.range(7).snapshot(str(tmp_path / "s"))) == [0, 1, 2]


class TestIteratorsInCheckpoints:
    def test_it_goes_on_where_it_was(self, tmp_path: Path) -> None:
        iterator = iter(D.range(20))
        checkpoint = tf.train.Checkpoint(step=tf.Variable(0), iterator=iterator)
        assert [int(next(iterator)) for _ in range(5)] == [0, 1, 2, 3, 4]
        path = checkpoint.save(str(tmp_path / "c"))
        assert [int(next(iterator)) for _ in range(3)] == [5, 6, 7]
        checkpoint.restore(path).assert_consumed()
        assert [int(next(iterator)) for _ in range(3)] == [5, 6, 7]

    def test_the_order_of_a_shuffle_is_kept_without_a_seed(self, tmp_path: Path) -> None:
        def made() -> Any:
            return iter(D.range(10).shuffle(10).repeat().batch(3))

        first = made()
        [next(first) for _ in range(5)]
        path = tf.train.Checkpoint(it=first).save(str(tmp_path / "c"))
        want = [next(first).numpy().tolist() for _ in range(6)]
        second = made()
        tf.train.Checkpoint(it=second).restore(path).assert_consumed()
        assert [next(second).numpy().tolist() for _ in range(6)] == want
        tf.train.Checkpoint(it=first).restore(path)
        assert [next(first).numpy().tolist() for _ in range(6)] == want

    def test_its_end_is_kept_too(self, tmp_path: Path) -> None:
        iterator = iter(D.range(3))
        list(iterator)
        checkpoint = tf.train.Checkpoint(it=iterator)
        checkpoint.restore(checkpoint.save(str(tmp_path / "c")))
        assert list(iterator) == []

    def test_another_dataset_is_refused(self, tmp_path: Path) -> None:
        path = tf.train.Checkpoint(it=iter(D.range(3).shuffle(3))).save(str(tmp_path / "c"))
        other = iter(D.range(3))
        next(other)
        with pytest.raises(ValueError, match="had 1 random steps, this one has 0"):
            tf.train.Checkpoint(it=other).restore(path)
        assert int(next(other)) == 1


class TestResampling:
    def test_classes_come_as_often_as_wanted(self) -> None:
        labels = np.arange(4000) % 10 == 0
        dataset = D.from_tensor_slices((np.arange(4000), labels.astype(np.int32)))
        for initial in ([0.9, 0.1], None):
            found = dataset.rejection_resample(lambda x, y: y, [0.5, 0.5], initial, seed=1)
            assert found.element_spec[0] == tf.TensorSpec([], tf.int32)
            share = np.mean([int(label) for label, _ in found])
            assert 0.4 < share < 0.6
        again = dataset.rejection_resample(lambda x, y: y, [0.5, 0.5], [0.9, 0.1], seed=1)
        twice = [int(x) for _, (x, _) in again.take(20)]
        other = dataset.rejection_resample(lambda x, y: y, [0.5, 0.5], [0.9, 0.1], seed=1)
        assert [int(x) for _, (x, _) in other.take(20)] == twice

    def test_bad_input(self) -> None:
        with pytest.raises(ValueError, match="`target_dist` must be a list of probabilities"):
            D.range(3).rejection_resample(lambda x: 0, [-1.0, 2.0])
        with pytest.raises(ValueError, match="must name the same classes; got 2 and 3"):
            D.range(3).rejection_resample(lambda x: 0, [0.5, 0.5], [0.2, 0.3, 0.5])
        with pytest.raises(ValueError, match="gave class 5; there are 2 classes"):
            list(D.range(3).rejection_resample(lambda x: tf.constant(5), [0.5, 0.5]))


class TestComposites:
    def test_rows_of_ragged_tensors(self) -> None:
        rows = tf.ragged.constant([[3, 1, 4, 1], [], [5, 9, 2], [6], []])
        dataset = D.from_tensor_slices(rows)
        assert dataset.element_spec == tf.RaggedTensorSpec([None], tf.int32, 0)
        assert lists(dataset) == rows.to_list()
        assert [e.to_list() for e in dataset.batch(2)] == [
            [[3, 1, 4, 1], []],
            [[5, 9, 2], [6]],
            [[]],
        ]
        assert lists(dataset.batch(3).unbatch()) == rows.to_list()
        assert repr([*dataset.batch(2)][-1]) == "<tf.RaggedTensor [[]]>"

    def test_rows_of_deeper_ones(self) -> None:
        deep = tf.ragged.constant([[[1.0, 2.0], [3.0]], [[4.0]], []])
        found = [e.to_list() for e in D.from_tensor_slices(deep).batch(2)]
        assert found == [[[[1.0, 2.0], [3.0]], [[4.0]]], [[]]]

    def test_rows_of_sparse_tensors(self) -> None:
        sparse = tf.sparse.from_dense([[1, 0, 2], [0, 0, 0], [0, 3, 0]])
        dataset = D.from_tensor_slices(sparse)
        assert dataset.element_spec == tf.SparseTensorSpec([3], tf.int32)
        batch = next(iter(dataset.batch(3)))
        np.testing.assert_array_equal(tf.sparse.to_dense(batch), [[1, 0, 2], [0, 0, 0], [0, 3, 0]])

    def test_batches_of_unequal_elements(self) -> None:
        dataset = D.range(4).map(lambda n: tf.range(n))
        found = [e.to_list() for e in dataset.ragged_batch(3)]
        assert found == [[[], [0], [0, 1]], [[0, 1, 2]]]
        spec = dataset.ragged_batch(2, drop_remainder=True).element_spec
        assert spec == tf.RaggedTensorSpec([2, None], tf.int64, 1)
        (sparse,) = dataset.sparse_batch(4, [3])
        assert tf.sparse.to_dense(sparse).numpy().tolist()[-1] == [0, 1, 2]
        with pytest.raises(ValueError, match=r"shape \[3\] does not fit `row_shape` \[2\]"):
            list(dataset.sparse_batch(4, [2]))

    def test_matrices_become_ragged_as_deep_as_they_are_open(self) -> None:
        dataset = D.range(1, 4).map(lambda n: tf.fill([n, n + 1], n))
        (batch,) = dataset.ragged_batch(3)
        assert batch.to_list()[1] == [[2, 2, 2], [2, 2, 2]]
        assert batch.ragged_rank == 2

    def test_ragged_ranges_of_unknown_number(self) -> None:
        @tf.function(input_signature=[tf.TensorSpec([], tf.int32)])
        def triangle(n: Any) -> Any:
            return tf.ragged.range(tf.range(n))

        assert triangle(3).to_list() == [[], [0], [0, 1]]

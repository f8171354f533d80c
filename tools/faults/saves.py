"""Every kind of save: how a version is written to a folder, and which version is found there."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import wengert as tf

SIZE = 3000  # numbers in each, so that small limits cut the file


class Save(NamedTuple):
    """`write` saves a number; `read` finds the number, in a process that may have written none."""

    write: Callable[[str, float], Any]
    read: Callable[[str], float]


def _variable(k: float) -> tf.Variable:
    return tf.Variable(tf.fill([SIZE], k))


def _number(values: Any) -> float:
    result = np.unique(np.asarray(values))
    assert result.shape == (1,), f"a mixture: {result[:5]}"
    return float(result[0])


def _checkpoint_write(folder: str, k: float) -> None:
    tf.train.Checkpoint(v=_variable(k)).write(f"{folder}/one")


def _checkpoint_read(folder: str) -> float:
    v = _variable(-1.0)
    tf.train.Checkpoint(v=v).read(f"{folder}/one").assert_consumed()
    return _number(v)


def _checkpoint_save(folder: str, k: float) -> None:
    checkpoint = tf.train.Checkpoint(v=_variable(k))
    checkpoint.save_counter.assign(int(k))
    checkpoint.save(f"{folder}/ckpt")


def _latest(folder: str) -> float:
    v = _variable(-1.0)
    latest = tf.train.latest_checkpoint(folder)
    assert latest is not None, "no checkpoint is recorded"
    tf.train.Checkpoint(v=v).restore(latest).assert_consumed()
    return _number(v)


def _manager(folder: str, v: Any) -> Any:
    return tf.train.CheckpointManager(tf.train.Checkpoint(v=v), folder, 2)


def _manager_save(folder: str, k: float) -> None:
    v = _variable(k)
    keeper = _manager(folder, v)
    keeper.restore_or_initialize()
    v.assign(tf.fill([SIZE], k))
    keeper.save()
    files = {f for f in os.listdir(folder) if f.startswith("ckpt-")}
    kept = {os.path.basename(p) + ".safetensors" for p in keeper.checkpoints}
    assert files == kept, f"{sorted(files)} are there, {sorted(kept)} are recorded"


def _manager_read(folder: str) -> float:
    v = _variable(-1.0)
    keeper = _manager(folder, v)
    assert all(os.path.isfile(f"{p}.safetensors") for p in keeper.checkpoints), keeper.checkpoints
    assert keeper.restore_or_initialize() is not None
    return _number(v)


class Doubling(tf.Module):
    """A variable and a function that reads it."""

    def __init__(self, k: float) -> None:
        super().__init__()
        self.v = _variable(k)

    @tf.function(input_signature=[])
    def double(self) -> tf.Tensor:
        return self.v * 2.0


def _model_save(folder: str, k: float) -> None:
    module = Doubling(k)
    tf.saved_model.save(module, f"{folder}/model")


def _model_read(folder: str) -> float:
    result = tf.saved_model.load(f"{folder}/model")
    k = _number(result.v)
    assert _number(result.double()) == 2.0 * k, "the function has other values than the variable"
    return k


def _dataset_save(folder: str, k: float) -> None:
    tf.data.Dataset.from_tensors(np.full([SIZE], k)).repeat(3).save(f"{folder}/data")


def _dataset_read(folder: str) -> float:
    results = [*tf.data.Dataset.load(f"{folder}/data").as_numpy_iterator()]
    assert len(results) == 3, f"{len(results)} elements of 3"
    return _number(results)


def _summary_write(folder: str, k: float) -> None:
    with tf.summary.create_file_writer(folder).as_default(step=0) as writer:
        tf.summary.text("padding", "x" * SIZE)
        tf.summary.scalar("k", k)
        writer.close()


def _summary_read(folder: str) -> float:
    """The newest number that is whole; a file that was cut ends there."""
    result = 0.0
    for name in sorted(os.listdir(folder)):
        try:
            for record in tf.data.TFRecordDataset(f"{folder}/{name}").as_numpy_iterator():
                result = max(result, _scalar(record))
        except tf.errors.DataLossError:
            continue
    return result


def _scalar(record: bytes) -> float:
    from tensorboard.compat.proto.event_pb2 import Event

    values = [v for v in Event.FromString(record).summary.value if v.tag == "k"]
    return max(
        (
            float(v.tensor.float_val[0])
            if v.tensor.float_val
            else float(np.frombuffer(v.tensor.tensor_content, np.float32)[0])
            for v in values
        ),
        default=0.0,
    )


SAVES: dict[str, Save] = {
    "checkpoint.write": Save(_checkpoint_write, _checkpoint_read),
    "checkpoint.save": Save(_checkpoint_save, _latest),
    "manager": Save(_manager_save, _manager_read),
    "saved_model": Save(_model_save, _model_read),
    "dataset": Save(_dataset_save, _dataset_read),
    "summary": Save(_summary_write, _summary_read),
}

"""Checkpoint files: what failures while saving leave behind, and that damage is noticed."""

from __future__ import annotations

import errno
import json
import logging
import os
import re
import signal
import subprocess
import sys
import threading
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy

import wengert as tf
from tests.test_checkpoint import Thing, message, var
from wengert.checkpoint import atomic, manager
from wengert.checkpoint.format import Reader

posix = pytest.mark.skipif(os.name == "nt", reason="locks, signals and forks of POSIX")


def left_over(folder: Path) -> list[str]:
    return [p.name for p in folder.iterdir() if p.name.endswith(".tmp")]


# --- failures while saving


def _fails(*args: Any, **kwargs: Any) -> Any:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _writes_a_part(arrays: Any, path: Any, metadata: Any = None) -> None:
    Path(path).write_bytes(b"\x10\0\0\0")
    raise safetensors.SafetensorError("Error while serializing: I/O error: full (os error 28)")


def _interrupted(*args: Any, **kwargs: Any) -> Any:
    raise KeyboardInterrupt


FAILURES = {
    "folder": ("os.makedirs", _fails),
    "write": ("safetensors.numpy.save_file", _writes_a_part),
    "interrupt": ("safetensors.numpy.save_file", _interrupted),
    "mode": ("os.chmod", _fails),
    "sync": ("os.fsync", _fails),
    "replace": ("os.replace", _fails),
    "record": ("wengert.checkpoint.state_file.write_text", _fails),
}


@pytest.mark.parametrize("step", FAILURES)
@pytest.mark.parametrize("managed", [False, True], ids=["checkpoint", "manager"])
def test_a_failed_save_harms_nothing(step, managed, tmp_path, monkeypatch):
    v = var([1.0, 2.0])
    checkpoint = tf.train.Checkpoint(v=v)
    keeper = tf.train.CheckpointManager(checkpoint, tmp_path, 1)
    save = keeper.save if managed else lambda: checkpoint.save(tmp_path / "ckpt")
    good = save()
    v.assign([3.0, 4.0])
    with monkeypatch.context() as patch:
        patch.setattr(*FAILURES[step])
        with pytest.raises((tf.errors.ResourceExhaustedError, KeyboardInterrupt)) as error:
            save()
    if step != "interrupt":
        assert isinstance(error.value, OSError)
        assert re.search(
            r"no space left on device; got .*(ckpt-2\.safetensors|checkpoint)\. Free",
            message(error),
        )
    assert int(checkpoint.save_counter) == 1
    assert tf.train.latest_checkpoint(tmp_path) == good
    assert keeper.checkpoints == ([good] if managed else [])
    assert left_over(tmp_path) == []
    checkpoint.restore(good).assert_consumed()
    assert v.numpy().tolist() == [1.0, 2.0]
    assert save() == str(tmp_path / "ckpt-2")
    assert tf.train.latest_checkpoint(tmp_path) == str(tmp_path / "ckpt-2")


@pytest.mark.parametrize("step", ["write", "sync", "replace"])
def test_a_failed_write_over_an_old_file_leaves_the_old(step, tmp_path, monkeypatch):
    checkpoint = tf.train.Checkpoint(v=var(1.0))
    path = checkpoint.write(tmp_path / "ckpt")
    before = Path(f"{path}.safetensors").read_bytes()
    checkpoint.v.assign(2.0)
    with monkeypatch.context() as patch:
        patch.setattr(*FAILURES[step])
        with pytest.raises(tf.errors.ResourceExhaustedError):
            checkpoint.write(path)
    assert Path(f"{path}.safetensors").read_bytes() == before
    assert left_over(tmp_path) == []


CHILD = """
import os, resource, signal, sys
import safetensors.numpy
import wengert as tf

folder, what = sys.argv[1:]
v = tf.Variable(tf.ones([100_000]))
checkpoint = tf.train.Checkpoint(v=v)
checkpoint.save(folder + "/ckpt")
v.assign(v * 2)
if what == "full":
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
    try:
        checkpoint.save(folder + "/ckpt")
    except OSError as error:
        print(type(error).__name__, error.errno)
else:
    real = safetensors.numpy.save_file
    def dies(arrays, path, metadata=None):
        real(arrays, path, metadata)
        os.truncate(path, 1000)
        os.kill(os.getpid(), signal.SIGKILL)
    safetensors.numpy.save_file = dies
    checkpoint.save(folder + "/ckpt")
"""


@posix
@pytest.mark.parametrize("what", ["full", "killed"])
def test_a_disk_that_is_full_and_a_process_that_is_killed(what, tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", CHILD, str(tmp_path), what],
        capture_output=True,
        text=True,
        check=False,
    )
    if what == "full":
        assert (done.returncode, done.stdout) == (0, f"FullDiskError {errno.EFBIG}\n"), done.stderr
        assert left_over(tmp_path) == []
    else:
        assert done.returncode == -signal.SIGKILL
        assert len(left_over(tmp_path)) == 1
    latest = tf.train.latest_checkpoint(tmp_path)
    assert latest == str(tmp_path / "ckpt-1")
    v = var(tf.zeros([100_000]))
    tf.train.Checkpoint(v=v).restore(latest).assert_consumed()
    assert v.numpy().tolist() == [1.0] * 100_000


@posix
def test_a_temporary_file_is_swept_unless_its_writer_lives(tmp_path):
    start, finish = threading.Event(), threading.Event()

    def slowly() -> None:
        with atomic.replacing(str(tmp_path / "slow")) as temporary:
            Path(temporary).write_text("whole")
            start.set()
            finish.wait(60)

    writer = threading.Thread(target=slowly)
    writer.start()
    assert start.wait(60)
    (tmp_path / "ckpt-1.0123abcd.tmp").mkdir()
    (tmp_path / "ckpt-1.0123abcd.tmp" / "half").write_text("ha")
    users = tmp_path / "notes.tmp"
    users.write_text("the user's own")
    atomic.write_text(str(tmp_path / "other"), "new")
    assert len(left_over(tmp_path)) == 2 and users.exists()
    finish.set()
    writer.join()
    assert left_over(tmp_path) == ["notes.tmp"]
    assert (tmp_path / "slow").read_text() == "whole"


@posix
def test_a_checkpoint_may_be_read_by_whom_the_umask_allows(tmp_path):
    old = os.umask(0o027)
    try:
        tf.train.Checkpoint(v=var(1.0)).save(tmp_path / "ckpt")
    finally:
        os.umask(old)
    for name in ("ckpt-1.safetensors", "checkpoint"):
        assert (tmp_path / name).stat().st_mode & 0o777 == 0o640


def test_what_replaces_a_file_is_on_disk_before_it_does(tmp_path, monkeypatch):
    events: list[str] = []
    real = os.replace
    monkeypatch.setattr(os, "fsync", lambda fd: events.append("sync"))
    monkeypatch.setattr(os, "replace", lambda a, b: (events.append("replace"), real(a, b)))
    atomic.write_text(str(tmp_path / "x"), "new")
    assert events == ["sync", "replace", "sync"]
    assert (tmp_path / "x").read_text() == "new"


# --- damaged and foreign files


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, bytes]:
    folder = tmp_path_factory.mktemp("good")
    checkpoint = tf.train.Checkpoint(a=var([1.0, 2.0]), s=var(["x", "yz"]), m=Thing(c=var(1j)))
    checkpoint.write(folder / "ckpt")
    file = folder / "ckpt.safetensors"
    return file, file.read_bytes()


def _attempt(data: bytes, file: Path) -> str | None:
    """Restores a file of these bytes; `None`, or the message, after which nothing has changed."""
    file.write_bytes(data)
    checkpoint = tf.train.Checkpoint(a=var([7.0, 7.0]), s=var(["", ""]), m=Thing(c=var(0j)))
    try:
        checkpoint.read(str(file)).assert_consumed()
    except (tf.errors.DataLossError, tf.errors.UnimplementedError) as error:
        assert checkpoint.a.numpy().tolist() == [7.0, 7.0]
        assert checkpoint.s.numpy().tolist() == [b"", b""]
        return str(error)
    assert checkpoint.a.numpy().tolist() == [1.0, 2.0]
    assert checkpoint.s.numpy().tolist() == [b"x", b"yz"]
    assert complex(checkpoint.m.c.numpy()) == 1j
    return None


def test_every_changed_byte_is_noticed(good, tmp_path):
    _, data = good
    file = tmp_path / "ckpt.safetensors"
    assert _attempt(data, file) is None
    harmless = 0
    for i in range(len(data)):
        found = _attempt(data[:i] + bytes([data[i] ^ 1]) + data[i + 1 :], file)
        harmless += found is None
        assert found is None or str(file) in found
    # Only the header's own padding says nothing.
    assert harmless < 8


def test_every_shorter_file_is_refused(good, tmp_path):
    _, data = good
    file = tmp_path / "ckpt.safetensors"
    for i in range(0, len(data), 7):
        found = _attempt(data[:i], file)
        assert found is not None
        assert str(file) in found
    assert _attempt(data + b"\0", file) is not None


@pytest.mark.parametrize(
    "data",
    [b"", b"PK\x03\x04" + b"\0" * 60, b"plain text, and not a short one", b"\x89HDF\r\n\x1a\n" * 9],
    ids=["empty", "zip", "text", "hdf5"],
)
def test_foreign_files_are_refused(data, tmp_path):
    file = tmp_path / "model.keras"
    file.write_bytes(data)
    with pytest.raises(tf.errors.DataLossError) as error:
        tf.train.Checkpoint(v=var(1.0)).restore(file)
    assert re.fullmatch(
        rf"Checkpoint\.restore: this file is damaged, or no checkpoint: [\w ]+; got "
        rf"{re.escape(str(file))}\. Restore another checkpoint\. Nothing was changed\.",
        message(error),
    )


def test_tensors_of_another_program_are_read_but_not_restored(tmp_path):
    file = tmp_path / "model.safetensors"
    weights = {"w": np.array([1, 2], np.float32), "half": np.array([3], np.float16)}
    safetensors.numpy.save_file(weights, file, metadata={"format": "pt"})
    assert tf.train.list_variables(file) == [("half", [1]), ("w", [2])]
    assert tf.train.load_variable(file, "w").tolist() == [1.0, 2.0]
    with pytest.raises(tf.errors.DataLossError) as error:
        tf.train.Checkpoint(w=var([0.0, 0.0])).restore(file)
    assert message(error) == (
        f"Checkpoint.restore: this file was not written by tf.train.Checkpoint; got {file}. Read "
        "its tensors with tf.train.load_checkpoint(path)."
    )


ONE = np.array([1], np.float32)


def _table(change: Any) -> dict[str, str]:
    table = {
        "nodes": [{"children": {"v": 1}, "values": {}}, {"children": {}, "values": {"V": "k"}}],
        "tensors": {"k": ["float32", [1], zlib.crc32(ONE.tobytes())]},
    }
    change(table)
    text = json.dumps(table)
    checksum = str(zlib.crc32(text.encode()))
    return {"format": "wengert.checkpoint", "version": "1", "table": text, "checksum": checksum}


@pytest.mark.parametrize(
    "change",
    [
        lambda t: t["nodes"][0]["children"].update(v=2),
        lambda t: t["nodes"][0]["children"].update(v=-1),
        lambda t: t["nodes"][0]["children"].update(v="1"),
        lambda t: t["nodes"][1]["values"].update(V="other"),
        lambda t: t["nodes"].clear(),
        lambda t: t.pop("nodes"),
        lambda t: t.update(nodes=3),
        lambda t: t["tensors"].update(k=["float32", [2], 0]),
        lambda t: t["tensors"].update(k=["int32", [1], 0]),
        lambda t: t["tensors"].update(k=["object", [1], 0]),
        lambda t: t["tensors"].update(k=["string", [-1], 0]),
        lambda t: t["tensors"].update(k=3),
        lambda t: t["tensors"].update(gone=["float32", [1], 0]),
    ],
    ids=range(13),
)
def test_tables_that_make_no_sense_are_refused(change, tmp_path):
    file = tmp_path / "ckpt.safetensors"
    safetensors.numpy.save_file({"k": ONE}, file, metadata=_table(lambda t: None))
    Reader("test", str(file))
    safetensors.numpy.save_file({"k": ONE}, file, metadata=_table(change))
    with pytest.raises(tf.errors.DataLossError, match="this file is damaged"):
        Reader("test", str(file))


@pytest.mark.parametrize("shape", [[3], [2**40], [2**62, 4]], ids=str)
def test_strings_that_do_not_add_up_are_refused(shape, tmp_path):
    file = tmp_path / "ckpt.safetensors"
    kept = np.frombuffer(b"\x01" + b"\0" * 7 + b"ab", np.uint8)
    entry = ["string", shape, zlib.crc32(kept.tobytes())]
    metadata = _table(lambda t: t["tensors"].update(k=entry))
    safetensors.numpy.save_file({"k": kept}, file, metadata=metadata)
    with pytest.raises(tf.errors.DataLossError, match="of its strings"):
        Reader("test", str(file)).read("k")


def test_where_there_is_no_checkpoint(tmp_path):
    checkpoint = tf.train.Checkpoint(v=var(1.0))
    (tmp_path / "old-1.index").write_bytes(b"")
    for path, kind, text in (
        ("none", FileNotFoundError, "there is no such checkpoint; got {}. Check the path; a saved "
         "checkpoint ends in a number, as in ckpt-1."),
        ("", FileNotFoundError, "this is a folder, not a checkpoint; got {}. Give "
         "tf.train.latest_checkpoint(folder)."),
        ("old-1", NotImplementedError, "this checkpoint was written by TensorFlow; Wengert reads "
         "safetensors files; got {}. Write its values with TensorFlow to a safetensors file."),
    ):  # fmt: skip
        where = tmp_path / path
        with pytest.raises(kind) as error:
            checkpoint.restore(where)
        assert message(error) == "Checkpoint.restore: " + text.format(where)
    with pytest.raises(tf.errors.UnimplementedError) as error:
        checkpoint.save("gs://bucket/ckpt")
    assert message(error) == (
        "Checkpoint.save: only local files are read and written, not gs://; got gs://bucket/ckpt. "
        "Copy the file to a local disk first."
    )


# --- the manager and its record


def test_one_is_kept_for_each_span_of_hours(tmp_path, monkeypatch):
    now = [1e6]
    monkeypatch.setattr(manager.time, "time", lambda: now[0])
    keeper = tf.train.CheckpointManager(
        tf.train.Checkpoint(v=var(1.0)), tmp_path, 2, keep_checkpoint_every_n_hours=1.0
    )
    for _ in range(8):
        now[0] += 1500
        keeper.save()
    there = sorted(int(p.stem.removeprefix("ckpt-")) for p in tmp_path.glob("*.safetensors"))
    # Written at 1500, 3000, …: the third is the first that is an hour after the start, then the
    # sixth; the last two are the newest.
    assert there == [3, 6, 7, 8]
    assert [os.path.basename(p) for p in keeper.checkpoints] == ["ckpt-7", "ckpt-8"]


def test_a_file_that_cannot_be_removed_is_no_error(tmp_path, monkeypatch, caplog):
    keeper = tf.train.CheckpointManager(tf.train.Checkpoint(v=var(1.0)), tmp_path, 1)
    keeper.save()
    denied = OSError(errno.EACCES, "denied")
    monkeypatch.setattr(os, "remove", lambda path: (_ for _ in ()).throw(denied))
    keeper.save()
    assert caplog.messages == [
        f"CheckpointManager: {tmp_path / 'ckpt-1.safetensors'} stays: [Errno {errno.EACCES}] denied."
    ]
    assert [os.path.basename(p) for p in keeper.checkpoints] == ["ckpt-2"]


@pytest.mark.parametrize("name", ['a "b"', "c\\d", "é", "new\nline", "\\101"])
def test_names_that_need_care(name, tmp_path):
    path = tf.train.Checkpoint(v=var(1.0)).save(tmp_path / name)
    assert tf.train.latest_checkpoint(tmp_path) == path


def test_a_record_that_tensorflow_wrote(tmp_path):
    text = 'model_checkpoint_path: "\\303\\251-1"\nall_model_checkpoint_paths: "\\303\\251-1"\n'
    text += "all_model_checkpoint_timestamps: 1.5\nlast_preserved_timestamp: 0.5\n"
    (tmp_path / "checkpoint").write_text(text)
    state = tf.train.get_checkpoint_state(tmp_path)
    assert state == tf.train.CheckpointState(
        str(tmp_path / "é-1"), [str(tmp_path / "é-1")], [1.5], 0.5
    )


def test_a_record_that_lies_is_logged(tmp_path, caplog):
    with caplog.at_level(logging.WARNING):
        (tmp_path / "checkpoint").write_text("model_checkpoint_path: ckpt")
        assert tf.train.latest_checkpoint(tmp_path) is None
        (tmp_path / "checkpoint").write_text('model_checkpoint_path: "ckpt-1"')
        assert tf.train.latest_checkpoint(tmp_path) is None
    assert caplog.messages == [
        f"latest_checkpoint: {tmp_path / 'checkpoint'} is damaged, so it is ignored. Restore a "
        "checkpoint by its path.",
        f"latest_checkpoint: {tmp_path / 'ckpt-1.safetensors'} is recorded as the latest, but not "
        "there.",
    ]


def test_new_checkpoints_as_they_appear(tmp_path):
    checkpoint = tf.train.Checkpoint(v=var(1.0))
    found = []
    checkpoint.save(tmp_path / "ckpt")
    for path in tf.train.checkpoints_iterator(tmp_path, timeout=0.05):
        found.append(path)
        if len(found) < 3:
            checkpoint.save(tmp_path / "ckpt")
    assert found == [str(tmp_path / f"ckpt-{i}") for i in (1, 2, 3)]


def test_the_file_is_a_plain_safetensors_file(tmp_path):
    path = tf.train.Checkpoint(w=var([1.0, 2.0]), h=var(1.5, dtype="bfloat16")).write(
        tmp_path / "c"
    )
    arrays = safetensors.numpy.load_file(f"{path}.safetensors")
    assert arrays["w/.ATTRIBUTES/VARIABLE_VALUE"].tolist() == [1.0, 2.0]
    assert str(arrays["h/.ATTRIBUTES/VARIABLE_VALUE"].dtype) == "bfloat16"

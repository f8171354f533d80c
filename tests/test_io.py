"""Files: what errors say, and that they are also the builtin exceptions a caller would catch."""
# Some arguments are none that a checker accepts.
# pyright: reportArgumentType=false

from __future__ import annotations

import errno
import os
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import wengert as tf
from wengert.io.paths import failed

gfile = tf.io.gfile


def says(kind: type[BaseException], call: Any) -> str:
    """The message of the error that a call raises."""
    with pytest.raises(kind) as error:
        call()
    return str(error.value)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "f.txt"
    path.write_text("text")
    return path


def test_messages(file, tmp_path):
    folder, none = tmp_path, tmp_path / "none"
    for kind, call, text in (
        (FileNotFoundError, lambda: gfile.GFile(none).read(),
         f"GFile: no such file or directory; got {none}. Check the path."),
        (FileNotFoundError, lambda: gfile.listdir(file),
         f"listdir: there is no such folder; got {file}."),
        (FileNotFoundError, lambda: tf.io.read_file(str(none)),
         f"read_file: no such file or directory; got {none}. Check the path."),
        (FileExistsError, lambda: gfile.copy(file, file),
         f"copy: the file is there already; got {file}. Pass `overwrite=True` to replace it."),
        (OSError, lambda: gfile.remove(folder),
         f"remove: this is a folder; got {folder}. Use rmtree."),
        (OSError, lambda: gfile.makedirs(file),
         f"makedirs: this is a file, not a folder; got {file}."),
        (OSError, lambda: gfile.makedirs(file / "x"), f"makedirs: not a directory; got {file}/x."),
        (ValueError, lambda: gfile.copy(folder, none),
         f"copy: a folder is not copied; got {folder}. Copy its files."),
        (PermissionError, lambda: gfile.GFile(file).write("x"),
         f"GFile: mode 'r' is not for writing; got {file}."),
        (ValueError, lambda: gfile.GFile(file, "q"),
         "GFile: `mode` must be one of r, w, a, r+, w+, a+, with or without b; got 'q'."),
        (TypeError, lambda: gfile.GFile(file, "a").write(3),
         "GFile.write: text or bytes; got 3."),
        (TypeError, lambda: gfile.exists(None),
         "exists: a path is a string or a path object; got None."),
        (NotImplementedError, lambda: gfile.glob("gs://bucket/*"),
         "glob: only local files are read and written, not gs://; got gs://bucket/*. Copy the "
         "file to a local disk first."),
        (NotImplementedError, lambda: tf.io.read_file("hdfs://host/x"),
         "read_file: only local files are read and written, not hdfs://; got hdfs://host/x. Copy "
         "the file to a local disk first."),
        (ValueError, lambda: tf.io.decode_raw(["a", "bc"], tf.uint8),
         "decode_raw: all strings must have the same length; got lengths [1, 2]. Give "
         "`fixed_length` to cut and pad them."),
        (ValueError, lambda: tf.io.decode_raw("abc", tf.int16),
         "decode_raw: 3 bytes are not a whole number of int16 (2 bytes). Check `out_type`, or cut "
         "the bytes to a multiple of its size."),
        (ValueError, lambda: tf.io.decode_base64("*"),
         "decode_base64: this is no base64 text for URLs; got b'*'."),
        (ValueError, lambda: tf.io.read_file(["a"]),
         "read_file: `filename` must be one string; got string[1]."),
    ):  # fmt: skip
        assert says(kind, call) == text


@pytest.mark.parametrize(
    ("code", "kind", "builtin"),
    [
        (errno.ENOENT, tf.errors.NotFoundError, FileNotFoundError),
        (errno.EEXIST, tf.errors.AlreadyExistsError, FileExistsError),
        (errno.EISDIR, tf.errors.FailedPreconditionError, OSError),
        (errno.EACCES, tf.errors.PermissionDeniedError, PermissionError),
        (errno.ENOSPC, tf.errors.ResourceExhaustedError, OSError),
        (errno.EIO, tf.errors.UnknownError, OSError),
    ],
)
def test_errors_of_the_system_are_also_builtins(code, kind, builtin):
    error: Any = failed("act", "/some/path", OSError(code, os.strerror(code)))
    assert isinstance(error, kind)
    assert isinstance(error, builtin)
    assert (error.errno, error.filename) == (code, "/some/path")
    assert str(error).startswith("act: ")
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == str(error)


def test_an_error_names_the_users_line(tmp_path):
    with pytest.raises(tf.errors.NotFoundError) as error:
        gfile.stat(tmp_path / "none")
    assert "test_io.py" in error.value.__notes__[0]


def test_long_paths_are_named_in_full(tmp_path):
    deep = tmp_path / ("x" * 100) / ("y" * 100)
    assert str(deep) in says(FileNotFoundError, lambda: gfile.GFile(deep).read())


def test_a_file_that_is_forgotten_is_closed(tmp_path):
    gfile.GFile(tmp_path / "f", "w").write("kept")
    assert (tmp_path / "f").read_text() == "kept"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no full device")
def test_a_full_disk():
    file = gfile.GFile("/dev/full", "w")
    file.write("x")
    for act in (file.flush, file.close):
        with pytest.raises(tf.errors.ResourceExhaustedError, match="no space left on device"):
            act()


def test_names_are_sorted(tmp_path):
    for name in "cab":
        (tmp_path / name).mkdir()
    assert gfile.listdir(tmp_path) == ["a", "b", "c"]
    assert next(gfile.walk(tmp_path))[1] == ["a", "b", "c"]
    assert gfile.glob(f"{tmp_path}/*") == [f"{tmp_path}/{n}" for n in "abc"]


def test_schemes():
    assert gfile.get_registered_schemes() == ["", "file"]


def test_what_a_function_writes_it_reads(tmp_path):
    @tf.function
    def f(path: Any) -> Any:
        tf.io.write_file(path, "new")
        return tf.io.read_file(path)

    path = tmp_path / "f"
    for old in ("old", "older"):
        path.write_text(old)
        assert f(tf.constant(str(path))).numpy() == b"new"


SOUND = np.array([[0.0], [0.5], [-0.5], [1.0], [-2.0], [0.25002]], np.float32)
# The head of a file of one channel and 8000 samples a second, without its sound.
HEAD = (
    b"RIFF\x34\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x80\x3e\x00\x00"
    b"\x02\x00\x10\x00"
)


def test_sounds_are_stored_as_in_tensorflow() -> None:
    data = tf.audio.encode_wav(SOUND, 16000)
    assert data.numpy() == (
        b"RIFF\x30\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x80\x3e\x00\x00\x00\x7d\x00"
        b"\x00\x02\x00\x10\x00data\x0c\x00\x00\x00\x00\x00\x00\x40\x00\xc0\xff\x7f\x00\x80\x01\x20"
    )
    audio, rate = tf.audio.decode_wav(data)
    assert (audio.dtype, rate.dtype, int(rate)) == (tf.float32, tf.int32, 16000)
    found = [0.0, 0.5, -0.5, 0.999969482421875, -1.0, 0.250030517578125]
    assert audio.numpy().ravel().tolist() == found
    assert tf.audio.decode_wav(data, 2, 3).audio.numpy().tolist() == [
        [0, 0],
        [0.5, 0.5],
        [-0.5, -0.5],
    ]
    assert tf.audio.decode_wav(data, desired_samples=8).audio.numpy()[6:].tolist() == [[0.0], [0.0]]
    both = tf.audio.encode_wav([[0.5, -0.5], [0.25, 0.0]], 44100)
    assert tf.audio.decode_wav(both, 1).audio.numpy().tolist() == [[0.5], [0.25]]


def test_sounds_in_functions() -> None:
    @tf.function(input_signature=[tf.TensorSpec([], tf.string)])
    def read(data: Any) -> Any:
        audio, rate = tf.audio.decode_wav(data, 1, 2)
        assert audio.shape == (2, 1)
        return tf.squeeze(audio, -1), rate

    audio, rate = read(HEAD + b"LIST\x04\x00\x00\x00abcd" + b"data\x04\x00\x00\x00\x00\x40\x00\xc0")
    assert (audio.numpy().tolist(), int(rate)) == ([0.5, -0.5], 8000)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: tf.audio.decode_wav(b"abc"), "no WAV file that is read: .*RIFF"),
        (lambda: tf.audio.decode_wav(HEAD), "no WAV file that is read: .*data chunk missing"),
        (lambda: tf.audio.decode_wav(HEAD + b"data\x08\x00\x00\x00ab"), "ends within its sound"),
        (lambda: tf.audio.decode_wav(HEAD[:30]), "they end too early"),
        (lambda: tf.audio.decode_wav([HEAD]), "one string"),
        (lambda: tf.audio.encode_wav(SOUND[0], 1), "samples, channels"),
        (lambda: tf.audio.encode_wav(SOUND, 0), "`sample_rate` must be positive"),
    ],
)
def test_sounds_that_cannot_be_read_or_written(call: Any, text: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=text):
        call()

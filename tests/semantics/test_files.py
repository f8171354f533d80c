"""What `tf.io.gfile` and the file operations of `tf.io` do with local files."""

import os

import numpy as np
import pytest

from tests.semantics.api import check, refuses, tf

gfile = tf.io.gfile
errors = tf.errors


@pytest.fixture
def folder(tmp_path):
    """A folder with a file, a hidden file and a folder that has one."""
    (tmp_path / "f.txt").write_bytes("héllo\nworld\n".encode())
    (tmp_path / ".hidden").write_text("")
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "x.py").write_text("1")
    return str(tmp_path)


def put(path, mode, content):
    with gfile.GFile(path, mode) as file:
        file.write(content)
    with open(path, "rb") as file:
        return file.read()


# --- files


def test_reading_text(folder):
    file = gfile.GFile(f"{folder}/f.txt")
    assert (file.name, file.mode, file.size(), file.seekable()) == (
        f"{folder}/f.txt",
        "r",
        13,
        True,
    )
    assert file.read() == "héllo\nworld\n"
    assert file.tell() == 13
    assert file.read() == ""
    file.seek(7)
    assert file.readline() == "world\n"
    assert file.readline() == ""
    file.close()
    assert file.read() == "héllo\nworld\n"
    file.close()


def test_reading_bytes_and_lines(folder):
    path = f"{folder}/f.txt"
    with gfile.GFile(path, "rb") as file:
        assert file.read(3) == b"h\xc3\xa9"
        file.seek(-3, 2)
        assert file.read() == b"ld\n"
        file.seek(2)
        file.seek(offset=1, whence=1)
        assert file.tell() == 3
    with gfile.GFile(path) as file:
        assert list(file) == ["héllo\n", "world\n"]
    with gfile.GFile(path) as file:
        assert file.next() == "héllo\n"
        assert file.readlines() == ["world\n"]


def test_writing(tmp_path):
    path = str(tmp_path / "w")
    assert put(path, "w", "é") == "é".encode()
    assert put(path, "wb", b"\xff") == b"\xff"
    assert put(path, "w", b"ab") == b"ab"
    assert put(path, "wb", "ab") == b"ab"
    assert put(path, "a", "c") == b"abc"
    assert put(path, "w+", "3") == b"3"
    assert put(path, "r+", "z") == b"z"


def test_a_file_opens_when_it_is_used(tmp_path):
    path = str(tmp_path / "never")
    with gfile.GFile(path, "w"):
        pass
    assert not os.path.exists(path)
    with gfile.GFile(path) as file, pytest.raises(errors.NotFoundError):
        file.read()


def test_errors_of_files(folder):
    path = f"{folder}/f.txt"
    for use, error in (
        (lambda: gfile.GFile(path).write("x"), errors.PermissionDeniedError),
        (lambda: gfile.GFile(f"{folder}/w", "w").read(), errors.PermissionDeniedError),
        (lambda: gfile.GFile(f"{folder}/w", "w").write(3), TypeError),
        (lambda: gfile.GFile(f"{folder}/no/dir", "w").write("a"), errors.NotFoundError),
        (lambda: gfile.GFile(path, "rb").seek(2, 7), errors.InvalidArgumentError),
        (lambda: gfile.GFile(folder).read(), errors.FailedPreconditionError),
        (lambda: gfile.GFile(path, "x").read(), errors.InvalidArgumentError),
        (lambda: gfile.exists(3), TypeError),
        (lambda: gfile.exists("s3://bucket/x"), errors.UnimplementedError),
        (lambda: gfile.exists("http://host/x"), errors.UnimplementedError),
    ):
        with pytest.raises(error):
            use()
    with open(f"{folder}/bad", "wb") as file:
        file.write(b"\xff")
    with pytest.raises(UnicodeDecodeError):
        gfile.GFile(f"{folder}/bad").read()


# --- folders


def test_what_is_there(folder, tmp_path):
    assert gfile.exists(folder)
    assert gfile.exists(tmp_path)
    assert gfile.exists(folder.encode())
    assert gfile.exists(f"file://{folder}")
    assert not gfile.exists(f"{folder}/none")
    assert not gfile.exists("")
    assert gfile.isdir(f"{folder}/a")
    assert not gfile.isdir(f"{folder}/f.txt")
    assert not gfile.isdir(f"{folder}/none")
    assert sorted(gfile.listdir(folder)) == [".hidden", "a", "f.txt"]
    for missing in ("none", "f.txt"):
        with pytest.raises(errors.NotFoundError):
            gfile.listdir(f"{folder}/{missing}")


def test_stat(folder):
    found = gfile.stat(f"{folder}/f.txt")
    assert (found.length, found.is_directory) == (13, False)
    assert found.mtime_nsec > 0
    assert gfile.stat(folder).is_directory
    with pytest.raises(errors.NotFoundError):
        gfile.stat(f"{folder}/none")


@pytest.mark.parametrize(
    ("patterns", "expected"),
    [
        (["*"], [".hidden", "a", "f.txt"]),
        (["*.txt"], ["f.txt"]),
        (["?.txt"], ["f.txt"]),
        (["f.tx[a-z]"], ["f.txt"]),
        (["*/*"], ["a/x.py"]),
        (["**/*.py"], ["a/x.py"]),
        (["zz*"], []),
        (["{f,g}.txt"], []),
        (["*.txt", "a/*"], ["f.txt", "a/x.py"]),
    ],
)
def test_glob(patterns, expected, folder):
    found = gfile.glob([f"{folder}/{p}" for p in patterns])
    assert sorted(found) == sorted(f"{folder}/{e}" for e in expected)
    if len(patterns) == 1:
        assert sorted(gfile.glob(f"{folder}/{patterns[0]}")) == sorted(found)


def test_making_folders(folder):
    gfile.mkdir(f"{folder}/new")
    gfile.mkdir(f"{folder}/new")
    with pytest.raises(errors.NotFoundError):
        gfile.mkdir(f"{folder}/p/q")
    gfile.makedirs(f"{folder}/p/q")
    gfile.makedirs(f"{folder}/p/q")
    assert os.path.isdir(f"{folder}/p/q")
    with pytest.raises(errors.FailedPreconditionError):
        gfile.makedirs(f"{folder}/f.txt")


def test_copying_and_moving(folder):
    source, target = f"{folder}/f.txt", f"{folder}/c.txt"
    gfile.copy(source, target)
    for again in (gfile.copy, gfile.rename):
        with pytest.raises(errors.AlreadyExistsError):
            again(source, target)
    gfile.copy(source, target, overwrite=True)
    gfile.rename(source, target, overwrite=True)
    assert sorted(os.listdir(folder)) == [".hidden", "a", "c.txt"]
    gfile.rename(target, source)
    for act in (gfile.copy, gfile.rename):
        with pytest.raises(errors.NotFoundError):
            act(f"{folder}/none", f"{folder}/n")
    with pytest.raises(errors.InvalidArgumentError):
        gfile.copy(f"{folder}/a", f"{folder}/aa")
    with pytest.raises(errors.NotFoundError):
        gfile.copy(source, f"{folder}/q/c.txt")


def test_removing(folder):
    with pytest.raises(errors.FailedPreconditionError):
        gfile.remove(f"{folder}/a")
    gfile.remove(f"{folder}/f.txt")
    gfile.rmtree(f"{folder}/a")
    assert os.listdir(folder) == [".hidden"]
    for act in (gfile.remove, gfile.rmtree):
        with pytest.raises(errors.NotFoundError):
            act(f"{folder}/none")


def test_walk(folder):
    rows = [
        (folder, ["a"], [".hidden", "f.txt"]),
        (f"{folder}/a", [], ["x.py"]),
    ]
    found = [(d, sorted(s), sorted(f)) for d, s, f in gfile.walk(folder)]
    assert found == rows
    found = [(d, sorted(s), sorted(f)) for d, s, f in gfile.walk(folder, topdown=False)]
    assert found == rows[::-1]
    assert list(gfile.walk(f"{folder}/none")) == []


def test_join(tmp_path):
    assert gfile.join("a", "b", "c") == "a/b/c"
    assert gfile.join("a", "/b") == "/b"
    assert gfile.join("gs://a", "b") == "gs://a/b"
    assert gfile.join(b"a", b"b") == b"a/b"
    assert gfile.join(tmp_path, "b") == f"{tmp_path}/b"


# --- files as tensors


def test_read_and_write_file(folder):
    check(tf.io.read_file(f"{folder}/f.txt"), "héllo\nworld\n".encode(), tf.string)
    assert tf.io.write_file(f"{folder}/n/e/w", "abc") is None
    check(tf.io.read_file(tf.constant(f"{folder}/n/e/w")), b"abc")
    for use, error in (
        (lambda: tf.io.read_file(f"{folder}/none"), errors.NotFoundError),
        (lambda: tf.io.read_file([f"{folder}/f.txt"]), errors.InvalidArgumentError),
        (lambda: tf.io.read_file(3), TypeError),
        (lambda: tf.io.write_file(f"{folder}/w", ["a"]), errors.InvalidArgumentError),
        (lambda: tf.io.write_file(f"{folder}/w", 3), TypeError),
    ):
        with refuses(error):
            use()


def test_files_in_a_function(folder):
    @tf.function
    def double(path):
        text = tf.io.read_file(path)
        tf.io.write_file(path + "2", text + text)
        return text

    for text in (b"ab", b"xyz"):
        with open(f"{folder}/t", "wb") as file:
            file.write(text)
        check(double(tf.constant(f"{folder}/t")), text)
        check(tf.io.read_file(f"{folder}/t2"), text * 2)


def test_matching_files(folder):
    check(
        tf.io.matching_files(f"{folder}/*"),
        [f"{folder}/{n}".encode() for n in (".hidden", "a", "f.txt")],
    )
    found = tf.io.matching_files([f"{folder}/*.txt", f"{folder}/a/*"])
    check(found, [f"{folder}/a/x.py".encode(), f"{folder}/f.txt".encode()])
    assert tf.io.matching_files(f"{folder}/zz*").shape == (0,)
    with refuses(errors.InvalidArgumentError):
        tf.io.matching_files([["a"]])


@pytest.mark.parametrize(
    ("text", "dtype", "options", "expected"),
    [
        (["abcd", "efgh"], "uint8", {}, [[97, 98, 99, 100], [101, 102, 103, 104]]),
        (b"\x01\x02\x03\x04", "int16", {}, [513, 1027]),
        (b"\x01\x02\x03\x04", "int16", {"little_endian": False}, [258, 772]),
        (["a", "bcdef"], "uint8", {"fixed_length": 4}, [[97, 0, 0, 0], [98, 99, 100, 101]]),
        (b"\x01\x00", "bool", {}, [True, False]),
        (np.array([1.5, -2], np.float32).tobytes(), "float32", {}, [1.5, -2.0]),
        (np.array([1 + 2j], np.complex64).tobytes(), "complex64", {}, [1 + 2j]),
        (b"\xc0\x3f", "bfloat16", {}, [1.5]),
        (b"", "int16", {}, np.zeros(0)),
    ],
)
def test_decode_raw(text, dtype, options, expected):
    check(tf.io.decode_raw(text, tf.as_dtype(dtype), **options), expected, tf.as_dtype(dtype))


def test_decode_raw_of_big_endian_complex():
    data = np.array([1 + 2j], ">c8").tobytes()
    check(tf.io.decode_raw(data, tf.complex64, little_endian=False), [1 + 2j])


@pytest.mark.parametrize(
    ("text", "dtype", "options"),
    [
        (b"\x01\x02\x03", "int16", {}),
        (["a", "bc"], "uint8", {}),
        (["a"], "int16", {"fixed_length": 3}),
        (["a"], "uint8", {"fixed_length": 0}),
        (b"\x01", "string", {}),
        (b"\x00" * 8, "uint64", {}),
    ],
)
def test_decode_raw_refuses(text, dtype, options):
    with pytest.raises(errors.InvalidArgumentError):
        tf.io.decode_raw(text, tf.as_dtype(dtype), **options)


def test_base64():
    check(tf.io.encode_base64(["a", "ab", "abc", "ÿ?>"]), [b"YQ", b"YWI", b"YWJj", b"w78_Pg"])
    check(tf.io.encode_base64(["a", "ab", ""], pad=True), [b"YQ==", b"YWI=", b""])
    found = tf.io.decode_base64(["YQ", "YWI=", "YWI", "w78_Pg", "YR"])
    check(found, [b"a", b"ab", b"ab", "ÿ?>".encode(), b"a"])
    check(tf.io.decode_base64(""), b"")
    for bad in ("*", "+/", "a", "Y=Q=", "YQ="):
        with pytest.raises(errors.InvalidArgumentError):
            tf.io.decode_base64([bad])

"""Summaries: what is written where and when; with TensorBoard installed, what its reader finds.

Expected values were recorded from TensorFlow 2.21 with TensorBoard 2.21.
"""

from __future__ import annotations

import functools
import io
import os
import subprocess
import sys
import threading
import wave
import zlib
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import wengert as tf
from wengert.summary import encode, events, writer

summary: Any = tf.summary
NAN, INF = float("nan"), float("inf")
needs_tensorboard = pytest.mark.skipif(
    find_spec("tensorboard") is None, reason="TensorBoard is not installed"
)


class Paper:
    """Stands in for an event file and keeps what is added to it."""

    def __init__(self, logdir: str, max_queue: int, flush_seconds: float, suffix: str) -> None:
        self.options = (logdir, max_queue, flush_seconds, suffix)
        self.rows: list[Any] = []
        self.log: list[str] = []

    def metadata(self, kind: Any, description: str | None = None) -> bytes:
        return repr((kind, description)).encode()

    def add(self, tag: str, value: np.ndarray, step: int, metadata: bytes) -> None:
        self.rows.append((step, tag, np.asarray(value).tolist(), metadata.decode()))

    def add_raw(self, data: bytes, step: int) -> None:
        self.rows.append((step, data))

    def flush(self) -> None:
        self.log.append("flush")

    def close(self) -> None:
        self.log.append("close")


@pytest.fixture
def paper(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A default writer on paper, for one test."""
    monkeypatch.setattr(writer, "EventFile", Paper)
    made = summary.create_file_writer("logs")
    file = made.file
    with made.as_default():
        yield file
    made.close()


def says(kind: type[BaseException], call: Any) -> str:
    with pytest.raises(kind) as error:
        call()
    return str(error.value)


def written(call: Any) -> bool:
    found = call()
    assert found.dtype == tf.bool
    return bool(found)


# --- when and where


def test_without_a_writer_nothing_is_written():
    assert not written(lambda: summary.scalar("a", 1.0, step=1))
    assert not written(lambda: summary.scalar("a", 1.0))
    assert not written(summary.should_record_summaries)
    with summary.create_noop_writer().as_default() as noop:
        assert not written(lambda: summary.scalar("a", 1.0))
        assert not written(summary.should_record_summaries)
    for act in (noop.init, noop.flush, noop.close, noop.set_as_default, summary.flush):
        assert act() is None
    assert isinstance(noop, summary.SummaryWriter)


def test_steps(paper):
    steps = (1, np.int32(2), tf.constant(3, tf.int64), tf.Variable(4, dtype=tf.int64), -5)
    for step in steps:
        assert written(lambda step=step: summary.scalar("a", 1.0, step=step))
    assert [row[0] for row in paper.rows] == [1, 2, 3, 4, -5]
    assert says(ValueError, lambda: summary.scalar("a", 1.0)) == (
        "summary: no step is set. Give `step`, or call tf.summary.experimental.set_step."
    )
    for bad in (tf.Variable(2), tf.constant(1.0)):
        with pytest.raises(ValueError, match="dtype int64 was asked for"):
            summary.scalar("a", 1.0, step=bad)
    for bad in (3.7, "x"):
        with pytest.raises(TypeError):
            summary.scalar("a", 1.0, step=bad)
    assert says(ValueError, lambda: summary.scalar("a", 1.0, step=[1, 2])) == (
        "summary: `step` must be a scalar; got shape (2,)."
    )


def test_the_default_step(paper):
    experimental = summary.experimental
    assert experimental.get_step() is None
    counter = tf.Variable(3, dtype=tf.int64)
    experimental.set_step(counter)
    assert experimental.get_step() is counter
    summary.scalar("a", 1.0)
    counter.assign_add(1)
    summary.scalar("a", 1.0)
    with summary.create_file_writer("other").as_default(step=9) as other:
        summary.scalar("b", 1.0)
        assert experimental.get_step() == 9
    assert [row[0] for row in paper.rows] == [3, 4]
    assert [row[0] for row in other.file.rows] == [9]
    assert experimental.get_step() is counter
    experimental.set_step(None)


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (True, True), (False, False), (None, True), (0, False), (np.bool_(True), True),
        (lambda: False, False), (lambda: np.bool_(True), True), (lambda: tf.constant(True), True),
        (tf.constant(False), False), (tf.Variable(True), True),
    ],
    ids=[str(k) for k in range(10)],
)  # fmt: skip
def test_conditions(condition, expected, paper):
    with summary.record_if(condition):
        assert written(summary.should_record_summaries) is expected
        assert written(lambda: summary.scalar("a", 1.0, step=1)) is expected
    assert len(paper.rows) == expected
    assert written(lambda: summary.scalar("a", 1.0, step=1))


def test_the_inner_condition_counts(paper):
    with summary.record_if(False):
        with summary.record_if(True):
            assert written(lambda: summary.scalar("a", 1.0, step=1))
        # Where nothing is recorded, no step is needed and data is not looked at.
        assert not written(lambda: summary.scalar("a", 1.0))
        assert not written(lambda: summary.image("a", np.zeros(3)))
        assert not written(lambda: summary.write("a", lambda: 1 / 0))


def test_tags_follow_name_scopes(paper):
    with tf.name_scope("outer"):
        summary.scalar("a", 1.0, step=1)
        summary.write("as it is", 1.0, step=1)
        with summary.experimental.summary_scope("q", "default", values=[]) as (tag, scope):
            assert (tag, scope) == ("outer/q", "outer/q/")
    for name in (None, "", "é x"):
        summary.scalar(name, 1.0, step=1)
    with summary.experimental.summary_scope("bad name!") as (tag, scope):
        assert (tag, scope, tf.get_current_name_scope()) == ("bad name!", "badname/", "badname")
    tags = [row[1] for row in paper.rows]
    assert tags == ["outer/a", "as it is", "scalar_summary", "scalar_summary", "é x"]


def test_writers(paper, monkeypatch):
    made = summary.create_file_writer(Path("x"), 5, 1500, ".end")
    assert made.file.options == ("x", 5, 1.5, ".end")
    assert paper.options == ("logs", 10, 120.0, ".v2")
    file = made.file
    with made.as_default() as inside:
        assert inside is made
        assert file.log == []
    assert file.log == ["flush"]
    summary.flush()
    assert paper.log == ["flush"]
    assert made.init() is None
    made.close()
    made.close()
    made.flush()
    assert file.log == ["flush", "flush", "close"]
    for use in (made.set_as_default, made.as_default().__enter__):
        assert says(RuntimeError, use) == "SummaryWriter: this writer is closed. Create another."
    text = says(ValueError, lambda: summary.create_file_writer(None))
    assert text == "create_file_writer: give `logdir`, a folder."
    with pytest.raises(NotImplementedError, match="only local files"):
        summary.create_file_writer("gs://bucket/logs")


def test_a_default_that_is_closed(paper):
    made = summary.create_file_writer("y")
    with made.as_default():
        made.close()
        text = says(tf.errors.NotFoundError, lambda: summary.scalar("a", 1.0, step=1))
    assert text == "summary: the writer is closed."


def test_a_failure_inside_leaves_the_outer_writer(paper):
    with pytest.raises(ZeroDivisionError), summary.create_file_writer("z").as_default(step=2):
        1 / 0
    assert summary.experimental.get_step() is None
    assert written(lambda: summary.scalar("a", 1.0, step=1))
    assert len(paper.rows) == 1


def test_other_threads_have_no_writer(paper):
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(bool(summary.should_record_summaries())))
    thread.start()
    thread.join()
    assert found == [False]


def test_in_a_function(paper):
    @tf.function
    def f(x: Any, step: Any) -> Any:
        with summary.record_if(step > 1):
            summary.histogram("h", x, step=step, buckets=1)
        return summary.scalar("loss", tf.reduce_sum(x), step=step)

    for i in (1, 2):
        assert bool(f(tf.constant([1.0, float(i)]), tf.constant(i, tf.int64)))
    assert [row[:3] for row in paper.rows] == [
        (1, "loss", 2.0),
        (2, "h", [[1.0, 2.0, 2.0]]),
        (2, "loss", 3.0),
    ]


def test_under_a_tape(paper):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x * x
        summary.scalar("y", y, step=1)
    assert float(tape.gradient(y, x)) == 6.0
    assert paper.rows[0][2] == 9.0


# --- what


def test_scalars(paper):
    for data in (1.5, 3, True, tf.constant(2.0, tf.float64), tf.Variable(4.0), np.float16(5)):
        assert written(lambda data=data: summary.scalar("a", data, step=1, description="d"))
    assert [row[2] for row in paper.rows] == [1.5, 3.0, 1.0, 2.0, 4.0, 5.0]
    assert paper.rows[0][3] == "('scalar', 'd')"
    text = says(ValueError, lambda: summary.scalar("a", [1.0, 2.0], step=1))
    assert text == "scalar: `data` must be a scalar; got float32[2]."
    with pytest.raises(NotImplementedError, match="string does not convert to float32"):
        summary.scalar("a", "x", step=1)


@pytest.mark.parametrize(
    ("data", "count", "expected"),
    [
        ([1.0, 2.0, 2.0, 9.0], 4, [[1, 3, 3], [3, 5, 0], [5, 7, 0], [7, 9, 1]]),
        ([], 3, [[0, 0, 0]] * 3),
        ([2.0, 2.0], 3, [[2, 2, 0], [2, 2, 0], [2, 2, 2]]),
        ([2.0, 1.0], 0, np.zeros([0, 3])),
        ([2.0, 1.0], -2, np.zeros([0, 3])),
        ([NAN, 1.0, 2.0], 2, [[NAN, NAN, 0], [NAN, NAN, 0]]),
        ([INF, 1.0, 2.0], 2, [[1, INF, 2], [INF, INF, 0]]),
        ([1, 2, 3], 2, [[1, 2, 1], [2, 3, 2]]),
        ([True, False], 2, [[0, 0.5, 1], [0.5, 1, 1]]),
        (3.0, 2, [[3, 3, 0], [3, 3, 1]]),
    ],
    ids=str,
)
def test_histograms(data, count, expected, paper):
    assert written(lambda: summary.histogram("h", data, step=1, buckets=count))
    np.testing.assert_array_equal(np.reshape(paper.rows[0][2], [-1, 3]), expected)
    assert paper.rows[0][3] == "('histogram', None)"


def test_the_default_histogram(paper):
    summary.histogram("h", np.arange(10), step=1)
    rows = paper.rows[0][2]
    assert len(rows) == 30
    assert rows[3] == [0.8999999999999999, 1.2, 1.0]
    assert rows[-1] == [8.7, 9.0, 1.0]
    assert sum(row[2] for row in rows) == 10
    text = says(TypeError, lambda: summary.histogram("h", [1.0], step=1, buckets=2.5))
    assert text == "histogram: `buckets` is a whole number; got 2.5."
    text = says(TypeError, lambda: summary.histogram("h", ["a"], step=1))
    assert text == "histogram: numbers are needed; got string[1]."


def pixels(data: bytes) -> list[int]:
    """The bytes of a PNG image whose rows are differences from pixel to pixel (filter 1)."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    width = int.from_bytes(data[16:20])
    height = int.from_bytes(data[20:24])
    channels = {0: 1, 4: 2, 2: 3, 6: 4}[data[25]]
    size = int.from_bytes(data[33:37])
    assert int.from_bytes(data[41 + size : 45 + size]) == zlib.crc32(data[37 : 41 + size])
    lines = zlib.decompress(data[41 : 41 + size])
    step = width * channels + 1
    assert len(lines) == step * height
    assert set(lines[::step]) <= {1}
    rows = np.frombuffer(lines, np.uint8).reshape(height, step)[:, 1:]
    return rows.reshape(height, width, channels).cumsum(1, np.uint8).ravel().tolist()


@pytest.mark.parametrize(
    ("row", "dtype", "expected"),
    [
        ([-1.0, 0.0, 0.25, 0.5, 0.999, 1.0, 2.0], "float64", [0, 0, 63, 127, 255, 255, 255]),
        ([0, 7, 255], "uint8", [0, 7, 255]),
        ([0, 1, 255, 256, 32767, -3], "int16", [0, 0, 1, 2, 255, 0]),
        ([1.0, 0.0], "float16", [255, 0]),
    ],
)
def test_values_of_images(row, dtype, expected, paper):
    summary.image("i", np.array(row, dtype).reshape(1, 1, -1, 1), step=1)
    width, height, data = paper.rows[0][2]
    assert (width, height) == (str(len(row)).encode(), b"1")
    assert pixels(data) == expected


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_shapes_of_images(channels, paper):
    given = np.arange(5 * 2 * 3 * channels, dtype=np.uint8).reshape(5, 2, 3, channels)
    for most in (3, 0, 9):
        summary.image("i", given, step=1, max_outputs=most)
    found = [row[2] for row in paper.rows]
    assert [f[:2] for f in found] == [[b"3", b"2"]] * 3
    assert [len(f) - 2 for f in found] == [3, 0, 5]
    assert [pixels(f) for f in found[0][2:]] == [given[i].reshape(-1).tolist() for i in range(3)]


def test_images_that_are_none(paper):
    for kind, data, options, text in (
        (ValueError, np.zeros((4, 4, 3)), {},
         "image: `data` must have rank 4; got float64[4,4,3]."),
        (ValueError, np.zeros((1, 4, 4, 5)), {},
         "image: an image has 1 to 4 channels; got float64[1,4,4,5]."),
        (ValueError, np.zeros((1, 4, 4, 1)), {"max_outputs": -1},
         "image: `max_outputs` must not be negative; got -1."),
    ):  # fmt: skip
        call = functools.partial(summary.image, "i", data, step=1, **options)
        assert says(kind, call) == text


def test_texts(paper):
    summary.text("t", "hello", step=1)
    summary.text("t", [["a", "b"]], step=1)
    assert [row[2] for row in paper.rows] == [b"hello", [[b"a", b"b"]]]
    text = says(TypeError, lambda: summary.text("t", 3, step=1))
    assert text == "text: strings are needed; got int32[]. Use tf.strings.as_string."


def test_sounds(paper):
    samples = np.array([[[0.0], [0.5], [1.0], [-1.0], [2.0], [-2.0]]], np.float32)
    summary.audio("s", samples, 8000, step=1)
    ((data, label),) = paper.rows[0][2]
    assert label == b""
    assert data == (
        b"RIFF0\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00@\x1f\x00\x00\x80>\x00\x00\x02"
        b"\x00\x10\x00data\x0c\x00\x00\x00\x00\x00\x00@\xff\x7f\x00\x80\xff\x7f\x00\x80"
    )
    stereo = np.array([[0.1, 0.2], [0.00001526, -0.00001526]], np.float32)
    with wave.open(io.BytesIO(encode.wav(stereo, 44100))) as sound:
        assert (sound.getnchannels(), sound.getframerate()) == (2, 44100)
        assert np.frombuffer(sound.readframes(2), "<i2").tolist() == [3277, 6554, 1, -1]
    summary.audio("s", np.zeros((5, 2, 1), np.float32), 8, step=1, max_outputs=2)
    assert len(paper.rows[1][2]) == 2


def test_sounds_that_are_none(paper):
    flat, wide = np.zeros((10, 1), np.float32), np.zeros((1, 2, 1))
    good = np.zeros((1, 2, 1), np.float32)
    for kind, args, options, text in (
        (ValueError, (flat, 8000), {}, "audio: `data` must have rank 3; got float32[10,1]."),
        (TypeError, (wide, 8000), {}, "audio: float32 is needed; got float64[1,2,1]."),
        (ValueError, (good, 0), {}, "audio: `sample_rate` must be positive; got 0."),
        (ValueError, (good, 8), {"encoding": "mp3"},
         "audio: `encoding` must be 'wav'; got 'mp3'."),
    ):  # fmt: skip
        assert says(kind, functools.partial(summary.audio, "s", *args, step=1, **options)) == text


def test_plain_tensors(paper):
    summary.write("a", [[1, 2]], step=1)
    summary.write("b", lambda: tf.constant("x"), step=2, metadata=b"plugin")
    assert summary.experimental.write_raw_pb(b"raw", step=3).numpy()
    assert paper.rows == [
        (1, "a", [[1, 2]], "(None, None)"),
        (2, "b", b"x", "(b'plugin', None)"),
        (3, b"raw"),
    ]


def test_tracing_is_begun_once_and_ended_once():
    text = says(ValueError, lambda: summary.trace_export("x", step=1))
    assert text == "trace_export: nothing was traced. Call tf.summary.trace_on() first."
    text = says(ValueError, lambda: summary.trace_on(profiler=True))
    assert text == "trace_on: with `profiler` give `profiler_outdir`."
    assert summary.trace_off() is None
    summary.trace_on()
    with pytest.warns(UserWarning, match="trace_on: it is on already"):
        summary.trace_on()
    summary.trace_export("without a writer")
    summary.trace_on()
    summary.trace_off()
    says(ValueError, lambda: summary.trace_export("x", step=1))


# --- with and without TensorBoard


def test_without_tensorboard(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "tensorboard", None)
    for name in [n for n in sys.modules if n.startswith("tensorboard.")]:
        monkeypatch.delitem(sys.modules, name)
    text = says(ImportError, lambda: summary.create_file_writer(tmp_path))
    assert text == (
        "create_file_writer: event files are written by TensorBoard's own package, which is not "
        "installed. Run: pip install tensorboard"
    )
    assert os.listdir(tmp_path) == []


def read(folder: Path) -> list[Any]:
    """What TensorBoard's own reader finds: (step, tag, plugin, value)."""
    loader = events.load("backend.event_processing.event_file_loader").EventFileLoader
    to_array = events.load("util.tensor_util").make_ndarray
    found = []
    for path in sorted(folder.glob("events.out.tfevents.*")):
        for event in loader(str(path)).Load():
            for value in event.summary.value:
                plugin = value.metadata.plugin_data.plugin_name
                found.append((event.step, value.tag, plugin, to_array(value.tensor).tolist()))
    return found


@needs_tensorboard
def test_what_tensorboard_reads(tmp_path):
    made = summary.create_file_writer(tmp_path, filename_suffix=".test")
    proto = events.load("compat.proto.summary_pb2")
    raw = proto.Summary(value=[proto.Summary.Value(tag="raw", simple_value=2.0)])
    meta = proto.SummaryMetadata()
    meta.plugin_data.plugin_name = "mine"
    with made.as_default(step=7):
        summary.scalar("a", 1.5, description="words")
        summary.histogram("h", [1.0, 2.0], buckets=1)
        summary.image("i", np.ones((1, 1, 1, 1), np.uint8))
        summary.text("t", "hello")
        summary.audio("s", np.zeros((1, 1, 1), np.float32), 8)
        summary.write("w", [1, 2], metadata=meta)
        summary.write("w2", 1.0, metadata=meta.SerializeToString())
        summary.experimental.write_raw_pb(raw.SerializeToString())
    (file,) = tmp_path.iterdir()
    assert file.name.endswith(".test")
    found = read(tmp_path)
    assert [row[:3] for row in found] == [
        (7, "a", "scalars"), (7, "h", "histograms"), (7, "i", "images"), (7, "t", "text"),
        (7, "s", "audio"), (7, "w", "mine"), (7, "w2", "mine"), (7, "raw", "scalars"),
    ]  # fmt: skip
    values = [row[3] for row in found]
    assert values[:2] == [1.5, [[1.0, 2.0, 2.0]]]
    assert pixels(values[2][2]) == [1]
    assert values[3] == b"hello"
    assert values[4][0].startswith(b"RIFF")
    assert values[5:] == [[1, 2], 1.0, 2.0]
    made.close()


@needs_tensorboard
def test_what_is_not_flushed_is_written_at_the_end(tmp_path):
    code = f"""
import sys
import wengert as tf
tf.summary.create_file_writer({str(tmp_path)!r}).set_as_default()
for i in range(3):
    tf.summary.scalar("a", i, step=i)
assert "tensorflow" not in sys.modules
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert [row[3] for row in read(tmp_path)] == [0.0, 1.0, 2.0]


@needs_tensorboard
def test_the_queue(tmp_path):
    made = summary.create_file_writer(tmp_path, max_queue=2)
    with made.as_default():
        sizes = []
        for i in range(3):
            summary.scalar("a", 1.0, step=i)
            sizes.append(len(read(tmp_path)))
    assert sizes == [0, 0, 3]
    made.close()


@tf.function
def chosen(x, y):
    if x > 0:
        z = tf.sin(x) * y
    else:
        z = y
    return z, tf.reduce_sum(y)


@needs_tensorboard
def test_tensorboard_shows_the_graphs_of_functions(tmp_path):
    with summary.create_file_writer(str(tmp_path)).as_default():
        summary.trace_on(graph=True)
        chosen(tf.constant(1.0), tf.constant(2.0))
        summary.trace_export("ran", step=3)
        chosen(tf.constant([1.0])[0], tf.constant(2.0))
        summary.graph(chosen.get_concrete_function(tf.constant(1.0), tf.constant(2.0)).graph)
    ((step, tag, plugin, (value,)),) = [row for row in read(tmp_path) if row[1] == "ran"]
    assert (step, tag, plugin) == (3, "ran", "graph_run_metadata_graph")
    message = events.load("compat.proto.config_pb2").RunMetadata.FromString(value)
    (found,) = [g.pre_optimization_graph for g in message.function_graphs]
    nodes = {node.name.partition("/")[2]: node for node in found.node}
    assert nodes["x"].op == "Placeholder"
    assert any(n.op == "Switch" for n in found.node)
    assert any(n.op == "Sin" for n in found.node)
    assert all(name.partition(":")[0] in {n.name for n in found.node}
               for n in found.node for name in n.input)  # fmt: skip
    # What TensorBoard does to it before it is drawn.
    merged = events.load("plugins.graph.graph_util").merge_graph_defs([found])
    events.load("backend.process_graph").prepare_graph_for_ui(merged)
    assert len(merged.node) == len(found.node)

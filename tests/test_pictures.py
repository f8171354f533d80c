"""Pictures as bytes and back, by Pillow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import wengert as tf

pytest.importorskip("PIL")

PIXELS = np.random.default_rng(0).integers(0, 255, (5, 4, 3)).astype(np.uint8)


def test_png_loses_nothing() -> None:
    data = tf.io.encode_png(PIXELS)
    np.testing.assert_array_equal(tf.io.decode_png(data), PIXELS)
    np.testing.assert_array_equal(tf.image.decode_image(data), PIXELS)
    assert tf.io.decode_png(data, channels=1).shape == (5, 4, 1)
    assert tf.io.decode_png(data, channels=4).shape == (5, 4, 4)
    wide = PIXELS[..., :1].astype(np.uint16) * 200
    np.testing.assert_array_equal(tf.io.decode_png(tf.io.encode_png(wide), dtype=tf.uint16), wide)
    floats = tf.io.decode_image(data, dtype=tf.float32)
    np.testing.assert_allclose(floats, PIXELS / 255, rtol=1e-6)


def test_jpeg_is_near() -> None:
    pixels = np.full((16, 16, 3), 100, np.uint8)
    data = tf.io.encode_jpeg(pixels, quality=100)
    found = tf.io.decode_jpeg(data).numpy().astype(int)
    assert np.abs(found - 100).max() < 4
    assert bool(tf.io.is_jpeg(data))
    assert tf.io.extract_jpeg_shape(data).numpy().tolist() == [16, 16, 3]


def test_in_functions_and_datasets(tmp_path: Path) -> None:
    tf.io.write_file(str(tmp_path / "a.png"), tf.io.encode_png(PIXELS))

    @tf.function
    def read(path: Any) -> Any:
        found = tf.io.decode_png(tf.io.read_file(path), channels=3)
        assert found.shape.as_list() == [None, None, 3]
        return tf.image.resize(found, [2, 2])

    assert read(str(tmp_path / "a.png")).shape == (2, 2, 3)
    dataset = tf.data.Dataset.list_files(str(tmp_path / "*.png")).map(read)
    assert dataset.element_spec == tf.TensorSpec([2, 2, 3], tf.float32)
    assert next(iter(dataset)).shape == (2, 2, 3)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: tf.io.decode_png(b"junk"), "the bytes are no picture"),
        (lambda: tf.io.decode_bmp(tf.io.encode_png(PIXELS)), "the bytes are a PNG picture"),
        (lambda: tf.io.decode_png(["a", "b"]), "`contents` must be one string"),
        (lambda: tf.io.decode_png(b"", channels=2), "`channels` must be 0, 1, 3 or 4; got 2"),
        (lambda: tf.io.encode_png(PIXELS[0]), "a picture is .height, width, channels."),
        (lambda: tf.io.encode_png(PIXELS / 255), "the pixels must be uint8 or uint16"),
        (lambda: tf.io.encode_jpeg(PIXELS, quality=300), "`quality` is from 0 to 100; got 300"),
    ],
)
def test_bad_input(call: Any, message: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        call()


def test_brightness_of_png_pictures_is_tensorflows() -> None:
    r = np.random.RandomState(0)
    pixels = r.randint(0, 255, (4, 4, 3)).astype(np.uint8)
    found = tf.io.decode_png(tf.io.encode_png(pixels), channels=1)
    assert found.numpy()[0, :, 0].tolist() == [92, 125, 119, 103]
    clear = np.dstack([pixels, pixels[..., :1]])
    np.testing.assert_array_equal(tf.io.decode_png(tf.io.encode_png(clear), channels=1), found)

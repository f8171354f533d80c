"""Pictures as bytes and back, by Pillow."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import wengert as tf
from wengert.io import images

Image = pytest.importorskip("PIL.Image")

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


# Pictures of one row with 16 bits to a number, written by TensorFlow: the bytes, the pixels.
DEEP = {
    1: (
        "89504e470d0a1a0a0000000d494844520000000200000001100000000081d9fc150000000d494441540899"
        "63e05ab34a1f0003b40190835e03a00000000049454e44ae426082",
        [[2732], [43567]],
    ),
    2: (
        "89504e470d0a1a0a0000000d49484452000000020000000110040000000ebb6b4200000011494441540899"
        "6358567ae6c066e7a0df00162804eb750e18990000000049454e44ae426082",
        [[42613, 52416], [45891, 21243]],
    ),
    3: (
        "89504e470d0a1a0a0000000d49484452000000020000000110020000002bd0349e00000015494441540899"
        "63283b5c9bbe84f3dee540d16b9f00294a06aa5b69d7bb0000000049454e44ae426082",
        [[30403, 32103, 41993], [57043, 20757, 55026]],
    ),
    4: (
        "89504e470d0a1a0a0000000d4948445200000002000000011006000000a4b2a3c90000001a494441540899"
        "63dcae62156ee3b6f7c66393c9a67fbfb4be04003fd308c3c3145c050000000049454e44ae426082",
        [[46884, 14935, 15430, 48600], [39512, 52620, 14650, 17089]],
    ),
}


@pytest.mark.parametrize("depth", DEEP)
def test_16_bits_are_kept(depth: int) -> None:
    data, pixels = bytes.fromhex(DEEP[depth][0]), DEEP[depth][1]
    assert tf.io.decode_png(data, dtype=tf.uint16).numpy()[0].tolist() == pixels
    assert tf.io.decode_image(data, dtype=tf.uint16).numpy()[0].tolist() == pixels
    small = tf.io.decode_png(data).numpy()
    assert small.dtype == np.uint8
    assert small[0].tolist() == [[n >> 8 for n in p] for p in pixels]
    floats = tf.io.decode_image(data, dtype=tf.float32)
    np.testing.assert_array_equal(floats[0], np.array(pixels, np.float32) * np.float32(1 / 65535))
    with_alpha = tf.io.decode_png(data, channels=4, dtype=tf.uint16).numpy()[0]
    assert with_alpha[:, 3].tolist() == ([65535] * 2 if depth % 2 else [p[-1] for p in pixels])
    colors = tf.io.decode_png(data, channels=3, dtype=tf.uint16).numpy()[0]
    assert colors.tolist() == [p[:3] if depth > 2 else p[:1] * 3 for p in pixels]


def test_brightness_with_16_bits_is_tensorflows() -> None:
    wanted = {3: ([32723, 35514], [127, 138]), 4: ([24544, 44371], [95, 173])}
    for depth, (wide, small) in wanted.items():
        data = bytes.fromhex(DEEP[depth][0])
        found = tf.io.decode_png(data, channels=1, dtype=tf.uint16)
        assert found.numpy().ravel().tolist() == wide
        assert tf.io.decode_png(data, channels=1).numpy().ravel().tolist() == small


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_16_bits_are_written(depth: int) -> None:
    pixels = np.random.default_rng(1).integers(0, 65536, (2, 7, 5, depth)).astype(np.uint16)
    for compression in (-1, 0, 9):
        files = tf.io.encode_png(pixels, compression)
        for file, wanted in zip(files, pixels, strict=True):
            np.testing.assert_array_equal(tf.io.decode_png(file, dtype=tf.uint16), wanted)


def test_integers_of_pictures_go_through_16_bits() -> None:
    data = tf.io.encode_png(np.array([[[230, 39, 87]]], np.uint8))
    found = tf.io.decode_image(data, dtype=tf.int32)
    assert found.numpy().ravel().tolist() == [1936916480, 328433664, 732659712]
    found = tf.io.decode_image(data, dtype=tf.int16)
    assert found.numpy().ravel().tolist() == [29555, 5011, 11179]
    white = tf.io.encode_png(np.full((1, 1, 1), 255, np.uint8))
    assert float(tf.io.decode_image(white, dtype=tf.float16)[0, 0, 0]) == 1.0


def test_smaller_jpeg_pictures() -> None:
    sizes = {
        (37, 53): [(19, 27), (10, 14), (5, 7)], (1, 1): [(1, 1)] * 3,
        (3, 5): [(2, 3), (1, 2), (1, 1)], (7, 9): [(4, 5), (2, 3), (1, 2)],
        (2, 17): [(1, 9), (1, 5), (1, 3)],
    }  # fmt: skip
    for size, reduced in sizes.items():
        data = tf.io.encode_jpeg(np.zeros((*size, 3), np.uint8))
        for ratio, wanted in zip((2, 4, 8), reduced, strict=True):
            assert tf.io.decode_jpeg(data, ratio=ratio).shape == (*wanted, 3)
            assert tf.io.decode_jpeg(data, channels=1, ratio=ratio).shape == (*wanted, 1)
    noise = np.random.default_rng(0).integers(0, 256, (16, 24, 1)).astype(np.uint8)
    data = tf.io.encode_jpeg(noise, quality=100)
    means = noise.reshape(2, 8, 3, 8).mean((1, 3))
    np.testing.assert_allclose(tf.io.decode_jpeg(data, ratio=8)[..., 0], means, atol=1)
    assert tf.io.decode_jpeg(tf.io.encode_png(PIXELS), ratio=2).shape == PIXELS.shape


def _jpeg_bytes(mode: str, size: tuple[int, int], **how: Any) -> bytes:
    noise = np.random.default_rng(7).integers(0, 256, (*size, 3), np.uint8)
    picture = Image.fromarray(noise[..., 0] if mode == "L" else noise)
    if mode == "CMYK":
        picture = picture.convert(mode)
    buffer = io.BytesIO()
    picture.save(buffer, "JPEG", **how)
    return buffer.getvalue()


@pytest.mark.parametrize("channels", [0, 1, 3])
@pytest.mark.parametrize(
    "data",
    [
        _jpeg_bytes("RGB", (17, 23), quality=90),
        _jpeg_bytes("RGB", (33, 16), subsampling=0, quality=100),
        _jpeg_bytes("RGB", (40, 31), progressive=True),
        _jpeg_bytes("RGB", (9, 9), keep_rgb=True),
        _jpeg_bytes("L", (12, 15)),
        _jpeg_bytes("CMYK", (12, 15)),
    ],
)
def test_both_ways_to_read_jpeg_give_the_same_pixels(
    data: bytes, channels: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("simplejpeg")

    def read(data: bytes) -> Any:
        try:
            return tf.io.decode_jpeg(data, channels=channels).numpy().tolist()
        except tf.errors.InvalidArgumentError as error:
            return str(error)

    whole, cut = read(data), read(data[: len(data) // 2])
    monkeypatch.setattr(images, "_turbo", lambda: None)
    assert whole == read(data)
    assert cut == read(data[: len(data) // 2])
    assert "damaged" in cut


def test_jpeg_pictures_of_arrays_are_of_their_bytes() -> None:
    arrays = [PIXELS.astype(np.float32) + 0.7, PIXELS.astype(np.int64) - 256]
    for array in arrays:
        assert tf.io.encode_jpeg(array) == tf.io.encode_jpeg(PIXELS)
    assert tf.io.encode_jpeg(PIXELS.tolist()) == tf.io.encode_jpeg(PIXELS)
    for refused in (tf.constant(PIXELS / 255), (PIXELS / 255).tolist()):
        with pytest.raises(tf.errors.InvalidArgumentError, match="the pixels must be uint8"):
            tf.io.encode_jpeg(refused)
    with pytest.raises(tf.errors.InvalidArgumentError, match="has 1 or 3 channels"):
        tf.io.encode_jpeg(np.zeros((2, 2, 2)))
    with pytest.raises(tf.errors.InvalidArgumentError, match="has 1 to 4 channels"):
        tf.io.encode_png(np.zeros((2, 2, 5), np.uint16))


SHADES = np.arange(8 * 8 * 3, dtype=np.uint8).reshape(8, 8, 3)
# What TensorFlow makes of the first row of them, with the accurate transform.
SHADES_50 = [3, 4, 7, 11, 14, 18, 21, 22]


def test_pictures_lose_quality_as_in_tensorflow() -> None:
    found = tf.image.adjust_jpeg_quality(SHADES, 50)
    assert found.numpy()[0].tolist() == [[v] * 3 for v in SHADES_50]
    part = tf.image.adjust_jpeg_quality(tf.constant(SHADES / 255, tf.float32), 50)
    np.testing.assert_allclose(part * 255, found, atol=1e-3)
    specs = [tf.TensorSpec([None, None, 3], tf.uint8), tf.TensorSpec([], tf.int32)]
    traced = tf.function(tf.image.adjust_jpeg_quality, input_signature=specs)
    assert (traced(SHADES, 50) == found).numpy().all()
    once = tf.image.stateless_random_jpeg_quality(SHADES, 50, 51, [1, 2])
    assert (once == found).numpy().all()
    assert (tf.image.random_jpeg_quality(SHADES, 50, 51) == found).numpy().all()
    assert tf.image.adjust_jpeg_quality(SHADES[..., :1], 20).shape == (8, 8, 1)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: tf.image.adjust_jpeg_quality(SHADES, 101), "from 0 to 100"),
        (lambda: tf.image.adjust_jpeg_quality(SHADES[None], 50), "height, width, channels"),
        (lambda: tf.image.adjust_jpeg_quality(SHADES[..., :2], 50), "1 or 3 channels"),
        (lambda: tf.image.adjust_jpeg_quality(SHADES, 50, "FOO"), "`dct_method`"),
        (lambda: tf.image.random_jpeg_quality(SHADES, 50, 50), "must be less than"),
        (lambda: tf.image.stateless_random_jpeg_quality(SHADES, -1, 50, [1, 2]), "from 0 to 100"),
    ],
)
def test_qualities_that_no_picture_has(call: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        call()

"""The tensors that the operations of the sweep work on, by name and size, for any framework."""

from __future__ import annotations

import zlib

import numpy as np

SIZES = ("small", "middle", "large")
SIDE = {"small": 4, "middle": 256, "large": 2048}  # 16, 65,536 and 4 million numbers
MATRIX = {"small": 16, "middle": 256, "large": 1024}
IMAGES = {"small": (1, 8, 8, 3), "middle": (4, 64, 64, 3), "large": (16, 256, 256, 3)}
SIGNAL = {"small": (1, 64), "middle": (32, 2048), "large": (256, 16384)}
FEATURES = {"small": (1, 6, 6, 4), "middle": (4, 32, 32, 16), "large": (32, 64, 64, 32)}

TEXTS = {"small": 4, "middle": 256, "large": 16384}


def _uniform(name, shape, low=0.1, high=0.9):
    # Seeded by the name, so that `x` and `y` differ and all frameworks see the same.
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    return rng.uniform(low, high, shape).astype(np.float32)


def _integers(name, shape, high, low=0):
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    return rng.integers(low, high, shape, dtype=np.int32)


def _definite(n):
    a = _uniform("definite", (n, n), -0.5, 0.5)
    return a @ a.T / np.float32(n) + np.eye(n, dtype=np.float32)


class Arrays:
    """NumPy arrays by name; one attribute each, so that a form reads as it would in a program."""

    def __init__(self, size):
        self.n, self.m = SIDE[size], MATRIX[size]
        self.count = self.n * self.n
        self.images, self.signals = IMAGES[size], SIGNAL[size]
        self.features, self.text = FEATURES[size], TEXTS[size]
        self.volume = (*FEATURES[size][:1], 4, *FEATURES[size][1:])

    def get(self, name):
        return getattr(self, f"_{name}")()

    # Numbers of any kind, in a square.
    def _x(self):
        return _uniform("x", (self.n, self.n))

    def _y(self):
        return _uniform("y", (self.n, self.n))

    def _z(self):
        return _uniform("z", (self.n, self.n))

    def _signed(self):
        return _uniform("signed", (self.n, self.n), -4, 4)

    def _above(self):
        return _uniform("above", (self.n, self.n), 1.1, 3)

    def _large(self):
        return _uniform("large", (self.n, self.n), 1.1, 9)

    def _row(self):
        return _uniform("row", (self.n,))

    def _column(self):
        return _uniform("column", (self.n, 1))

    def _flat(self):
        return _uniform("flat", (self.count,))

    def _i(self):
        return _integers("i", (self.n, self.n), 100, 1)

    def _j(self):
        return _integers("j", (self.n, self.n), 9, 1)

    def _b(self):
        return _integers("b", (self.n, self.n), 2).astype(bool)

    def _c(self):
        return _integers("c", (self.n, self.n), 2).astype(bool)

    def _complex(self):
        return (_uniform("re", (self.n, self.n)) + 1j * _uniform("im", (self.n, self.n))).astype(
            np.complex64
        )

    def _j_float(self):
        return self._j().astype(np.float32)

    def _whole(self):
        return _integers("whole", (self.n,), 50, 5).astype(np.float32)

    def _cube(self):
        return _uniform("cube", (max(1, self.n // 16), self.n, 16))

    def _three(self):
        return _uniform("three", (self.n * self.n // 4, 3))

    def _three2(self):
        return _uniform("three2", (self.n * self.n // 4, 3))

    # Rows, labels, positions.
    def _rows(self):
        return _integers("rows", (self.n,), self.n)

    def _ids(self):
        return np.sort(_integers("ids", (self.n,), max(1, self.n // 4)))

    def _order(self):
        return np.random.default_rng(0).permutation(self.n).astype(np.int32)

    def _long_order(self):
        return np.random.default_rng(0).permutation(self.count).astype(np.int32)

    def _points(self):
        return _integers("points", (self.count // 4, 2), self.n)

    def _updates(self):
        return _uniform("updates", (self.count // 4,))

    def _many(self):
        return _integers("many", (self.count,), 1000)

    def _parts(self):
        return _integers("parts", (self.n,), 4)

    def _lengths(self):
        return _integers("lengths", (self.n,), self.n, 1)

    def _true_classes(self):
        return _integers("true_classes", (self.n, 1), self.n).astype(np.int64)

    def _classes(self):
        return _integers("classes", (self.n,), self.n)

    def _one_hot(self):
        return np.eye(self.n, dtype=np.float32)[self._classes()]

    def _sorted(self):
        return np.sort(_uniform("sorted", (self.n, self.n)), -1)

    # Matrices.
    def _a(self):
        return _uniform("a", (self.m, self.m), -1, 1) + 4 * np.eye(self.m, dtype=np.float32)

    def _a2(self):
        return _uniform("a2", (self.m, self.m), -1, 1)

    def _tall(self):
        return _uniform("tall", (2 * self.m, self.m // 2), -1, 1)

    def _tall_side(self):
        return _uniform("tall_side", (2 * self.m, 4), -1, 1)

    def _definite(self):
        return _definite(self.m)

    def _quarter(self):
        return _definite(max(4, self.m // 4))

    def _quarter_complex(self):
        return self._quarter().astype(np.complex64)

    def _small_norm(self):
        return _uniform("small_norm", (self.m, self.m), -1, 1) / np.float32(self.m)

    def _triangle(self):
        return np.linalg.cholesky(_definite(self.m))

    def _side(self):
        return _uniform("side", (self.m, self.m), -1, 1)

    def _vector(self):
        return _uniform("vector", (self.m,))

    def _batch(self):
        return _uniform("batch", (max(1, self.m // 16), 16, 16), -1, 1) + 4 * np.eye(
            16, dtype=np.float32
        )

    def _bands(self):
        bands = _uniform("bands", (3, self.m), -1, 1)
        bands[1] += 4
        return bands

    def _permutation(self):
        return np.random.default_rng(0).permutation(self.m).astype(np.int32)

    # Images and what networks make of them.
    def _image(self):
        return _uniform("image", self.images)

    def _image2(self):
        return _uniform("image2", self.images)

    def _gray(self):
        return _uniform("gray", (*self.images[:3], 1))

    def _bytes(self):
        return _integers("bytes", self.images, 256).astype(np.uint8)

    def _boxes(self):
        corner = _uniform("boxes", (self.m, 2), 0, 0.5)
        return np.concatenate([corner, corner + _uniform("extent", (self.m, 2), 0.1, 0.4)], -1)

    def _image_boxes(self):
        corner = _uniform("boxes", (self.images[0], 4, 2), 0, 0.5)
        return np.concatenate([corner, corner + np.float32(0.3)], -1)

    def _scores(self):
        return _uniform("scores", (self.m,))

    def _box_images(self):
        return _integers("box_images", (self.m,), self.images[0])

    def _offsets(self):
        return _uniform("offsets", (self.images[0], 2), -0.3, 0.3)

    def _feature_batch(self):
        b, *rest = self.features
        return _uniform("feature_batch", (4 * b, *rest), -1, 1)

    def _ctc_logits(self):
        return _uniform("ctc_logits", (self.m // 4, 8, 32), -1, 1)

    def _ctc_labels(self):
        return _integers("ctc_labels", (8, self.m // 16), 32, 1)

    def _ctc_lengths(self):
        return np.full(8, self.m // 4, np.int32)

    def _ctc_label_lengths(self):
        return np.full(8, self.m // 16, np.int32)

    def _feature(self):
        return _uniform("feature", self.features, -1, 1)

    def _space(self):
        return _uniform("space", self.volume, -1, 1)

    def _sequence(self):
        b, h, w, c = self.features
        return _uniform("sequence", (b, h * w, c), -1, 1)

    def _filter(self):
        c = self.features[-1]
        return _uniform("filter", (3, 3, c, c), -1, 1)

    def _filter1(self):
        c = self.features[-1]
        return _uniform("filter1", (3, c, c), -1, 1)

    def _filter3(self):
        c = self.features[-1]
        return _uniform("filter3", (3, 3, 3, c, c), -1, 1)

    def _depth_filter(self):
        return _uniform("depth_filter", (3, 3, self.features[-1], 1), -1, 1)

    def _point_filter(self):
        c = self.features[-1]
        return _uniform("point_filter", (1, 1, c, c), -1, 1)

    def _shape_filter(self):
        return _uniform("shape_filter", (3, 3, self.features[-1]))

    def _channels(self):
        return _uniform("channels", (self.features[-1],))

    def _channels2(self):
        return _uniform("channels2", (self.features[-1],))

    def _heads(self):
        b, h, w, c = self.features
        return _uniform("heads", (b, 4, max(1, h * w // 16), c), -1, 1)

    # Signals.
    def _signal(self):
        return _uniform("signal", self.signals, -1, 1)

    def _wave(self):
        return self._signal().astype(np.complex64)

    def _plane(self):
        return _uniform("plane", (max(1, self.n // 256), min(self.n, 256), self.n), -1, 1).astype(
            np.complex64
        )

    def _real_plane(self):
        return _uniform("plane", (max(1, self.n // 256), min(self.n, 256), self.n), -1, 1)

    def _frames(self):
        return _uniform("frames", (self.signals[0], self.signals[1] // 32, 32), -1, 1)

    def _spectra(self):
        return _uniform("spectra", (self.signals[0], self.signals[1] // 32, 33)).astype(
            np.complex64
        )

    # Text and files.
    def _words(self):
        return np.array([f"Word {k % 997}, and  more".encode() for k in range(self.text)], object)

    def _numerals(self):
        return np.array([f"{k}.5".encode() for k in range(self.text)], object)

    def _texts(self):
        return np.array([["a", "bc"]] * self.text, object)

    def _codes(self):
        return _integers("codes", (self.text, 8), 0x2FF, 0x40)

    def _raw(self):
        return np.array([b"\0\1\2\3" * 8] * self.text, object)

    def _coded(self):
        return np.array([b"AAECAwABAgM"] * self.text, object)

    def _lines(self):
        return np.array([b"1.5,2,abc"] * self.text, object)

"""Pictures as bytes, and back: PNG, JPEG, GIF, BMP and WebP, by way of Pillow.

Pillow is asked for when a picture is met; JPEG is read by simplejpeg where it is installed, with
the same result in less time. None of this compiles.
"""

from __future__ import annotations

import functools
import io
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from wengert.core import dtypes
from wengert.core.apply import apply
from wengert.core.convert import operand
from wengert.core.errors import invalid, invalid_dtype
from wengert.core.op import Op, ShapeDtype
from wengert.core.symbolic import is_symbolic
from wengert.io import deep_png
from wengert.io.files import one_string
from wengert.ops.declare import with_length
from wengert.ops.strings import static_int_or, static_str

if TYPE_CHECKING:
    from wengert.core.types import DTypeLike, TensorLike


_STRING = dtypes.nums("s")
# How a picture with so many channels is held in memory.
_MODES = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}
_NAMES = {"png": "PNG", "jpeg": "JPEG", "gif": "GIF", "bmp": "BMP", "webp": "WEBP"}
_ANY = tuple(_NAMES.values())


def _pillow() -> Any:
    try:
        return import_module("PIL.Image")
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "decode_image: pictures are read and written by Pillow, which is not installed. "
            "Install it with `pip install 'wengert[images]'`.",
            name=error.name,
        ) from None


def _jpeg(data: bytes, channels: int) -> np.ndarray | None:
    """The pixels of a JPEG picture by libjpeg-turbo alone; `None` where Pillow must read it.

    Pillow uses the same library, but makes four bytes of each pixel and copies them twice.
    """
    library = _turbo()
    if library is None or data[:2] != b"\xff\xd8":
        return None
    try:
        space = library.decode_jpeg_header(data)[2]
        if space not in ("YCbCr", "RGB", "Gray"):
            return None
        gray = channels == 1 or (channels == 0 and space == "Gray")
        if gray and space == "RGB":
            return None
        return library.decode_jpeg(data, "GRAY" if gray else "RGB")
    except ValueError:  # damaged, or of a kind that it does not know: Pillow finds the words
        return None


@functools.cache
def _turbo() -> Any:
    try:
        return import_module("simplejpeg")
    except ImportError:
        return None


def _decode(
    x: np.ndarray, name: str, kinds: tuple[str, ...], channels: int, dtype: dtypes.DType,
    animated: bool, ratio: int,
) -> np.ndarray:  # fmt: skip
    Image = _pillow()
    data = one_string(name, "contents", x, "Use tf.map_fn, or a dataset's map.")
    if "JPEG" in kinds and ratio == 1 and channels in (0, 1, 3):
        pixels = _jpeg(data, channels)
        if pixels is not None:
            return _typed(pixels, dtype)
    try:
        with Image.open(io.BytesIO(data), formats=list(_ANY)) as picture:
            if picture.format not in kinds:
                words = f"the bytes are a {picture.format} picture; it takes {' and '.join(kinds)}"
                raise invalid(name, words, help="Use tf.io.decode_image for all of them.")
            if picture.format == "GIF" and animated:
                frames = [_frame(picture, i) for i in range(picture.n_frames)]
                return np.stack([_typed(f, dtype) for f in frames])
            if deep_png.is_deep(data):
                return _typed(deep_png.read(data, channels, Image), dtype)
            pixels = _pixels(_reduced(picture, channels, ratio), channels)
            return _typed(_widened(pixels, picture.format, dtype), dtype)
    except (OSError, SyntaxError, ValueError) as error:
        if hasattr(error, "node_def"):
            raise
        words = "the bytes are no picture that can be read"
        raise invalid(
            name,
            f"{words}, or a damaged one ({len(data)} bytes)",
            help="Give the whole content of an image file, as tf.io.read_file returns it.",
        ) from error


def _frame(picture: Any, number: int) -> np.ndarray:
    picture.seek(number)
    return np.asarray(picture.convert("RGB"))


def _reduced(picture: Any, channels: int, ratio: int) -> Any:
    """The picture, whose bytes if JPEG's will be read as fewer pixels, or as brightness alone."""
    width, height = picture.size
    picture.draft("L" if channels == 1 else picture.mode, (width / ratio, height / ratio))
    return picture


def _pixels(picture: Any, channels: int) -> np.ndarray:
    mode = _MODES.get(channels) or _own_mode(picture)
    if mode == "L" and picture.format == "PNG" and picture.mode in ("RGB", "RGBA"):
        return _gray(np.asarray(picture))
    array = np.asarray(picture if picture.mode == mode else picture.convert(mode))
    return array[..., None] if array.ndim == 2 else array


def _gray(pixels: np.ndarray) -> np.ndarray:
    """Brightness as libpng computes it, in whole numbers and rounded down."""
    red, green, blue = (pixels[..., k : k + 1].astype(np.uint32) for k in range(3))
    return ((9797 * red + 19234 * green + 3737 * blue) >> 15).astype(np.uint8)


def _own_mode(picture: Any) -> str:
    if picture.mode in _MODES.values():
        return picture.mode
    if picture.mode in ("1", "I", "F"):
        return "L"
    return "RGBA" if "transparency" in picture.info or picture.mode == "PA" else "RGB"


def _widened(pixels: np.ndarray, kind: str, dtype: dtypes.DType) -> np.ndarray:
    """The pixels with 16 bits, where TensorFlow makes floats of those."""
    return _typed(pixels, dtypes.uint16) if kind == "PNG" and dtype.is_floating else pixels


def _typed(pixels: np.ndarray, dtype: dtypes.DType) -> np.ndarray:
    if pixels.dtype == dtype.np:
        return pixels
    if dtype.is_floating:
        return pixels.astype(np.float32) * np.float32(1.0 / np.iinfo(pixels.dtype).max)
    if dtype is dtypes.uint16:
        return pixels.astype(np.uint16) * np.uint16(257)
    return (pixels >> 8).astype(np.uint8)


def _infer(
    x: ShapeDtype, name: str, kinds: tuple[str, ...], channels: int, dtype: dtypes.DType,
    animated: bool, ratio: int,
) -> ShapeDtype:  # fmt: skip
    if animated and len(kinds) > 1:
        return ShapeDtype(None, dtype)
    rest = (None, None, 3 if kinds == ("GIF",) else channels or None)
    return ShapeDtype((None, *rest) if animated else rest, dtype)


DECODE_IMAGE = Op(
    "decode_image", "x", kernel=_decode, infer=_infer, lower=None, grad=None, accepts=_STRING,
    register=False,
)  # fmt: skip


def _decoded(
    name: str, contents: Any, kinds: tuple[str, ...], channels: Any, dtype: Any,
    animated: bool = False, ratio: int = 1, allowed: Any = (dtypes.uint8, dtypes.uint16),
) -> Any:  # fmt: skip
    count, kind = static_int_or(name, channels, "channels", 0), dtypes.as_dtype(dtype)
    if count not in (0, 1, 3, 4):
        raise invalid(name, f"`channels` must be 0, 1, 3 or 4; got {channels}")
    if kind not in allowed:
        raise invalid_dtype(name, f"`dtype` must be uint8 or uint16; got {kind.name}")
    x = operand(contents, dtypes.string)
    return apply(
        DECODE_IMAGE, x, name=name, kinds=kinds, channels=count, dtype=kind, animated=animated,
        ratio=ratio,
    )  # fmt: skip


def decode_png(
    contents: Any, channels: TensorLike = 0, dtype: DTypeLike = "uint8", name: str | None = None
) -> Any:
    """The pixels of a PNG picture, [height, width, channels]; `channels` of 0 as in the file."""
    return _decoded("decode_png", contents, _ANY, channels, dtype)


def decode_jpeg(
    contents: Any,
    channels: TensorLike = 0,
    ratio: int = 1,
    fancy_upscaling: bool = True,
    try_recover_truncated: bool = False,
    acceptable_fraction: float = 1,
    dct_method: str = "",
    name: str | None = None,
) -> Any:
    """The pixels of a JPEG picture, [height, width, channels].

    `ratio` makes both sides that many times smaller. The other arguments change nothing here.
    """
    step = static_int_or("decode_jpeg", ratio, "ratio", 1)
    if step not in (1, 2, 4, 8):
        raise invalid("decode_jpeg", f"`ratio` must be 1, 2, 4 or 8; got {step}")
    return _decoded("decode_jpeg", contents, _ANY, channels, dtypes.uint8, ratio=step)


def _crop_kernel(x: np.ndarray, window: np.ndarray) -> np.ndarray:
    top, left, height, width = window.tolist()
    fits = 0 <= top <= x.shape[0] - height and 0 <= left <= x.shape[1] - width
    if height < 1 or width < 1 or not fits:
        rule = f"`crop_window` {window.tolist()} does not lie within the picture"
        raise invalid("decode_and_crop_jpeg", rule, ShapeDtype(x.shape, dtypes.uint8))
    return x[top : top + height, left : left + width]


CROP = Op(
    "crop_picture", "x window", kernel=_crop_kernel,
    infer=lambda x, window: ShapeDtype((None, None, x.shape[2]), x.dtype), lower=None, grad=None,
    match=(), register=False,
)  # fmt: skip


def decode_and_crop_jpeg(
    contents: Any, crop_window: Any, channels: TensorLike = 0, *args: Any, **kwargs: Any
) -> Any:
    """A part of a JPEG picture: `crop_window` is [y, x, height, width]."""
    window = operand(crop_window, None, dtypes.int32)
    if not window.dtype.is_integer:
        raise invalid_dtype("decode_and_crop_jpeg", "`crop_window` has whole numbers", window)
    if not window.shape.is_compatible_with([4]):
        raise invalid("decode_and_crop_jpeg", "`crop_window` has four numbers", window)
    result = apply(CROP, decode_jpeg(contents, channels, *args, **kwargs), with_length(window, 4))
    if not is_symbolic(window):
        result.set_shape([*window.numpy().tolist()[2:], None])
    return result


def decode_gif(contents: Any, name: str | None = None) -> Any:
    """The frames of a GIF picture, [frames, height, width, 3]."""
    return _decoded("decode_gif", contents, ("GIF",), 3, dtypes.uint8, True)


def decode_bmp(contents: Any, channels: TensorLike = 0, name: str | None = None) -> Any:
    """The pixels of a BMP picture, [height, width, channels]."""
    return _decoded("decode_bmp", contents, ("BMP",), channels, dtypes.uint8)


def decode_webp(
    contents: Any, channels: TensorLike = 0, dtype: DTypeLike = "uint8", name: str | None = None
) -> Any:
    """The pixels of a WebP picture, [height, width, channels]."""
    return _decoded("decode_webp", contents, ("WEBP",), channels, dtype)


def decode_image(
    contents: Any,
    channels: Any = None,
    dtype: DTypeLike = "uint8",
    name: str | None = None,
    expand_animations: bool = True,
) -> Any:
    """The pixels of a picture of any kind; a GIF gives all frames if `expand_animations`.

    A floating `dtype` gives values from 0 to 1. Inside a function the rank is unknown, unless
    `expand_animations=False`.

    Args:
        contents: the bytes of a BMP, GIF, JPEG, PNG or WebP file.
        channels: 0, 1, 3 or 4; 0 leaves them as they are.
        dtype: uint8, uint16 or a floating-point dtype.
        expand_animations: with `False` only the first frame of a GIF.
        name: without effect.

    Returns:
        A tensor `[height, width, channels]`, of a GIF `[frames, height, width, 3]`.

    Raises:
        InvalidArgumentError: the bytes are no picture.

    >>> picture = tf.io.encode_png(tf.zeros([2, 3, 1], tf.uint8))
    >>> tf.io.decode_image(picture).shape
    TensorShape([2, 3, 1])
    """
    from wengert.ops.color import convert_image_dtype

    kind = dtypes.as_dtype(dtype)
    allowed = (dtypes.uint8, dtypes.uint16, dtypes.float32)
    # The numbers of 16 bits do not fit into half precision, those up to 1 do.
    half = kind.is_floating and kind.size == 2
    kept = kind if kind in allowed else dtypes.float32 if half else dtypes.uint16
    animated = bool(expand_animations)
    result = _decoded("decode_image", contents, _ANY, channels, kept, animated, allowed=allowed)
    return result if kept is kind else convert_image_dtype(result, kind)


def _encode(
    x: np.ndarray, name: str, kind: str, options: tuple[tuple[str, Any], ...]
) -> np.ndarray:
    depths = {"JPEG": (1, 3), "PNG": (1, 2, 3, 4)}[kind]
    if x.shape[-1] not in depths or 0 in x.shape[-3:]:
        words = "1 or 3" if kind == "JPEG" else "1 to 4"
        rule = f"a {kind} picture has {words} channels, and at least one pixel"
        raise invalid(name, rule, ShapeDtype(x.shape, dtypes.of(x)))
    out = np.empty(x.shape[:-3], object)
    for index in np.ndindex(x.shape[:-3]):
        out[index] = _bytes(np.ascontiguousarray(x[index]), kind, dict(options))
    return out


def _bytes(pixels: np.ndarray, kind: str, options: dict[str, Any]) -> bytes:
    if pixels.dtype == np.uint16:
        return deep_png.write(pixels, options.get("compress_level", -1))
    file = io.BytesIO()
    picture = _pillow().fromarray(pixels[..., 0] if pixels.shape[-1] == 1 else pixels)
    picture.save(file, kind, **options)
    return file.getvalue()


def _infer_encoded(x: ShapeDtype, name: str, kind: str, options: Any) -> ShapeDtype:
    if x.shape is not None and len(x.shape) < 3:
        raise invalid(name, "a picture is [height, width, channels]", x)
    return ShapeDtype(None if x.shape is None else x.shape[:-3], dtypes.string)


ENCODE_IMAGE = Op(
    "encode_image", "x", kernel=_encode, infer=_infer_encoded, lower=None, grad=None,
    register=False,
)  # fmt: skip


def _encoded(name: str, image: Any, kind: str, allowed: Any, **options: Any) -> Any:
    x = operand(image)
    if x.dtype not in allowed:
        words = " or ".join(d.name for d in allowed)
        help = "Use tf.image.convert_image_dtype."
        raise invalid_dtype(name, f"the pixels must be {words}", x, help=help)
    if x.shape.rank is not None and x.shape.rank < 3:
        raise invalid(name, "a picture is [height, width, channels]", x)
    return apply(ENCODE_IMAGE, x, name=name, kind=kind, options=tuple(options.items()))


def encode_png(image: TensorLike, compression: int = -1, name: str | None = None) -> Any:
    """Pixels as a PNG picture."""
    level = static_int_or("encode_png", compression, "compression", -1)
    if not -1 <= level <= 9:
        raise invalid("encode_png", f"`compression` is from -1 to 9; got {level}")
    more = {} if level < 0 else {"compress_level": level}
    return _encoded("encode_png", image, "PNG", (dtypes.uint8, dtypes.uint16), **more)


def encode_jpeg(
    image: TensorLike,
    format: str = "",
    quality: int = 95,
    progressive: bool = False,
    optimize_size: bool = False,
    chroma_downsampling: bool = True,
    density_unit: str = "in",
    x_density: int = 300,
    y_density: int = 300,
    xmp_metadata: str = "",
    name: str | None = None,
) -> Any:
    """Pixels as a JPEG picture."""
    name = "encode_jpeg"
    level = static_int_or(name, quality, "quality", 95)
    if not 0 <= level <= 100:
        raise invalid(name, f"`quality` is from 0 to 100; got {level}")
    # TensorFlow takes whatever NumPy's astype makes of arrays, and tensors of uint8 alone.
    given = image.astype(np.uint8) if isinstance(image, np.ndarray) else image
    x = _of_format(operand(given, None, dtypes.uint8), static_str(name, format, "format", ""))
    more = {} if chroma_downsampling or chroma_downsampling is None else {"subsampling": 0}
    return _encoded(
        name, x, "JPEG", (dtypes.uint8,), quality=level, progressive=bool(progressive),
        optimize=bool(optimize_size), dpi=_density(density_unit, x_density, y_density), **more,
    )  # fmt: skip


def _of_format(x: Any, form: str) -> Any:
    """Pixels with as many channels as the format says; none for ''."""
    wanted = {"": None, "grayscale": 1, "rgb": 3}
    if form not in wanted:
        raise invalid("encode_jpeg", f"`format` must be '', 'grayscale' or 'rgb'; got {form!r}")
    own = x.shape[-1] if x.shape.rank else None
    if wanted[form] and own not in (None, wanted[form]):
        raise invalid("encode_jpeg", f"the format {form!r} has {wanted[form]} channels", x)
    return x


def _density(unit: Any, across: Any, down: Any) -> tuple[int, int]:
    """Pixels per inch."""
    name, factor = "encode_jpeg", {"in": 1.0, "cm": 2.54}
    chosen = static_str(name, unit, "density_unit", "in")
    if chosen not in factor:
        raise invalid(name, f"`density_unit` must be 'in' or 'cm'; got {chosen!r}")
    result = (
        static_int_or(name, across, "x_density", 300),
        static_int_or(name, down, "y_density", 300),
    )
    return round(result[0] * factor[chosen]), round(result[1] * factor[chosen])


def is_jpeg(contents: Any, name: str | None = None) -> Any:
    """Whether bytes begin as those of a JPEG picture do."""
    from wengert.ops.strings import substr

    return substr(operand(contents, dtypes.string), 0, 3) == b"\xff\xd8\xff"


def extract_jpeg_shape(
    contents: Any, output_type: DTypeLike = "int32", name: str | None = None
) -> Any:
    """Height, width and channels of a JPEG picture."""
    from wengert.ops.dims import shape

    return shape(decode_jpeg(contents), dtypes.as_dtype(output_type))

"""The names of `tf.audio`."""

from wengert.core.missing_names import missing as _missing
from wengert.io.wav import decode_wav, encode_wav

__all__ = ["decode_wav", "encode_wav"]

__getattr__ = _missing("tf.audio", globals())

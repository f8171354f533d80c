"""The names of `tf.audio`."""

from wengert.core.missing_names import namespace as _namespace
from wengert.io.wav import decode_wav, encode_wav

__all__ = ["decode_wav", "encode_wav"]

__getattr__, __dir__ = _namespace("tf.audio", globals())

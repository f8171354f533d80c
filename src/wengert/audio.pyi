"""Made by `python -m tools.stubs`: the names that checkers and editors see."""

from wengert.io.wav import decode_wav as decode_wav
from wengert.io.wav import encode_wav as encode_wav

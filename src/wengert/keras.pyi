"""Made by `python -m tools.stubs`: the names that checkers and editors see."""

from keras._tf_keras.keras import *

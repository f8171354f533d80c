"""`tf.keras`: importing this module imports Keras, whose own module takes its place."""

import sys

from wengert.keras_glue.loading import load

sys.modules[__name__] = load()

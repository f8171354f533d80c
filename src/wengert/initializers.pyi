"""Made by `python -m tools.stubs`: the names that checkers and editors see."""

from keras._tf_keras.keras.initializers import *
from keras._tf_keras.keras.initializers import STFT as STFT
from keras._tf_keras.keras.initializers import Constant as Constant
from keras._tf_keras.keras.initializers import GlorotNormal as GlorotNormal
from keras._tf_keras.keras.initializers import GlorotUniform as GlorotUniform
from keras._tf_keras.keras.initializers import HeNormal as HeNormal
from keras._tf_keras.keras.initializers import HeUniform as HeUniform
from keras._tf_keras.keras.initializers import Identity as Identity
from keras._tf_keras.keras.initializers import IdentityInitializer as IdentityInitializer
from keras._tf_keras.keras.initializers import LecunNormal as LecunNormal
from keras._tf_keras.keras.initializers import LecunUniform as LecunUniform
from keras._tf_keras.keras.initializers import Ones as Ones
from keras._tf_keras.keras.initializers import Orthogonal as Orthogonal
from keras._tf_keras.keras.initializers import OrthogonalInitializer as OrthogonalInitializer
from keras._tf_keras.keras.initializers import RandomNormal as RandomNormal
from keras._tf_keras.keras.initializers import RandomUniform as RandomUniform
from keras._tf_keras.keras.initializers import STFTInitializer as STFTInitializer
from keras._tf_keras.keras.initializers import TruncatedNormal as TruncatedNormal
from keras._tf_keras.keras.initializers import VarianceScaling as VarianceScaling
from keras._tf_keras.keras.initializers import Zeros as Zeros
from keras._tf_keras.keras.initializers import constant as constant
from keras._tf_keras.keras.initializers import deserialize as deserialize
from keras._tf_keras.keras.initializers import get as get
from keras._tf_keras.keras.initializers import glorot_normal as glorot_normal
from keras._tf_keras.keras.initializers import glorot_uniform as glorot_uniform
from keras._tf_keras.keras.initializers import he_normal as he_normal
from keras._tf_keras.keras.initializers import he_uniform as he_uniform
from keras._tf_keras.keras.initializers import identity as identity
from keras._tf_keras.keras.initializers import lecun_normal as lecun_normal
from keras._tf_keras.keras.initializers import lecun_uniform as lecun_uniform
from keras._tf_keras.keras.initializers import ones as ones
from keras._tf_keras.keras.initializers import orthogonal as orthogonal
from keras._tf_keras.keras.initializers import random_normal as random_normal
from keras._tf_keras.keras.initializers import random_uniform as random_uniform
from keras._tf_keras.keras.initializers import serialize as serialize
from keras._tf_keras.keras.initializers import stft as stft
from keras._tf_keras.keras.initializers import truncated_normal as truncated_normal
from keras._tf_keras.keras.initializers import variance_scaling as variance_scaling
from keras._tf_keras.keras.initializers import zeros as zeros

from wengert.ops.initializers import Initializer as Initializer
from wengert.ops.initializers import constant_initializer as constant_initializer
from wengert.ops.initializers import ones_initializer as ones_initializer
from wengert.ops.initializers import random_normal_initializer as random_normal_initializer
from wengert.ops.initializers import random_uniform_initializer as random_uniform_initializer
from wengert.ops.initializers import zeros_initializer as zeros_initializer
# Those of Keras 3.15.1, one by one for mypy.

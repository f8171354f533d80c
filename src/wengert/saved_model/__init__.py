"""The names of `tf.saved_model`: models in files that load without their Python."""

from types import SimpleNamespace as _Namespace

from wengert.core.missing_names import namespace as _namespace
from wengert.saved_model.loading import load
from wengert.saved_model.model_folder import contains_saved_model
from wengert.saved_model.save_options import Asset, LoadOptions, SaveOptions
from wengert.saved_model.save_options import TrackableResource as _TrackableResource
from wengert.saved_model.save_options import VariablePolicy as _VariablePolicy
from wengert.saved_model.saving import save

ASSETS_DIRECTORY = "assets"
ASSETS_KEY = "saved_model_assets"
CLASSIFY_INPUTS = PREDICT_INPUTS = REGRESS_INPUTS = "inputs"
CLASSIFY_METHOD_NAME = "tensorflow/serving/classify"
CLASSIFY_OUTPUT_CLASSES = "classes"
CLASSIFY_OUTPUT_SCORES = "scores"
DEBUG_DIRECTORY = "debug"
DEBUG_INFO_FILENAME_PB = "saved_model_debug_info.pb"
DEFAULT_SERVING_SIGNATURE_DEF_KEY = "serving_default"
GPU = "gpu"
PREDICT_METHOD_NAME = "tensorflow/serving/predict"
PREDICT_OUTPUTS = REGRESS_OUTPUTS = "outputs"
REGRESS_METHOD_NAME = "tensorflow/serving/regress"
SAVED_MODEL_FILENAME_PB = "saved_model.pb"
SAVED_MODEL_FILENAME_PBTXT = "saved_model.pbtxt"
SAVED_MODEL_SCHEMA_VERSION = 1
SERVING = "serve"
TPU = "tpu"
TRAINING = "train"
VARIABLES_DIRECTORY = VARIABLES_FILENAME = "variables"

experimental = _Namespace(TrackableResource=_TrackableResource, VariablePolicy=_VariablePolicy)

__getattr__, __dir__ = _namespace("tf.saved_model", globals())

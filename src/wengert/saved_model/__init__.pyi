"""Made by `python -m tools.stubs`: the names that checkers and editors see."""

from wengert.saved_model.loading import load as load
from wengert.saved_model.model_folder import contains_saved_model as contains_saved_model
from wengert.saved_model.save_options import Asset as Asset
from wengert.saved_model.save_options import LoadOptions as LoadOptions
from wengert.saved_model.save_options import SaveOptions as SaveOptions
from wengert.saved_model.save_options import TrackableResource as _TrackableResource
from wengert.saved_model.save_options import VariablePolicy as _VariablePolicy
from wengert.saved_model.saving import save as save

ASSETS_DIRECTORY: str
ASSETS_KEY: str
CLASSIFY_INPUTS: str
CLASSIFY_METHOD_NAME: str
CLASSIFY_OUTPUT_CLASSES: str
CLASSIFY_OUTPUT_SCORES: str
DEBUG_DIRECTORY: str
DEBUG_INFO_FILENAME_PB: str
DEFAULT_SERVING_SIGNATURE_DEF_KEY: str
GPU: str
PREDICT_INPUTS: str
PREDICT_METHOD_NAME: str
PREDICT_OUTPUTS: str
REGRESS_INPUTS: str
REGRESS_METHOD_NAME: str
REGRESS_OUTPUTS: str
SAVED_MODEL_FILENAME_PB: str
SAVED_MODEL_FILENAME_PBTXT: str
SAVED_MODEL_SCHEMA_VERSION: int
SERVING: str
TPU: str
TRAINING: str
VARIABLES_DIRECTORY: str
VARIABLES_FILENAME: str

class experimental:
    TrackableResource = _TrackableResource
    VariablePolicy = _VariablePolicy

"""The names of `tf.experimental`."""

from types import SimpleNamespace as _Namespace

from wengert.composite.api_dispatch import (
    dispatch_for_api,
    dispatch_for_binary_elementwise_apis,
    dispatch_for_binary_elementwise_assert_apis,
    dispatch_for_unary_elementwise_apis,
    unregister_dispatch_for,
)  # fmt: skip
from wengert.composite.extension_type import (
    BatchableExtensionType,
    ExtensionType,
    ExtensionTypeBatchEncoder,
    ExtensionTypeSpec,
)  # fmt: skip
from wengert.composite.extension_type import (
    as_dict as _as_dict,
)
from wengert.composite.optional import Optional
from wengert.composite.ragged_shaping import DynamicRaggedShape
from wengert.composite.row_partition import RowPartition
from wengert.core.missing_names import namespace as _namespace
from wengert.experimental import dlpack, dtensor, numpy

extension_type = _Namespace(as_dict=_as_dict)

__getattr__, __dir__ = _namespace("tf.experimental", globals())

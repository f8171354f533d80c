"""Made by `python -m tools.stubs`: the names that checkers and editors see."""

from wengert.composite.api_dispatch import dispatch_for_api as dispatch_for_api
from wengert.composite.api_dispatch import (
    dispatch_for_binary_elementwise_apis as dispatch_for_binary_elementwise_apis,
)
from wengert.composite.api_dispatch import (
    dispatch_for_binary_elementwise_assert_apis as dispatch_for_binary_elementwise_assert_apis,
)
from wengert.composite.api_dispatch import (
    dispatch_for_unary_elementwise_apis as dispatch_for_unary_elementwise_apis,
)
from wengert.composite.api_dispatch import unregister_dispatch_for as unregister_dispatch_for
from wengert.composite.extension_type import BatchableExtensionType as BatchableExtensionType
from wengert.composite.extension_type import ExtensionType as ExtensionType
from wengert.composite.extension_type import ExtensionTypeBatchEncoder as ExtensionTypeBatchEncoder
from wengert.composite.extension_type import ExtensionTypeSpec as ExtensionTypeSpec
from wengert.composite.extension_type import as_dict as _as_dict
from wengert.composite.optional import Optional as Optional
from wengert.composite.ragged_shaping import DynamicRaggedShape as DynamicRaggedShape
from wengert.composite.row_partition import RowPartition as RowPartition
from wengert.experimental import dlpack as dlpack
from wengert.experimental import dtensor as dtensor
from wengert.experimental import numpy as numpy

class extension_type:
    as_dict = staticmethod(_as_dict)

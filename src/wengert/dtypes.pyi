"""Made by `python -m tools.stubs`: the names that checkers and editors see."""

from wengert.core.dtypes import DType as DType
from wengert.core.dtypes import as_dtype as as_dtype
from wengert.core.dtypes import bfloat16 as bfloat16
from wengert.core.dtypes import bool_ as _bool
from wengert.core.dtypes import complex64 as complex64
from wengert.core.dtypes import complex128 as complex128
from wengert.core.dtypes import float16 as _float16
from wengert.core.dtypes import float16 as float16
from wengert.core.dtypes import float32 as float32
from wengert.core.dtypes import float64 as _float64
from wengert.core.dtypes import float64 as float64
from wengert.core.dtypes import int8 as int8
from wengert.core.dtypes import int16 as int16
from wengert.core.dtypes import int32 as int32
from wengert.core.dtypes import int64 as int64
from wengert.core.dtypes import string as string
from wengert.core.dtypes import uint8 as uint8
from wengert.core.dtypes import uint16 as uint16
from wengert.core.dtypes import uint32 as uint32
from wengert.core.dtypes import uint64 as uint64
from wengert.ops.cast import cast as cast
from wengert.ops.cast import saturate_cast as saturate_cast
from wengert.ops.complex import complex as complex

bool = _bool
double = _float64
half = _float16

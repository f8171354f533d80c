"""Made by `python -m tools.stubs`: the names that checkers and editors see."""

from wengert.explain.checking import disable_check_numerics as disable_check_numerics
from wengert.explain.checking import enable_check_numerics as enable_check_numerics
from wengert.ops.checks import Assert as Assert
from wengert.ops.checks import assert_all_finite as assert_all_finite
from wengert.ops.checks import assert_equal as assert_equal
from wengert.ops.checks import assert_greater as assert_greater
from wengert.ops.checks import assert_greater_equal as assert_greater_equal
from wengert.ops.checks import assert_integer as assert_integer
from wengert.ops.checks import assert_less as assert_less
from wengert.ops.checks import assert_less_equal as assert_less_equal
from wengert.ops.checks import assert_near as assert_near
from wengert.ops.checks import assert_negative as assert_negative
from wengert.ops.checks import assert_non_negative as assert_non_negative
from wengert.ops.checks import assert_non_positive as assert_non_positive
from wengert.ops.checks import assert_none_equal as assert_none_equal
from wengert.ops.checks import assert_positive as assert_positive
from wengert.ops.checks import assert_proper_iterable as assert_proper_iterable
from wengert.ops.checks import assert_rank as assert_rank
from wengert.ops.checks import assert_rank_at_least as assert_rank_at_least
from wengert.ops.checks import assert_rank_in as assert_rank_in
from wengert.ops.checks import assert_same_float_dtype as assert_same_float_dtype
from wengert.ops.checks import assert_scalar as assert_scalar
from wengert.ops.checks import assert_shapes as assert_shapes
from wengert.ops.checks import assert_type as assert_type
from wengert.ops.checks import check_numerics as check_numerics
from wengert.ops.checks import is_numeric_tensor as is_numeric_tensor
from wengert.runtime.settings import disable_traceback_filtering as disable_traceback_filtering
from wengert.runtime.settings import enable_traceback_filtering as enable_traceback_filtering
from wengert.runtime.settings import get_log_device_placement as get_log_device_placement
from wengert.runtime.settings import (
    is_traceback_filtering_enabled as is_traceback_filtering_enabled,
)
from wengert.runtime.settings import set_log_device_placement as set_log_device_placement

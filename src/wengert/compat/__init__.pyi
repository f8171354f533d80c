"""Made by `python -m tools.stubs`: the names that checkers and editors see."""

import wengert as _v2
from wengert.compat import v1 as v1
from wengert.compat.text import as_bytes as as_bytes
from wengert.compat.text import as_str as as_str
from wengert.compat.text import as_str_any as as_str_any
from wengert.compat.text import as_text as as_text
from wengert.compat.text import bytes_or_text_types as bytes_or_text_types
from wengert.compat.text import complex_types as complex_types
from wengert.compat.text import dimension_value as dimension_value
from wengert.compat.text import forward_compatible as forward_compatible
from wengert.compat.text import integral_types as integral_types
from wengert.compat.text import path_to_str as path_to_str
from wengert.compat.text import real_types as real_types

v2 = _v2

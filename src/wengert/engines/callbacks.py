"""Python called from compiled code, where the user demands compilation.

A call sees its arguments alone, in program order. It must say the shapes of its results. If it
raises, the executable keeps the error, the step is undone by its flag, and the error is raised when
the step has ended.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from wengert.core import dtypes
from wengert.core.errors import at_site
from wengert.core.lazy_modules import jax, lax
from wengert.core.locks import lending
from wengert.core.lowering_checks import NotFixed, fail_if
from wengert.engines.lower import LOWERINGS, cannot
from wengert.graph.graph_records import Node
from wengert.graph.ir import Graph
from wengert.ops.nodes import HOST_CALL

if TYPE_CHECKING:
    from wengert.core.types import JaxArray
    from wengert.engines.lower import Lowering


def _lower_host_call(
    graph: Graph, node: Node, given: list[JaxArray | np.ndarray], attrs: Any, low: Lowering
) -> list[JaxArray]:
    from jax.experimental import io_callback  # the public name of calls with effects, as yet

    specs = [graph.specs[v] for v in node.outputs]
    for spec in specs:
        if spec.dtype is dtypes.string:
            raise cannot(node, "its result is a string")
        if spec.shape is None or None in spec.shape:
            raise NotFixed(
                f"the results of {attrs['name']} have no fixed shape; give `Tout` as tf.TensorSpec "
                f"with one"
            )
    shapes = [_Passed(s.shape, s.dtype.np) for s in specs]
    flag = jax.ShapeDtypeStruct((), np.dtype(bool))

    def call(*arrays: Any) -> Any:
        try:
            result = lending(attrs["function"], *[np.asarray(a) for a in arrays])
            passed = [s.down(np.asarray(x)) for x, s in zip(result, shapes, strict=True)]
            return (*passed, np.asarray(False))
        except BaseException as error:  # an interrupt, too, waits for the end of the step
            if isinstance(error, Exception) and not hasattr(error, "site"):
                at_site(error, node.site)
            low.errors.append(error)
            blank = [s.down(np.zeros(s.shape, s.dtype)) for s in shapes]
            return (*blank, np.asarray(True))

    texts = [x if x.dtype.kind == "O" else None for x in given]  # constants, which need not pass
    numbers = [x for x in given if x.dtype.kind != "O"]
    halves = [_Passed(tuple(x.shape), x.dtype) for x in numbers]
    sent = [h.halved(x) for h, x in zip(halves, numbers, strict=True)]

    def whole(*arrays: JaxArray) -> tuple[np.ndarray, ...]:
        passed = iter([h.up(np.asarray(a)) for h, a in zip(halves, arrays, strict=True)])
        return call(*[next(passed) if text is None else text for text in texts])

    *results, failed = io_callback(whole, (*[s.struct for s in shapes], flag), *sent, ordered=True)
    fail_if(lambda: failed)
    return [s.joined(x) for s, x in zip(shapes, results, strict=True)]


class _Passed:
    """An array on its way to or from Python.

    JAX converts what passes in the mode of the thread that calls back, where 64-bit numbers are
    cut short; so they pass as pairs of 32 bits.
    """

    def __init__(self, shape: Any, dtype: np.dtype) -> None:
        self.shape, self.dtype = shape, dtype
        self.wide = dtype.kind in "iuf" and dtype.itemsize == 8
        form = (*shape, 2) if self.wide else shape
        self.struct = jax.ShapeDtypeStruct(form, np.dtype(np.int32) if self.wide else dtype)

    def down(self, x: np.ndarray) -> np.ndarray:
        x = np.ascontiguousarray(x.astype(self.dtype, copy=False))
        return x.reshape(*self.shape, 1).view(np.int32) if self.wide else x.reshape(self.shape)

    def up(self, x: np.ndarray) -> np.ndarray:
        if not self.wide:
            return x
        return np.ascontiguousarray(x).view(self.dtype).reshape(self.shape)

    def halved(self, x: Any) -> JaxArray:
        return lax.bitcast_convert_type(x, np.int32) if self.wide else x

    def joined(self, x: JaxArray) -> JaxArray:
        return lax.bitcast_convert_type(x, self.dtype) if self.wide else x


LOWERINGS.fill(__name__, {HOST_CALL: _lower_host_call})

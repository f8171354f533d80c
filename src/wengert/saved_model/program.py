"""A loaded program as an operation: run eagerly, recorded in functions and compiled with them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from wengert.core import dtypes
from wengert.core.apply import apply
from wengert.core.compiler import options
from wengert.core.errors import (
    InvalidArgumentError,
    ResourceExhaustedError,
    UnimplementedError,
    at_site,
    invalid,
    say,
)
from wengert.core.interrupts import uninterrupted
from wengert.core.lazy_modules import jax
from wengert.core.lowering_checks import fail_if
from wengert.core.op import Joint, Op, ShapeDtype

if TYPE_CHECKING:
    from wengert.core.types import JaxArray, SymbolicTensor, Tensor


def _no_gradient(x: np.ndarray, name: str) -> np.ndarray:
    raise at_site(
        UnimplementedError(
            None,
            None,
            f"{name}: this loaded function has no gradients of this order. Train the model in "
            f"the Python that made it, and keep its variables with tf.train.Checkpoint.",
        )
    )


# What the gradient of a loaded function is: an error, once somebody computes it.
_NO_GRADIENT = Op(
    "loaded_gradient",
    "x",
    kernel=_no_gradient,
    infer=lambda x, name: x,
    lower=None,
    grad=None,
    folds=False,
    register=False,
)


class Program:
    """A program of a saved model: what it takes and gives, and the operation that runs it.

    `entry` is what the manifest says of it. The operation takes the arguments and what else the
    program is given; it gives the results and the new values of variables.
    """

    def __init__(self, entry: dict[str, Any], given: list[ShapeDtype], exported: Any) -> None:
        self.name: str = entry["name"]
        self.gradient: Pull | None = None
        self._exported = exported
        self._count = len(entry["outputs"]) + len(entry["written"])
        self._checks = [tuple(map(str, c)) for c in entry["checks"]]
        self._rooms = [(int(rows), str(line)) for rows, line in entry["rooms"]]
        self._inputs = [(dtypes.as_dtype(kind), tuple(shape)) for _, kind, shape in entry["inputs"]]
        self._given = given
        compiler_options = options("f16" in exported.mlir_module())
        self._call = uninterrupted(jax.jit(exported.call, compiler_options=compiler_options))
        self._shapes = functools.lru_cache(maxsize=64)(self._work_out)
        self._open = [ShapeDtype(_known(a.shape), dtypes.as_dtype(a.dtype)) for a in self._avals()]
        self.op = Op(
            f"loaded_{self.name}",
            "*xs",
            kernel=self._run,
            infer=self._infer,
            lower=self._lower,
            grad=Joint(lambda g, inputs, needs: self._gradients(g, inputs, needs)),
            match=(),
            outputs=1 if self._count == 1 else None,
            effect=bool(self._checks or self._rooms),
            folds=False,
            holomorphic=False,
            register=False,
        )

    def _avals(self) -> tuple[JaxArray, ...]:
        return self._exported.out_avals[: self._count]

    def _run(self, *arrays: np.ndarray) -> list[np.ndarray] | np.ndarray:
        self._infer(*[ShapeDtype(a.shape, dtypes.of(a)) for a in arrays])
        with jax.enable_x64(True):
            results = [np.asarray(x) for x in self._call(*arrays)]
        if self._checks and results[self._count].any():
            raise self._failed(int(results[self._count].argmax()))
        for (rows, line), wanted in zip(self._rooms, self._wanted(results), strict=True):
            if wanted > rows:
                raise self._full(rows, int(wanted), line)
        return results[0] if self._count == 1 else results[: self._count]

    def _wanted(self, results: list[np.ndarray] | tuple[JaxArray, ...]) -> Any:
        return results[self._count + bool(self._checks) :]

    def _failed(self, number: int) -> Exception:
        operation, line = self._checks[number]
        rule = f"a check of {operation} failed in this loaded function"
        return _placed(InvalidArgumentError(None, None, say(self.name, rule)), line)

    def _full(self, rows: int, wanted: int, line: str) -> Exception:
        rule = f"a loop took {wanted} turns, and was exported with room for {rows}"
        help = "Run it with as many turns before it is exported, or with maximum_iterations."
        return _placed(ResourceExhaustedError(None, None, say(self.name, rule, help=help)), line)

    def _infer(self, *specs: ShapeDtype) -> tuple[ShapeDtype, ...] | ShapeDtype:
        self._check(specs)
        result: Any = self._open
        known = all(s.shape is not None and None not in s.shape for s in specs)
        if known and any(None in (s.shape or ()) for s in self._open):
            result = self._shapes(tuple([s.shape for s in specs]))
        return result[0] if self._count == 1 else tuple(result)

    def _work_out(self, shapes: tuple[tuple[int, ...], ...]) -> list[ShapeDtype]:
        kinds = [kind for kind, _ in self._inputs] + [s.dtype for s in self._given]
        with jax.enable_x64(True):
            structs = [
                jax.ShapeDtypeStruct(s, kind.np) for s, kind in zip(shapes, kinds, strict=True)
            ]
            result = jax.eval_shape(self._exported.call, *structs)
        return [ShapeDtype(tuple(x.shape), dtypes.as_dtype(x.dtype)) for x in result[: self._count]]

    def _check(self, specs: tuple[ShapeDtype, ...]) -> None:
        """Refuses arguments that the program was not made for."""
        sizes: dict[str, int] = {}
        for spec, (kind, shape) in zip(specs, self._inputs, strict=False):
            if spec.dtype != kind:
                raise invalid(self.name, f"an argument must be {kind.name}", spec)
            if spec.shape is None:
                continue
            if len(spec.shape) != len(shape):
                raise invalid(self.name, f"an argument must have rank {len(shape)}", spec)
            for have, want in zip(spec.shape, shape, strict=True):
                if have is None:
                    continue
                if isinstance(want, str):
                    want = sizes.setdefault(want, have)
                    if not have:
                        rule = "a loaded function takes no empty tensors for unknown sizes"
                        raise invalid(self.name, rule, spec)
                if have != want:
                    rule = f"a size must be {want}, as exported or as in another argument"
                    raise invalid(self.name, rule, spec)

    def _lower(self, *arrays: JaxArray) -> JaxArray | tuple[JaxArray, ...]:
        result = self._exported.call(*[jax.numpy.asarray(a) for a in arrays])
        if self._checks:
            fail_if(lambda: result[self._count])
        for (rows, _), wanted in zip(self._rooms, self._wanted(result), strict=True):
            fail_if(lambda wanted=wanted, rows=rows: wanted > np.int32(rows))
        return result[0] if self._count == 1 else tuple(result[: self._count])

    def _gradients(
        self,
        g: SymbolicTensor | tuple[Tensor, ...],
        inputs: tuple[Tensor, ...],
        needs: tuple[bool, ...],
    ) -> list[SymbolicTensor | None]:
        if self.gradient is not None:
            return self.gradient.run(g if isinstance(g, tuple) else (g,), inputs)
        return [
            apply(_NO_GRADIENT, x, name=self.name) if need else None
            for x, need in zip(inputs, needs, strict=True)
        ]


class Pull:
    """How gradients are pulled through a loaded function: by a program of its own.

    It reads variables, constants and random states as the function did, so those that the
    function was given are handed on.
    """

    def __init__(
        self, entry: dict[str, Any], load: Callable[[], Program], constant: Callable[[int], Any]
    ) -> None:
        what = entry["gradient"]
        self._load, self._constant = load, constant
        self._program: Program | None = None
        self._count = len(entry["inputs"])
        self._seeds = [int(k) for k in what["seeds"]]
        given = [tuple(x) for x in entry["given"]]
        draws = iter([k for k, x in enumerate(given) if x[0] == "draw"])
        self._given = [self._source(tuple(x), given, draws) for x in what["given"]]
        variables = [given.index(("variable", k)) for k in what["variables"]]
        self._indices = [*map(int, what["leaves"]), *[self._count + k for k in variables]]

    def _source(self, x: Any, given: list[Any], draws: Any) -> tuple[str, int]:
        """The source of an input of the gradient: an input of the function, or a file."""
        if x[0] == "constant":
            return "constant", int(x[1])
        return "input", self._count + (next(draws) if x[0] == "draw" else given.index(x))

    def run(self, g: tuple[Tensor, ...], inputs: tuple[Tensor, ...]) -> list[SymbolicTensor | None]:
        """The gradients of all inputs, given those of the results."""
        if self._program is None:
            self._program = self._load()
        op = self._program.op
        given = [inputs[k] if kind == "input" else self._constant(k) for kind, k in self._given]
        result = apply(op, *inputs[: self._count], *[g[k] for k in self._seeds], *given)
        result = (result,) if op.outputs == 1 else result
        answer: list[Any] = [None] * len(inputs)
        for index, x in zip(self._indices, result, strict=False):
            answer[index] = x
        return answer


def _known(shape: tuple[int, ...]) -> tuple[int | None, ...]:
    return tuple([d if isinstance(d, int) else None for d in shape])


def _placed(error: Exception, line: str) -> Exception:
    """An error that names the line of the program's source, and the user's own."""
    at_site(error)
    if line:
        error.add_note(f"  in the exported function at {line}")
    return error

"""Forward mode: `ForwardAccumulator` carries tangents along with the computation.

No operation has a forward rule. A backward rule is linear in the incoming gradient, so
differentiating it with respect to that gradient gives the tangent (the double-vjp trick).
"""

from __future__ import annotations

from threading import get_ident
from typing import TYPE_CHECKING, Any

from wengert.core import nest
from wengert.core.context import (
    State,
    add_listener,
    building_graph,
    outside,
    remove_listener,
    restoring,
    using,
)
from wengert.core.convert import operand
from wengert.core.errors import require
from wengert.core.types import Listener, Op, RawSite, Tensor, Value
from wengert.ops.create import zeros_like
from wengert.tape import arguments, gradient_values, reference
from wengert.tape.arguments import UnconnectedGradients
from wengert.tape.entries import full_form
from wengert.tape.gradient_tape import GradientTape

if TYPE_CHECKING:
    from wengert.ops.numpy_arrays import LinkedArray


class ForwardAccumulator(Listener):
    """Computes Jacobian-vector products while the function runs.

    >>> x = tf.constant(2.0)
    >>> with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as acc:
    ...     y = x ** 3.0
    >>> float(acc.jvp(y))
    12.0
    """

    differentiates = True

    def __init__(
        self, primals: Value | list[Value] | list[Tensor] | None, tangents: Tensor | list[Tensor]
    ) -> None:
        self._live = 0  # the thread that records, 0 while none does
        self._tangents: dict[int, Any] = {}
        nest.assert_same_structure(primals, tangents)
        for p, t in zip(nest.flatten(primals), nest.flatten(tangents), strict=True):
            primal = arguments.asked("ForwardAccumulator", p, TypeError, "primal")
            primal = arguments.present(primal)
            require(
                primal.dtype.is_differentiable,
                "ForwardAccumulator",
                f"dtype {primal.dtype.name} has no derivative",
                help="Cast it to a float type.",
                kind=ValueError,
            )
            tangent = operand(t, None, primal.dtype)
            gradient_values.check_dtype(tangent, primal, "ForwardAccumulator")
            gradient_values.check_shape(tangent, primal, "ForwardAccumulator")
            old = self._tangents.get(primal._id)
            self._tangents[primal._id] = tangent if old is None else old + tangent

    def __enter__(self) -> ForwardAccumulator:
        require(not self._live, "ForwardAccumulator", "it is already recording", kind=ValueError)
        try:
            self._live = get_ident()
            add_listener(self)
        except BaseException:  # of a signal's handler: the block does not begin
            self.__exit__()
            raise
        return self

    def __exit__(self, *exc: object) -> None:
        try:
            self._live = 0
            remove_listener(self)
        except BaseException:  # of a signal's handler
            remove_listener(self)
            raise

    def follows(self, values: list[Tensor] | tuple[Tensor, ...]) -> bool:
        """Whether any of these values has a tangent."""
        return any(x._id in self._tangents for x in values)

    def record2(self, op: Op, x: Value, y: Any, out: Tensor, site: RawSite) -> None:
        if x._id in self._tangents or y._id in self._tangents:
            self.record(op, (x, y), (out,), {}, site)

    @restoring
    def record(
        self, op: Op, inputs: Any, outputs: tuple[Tensor, ...], attrs: Any, site: RawSite
    ) -> None:
        """Carries tangents through one operation (called by `apply`)."""
        if get_ident() != self._live:
            return
        moving = [x for x in inputs if x._id in self._tangents]
        if not moving or op.gradient is None:
            return
        with using(outside(self, site)):
            for out, tangent in zip(
                outputs, self._push(op, inputs, outputs, attrs, site, moving), strict=True
            ):
                if tangent is not None:
                    self._tangents[out._id] = tangent

    def _push(
        self,
        op: Op,
        inputs: tuple[Tensor, ...],
        outputs: tuple[Tensor, ...],
        attrs: Any,
        site: RawSite,
        moving: list[Tensor],
    ) -> list[Tensor | None]:
        entry, complex_numbers = _entry(op, inputs, outputs, attrs, site, moving)
        if entry is None:
            return [None] * len(outputs)
        seeds = [zeros_like(o) for o in outputs]
        with GradientTape(watch_accessed_variables=False) as tape:
            tape.watch([s for s in seeds if s.dtype.is_differentiable])
            g = seeds[0] if entry[9] is None else tuple(seeds)
            pulled = reference.pull(entry, g, None, complex_numbers)
            targets = [gradient_values.dense(gi) for _, gi in pulled]
        weights = [self._tangents[entry[2][i]] for i, _ in pulled]
        if not targets:
            return [None] * len(outputs)
        return [
            gradient_values.dense(g) if o.dtype.is_differentiable else None
            for g, o in zip(
                tape.gradient(targets, seeds, weights, UnconnectedGradients.ZERO), outputs,
                strict=True,
            )
        ]  # fmt: skip

    def jvp(
        self,
        primals: Tensor | dict[str, Tensor] | list[Tensor] | LinkedArray,
        unconnected_gradients: str | UnconnectedGradients = UnconnectedGradients.NONE,
    ) -> Any:
        """The tangents of values computed inside, in their structure; `None` if unconnected."""
        mode = arguments.mode(unconnected_gradients)

        def one(value: Any) -> Tensor | None:
            value = arguments.asked("jvp", value, TypeError, "primal")
            (value,) = arguments.met(self._tangents, [value])
            tangent = self._tangents.get(value._id)
            if tangent is not None:
                return tangent
            require(
                mode is not UnconnectedGradients.ERROR,
                "jvp",
                "the value does not depend on the primals",
                kind=ValueError,
            )
            return zeros_like(value) if mode is UnconnectedGradients.ZERO else None

        return nest.map_structure(one, primals)


@restoring
def _entry(
    op: Op,
    inputs: tuple[Tensor, ...],
    outputs: tuple[Tensor, ...],
    attrs: Any,
    site: RawSite,
    moving: list[Tensor],
) -> tuple[Any, bool]:
    """The entry that a tape following just the moving inputs would write."""
    recorder = GradientTape(watch_accessed_variables=False)
    recorder._live = get_ident()
    # In a function the graph stays: there the value of a variable is a tensor of it.
    with using(State((), building_graph())):
        recorder.watch(moving)
        recorder.record(op, inputs, outputs, attrs, site)
    entries = recorder._entries
    return (full_form(entries[0]) if entries else None), recorder._complex

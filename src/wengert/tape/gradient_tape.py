"""`GradientTape`: what may be asked of a tape once it has recorded.

Gradients, Jacobians and reports on them. Recording is the business of `recording`, the walk back
through the entries that of `backward`.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Mapping
from operator import attrgetter
from threading import get_ident
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, overload

from wengert.core import dtypes, nest, sites
from wengert.core import late_operations as late
from wengert.core.apply import wrap
from wengert.core.context import get_state, outside, run_under
from wengert.core.convert import operand
from wengert.core.errors import at_site, coded
from wengert.core.observers import OBSERVERS, observed
from wengert.core.sites import SEEN
from wengert.core.tensor import new_id
from wengert.core.types import (
    Gradient,
    IndexedSlices,
    SymbolicTensor,
    Tensor,
    Value,
    Values,
    Variable,
)
from wengert.ops.create import ones_like, zeros_like
from wengert.ops.shaping import broadcast_to, identity
from wengert.tape import abandoned_traces, arguments, backward, gradient_values, history, jacobian
from wengert.tape.arguments import NONE, USUAL, UnconnectedGradients
from wengert.tape.entries import SHORT
from wengert.tape.recording import Recorder

if TYPE_CHECKING:
    import numpy as np

    from wengert.explain.explanation import Report
    from wengert.explain.memory import MemoryReport


Key = TypeVar("Key")
Unconnected: TypeAlias = str | UnconnectedGradients
_log = logging.getLogger("wengert")
_number = attrgetter("_id")


class GradientTape(Recorder):
    """Records what happens inside its `with` block, for differentiation afterwards.

    Args:
        persistent: whether more than one gradient may be asked for; the tape then keeps its memory.
        watch_accessed_variables: whether it follows every trainable variable that is read.

    Raises:
        RuntimeError: a tape that is not persistent is asked twice, or it has never recorded.

    >>> x = tf.constant(3.0)
    >>> with tf.GradientTape() as tape:
    ...     tape.watch(x)
    ...     y = x * x
    >>> float(tape.gradient(y, x))
    6.0
    """

    @overload
    def gradient(
        self, target: Values, sources: Value,
        output_gradients: Values | None = None,
        unconnected_gradients: Unconnected = UnconnectedGradients.NONE,
    ) -> Gradient: ...  # fmt: skip
    @overload
    def gradient(
        self, target: Values, sources: tuple[Any, ...],
        output_gradients: Values | None = None,
        unconnected_gradients: Unconnected = UnconnectedGradients.NONE,
    ) -> tuple[Gradient, ...]: ...  # fmt: skip
    @overload
    def gradient(
        self, target: Values, sources: list[Any],
        output_gradients: Values | None = None,
        unconnected_gradients: Unconnected = UnconnectedGradients.NONE,
    ) -> list[Gradient]: ...  # fmt: skip
    @overload
    def gradient(
        self, target: Values, sources: Mapping[Key, Value],
        output_gradients: Values | None = None,
        unconnected_gradients: Unconnected = UnconnectedGradients.NONE,
    ) -> dict[Key, Gradient]: ...  # fmt: skip
    @overload
    def gradient(
        self, target: Values, sources: object,
        output_gradients: Values | None = None,
        unconnected_gradients: Unconnected = UnconnectedGradients.NONE,
    ) -> Any: ...  # fmt: skip
    def gradient(
        self, target: Values, sources: object,
        output_gradients: Values | None = None,
        unconnected_gradients: Unconnected = UnconnectedGradients.NONE,
    ) -> Any:  # fmt: skip
        """The gradient of `target` with respect to each of `sources`, in their structure.

        Several targets, or a target that is not a scalar, are summed; `output_gradients` are
        weights of that sum. Where there is no path the answer is `None`, or zeros with
        `unconnected_gradients="zero"`, or an error with `"error"`.

        Args:
            target: a tensor, or several in a structure.
            sources: what to differentiate by: tensors or variables, alone or in a structure.
            output_gradients: weights of the targets, in their structure; ones by default.
            unconnected_gradients: "none", "zero" or "error": what to give where there is no path.

        Returns:
            Gradients in the structure of `sources`: tensors, `IndexedSlices` for rows that were
            gathered, `None` where there is no path.

        Raises:
            RuntimeError: the tape was used already, or never recorded.
            ValueError: `unconnected_gradients` is none of these.

        >>> a, b = tf.Variable(2.0), tf.Variable(3.0)
        >>> with tf.GradientTape() as tape:
        ...     y = a * a * b
        >>> [g.numpy().item() for g in tape.gradient(y, [a, b])]
        [12.0, 4.0]
        """
        given = target, sources, output_gradients, unconnected_gradients
        if OBSERVERS:
            return observed("gradient", _asked, self, "gradient", *given)
        return self._gradient(*given)

    def _gradient(
        self, target: Any, sources: Any, output_gradients: Any, unconnected_gradients: Any
    ) -> Any:
        mode = unconnected_gradients
        if mode is not NONE:
            mode = arguments.mode(mode)
        if self._live or self._used is not None or not self._thread:
            self._check_use("gradient")
            self._close()
        if type(target) is Tensor:  # one tensor by a list of variables, as most programs ask
            targets: list[Any] = [target]
        else:
            _, targets = arguments.all_asked("gradient", target, "target")
        flat = values = sources
        if type(sources) in USUAL:
            flat = values = [sources]
        elif type(sources) is not list or not USUAL.issuperset(map(type, sources)):
            flat, values = arguments.all_asked("gradient", sources)
        state = get_state()
        graph = None if state is None else state.graph
        if graph is not None:
            targets = arguments.met(self._tracked, targets)
            values = arguments.met(self._tracked, values)
        seeds = self._seeds(targets, output_gradients)
        frame = sys._getframe(2)
        code = frame.f_code
        site = (code, frame.f_lasti) if code is SEEN.code else sites.find(frame)
        evidence = history.before(self, site, mode)
        started = new_id()
        try:
            release = not self._persistent and graph is None
            result = self._differentiate(targets, seeds, values, release)
        finally:
            self._finish(site, started)
        for g in result:
            if g is None:
                self._answer(result, values, targets, mode, evidence, site)
                break
        else:
            if evidence is not None:
                history.after(site, True)
        if isinstance(sources, Value):
            return result[0]
        if flat is sources:
            return result
        return nest.pack_sequence_as(sources, arguments.regrouped(flat, result))

    def _check_use(self, what: str) -> None:
        if not self._thread:
            raise coded(
                RuntimeError(f"{what}: the tape has never recorded. Open it with `with tape:`."),
                "WG402",
            )
        if self._used is not None:
            raise coded(
                RuntimeError(
                    f"{what}: a non-persistent GradientTape can be used once, and it was used at "
                    f"{sites.locate(self._used)}. Ask for all gradients in one call, or make the "
                    f"tape with persistent=True."
                ),
                "WG401",
                self._used,
            )
        if self._live and get_ident() != self._thread:
            raise coded(
                RuntimeError(
                    f"{what}: the tape is still recording in another thread. A tape belongs to "
                    f"the thread that opened it; close it there first."
                ),
                "WG403",
            )

    def _close(self) -> None:
        """A non-persistent tape stops recording when it is asked for a gradient."""
        if self._live and not self._persistent:
            self._stop(history.CLOSED)

    def _finish(self, site: Any, started: int) -> None:
        """Marks a non-persistent tape as used and lets go of everything it kept."""
        history.ASKED.append((started, new_id(), site))
        if self._persistent:
            return
        if abandoned_traces.noted() is not None:
            abandoned_traces.used(self, "_used", "_entries", "_tracked", "_cuts", "_complex")
        self._used = site
        # Nothing is noted before the tape is opened anew.
        self._entries = self._cuts = []
        self._tracked = set()
        self._complex = False

    def _seeds(
        self, targets: list[Any], output_gradients: Tensor | list[Tensor] | np.ndarray | str | None
    ) -> list[Tensor] | None:
        """What each target is weighed with, `None` for ones."""
        if output_gradients is None:
            return None
        given = nest.flatten(output_gradients)
        if len(given) != len(targets):
            raise at_site(
                ValueError(
                    f"gradient: `output_gradients` must match the targets; got {len(given)} for "
                    f"{len(targets)} targets."
                )
            )
        seeds = []
        for g, t in zip(given, targets, strict=True):
            if g is not None and not isinstance(g, IndexedSlices):
                g = operand(g, None, t.dtype)  # the seed as a tensor
                if g.shape.rank == 0 and t.shape.rank:
                    g = broadcast_to(g, t._array.shape)
                gradient_values.check_dtype(g, t, "gradient")
                gradient_values.check_shape(g, t, "gradient")
            seeds.append(g)
        return seeds

    def _differentiate(
        self, targets: list[Any], seeds: list[Any] | None, sources: list[Any], release: bool
    ) -> list[Any]:
        """Gradients for a flat list of sources, `None` where there is no path."""
        ids = list(map(_number, sources))
        wanted = set(ids)
        needed = None if wanted.issuperset(self._roots) else self._needed(wanted)
        grads = _starts(targets, seeds)
        backward.walk(self._entries, grads, wanted, needed, self._complex, release)
        return list(map(grads.get, ids))

    def _needed(self, wanted: set[int]) -> set[int]:
        """The ids that lie on a path from some source."""
        needed = set(wanted)
        for entry in self._entries:
            if len(entry) == SHORT:
                if entry[2] in needed or entry[3] in needed:
                    needed.add(entry[4])
            elif not needed.isdisjoint(entry[2]):
                if entry[9] is None:
                    needed.add(entry[3])
                else:
                    needed.update(entry[3])
        return needed

    def _answer(
        self, gradients: list[Any], values: list[Value], targets: list[Value], mode: UnconnectedGradients,
        evidence: history.Evidence | None, site: Any,
    ) -> None:  # fmt: skip
        """Puts the answer for unconnected sources into `gradients`, and says why there are any."""
        missing = [i for i, g in enumerate(gradients) if g is None]
        if mode is UnconnectedGradients.ZERO:
            for i in missing:
                gradients[i] = zeros_like(values[i])
        elif missing:
            without = [values[i] for i in missing]
            if evidence is not None:
                ids = frozenset([v._id for v in without])
                self._evidence = evidence._replace(missing=ids)
            if evidence is not None or history.went_well(site):
                history.UNCONNECTED.call(self, targets, without, mode, site)

    def explain(self, target: Tensor, sources: Value | float | list[Variable]) -> Report:
        """Why the gradient of `target` is `None` for some of `sources`: a report, by cause.

        Ask before `gradient`, which frees what the tape knows, or right after it.
        """
        targets = [
            arguments.asked("explain", t, TypeError, "target") for t in arguments.leaves(target)
        ]
        values = [arguments.asked("explain", s, TypeError) for s in arguments.leaves(sources)]
        return history.EXPLAIN.call(self, targets, values)

    def memory_report(self) -> MemoryReport:
        """What the tape keeps alive for its gradients, by line and operation."""
        return history.MEMORY_REPORT.call(self)

    def jacobian(
        self,
        target: Tensor,
        sources: Value | dict[str, Tensor],
        unconnected_gradients: UnconnectedGradients = UnconnectedGradients.NONE,
        parallel_iterations: Any = None,
        experimental_use_pfor: bool = True,
    ) -> Any:
        """All derivatives of each element of `target`: shape `target.shape + source.shape`.

        Args:
            target: one tensor.
            sources: tensors or variables, alone or in a structure.
            unconnected_gradients: "none", "zero" or "error".
            parallel_iterations: without effect.
            experimental_use_pfor: with `False` rows are computed one by one, which takes less
                memory.

        Returns:
            For each source a tensor of shape `target.shape + source.shape`, or `None` without a
            path.

        Raises:
            RuntimeError: the tape was used already, or never recorded.

        >>> x = tf.Variable([1.0, 2.0])
        >>> with tf.GradientTape() as tape:
        ...     y = x * x
        >>> tape.jacobian(y, x).numpy().tolist()
        [[2.0, 0.0], [0.0, 4.0]]
        """
        given = target, sources, unconnected_gradients, experimental_use_pfor
        if OBSERVERS:
            return observed("gradient", _asked, self, "jacobian", *given)
        return self._jacobian(*given)

    def _jacobian(
        self, target: Any, sources: Any, unconnected_gradients: Any, use_pfor: bool
    ) -> Any:
        mode = arguments.mode(unconnected_gradients)
        compute = lambda t, values: jacobian.jacobian(self, t, values, use_pfor)
        zeros = jacobian.zeros if mode is UnconnectedGradients.ZERO else None
        flat = nest.flatten(sources)
        result = self._derivatives("jacobian", target, flat, mode, compute, zeros)
        return nest.pack_sequence_as(sources, result)

    def _derivatives(
        self,
        what: str,
        target: Any,
        sources: list[Any],
        mode: UnconnectedGradients,
        compute: Callable[[Any, list[Any]], list[Any]],
        zeros: Callable[[Any, Any], Tensor] | None,
    ) -> list[Any]:
        """Jacobians of one target by a list of sources; `zeros` makes those that are `None`."""
        self._check_use(what)
        self._close()
        asked = [arguments.asked(what, s, TypeError) for s in sources]
        asked.insert(0, arguments.asked(what, target, TypeError, "target"))
        target, *values = arguments.met(self._tracked, asked)
        site = sites.caller(0)
        evidence = history.before(self, site, mode)
        started = new_id()
        try:
            result = compute(target, values)
        finally:
            self._finish(site, started)
        if zeros is not None:
            pairs = zip(result, values, strict=True)
            result = [zeros(target, v) if j is None else j for j, v in pairs]
        self._answer(result, values, [target], mode, evidence, site)
        return result

    def batch_jacobian(
        self,
        target: Any,
        source: Any,
        unconnected_gradients: UnconnectedGradients = UnconnectedGradients.NONE,
        parallel_iterations: Any = None,
        experimental_use_pfor: bool = True,
    ) -> Gradient:
        """Derivatives of each example of `target` by the same example of `source`.

        Args:
            target: a tensor of examples, of rank 2 or more.
            source: the tensor they were made of, with as many examples.
            unconnected_gradients: "none", "zero" or "error".
            parallel_iterations: without effect.
            experimental_use_pfor: with `False` rows are computed one by one, which takes less
                memory.

        Returns:
            A tensor `[batch, *target.shape[1:], *source.shape[1:]]`, or `None` without a path.

        Raises:
            RuntimeError: the tape was used already, or never recorded.
            ValueError: the numbers of examples differ, or a rank is below 2.

        >>> x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
        >>> with tf.GradientTape() as tape:
        ...     tape.watch(x)
        ...     y = x * x
        >>> tape.batch_jacobian(y, x).numpy().tolist()
        [[[2.0, 0.0], [0.0, 4.0]], [[6.0, 0.0], [0.0, 8.0]]]
        """
        mode = arguments.mode(unconnected_gradients)
        one = lambda t, v: [jacobian.batch_jacobian(self, t, v[0], experimental_use_pfor)]
        zeros = None if mode is UnconnectedGradients.ERROR else jacobian.batch_zeros
        return self._derivatives("batch_jacobian", target, [source], mode, one, zeros)[0]


def _asked(tape: GradientTape, what: str, *given: Any) -> Any:
    """What observers of gradients stand around."""
    return tape._gradient(*given) if what == "gradient" else tape._jacobian(*given)


def _starts(targets: list[Tensor], seeds: list[Tensor | None] | None) -> gradient_values.Grads:
    """The gradients that the walk begins with, by the id of their targets."""
    grads: gradient_values.Grads = {}
    for k, t in enumerate(targets):
        if t._array.dtype.num not in dtypes.INEXACT:
            _log.debug("gradient: a target of dtype %s has no gradient.", t.dtype.name)
            continue
        g = None if seeds is None else seeds[k]
        if g is None:
            # Ones are constants to outer tapes, also where they are made of sizes in a graph.
            g = (
                run_under(outside(), ones_like, t)
                if isinstance(t, SymbolicTensor)
                else wrap(gradient_values.ones(t._array))
            )
        key = t._id
        grads[key] = gradient_values.accumulate(grads[key], g) if key in grads else g
    return grads


def _pull(function: Any, inputs: list[Tensor], seeds: list[Tensor]) -> list[Gradient]:
    """The gradients of a Python function of tensors; zeros where there is no path."""
    fresh = [identity(x) for x in inputs]
    with GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(fresh)
        result = function(*fresh)
    return tape.gradient(list(result), fresh, seeds, UnconnectedGradients.ZERO)


late.PULL.fill(_pull)

__all__ = ["GradientTape", "UnconnectedGradients"]

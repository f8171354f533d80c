"""`GradientTape`: records operations on watched tensors and differentiates them.

A tape names tensors by id and keeps only what the gradient rules read. It belongs to the thread
that opened it; asynchronous tasks started inside its `with` record on it, a closed tape ignores
them. Nothing here refers back to the tape, so dropping it frees everything at once.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import get_ident
from typing import Any

import numpy as np

from wengert.core import dtypes, nest, sites
from wengert.core.apply import wrap
from wengert.core.context import add_listener, building_graph, remove_listener
from wengert.core.convert import Hooks, operand
from wengert.core.errors import at_site, coded
from wengert.core.indexed_slices import IndexedSlices
from wengert.core.op import Op, Spec
from wengert.core.symbolic import is_symbolic, shape_to_keep
from wengert.core.tensor import Tensor, Value, new_id
from wengert.core.variable import Variable
from wengert.ops.create import ones_like, zeros_like
from wengert.ops.shaping import STOP_GRADIENT, broadcast_to, identity
from wengert.tape import arguments, attempts, backward, history, jacobian
from wengert.tape.arguments import UnconnectedGradients

_ONE: dict[int, np.ndarray] = {}
_log = logging.getLogger("wengert")


class GradientTape:
    """Records what happens inside its `with` block, for differentiation afterwards.

    >>> x = tf.constant(3.0)
    >>> with tf.GradientTape() as tape:
    ...     tape.watch(x)
    ...     y = x * x
    >>> tape.gradient(y, x).numpy()
    6.0
    """

    differentiates = True  # other listeners only look on

    def __init__(self, persistent: bool = False, watch_accessed_variables: bool = True) -> None:
        self._persistent = persistent
        self._watch_accessed = watch_accessed_variables
        self._live = 0  # the thread that records, 0 while none does
        self._thread = 0
        self._used: Any = None
        self._events: list[tuple[int, int, Any, int]] = []
        self._past: tuple[history.Step, ...] = ()
        self._evidence: history.Evidence | None = None
        self._clear()

    def _clear(self) -> None:
        self._entries: list[Any] = []
        self._tracked: set[int] = set()
        self._roots: set[int] = set()
        self._variables: dict[int, Any] = {}
        self._cuts: list[history.Step] = []
        self._complex = False

    # Recording.

    def __enter__(self) -> GradientTape:
        if self._live:
            raise coded(
                ValueError(
                    "GradientTape: the tape is already recording. Leave the inner `with` out, or "
                    "make a second tape."
                ),
                "WG404",
            )
        frame = sys._getframe(1)
        code = frame.f_code
        user = sites.USER.get(code.co_filename)
        self._start(history.OPENED, (code, frame.f_lasti) if user else sites.find(frame))
        return self

    def __exit__(self, *exc: object) -> None:
        if self._live:
            self._stop(history.CLOSED)

    def _start(self, event: int, site: Any = None) -> None:
        if self._used is not None:
            self._clear()
            self._events.clear()
            self._used = self._evidence = None
        self._live = self._thread = get_ident()
        self._events.append((new_id(), event, site, 0))
        add_listener(self)

    def _stop(self, event: int, site: Any = None) -> None:
        self._live = 0
        self._events.append((new_id(), event, site, 0))
        remove_listener(self)

    def record(self, op: Op, inputs: Any, outputs: Any, attrs: dict[str, Any], site: Any) -> None:
        """Notes an operation if it used something watched (called by `apply`)."""
        if get_ident() != self._live:
            return
        if len(inputs) == 1 == op.outputs and not attrs and op.rules and op.holomorphic:
            self._record1(op, inputs[0], outputs[0], site)
            return
        tracked = self._tracked
        key = 0
        bit = 1
        for x in inputs:
            if x._id in tracked or (type(x) is not Tensor and self._accessed(x)):
                key |= bit
            bit <<= 1
        if not key:
            return
        key |= bit
        plan = op.plans.get(key) or op.plan(key)
        if plan.cut:
            self._begin(op, inputs, outputs, site)
            return
        kept = plan.inputs
        if kept is not None:
            kept = tuple(
                [
                    (x if type(x) is Tensor else _present(x)) if keep else None
                    for x, keep in zip(inputs, kept, strict=True)
                ]
            )
        shapes = plan.shapes
        if shapes is not None:
            found = [shape_to_keep(x) for x in inputs]
            if op.broadcasts and bit == 4 and found[0] == found[1]:
                shapes = None
            else:
                shapes = tuple(found)
        specs = None
        if op.outputs == 1:
            out = outputs[0]
            ids: Any = out._id
            if attrs or not op.holomorphic:  # others keep the dtype of their tracked inputs
                dtype = out._array.dtype
                if dtype.num not in dtypes.INEXACT:
                    self._cuts.append(history.cut(op, inputs, outputs, site))
                    return
                self._complex = self._complex or dtype.kind == "c"
            tracked.add(ids)
        else:
            ids = tuple([o._id for o in outputs])
            specs = tuple([Spec(shape_to_keep(o), dtypes.of(o._array)) for o in outputs])
            for o, s in zip(outputs, specs, strict=True):
                if s.dtype.is_differentiable:
                    tracked.add(o._id)
                    self._complex = self._complex or s.dtype.is_complex
        self._entries.append(
            (
                op,
                plan,
                tuple([x._id for x in inputs]),
                ids,
                kept,
                outputs if plan.outs else None,
                shapes,
                attrs,
                site,
                specs,
                None,
            )
        )

    def _record1(self, op: Op, x: Any, out: Any, site: Any) -> None:
        """`record` for one tensor without attributes, where the result has its dtype."""
        number = x._id
        if number not in self._tracked and (type(x) is Tensor or not self._accessed(x)):
            return
        plan = op.plans.get(3) or op.plan(3)
        if plan.cut:
            self._begin(op, (x,), (out,), site)
            return
        out_id = out._id
        self._tracked.add(out_id)
        keep, _, keep_out = plan.keep2
        self._entries.append(
            (
                op,
                plan,
                number,
                backward.NO_ID,
                out_id,
                (x if type(x) is Tensor else _present(x)) if keep else None,
                None,
                out if keep_out else None,
                None if plan.shapes is None else (shape_to_keep(x),),
                site,
            )
        )

    def record2(self, op: Op, x: Any, y: Any, out: Any, site: Any) -> None:
        """`record` for two tensors without attributes, the commonest case by far."""
        if get_ident() != self._live:
            return
        tracked = self._tracked
        i = x._id
        j = y._id
        key = 4
        if i in tracked or (type(x) is not Tensor and self._accessed(x)):
            key = 5
        if j in tracked or (type(y) is not Tensor and self._accessed(y)):
            key += 2
        if key == 4:
            return
        try:
            plan = op.plans[key]
        except KeyError:
            plan = op.plan(key)
        if plan.cut:
            self._begin(op, (x, y), (out,), site)
            return
        shapes: Any = plan.shapes
        if shapes is not None:
            shapes = x._array.shape
            other = y._array.shape
            shapes = None if shapes == other else (shapes, other)
        out_id = out._id
        tracked.add(out_id)
        keep_x, keep_y, keep_out = plan.keep2
        self._entries.append(
            (
                op,
                plan,
                i,
                j,
                out_id,
                (x if type(x) is Tensor else _present(x)) if keep_x else None,
                (y if type(y) is Tensor else _present(y)) if keep_y else None,
                out if keep_out else None,
                shapes,
                site,
            )
        )

    def _begin(self, op: Op, inputs: Any, outputs: Any, site: Any) -> None:
        """Follows what an operation without gradient made of watched tensors.

        Nothing flows through it, but its results are beginnings that a user may ask about. Only
        what `stop_gradient` gives is a plain constant.
        """
        self._cuts.append(history.cut(op, inputs, outputs, site))
        for out in outputs:
            if op is not STOP_GRADIENT and out._array.dtype.num in dtypes.INEXACT:
                self._root(out)

    def follows(self, values: Any) -> bool:
        """Whether an operation on these values would be recorded."""
        if get_ident() != self._live:
            return False
        found = [
            x._id in self._tracked or (type(x) is not Tensor and self._accessed(x)) for x in values
        ]
        return any(found)

    # Watching.

    def watch(self, tensor: Any) -> None:
        """Follows tensors (any nest of them) from here on."""
        for one in nest.flatten(tensor):
            self._watch(arguments.present(arguments.asked("watch", one, ValueError)))

    def _watch(self, value: Any) -> None:
        self._events.append((new_id(), history.WATCHED, sites.caller(1), value._id))
        if isinstance(value, Variable):
            self._variables[value._id] = value
        if value.dtype.is_differentiable:
            self._root(value)
        else:
            sites.warn(
                f"watch: dtype {value.dtype.name} has no gradient, so this tensor is not "
                f"followed. Cast it to a float type."
            )

    def _root(self, value: Any) -> None:
        """Follows a floating or complex value from here on."""
        self._tracked.add(value._id)
        self._roots.add(value._id)
        self._complex = self._complex or value._array.dtype.kind == "c"

    def _accessed(self, variable: Any) -> bool:
        """Follows a trainable variable from its first read on; tells whether it is one."""
        if not (isinstance(variable, Variable) and self._watch_accessed and variable._trainable):
            return False
        number = variable._id
        self._variables[number] = variable
        kind = variable._dtype.kind
        if kind not in "fc":
            return False
        self._tracked.add(number)
        self._roots.add(number)
        self._complex = self._complex or kind == "c"
        return True

    def watched_variables(self) -> tuple[Any, ...]:
        """The variables followed so far, in the order of their creation."""
        return tuple(v for _, v in sorted(self._variables.items()))

    @contextmanager
    def stop_recording(self) -> Iterator[None]:
        """Pauses the tape for a block."""
        if not self._live:
            kind = ValueError if self._thread else RuntimeError
            raise at_site(kind("stop_recording: the tape is not recording."))
        self._stop(history.STOPPED, sites.caller(0))
        try:
            yield
        finally:
            self._start(history.RESUMED)

    def reset(self) -> None:
        """Forgets everything recorded so far, as if the tape were opened anew."""
        if not self._live:
            raise at_site(ValueError("reset: the tape is not recording."))
        history.forget(self)
        self._clear()
        self._events.append((new_id(), history.RESET, sites.caller(0), 0))

    # Differentiating.

    def gradient(
        self,
        target: Any,
        sources: Any,
        output_gradients: Any = None,
        unconnected_gradients: Any = UnconnectedGradients.NONE,
    ) -> Any:
        """The gradient of `target` with respect to each of `sources`, in their structure.

        Several targets, or a target that is not a scalar, are summed; `output_gradients` are
        weights of that sum. Where there is no path the answer is `None`, or zeros with
        `unconnected_gradients="zero"`, or an error with `"error"`.
        """
        mode = arguments.mode(unconnected_gradients)
        self._check_use("gradient")
        self._close()
        _, targets = arguments.all_asked("gradient", target, "target")
        flat, values = arguments.all_asked("gradient", sources)
        graph = building_graph()
        if graph is not None:
            targets = arguments.met(self._tracked, targets)
            values = arguments.met(self._tracked, values)
        seeds = self._seeds(targets, output_gradients)
        site = sites.caller(0)
        evidence = history.before(self, site, mode)
        started = new_id()
        try:
            release = not self._persistent and graph is None
            found = self._differentiate(targets, seeds, values, release)
        finally:
            self._finish(site, started)
        for g in found:
            if g is None:
                self._answer(found, values, targets, mode, evidence, site)
                break
        else:
            if evidence is not None:
                history.after(site, True)
        if isinstance(sources, Value):
            return found[0]
        if flat is sources:
            return found
        return nest.pack_sequence_as(sources, arguments.regrouped(flat, found))

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
        attempts.used(self, "_used", "_entries", "_tracked", "_roots", "_cuts", "_complex")
        self._used = site
        variables = self._variables
        self._clear()
        self._variables = variables

    def _seeds(self, targets: list[Any], output_gradients: Any) -> list[Any]:
        if output_gradients is None:
            return [None] * len(targets)
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
                backward.check_dtype(g, t, "gradient")
                backward.check_shape(g, t, "gradient")
            seeds.append(g)
        return seeds

    def _differentiate(
        self, targets: list[Any], seeds: list[Any], sources: list[Any], release: bool
    ) -> list[Any]:
        """Gradients for a flat list of sources, `None` where there is no path."""
        grads: dict[int, Any] = {}
        for t, seed in zip(targets, seeds, strict=True):
            if t._array.dtype.num not in dtypes.INEXACT:
                _log.debug("gradient: a target of dtype %s has no gradient.", t.dtype.name)
                continue
            g = _first(t) if seed is None else seed
            old = grads.get(t._id)
            grads[t._id] = g if old is None else backward.accumulate(old, g)
        wanted = {s._id for s in sources}
        needed = None if wanted >= self._roots else self._needed(wanted)
        backward.walk(
            self._entries, len(self._entries), grads, wanted, needed, self._complex, release
        )
        return [grads.get(s._id) if s._array.dtype.num in dtypes.INEXACT else None for s in sources]

    def _needed(self, wanted: set[int]) -> set[int]:
        """The ids that lie on a path from some source."""
        needed = set(wanted)
        for entry in self._entries:
            if len(entry) == backward.SHORT:
                if entry[2] in needed or entry[3] in needed:
                    needed.add(entry[4])
            elif not needed.isdisjoint(entry[2]):
                if entry[9] is None:
                    needed.add(entry[3])
                else:
                    needed.update(entry[3])
        return needed

    def _answer(
        self, found: list[Any], values: list[Any], targets: list[Any], mode: UnconnectedGradients,
        evidence: history.Evidence | None, site: Any,
    ) -> None:  # fmt: skip
        """Puts the answer for unconnected sources into `found`, and says why there are any."""
        missing = [i for i, g in enumerate(found) if g is None]
        if mode is UnconnectedGradients.ZERO:
            for i in missing:
                found[i] = zeros_like(values[i])
        elif missing:
            without = [values[i] for i in missing]
            if evidence is not None:
                ids = frozenset([v._id for v in without])
                self._evidence = evidence._replace(missing=ids)
            if evidence is not None or history.went_well(site):
                history.Hooks.module().unconnected(self, targets, without, mode, site)

    def explain(self, target: Any, sources: Any) -> Any:
        """Why the gradient of `target` is `None` for some of `sources`: a report, by cause.

        Ask before `gradient`, which frees what the tape knows, or right after it.
        """
        targets = [
            arguments.asked("explain", t, TypeError, "target") for t in arguments.leaves(target)
        ]
        values = [arguments.asked("explain", s, TypeError) for s in arguments.leaves(sources)]
        return history.Hooks.module().explain(self, targets, values)

    def memory_report(self) -> Any:
        """What the tape keeps alive for its gradients, by line and operation."""
        return history.Hooks.module().memory_report(self)

    def jacobian(
        self,
        target: Any,
        sources: Any,
        unconnected_gradients: Any = UnconnectedGradients.NONE,
        parallel_iterations: Any = None,
        experimental_use_pfor: bool = True,
    ) -> Any:
        """All derivatives of each element of `target`: shape `target.shape + source.shape`."""
        mode = arguments.mode(unconnected_gradients)
        self._check_use("jacobian")
        self._close()
        target = arguments.asked("jacobian", target, TypeError, "target")
        values = [arguments.asked("jacobian", s, TypeError) for s in nest.flatten(sources)]
        target, *values = arguments.met(self._tracked, [target, *values])
        site = sites.caller(0)
        evidence = history.before(self, site, mode)
        started = new_id()
        try:
            found = jacobian.jacobian(self, target, values, experimental_use_pfor)
        finally:
            self._finish(site, started)
        if mode is UnconnectedGradients.ZERO:
            pairs = zip(found, values, strict=True)
            found = [jacobian.zeros(target, v) if j is None else j for j, v in pairs]
        self._answer(found, values, [target], mode, evidence, site)
        return nest.pack_sequence_as(sources, found)

    def batch_jacobian(
        self,
        target: Any,
        source: Any,
        unconnected_gradients: Any = UnconnectedGradients.NONE,
        parallel_iterations: Any = None,
        experimental_use_pfor: bool = True,
    ) -> Any:
        """Derivatives of each example of `target` by the same example of `source`."""
        mode = arguments.mode(unconnected_gradients)
        self._check_use("batch_jacobian")
        self._close()
        target = arguments.asked("batch_jacobian", target, TypeError, "target")
        value = arguments.asked("batch_jacobian", source, TypeError)
        target, value = arguments.met(self._tracked, [target, value])
        site = sites.caller(0)
        evidence = history.before(self, site, mode)
        started = new_id()
        try:
            result = jacobian.batch_jacobian(self, target, value, experimental_use_pfor)
        finally:
            self._finish(site, started)
        if result is None and mode is not UnconnectedGradients.ERROR:
            return jacobian.batch_zeros(target, value)
        self._answer([result], [value], [target], mode, evidence, site)
        return result


def _present(value: Any) -> Any:
    """What to keep of an input: for a variable its present value."""
    return value._snapshot() if isinstance(value, Variable) else value


def _first(target: Any) -> Any:
    """The gradient of a target by itself."""
    return ones_like(target) if is_symbolic(target) else wrap(_ones(target._array))


def _ones(like: np.ndarray) -> np.ndarray:
    """Ones in the shape of an array; a scalar, as most losses are, is made once."""
    if like.ndim:
        return np.ones(like.shape, like.dtype)
    found = _ONE.get(like.dtype.num)
    if found is None:
        found = _ONE[like.dtype.num] = np.ones((), like.dtype)
    return found


def _pull(function: Any, inputs: list[Any], seeds: list[Any]) -> list[Any]:
    """The gradients of a Python function of tensors; zeros where there is no path."""
    fresh = [identity(x) for x in inputs]
    with GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(fresh)
        found = function(*fresh)
    return tape.gradient(list(found), fresh, seeds, UnconnectedGradients.ZERO)


Hooks.pull = _pull

__all__ = ["GradientTape", "UnconnectedGradients"]

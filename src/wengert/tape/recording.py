"""What a tape writes down: operations on watched tensors, while its `with` block is open.

A tape names tensors by id and keeps only what the gradient rules read. It belongs to the thread
that opened it; asynchronous tasks started inside its `with` record on it, a closed tape ignores
them. Nothing here refers back to the tape, so dropping it frees everything at once. What is done
with the entries is for `gradient_tape` and `backward` to know.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import get_ident
from typing import Any, Self

from wengert.core import dtypes, sites
from wengert.core.context import add_listener, get_state, remove_listener
from wengert.core.errors import at_site, coded
from wengert.core.sites import SEEN
from wengert.core.symbolic import shape_to_keep
from wengert.core.tensor import new_id
from wengert.core.types import Listener, Op, RawSite, ShapeDtype, Tensor, Value, Variable
from wengert.ops.shaping import STOP_GRADIENT
from wengert.tape import arguments, history
from wengert.tape.entries import NO_ID

_FLOAT = dtypes.float32.np


class Recorder(Listener):
    """The recording half of `GradientTape`."""

    differentiates = is_tape = True

    def __init__(self, persistent: bool = False, watch_accessed_variables: bool = True) -> None:
        self._persistent = persistent
        self._watch_accessed = watch_accessed_variables
        self._live = 0  # the thread that records, 0 while none does
        self._thread = 0
        self._pauses = False  # whether a block of `stop_recording` may start it again
        self._used: Any = None
        self._events: list[tuple[int, int, Any, int]] = []
        self._past: tuple[history.Step, ...] = ()
        self._evidence: history.Evidence | None = None
        self._clear()

    def _clear(self) -> None:
        self._entries: list[Any] = []
        self._tracked: set[int] = set()
        self._roots: dict[int, Any] = {}  # what is followed from its start: a variable, or `None`
        self._cuts: list[history.Step] = []
        self._complex = False

    def __repr__(self) -> str:
        kind = "persistent GradientTape" if self._persistent else "GradientTape"
        if not self._thread:
            return f"<{kind}: never opened>"
        state = "recording" if self._live else "closed"
        if self._used is not None:
            state = f"asked at {sites.locate(self._used).place}"  # type: ignore[union-attr]  # a site
        followed = f"follows {len(self._roots)} variables and tensors"
        return f"<{kind}: {state}, {len(self._entries)} operations, {followed}>"

    # Recording.

    def __enter__(self) -> Self:
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
        site = (code, frame.f_lasti) if code is SEEN.code else sites.find(frame)
        self._start(history.OPENED, site)
        return self

    def __exit__(self, *exc: object) -> None:
        try:
            self._pauses = False
            if self._live:
                self._stop(history.CLOSED)
        except BaseException:  # of a signal's handler
            self._live = 0
            remove_listener(self)
            raise

    def _start(self, event: int, site: RawSite | None = None) -> None:
        if self._used is not None:
            self._clear()
            self._events.clear()
            self._used = self._evidence = None
        self._live = self._thread = get_ident()
        self._events.append((new_id(), event, site, 0))
        try:
            add_listener(self)
        except BaseException:  # of a signal's handler: the block does not begin
            self._live = 0
            remove_listener(self)
            raise

    def _stop(self, event: int, site: RawSite | None = None) -> None:
        self._live = 0
        self._events.append((new_id(), event, site, 0))
        remove_listener(self)

    def record(
        self,
        op: Op,
        inputs: Any,
        outputs: tuple[Tensor, ...],
        attrs: dict[str, Any],
        site: RawSite | None,
    ) -> None:
        """Notes an operation if it used something watched (called by `apply`)."""
        if get_ident() != self._live:
            return
        if len(inputs) == 1 == op.outputs and op.rules:
            self.record1(op, inputs[0], outputs[0], site, attrs)
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
                    (x if type(x) is Tensor else x._snapshot()) if keep else None
                    for x, keep in zip(inputs, kept, strict=True)
                ]
            )
        shapes = plan.shapes
        if shapes is not None:
            results = [shape_to_keep(x) for x in inputs]
            if op.broadcasts and bit == 4 and results[0] == results[1]:
                shapes = None
            else:
                shapes = tuple(results)
        specs = None
        if op.outputs == 1:
            out = outputs[0]
            ids: Any = out._id
            if (attrs or not op.holomorphic) and not self._carries(op, inputs, out, site):
                return
            tracked.add(ids)
        else:
            ids = tuple([o._id for o in outputs])
            specs = tuple([ShapeDtype(shape_to_keep(o), dtypes.of(o._array)) for o in outputs])
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

    def _carries(
        self, op: Op, inputs: tuple[Value, ...], out: Tensor, site: RawSite | None
    ) -> bool:
        """Whether a gradient can come back through a result whose dtype may be another.

        That of most operations, without attributes, is the dtype of their tracked inputs.
        """
        dtype = out._array.dtype
        if dtype.num not in dtypes.INEXACT:
            self._cuts.append(history.cut(op, inputs, (out,), site))
            return False
        self._complex = self._complex or dtype.kind == "c"
        return True

    def record1(self, op: Op, x: Any, out: Tensor, site: Any, attrs: Any) -> None:
        """`record` for one tensor."""
        if get_ident() != self._live:
            return
        if not op.rules:
            self.record(op, (x,), (out,), attrs, site)
            return
        number = x._id
        if number not in self._tracked and (type(x) is Tensor or not self._accessed(x)):
            return
        try:
            plan = op.plans[3]
        except KeyError:
            plan = op.plan(3)
        if plan.cut:
            self._begin(op, (x,), (out,), site)
            return
        if (
            (attrs or not op.holomorphic)
            and out._array.dtype is not _FLOAT
            and not self._carries(op, (x,), out, site)
        ):
            return
        out_id = out._id
        self._tracked.add(out_id)
        keep, _, keep_out = plan.keep2
        shapes: Any = plan.shapes
        if shapes is not None:
            shapes = x._array.shape if type(x) is Tensor else shape_to_keep(x)
            if plan.one is None:
                shapes = (shapes,)
        x = (x if type(x) is Tensor else x._snapshot()) if keep else None
        kept = out if keep_out else None
        self._entries.append((op, plan, number, NO_ID, out_id, x, attrs, kept, shapes, site))

    def record2(self, op: Op, x: Any, y: Any, out: Tensor, site: RawSite) -> None:
        """`record` for two tensors without attributes; infix operators say the same themselves."""
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
        try:
            plan = op.plans[key]
        except KeyError:
            plan = op.plan(key)
        if plan.cut:
            if key != 4:
                self._begin(op, (x, y), (out,), site)
            return
        shapes: Any = None
        sizes = plan.sizes
        if sizes:
            shapes = (y if sizes == 2 else x)._array.shape
            if sizes == 3:
                other = y._array.shape
                shapes = None if shapes == other else (shapes, other)
        number = out._id
        self._tracked.add(number)
        keep_x, keep_y, keep_out = plan.keep2
        x = (x if type(x) is Tensor else x._snapshot()) if keep_x else None
        y = (y if type(y) is Tensor else y._snapshot()) if keep_y else None
        kept = (out if keep_out is True else keep_out.take(out)) if keep_out else None
        self._entries.append((op, plan, i, j, number, x, y, kept, shapes, site))

    def _begin(
        self, op: Op, inputs: tuple[Value, ...], outputs: tuple[Tensor, ...], site: Any
    ) -> None:
        """Follows what an operation without gradient made of watched tensors.

        Nothing flows through it, but its results are beginnings that a user may ask about. Only
        what `stop_gradient` gives is a plain constant.
        """
        self._cuts.append(history.cut(op, inputs, outputs, site))
        for out in outputs:
            if op is not STOP_GRADIENT and out._array.dtype.num in dtypes.INEXACT:
                self._root(out)

    def lost(self, sources: tuple[int, ...], constant: Tensor, site: RawSite) -> None:
        """Notes a constant whose value NumPy made of what is followed."""
        if get_ident() == self._live and not self._tracked.isdisjoint(sources):
            self._cuts.append(history.left(sources, constant, site))
            self._root(constant)  # so that the tape knows what is made of it

    def follows(self, values: list[Value] | tuple[Value, ...]) -> bool:
        """Whether an operation on these values would be recorded."""
        if get_ident() != self._live:
            return False
        results = [
            x._id in self._tracked or (type(x) is not Tensor and self._accessed(x)) for x in values
        ]
        return any(results)

    # Watching.

    def watch(self, tensor: Any) -> None:
        """Follows tensors (any nest of them) from here on.

        Args:
            tensor: a tensor or variable, or several in a structure.

        Returns:
            Nothing.

        Raises:
            ValueError: one of them is neither.

        >>> x = tf.constant(3.0)
        >>> with tf.GradientTape() as tape:
        ...     tape.watch(x)
        ...     y = x * x
        >>> float(tape.gradient(y, x)) == 6.0
        True
        """
        for one in arguments.leaves(tensor):
            self._watch(arguments.present(arguments.asked("watch", one, ValueError)))

    def _watch(self, value: Value) -> None:
        self._events.append((new_id(), history.WATCHED, sites.caller(1), value._id))
        if isinstance(value, Variable):
            self._roots[value._id] = value
        if value.dtype.is_differentiable:
            self._root(value)
        else:
            sites.warn(
                f"watch: dtype {value.dtype.name} has no gradient, so this tensor is not "
                f"followed. Cast it to a float type."
            )

    def _root(self, value: Value) -> None:
        """Follows a floating or complex value from here on."""
        self._tracked.add(value._id)
        self._roots.setdefault(value._id)
        self._complex = self._complex or value._array.dtype.kind == "c"

    def _accessed(self, variable: Any) -> bool:
        """Follows a trainable variable from its first read on; tells whether it is one."""
        if not (isinstance(variable, Variable) and self._watch_accessed and variable._trainable):
            return False
        number = variable._id
        self._roots[number] = variable
        kind = variable._dtype.kind
        if kind != "f":
            if kind != "c":
                return False
            self._complex = True
        self._tracked.add(number)
        return True

    def watched_variables(self) -> tuple[Variable, ...]:
        """The variables followed so far, in the order of their creation."""
        return tuple([v for _, v in sorted(self._roots.items()) if v is not None])

    @contextmanager
    def stop_recording(self) -> Iterator[None]:
        """Pauses the tape for a block; no effect where it does not record: in another thread, or
        a context that began outside its `with`.
        """
        if not self._live:
            kind = ValueError if self._thread else RuntimeError
            raise at_site(kind("stop_recording: the tape is not recording."))
        state = get_state()
        here = self._live == get_ident() and state is not None and self in state.listeners
        try:
            if here:
                self._pauses = True
                self._stop(history.STOPPED, sites.caller(0))
            yield
        finally:
            # The handler of a signal may keep the block from ending before the tape does.
            if here and self._pauses:
                self._start(history.RESUMED)

    def reset(self) -> None:
        """Forgets everything recorded so far, as if the tape were opened anew."""
        if not self._live:
            raise at_site(ValueError("reset: the tape is not recording."))
        history.forget(self)
        self._clear()
        self._events.append((new_id(), history.RESET, sites.caller(0), 0))

"""Looking for NaN and infinity: `tf.debugging.enable_check_numerics` and `explain.nan`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from wengert.core import nest, sites
from wengert.core.context import (
    Listener,
    add_listener,
    executing_eagerly,
    get_state,
    remove_listener,
)
from wengert.core.errors import InvalidArgumentError, at_site, coded
from wengert.core.observers import subscribe, unsubscribe
from wengert.core.process_settings import PROCESS
from wengert.core.types import Op, RawSite, Tensor, TensorLike, Value, Variable
from wengert.explain import findings
from wengert.explain.event_recorder import History, watching
from wengert.explain.explanation import Explanation
from wengert.explain.insides import Inspection, Inspector, note_gradient
from wengert.explain.numerics import Numerics, finite
from wengert.tape.gradient_tape import GradientTape

if TYPE_CHECKING:
    from wengert.explain.numerics import Bad


class Checker(Listener):
    """A listener that raises at the first operation whose result is not finite."""

    everywhere = True

    def __init__(self) -> None:
        self.numerics = Numerics()
        self.functions = _FunctionChecker()

    def record(
        self,
        op: Op,
        inputs: tuple[Value, ...],
        outputs: tuple[Tensor, ...],
        attrs: dict[str, tuple[int, ...]],
        site: RawSite,
    ) -> None:
        ids, outs = tuple([x._id for x in inputs]), tuple([o._id for o in outputs])
        state = get_state()
        backward = state is not None and state.site is not None
        given, made = [x._array for x in inputs], [o._array for o in outputs]
        bad = self.numerics.check(op, given, made, ids, outs, site, backward, inputs)
        if bad is None or op.moves:  # TensorFlow lets those pass too
            return
        numerics, self.numerics = self.numerics, Numerics()
        tensor = next(o for o in outputs if not finite(o._array))
        result = numerics.explain(tensor, f"the result of {op.name}")
        if result is not None:
            raise _error(bad, result)


def _error(bad: Bad, found: Explanation) -> Exception:
    error = InvalidArgumentError(
        None,
        None,
        f"check_numerics: {found.cause}; the inputs are {' and '.join(bad.ranges)}. {found.remedy}",
    )
    error = coded(at_site(error, bad.site), found.code)
    error.explanation = found
    return error


class _FunctionChecker(Inspector):
    """Raises for what comes out of a traced function, or of a gradient that went through one.

    In contexts without a `Checker` it lets everything pass.
    """

    def __init__(self) -> None:
        super().__init__(_numerics)

    def run(self, proceed: Any, trace: Any, leaves: Any, site: Any) -> Any:
        return _checked(super().run(proceed, trace, leaves, site))

    def inspected(self, inspection: Inspection) -> None:
        for origin, explanation in inspection.explain():
            raise _error(origin, explanation)

    def gradient(self, proceed: Any, tape: GradientTape, what: str, *given: Any) -> Tensor:
        return _checked(note_gradient(proceed, tape, what, *given))


def _numerics() -> Numerics | None:
    return next((x.numerics for x in _present()), None)


def _checked(answer: Tensor) -> Tensor:
    numerics = _numerics() if executing_eagerly() else None
    for value in nest.flatten(answer) if numerics is not None else ():
        tensor = getattr(value, "values", value)
        if numerics is not None and isinstance(tensor, Value) and not finite(tensor._array):
            result = numerics.explain(tensor, "the result")
            bad = numerics.at(tensor._id)
            if result is not None and bad is not None:
                raise _error(bad.origin, result)
    return answer


def _present() -> list[Checker]:
    state = get_state()
    return [x for x in (state.listeners if state else ()) if isinstance(x, Checker)]


def enable_check_numerics(stack_height_limit: int = 30, path_length_limit: int = 50) -> None:
    """Raises `InvalidArgumentError` at the first operation whose result has NaN or infinity.

    Forward and backward, in this thread, until `disable_check_numerics`. The limits are accepted
    for compatibility; the message names the user's line whatever they are.

    Args:
        stack_height_limit, path_length_limit: without effect.

    Returns:
        Nothing.

    Raises:
        InvalidArgumentError: from then on, an operation gives NaN or infinity.

    >>> tf.debugging.enable_check_numerics()
    >>> try:
    ...     tf.math.log(-1.0)
    ... except tf.errors.InvalidArgumentError:
    ...     print("found")
    found
    >>> tf.debugging.disable_check_numerics()
    """
    if not _present():
        checker = Checker()
        subscribe(checker.functions)
        add_listener(checker)


def disable_check_numerics() -> None:
    """Ends what `enable_check_numerics` began; harmless if it did not."""
    for checker in _present():
        remove_listener(checker)
        unsubscribe(checker.functions)


def nan(f: Callable[..., Any], *args: TensorLike, **kwargs: Any) -> Explanation | None:
    """Runs `f` and explains the first NaN or infinity it meets, forward or backward.

    Where `f` computes no gradients itself, those of its floating results with respect to its
    floating arguments and the variables it reads are computed too. `None` if all is finite.
    """
    result = _run(f, args, kwargs, sites.caller(0))
    findings.add([] if result is None else [result])
    return result


def _run(
    f: Callable[..., Any],
    args: tuple[Tensor, ...] | tuple[TensorLike, ...],
    kwargs: Any,
    asked: Any,
) -> Explanation | None:
    seen = History()
    with watching(seen), run_eagerly(), GradientTape(persistent=True) as tape:
        tensors = [x for x in nest.flatten((args, kwargs)) if isinstance(x, Value)]
        tape.watch([x for x in tensors if x.dtype.is_differentiable])
        results = [y for y in nest.flatten(f(*args, **kwargs)) if isinstance(y, Value)]
        with tape.stop_recording():
            result = _first(seen, results, "the result", asked)
            if result is not None:
                return result
            sources = [*tensors, *tape.watched_variables()]
            targets = [y for y in results if y.dtype.is_differentiable]
            sources = [s for s in sources if s.dtype.is_differentiable]
            if not targets or not sources:
                return None
            grads = tape.gradient(targets, sources, unconnected_gradients="zero")
            for source, g in zip(sources, grads, strict=True):
                name = (
                    f"variable `{source.name}`" if isinstance(source, Variable) else "an argument"
                )
                result = _first(seen, [g], f"the gradient of {name}", asked)
                if result is not None:
                    return result
    return None


@contextmanager
def run_eagerly() -> Iterator[None]:
    """Runs traced functions operation by operation inside the block."""
    before, PROCESS.runs_eagerly = PROCESS.runs_eagerly, True
    try:
        yield
    finally:
        PROCESS.runs_eagerly = before


def _first(
    seen: History, values: list[Tensor] | list[Value], what: str, asked: RawSite
) -> Explanation | None:
    """The explanation for the first of these values that is not finite."""
    assert seen.numerics is not None, "made with numerics"
    for v in values:
        value = getattr(v, "values", v)
        if not finite(value._array):
            return seen.numerics.explain(value, what, asked)
    return None

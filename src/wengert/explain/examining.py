"""All detectors at once: what `wengert doctor` and the pytest option switch on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from wengert.core import nest, sites
from wengert.core.observers import Observer, observing
from wengert.core.sites import exactly
from wengert.core.tensor import Tensor, Value
from wengert.explain import findings
from wengert.explain.codes import CODES
from wengert.explain.event_recorder import History, watching
from wengert.explain.explanation import Explanation, Report, reason
from wengert.explain.findings import Findings
from wengert.explain.insides import note_gradient
from wengert.explain.memory import memory_report, size
from wengert.explain.numerics import finite, site_key
from wengert.explain.places import known, place
from wengert.explain.replicas import Replicas
from wengert.explain.tracing import Functions
from wengert.tape import history

if TYPE_CHECKING:
    from wengert.tape.gradient_tape import GradientTape


LARGE = 1 << 20  # bytes that are worth a word


@dataclass
class Kept:
    """The persistent tapes of one line: how often one was asked, and how much one kept."""

    site: Any
    asked: int = 0
    bytes: int = 0


class Tapes:
    """How often persistent tapes are asked, and how much they keep."""

    def __init__(self) -> None:
        self._kept: dict[Any, Kept] = {}
        self._counts: WeakKeyDictionary[Any, int] = WeakKeyDictionary()

    def asked(self, tape: GradientTape) -> None:
        """Notes that a tape is asked for a gradient."""
        if not tape._persistent or not tape._events:
            return
        count = self._counts[tape] = self._counts.get(tape, 0) + 1
        site = tape._events[0][2]
        kept = self._kept.setdefault(site_key(site), Kept(site))
        kept.asked = max(kept.asked, count)
        if count == 1:
            kept.bytes = max(kept.bytes, memory_report(tape).bytes)

    def wasteful(self) -> list[Explanation]:
        """Lines whose tapes are persistent, asked once, and large."""
        return [
            reason(
                "WG411",
                f"the tape is asked once, but persistent=True makes it keep {size(kept.bytes)} "
                f"until it is dropped",
                *known(place(kept.site, "opened here")),
                remedy="Leave persistent=True out, or `del` the tape when it has been asked.",
                certain=False,
            )
            for kept in self._kept.values()
            if kept.asked == 1 and kept.bytes >= LARGE
        ]


class Doctor:
    """What a block did wrong, as far as it can be told."""

    def __init__(self) -> None:
        self.findings = Findings(History())
        self.tapes = Tapes()
        self.functions = Functions(self.findings)
        self.replicas = Replicas(self.findings)
        self.gradients = _Gradients(self)

    def examine(self, error: BaseException) -> list[Explanation]:
        """Takes in what an error that ended the program says, and tells it."""
        names = {e.code for e in self.findings.all()}
        result = [e for e in examine(error) if e.code != "WG405" or e.code not in names]
        self.findings.add(result)
        return result

    def report(self) -> Report:
        """The findings so far."""
        return Report([*self.findings.all(), *self.tapes.wasteful()], "Nothing found.")


@contextmanager
def doctor() -> Iterator[Doctor]:
    """Runs a block with all detectors on.

    >>> with tf.explain.doctor() as found:
    ...     y = tf.square(3.0)
    >>> y.numpy().item()
    9.0
    """
    self = Doctor()
    before, hooks = findings.begin(self.findings), history.Taking
    earlier = hooks.always, hooks.written_down
    hooks.always, hooks.written_down = True, True
    try:
        with ExitStack() as stack:
            stack.enter_context(exactly())
            stack.enter_context(watching(self.findings.history))
            stack.enter_context(observing(self.gradients))
            stack.enter_context(observing(self.functions))
            stack.enter_context(observing(self.replicas))
            yield self
    except BaseException as error:
        self.examine(error)
        raise
    finally:
        findings.begin(before)
        hooks.always, hooks.written_down = earlier


def examine(error: BaseException) -> list[Explanation]:
    """What an error that carries a code says, as an explanation."""
    code = getattr(error, "code", None)
    if not isinstance(code, str) or code not in CODES:
        return []
    made = getattr(error, "explanation", None)
    if made is not None:
        return [made]
    text = str(error)
    cause, _, remedy = text.partition(". ")
    places = [place(getattr(error, "site", None) or sites.raised_at(error), "raised here")]
    label = "made here" if code == "WG405" else "first here"
    places += [place(s, label) for s in getattr(error, "related", ())]
    return [reason(code, cause.rstrip("."), *known(*places), remedy=remedy)]


class _Gradients(Observer):
    """Looks for numbers that are not finite in the targets and results of `gradient`."""

    def __init__(self, doctor: Doctor) -> None:
        self._doctor = doctor

    def gradient(
        self, proceed: Any, tape: GradientTape, what: str, *given: Any
    ) -> Tensor | list[Tensor | None] | None:
        if what != "gradient":
            return proceed(tape, what, *given)
        asked = sites.caller(0)
        self._doctor.tapes.asked(tape)
        answer = note_gradient(proceed, tape, what, *given)
        if not self._look("the target", given[0], asked):
            self._look("a gradient", answer, asked)
        return answer

    def _look(self, what: str, values: Any, asked: Any) -> bool:
        """Adds the reason for the first value that is not finite; whether there is one."""
        result, numerics = self._doctor.findings, self._doctor.findings.history.numerics
        for value in nest.flatten(values):
            tensor = getattr(value, "values", value)
            if isinstance(tensor, Value) and not finite(tensor._array):
                reason = numerics.explain(tensor, what, asked)
                result.add([reason or numerics.unexplained(what, asked)])
                return True
        return False

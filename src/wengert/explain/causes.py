"""The reasons why a gradient is `None`, in words: one method for each code.

`Telling` knows who asked about what, and how the user calls things; which reason holds is decided
elsewhere.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from wengert.core.sites import RawSite, Site, locate
from wengert.core.types import Tensor, Value, Variable
from wengert.explain import clock, paths, source
from wengert.explain.explanation import Explanation, Place, reason
from wengert.explain.naming import Names
from wengert.explain.places import known, place
from wengert.ops.shaping import STOP_GRADIENT
from wengert.tape.history import Evidence, Step

if TYPE_CHECKING:
    from wengert.tape.history import Event


WHEN = {
    clock.AFTER: "WG105",
    clock.BEFORE: "WG106",
    clock.PAUSED: "WG107",
    clock.FORGOTTEN: "WG108",
}

_SMOOTH = "Use a differentiable operation, or state a gradient with tf.custom_gradient."


@dataclass
class Telling:
    """One question: why does no gradient flow from these targets to this source?"""

    tape: Any
    evidence: Evidence
    targets: list[Any]
    source: Any
    names: Names
    asked: RawSite | None
    steps: paths.Makers
    complete: bool = False  # whether `steps` holds all that happened
    before: bool | None = None  # whether an earlier call from the same line went well
    calls: dict[Any, Any] = field(default_factory=dict)  # the graphs of calls, by their results

    # The source.

    def _never_watched(self, before: bool = False) -> Explanation:
        word = self._word(self.source)
        watch = f"Call `{self._watch()}` inside the `with` block, before it is used."
        keep = (
            " If it was a variable before, change that by `assign`: `=` puts a tensor in its place."
        )
        return self._reason(
            "WG101",
            f"{word} is a plain tensor; a tape follows one only when told to",
            place(self.source._site, f"{word} is made here"),
            self._begun(),
            remedy=watch + keep if before else watch,
        )

    def _watches_nothing(self) -> Explanation:
        return self._reason(
            "WG104",
            f"the tape was made with watch_accessed_variables=False and not told to watch "
            f"{self._word(self.source)}",
            self._begun(),
            place(self._made(self.source), "the variable is made here"),
            remedy=f"Call `{self._watch()}`, or leave watch_accessed_variables=False out.",
        )

    def _not_trainable(self) -> Explanation:
        return self._reason(
            "WG103",
            f"{self._word(self.source)} has trainable=False, so the tape does not follow it by "
            f"itself",
            place(self._made(self.source), "the variable is made here"),
            remedy=f"Call `{self._watch()}`, or make the variable trainable.",
        )

    def _watch_forgotten(self, reset: Event) -> Explanation:
        return self._reason(
            "WG108",
            f"the reset forgot that {self._word(self.source)} was watched",
            place(reset.site, "the tape was reset here"),
            remedy=f"Call `{self._watch()}` again after the reset.",
        )

    def _late_watch(self, event: Event, used: Any, certain: bool) -> Explanation:
        word = self._word(self.source)
        return self._reason(
            "WG102",
            f"{word} was used before `{self.names.tape(self.tape)}.watch` was called for it; a "
            f"tape follows a tensor from then on",
            place(used, "used here, not watched yet"),
            place(event.site, "watched here"),
            remedy="Move the call of `watch` up, before the first use.",
            certain=certain,
        )

    def _whole(self, value: Value, role: str) -> Explanation:
        made = value._site if isinstance(value, Tensor) else self._made(value)
        return self._reason(
            "WG112",
            f"the {role} {self._word(value)} has dtype {value.dtype.name}, which has no gradient",
            place(made, f"dtype {value.dtype.name}"),
            remedy=f"Make it a float, with tf.cast({self.names.code(value)}, tf.float32) or a "
            f"decimal point in its value.",
        )

    # When and by whom something was computed.

    def _when(self, state: str, event: Any, site: RawSite, word: str, **rest: Any) -> Explanation:
        tape = self.names.tape(self.tape)
        label, cause, remedy = {
            clock.AFTER: (
                "computed here, after the tape had closed",
                f"{word} was computed after the tape had closed, so the tape has not seen it",
                "Compute it inside the `with` block.",
            ),
            clock.BEFORE: (
                "computed here, before the tape was opened",
                f"{word} was computed before the tape was opened, so the tape has not seen it",
                "Compute it inside the `with` block.",
            ),
            clock.PAUSED: (
                "computed here, while the tape was paused",
                f"{word} was computed inside `{tape}.stop_recording()`",
                "Compute it outside that block.",
            ),
            clock.FORGOTTEN: (
                "computed here, before the reset",
                f"{word} was computed before `{tape}.reset()`, which forgot it",
                "Compute it after the reset, or leave the reset out.",
            ),
        }[state]
        what = {clock.PAUSED: "paused here", clock.FORGOTTEN: "the tape was reset here"}
        return self._reason(
            WHEN[state],
            cause,
            place(site, label),
            place(event.site, what[state]) if state in what and event else None,
            self._begun(),
            remedy=remedy,
            **rest,
        )

    def _elsewhere(self, site: RawSite, word: str, other: str, **rest: Any) -> Explanation:
        return self._reason(
            "WG109",
            f"{word} was recorded on `{other}`, and this is another tape",
            place(site, f"recorded on `{other}` here"),
            remedy=f"Ask `{other}`, or compute it while this tape is open too.",
            **rest,
        )

    def _late_task(self, site: RawSite, word: str, **rest: Any) -> Explanation:
        return self._reason(
            "WG111",
            f"{word} was computed by a task that went on after the tape had closed",
            place(site, "computed here, after the tape had closed"),
            self._begun(),
            remedy="Await the task inside the `with` block.",
            **rest,
        )

    def _thread(self, site: Any, word: str, **rest: Any) -> Explanation:
        return self._reason(
            "WG110",
            f"{word} was computed in another thread; a tape belongs to the thread that opened it",
            place(site, "computed here, in another thread"),
            remedy="Open a tape in that thread and return its gradients, or compute here.",
            **rest,
        )

    def _other_task(self, site: Any, word: str, **rest: Any) -> Explanation:
        return self._reason(
            "WG110",
            f"{word} was computed by a task that was started before the tape was opened; the "
            f"tape does not hear it",
            place(site, "computed here, in another task"),
            remedy="Start the task inside the `with` block.",
            **rest,
        )

    # What lies in the way.

    def _cut(self, step: Step, **rest: Any) -> Explanation:
        if step.op is STOP_GRADIENT:
            return self._stopped(step.site, **rest)
        if step.whole:
            return self._reason(
                "WG112",
                f"{step.name} turns the value into integers or booleans, which have no gradient",
                place(step.site, "no longer a float here"),
                remedy="Stay in floats on the way to the target; round only for display.",
                **rest,
            )
        return self._reason(
            "WG116",
            f"the operation {step.name} has no gradient",
            place(step.site, f"{step.name}: no gradient passes here"),
            remedy=(step.op and step.op.instead) or _SMOOTH,
            **rest,
        )

    def _stopped(self, site: Any, **rest: Any) -> Explanation:
        return self._reason(
            "WG115",
            "`tf.stop_gradient` makes a constant of what it is given",
            place(site, "no gradient passes here"),
            remedy="Leave it out, or differentiate with respect to something behind it.",
            **rest,
        )

    def _carried(self, kind: str, site: Any, text: str, **rest: Any) -> Explanation:
        if kind == "assign":
            return self._reason(
                "WG114",
                f"`{text}` stores a value in a variable, and no gradient flows through that",
                place(site, "stored here"),
                remedy="Use the tensor itself on the way to the target, and assign afterwards.",
                **rest,
            )
        if kind == "frozen":
            return self._reason(
                "WG119",
                f"the value of `{text}` became a constant when the function was traced",
                place(site, "frozen here"),
                remedy="Pass the tensor or variable itself; it is read in every call.",
                **rest,
            )
        return self._reason(
            "WG113",
            f"`{text}` takes the value out of the tensors; what is made of it is a constant",
            place(site, "leaves the tensors here"),
            remedy="Use the `tf.` operation of the same meaning on the tensor itself.",
            **rest,
        )

    def _answered_none(self, edge: paths.Edge, **rest: Any) -> Explanation:
        function = edge.step.user
        return self._reason(
            "WG117",
            f"the gradient function of `{function}` returned None for argument {edge.place}",
            place(edge.step.site, f"`{function}` is called here"),
            remedy="Return a gradient for every argument that needs one.",
            **rest,
        )

    # Nothing in the way.

    def not_taken(self, branch: Site | None = None) -> Explanation:
        """A branch is told by the text, or by an earlier call that had a gradient."""
        word = self._word(self.source)
        if branch is None:
            cause = (
                f"an earlier call from this line had a gradient for {word}, this one has none: a "
                f"branch or loop that uses it was not taken"
            )
        else:
            cause = f"{word} is used only in a branch or loop, which was not taken"
        return self._reason(
            "WG118",
            cause,
            place(branch, "not taken"),
            place(self.asked, "asked here"),
            remedy='Use unconnected_gradients="zero" if that is as it should be.',
            certain=False,
        )

    def branch_around(self) -> Site | None:
        """The branch or loop in which a variable is used, if it is used nowhere else."""
        if not isinstance(self.source, Variable):
            return None
        name, asked = self.names.python(self.source), locate(self.asked)
        if name is None or asked is None or self.source._id in self.evidence.tracked:
            return None
        owner = type(self.names.value(name.partition(".")[0]))
        module = getattr(sys.modules.get(owner.__module__), "__file__", None)
        for file in dict.fromkeys([asked.file, *filter(None, [module])]):
            result = source.only_in_branches(file, name, asked)
            if result is not None:
                return result
        return None

    def _independent(self) -> Explanation:
        word = self._word(self.source)
        unread = isinstance(self.source, Variable) and self.source._id not in self.evidence.tracked
        cause = (
            f"{word} was not read while the tape recorded"
            if unread
            else f"nothing that {self._word(self.targets[0])} was made from came from {word}"
        )
        return self._reason(
            "WG120",
            cause,
            place(self.asked, "asked here"),
            place(getattr(self.targets[0], "_site", None), "the target is made here"),
            remedy='Use it on the way to the target, or ask with unconnected_gradients="zero".',
            certain=self.complete,
        )

    # Words.

    def _reason(
        self, code: str, cause: str, *sites: Place | None, remedy: str, reached: tuple[int, Step | None] | None = None,
        certain: bool = True, details: Any = None,
    ) -> Explanation:  # fmt: skip
        asked = place(self.asked, "asked here")
        back = None
        facts: dict[str, Any] = {"source": self._word(self.source)}
        if reached is not None:
            count, step = reached
            facts["operations_passed"] = count
            if step is not None:
                back = place(step.site, "the gradient comes back as far as this")
        return reason(
            code, cause, *known(*sites, back, asked), remedy=remedy, details=facts, certain=certain
        )

    def _begun(self) -> Place | None:
        start = clock.opened(self.evidence)
        return None if start is None else place(start.site, "the tape was opened here")

    def _watch(self) -> str:
        return f"{self.names.tape(self.tape)}.watch({self.names.code(self.source)})"

    def _word(self, value: Value) -> str:
        return self.names.of(value)

    def _named(self, number: int, step: Step) -> str:
        tensor = self.names.tensor(number)
        return f"the result of {step.name}" if tensor is None else self._word(tensor)

    def _made(self, variable: Variable | Value) -> Site | None:
        """Where a variable is made, found in the text by its Python name."""
        name, asked = self.names.python(variable), self.asked
        where = locate(asked)
        return source.made(where.file, name, where.line) if name and where else None

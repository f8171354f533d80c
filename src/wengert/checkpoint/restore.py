"""Restores the values of a checkpoint file into the objects of a program.

A restoration first finds out which value belongs to which object, then checks and reads all of
them, and only then assigns: what does not fit is an error, and nothing is changed. Values whose
objects are not there yet wait until they are attached as an attribute of an object that is, or
used for the first time in a list or dict (see `deferred_restore`).
"""

from __future__ import annotations

import logging
import sys
import weakref
from collections import deque
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from wengert.checkpoint.deferred_restore import expect, resolve
from wengert.checkpoint.format import Reader
from wengert.checkpoint.object_graph import VARIABLE, Node, leading_to, path_of, walk
from wengert.checkpoint.trackable import (
    Trackable,
    children,
    is_trackable,
    is_unmade,
    takes_tensors,
    variable_of,
)
from wengert.core.apply import wrap
from wengert.core.context import State, restoring, using
from wengert.core.dtypes import as_dtype
from wengert.core.errors import DataLossError, InvalidArgumentError, at_site, describe
from wengert.core.interrupts import uninterrupted
from wengert.core.types import TensorShape, Variable
from wengert.io.paths import refused

if TYPE_CHECKING:
    from wengert.checkpoint.checkpoint import Checkpoint
    from wengert.checkpoint.object_graph import Walk


_SHOWN = 5


class _Match(NamedTuple):
    """The result of matching the file with the objects: which object takes which values."""

    visited: list[tuple[int, Any]]
    taken: set[int]
    variables: list[tuple[Variable, str]]
    unmade: list[tuple[Any, str]]
    others: list[tuple[Any, dict[str, str]]]


class Restoration:
    """The values of one file on their way to the objects of a program."""

    def __init__(self, name: str, path: str) -> None:
        self._name = name
        self.reader = Reader(name, path)
        if self.reader.nodes is None:
            rule = "this file was not written by tf.train.Checkpoint"
            advice = "Read its tensors with tf.train.load_checkpoint(path)."
            raise refused(name, rule, self.reader.path, advice, DataLossError)
        self.nodes: list[Node] = self.reader.nodes
        self.partial = False
        self.waiting = {i for i, node in enumerate(self.nodes) if node.values}
        self.matches = 0
        self._restored: dict[int, weakref.ref[Any]] = {}
        # Lists and dicts that wait for elements: their owner, their name there, and their node.
        self._containers: dict[tuple[int, str], tuple[weakref.ref[Any], str, int]] = {}

    @property
    def open(self) -> bool:
        """Whether values still wait for their objects."""
        return bool(self.waiting)

    def names(self, node: int) -> set[str]:
        """The names of a node's children."""
        return set(self.nodes[node].children)

    def has(self, x: Any) -> bool:
        """Whether an object got its values from this file."""
        cached = self._restored.get(id(x))
        return cached is not None and cached() is x

    def offer(self, node: int, name: str, value: Any) -> bool:
        """Restores an attribute that is about to be set, if its values still wait here."""
        child = node if self._unmade(node, name) else self.nodes[node].children.get(name)
        if child is None or not self.waiting or not is_trackable(value):
            return False
        if child not in leading_to(self.nodes, self.waiting):
            return False
        return bool(self.run(child, value)) or is_unmade(value)

    def _unmade(self, node: int, name: str) -> bool:
        """Whether an attribute is the inner variable of a Keras variable, which is made late."""
        return name == "_value" and VARIABLE in self.nodes[node].values

    @restoring
    def run(self, node: int, x: Any, only: Variable | None = None) -> int:
        """Restores all that is found from an object on; says how many objects got values.

        With `only`, nothing but that variable is given a value.
        """
        match = self._match(node, x, only)
        self._check(match)
        arrays = [self.reader.read(key) for _, key in match.variables]
        with using(State()):  # at once, even while a function is traced
            self._give(match, arrays)
        self.waiting -= match.taken
        self.matches += len(match.visited) - (node == 0)
        for taker, _ in (*match.variables, *match.others):
            self._restored[id(taker)] = weakref.ref(taker)
        self._wait(match)
        return len(match.taken)

    def look_again(self, variable: Variable) -> bool:
        """Restores a new variable if it was put into a list or dict that waits for it."""
        if not any(self._suits(variable, i) for i in self.waiting):
            return False
        for ref, name, node in list(self._containers.values()):
            owner = ref()
            held = None if owner is None else children(owner).get(name)
            if held is not None and self.run(node, held, variable):
                return True
        return False

    def _suits(self, variable: Variable, node: int) -> bool:
        key = self.nodes[node].values.get(VARIABLE)
        return key is not None and _fits(variable, self.reader.entries[key])

    def _match(self, start: int, x: Any, only: Variable | None) -> _Match:
        result = _Match([], set(), [], [], [])
        queue: deque[tuple[int, Any]] = deque([(start, x)])
        seen: set[int] = set()
        while queue:
            number, x = queue.popleft()
            if number in seen:
                continue
            seen.add(number)
            result.visited.append((number, x))
            if number in self.waiting and (only is None or variable_of(x) is only):
                self._take(result, number, x)
            own = children(x)
            for name, child in self.nodes[number].children.items():
                if name in own:
                    queue.append((child, own[name]))
        return result

    def _take(self, match: _Match, number: int, x: Any) -> None:
        """Gives the values of a node to an object that takes such; the first value wins."""
        values = self.nodes[number].values
        variable = variable_of(x)
        taker = x if variable is None else variable
        fits = set(values) == {VARIABLE} if variable is not None else takes_tensors(x)
        if is_unmade(x) and VARIABLE in values:
            match.unmade.append((x, values[VARIABLE]))
        if not fits:
            return
        match.taken.add(number)
        if self.has(taker) or any(taker is t for t, _ in (*match.variables, *match.others)):
            return
        if variable is not None:
            match.variables.append((variable, values[VARIABLE]))
        else:
            match.others.append((x, values))

    def _check(self, match: _Match) -> None:
        wrong: list[str] = []
        for variable, key in (*match.variables, *match.unmade):
            entry = self.reader.entries[key]
            if not _fits(variable, entry):
                wrong.append(
                    f"{path_of(key)} is {describe(entry)} in the file and {describe(variable)} in "
                    f"variable {variable.name!r}"
                )
        if wrong:
            more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
            rule = f"values and variables must have the same shape and dtype: {wrong[0]}{more}"
            advice = "Nothing was changed. Build the program that wrote the checkpoint."
            raise refused(self._name, rule, self.reader.path, advice, InvalidArgumentError)

    @uninterrupted
    def _give(self, match: _Match, arrays: list[Any]) -> None:
        self._give_others(match)
        for (variable, _), array in zip(match.variables, arrays, strict=True):
            variable.assign(array)

    def _give_others(self, match: _Match) -> None:
        undo: list[tuple[Any, Any]] = []
        for x, values in match.others:
            given = {n: wrap(np.asarray(self.reader.read(key))) for n, key in values.items()}
            undo.append((x, x._serialize_to_tensors()))
            try:
                x._restore_from_tensors(given)
            except BaseException:
                for y, before in undo:
                    y._restore_from_tensors(before)
                raise

    def _wait(self, match: _Match) -> None:
        """Registers the values that wait with the objects to which their owners may be attached."""
        if not self.waiting:
            self.reader.close()
            return
        leading = leading_to(self.nodes, self.waiting)
        for number, x in match.visited:
            if number not in leading or not isinstance(x, Trackable):
                continue
            if self.nodes[number].children or is_unmade(x):
                x._await(self, number)
            own = children(x)
            for name, child in self.nodes[number].children.items():
                if child in leading and isinstance(own.get(name), list | dict):
                    self._containers[number, name] = (weakref.ref(x), name, child)
        if self._containers:
            expect(self)

    def paths_waiting(self) -> list[str]:
        """The paths of the values that nobody took."""
        return sorted(path_of(k) for i in self.waiting for k in self.nodes[i].values.values())

    def __del__(self) -> None:
        waiting = getattr(self, "waiting", None)
        if waiting and not self.partial and not sys.is_finalizing():
            logging.getLogger("wengert").warning(
                "restore: %s of the values in %s were never used: %s. Call expect_partial() on "
                "what restore() returns if that is right.",
                len(waiting), self.reader.path, _some(self.paths_waiting()),
            )  # fmt: skip


def _fits(variable: Variable, entry: Any) -> bool:
    """Whether a variable, or a variable of Keras, may hold a value of the file."""
    same = as_dtype(variable.dtype) is entry.dtype
    return same and TensorShape(variable.shape).is_compatible_with(entry.shape)


def _some(names: list[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more


class CheckpointLoadStatus:
    """The status of a restore, with assertions about it."""

    def __init__(self, restoration: Restoration, root: Checkpoint) -> None:
        self._restoration = restoration
        self._root = root

    def assert_consumed(self) -> CheckpointLoadStatus:
        """Raises `AssertionError` unless every value of the file and every variable was matched."""
        self._settle()
        waiting = self._restoration.paths_waiting()
        if waiting:
            raise _unmatched(
                "assert_consumed",
                f"{len(waiting)} values in {self._restoration.reader.path} have no object here: "
                f"{_some(waiting)}",
            )
        return self.assert_existing_objects_matched()

    def assert_existing_objects_matched(self) -> CheckpointLoadStatus:
        """Raises `AssertionError` unless every variable that is there now got a value."""
        result = self._settle()
        missing = [
            path_of(next(iter(node.values.values())))
            for node, x in zip(result.nodes, result.objects, strict=True)
            if node.values and not self._restoration.has(x)
        ]
        if missing:
            raise _unmatched(
                "assert_existing_objects_matched",
                f"{len(missing)} objects have no value in {self._restoration.reader.path}: "
                f"{_some(sorted(missing))}",
            )
        return self

    def _settle(self) -> Walk:
        """All objects, when those that nobody has used yet have looked for their values."""
        result = walk(self._root)
        for x in result.objects:
            variable = variable_of(x)
            if variable is not None:
                resolve(variable)
        return result

    def assert_nontrivial_match(self) -> CheckpointLoadStatus:
        """Raises `AssertionError` if nothing but the root was matched."""
        if not self._restoration.matches and children(self._root):
            raise _unmatched(
                "assert_nontrivial_match",
                f"nothing in {self._restoration.reader.path} has a counterpart here",
            )
        return self

    def expect_partial(self) -> CheckpointLoadStatus:
        """Says that values which nobody takes are no mistake, so that nothing is logged."""
        self._restoration.partial = True
        return self

    def initialize_or_restore(self, session: Any = None) -> None:
        """Looks again, from the root, for objects whose values still wait.

        Attributes get their values when they are set, and variables in lists and dicts when they
        are first used; this is for variables that were used before they were put there, and
        overwrites what they hold.
        """
        if self._restoration.open:
            self._restoration.run(0, self._root)

    run_restore_ops = initialize_or_restore


class InitializationOnlyStatus:
    """The status of `restore(None)`: nothing was restored."""

    def assert_consumed(self) -> Any:
        """Raises `AssertionError`."""
        raise _unmatched("assert_consumed", "no checkpoint was given to restore")

    def assert_existing_objects_matched(self) -> Any:
        """Raises `AssertionError`."""
        raise _unmatched("assert_existing_objects_matched", "no checkpoint was given to restore")

    def assert_nontrivial_match(self) -> Any:
        """Raises `AssertionError`."""
        raise _unmatched("assert_nontrivial_match", "no checkpoint was given to restore")

    def run_restore_ops(self, session: Any = None) -> None:
        """Raises `AssertionError`."""
        raise _unmatched("run_restore_ops", "no checkpoint was given to restore")

    def expect_partial(self) -> InitializationOnlyStatus:
        """Nothing to expect."""
        return self

    def initialize_or_restore(self, session: Any = None) -> None:
        """Variables have their first values already."""


def _unmatched(name: str, text: str) -> AssertionError:
    return at_site(AssertionError(f"{name}: {text}."))

"""What the comparisons of a candidate did in its launches, and which of them are its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import TypeAlias

from ci.backend.sim import SimulatorBackend, SimulatorBuild
from ci.judge.gate_subject import Standard
from ci.judge.loop_guards import loop_guards
from ci.judge.reference import empty_like
from ci.model.decision import Decision
from ci.model.errors import InputError, TrialFailure
from ci.model.launch import Tensors
from ci.model.workload import WorkloadCase

Key: TypeAlias = tuple[str, int, str, int, int]
"""File and line, then what tells comparisons of a line apart."""


@dataclass
class Watched:
    """A build whose comparisons are seen, and what they saw, by case."""

    standard: Standard
    build: SimulatorBuild
    seen: dict[Key, Decision] = field(default_factory=dict)
    """All launches together."""
    by_case: dict[Key, list[tuple[WorkloadCase, Decision]]] = field(default_factory=dict)
    launched: set[str] = field(default_factory=set)
    """Cases of which something was seen."""
    in_full: set[str] = field(default_factory=set)
    """Cases that were launched, the host side being only a part of that."""
    failed: set[str] = field(default_factory=set)
    """Cases whose launch failed, so that nothing is known of the kernel's comparisons."""

    @staticmethod
    def of(standard: Standard, files: dict[str, str]) -> Watched | None:
        """None on a backend that cannot see comparisons. Raises TrialFailure."""
        if not isinstance(standard.backend, SimulatorBackend):
            return None
        build = standard.backend.built(standard.operator, files, standard.workload, "watched")
        return Watched(standard, build)

    def launch(self, case: WorkloadCase) -> dict[Key, Decision]:
        """What was compared in a launch, kernel and host; {} when it fails."""
        seed = self.standard.workload.seeds[0]
        self.in_full.add(case.name)
        try:
            right = self.standard.references.of(case, seed)
            run = self.build.run(case, right.inputs, empty_like(right.outputs), seed=seed)
        except TrialFailure:
            self.failed.add(case.name)
            return self.ask(case)
        except InputError:
            return {}
        return self._add(case, run.decisions)

    def ask(self, case: WorkloadCase) -> dict[Key, Decision]:
        """What the host side compared; costs no launch."""
        try:
            inputs: Tensors | None = None
            if self.build.value_inputs:
                inputs = self.standard.references.of(case, self.standard.workload.seeds[0]).inputs
            return self._add(case, self.build.host_decisions(case, inputs, None))
        except (TrialFailure, InputError):
            return {}

    def _add(self, case: WorkloadCase, found: Iterable[Decision]) -> dict[Key, Decision]:
        mine: dict[Key, Decision] = {}
        for one in found:
            key = (one.file, one.line, one.unit, one.site, one.branch)
            mine[key] = mine[key].also(one) if key in mine else one
        for key, one in mine.items():
            self.seen[key] = self.seen[key].also(one) if key in self.seen else one
            self.by_case.setdefault(key, []).append((case, one))
        self.launched.add(case.name)
        return mine

    def both_ways(self, key: Key) -> bool:
        """Whether a comparison went both ways, in any program that is built of its line."""
        return any(self.seen[k].both_ways or self._stepped(k) for k in self._alike(key))

    def _stepped(self, key: Key) -> bool:
        """Whether a step gave several results, or its operand is always the same."""
        if not self.seen[key].is_step or self.seen[key].is_case:
            return False
        pairs = [pair for _, one in self.by_case[key] for pair in (one.below, one.above) if pair]
        pairs += [(one.same, one.same) for _, one in self.by_case[key] if one.same is not None]
        results = {max(a // b, 0.0) if b else a for a, b in pairs}
        return len(results) > 1 or len({a for a, _ in pairs}) < 2

    def _alike(self, key: Key) -> Iterator[Key]:
        """The comparison in each program that has as many of them on the line."""
        units: dict[str, list[Key]] = {}
        for other in sorted(self.seen):
            if other[:2] == key[:2]:
                units.setdefault(other[2], []).append(other)
        mine = units[key[2]]
        for found in units.values():
            if len(found) == len(mine):
                yield found[mine.index(key)]

    def bounds(self, key: Key) -> tuple[set[float], set[float]]:
        """All values that each operand was seen with."""
        first, second = set[float](), set[float]()
        for _, one in self.by_case.get(key, ()):
            for pair in (one.below, one.above):
                if pair is not None:
                    first.add(pair[0])
                    second.add(pair[1])
            if one.same is not None:
                first.add(one.same)
                second.add(one.same)
        return first, second


def line_map(before: str, after: str) -> dict[int, int]:
    """Map each line of `after` that is also one of `before` to its number there;
    from 1."""
    old, new = before.splitlines(), after.splitlines()
    found = {}
    for a, b, size in SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks():
        found.update({b + n + 1: a + n + 1 for n in range(size)})
    return found


def own_decisions(
    now: Watched, before: Watched, changed: dict[str, str]
) -> tuple[list[Key], list[Key]]:
    """The comparisons of changed lines, and those of others that are decided otherwise: that went
    both ways before and no longer do, or that are held against another constant. Guards of a loop's
    first round are none (`loop_guards`).

    Launches `before` on what took `now` to lines that it was not seen on yet.
    """
    standard = now.standard
    lines = {
        file: line_map(standard.operator.read(file), text)
        for file, text in changed.items()
        if file in standard.operator.sources
    }
    guards = {file: loop_guards(standard.operator.read(file), changed[file]) for file in lines}
    texts = standard.operator.texts(changed)
    length = {file: len(text.splitlines()) for file, text in texts.items()}
    new, other = [], []
    for key in now.seen:
        file, line = key[:2]
        if not 1 <= line <= length.get(file, 0):
            continue  # what the compiler made itself
        step = now.seen[key].is_step
        if file in lines and line not in lines[file]:
            if line not in guards[file] and not (step and now.both_ways(key)):
                new.append(key)
            continue
        if step or now.both_ways(key):
            continue
        place = file, lines[file][line] if file in lines else line
        _reach(now, key, before, place)
        if _differs(now, key, before, place):
            other.append(key)
    return new, other


def _reach(now: Watched, key: Key, before: Watched, place: tuple[str, int]) -> None:
    """Launch `before` on a case that took `now` to a comparison, until it gets there, too: a kernel
    of another dtype may compare with another constant on that line."""
    of_the_host = place[0] in before.standard.operator.host_sources
    for case, _ in now.by_case[key]:
        if of_the_host and case.name not in before.launched:
            before.ask(case)
        elif not of_the_host and case.name not in before.in_full:
            before.launch(case)
        if _alike(now, key, before, place):
            return


def _alike(now: Watched, key: Key, before: Watched, place: tuple[str, int]) -> list[Key]:
    """What the comparison was before, in each program that has as many of them on the line."""
    here = sorted(k for k, one in now.seen.items() if k[:3] == key[:3] and not one.is_step)
    units: dict[str, list[Key]] = {}
    for other in sorted(before.seen):
        if other[:2] == place:
            units.setdefault(other[2], []).append(other)
    return [found[here.index(key)] for found in units.values() if len(found) == len(here)]


def _differs(now: Watched, key: Key, before: Watched, place: tuple[str, int]) -> bool:
    alike = _alike(now, key, before, place)
    if not alike:
        return True  # nothing reached it
    if any(before.both_ways(one) for one in alike):
        return True
    for mine, theirs in zip(now.bounds(key), _bounds(before, alike), strict=True):
        if len(mine) == 1 and len(theirs) == 1 and mine != theirs and len(now.launched) > 1:
            return True
    return False


def _bounds(before: Watched, keys: Iterable[Key]) -> tuple[set[float], set[float]]:
    first, second = set[float](), set[float]()
    for key in keys:
        a, b = before.bounds(key)
        first |= a
        second |= b
    return first, second

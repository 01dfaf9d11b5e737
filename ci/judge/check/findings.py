"""Findings as they are collected: each fault once, with the first case that showed it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from ci.judge.launch_record import Launched
from ci.model.errors import TrialFailure
from ci.model.finding import Finding, Severity
from ci.model.trial import MachineWarning, Outcome, Place, Refusal
from ci.simulator.launch import MEETS
from rules.findings import finding_rule

Key: TypeAlias = tuple[str, ...]

_NUMBER: Final = re.compile(r"(?:0x[0-9a-f]+|\b\d+(?:,\d{3})*)\b")

QUIET: Final = ("door", "behind", "block_dim", MEETS)
"""Kinds of warnings that say nothing of the operator by themselves."""

_CAUSES: Final = (
    "overrun",
    "freed",
    "own_source",
    "narrowed",
    "narrowed_field",
    "limit",
    "part_block",
    "cut",
    "narrow_offset",
    "wrapped",
    "short_tiling",
    "attribute_type",
    "ignored",
    "exchanged",
    "element_type",
    "lost_fraction",
    "only_first",
    "division",
    "behind",
    "unset",
)
"""What can make a result wrong at another place."""

_HINTS: Final = (
    "whole_ratio",
    "no_lanes",
    "mask_kind",
    "below_zero",
    "beyond_rank",
    "element_size",
    "half_sum",
    "counter_mode",
    "rounding",
    "two_pipes",
    "filled_lanes",
    "views",
    "rewritten",
    "unread",
    "unused",
    "left_over",
    "padding_lanes",
)
"""What harms nothing by itself: it is worth a look where a result is wrong and nothing says why,
the likeliest first."""

_LESSER: Final = (*_HINTS, "given_size", "uninitialised")
"""What may be the cause where nothing else is."""

_MEANT: Final = ("cut", "narrow_offset", "wrapped")
"""What is meant, or harms nothing, where no result is wrong."""

_UNORDERED: Final = (Outcome.RACE.value, "compiler_order")
"""Two accesses that nothing in the source orders, however long the tensors are."""

_OTHER_ACCESS: Final = re.compile(r"\breads global memory (?!.* of output \d)|\bUB bytes\b")
"""An access that no output is the target of."""

_CONFLICTS: Final = (*_UNORDERED, "own_source")
"""What two accesses to the same bytes lead to."""

_WRONG: Final = (Outcome.WRONG_RESULT.value, "behind", "unset")

_ENDED: Final = (Outcome.MEMORY_ERROR.value, Outcome.LAUNCH_ERROR.value, Outcome.TIMEOUT.value)

_CAUSED: Final = (Outcome.WRONG_RESULT.value, Outcome.RACE.value, *_ENDED)

_DOUBT: Final = "No golden function says that the operator takes this case."
_GUESSED: Final = "Nothing says how long the optional input is that this case adds."
_EMPTY: Final = "An interface that is made of the op definition launches nothing for empty outputs."
_OUTPUTS: Final = (
    "Neither a golden function nor InferShape says how long the outputs of this case are."
)
_UNASKED: Final = "No golden function says that there is such an output in this case."
_UNTRIED: Final = (
    "Time was up before other integers were tried, and no golden function says which are right."
)
_VALUES: Final = "Other integers do not show it, and no golden function says which are right."

_ORDER: Final = (
    "compile_error",
    "overrun",
    "freed",
    "own_source",
    "narrowed",
    "cut",
    "narrow_offset",
    "wrapped",
    "narrowed_field",
    "attribute_type",
    "ignored",
    "exchanged",
    "element_type",
    "lost_fraction",
    "only_first",
    "short_tiling",
    "workspace",
    "memory_error",
    "launch_error",
    "race",
)
"""Causes before what they lead to."""


@dataclass
class Findings:
    """Faults by what they have in common; a further case that shows one is counted."""

    found: dict[Key, Finding] = field(default_factory=dict)
    shown_by: dict[Key, set[str]] = field(default_factory=dict)
    """The cases that showed each of them."""
    doubtful: set[str] = field(default_factory=set)
    """Cases that the operator may not be made for: what they show is a note."""
    guessed: set[str] = field(default_factory=set)
    """Cases with an input of which nothing says how long it is: all but races are notes."""
    unlaunched: set[str] = field(default_factory=set)
    """Cases that callers do not launch: what they show is a note."""
    outputs_guessed: set[str] = field(default_factory=set)
    """Cases of which nothing says how long the outputs are: errors of memory are notes."""
    outputs_unread: set[str] = field(default_factory=set)
    """Cases of these whose tiling is the same for longer outputs: what the kernel reads, and its
    accesses to UB, are the same, too."""
    steady: set[str] = field(default_factory=set)
    """Cases whose outputs do not hang on what nothing has written."""
    made_from: dict[str, str] = field(default_factory=dict)
    """The case of the workload that each of those with gibibytes was made from."""
    valued: set[Key] = field(default_factory=set)
    """Faults that hang on the values of a case's integers: notes."""

    def failure(
        self,
        failure: TrialFailure,
        varied: str = "",
        *,
        mild: bool = False,
        unasked: bool = False,
    ) -> None:
        """What ended a launch, and what it showed before. `mild`: a launch error is a note.
        `unasked`: so is the fault, of an output that nobody may ask for."""
        refusal = failure.refusal
        found = _of_refusal(failure.outcome, refusal, varied)
        if unasked and found.fails:
            found = _doubted(found, _UNASKED)
        if mild and failure.outcome is Outcome.LAUNCH_ERROR:
            found = found.model_copy(update={"severity": Severity.NOTE})
        self._add(found)
        self.warnings(failure.warnings, refusal.place.case, varied)

    def launched(
        self, launched: Launched, seed: int, varied: str = "", *, rounding: bool = False
    ) -> None:
        """Outputs that are wrong, and what the machine found odd. With `rounding` a right operator
        may miss its tolerance: that is a note, unless a number has overflown."""
        name = launched.case.name
        if not launched.compared.agrees:
            refusal = Refusal(
                place=Place(case=name, seed=seed),
                sentence=launched.compared.message,
                evidence=launched.compared.details,
            )
            wrong = _of_refusal(Outcome.WRONG_RESULT, refusal, varied)
            if rounding and not launched.compared.overflown:
                wrong = wrong.model_copy(update={"severity": Severity.NOTE})
            self._add(wrong)
        self.warnings(launched.warnings, name, varied)

    def warnings(self, warnings: Iterable[MachineWarning], case: str, varied: str = "") -> None:
        """What a launch of a case showed."""
        for warning in warnings:
            if warning.kind in QUIET:
                continue
            rule = finding_rule(warning.kind)
            place = warning.place.model_copy(update={"case": case})
            self._add(
                Finding(
                    kind=warning.kind,
                    severity=rule.severity,
                    title=rule.title,
                    place=place,
                    other=warning.other,
                    text=warning.text,
                    advice=rule.advice,
                    varied=varied,
                )
            )

    def together(self, kind: str, place: Place, text: str, varied: str = "") -> None:
        """A fault that several launches together show: an error."""
        self._told(kind, Severity.ERROR, place, text, varied)

    def told(self, kind: str, place: Place, text: str, doubt: str = "") -> None:
        """What no launch shows, as grave as the rules say; a note where there is a `doubt`."""
        self._told(kind, finding_rule(kind).severity, place, text, "", doubt)

    def far(self, warning: MachineWarning, place: Place, text: str) -> None:
        """A number that only tensors of gibibytes make too large: a warning."""
        self._told(warning.kind, Severity.WARNING, place, text, "tensor of gibibytes")

    def _told(
        self,
        kind: str,
        severity: Severity,
        place: Place,
        text: str,
        varied: str,
        doubt: str = "",
    ) -> None:
        rule = finding_rule(kind)
        finding = Finding(
            kind=kind,
            severity=severity,
            title=rule.title,
            place=place,
            text=text,
            advice=rule.advice,
            varied=varied,
        )
        self._add(_doubted(finding, doubt) if doubt else finding)

    def shown(self, case: str) -> set[Key]:
        """The faults that fail and that a case was the first to show."""
        return {key for key, f in self.found.items() if f.fails and f.place.case == case}

    def shows(self, kind: str, case: str) -> bool:
        """Whether a case shows a fault of a kind."""
        return any(key[0] == kind and case in cases for key, cases in self.shown_by.items())

    def hold_against(self, case: str, other: Findings, values: str) -> None:
        """Make notes of the faults of a case that `other` does not hold: what the case `values`,
        with other integers, showed. Values that show a fault of their own are no better: they
        change nothing. Equal values written by two cores are a race with others."""
        own = {key for key, cases in self.shown_by.items() if case in cases}
        shown = other.shown(values)
        if not shown <= own:
            return
        equal = {("race", f.place.source) for f in other.found.values() if f.kind == "overlap"}
        for key in self.shown(case) - shown - equal:
            self.valued.add(key)
            self.found[key] = _doubted(self.found[key], _VALUES)

    def untried(self, case: str) -> None:
        """Make notes of the faults of a case, which other integers were not tried for."""
        for key in self.shown(case):
            self.valued.add(key)
            self.found[key] = _doubted(self.found[key], _UNTRIED)

    def _cases(self, *kinds: str, placed: bool = True) -> set[str]:
        """The cases that show a fault of one of the kinds; without `placed` one without a line."""
        faults = [
            key
            for key, one in self.found.items()
            if one.kind in kinds and one.fails and (placed or not one.place.source)
        ]
        return {case for key in faults for case in self.shown_by[key]}

    def ordered(self) -> tuple[Finding, ...]:
        """The worst first; among equals causes before what they lead to, then by place.

        What runs over the end of a buffer is in conflict with that buffer's neighbour: the races
        and waits of its case and line are left out, for a flag would only hide the cause. A line
        that races in one case does not rely on the compiler in another. Casts that cut numbers are
        meant where the case is right. A wrong result names what may have caused it in its case;
        where that is known, other bytes change its bytes too, and say nothing. What one case
        explains explains no other.
        """
        ranks = [*Severity]
        overruns = {key: f.place for key, f in self.found.items() if f.kind == "overrun"}
        over = {place.source for place in overruns.values() if place.source}
        over |= {case for key in overruns for case in self.shown_by[key] if case}
        races = {f.place.source for f in self.found.values() if f.kind == Outcome.RACE.value}
        crashed = {f.place.source for f in self.found.values() if f.kind == "launch_error"}
        wrong = self._cases(*_CAUSED)
        explained = wrong & self._cases(*(kind for kind in _CAUSES if kind != "unset"))
        puzzling = (self._cases(*_WRONG) | self._cases(*_ENDED, placed=False)) - explained
        puzzling_for = {"below_zero": puzzling | self._cases(*_ENDED)}
        found = []
        for key in self.found:
            one = self._counted(key)
            seen = {one.place.case, one.place.source, one.other.source}
            cases = self.shown_by[key]
            if one.kind in _CONFLICTS and seen & over:
                continue
            if one.kind == "compiler_order" and one.place.source in races:
                continue
            if one.kind == "host_crash" and one.place.source in crashed:
                continue
            if one.kind in _MEANT and not wrong & cases and not one.fails:
                continue
            if one.kind in _HINTS and not puzzling_for.get(one.kind, puzzling) & cases:
                continue
            if one.kind == "unset" and cases <= explained:
                continue
            unsure = self.doubtful | self.unlaunched | self.guessed
            sure = one.place.case not in unsure and key not in self.valued
            if one.kind in _CAUSES and wrong & cases and sure:
                found.append(one.model_copy(update={"severity": Severity.ERROR}))
            elif one.kind in (Outcome.WRONG_RESULT.value, *_ENDED):
                kinds = (_CAUSES, _LESSER) if not one.place.source else (("below_zero",),)
                advice = self._causes({one.place.case}, kinds) or one.advice
                found.append(one.model_copy(update={"advice": advice}))
            else:
                found.append(one)
        return tuple(
            sorted(
                map(_next_to, found),
                key=lambda f: (
                    ranks.index(f.severity),
                    bool(f.varied),
                    _ORDER.index(f.kind) if f.kind in _ORDER else len(_ORDER),
                    f.place.file,
                    f.place.line,
                ),
            )
        )

    def _counted(self, key: Key) -> Finding:
        """A finding with the number of further cases that showed it, in whatever build."""
        one = self.found[key]
        return one.model_copy(update={"more": len(self.shown_by[key] - {one.place.case})})

    def _causes(self, cases: set[str], choices: Iterable[tuple[str, ...]]) -> str:
        for kinds in choices:
            shown = [
                f
                for key, f in self.found.items()
                if f.kind in kinds and self.shown_by[key] & self._moved(f, cases)
            ]
            shown.sort(key=lambda f: kinds.index(f.kind))
            places = [*dict.fromkeys(s for f in shown if (s := _mended_at(f).source))]
            if places:
                break
        return f"Look first at {' and '.join(places[:3])}." if places else ""

    def _moved(self, finding: Finding, cases: set[str]) -> set[str]:
        """The cases, of these, whose result the finding can explain."""
        return cases - self.steady if finding.kind == "uninitialised" else cases

    def _add(self, finding: Finding) -> None:
        if finding.fails and finding.place.case in self.doubtful:
            finding = _doubted(finding, _DOUBT)
        by_length = finding.fails and finding.kind not in _UNORDERED
        if by_length and finding.place.case in self.guessed:
            finding = _doubted(finding, _GUESSED)
        if finding.fails and finding.place.case in self.unlaunched:
            finding = _doubted(finding, _EMPTY)
        by_outputs = finding.kind == Outcome.MEMORY_ERROR and not (
            finding.place.case in self.outputs_unread and _OTHER_ACCESS.search(finding.text)
        )
        if by_outputs and finding.place.case in self.outputs_guessed:
            finding = _doubted(finding, _OUTPUTS)
        key = _key(finding)
        known = self.found.get(key)
        if known is None or (finding.fails and not known.fails):
            self.found[key] = finding
        self.shown_by.setdefault(key, set()).add(finding.place.case)


def _mended_at(finding: Finding) -> Place:
    """Where to look: what is read before it is written was left out by what wrote the rest."""
    left_out = finding.kind == "uninitialised" and finding.other.source
    return finding.other if left_out else finding.place


def _next_to(finding: Finding) -> Finding:
    """The finding at the other line that it names, where it has none of its own."""
    if finding.place.source or not finding.other.source:
        return finding
    place = finding.other.model_copy(update={"case": finding.place.case})
    return finding.model_copy(update={"place": place, "other": Place()})


def _doubted(finding: Finding, why: str) -> Finding:
    advice = f"{finding.advice} {why}".strip()
    return finding.model_copy(update={"severity": Severity.NOTE, "advice": advice})


def _of_refusal(outcome: Outcome, refusal: Refusal, varied: str) -> Finding:
    rule = finding_rule(outcome.value)
    return Finding(
        kind=outcome.value,
        severity=rule.severity,
        title=rule.title,
        place=refusal.place,
        other=refusal.other,
        text=refusal.sentence,
        evidence=refusal.evidence,
        advice=rule.advice,
        varied=varied,
    )


def _key(finding: Finding) -> Key:
    """A line has a fault of a kind once, whatever case shows it. Without a line, each way to vary
    has its own, and what is said of a launch on its way is one whatever numbers it names."""
    if finding.place.source:
        return finding.kind, finding.place.source
    if finding.kind in [*Outcome]:
        said = (
            finding.text.partition("; worst at")[0]
            .partition(":")[0]
            .replace(f"'{finding.place.case}'", "")
        )
        return finding.kind, finding.varied, _NUMBER.sub("", said)
    return finding.kind, _NUMBER.sub("", finding.text)

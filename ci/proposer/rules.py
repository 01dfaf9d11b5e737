"""The rules proposer: motifs from rules/rewrites, applied by tree, chosen by diagnosis and bank.

Needs no model and no network. Every answer is a pure function of its arguments, so that a
resumed run proposes what the interrupted one did.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from ci.judge.diagnose import diagnose
from ci.model.diagnosis import Diagnosis
from ci.model.operator import Operator
from ci.model.trial import Candidate, Site, Trial
from ci.model.workload import Workload
from ci.proposer.base import Proposer, Rewound
from ci.proposer.motifs.rewrite import Application, applications
from ci.proposer.motifs.sequence import VECTOR_CALLS
from ci.proposer.sources import changed_only, editable
from ci.source.cpp_source import parse
from ci.tiling.parametric import knob_moves, sample
from ci.tiling.synthesize import synthesize
from ci.tiling.template import TilingTemplate
from experience.bank.retrieve import CONFIDENT, DOUBTFUL, Retrieved
from rules.load import Motif, load_motifs

UNTOUCHED = Diagnosis(bottleneck="Not measured.", classes=(), evidence=())

NO_DIFFERENCE = 0.002
"""A rewrite that moves the time by less than 0.2 % is not tried again at fewer places."""

_WORKING = VECTOR_CALLS | {"DataCopy", "DataCopyPad", "Cast", "Duplicate", "ReduceSum", "ReduceMax"}

MOST_AT_ONCE = 4
"""Motifs in one candidate: a reviewer, and the search for the one at fault, must follow."""

COMBINED = 0.35
"""Several motifs are tried at once as long as they all hold with this chance, by the bank."""

SINGLE_MOVES = 8
"""One-knob moves tried from one parent before optuna takes turns with the rest of them."""


class RulesProposer(Proposer):
    """Proposes by the motifs that a domain expert keeps in rules/rewrites."""

    name = "rules"

    def __init__(self, motifs: Sequence[Motif] | None = None) -> None:
        self._motifs = tuple(motifs) if motifs is not None else load_motifs()
        self._operators: dict[str, Operator] = {}

    def synthesize(self, operator: Operator, workload: Workload) -> TilingTemplate:
        """The host tiling source with markers and knobs."""
        self._operators[operator.name] = operator
        return synthesize(operator)

    def mutate(
        self, template: TilingTemplate, best: Trial, history: Sequence[Trial], seed: int
    ) -> Candidate | None:
        """Structural rewrites first, then single knobs by diagnosis, then optuna."""
        operator = self._operators[template.operator]
        now = synthesize(operator, best.candidate.files)
        seen = {t.candidate.hash for t in history}
        diagnosis = self.diagnose(operator, best)
        tried = sum(
            t.candidate.stage == "tiling" and t.candidate.parent == best.candidate.hash
            for t in history
        )
        structural = self._structural(operator, template, best, diagnosis)
        moves = (
            _candidate(operator, best, now.fill(values), "tiling", why, ("knob",), values)
            for values, why in knob_moves(now, diagnosis.classes, best, history)
        )
        sampled = (
            _candidate(
                operator, best, now.fill(values), "tiling", "Sampled by TPE.", ("tpe",), values
            )
            for values in sample(now, best, history, seed, operator)
        )
        by_turns = (sampled, moves) if tried >= SINGLE_MOVES and tried % 2 else (moves, sampled)
        for source in (structural, *by_turns):
            for candidate in source:
                if candidate.hash not in seen:
                    return candidate
        return None

    def diagnose(self, operator: Operator, best: Trial) -> Diagnosis:
        """The bottleneck of the kernel as profiled in `best`."""
        return diagnose(best.measurement) if best.measurement else UNTOUCHED

    def rewrite(
        self,
        operator: Operator,
        best: Trial,
        diagnosis: Diagnosis,
        retrieved: Sequence[Retrieved],
        history: Sequence[Trial],
        seed: int,
    ) -> Candidate | None:
        """What the bank is sure of at once, then one application not tried yet after the other.

        The motifs come in the order of their promise.
        """
        texts = editable(operator, best.candidate.files, operator.kernel_sources)
        kernel = [m for m in self._motifs if m.stage == "kernel"]
        ordered = rank_motifs(kernel, diagnosis, retrieved, history)
        seen = {t.candidate.hash for t in history}
        together = self._together(ordered, texts, operator, best, retrieved, history)
        if together is not None and together.hash not in seen:
            return _with_tuples(together, retrieved)
        for _, candidate in _promising(ordered, texts, operator, best, history):
            return _with_tuples(candidate, retrieved)
        return None

    def applicable(
        self, operator: Operator, best: Trial, history: Sequence[Trial]
    ) -> tuple[str, ...]:
        """Motifs with an application that was not tried yet."""
        texts = editable(operator, best.candidate.files, operator.kernel_sources)
        kernel = [m for m in self._motifs if m.stage == "kernel"]
        return tuple(
            m.id
            for m in kernel
            if next(_promising([m], texts, operator, best, history), None) is not None
        )

    def _together(
        self,
        motifs: Sequence[Motif],
        texts: dict[str, str],
        operator: Operator,
        best: Trial,
        retrieved: Sequence[Retrieved],
        history: Sequence[Trial],
    ) -> Candidate | None:
        """The motifs that the bank is sure of, one on top of the other; None for fewer than two.

        A small budget does not reach them one by one. When four of them fail, one is at fault:
        the first two are tried, then each alone.
        """
        sure = {
            r.tuple.rule_id: r.reliability
            for r in retrieved
            if r.tuple.direction != "negative" and r.reliability >= CONFIDENT
        }
        before = [
            len(t.candidate.motif_ids)
            for t in history
            if len(t.candidate.motif_ids) > 1 and t.candidate.parent == best.candidate.hash
        ]
        if before and min(before) <= 2:
            return None
        most = 2 if before else MOST_AT_ONCE
        chance, changed = 1.0, dict(texts)
        taken: list[Application] = []
        for motif in motifs:
            chance *= sure.get(motif.id, 0.0)
            if len(taken) == most or chance < COMBINED:
                break
            found = next(_promising([motif], changed, operator, best, history), None)
            if found is not None:
                taken.append(found[0])
                changed = changed | {found[0].path: found[0].text}
        if len(taken) < 2:
            return None
        why = "Together: " + " ".join(_rationale(one) for one in taken)
        files = {p: t for p, t in changed.items() if t != texts[p]}
        rules = tuple(dict.fromkeys(one.motif.id for one in taken))
        sites = tuple(site for one in taken for site in one.sites)
        return _candidate(operator, best, files, "kernel", why, rules, sites=sites)

    def rewind(
        self, operator: Operator, files: dict[str, str], removed: Sequence[str]
    ) -> list[Rewound]:
        """Every way to remove one optimization; motifs removed before come last."""
        texts = editable(operator, files, operator.kernel_sources)
        found: list[Rewound] = []
        ordered = sorted(self._motifs, key=lambda m: (m.id in removed, m.order, m.id))
        for motif in ordered:
            for one in applications(motif, motif.rewind, texts):
                changed = changed_only(operator, files | {one.path: one.text})
                candidate = Candidate(
                    files=changed,
                    stage="rewind",
                    parent=Candidate(files=files).hash,
                    proposer=self.name,
                    rationale=f"Without: {_rationale(one)}",
                    motif_ids=(motif.id,),
                    sites=one.sites,
                )
                found.append(
                    Rewound(
                        candidate=candidate,
                        rule_id=motif.id,
                        title=motif.title,
                        description=motif.why,
                        classes=motif.classes,
                    )
                )
        return found

    def _structural(
        self, operator: Operator, template: TilingTemplate, best: Trial, diagnosis: Diagnosis
    ) -> Iterator[Candidate]:
        texts = editable(operator, best.candidate.files, tuple(template.sources))
        tiling = [m for m in self._motifs if m.stage == "tiling"]
        for motif in rank_motifs(tiling, diagnosis, (), ()):
            if not set(motif.classes) & set(diagnosis.classes):
                continue
            for one in applications(motif, motif.forward, texts):
                candidate = _candidate(
                    operator,
                    best,
                    {one.path: one.text},
                    "tiling",
                    _rationale(one),
                    (motif.id,),
                    sites=one.sites,
                )
                mine = {p: t for p, t in candidate.files.items() if p in template.sources}
                if template.admits(mine):
                    yield candidate


def rank_motifs(
    motifs: Iterable[Motif],
    diagnosis: Diagnosis,
    retrieved: Sequence[Retrieved],
    history: Sequence[Trial],
) -> list[Motif]:
    """Motifs that retrieved experience names, then those of the diagnosed classes, then the rest.

    Last come those that seldom helped against such bottlenecks, as the bank's negatives say.
    Within a rank a motif that often failed to help in this run comes later.
    """
    said = list(enumerate(retrieved))
    named = {r.tuple.rule_id: i for i, r in reversed(said) if r.tuple.direction != "negative"}
    doubtful = {r.tuple.rule_id for r in retrieved if r.reliability < DOUBTFUL}
    places = {c: i for i, c in enumerate(diagnosis.classes)}

    def key(motif: Motif) -> tuple[int, float, int, str]:
        failed = sum(motif.id in t.candidate.motif_ids and t.measurement is None for t in history)
        if motif.id in doubtful:
            return (3, failed, motif.order, motif.id)
        if motif.id in named:
            return (0, named[motif.id] + 3 * failed, motif.order, motif.id)
        hits = [places[c] + 2 * i for i, c in enumerate(motif.classes) if c in places]
        if hits:
            return (1, min(hits) + 2 * failed, motif.order, motif.id)
        return (2, failed, motif.order, motif.id)

    return sorted(motifs, key=key)


def _promising(
    motifs: Sequence[Motif],
    texts: dict[str, str],
    operator: Operator,
    best: Trial,
    history: Sequence[Trial],
) -> Iterator[tuple[Application, Candidate]]:
    """Applications not tried yet, motif by motif, with their candidates.

    Left out: functions that the workload never runs, single places of a rewrite that ran and did
    not help at all places at once, and what made no difference from an earlier best. What failed
    or harmed from an earlier best comes last.
    """
    tried = [t for t in history if t.candidate.stage == "kernel"]
    effects = {_signature(t.candidate.rationale): _effect(t, history) for t in tried}
    vain = {signature for signature, effect in effects.items() if effect < 1}
    useless = {s for s, effect in effects.items() if 0 < effect < 1 + NO_DIFFERENCE}
    useless |= {_signature(t.candidate.rationale) for t in tried if t.warnings}
    late: list[tuple[Application, Candidate]] = []
    seen = {t.candidate.hash: t for t in history}
    hot = _hot_lines(best)
    for motif in motifs:
        idle: set[tuple[str, int]] = set()
        for one in applications(motif, motif.forward, texts):
            if (one.path, one.variant) in idle or not _runs(one, hot, texts):
                continue
            candidate = _candidate(
                operator,
                best,
                {one.path: one.text},
                "kernel",
                _rationale(one),
                (motif.id,),
                sites=one.sites,
            )
            earlier = seen.get(candidate.hash)
            signature = _signature(candidate.rationale)
            if len(one.lines) > 1 and signature in useless:
                idle.add((one.path, one.variant))
            if earlier is not None or abs(effects.get(signature, 0.0) - 1) < NO_DIFFERENCE:
                continue
            if signature in vain:
                late.append((one, candidate))
            else:
                yield one, candidate
    yield from late


def _with_tuples(candidate: Candidate, retrieved: Sequence[Retrieved]) -> Candidate:
    """The candidate with the tuples that speak for its motifs."""
    tuples = tuple(
        r.tuple.id
        for r in retrieved
        if r.tuple.rule_id in candidate.motif_ids and r.tuple.direction != "negative"
    )
    return candidate.model_copy(update={"tuple_ids": tuples})


def _signature(rationale: str) -> str:
    """A rationale without line numbers, which move as other rewrites are inherited."""
    return re.sub(r"\bline \d+", "line", rationale)


def _effect(trial: Trial, history: Sequence[Trial]) -> float:
    """Parent's time over the trial's: above 1 when it helped, 0 when it failed."""
    parent = next((t for t in history if t.candidate.hash == trial.candidate.parent), None)
    if parent is None or parent.measurement is None or trial.measurement is None:
        return 0.0
    return parent.measurement.score_us / trial.measurement.score_us


def _hot_lines(best: Trial) -> dict[str, set[int]]:
    lines: dict[str, set[int]] = {}
    if best.measurement is not None:
        for case in best.measurement.cases:
            for path, line, _ in case.pipes.hot_lines:
                lines.setdefault(path, set()).add(line)
    return lines


def _runs(application: Application, hot: dict[str, set[int]], texts: dict[str, str]) -> bool:
    """Whether a place lies in a function that ran, or outside functions; True when unknown."""
    lines = hot.get(application.path)
    if not lines:
        return not hot
    source = parse(texts[application.path])
    for line in application.lines:
        place = source.line_start(line)
        function = source.function_at(place)
        if function is None or not any(c.name in _WORKING for c in source.calls_in(function.body)):
            return True  # declarations and Init show in no profile
        first, last = source.line(function.node.start_byte), source.line(function.body.end_byte)
        if any(first <= n <= last for n in lines):
            return True
    return False


def _rationale(application: Application) -> str:
    lines = application.lines
    where = f"line {lines[0]}" if len(lines) == 1 else f"{len(lines)} places"
    notes = f" ({', '.join(application.notes[:3])})" if application.notes else ""
    return f"{application.motif.title} at {where}{notes}."


def _candidate(
    operator: Operator,
    best: Trial,
    files: dict[str, str],
    stage: str,
    why: str,
    rules: tuple[str, ...],
    knobs: dict[str, int | float] | None = None,
    sites: tuple[Site, ...] = (),
) -> Candidate:
    return Candidate.model_validate(
        {
            "files": changed_only(operator, best.candidate.files | files),
            "stage": stage,
            "parent": best.candidate.hash,
            "proposer": RulesProposer.name,
            "rationale": why,
            "motif_ids": rules,
            "sites": sites,
            "knobs": knobs or {},
        }
    )

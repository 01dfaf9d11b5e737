"""Which motif is tried next, and where: by diagnosis, by the bank, and by what this run showed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import Literal

from ci.model.comparison import STEP_EFFECT
from ci.model.diagnosis import Diagnosis
from ci.model.objective import worth
from ci.model.trial import Candidate, Change, Outcome, Site, Trial
from ci.proposer.base import Step
from ci.proposer.motifs.rewrite import (
    Application,
    applications,
    halved,
    in_several_files,
    of_all_forms,
)
from ci.proposer.motifs.transforms.functions import called_in, reached
from ci.proposer.rules.prospects import can_matter
from ci.proposer.rules.tidying import tidied
from ci.proposer.sources import changed_only
from ci.source.cpp_source import parse
from ci.source.source_diff import changes
from experience.bank.retrieve import DOUBTFUL, Retrieved
from rules.api import load_api
from rules.load import Motif

NO_DIFFERENCE = 0.002
"""A rewrite that moves the time by less than 0.2 % is not tried again at fewer places."""

INDIFFERENT = 3
"""Places at which a motif made no difference, each alone, for its other places to be left alone."""

LOST = 0.9
"""A rewrite that makes a program take a tenth longer is not tried again from another parent: what
parents add to it is a few percent."""


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
    named = {r.tuple.motif_id: i for i, r in reversed(said) if r.tuple.direction != "negative"}
    doubtful = {r.tuple.motif_id for r in retrieved if r.reliability < DOUBTFUL}
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


def promising(
    motifs: Sequence[Motif], texts: dict[str, str], step: Step
) -> Iterator[tuple[Application, Candidate]]:
    """Applications not tried yet, motif by motif, with their candidates.

    In several files at once, at all places of each; then at all places of a file, at halves of
    them, down to single ones. Left out:
    functions that the workload never runs, what cannot matter by the profile, some of the places at
    which a rewrite ran and hardly helped, the very edit that failed elsewhere in this run, what
    made no difference from an earlier best or cost a tenth there, and motifs that made none at
    `INDIFFERENT` places. What harmed less from an earlier best comes last.
    """
    effects = _effects(step)
    vain = {places for places, effect in effects.items() if effect < 1}
    lost = {places for places, effect in effects.items() if 0 < effect < LOST}
    indifferent = _indifferent(step)
    useless = {places for places, effect in effects.items() if 0 < effect < 1 + STEP_EFFECT}
    useless = (useless | _unfit(step)) - _of_use_somewhere(step)
    failed = _failed_edits(step)
    late: list[tuple[Application, Candidate]] = []
    seen = {t.candidate.hash: t for t in step.history}
    ran = _lines_that_ran(step.best)
    running = {path: text for path, text in texts.items() if _may_run(path, text, ran)}
    for motif in motifs:
        if motif.id in indifferent:
            continue
        for one in chain(
            of_all_forms(motif, motif.forward, running),
            in_several_files(motif, motif.forward, running),
            applications(motif, motif.forward, running, halved),
        ):
            places = frozenset(one.sites)
            if places in lost or any(places < more for more in useless):
                continue
            if not _runs(one, ran, texts):
                continue
            one = _tidied(one, texts)
            candidate = applied(step, "kernel", one)
            earlier = seen.get(candidate.hash)
            if step.best.measurement is not None and not can_matter(one, step.best.measurement):
                continue
            if not one.also and changes(texts[one.path], one.text) in failed:
                continue
            if earlier is not None or abs(effects.get(places, 0.0) - 1) < NO_DIFFERENCE:
                continue
            if places in vain:
                late.append((one, candidate))
            else:
                yield one, candidate
    yield from late


def _tidied(one: Application, texts: dict[str, str]) -> Application:
    """The application with what it made superfluous gone from each of its files."""

    def tidy(path: str, text: str) -> str:
        return tidied(texts[path], text, (t for p, t in texts.items() if p != path))

    also = {path: tidy(path, text) for path, text in one.also.items()}
    return replace(one, text=tidy(one.path, one.text), also=also)


def idle(step: Step) -> set[frozenset[Site]]:
    """Places whose change made no difference from another parent, or was not fit to be built on."""
    return _unfit(step) | {
        places for places, effect in _effects(step).items() if abs(effect - 1) < NO_DIFFERENCE
    }


def _unfit(step: Step) -> set[frozenset[Site]]:
    return {
        frozenset(t.candidate.sites)
        for t in step.history
        if t.outcome is Outcome.UNFIT and t.candidate.sites
    }


def _of_use_somewhere(step: Step) -> set[frozenset[Site]]:
    """Changes of several files from which some case gained: one file alone may be worth it."""
    by_hash = {t.candidate.hash: t.measurement for t in step.history}
    found = set()
    for trial in step.history:
        before, after = by_hash.get(trial.candidate.parent), trial.measurement
        files = {site.file for site in trial.candidate.sites}
        if len(files) < 2 or before is None or after is None:
            continue
        pairs = zip(before.cases, after.cases, strict=True)
        if any(old.median_us > new.median_us * (1 + STEP_EFFECT) for old, new in pairs):
            found.add(frozenset(trial.candidate.sites))
    return found


def _effects(step: Step) -> dict[frozenset[Site], float]:
    """What the latest trial of each change came to."""
    return {
        frozenset(t.candidate.sites): _effect(t, step.history)
        for t in step.history
        if t.candidate.sites
    }


def _indifferent(step: Step) -> set[str]:
    """Motifs that made no difference at several places, and none elsewhere."""
    found = dict[str, set[frozenset[Site]]]()
    acted = set[str]()
    for trial in step.history:
        motifs, places = trial.candidate.motif_ids, frozenset(trial.candidate.sites)
        effect = _effect(trial, step.history)
        if len(motifs) != 1 or not places or not effect:
            continue
        if abs(effect - 1) < NO_DIFFERENCE:
            found.setdefault(motifs[0], set()).add(places)
        else:
            acted.add(motifs[0])
    return {m for m, places in found.items() if len(places) >= INDIFFERENT and m not in acted}


def _failed_edits(step: Step) -> set[tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]]:
    """What was changed, line for line, in trials of one file that did not run."""
    by_hash = {t.candidate.hash: t.candidate.files for t in step.history}
    found = set()
    for trial in step.history:
        before = by_hash.get(trial.candidate.parent)
        if before is None or trial.measurement is not None or not trial.candidate.sites:
            continue
        for path in {site.file for site in trial.candidate.sites}:
            own = step.operator.read(path)
            after = trial.candidate.files.get(path, own)
            found.add(changes(before.get(path, own), after))
    return found


def _effect(trial: Trial, history: Sequence[Trial]) -> float:
    """Parent's time over the trial's: above 1 when it helped, 0 when it failed."""
    parent = next((t for t in history if t.candidate.hash == trial.candidate.parent), None)
    if parent is None or parent.measurement is None or trial.measurement is None:
        return 0.0
    return worth(parent.measurement, trial.measurement)


def _lines_that_ran(best: Trial) -> dict[str, set[int]]:
    lines: dict[str, set[int]] = {}
    for case in best.measurement.cases if best.measurement is not None else ():
        for path, found in case.pipes.ran.items():
            lines.setdefault(path, set()).update(found)
    return lines


def _may_run(path: str, text: str, ran: dict[str, set[int]]) -> bool:
    """Whether some of a file ran, or it only declares things that others use."""
    return not ran or path in ran or not parse(text).functions


def _runs(application: Application, ran: dict[str, set[int]], texts: dict[str, str]) -> bool:
    """Whether a place lies in a function that ran, or outside functions; True when unknown.

    What ran is known of lines with instructions: a function that calls such a one ran too.
    """
    lines = ran.get(application.path)
    if not lines:
        return True
    source = parse(texts[application.path])
    for line in application.lines:
        place = source.line_start(line)
        function = source.function_at(place)
        if function is None:
            return True
        calls = load_api().calls.keys() - {f.plain for f in source.functions}
        if not any(c.name in calls for c in source.calls_in(function.body)):
            return True  # declarations and Init show in no profile
        inside = reached(source, called_in(source, function.body))
        for one in (function, *(f for f in source.functions if f.plain in inside)):
            first, last = source.line(one.node.start_byte), source.line(one.body.end_byte)
            if any(first <= n <= last for n in lines):
                return True
    return False


def rationale(application: Application) -> str:
    """What a motif does and where, as a sentence."""
    lines, files = application.lines, {site.file for site in application.sites}
    where = f"line {lines[0]}" if len(lines) == 1 else f"{len(lines)} places"
    where = f"{len(application.sites)} places in {len(files)} files" if len(files) > 1 else where
    notes = f" ({', '.join(application.notes[:3])})" if application.notes else ""
    return f"{application.motif.title} at {where}{notes}."


def applied(
    step: Step, stage: Literal["tiling", "kernel", "joint"], *taken: Application
) -> Candidate:
    """The best one's sources with the applications, each made on top of the one before."""
    why = " ".join(rationale(one) for one in taken)
    files = {
        path: text for one in taken for path, text in (*one.also.items(), (one.path, one.text))
    }
    return Candidate(
        files=changed_only(step.operator, step.best.candidate.files | files),
        stage=stage,
        parent=step.best.candidate.hash,
        proposer="rules",
        rationale=f"Together: {why}" if len(taken) > 1 else why,
        motif_ids=tuple(dict.fromkeys(one.motif.id for one in taken)),
        sites=tuple(site for one in taken for site in one.sites),
        parts=_parts(taken),
    )


def _parts(taken: Sequence[Application]) -> tuple[Change, ...]:
    """What each of the applications does, and why, in which functions of each of its files."""
    found = []
    for one in taken:
        notes = ", ".join(dict.fromkeys(one.notes[:3]))
        places = dict[str, dict[str, None]]()
        for site in one.sites:
            functions = places.setdefault(site.file, {})
            if site.function:
                functions[site.function.rpartition("::")[2]] = None
        for path, functions in places.items():
            what = one.motif.title + (f": {notes}" if notes else "")
            found.append(
                Change(what=what, why=one.motif.why, path=path, functions=tuple(functions))
            )
    return tuple(found)

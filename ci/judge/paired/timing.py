"""Times a candidate on a device whose times scatter: against the baseline, in turn."""

from __future__ import annotations

from collections.abc import Mapping

from ci.backend.base import Build
from ci.judge.gate_subject import Subject
from ci.judge.measure import interval
from ci.judge.paired.noise_floor import ENOUGH_RUNS, AARun, floor
from ci.judge.paired.noise_store import NoiseStore
from ci.judge.paired.plan import Plan
from ci.judge.paired.rounds import MEAN, Rounds, Side, take_rounds
from ci.judge.reference import empty_like
from ci.model.errors import EnvironmentProblem, TrialFailure
from ci.model.launch import Sample
from ci.model.trial import CaseMeasurement, Measurement

LEAST_KEPT = 2
"""Fewer valid pairs than this give no time."""


def time_in_pairs(subject: Subject, store: NoiseStore | None = None) -> Measurement:
    """The times of a candidate whose launches on the workload's first seed all ended well.

    The unmodified operator is held against a second build of itself, once and as often as its
    noise floor still needs; anything else against the unmodified operator. Raises TrialFailure,
    and EnvironmentProblem when nearly all samples are disturbed.
    """
    store = store or NoiseStore()
    standard = subject.standard
    unmodified = standard.references.unmodified
    if standard.changed(subject.candidate.files):
        rounds = _rounds(subject, unmodified, subject.build(), store)
        return _measurement(subject, rounds, itself=False)
    rounds = _again(subject, unmodified, store)
    while len(_kept(subject, store, MEAN)) < ENOUGH_RUNS:
        rounds = _again(subject, unmodified, store)
    return _measurement(subject, rounds, itself=True)


def _again(subject: Subject, unmodified: Build, store: NoiseStore) -> Rounds:
    """One A/A run, which is kept."""
    standard = subject.standard
    second = standard.backend.build(standard.operator, {}, standard.workload)
    rounds = _rounds(subject, unmodified, second, store, looks=1)
    runs = {name: AARun.of(logs) for name, logs in rounds.logs.items()}
    store.add(standard.backend.unit, standard.operator.name, runs)
    return rounds


def _kept(subject: Subject, store: NoiseStore, case: str) -> list[AARun]:
    return store.runs(subject.standard.backend.unit, subject.standard.operator.name, case)


def _rounds(
    subject: Subject,
    baseline: Build,
    candidate: Build,
    store: NoiseStore,
    looks: int | None = None,
) -> Rounds:
    workload = subject.standard.workload
    cases = {case.name: case for case in workload.cases}
    seed = workload.seeds[0]
    builds: Mapping[Side, Build] = {"baseline": baseline, "candidate": candidate}

    def take(side: Side, name: str) -> Sample:
        right = subject.standard.references.of(cases[name], seed)
        outputs = empty_like(right.outputs)
        try:
            return builds[side].sample(cases[name], right.inputs, outputs, seed=seed)
        except TrialFailure as failure:
            if side == "candidate":
                raise
            raise EnvironmentProblem(
                f"The original operator ran on case {name} before and now does not"
                f" ({failure.refusal.sentence}), so the device"
                f" {subject.standard.backend.unit} is not fit to measure on; see `npu-smi info`."
            ) from failure

    rounds = take_rounds(
        take,
        {case.name: case.weight for case in workload.cases},
        {name: floor(_kept(subject, store, name)) for name in (*cases, MEAN)},
        seed=int(subject.candidate.hash, 16),
        plan=Plan(),
        most_looks=looks,
    )
    if len(rounds.times) < LEAST_KEPT:
        named = ", ".join(f"{n} {why}" for why, n in rounds.mean.dropped.items())
        raise EnvironmentProblem(
            f"The device {subject.standard.backend.unit} is not fit to measure on: of its samples"
            f" hardly one counts ({named}); see `npu-smi info` for its clock and for who uses it."
        )
    return rounds


def _measurement(subject: Subject, rounds: Rounds, *, itself: bool) -> Measurement:
    """`itself`: of the baseline, whose pairs say nothing but noise."""
    rows = []
    for index, case in enumerate(subject.standard.workload.cases):
        launched = subject.at(case, subject.standard.workload.seeds[0]).launched
        against, own = (tuple(map(float, rounds.times[:, index, side])) for side in (0, 1))
        time = interval(own)
        rows.append(
            CaseMeasurement(
                case=case.name,
                samples_us=own,
                median_us=time.median,
                low_us=time.low,
                high_us=time.high,
                tiling_key=launched.run.tiling_key,
                pipes=launched.run.pipes,
                weight=case.weight,
                against_us=() if itself else against,
                paired=None if itself else rounds.found[case.name],
            )
        )
    return Measurement(
        fingerprint=subject.standard.backend.fingerprint(),
        cases=tuple(rows),
        paired=None if itself else rounds.mean,
    )

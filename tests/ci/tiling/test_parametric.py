from math import isqrt
from pathlib import Path

import pytest

from ci.model.operator import Operator
from ci.model.trial import Candidate, Outcome, Trial
from ci.testing.model_operator import (
    HOST_FILE,
    KERNEL_FILE,
    ModelEvaluator,
    write,
)
from ci.tiling.core_knobs import CORE_WORK
from ci.tiling.foretold import limits_nothing
from ci.tiling.parametric import knob_moves, sample
from ci.tiling.synthesize import follow, synthesize
from ci.tiling.template import Cut, KnobValue


@pytest.fixture
def operator(tmp_path: Path) -> Operator:
    return write(tmp_path)


@pytest.fixture
def baseline(operator: Operator) -> Trial:
    return ModelEvaluator(operator).evaluate(Candidate(), 0)


def moved(
    operator: Operator, baseline: Trial, history: list[Trial], classes: tuple[str, ...] = ()
) -> list[tuple[str, KnobValue]]:
    template = synthesize(operator, "910B4")
    now = template.values
    found = []
    for values, _, _ in knob_moves(
        template, classes, baseline, history, {}, follow(operator, template, history)
    ):
        changes = [(k, v) for k, v in values.items() if v != now[k]]
        assert len(changes) == 1
        found.append(changes[0])
    return found


def trial(baseline: Trial, knob: str, value: KnobValue, operator: Operator, time: float) -> Trial:
    values = synthesize(operator, "910B4").values | {knob: value}
    candidate = Candidate(
        files={HOST_FILE: f"{knob}{value}"},
        stage="tiling",
        parent=baseline.candidate.hash,
        knobs=values,
    )
    if time == 0:
        return Trial(number=1, candidate=candidate, outcome=Outcome.MEMORY_ERROR)
    assert baseline.measurement is not None
    (case,) = baseline.measurement.cases
    took = case.model_copy(update={"samples_us": (time,), "median_us": time})
    measurement = baseline.measurement.model_copy(update={"cases": (took,)})
    return baseline.model_copy(
        update={"number": 1, "candidate": candidate, "measurement": measurement}
    )


def test_the_diagnosis_decides_which_knob_moves_first(operator: Operator, baseline: Trial) -> None:
    assert moved(operator, baseline, [baseline], ("launch_overhead",))[0][0] == "coreNum.root"
    assert moved(operator, baseline, [baseline], ("no_overlap",))[0][0] == "ubSize.share"


def test_a_limit_on_the_cores_takes_the_place_of_another_one(
    operator: Operator, baseline: Trial
) -> None:
    template = synthesize(operator, "910B4")
    limited = template.values | {"coreNum.root": 4096}
    best = trial(baseline, "coreNum.root", 4096, operator, 5.0)
    best = best.model_copy(
        update={"candidate": Candidate(files=template.changes(limited), stage="tiling")}
    )
    history = [baseline, best]
    at = follow(operator, template, history)
    now = at[best.candidate.hash]
    assert now.values["coreNum.root"] == 4096
    moves = list(knob_moves(now, ("launch_overhead",), best, history, {}, at))
    (first, why, move), *_ = [m for m in moves if m[2].startswith("tiling.core_work")]
    assert (first["coreNum.root"], first["coreNum.work"], move) == (
        0,
        8192,
        "tiling.core_work.8192",
    )
    assert "Before: at most √(elements / 4096) cores." in why
    others = [values for values, _, id in moves if not id.startswith("tiling.core_")]
    assert others and all(values["coreNum.root"] == 4096 for values in others)

    candidate = Candidate(
        files=now.changes(first), stage="tiling", parent=best.candidate.hash, knobs=first
    )
    same = best.model_copy(update={"number": 2, "candidate": candidate})
    history.append(same)
    at = follow(operator, template, history)
    again = [v for v, _, id in knob_moves(now, (), best, history, {}, at) if "core_work" in id]
    assert again and all(v["coreNum.work"] > 8192 or v["coreNum.output"] for v in again)


def test_every_knob_moves_once_before_any_moves_twice(operator: Operator, baseline: Trial) -> None:
    names = [name for name, _ in moved(operator, baseline, [baseline])]
    knobs = len(synthesize(operator, "910B4").knobs)
    assert len(set(names[:knobs])) == knobs


def test_beyond_a_failure_nothing_is_tried(operator: Operator, baseline: Trial) -> None:
    failed = trial(baseline, "ubParts", 3, operator, 0)
    values = [v for k, v in moved(operator, baseline, [baseline, failed]) if k == "ubParts"]
    assert values
    assert min(values) > 3


def test_a_limit_that_did_not_bite_rules_out_looser_ones(
    operator: Operator, baseline: Trial
) -> None:
    assert baseline.measurement is not None
    same = trial(baseline, "coreNum.work", 8192, operator, baseline.measurement.score_us)
    values = [v for k, v in moved(operator, baseline, [baseline, same]) if k == "coreNum.work"]
    assert values
    assert min(values) > 8192


def test_a_limit_that_failed_rules_out_tighter_ones(operator: Operator, baseline: Trial) -> None:
    failed = trial(baseline, "ubSize.work", 4, operator, 0)
    values = [v for k, v in moved(operator, baseline, [baseline, failed]) if k == "ubSize.work"]
    assert values
    assert min(values) > 4


def test_a_clearly_harmful_direction_is_left(operator: Operator, baseline: Trial) -> None:
    assert baseline.measurement is not None
    slow = trial(baseline, "ubSize.share", 8, operator, 2 * baseline.measurement.score_us)
    values = [v for k, v in moved(operator, baseline, [baseline, slow]) if k == "ubSize.share"]
    assert values
    assert min(values) > 8


def test_beyond_what_did_not_fit_other_shapes_nothing_is_tried_and_milder_values_are(
    operator: Operator, baseline: Trial
) -> None:
    assert baseline.measurement is not None
    quick = trial(baseline, "coreNum.work", 8192, operator, baseline.measurement.score_us / 2)
    unfit = quick.model_copy(update={"outcome": Outcome.UNFIT})
    values = [v for k, v in moved(operator, baseline, [baseline, unfit]) if k == "coreNum.work"]
    assert values == [4096, 2048, 1024, 512]


def test_what_other_shapes_refused_of_a_move_under_one_kernel_is_not_tried_under_another(
    operator: Operator, baseline: Trial
) -> None:
    assert baseline.measurement is not None
    time = baseline.measurement.score_us / 2

    def kernel(trial: Trial, text: str) -> Trial:
        told = trial.candidate.model_dump()
        told["files"] |= {KERNEL_FILE: text}
        return trial.model_copy(update={"candidate": Candidate(**told)})

    other = kernel(trial(baseline, "coreNum.work", 0, operator, time), "// other")
    unfit = kernel(trial(other, "coreNum.work", 8192, operator, time), "// other")
    unfit = unfit.model_copy(update={"outcome": Outcome.UNFIT})

    def values(*history: Trial) -> list[KnobValue]:
        return [v for k, v in moved(operator, baseline, [*history]) if k == "coreNum.work"]

    assert values(baseline, other, unfit) == [4096, 2048, 1024, 512]
    refused = other.model_copy(update={"outcome": Outcome.UNFIT})
    assert 8192 in values(baseline, refused, unfit)


def test_what_was_slower_under_this_kernel_is_not_moved_to_wherever_it_was_tried_from(
    operator: Operator, baseline: Trial
) -> None:
    template = synthesize(operator, "910B4")

    def tried(share: int, time: float) -> Trial:
        """A move of the unified buffer's share, made from the baseline."""
        values = template.values | {"ubSize.share": share}
        took = trial(baseline, "ubSize.share", share, operator, time)
        told = took.candidate.model_dump() | {"files": template.changes(values), "knobs": values}
        return took.model_copy(update={"candidate": Candidate(**told)})

    def shares(*others: Trial) -> set[KnobValue]:
        best = tried(8, 5.0)
        history = [baseline, best, *others]
        at = follow(operator, template, history)
        now = at[best.candidate.hash]
        moves = knob_moves(now, (), best, history, {}, at)
        return {values["ubSize.share"] for values, *_ in moves}

    assert {2, 4} <= shares() and not {2, 4} & shares(tried(4, 5.5))
    assert 2 in shares(tried(4, 5.05))


def test_a_knob_that_several_kernels_did_not_care_for_is_left_alone_under_the_next(
    operator: Operator, baseline: Trial
) -> None:
    template = synthesize(operator, "910B4")

    def under(number: int, time: float = 0.0) -> list[Trial]:
        """A kernel, and a move of a knob under it."""
        kernel = operator.kernel_sources[0]
        files = {kernel: operator.read(kernel) + f"// {number}"}
        parent = baseline.model_copy(update={"candidate": Candidate(files=files)})
        idle = trial(baseline, "ubSize.share", 8, operator, time or baseline_us)
        told = {"files": idle.candidate.files | files, "parent": parent.candidate.hash}
        candidate = idle.candidate.model_copy(update=told)
        return [parent, idle.model_copy(update={"candidate": Candidate(**candidate.model_dump())})]

    assert baseline.measurement is not None
    baseline_us = baseline.measurement.cases[0].median_us
    one = [baseline, *under(1)]
    two = [*one, *under(2)]

    def names(history: list[Trial]) -> set[str]:
        at = follow(operator, template, history)
        return {
            knob
            for values, *_ in knob_moves(template, (), baseline, history, {}, at)
            for knob in values
            if values[knob] != template.values[knob]
        }

    assert "ubSize.share" in names(one)
    assert names(two) == names(one) - {"ubSize.share"}
    assert "ubSize.share" in names([*two, *under(3, 2 * baseline_us)])


def test_what_made_the_program_at_hand_is_idle_in_all_that_it_moved(
    operator: Operator, baseline: Trial
) -> None:
    template = synthesize(operator, "910B4")
    values = template.values | {"ubSize.work": 4, "ubSize.share": 8}
    own = baseline.model_copy(update={"program": "same"})
    candidate = Candidate(
        files=template.changes(values), parent=baseline.candidate.hash, stage="tiling", knobs=values
    )
    equal = own.model_copy(update={"number": 1, "candidate": candidate, "cached": True})

    def moves(*history: Trial) -> set[tuple[str, KnobValue]]:
        return set(moved(operator, baseline, [*history]))

    both = {("ubSize.work", 4), ("ubSize.share", 8)}
    assert both <= moves(own)
    assert not both & moves(own, equal)
    other = equal.model_copy(update={"program": "other"})
    assert both <= moves(own, other)


def test_samples_are_the_same_for_the_same_seed_and_stay_near(
    operator: Operator, baseline: Trial
) -> None:
    template = synthesize(operator, "910B4")
    at = follow(operator, template, [baseline])
    one = list(sample(template, baseline, [baseline], 5, at))
    assert one == list(sample(template, baseline, [baseline], 5, at))
    assert one != list(sample(template, baseline, [baseline], 6, at))
    works = {values["coreNum.work"] for values in one}
    assert works <= {0, *CORE_WORK[1:4]}  # three steps from no limit


@pytest.mark.parametrize("elements", [256 * 45, 4096 * 45])
def test_a_limit_that_limits_nothing_is_neither_moved_to_nor_sampled(
    operator: Operator, baseline: Trial, elements: int
) -> None:
    whole = synthesize(operator, "910B4", cut=Cut(elements=(elements,)))
    (knob,) = (k for k in whole.knobs if k.name == "coreNum.work")
    template = whole.model_copy(update={"knobs": (knob,)})
    idle = {v for v in knob.values if limits_nothing(template, knob, v)}
    at = follow(operator, template, [baseline])
    moves = [v for v, _, _ in knob_moves(template, (), baseline, [baseline], {}, at)]
    sampled = list(sample(template, baseline, [baseline], 5, at))
    assert moves and bool(sampled) is bool({*CORE_WORK[1:4]} - idle)
    assert idle and idle.isdisjoint(values[knob.name] for values in (*moves, *sampled))


def test_samples_differ_from_trials_in_what_was_not_idle_alone(
    operator: Operator, baseline: Trial
) -> None:
    assert baseline.measurement is not None
    template = synthesize(operator, "910B4")
    time = baseline.measurement.cases[0].median_us
    history = [baseline]
    for knob in template.knobs:
        values = [v for v in template.choices(knob) if v != template.values[knob.name]]
        history += [trial(baseline, knob.name, v, operator, time) for v in (values[0], values[-1])]
    at = follow(operator, template, [baseline])
    assert list(sample(template, baseline, [baseline], 5, at))
    assert not list(sample(template, baseline, history, 5, at))


def test_what_held_on_such_bottlenecks_moves_first_and_what_seldom_held_last(
    operator: Operator, baseline: Trial
) -> None:
    template, now = synthesize(operator, "910B4"), synthesize(operator, "910B4").values
    plain = [move for *_, move in knob_moves(template, (), baseline, [baseline], {}, {})]
    known = {plain[5]: True, plain[0]: False, plain[4]: True, "tiling.nowhere.1": True}
    moves = list(knob_moves(template, (), baseline, [baseline], known, {}))
    assert [m[2] for m in moves if m[2] == plain[5]] == [m[2] for m in moves][
        : plain.count(plain[5])
    ]
    named = list(dict.fromkeys(m[2] for m in moves))
    assert named[:2] == [plain[5], plain[4]] and named[-1] == plain[0]
    assert sorted(plain) == sorted(m[2] for m in moves)
    assert all(sum(v != now[k] for k, v in values.items()) == 1 for values, *_ in moves)


def large(baseline: Trial) -> Trial:
    """The same on all cores of the chip, with 16 MiB each way, as fast as a plain copy of them."""
    assert baseline.measurement is not None
    (case,) = baseline.measurement.cases
    moved = {"gm_read_bytes": 16 << 20, "gm_write_bytes": 16 << 20, "block_dim": 40}
    told = {"pipes": case.pipes.model_copy(update=moved), "median_us": 38.0, "samples_us": (38.0,)}
    cases = (case.model_copy(update=told),)
    measurement = baseline.measurement.model_copy(update={"cases": cases})
    return baseline.model_copy(update={"measurement": measurement})


def test_so_few_cores_that_their_copies_take_longer_are_not_tried(
    operator: Operator, baseline: Trial
) -> None:
    many = large(baseline)
    elements = 1 << 18
    cut = Cut(elements=(elements,))
    template = synthesize(operator, "910B4", cut=cut)
    ladder = follow(operator, template, [many])
    offered = [values for values, _, _ in knob_moves(template, (), many, [many], {}, ladder)]
    roots = {values["coreNum.root"] for values in offered} - {0}
    work = {values["coreNum.work"] for values in offered} - {0}
    # Five vector cores are three AI cores, which read as fast as the memory; four are not enough.
    assert roots and all(isqrt(elements // int(v)) > 4 for v in roots)
    assert work and all(elements // int(v) + 1 > 4 for v in work)
    small = dict(moved(operator, baseline, [baseline]))
    assert elements // int(small["coreNum.work"]) + 1 <= 5, "few cores start early"

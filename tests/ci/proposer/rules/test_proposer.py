from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ci.model.diagnosis import Diagnosis
from ci.model.operator import Operator
from ci.model.trial import Candidate, Fingerprint, Outcome, Trial
from ci.proposer.base import Step
from ci.proposer.rules.choice import rank_motifs
from ci.proposer.rules.proposer import rules_proposer
from ci.source.discovery import load_operator
from ci.testing.model_operator import (
    HOST,
    HOST_FILE,
    KERNEL_FILE,
    WORKLOAD,
    ModelEvaluator,
    write,
)
from experience.bank.retrieve import Retrieved
from experience.bank.tuple import TILING, EffectEvidence, ExperienceTuple
from rules.load import Motif, load_motifs

PRINT = Fingerprint(backend="sim", device="910B4", version="1", simulated=True)
NOTHING = Diagnosis(bottleneck="", classes=(), evidence=())


@pytest.fixture
def operator(tmp_path: Path) -> Operator:
    return write(tmp_path)


@pytest.fixture
def baseline(operator: Operator) -> Trial:
    return ModelEvaluator(operator).evaluate(Candidate(), 0)


def retrieved(motif_id: str) -> Retrieved:
    earned = ExperienceTuple(
        id=f"id-{motif_id}",
        title=motif_id,
        description="",
        bottleneck="",
        diff="",
        diff_hash=motif_id,
        motif_id=motif_id,
        op_family="math",
        soc="910B4",
        direction="rewind",
        evidence=EffectEvidence(slow_us=2, fast_us=1, samples=1, noise_floor=0, test="exact"),
        operator="other",
        fingerprint=PRINT,
        created=datetime(2026, 1, 1, tzinfo=UTC),
    )
    return Retrieved(tuple=earned, similarity=0.9, score=0.9, why="")


def test_the_motif_that_experience_names_is_tried_first(
    operator: Operator, baseline: Trial
) -> None:
    for rule in ("remove-vector-barrier", "fuse-axpy"):
        candidate = rules_proposer().rewrite(
            Step(operator, baseline, [baseline]), NOTHING, [retrieved(rule)]
        )
        assert candidate is not None
        assert candidate.motif_ids == (rule,)
        assert candidate.tuple_ids == (f"id-{rule}",)


def test_without_experience_the_diagnosed_class_decides() -> None:
    stall = Diagnosis(bottleneck="", classes=("sync_stall",), evidence=())
    first = rank_motifs(load_motifs(), stall, (), ())[0]
    assert first.classes[0] == "sync_stall"
    conflict = Diagnosis(bottleneck="", classes=("bank_conflict",), evidence=())
    assert "bank_conflict" in rank_motifs(load_motifs(), conflict, (), ())[0].classes


def test_proposals_are_a_pure_function_of_their_arguments(
    operator: Operator, baseline: Trial
) -> None:
    one, two = rules_proposer(), rules_proposer()
    template = one.synthesize(operator, WORKLOAD, "910B4")
    assert two.synthesize(operator, WORKLOAD, "910B4") == template
    history = [baseline]
    for step in range(12):
        a = one.mutate(Step(operator, baseline, history, 7), template)
        assert a == two.mutate(Step(operator, baseline, history, 7), template)
        assert a is not None
        history.append(ModelEvaluator(operator).evaluate(a, step + 1))


def test_no_proposal_repeats_and_both_stages_come_to_an_end(
    operator: Operator, baseline: Trial
) -> None:
    proposer = rules_proposer()
    history = [baseline]
    while candidate := proposer.rewrite(Step(operator, baseline, history, 0), NOTHING, ()):
        assert candidate.hash not in {t.candidate.hash for t in history}
        assert set(candidate.files) == {KERNEL_FILE}
        history.append(
            Trial(number=len(history), candidate=candidate, outcome=Outcome.COMPILE_ERROR)
        )
        assert len(history) < 100
    assert len(history) > 5


def test_places_that_hardly_helped_together_are_not_tried_alone(
    operator: Operator, baseline: Trial
) -> None:
    proposer = rules_proposer([m for m in load_motifs() if m.id == "remove-vector-barrier"])
    both = proposer.rewrite(Step(operator, baseline, [baseline], 0), NOTHING, ())
    assert both is not None
    assert "2 places" in both.rationale
    same = baseline.model_copy(update={"number": 1, "candidate": both})
    assert proposer.rewrite(Step(operator, baseline, [baseline, same], 0), NOTHING, ()) is None
    assert baseline.measurement is not None
    (case,) = baseline.measurement.cases
    little = case.model_copy(update={"median_us": case.median_us / 1.005})
    better = baseline.measurement.model_copy(update={"cases": (little,)})
    gained = same.model_copy(update={"measurement": better})
    assert proposer.rewrite(Step(operator, baseline, [baseline, gained], 0), NOTHING, ()) is None
    failed = Trial(number=1, candidate=both, outcome=Outcome.RACE)
    alone = proposer.rewrite(Step(operator, baseline, [baseline, failed], 0), NOTHING, ())
    assert alone is not None
    assert "at line" in alone.rationale


def reworded(motif: Motif) -> Motif:
    """The same motif, told in words that are the same for all of them."""
    return motif.model_copy(
        update={"title": "Better at line 3 (x)", "bottleneck": "Slow.", "why": "Fast."}
    )


def test_the_words_of_motifs_decide_nothing(operator: Operator, baseline: Trial) -> None:
    def tried(motifs: Sequence[Motif]) -> list[str]:
        rewrite = rules_proposer(motifs).rewrite
        history, best = [baseline], baseline
        while candidate := rewrite(Step(operator, best, history, 0), NOTHING, ()):
            history.append(ModelEvaluator(operator).evaluate(candidate, len(history)))
            if len(history) % 4 == 0 and history[-1].measurement is not None:
                best = history[-1]
        return [t.candidate.hash for t in history]

    expected = tried(load_motifs())
    assert len(expected) > 6
    assert tried([reworded(m) for m in load_motifs()]) == expected


def test_what_made_no_difference_is_not_tried_again_under_another_title(
    operator: Operator, baseline: Trial
) -> None:
    motifs = [m for m in load_motifs() if m.id == "remove-vector-barrier"]
    both = rules_proposer(motifs).rewrite(Step(operator, baseline, [baseline], 0), NOTHING, ())
    assert both is not None
    same = baseline.model_copy(update={"number": 1, "candidate": both})
    # An inherited change moves every line, and makes every candidate a new one.
    later = Candidate(
        files={KERNEL_FILE: "// moved\n" + operator.read(KERNEL_FILE)}, stage="kernel"
    )
    best = baseline.model_copy(update={"number": 2, "candidate": later})
    renamed = rules_proposer([reworded(m) for m in motifs])
    assert renamed.rewrite(Step(operator, best, [baseline, best], 0), NOTHING, ()) is not None
    history = [baseline, same, best]
    assert renamed.rewrite(Step(operator, best, history, 0), NOTHING, ()) is None


def slower(trial: Trial, factor: float) -> Trial:
    assert trial.measurement is not None
    cases = tuple(
        c.model_copy(update={"median_us": c.median_us * factor}) for c in trial.measurement.cases
    )
    measurement = trial.measurement.model_copy(update={"cases": cases})
    return trial.model_copy(update={"measurement": measurement})


@pytest.mark.parametrize(("factor", "again"), [(1.3, False), (1.05, True)])
def test_what_cost_a_tenth_is_not_tried_again_from_another_parent(
    operator: Operator, baseline: Trial, factor: float, again: bool
) -> None:
    proposer = rules_proposer([m for m in load_motifs() if m.id == "remove-vector-barrier"])
    first = proposer.rewrite(Step(operator, baseline, [baseline], 0), NOTHING, ())
    assert first is not None
    harmed = slower(baseline.model_copy(update={"number": 1, "candidate": first}), factor)
    later = Candidate(
        files={KERNEL_FILE: "// moved\n" + operator.read(KERNEL_FILE)}, stage="kernel"
    )
    best = baseline.model_copy(update={"number": 2, "candidate": later})
    history, tried = [baseline, harmed, best], []
    while found := proposer.rewrite(Step(operator, best, history, 0), NOTHING, ()):
        tried.append(found.sites)
        history.append(Trial(number=len(history), candidate=found, outcome=Outcome.COMPILE_ERROR))
    assert (first.sites in tried) is again


@pytest.mark.parametrize(("places", "asked"), [(2, True), (3, False)])
def test_a_motif_that_made_no_difference_at_three_places_is_left_alone(
    operator: Operator, baseline: Trial, places: int, asked: bool
) -> None:
    proposer = rules_proposer([m for m in load_motifs() if m.id == "remove-vector-barrier"])
    one = proposer.rewrite(Step(operator, baseline, [baseline], 0), NOTHING, ())
    assert one is not None
    history = [baseline]
    for number in range(1, places + 1):
        moved = one.sites[0].model_copy(update={"function": f"elsewhere{number}"})
        tried = one.model_copy(update={"sites": (moved,), "files": {KERNEL_FILE: f"// {number}"}})
        history.append(baseline.model_copy(update={"number": number, "candidate": tried}))
    found = proposer.rewrite(Step(operator, baseline, history, 0), NOTHING, ())
    assert (found is not None) is asked


def test_code_that_the_workload_never_runs_is_left_alone(
    operator: Operator, baseline: Trial
) -> None:
    assert baseline.measurement is not None
    (case,) = baseline.measurement.cases
    elsewhere = case.pipes.model_copy(update={"ran": {KERNEL_FILE: (38,)}})
    cold = baseline.model_copy(
        update={
            "measurement": baseline.measurement.model_copy(
                update={"cases": (case.model_copy(update={"pipes": elsewhere}),)}
            )
        }
    )
    proposer = rules_proposer([m for m in load_motifs() if m.id == "remove-vector-barrier"])
    assert proposer.rewrite(Step(operator, baseline, [baseline], 0), NOTHING, ()) is not None
    assert proposer.rewrite(Step(operator, cold, [cold], 0), NOTHING, ()) is None


def test_where_one_of_two_files_gains_each_is_tried_alone(operator: Operator) -> None:
    wide = operator.read(KERNEL_FILE).replace("KernelScaleRows", "KernelWide")
    (operator.root / "op_kernel/wide.h").write_text(wide[: wide.index('extern "C"')])
    kernel = operator.read(KERNEL_FILE)
    (operator.root / KERNEL_FILE).write_text(kernel.replace("\n", '\n#include "wide.h"\n', 1))
    operator = load_operator(operator.root)
    evaluator = ModelEvaluator(operator)
    baseline = evaluator.evaluate(Candidate(), 0)
    proposer = rules_proposer([m for m in load_motifs() if m.id == "remove-vector-barrier"])
    both = proposer.rewrite(Step(operator, baseline, [baseline], 0), NOTHING, ())
    assert both is not None and len({site.file for site in both.sites}) == 2
    assert {part.path for part in both.parts} == {KERNEL_FILE, "op_kernel/wide.h"}
    assert baseline.measurement is not None
    (case,) = baseline.measurement.cases

    def after(*factors: float) -> Trial:
        cases = tuple(case.model_copy(update={"median_us": case.median_us * f}) for f in factors)
        measured = evaluator.evaluate(both, 1).measurement
        assert measured is not None
        found = measured.model_copy(update={"cases": cases})
        return Trial(number=1, candidate=both, outcome=Outcome.UNFIT, measurement=found)

    two = baseline.measurement.model_copy(update={"cases": (case, case)})
    baseline = baseline.model_copy(update={"measurement": two})
    history = [baseline, after(0.8, 1.1)]
    alone = proposer.rewrite(Step(operator, baseline, history, 0), NOTHING, ())
    assert alone is not None and len({site.file for site in alone.sites}) == 1
    history = [baseline, after(1.0, 1.1)]
    assert proposer.rewrite(Step(operator, baseline, history, 0), NOTHING, ()) is None


def test_motifs_that_are_tried_together_keep_what_each_changed_in_every_file(
    operator: Operator,
) -> None:
    wide = operator.read(KERNEL_FILE).replace("KernelScaleRows", "KernelWide")
    (operator.root / "op_kernel/wide.h").write_text(wide[: wide.index('extern "C"')])
    kernel = operator.read(KERNEL_FILE)
    (operator.root / KERNEL_FILE).write_text(kernel.replace("\n", '\n#include "wide.h"\n', 1))
    operator = load_operator(operator.root)
    baseline = ModelEvaluator(operator).evaluate(Candidate(), 0)
    motifs = [m for m in load_motifs() if m.id in ("remove-vector-barrier", "double-buffering")]
    sure = [retrieved(m.id).model_copy(update={"reliability": 0.99}) for m in motifs]
    one = rules_proposer(motifs).rewrite(Step(operator, baseline, [baseline], 0), NOTHING, sure)
    assert one is not None and len(one.motif_ids) == 2
    for text in (one.files[KERNEL_FILE], one.files["op_kernel/wide.h"]):
        assert "PipeBarrier" not in text and "BUFFER_NUM = 2" in text


@pytest.mark.parametrize(("hot", "tried"), [("Add(y, y, tmp, n)", True), ("Init(", False)])
def test_a_function_runs_when_one_that_it_calls_does(
    operator: Operator, baseline: Trial, hot: str, tried: bool
) -> None:
    assert baseline.measurement is not None
    compute = "    __aicore__ inline void Compute(int32_t n)\n"
    process = compute.replace("Compute", "Process")
    body = "{\n Duplicate(one, 1.0f, 8);\n PipeBarrier<PIPE_V>();\n Compute(n);\n}\n"
    kernel = operator.read(KERNEL_FILE).replace("        PipeBarrier<PIPE_V>();\n", "")
    kernel = kernel.replace(compute, process + body + compute)
    (case,) = baseline.measurement.cases
    line = kernel[: kernel.index(hot)].count("\n") + 1
    pipes = case.pipes.model_copy(update={"ran": {KERNEL_FILE: (line,)}})
    measured = baseline.measurement.model_copy(
        update={"cases": (case.model_copy(update={"pipes": pipes}),)}
    )
    candidate = Candidate(files={KERNEL_FILE: kernel}, stage="kernel")
    best = baseline.model_copy(update={"candidate": candidate, "measurement": measured})
    proposer = rules_proposer([m for m in load_motifs() if m.id == "remove-vector-barrier"])
    found = proposer.rewrite(Step(operator, best, [best], 0), NOTHING, ())
    assert (found is not None) == tried


def test_where_no_joint_motif_is_left_constants_of_earlier_steps_are_moved(
    operator: Operator, baseline: Trial
) -> None:
    text = "constexpr int64_t CORE_WORK = 8192;\n" + operator.read(HOST_FILE)
    joint = Candidate(files={HOST_FILE: text}, stage="joint", parent=baseline.candidate.hash)
    best = baseline.model_copy(update={"number": 1, "candidate": joint})
    rewrite = rules_proposer([]).rewrite_both
    moved = rewrite(Step(operator, best, [baseline, best]), NOTHING, ())
    assert moved is not None and "CORE_WORK = 16384;" in moved.files[HOST_FILE]
    assert moved.stage == "joint" and moved.parent == joint.hash
    assert rewrite(Step(operator, baseline, [baseline]), NOTHING, ()) is None


def test_rewind_removes_one_optimization_at_a_time_with_its_lesson(operator: Operator) -> None:
    kernel = operator.read(KERNEL_FILE).replace("BUFFER_NUM = 1", "BUFFER_NUM = 2")
    ways = rules_proposer().rewind(operator, {KERNEL_FILE: kernel}, ())
    by_motif = {w.motif_id: w for w in ways}
    undone = by_motif["double-buffering"]
    assert undone.candidate.files == {}  # back to what is in the repository
    assert undone.candidate.parent == Candidate(files={KERNEL_FILE: kernel}).hash
    assert "no_overlap" in undone.classes
    assert undone.description
    assert all(HOST_FILE not in w.candidate.files for w in ways)


def test_what_was_removed_before_comes_last(operator: Operator) -> None:
    first = rules_proposer().rewind(operator, {}, ())[0].motif_id
    assert rules_proposer().rewind(operator, {}, (first,))[0].motif_id != first


def test_a_tiling_candidate_says_which_knobs_it_set(operator: Operator, baseline: Trial) -> None:
    proposer = rules_proposer()
    template = proposer.synthesize(operator, WORKLOAD, "910B4")
    history = [baseline]
    stages = set()
    for step in range(10):
        candidate = proposer.mutate(Step(operator, baseline, history, 0), template)
        assert candidate is not None
        stages.add(candidate.motif_ids[0])
        if candidate.motif_ids[0].startswith(TILING):
            assert candidate.knobs.keys() == template.values.keys()
        history.append(ModelEvaluator(operator).evaluate(candidate, step + 1))
    assert "spread-small-inputs" in stages
    assert "tiling.ub_share.8" in stages


@pytest.mark.parametrize(("bytes_a_copy", "tried"), [(8192, True), (32768, False)])
def test_a_motif_of_tilings_that_cannot_matter_is_not_tried(
    tmp_path: Path, bytes_a_copy: int, tried: bool
) -> None:
    tile = "uint64_t tile = ubSize / ubParts / BUFFER_NUM / BLOCK_SIZE * 8;"
    blocks = "uint64_t ubBlocks = ubSize / ubParts / BUFFER_NUM / BLOCK_SIZE;\n"
    assert tile in HOST
    operator = write(tmp_path, HOST.replace(tile, f"{blocks}    uint64_t tile = ubBlocks * 8;"))
    baseline = ModelEvaluator(operator).evaluate(Candidate(), 0)
    assert baseline.measurement is not None
    (case,) = baseline.measurement.cases
    counted = {
        "gm_read_bytes": 8 * bytes_a_copy,
        "gm_write_bytes": 0,
        "instructions": {"copy_gm_to_ubuf_align_b32": 8},
        "busy_cycles": {"MTE2": 0.9 * case.pipes.total_cycles},
    }
    copied = case.model_copy(update={"pipes": case.pipes.model_copy(update=counted)})
    measured = baseline.measurement.model_copy(update={"cases": (copied,)})
    history = [baseline.model_copy(update={"measurement": measured})]
    proposer = rules_proposer()
    template = proposer.synthesize(operator, WORKLOAD, "910B4")
    found = set()
    while (one := proposer.mutate(Step(operator, history[0], history, 0), template)) is not None:
        found |= {*one.motif_ids}
        history.append(history[0].model_copy(update={"candidate": one, "number": len(history)}))
        if len(history) > 40:
            break
    assert ("align-tile" in found) is tried

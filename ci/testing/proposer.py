"""What every proposer must do: subclass `ProposerContract` and provide the `proposer` fixture.

The operator is `ci.testing.scale_shift`, with a profile as a machine would give it: no proposer
builds or runs anything, so nothing is measured here.
"""

from __future__ import annotations

import pytest

from ci.model.trial import (
    Candidate,
    CaseMeasurement,
    Fingerprint,
    Measurement,
    Outcome,
    PipeTime,
    Trial,
)
from ci.proposer.base import Proposer, Step
from ci.testing.backend import SLOWER
from ci.testing.scale_shift import HOST, KERNEL, OPERATOR, WORKLOAD
from experience.bank.distill import Lesson
from rules.load import load_taxonomy

DRAFT = Lesson(title="a draft", description="why", bottleneck="what", classes=("no_overlap",))
SEED = 3


def profiled(total_cycles: int, candidate: Candidate) -> Trial:
    """A trial that took so many cycles, and mostly waited for copies."""
    pipes = PipeTime(
        total_cycles=total_cycles,
        block_dim=4,
        busy_cycles={"VECTOR": 0.2 * total_cycles, "MTE2": 0.4 * total_cycles, "SCALAR": 90.0},
        wait_cycles={"VECTOR<-MTE2": 0.4 * total_cycles},
        instructions={"vmuls": 8, "vadds": 8, "pipe_barrier": 8, "copy_gm_to_ubuf": 8},
        gm_read_bytes=1 << 16,
        gm_write_bytes=1 << 16,
    )
    time = total_cycles / 1650  # µs at the 910B4's clock
    cases = tuple(
        CaseMeasurement(
            case=c.name, samples_us=(time,), median_us=time, low_us=time, high_us=time, pipes=pipes
        )
        for c in WORKLOAD.cases
    )
    machine = Fingerprint(backend="sim", device="910B4", version="1", simulated=True)
    measurement = Measurement(fingerprint=machine, cases=cases)
    return Trial(number=0, candidate=candidate, outcome=Outcome.OK, measurement=measurement)


BASELINE = profiled(9000, Candidate())
SLOWER_TRIAL = profiled(12000, Candidate(files=SLOWER, stage="rewind"))


class ProposerContract:
    """The behaviour that the search and the bank rely on."""

    @pytest.fixture
    def baseline(self) -> Trial:
        """The original operator."""
        return BASELINE

    @pytest.fixture
    def slower(self) -> Trial:
        """The operator without one of its optimizations."""
        return SLOWER_TRIAL

    def test_the_template_gives_sources_back_without_markers(self, proposer: Proposer) -> None:
        template = proposer.synthesize(OPERATOR, WORKLOAD, "910B4")
        assert template.blocks
        plain = template.plain()
        assert "EVOLVE-BLOCK" not in "".join(plain.values())
        assert template.admits(plain)
        differing = {p: t for p, t in plain.items() if t != OPERATOR.read(p)}
        assert differing == (template.base.files if template.base is not None else {})

    def test_a_tiling_step_stays_inside_the_markers_and_keeps_the_kernel(
        self, proposer: Proposer, baseline: Trial
    ) -> None:
        template = proposer.synthesize(OPERATOR, WORKLOAD, "910B4")
        best = as_base(baseline, template.base)
        candidate = proposer.mutate(Step(OPERATOR, best, [best], SEED), template)
        assert candidate is not None
        assert (candidate.stage, candidate.parent) == ("tiling", best.candidate.hash)
        assert candidate.hash != best.candidate.hash
        assert KERNEL not in candidate.files
        assert template.admits({HOST: candidate.files[HOST]})
        assert candidate.rationale and candidate.proposer

    def test_a_diagnosis_names_known_classes(self, proposer: Proposer, baseline: Trial) -> None:
        found = proposer.diagnose(OPERATOR, baseline)
        assert found.bottleneck
        assert found.classes
        assert set(found.classes) <= set(load_taxonomy())

    def test_a_kernel_step_keeps_the_tiling(self, proposer: Proposer, baseline: Trial) -> None:
        proposer.synthesize(OPERATOR, WORKLOAD, "910B4")  # as every search begins
        diagnosis = proposer.diagnose(OPERATOR, baseline)
        candidate = proposer.rewrite(Step(OPERATOR, baseline, [baseline], SEED), diagnosis, ())
        assert candidate is not None
        assert set(candidate.files) == {KERNEL}
        assert (candidate.stage, candidate.parent) == ("kernel", baseline.candidate.hash)
        assert candidate.tuple_ids == ()

    def test_a_removal_changes_the_kernel_alone_and_names_what_it_removed(
        self, proposer: Proposer
    ) -> None:
        ways = proposer.rewind(OPERATOR, {}, ())
        assert ways
        assert len({w.candidate.hash for w in ways}) == len(ways)
        for way in ways:
            assert set(way.candidate.files) == {KERNEL}
            assert way.candidate.stage == "rewind"
            assert way.title and way.description and way.motif_id
            assert way.classes and set(way.classes) <= set(load_taxonomy())

    def test_a_lesson_has_words_and_known_classes(
        self, proposer: Proposer, baseline: Trial, slower: Trial
    ) -> None:
        lesson = proposer.distill(OPERATOR, slower, baseline, DRAFT)
        assert lesson.title and lesson.description and lesson.bottleneck
        assert lesson.classes and set(lesson.classes) <= set(load_taxonomy())

    def test_who_fills_the_roles_is_said(self, proposer: Proposer) -> None:
        roles = proposer.models.roles()
        assert all(roles.values())
        assert set(roles) in (
            set(),
            {"synthesis", "mutation", "rewind", "distillation", "diagnosis", "rewriting"},
        )


def as_base(baseline: Trial, base: Candidate | None) -> Trial:
    """The baseline, or what would stand for it had the base program been measured the same."""
    return baseline if base is None else baseline.model_copy(update={"candidate": base})

"""A recording says nothing without the sources that it was made on, and plays back on them."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci.model.diagnosis import Diagnosis
from ci.model.errors import InputError
from ci.model.trial import Candidate, Outcome, Trial
from ci.proposer.base import Step
from ci.proposer.llm.answer import BadAnswer
from ci.proposer.llm.call_log import read_calls
from ci.proposer.llm.edits import apply_edits, read_edits
from ci.proposer.llm.proposer import llm_proposer
from ci.proposer.llm.recorded_file import (
    Head,
    by_position,
    read_recording,
    without_code,
    write_recording,
)
from ci.proposer.replay import replay_proposer
from ci.testing.proposer import BASELINE
from ci.testing.scale_shift import HOST, KERNEL, OPERATOR, WORKLOAD
from tests.ci.proposer.llm.make import models_at, run_at
from tests.ci.proposer.llm.script import Script
from tests.ci.proposer.llm.server import serving

NOTHING = Diagnosis(bottleneck="", classes=(), evidence=())
BEFORE = {"k.h": "int a;\nint b;\nint c;\nint d;\n"}
AFTER = {"k.h": "int d;\nint a;\n  int mine;\nint c;\n"}


def test_edits_by_position_give_the_text_back_and_quote_none_of_it() -> None:
    told = by_position(BEFORE, AFTER)
    assert apply_edits(BEFORE, read_edits(told)) == AFTER
    assert "int mine;" in told
    assert not any(line in told for line in BEFORE["k.h"].splitlines())


def test_edits_by_position_hold_for_their_own_text_only() -> None:
    other = {"k.h": BEFORE["k.h"].replace("int b;", "int other;")}
    with pytest.raises(BadAnswer, match="another text"):
        apply_edits(other, read_edits(by_position(BEFORE, AFTER)))


@pytest.fixture
def recorded(tmp_path: Path) -> tuple[Path, Candidate]:
    """The recording of a run of one kernel step on scale_shift, and what was proposed there."""
    with serving(Script()) as server:
        proposer = llm_proposer(models_at(server))
        calls = tmp_path / "trials.sqlite"
        proposer.models.begin(run_at(calls))
        roles = proposer.models.roles()
        made = proposer.rewrite(Step(OPERATOR, BASELINE, [BASELINE]), NOTHING, ())
    assert made is not None
    trials = [BASELINE, Trial(number=1, candidate=made, outcome=Outcome.OK)]
    answers = list(without_code(read_calls(calls), trials, OPERATOR))
    path = tmp_path / "scale_shift.jsonl"
    head = Head(operator=OPERATOR.name, identity={"operator": OPERATOR.name, "models": roles})
    write_recording(path, head, answers)
    return path, made


def test_a_recording_holds_no_line_of_the_operator(recorded: tuple[Path, Candidate]) -> None:
    text = recorded[0].read_text()
    for path in (HOST, KERNEL):
        lines = {line.strip() for line in OPERATOR.read(path).splitlines() if len(line) > 20}
        assert not [line for line in lines if line in text]
    (call,) = read_recording(recorded[0])[1]
    assert len(call.key) == 64 and not call.prompt


def test_a_recording_plays_without_a_model_or_a_key(
    recorded: tuple[Path, Candidate], tmp_path: Path
) -> None:
    proposer = replay_proposer(recorded[0])
    proposer.models.begin(run_at(tmp_path / "again.sqlite"))
    proposer.synthesize(OPERATOR, WORKLOAD, "910B4")
    again = proposer.rewrite(Step(OPERATOR, BASELINE, [BASELINE]), NOTHING, ())
    assert again is not None
    assert again.files == recorded[1].files
    assert again.rationale == recorded[1].rationale


def test_what_is_no_recording_is_refused_in_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text("not json\n")
    with pytest.raises(InputError, match="is no recording"):
        replay_proposer(path)

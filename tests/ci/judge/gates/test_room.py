from __future__ import annotations

import pytest

from ci.judge.evaluate import Evaluator
from ci.judge.gate_subject import Subject
from ci.judge.gates import room
from ci.judge.gates.room import RoomGate
from ci.model.trial import Outcome
from ci.testing.gate import GateContract
from ci.testing.scale_shift import KERNEL, changed, line_of, with_statement

BUFFER = "pipe_.InitBuffer(outBuffer_, tileLength * sizeof(float));"
TOO_LARGE = changed(
    f"        {BUFFER}\n", f"        {BUFFER.replace('float))', 'float) * 128)')}\n"
)


class TestRoomGate(GateContract):
    gate = RoomGate()

    @pytest.fixture
    def faulty(self, evaluator: Evaluator) -> Subject:
        return evaluator.subject(changed(BUFFER, _moved_up(BUFFER)))


def _moved_up(buffer: str) -> str:
    """The buffer with one ahead of it that takes all of the unified buffer."""
    return f"TBuf<TPosition::VECCALC> all; pipe_.InitBuffer(all, 196608); {buffer}"


def test_a_buffer_beyond_ub_is_named_with_its_line_and_not_with_what_fails_of_it(
    evaluator: Evaluator,
) -> None:
    candidate = changed(BUFFER, _moved_up(BUFFER))
    failure = RoomGate().check(evaluator.subject(candidate))
    assert failure and failure.outcome is Outcome.MEMORY_ERROR
    assert failure.refusal.place.file == KERNEL
    assert failure.refusal.place.line == line_of(candidate, BUFFER)
    assert "beyond the 196608 there are" in failure.refusal.sentence


def test_a_ninth_event_id_is_one_that_there_is_no_room_for(evaluator: Evaluator) -> None:
    loop = "for (int32_t i = 0; i < 9; ++i) { pipe_.AllocEventID<HardEvent::MTE2_V>(); }"
    failure = RoomGate().check(evaluator.subject(with_statement(loop)))
    assert failure and failure.outcome is Outcome.LAUNCH_ERROR
    assert "event ids" in failure.refusal.sentence


def test_a_buffer_that_nothing_uses_does_not_fit_either(evaluator: Evaluator) -> None:
    subject = evaluator.subject(changed(BUFFER, BUFFER.replace("float))", "float) * 128)")))
    assert subject.failure is None
    failure = RoomGate().check(subject)
    assert failure and failure.outcome is Outcome.MEMORY_ERROR
    assert failure.refusal.place.case == subject.case.name


def test_what_the_original_asks_for_too_is_left_to_others(
    evaluator: Evaluator, monkeypatch: pytest.MonkeyPatch
) -> None:
    subject = evaluator.subject(changed(BUFFER, BUFFER.replace("float))", "float) * 128)")))
    monkeypatch.setattr(room, "_before", lambda subject: subject.launched.warnings)
    assert RoomGate().check(subject) is None

from __future__ import annotations

from ci.model.trial import Candidate


def test_a_copy_with_other_texts_is_another_program() -> None:
    one = Candidate(files={"a.cpp": "x"}, rationale="why")
    assert one.hash == one.model_copy(update={"rationale": "because"}).hash
    other = one.model_copy(update={"files": {"a.cpp": "y"}})
    assert other.hash == Candidate(files={"a.cpp": "y"}).hash != one.hash

from __future__ import annotations

import pytest
from pydantic import ValidationError

from bot.events.model import Event


def test_an_event_cannot_be_changed_or_carry_more_than_its_fields() -> None:
    event = Event(forge="github", kind="push")
    with pytest.raises(ValidationError, match="frozen"):
        event.kind = "comment"  # type: ignore[misc]
    with pytest.raises(ValidationError, match="token"):
        Event.model_validate({"forge": "github", "kind": "push", "token": "x"})

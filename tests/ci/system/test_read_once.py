"""What one command reads is read once, and what another one reads is read again."""

from __future__ import annotations

from itertools import count

import pytest

from ci.system.read_once import once, reading_once


def test_nothing_is_kept_but_within() -> None:
    numbers = count()
    for _ in range(2):
        with reading_once():
            first = once("key", lambda: next(numbers))
            assert once("key", lambda: next(numbers)) == first
            assert once("other", lambda: next(numbers)) == first + 1
    assert first == 2
    assert [once("key", lambda: next(numbers)) for _ in range(2)] == [4, 5]


def test_what_cannot_be_read_is_tried_again() -> None:
    def fails() -> int:
        raise ValueError("later")

    with reading_once():
        with pytest.raises(ValueError, match="later"):
            once("key", fails)
        assert once("key", lambda: 1) == 1

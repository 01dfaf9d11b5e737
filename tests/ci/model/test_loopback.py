from __future__ import annotations

import pytest

from ci.model.loopback import is_loopback


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.9.9.9", "::1"])
def test_this_machine_has_several_names(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize(
    "host",
    ["", "10.0.0.1", "::2", "127.0.0.1.evil.example", "localhost.evil.example", "127.1", "0.0.0.0"],
)
def test_another_machine_is_not_this_one(host: str) -> None:
    assert not is_loopback(host)

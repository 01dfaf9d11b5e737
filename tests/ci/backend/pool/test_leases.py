from __future__ import annotations

import fcntl
import os
from pathlib import Path

import pytest

from ci.backend.pool.leases import Lease, lease_file, take_leases, visible
from ci.model.errors import EnvironmentProblem


@pytest.mark.parametrize(
    ("value", "numbers"),
    [
        (None, (0, 1, 2, 3)),
        ("2,0", (2, 0)),
        (" 3 , 1", (3, 1)),
        ("1,9,2", (1,)),
        ("1,1,2", (1,)),
        ("", ()),
        ("NoDevFiles", ()),
    ],
)
def test_the_variable_names_devices_of_the_host_in_order(
    value: str | None, numbers: tuple[int, ...]
) -> None:
    assert visible(4, value) == numbers


def test_a_device_is_leased_once(tmp_path: Path) -> None:
    first = Lease.take(2, tmp_path)
    assert first is not None and Lease.take(2, tmp_path) is None
    other = Lease.take(3, tmp_path)
    assert other is not None
    first.give_back()
    assert Lease.take(2, tmp_path) is not None


def test_all_leases_are_taken_or_none(tmp_path: Path) -> None:
    held = Lease.take(1, tmp_path)
    assert held is not None
    with pytest.raises(EnvironmentProblem, match="3 devices are asked for and 2 of the 3"):
        take_leases(3, (0, 1, 2), tmp_path)
    assert [lease.device for lease in take_leases(2, (0, 1, 2), tmp_path)] == [0, 2]


def test_a_lease_file_that_is_a_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").touch()
    (tmp_path / "ascendopt-npu-0.lock").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(EnvironmentProblem, match="lease of device 0 cannot be taken"):
        Lease.take(0, tmp_path)


def test_whoever_may_only_read_the_file_can_lease_the_device(tmp_path: Path) -> None:
    lease_file(0, tmp_path).touch(mode=0o444)
    lease = Lease.take(0, tmp_path)
    assert lease is not None
    assert fcntl.fcntl(lease.file, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY

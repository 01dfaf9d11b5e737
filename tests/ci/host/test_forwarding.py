"""Headers that only include others are lines of one list, and each leads somewhere."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from ci.host.door.base import MACHINE
from ci.host.door.forwarding import LIST, forwarding
from ci.host.door.own import HEADERS
from ci.host.host_command import HOST

FOLDERS = {"kernel": HEADERS, "host": HOST}


@pytest.mark.parametrize("door", FOLDERS)
def test_each_leads_to_a_header_of_ours(door: str) -> None:
    for included in yaml.safe_load(LIST.read_text())[door]:
        ours = [name for name in included.split() if name.endswith(".h")]
        assert [name for name in ours if not (FOLDERS[door] / name).is_file()] == [], included


@pytest.mark.parametrize("door", FOLDERS)
def test_none_hides_a_header_with_something_in_it(door: str) -> None:
    assert [path for path in forwarding(door) if (FOLDERS[door] / path).exists()] == []


def test_every_path_is_listed_once() -> None:
    for door, groups in yaml.safe_load(LIST.read_text()).items():
        paths = [path for group in groups.values() for path in group]
        assert sorted(set(paths)) == sorted(paths), door


@pytest.mark.parametrize("folder", [HEADERS, HOST, MACHINE.parent / "device"])
def test_no_header_in_the_tree_only_includes_another(folder: Path) -> None:
    heads = {HEADERS / "kernel_operator.h"}
    alone = [path for path in folder.rglob("*.h") if path not in heads and not _has_code(path)]
    assert alone == []


def _has_code(path: Path) -> bool:
    lines = [line.strip() for line in path.read_text().splitlines()]
    return any(line and not line.startswith(("//", "#pragma once", "#include")) for line in lines)

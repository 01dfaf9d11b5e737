from __future__ import annotations

from pathlib import Path

from ci.model.derived import DerivedRow, DeriveSettings
from ci.session.derive import derive_workloads
from tests.ci.small_operator import write_operator


def test_an_operator_of_a_repository_that_cannot_be_read_is_a_row_with_the_reason(
    tmp_path: Path,
) -> None:
    odd = write_operator(tmp_path, cmake="project(odd)\n")
    (odd / "op_kernel" / "odd.h").write_text("int x;", encoding="utf-16")
    told: list[tuple[DerivedRow, int, int]] = []
    rows = derive_workloads([tmp_path], DeriveSettings(), lambda *row: told.append(row))
    assert [(row.name, "UTF-16" in row.refused) for row in rows] == [("scale_mask", True)]
    assert told == [(rows[0], 1, 1)]

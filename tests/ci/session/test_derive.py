from __future__ import annotations

from pathlib import Path

import pytest

from ci.model.derived import DerivedRow, DeriveSettings
from ci.model.errors import InputError
from ci.model.settings import EvaluationSetup
from ci.session.derive import derive_workloads, derived_for
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


def test_nothing_is_built_to_derive_the_workload_of_an_operator_of_other_chips(
    tmp_path: Path,
) -> None:
    """A repository holds hundreds of them; each would take a minute to fail."""
    other = write_operator(tmp_path)
    for file in (other / "op_host").iterdir():
        file.write_text(file.read_text().replace('"ascend910b"', '"ascend950"'))
    steps: list[str] = []
    with pytest.raises(InputError, match=r"scale_mask is declared for ascend950 only"):
        derived_for(other, EvaluationSetup(), tmp_path, steps.append)
    assert steps == []

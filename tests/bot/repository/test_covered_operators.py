"""What a checkout's `.ascendopt.yml` says of its operators to a refresh of the bank."""

from pathlib import Path

import pytest

from bot.repository.covered_operators import covered
from ci.model.errors import InputError
from ci.model.settings import EvaluationSetup
from ci.session.operators import operators_at
from tests.ci.family import write_family

TWO = """
workloads: judged
target: 910B2
operators: {thrice: {enabled: false}}
"""


@pytest.fixture
def top(tmp_path: Path) -> Path:
    write_family(tmp_path)
    return tmp_path


def found(top: Path, config: str, **given: object) -> dict[str, EvaluationSetup]:
    (top / ".ascendopt.yml").write_text(config)
    setup = EvaluationSetup.model_validate(given)
    return {operator.name: one for operator, one in covered(operators_at([top]), setup)}


def test_an_operator_that_is_turned_off_is_left_out_and_the_target_is_the_files(top: Path) -> None:
    (setup,) = found(top, TWO).values()
    assert setup.device == "910B2"
    assert found(top, TWO, device="910B1")["twice"].device == "910B1"


def test_workloads_are_looked_up_where_the_file_says(top: Path) -> None:
    beside = top / "src" / "math" / "twice" / "workload.yaml"
    moved = top / "judged" / "math" / "twice" / "workload.yaml"
    moved.parent.mkdir(parents=True)
    beside.rename(moved)
    assert found(top, TWO)["twice"].workload == moved
    named = "operators: {twice: {workload: judged/math/twice/workload.yaml}}"
    assert found(top, named)["twice"].workload == moved
    assert found(top, named)["thrice"].workload is None


def test_a_mistake_in_the_file_and_a_link_in_its_place_are_refused(top: Path) -> None:
    with pytest.raises(InputError, match="workloadz"):
        found(top, "workloadz: x")
    (top / ".ascendopt.yml").unlink()
    (top / ".ascendopt.yml").symlink_to("/etc/hostname")
    with pytest.raises(InputError, match="is a link"):
        covered(operators_at([top]), EvaluationSetup())

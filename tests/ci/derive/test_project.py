"""What lies around an operator and shows how it is called."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from ci.derive.example import find_examples
from ci.derive.project import own_folder, texts_around
from ci.source.discovery import load_operator
from tests.ci.derive.test_example import PROGRAM
from tests.places import OPERATORS

BIAS_ADD = OPERATORS / "src" / "math" / "bias_add"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder of a repository with an operator and, next to it, a program that calls it."""
    (tmp_path / ".git").mkdir()
    place = tmp_path / "course" / "bias"
    shutil.copytree(BIAS_ADD, place / "BiasAdd")
    (place / "caller" / "src").mkdir(parents=True)
    (place / "caller" / "src" / "main.cpp").write_text(PROGRAM)
    shutil.copytree(BIAS_ADD, tmp_path / "course" / "other" / "deep" / "BiasAdd")
    return place


def test_a_program_next_to_the_operator_is_an_example_of_it(project: Path) -> None:
    operator = load_operator(project / "BiasAdd")
    assert own_folder(operator) == project
    (found,) = find_examples(operator)
    assert found.tensors[0].shape == (8, 2048)


def test_programs_that_call_another_operator_are_none_where_one_calls_its_own(
    project: Path,
) -> None:
    (project / "another").mkdir()
    other = PROGRAM.replace("2048", "512") + "aclnnOther(nullptr, 0, nullptr, nullptr);\n"
    (project / "another" / "main.cpp").write_text(other)
    operator = load_operator(project / "BiasAdd")
    assert [one.tensors[0].shape for one in find_examples(operator)] == [(8, 512), (8, 2048)]
    (project / "caller" / "src" / "run.cpp").write_text("auto ret = aclnnBiasAdd(at, 0, e, s);\n")
    assert [one.tensors[0].shape for one in find_examples(operator)] == [(8, 2048)]


def test_what_lies_next_to_several_operators_is_of_none(project: Path) -> None:
    shutil.copytree(BIAS_ADD, project / "Second")
    operator = load_operator(project / "BiasAdd")
    assert own_folder(operator) == operator.root
    assert find_examples(operator) == []


def test_sources_of_the_operator_and_what_leads_out_are_left_out(project: Path) -> None:
    away = project.parents[1] / "away.cpp"
    away.write_text(PROGRAM)
    (project / "caller" / "link.cpp").symlink_to(away)
    operator = load_operator(project / "BiasAdd")
    assert [path.name for path, _ in texts_around(operator, ".cpp")] == ["main.cpp"]

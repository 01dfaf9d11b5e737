from pathlib import Path

import pytest

from bot.server.run_folder import leaving_reason, read_failure
from ci.model.errors import EnvironmentProblem, InputError


@pytest.mark.parametrize(
    ("problem", "sentence", "lasting"),
    [
        (InputError("The patch\n does not apply."), "The patch does not apply.", True),
        (EnvironmentProblem("g++ is missing."), "g++ is missing.", False),
        (KeyError("scale"), "KeyError: 'scale'", False),
    ],
)
def test_a_run_that_fails_leaves_the_reason_as_data(
    tmp_path: Path, problem: Exception, sentence: str, lasting: bool
) -> None:
    with pytest.raises(type(problem)), leaving_reason(tmp_path / "run"):
        raise problem
    failure = read_failure(tmp_path / "run")
    assert failure is not None
    assert (failure.sentence, failure.lasting) == (sentence, lasting)


def test_a_run_that_ends_well_leaves_no_reason(tmp_path: Path) -> None:
    with leaving_reason(tmp_path):
        pass
    assert read_failure(tmp_path) is None

"""What of other files a prompt shows."""

from __future__ import annotations

from pathlib import Path

from ci.proposer.llm.view import shared_texts
from ci.testing.proposer import BASELINE
from ci.testing.scale_shift import OPERATOR

SECRET = "s3cret"


def test_a_kernel_that_claims_to_lie_in_another_file_shows_none(tmp_path: Path) -> None:
    top, folder = tmp_path / "top", tmp_path / "top" / "inc"
    folder.mkdir(parents=True)
    (folder / "pipe.h").write_text("int pipe;\n")
    (folder / "key.txt").write_text(SECRET)
    (tmp_path / "key.h").write_text(SECRET)
    (folder / "link.h").symlink_to(tmp_path / "key.h")
    (folder / "hard.h").hardlink_to(tmp_path / "key.h")
    assert BASELINE.measurement is not None
    names = ["pipe.h", "key.txt", "link.h", "hard.h", "../../key.h", "a/key.txt"]
    case = BASELINE.measurement.cases[0]
    pipes = case.pipes.model_copy(update={"hot_lines": tuple((n, 1, 9.0) for n in names)})
    cases = (case.model_copy(update={"pipes": pipes}),)
    measured = BASELINE.measurement.model_copy(update={"cases": cases})
    operator = OPERATOR.model_copy(update={"repository": top, "include_folders": (folder,)})
    baseline = BASELINE.model_copy(update={"measurement": measured})
    assert shared_texts(operator, baseline) == {"pipe.h": "int pipe;\n"}

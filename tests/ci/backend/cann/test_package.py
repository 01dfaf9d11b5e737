"""The words for each kind of build.sh, and packages that are no good."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci.backend.cann.package import Packages, build_options
from ci.backend.cann.toolkit import find_toolkit
from ci.model.errors import TrialFailure
from ci.testing.scale_shift import KERNEL
from tests.ci.backend.cann.standin.toolkit import make_repository


def test_each_layout_has_its_own_options(tmp_path: Path) -> None:
    ours = make_repository(tmp_path / "a", "cann-ops")
    assert build_options(ours, "ascend910b") == ["-n", "scale_shift", "-c", "ascend910b"]
    theirs = make_repository(tmp_path / "b", "ops-math")
    words = build_options(theirs, "ascend910b")
    assert words[:4] == [
        "--pkg",
        "--soc=ascend910b",
        "--vendor_name=ascendopt",
        "--ops=scale_shift",
    ]
    moved = theirs.model_copy(
        update={"root": theirs.repository / "experimental/math/scale_shift"}  # type: ignore[operator]
    )
    assert "--experimental" in build_options(moved, "ascend910b")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("cat > build_out/custom.run", "cat > /dev/null", "left no package in build_out"),
        ("cp -r", "true", "installed 0 vendors"),
        ("[ -n \"$place\" ] ||", "", "The package does not compile"),
    ],
)  # fmt: skip
def test_a_build_that_leaves_nothing_is_a_compile_error_and_not_kept(
    old: str, new: str, said: str, machine: Path, tmp_path: Path
) -> None:
    operator = make_repository(tmp_path / "repository", "cann-ops")
    script = tmp_path / "repository" / "build.sh"
    script.write_text(script.read_text().replace(old, new, 1))
    for _ in range(2):
        with pytest.raises(TrialFailure, match=said):
            Packages(find_toolkit(), "ascend910b").build(operator, {})


def test_equal_candidates_of_an_equal_repository_are_built_once(
    machine: Path, tmp_path: Path
) -> None:
    operator = make_repository(tmp_path / "repository", "cann-ops")

    def built(text: str) -> Path:
        files = {KERNEL: operator.read(KERNEL) + text}
        return Packages(find_toolkit(), "ascend910b").build(operator, files).vendor

    first = built("")
    assert (first / "told").read_text() == operator.read(KERNEL)
    assert built("") == first
    assert (built("// another\n") / "told").read_text().endswith("// another\n")
    (tmp_path / "repository" / "CMakeLists.txt").write_text("# changed\n")
    assert built("") != first

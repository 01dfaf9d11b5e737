"""Where sources lie for the compiler, and what it finds first."""

from __future__ import annotations

from pathlib import Path

from ci.host.source_tree import include_arguments, lay_operator
from ci.source.discovery import load_operator
from tests.ci.family import PIPELINE, write_family
from tests.ci.small_operator import KERNEL, write_operator


def test_a_changed_shared_source_is_laid_in_its_place_and_found_before_the_one_that_stands(
    tmp_path: Path,
) -> None:
    operator = load_operator(write_family(tmp_path / "repository"))
    laid = tmp_path / "laid"
    changed = operator.read(PIPELINE) + "// changed"
    place = lay_operator(laid, operator, operator.texts({PIPELINE: changed}))
    assert place == laid / "src" / "math" / "twice"
    assert (laid / "src/common/inc/family/pipeline.h").read_text() == changed
    assert (laid / "src/common/inc/family/names.h").is_file(), "what it includes lies beside it"
    family = tmp_path / "repository" / "src" / "common" / "inc" / "family"
    folders = include_arguments(operator, laid)
    assert folders.index(f"-I{laid}/src/common/inc/family") < folders.index(f"-I{family}")


def test_an_own_header_that_is_included_by_the_category_s_folder_is_the_candidate_s(
    tmp_path: Path,
) -> None:
    """The folder around the operator is one that its build includes from, in ops-nn."""
    own = '#include "scale_mask/op_kernel/own.h"\n' + KERNEL
    moved = tmp_path / "math" / "scale_mask"
    root = write_operator(tmp_path, kernel=own)
    (root / "op_kernel" / "own.h").write_text("// as it stands")
    (tmp_path / "common" / "inc").mkdir(parents=True)
    moved.parent.mkdir()
    root.rename(moved)
    (tmp_path / ".git").mkdir()
    operator = load_operator(moved)
    laid = tmp_path / "laid"
    lay_operator(laid, operator, operator.texts({"op_kernel/own.h": "// changed"}))
    tried = [Path(folder.removeprefix("-I")) for folder in include_arguments(operator, laid)]
    found = next(f for f in tried if (f / "scale_mask/op_kernel/own.h").is_file())
    assert (found / "scale_mask/op_kernel/own.h").read_text() == "// changed"

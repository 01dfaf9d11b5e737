"""Where sources lie for the compiler, and what it finds first."""

from __future__ import annotations

import subprocess
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


def test_a_header_that_is_met_as_it_stands_and_as_it_is_laid_is_one_file(tmp_path: Path) -> None:
    root = write_operator(tmp_path, kernel='#include "../../rows/rows.h"\n' + KERNEL)
    rows = root.parent / "rows" / "rows.h"
    rows.parent.mkdir()
    rows.write_text("#pragma once\nenum Rows { ONE };\n")
    own = root / "op_kernel" / "own.h"
    own.write_text("#pragma once\nenum Own { TWO };\n")
    (tmp_path / ".git").mkdir()
    operator = load_operator(root)
    laid = lay_operator(tmp_path / "laid", operator, operator.texts({}))
    both = [laid.parent / "rows" / "rows.h", rows, laid / "op_kernel" / "own.h", own]
    text = "".join(f'#include "{path}"\n' for path in both)
    done = subprocess.run(
        ["g++", "-fsyntax-only", "-xc++", "-"], input=text, text=True, check=False
    )
    assert done.returncode == 0


def test_what_all_kernels_of_a_repository_share_is_met_as_installed(tmp_path: Path) -> None:
    root = write_operator(tmp_path, kernel='#include "../inc/platform.h"\n' + KERNEL)
    common = tmp_path / "common" / "inc" / "op_kernel"
    common.mkdir(parents=True)
    (common / "platform.h").write_text("// shared")
    (tmp_path / ".git").mkdir()
    operator = load_operator(root)
    laid = lay_operator(tmp_path / "laid", operator, operator.texts({}))
    assert (laid / "inc" / "platform.h").read_text() == "// shared"


def test_a_neighbour_s_header_that_is_met_as_installed_finds_what_lies_beside_it(
    tmp_path: Path,
) -> None:
    root = write_operator(tmp_path, kernel='#include "../rows/rows.h"\n' + KERNEL)
    rows = root.parent / "rows" / "op_kernel"
    rows.mkdir(parents=True)
    (rows / "rows.h").write_text('#include "sums.h"\n#include "absent.h"\n')
    (rows / "sums.h").write_text("// sums")
    (tmp_path / ".git").mkdir()
    operator = load_operator(root)
    laid = lay_operator(tmp_path / "laid", operator, operator.texts({}))
    assert (laid / "rows" / "rows.h").is_file()
    assert (laid / "rows" / "sums.h").read_text() == "// sums"


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
    words = include_arguments(operator, laid)
    tried = [Path(one.removeprefix("-I").removeprefix("-idirafter")) for one in words]
    found = next(f for f in tried if (f / "scale_mask/op_kernel/own.h").is_file())
    assert (found / "scale_mask/op_kernel/own.h").read_text() == "// changed"


def test_a_folder_beside_the_operators_two_sides_belongs_to_it(tmp_path: Path) -> None:
    root = write_operator(tmp_path, kernel='#include "../base/one.h"\n' + KERNEL)
    (root / "base").mkdir()
    (root / "base" / "one.h").write_text('#include "two.h"\n')
    (root / "base" / "two.h").write_text("// two")
    (root / "base" / "three.h").write_text("// nobody includes it")
    operator = load_operator(root)
    laid = lay_operator(tmp_path / "laid", operator, operator.texts({}))
    assert sorted(path.name for path in (laid / "base").iterdir()) == ["one.h", "two.h"]

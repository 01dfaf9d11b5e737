from bot.repository.trigger import touched_operators
from ci.model.layout import IncludeGraph
from rules.triggers import load_triggers
from tests.bot.operator_repository import FILES

OPERATORS = {
    "src/math/scale": [p for p in FILES if p.startswith("src/math/scale/op_")],
    "src/math/shift": [p for p in FILES if p.startswith("src/math/shift/op_")],
}


def touched(*paths: str, files: dict[str, str] | None = None) -> dict[str, tuple[bool, bool]]:
    found = touched_operators(paths, OPERATORS, files or FILES, load_triggers())
    return {one.folder: (one.kernel, one.tiling) for one in found}


def test_a_kernel_source_concerns_its_operator_alone() -> None:
    assert touched("src/math/scale/op_kernel/scale.cpp") == {"src/math/scale": (True, False)}


def test_a_tiling_source_is_told_from_a_kernel_source() -> None:
    assert touched("src/math/scale/op_host/scale.cpp") == {"src/math/scale": (False, True)}


def test_a_header_concerns_every_operator_that_includes_it() -> None:
    assert touched("src/common/cut.h") == {
        "src/math/scale": (False, True),
        "src/math/shift": (False, True),
    }


def test_a_header_of_a_header_is_followed() -> None:
    files = FILES | {"src/common/cut.h": '#include "deep.h"\n', "src/common/deep.h": ""}
    assert set(touched("src/common/deep.h", files=files)) == {"src/math/scale", "src/math/shift"}


def test_headers_that_include_each_other_end() -> None:
    graph = IncludeGraph({"a.h": '#include "b.h"\n', "b.h": '#include "a.h"\n'})
    assert graph.reachable(["a.h"]) == {"a.h", "b.h"}


def test_a_header_that_nobody_includes_concerns_nobody() -> None:
    files = FILES | {"src/math/scale/op_kernel/unused.h": ""}
    assert touched("src/math/scale/op_kernel/unused.h", files=files) == {}


def test_a_deleted_header_concerns_those_who_still_ask_for_it() -> None:
    files = {p: t for p, t in FILES.items() if p != "src/common/cut.h"}
    assert set(touched("src/common/cut.h", files=files)) == {"src/math/scale", "src/math/shift"}


def test_a_deleted_kernel_source_concerns_its_operator() -> None:
    assert touched("src/math/scale/op_kernel/gone.cpp") == {"src/math/scale": (True, False)}


def test_documents_tests_and_examples_concern_nobody() -> None:
    assert (
        touched(
            "README.md",
            "src/math/scale/README.md",
            "src/math/scale/tests/st/op_kernel/x.cpp",
            "src/math/scale/examples/op_kernel/x.cpp",
            "src/math/scale/op_host/scale_infershape.cpp",
        )
        == {}
    )


def test_the_nearest_of_two_headers_of_one_name_is_meant() -> None:
    files = FILES | {"src/other/scale_impl.h": "", "src/math/scale/op_kernel/scale_impl.h": ""}
    assert touched("src/other/scale_impl.h", files=files) == {}


def test_bots_by_name_are_ignored() -> None:
    rules = load_triggers()
    assert rules.ignores("renovate[bot]") and rules.ignores("dependabot")
    assert not rules.ignores("alice") and not rules.ignores("bot")

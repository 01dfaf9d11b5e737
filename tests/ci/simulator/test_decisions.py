from __future__ import annotations

from collections.abc import Sequence

from ci.model.decision import Decision
from ci.simulator.decisions import Frame, decisions_of

LINES: dict[int, Frame] = {
    10: ("/x/op_kernel/a.cpp", 7),
    20: ("/usr/include/c++/12/bits/stl_algobase.h", 230),
    30: ("/x/machine/intrinsics.h", 4),
}


def _places(addresses: Sequence[int]) -> list[Frame]:
    return [LINES.get(address, ("", 0)) for address in addresses]


def _row(site: int, caller: int, below: int, same: int) -> list[object]:
    return [site, caller, 0, False, False, [5, 0], [below, same, 0], [1.0, 4.0], [0.0, 0.0], 4.0]


def test_comparisons_belong_to_the_operators_line_or_to_what_calls_the_library_there() -> None:
    found = decisions_of([_row(10, 0, 1, 0), _row(20, 10, 1, 0), _row(30, 10, 1, 0)], "u", _places)
    assert [(one.file, one.line, one.branch) for one in found] == [
        ("op_kernel/a.cpp", 7, 0),
        ("op_kernel/a.cpp", 7, 10),
    ]
    assert found[0].below == (1.0, 4.0) and found[0].same is None and found[0].above is None


def test_what_is_no_list_of_rows_is_none() -> None:
    assert decisions_of({"a": 1}, "u", _places) == ()
    assert decisions_of([[1, 2]], "u", _places) == ()
    assert decisions_of(None, "u", _places) == ()


def test_a_branch_is_decided_by_where_it_went_and_a_value_by_every_order() -> None:
    one = Decision("op_host/a.cpp", 1, "host", 1, 0, frozenset({1}), below=(1, 2))
    assert not one.both_ways
    assert one.also(one._replace(blocks=frozenset({2}))).both_ways
    assert not one.also(one._replace(below=None, above=(3, 2))).both_ways
    assert one.also(one._replace(above=(3, 2), same=2.0)).both_ways


def test_a_case_of_a_switch_is_taken_and_not_taken() -> None:
    one = Decision("op_host/a.cpp", 1, "host", 1, 2, is_case=True, below=(1, 2))
    assert not one.both_ways
    assert one.also(one._replace(below=None, same=2.0)).both_ways

"""Structures that a kernel gets, as sources and the toolkit's library define them."""

from __future__ import annotations

from ci.source.launched.structures import structure

SOURCE = """
#define MEMBER(name) int32_t name;
namespace a { namespace b {
struct Plan {
    uint32_t rows = 0, each{3};
    int16_t steps[4];
    AscendC::tiling::SoftMaxTiling soft;
    Inner inner, *next, many[2];
    static constexpr int NONE = 3;
    MEMBER(last)
    uint32_t Sum() const { return rows; }
};
} }  // namespace a::b
"""
INNER = "struct Inner { float by; }; /* struct Plan { int none; }; */"


def test_fields_of_a_structure_within_another_are_named_with_a_dot() -> None:
    found = structure("b::Plan", [SOURCE, INNER])
    assert found is not None and found.name == "a::b::Plan"
    assert found.fields[:4] == ("rows", "each", "steps", "soft.srcM")
    assert found.fields[-4:] == ("inner.by", "next", "many", "last")
    assert [text.split("{")[0].split() for text in found.texts] == [
        ["struct", "SoftMaxTiling"],
        ["struct", "Inner"],
        ["struct", "Plan"],
    ]
    assert "tiling::" not in found.texts[-1]


def test_the_librarys_structures_are_known_without_a_source() -> None:
    found = structure("AscendC::tiling::TCubeTiling", [])
    assert found is not None and found.fields[:2] == ("usedCoreNum", "M")
    assert (
        structure("Plan", ["struct Plan;", "Plan Make(struct Plan* from) { return *from; }"])
        is None
    )


def test_a_structure_that_holds_itself_ends() -> None:
    found = structure("Node", ["struct Node { int value; Node* next; };"])
    assert found is not None and found.fields == ("value", "next")

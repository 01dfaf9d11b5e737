from ci.tiling.template import (
    Knob,
    TilingTemplate,
    insert_markers,
    strip_markers,
)

TEXT = "one\n  two\nthree\nfour\n"


def marked() -> TilingTemplate:
    text, blocks = insert_markers(TEXT, [(2, 3, ("partition",))], "f.cpp")
    return TilingTemplate(operator="o", sources={"f.cpp": text}, blocks=blocks)


def test_markers_stand_around_the_lines_and_say_what_they_decide() -> None:
    template = marked()
    lines = template.sources["f.cpp"].splitlines()
    assert lines[1] == "  // EVOLVE-BLOCK-START partition"
    assert lines[4] == "  // EVOLVE-BLOCK-END"
    assert (template.blocks[0].first_line, template.blocks[0].last_line) == (2, 5)


def test_removing_the_markers_gives_the_source_back() -> None:
    assert strip_markers(marked().sources["f.cpp"]) == TEXT
    assert marked().plain() == {"f.cpp": TEXT}


def test_a_change_inside_the_block_is_admitted() -> None:
    assert marked().admits({"f.cpp": "one\n  2\n  2.5\nfour\n"})


def test_a_change_outside_the_block_is_not_admitted() -> None:
    assert not marked().admits({"f.cpp": "ONE\n  two\nthree\nfour\n"})
    assert not marked().admits({"f.cpp": "one\n  two\nthree\nfour\nfive\n"})


def test_an_unknown_file_is_not_admitted() -> None:
    assert not marked().admits({"other.cpp": "one\n"})


def test_a_source_without_blocks_admits_only_itself() -> None:
    template = TilingTemplate(operator="o", sources={"f.cpp": TEXT})
    assert template.admits({"f.cpp": TEXT})
    assert not template.admits({"f.cpp": TEXT + "more\n"})


def test_filling_writes_several_knobs_at_their_places() -> None:
    def knob(name: str, start: int, end: int, value: int) -> Knob:
        return Knob(
            name=name,
            kind="constant",
            file="f.cpp",
            start=start,
            end=end,
            form="{value}u",
            values=(1, 20, 300),
            current=value,
            decides="partition",
            why="",
        )

    text = "a = 1; b = 20;\n"
    template = TilingTemplate(
        operator="o",
        sources={"f.cpp": text},
        knobs=(knob("a", 4, 5, 1), knob("b", 11, 13, 20)),
    )
    assert template.fill({"a": 300, "b": 1}) == {"f.cpp": "a = 300u; b = 1u;\n"}
    assert template.fill({"a": 1}) == {}

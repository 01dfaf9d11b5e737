from ci.tiling.template import EvolveBlock, Knob, TilingTemplate, strip_markers

TEXT = "one\n  two\nthree\nfour\n"


def marked() -> TilingTemplate:
    block = EvolveBlock(file="f.cpp", first_line=2, last_line=3, decides=("partition",))
    return TilingTemplate(operator="o", sources={"f.cpp": TEXT}, blocks=(block,))


def test_markers_stand_around_the_lines_and_say_what_they_decide() -> None:
    template = marked()
    lines = template.marked("f.cpp", TEXT).splitlines()
    assert lines[1] == "// EVOLVE-BLOCK-START partition"
    assert lines[4] == "// EVOLVE-BLOCK-END"


def test_a_form_feed_ahead_of_a_block_moves_it_nowhere() -> None:
    text = TEXT.replace("one", "// one\x0c")
    template = marked().model_copy(update={"sources": {"f.cpp": text}})
    assert template.admits({"f.cpp": text.replace("three", "3")})
    assert not template.admits({"f.cpp": text.replace("four", "4")})


def test_removing_the_markers_gives_the_source_back() -> None:
    assert strip_markers(marked().marked("f.cpp", TEXT)) == TEXT


def test_a_change_inside_the_block_is_admitted() -> None:
    assert marked().admits({"f.cpp": "one\n  2\n  2.5\nfour\n"})


def test_neighbouring_blocks_keep_their_places_when_one_grows() -> None:
    text = "f()\n{\n  a;\n\n  b;\n}\n"
    blocks = tuple(
        EvolveBlock(file="f.cpp", first_line=n, last_line=n, decides=("partition",)) for n in (3, 5)
    )
    template = TilingTemplate(operator="o", sources={"f.cpp": text}, blocks=blocks)
    grown = "f()\n{\n  a;\n\n  a2;\n\n  b;\n}\n"
    spans = template.free_spans("f.cpp", grown)
    assert spans is not None
    assert [grown[a:b] for a, b in spans] in (
        ["  a;\n\n  a2;\n", "  b;\n"],
        ["  a;\n", "  a2;\n\n  b;\n"],
    )


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
            written=value,
            decides="partition",
            why="",
        )

    text = "a = 1; b = 20;\n"
    template = TilingTemplate(
        operator="o",
        sources={"f.cpp": text},
        knobs=(knob("a", 4, 5, 1), knob("b", 11, 13, 20)),
    )
    moved = template.at({"a": 300, "b": 1})
    assert moved.plain() == {"f.cpp": "a = 300u; b = 1u;\n"}
    assert moved.values == {"a": 300, "b": 1}
    assert moved.at({"a": 1, "b": 20}) == template
    assert moved.skeleton() == template.skeleton()
    assert template.changes({"a": 1}) == {}


def test_a_source_without_a_last_line_end_keeps_none() -> None:
    block = EvolveBlock(file="f.cpp", first_line=1, last_line=1, decides=("partition",))
    template = TilingTemplate(operator="o", sources={"f.cpp": "one"}, blocks=(block,))
    assert template.plain() == {"f.cpp": "one"}
    assert template.admits({"f.cpp": "two"})
    assert template.marked("f.cpp", "two").splitlines()[1] == "two"


def test_what_a_relative_knob_offers_lies_around_its_present_value() -> None:
    tile = Knob(
        name="TILE", kind="constant", file="f.cpp", start=0, end=2, form="{value}", written=64,
        decides="partition", why="",
    )  # fmt: skip
    parts = tile.model_copy(update={"name": "parts", "kind": "divisor", "written": 3})
    template = TilingTemplate(operator="o", sources={"f.cpp": "64"}, knobs=(tile, parts))
    assert template.choices(tile) == (8, 16, 32, 64, 128, 256, 512)
    assert template.at({"TILE": 512}).choices(tile)[-1] == 4096
    assert template.choices(parts) == (2, 3, 4, 6, 12)
    assert template.at({"parts": 96}).choices(parts) == (96,)  # no longer a number of parts

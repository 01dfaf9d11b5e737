import pytest

from ci.source.cpp_source import below, parse
from ci.tiling.settled import settled

ASKED = "auto cores = platform.GetCoreNumAiv();"


def places(*behind: str) -> list[tuple[str, str]]:
    body = "\n    ".join([ASKED, *behind])
    source = parse(f"ge::graphStatus TilingFunc(TilingContext* context)\n{{\n    {body}\n}}\n")
    asked = next(n for n in below(source.root, "declaration") if "GetCoreNum" in source.code(n))
    return [(left, source.of(node)) for left, node in settled(source, "cores", asked)]


@pytest.mark.parametrize(
    "bounding",
    [
        "cores = blocks < cores ? blocks : cores;",
        "cores = (cores < blocks) ? cores : blocks;",
        "cores = std::min(cores, blocks);",
        "cores = std::max<uint32_t>(1, cores);",
        "cores = cores >= 1 ? cores : 1;",
        "if (cores > blocks) { cores = blocks; }",
        "if (blocks < cores) cores = blocks;",
        "if (small) { cores = 1; } else { cores = blocks < cores ? blocks : cores; }",
        "if (small) { cores = 1; } else if (blocks < cores) { cores = blocks; }",
    ],
)
def test_a_statement_that_only_bounds_the_cores_settles_them(bounding: str) -> None:
    blocks = "uint64_t blocks = total / 8;"
    assert places(blocks, bounding, "Share(total / cores);") == [
        ("cores", ASKED),
        ("cores", bounding),
    ]


@pytest.mark.parametrize(
    "other",
    [
        "uint64_t share = total / cores;",
        "cores = blocks;",
        "cores = cores * 2;",
        "cores -= std::min(cores, blocks);",
        "if (cores > blocks) { cores = blocks; tail = 0; }",
        "if (cores > blocks) { cores = blocks; } else { tail = cores; }",
        "while (cores > blocks) { cores = cores / 2; }",
        "Ask(&cores);",
        "const auto used = blocks < cores ? blocks : cores;",
        "data.set_cores(blocks < cores ? blocks : cores);",
    ],
)
def test_any_other_use_ends_it(other: str) -> None:
    assert places(other, "cores = blocks < cores ? blocks : cores;") == [("cores", ASKED)]


def test_the_cores_that_are_used_may_have_a_name_of_their_own() -> None:
    used = "uint32_t used = blocks < cores ? blocks : cores;"
    assert places(used, "context->SetBlockDim(used);")[-1] == ("used", used)
    assert places(used, "Share(total / cores);") == [("cores", ASKED)]


def test_what_is_said_or_refused_in_between_settles_nothing() -> None:
    bounding = "cores = blocks < cores ? blocks : cores;"
    refused = "if (cores == 0) { return ge::GRAPH_FAILED; }"
    assert places(refused, 'OP_LOGD("cores %u", cores);', bounding)[-1] == ("cores", bounding)
    assert places("if (cores == 0) { tail = 1; }", bounding) == [("cores", ASKED)]


def test_a_variable_of_a_longer_name_is_another_one() -> None:
    bounding = "cores = blocks < cores ? blocks : cores;"
    assert places("Share(cores_, data.cores, most_cores);", bounding)[-1] == ("cores", bounding)

"""Statements that a knob wrote are found again, however they were laid out since."""

from __future__ import annotations

import pytest

from ci.tiling.limits import VALUE, Limit, at_most

ASKED = "context->GetInputShape(0)"
WORK = Limit(
    at_most("cores", f"{ASKED}->GetShapeSize() / {VALUE} + 1"), f"At least {VALUE} a core.", ASKED
)
CAP = Limit((f"if (cores > {VALUE}) {{", f"    cores = {VALUE};", "}"))


def written(limit: Limit, value: int, indent: str = "\n    ") -> str:
    return limit.form(indent).replace(VALUE, str(value))


def code(text: str) -> str:
    """Without the comment, as sources are searched."""
    return "".join(line for line in text.splitlines(True) if "//" not in line)


def test_what_is_asked_for_may_be_missing_and_the_remark_tells_the_number() -> None:
    assert written(WORK, 512) == (
        "\n    // At least 512 a core."
        "\n    if (const auto* shape = context->GetInputShape(0)) {"
        "\n        cores = std::min<int64_t>(cores, shape->GetShapeSize() / 512 + 1);"
        "\n    }"
    )


@pytest.mark.parametrize("limit", [WORK, CAP])
def test_a_limit_is_found_again_after_another_layout(limit: Limit) -> None:
    text = code(written(limit, 512))
    for blank in (" ", "\n", "\t\n      "):
        found = limit.after(text.replace(" ", blank).replace("(", f"({blank}") + "\nnext();")
        assert found and found.group(1) == "512"
        assert found.string[found.end() :] == "\nnext();"


def test_one_that_was_written_where_the_shape_is_known_is_found_too() -> None:
    found = WORK.after(f" cores = std::min<int64_t>(cores, {ASKED}->GetShapeSize() / 64 + 1);")
    assert found and found.group(1) == "64"


def test_what_a_person_wrote_otherwise_is_not_taken_for_it() -> None:
    assert CAP.after("\nif (cores > 8) { cores = 4; }") is None
    assert CAP.after("\nif (core > 8) { core = 8; }") is None
    assert WORK.after("\nuint32_t rest = 0;" + written(WORK, 512)) is None

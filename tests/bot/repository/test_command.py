import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.repository.command import MAX_COMMANDS, Command, Mistake, parse


def message(text: str) -> str:
    (found,) = parse(text)
    assert isinstance(found, Mistake)
    return found.message


def test_a_bare_command_optimizes_what_changed() -> None:
    assert parse("/optimize") == (Command(action="optimize"),)


def test_every_option_is_read() -> None:
    (found,) = parse("/optimize op=src/math/add_custom stage=tiling budget=12 target=910B1 dry-run")
    assert found == Command(
        action="optimize",
        op="src/math/add_custom",
        stage="tiling",
        budget=12,
        target="910B1",
        dry_run=True,
    )


@pytest.mark.parametrize(
    "text", ["/Optimize", "/OPTIMIZE.", "\ufeff/optimize", "/optimize:", "Hi,\n\n/Optimize!"]
)
def test_a_command_is_known_however_a_phone_or_a_mail_program_writes_it(text: str) -> None:
    assert parse(text) == (Command(action="optimize"),)


@pytest.mark.parametrize("word", ["Ascend910B4", "ascend910b4", "910b4", "910B4", "ascend-910B4"])
def test_a_chip_is_known_by_all_its_spellings(word: str) -> None:
    (found,) = parse(f"/optimize target={word}")
    assert isinstance(found, Command) and found.target == "910B4"


@pytest.mark.parametrize("action", ["status", "cancel", "retry", "help"])
def test_verbs_stand_alone(action: str) -> None:
    assert parse(f"/optimize {action}") == (Command.model_validate({"action": action}),)
    words = "now" if action != "retry" else "a run"
    assert "takes nothing after it, but got `" in message(f"/optimize {action} {words}")


def test_explain_needs_a_run() -> None:
    assert parse("/optimize explain 3ab79df07b") == (Command(action="explain", run="3ab79df07b"),)
    assert "needs one run" in message("/optimize explain")
    assert "needs one run" in message("/optimize explain ../../etc")


def test_allowing_a_fork_is_a_command_of_its_own() -> None:
    assert parse("/ok-to-optimize") == (Command(action="allow"),)
    for commit in ("0123abcd" * 5, "0123ABCD" * 8):
        made = Command(action="allow", commit=commit.lower())
        assert parse(f"/ok-to-optimize {commit}") == (made,)
    for other in ("abc", "0123abcd" * 4, "main", "0123abcd" * 5 + " x", "0123abc\u0664" * 5):
        assert "takes the whole hash" in message(f"/ok-to-optimize {other}")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("/optimize stage=kernle", "`stage` cannot be `kernle`. Did you mean `kernel`?"),
        ("/optimize buget=3", "`buget` is not known. Did you mean `budget`?"),
        ("/optimize stauts", "`stauts` is not known. Did you mean `status`?"),
        ("/optimize dryrun", "Did you mean `dry-run`?"),
        ("/optimize budget=2", "from 3 to 1000"),
        ("/optimize budget=1001", "from 3 to 1000"),
        ("/optimize budget=٣", "from 3 to 1000"),
        ("/optimize budget=", "from 3 to 1000"),
        ("/optimize target=310P", "`target` cannot be `310P`. Did you mean `910B1`?"),
        ("/optimize op=../secrets", "is no operator name"),
        ("/optimize op=/etc/passwd", "is no operator name"),
        ("/optimize op=$(touch${IFS}owned)", "is no operator name"),
        ("/optimize op=a;reboot", "is no operator name"),
        ("/optimize target=`id`", "`target` cannot be"),
        ("/optimize op=a op=b", "`op` is given twice"),
        ("/optimize please", "`please` is not known"),
    ],
)
def test_the_exact_word_that_is_wrong_is_named(text: str, said: str) -> None:
    assert said in message(text) or said.split(" Did")[0] in message(text)


@pytest.mark.parametrize(
    "text",
    [
        "```\n/optimize\n```",
        "~~~sh\n/optimize\n~~~",
        "    /optimize",
        "> /optimize",
        "> quoted\n/optimize",
        "- /optimize",
        "# /optimize",
        "`/optimize`",
        "`a\n/optimize`",
        "<!-- \n/optimize\n-->",
        "Use /optimize for that",
        "Well <!--\n/optimize\n-->",
        "/optimise",
        "/optimizer",
        "/optimize-now",
        "",
        "\0",
    ],
)
def test_code_quotes_lists_and_prose_hold_no_command(text: str) -> None:
    assert parse(text) == ()


def test_a_command_may_stand_between_other_words() -> None:
    found = parse("Thanks!\n\nPlease look:\n/optimize op=add\nand tell me.\n\n/optimize status")
    assert [c.action for c in found if isinstance(c, Command)] == ["optimize", "status"]


def test_underscores_and_stars_are_letters_here() -> None:
    (found,) = parse("/optimize op=_add_custom_v2_")
    assert isinstance(found, Command) and found.op == "_add_custom_v2_"


def test_a_flood_of_commands_is_cut() -> None:
    found = parse("/optimize help\n" * 50)
    assert len(found) == MAX_COMMANDS + 1
    assert isinstance(found[-1], Mistake)


def test_a_wrong_word_cannot_mention_people_or_break_out_of_code() -> None:
    said = message("/optimize @team`|x<y>")
    assert said.startswith("`@\u200bteam'\u2502x")
    assert "<y>" not in said


@given(st.text(max_size=300))
def test_no_text_breaks_the_parser(text: str) -> None:
    for prefix in ("", "/optimize ", "/optimize op=", "/optimize budget="):
        for found in parse(prefix + text):
            assert isinstance(found, Command | Mistake)
            if isinstance(found, Command):
                assert ".." not in found.op.split("/") and not found.op.startswith("/")
                assert found.budget is None or 3 <= found.budget <= 1000


def test_another_chip_is_not_taken_for_a_misspelt_one() -> None:
    said = message("/optimize target=910C")
    assert "Did you mean" not in said
    assert "`910B4`" in said

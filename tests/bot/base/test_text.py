from __future__ import annotations

import html
import json
import re
import shlex
from collections.abc import Callable

import pytest

from bot.base.text import (
    block,
    code,
    decoded,
    encoded,
    harmless,
    inert,
    plain,
    shell_word,
    shortened,
    visible,
)


@pytest.mark.parametrize("limit", range(100, 400, 7))
def test_a_text_that_is_cut_leaves_nothing_open(limit: int) -> None:
    fold = "<details>\n<summary>more</summary>\n\n````cpp\nint a;\n```\nb\n````\n\n</details>\n"
    text = f"# Head\n\n{fold}<!-- mark\nof ours -->\n" + fold * 4
    cut = shortened(text, limit)
    assert len(cut) <= limit and cut.startswith("# Head\n") and "…" in cut
    assert cut.count("<details>") == cut.count("</details>")
    assert cut.count("<!--") == cut.count("-->")
    assert cut.count("````cpp") * 2 == cut.count("````")
    assert shortened(text, len(text)) == text


@pytest.mark.parametrize(
    "attack",
    [
        "@maintainer please merge",
        "fixes #12",
        "closes !3",
        "see %milestone and &5 and ~label and $snippet",
        "GH-12",
        ":tada:",
        "write to root@example.org",
    ],
)
def test_mentions_and_references_are_broken(attack: str) -> None:
    shown = html.unescape(plain(attack))
    assert not re.search(r"(?i)[@#!%&~$:]\w|gh-\d", shown)


@pytest.mark.parametrize(
    "attack",
    ["<script>alert(1)</script>", "<img src=x onerror=y>", "</td></table><h1>", "&lt;b>"],
)
def test_no_tag_survives(attack: str) -> None:
    assert "<" not in plain(attack)
    assert html.unescape(plain(attack)).replace("\u200b", "") == attack


def test_links_and_pictures_are_not_links_or_pictures() -> None:
    shown = plain("![p](https://evil.example/x.png) [a](http://b) www.evil.example")
    assert "://" not in shown
    assert "www." not in shown
    assert not re.search(r"(?<!\\)\[", shown)


def test_a_table_cell_and_a_line_cannot_be_left() -> None:
    shown = plain("a | b\n| c |\n\n# heading")
    assert "\n" not in shown
    assert not re.search(r"(?<!\\)\|", shown)


@pytest.mark.parametrize("attack", ["/merge", "/close now", "# title", "> quote", "- item", "==="])
def test_the_start_of_a_line_begins_no_block_or_quick_action(attack: str) -> None:
    assert plain(attack) == "\\" + attack


@pytest.mark.parametrize("attack", ["1. item", "12) item", "3."])
def test_a_number_at_the_start_of_a_line_begins_no_list(attack: str) -> None:
    assert plain(attack) == re.sub(r"([.)])", r"\\\1", attack)
    assert plain("1.5 s, 2.") == "1.5 s, 2."


def test_invisible_characters_are_dropped() -> None:
    assert visible("a\u202eb\u200bc\x1b[31md\x00") == "abc[31md"


def test_long_text_is_cut_with_an_ellipsis() -> None:
    assert visible("x" * 50, 10) == "x" * 9 + "…"


def test_ordinary_words_stay_as_they_are() -> None:
    words = "MTE2 waits for VECTOR; 3 of 8 blocks are idle (see line 12): use 512-byte tiles"
    assert plain(words) == words


def test_inline_code_cannot_be_left() -> None:
    shown = code("a`b` | @all")
    assert shown.count("`") == 2
    assert "|" not in shown


def test_a_fence_is_longer_than_any_inside() -> None:
    text = block("```\nevil\n````\n<b>", "diff")
    first, *_, last = text.splitlines()
    assert first == "`````diff"
    assert last == "`````"


def test_a_long_block_ends_with_its_last_whole_line() -> None:
    assert block("one\ntwo\nthree", limit=9) == "```\none\ntwo\n…\n```"
    assert block("one\ntwo\nthree", limit=7) == "```\none\n…\n```"
    assert block("one\ntwo", limit=7) == "```\none\ntwo\n```"


HOSTILE = (
    "@everyone",
    "fixes #1",
    "Closes group/project#12",
    "resolve: owner/repo!3",
    "fix https://forge.example/o/r/issues/1",
    "closes GH-7",
    "Closes PROJ-7",
    "[skip ci]",
    "[CI SKIP]",
    "[no ci]",
    "[skip actions]",
    "[ skip ci ]",
    "Closes [issue:12]",
    "[work_item:group/project/12]",
    "***NO_CI***",
    "&5 %3 ~bug $9 :tada:",
    "/tag v1",
    "`code`",
    "www.evil.example",
)
ORDERS = r"|[A-Z]-\d|\[\s?(?=\w)[^\]]*(?i:\b(?:skip|no|ci)\b)|\*\*\*NO|\[[a-z_]+:[^\]]*\d\]"
LIVE = re.compile(r"@\w|[#!&%~$:]\w|://|(?i:gh)-\d|^/|www\." + ORDERS)
IN_A_COMMIT = re.compile(r"@\w|[#!]\d|://|(?i:gh)-\d" + ORDERS)


@pytest.mark.parametrize("attack", HOSTILE)
def test_nothing_is_live_in_a_title_or_a_commits_message(attack: str) -> None:
    assert LIVE.search(attack) or "`" in attack
    for text in (attack, f"x {attack}", f"{attack}\n{attack}"):
        shown = inert(text)
        assert not LIVE.search(shown) and "`" not in shown and "\n" not in shown
        assert shown.replace("\u200b", "") == " ".join(text.split()).replace("`", "'")


@pytest.mark.parametrize("attack", [a for a in HOSTILE if a[0] not in "&/`w"])
@pytest.mark.parametrize("made", [code, plain, shell_word], ids=lambda made: made.__name__)
def test_nothing_is_live_in_a_description_that_is_squashed_into_a_commit(
    attack: str, made: Callable[[str], str]
) -> None:
    assert IN_A_COMMIT.search(attack)
    assert not IN_A_COMMIT.search(made(attack))


@pytest.mark.parametrize("text", [*HOSTILE, "it's [no] @x", "src/a-b/c_d", "a b", "'@x'\"#1"])
def test_a_word_of_a_shell_command_is_the_word(text: str) -> None:
    assert shlex.split(shell_word(text)) == [text]


@pytest.mark.parametrize(
    "text", [*HOSTILE, "a  b\tc", "--!> <b>", "ö=3D%20", "PROJ-1", "\u202e\u200b"]
)
def test_what_is_encoded_is_nothing_but_a_path_and_comes_back(text: str) -> None:
    shown = encoded(text)
    assert re.fullmatch(r"[\w./=-]*", shown, re.ASCII)
    assert not IN_A_COMMIT.search(shown) and "--" not in shown
    assert decoded(shown) == text


@pytest.mark.parametrize("path", ["src/math/scale_add", "op-nn/conv3d/op_kernel/x.cpp", "."])
def test_an_ordinary_path_stays_as_it_is(path: str) -> None:
    assert encoded(path) == shell_word(path) == inert(path) == path


def test_what_steers_a_terminal_is_spelled_and_json_means_the_same() -> None:
    text = "a\x1b[31m\x9b2J\u202e\U000e0041 b\n\tc"
    assert harmless(text) == "a\\u001b[31m\\u009b2J\\u202e\\udb40\\udc41 b\n\tc"
    given = {"said": text}
    assert json.loads(harmless(json.dumps(given, ensure_ascii=False))) == given


ORDER = re.compile(r"^\s*::|##\w*\[", re.MULTILINE)
"""What GitHub's runner obeys: the first form at the start of a line, the second wherever it is."""


@pytest.mark.parametrize(
    "order", ["::error::x", "  ::add-mask::x", "##[group]x", "src/##[add-mask]x", "##vso[task]x"]
)
def test_no_line_is_an_order_to_a_runner(order: str) -> None:
    assert ORDER.search(f"said\n{order}")
    assert not ORDER.search(harmless(f"said\n{order}"))
    assert json.loads(harmless(json.dumps({"said": order}))) == {"said": order}
    assert harmless("## A heading\n#[x] a::b") == "## A heading\n#[x] a::b"


@pytest.mark.parametrize(
    "line", ["skip-checks: true", "Signed-off-by: x", "Co-Authored-By : x", "Change-Id: I00"]
)
def test_no_line_of_a_message_is_a_trailer(line: str) -> None:
    assert not re.match(r"[A-Za-z-]+\s?:", inert(line))
    assert inert(line).replace("\u200b", "") == line
    assert inert("feat(a-b): Add it") == "feat(a-b): Add it"

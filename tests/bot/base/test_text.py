from __future__ import annotations

import html
import re

import pytest

from bot.base.text import block, code, plain, visible


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

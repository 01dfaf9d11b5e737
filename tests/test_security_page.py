"""Each row of the page's table of trust names a test that there is."""

from __future__ import annotations

import re

from tests.places import TOP

TEST = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")


def test_every_row_of_who_is_trusted_names_a_test_that_there_is() -> None:
    text = (TOP / "docs" / "security.md").read_text()
    section = text.split("## Who is trusted with what")[1].split("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("|")][2:]
    assert len(rows) > 10
    for row in rows:
        named = TEST.search(row)
        assert named is not None, row
        assert f"def {named[2]}(" in (TOP / named[1]).read_text(), named[0]

from __future__ import annotations

import pytest

from ci.model.errors import InputError
from ci.model.patch_set import patch_set
from tests.bot.make import DIFF


def test_a_diff_has_its_files() -> None:
    assert len(patch_set(DIFF)) == 2


@pytest.mark.parametrize(
    "odd", [f"@@ -{'9' * 5000} +1 @@\n", "@@ -1,9 +1,9 @@\n", "@@ -1 +1 @@\nodd\n"]
)
def test_what_is_no_diff_is_a_sentence(odd: str) -> None:
    with pytest.raises(InputError) as caught:
        patch_set(f"--- a/x\n+++ b/x\n{odd}")
    assert 0 < len(str(caught.value)) <= 200 and "\n" not in str(caught.value)

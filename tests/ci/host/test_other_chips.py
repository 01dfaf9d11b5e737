"""Calls that other chips have."""

from __future__ import annotations

import re

from ci.host.door.other_chips import of_other_chips, other_chips
from ci.host.door.own import HEADERS


def test_a_call_that_this_chip_lacks_is_said_to_be_of_the_chips_that_have_it() -> None:
    said = "error: 'ProposalConcat' is not a member of 'AscendC'"
    assert (
        of_other_chips(said) == " The 910B has no ProposalConcat; these chips have it: 310P, 910."
    )
    assert of_other_chips("error: 'nobodys' was not declared in this scope") == ""


def test_no_listed_call_is_one_of_ours() -> None:
    text = "\n".join(path.read_text() for path in HEADERS.rglob("*.h"))
    assert other_chips().keys().isdisjoint(re.findall(r"\b[A-Z]\w+\b", text))

"""Forms of calls that one door takes and the other refuses are found."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from ci.host.door.own import own_headers
from lab.reference.door_forms import differences, main, probes, taken
from tests.places import HEADER_TREE


def test_our_door_takes_the_documented_forms_and_refuses_others() -> None:
    answers = taken(own_headers())
    tensors = "LocalTensor<float>&, LocalTensor<float>&"
    assert answers["Adds", f"{tensors}, float&, int"]
    assert not answers["Adds", f"{tensors}, double&, int"]
    assert answers["Floor", f"{tensors}, uint32_t"]
    assert not answers["Floor", tensors]
    assert answers.keys() == set(probes())


@pytest.mark.long
def test_a_tree_that_takes_fewer_forms_differs() -> None:
    said = CliRunner().invoke(main, ["--asc-headers", str(HEADER_TREE)]).output
    assert "only ours: DataCopy(LocalTensor<half>&, LocalTensor<half>&, int)" in said
    assert "calls have the same answer" in said
    assert differences(own_headers(), own_headers())[1:] == ([], [])

"""The table of calls holds what our headers declare, and says of each what its header does."""

import re
from pathlib import Path

import pytest

from ci.model.errors import InputError
from lab.reference.api_page import declared, public_calls
from rules.api import API, load_api
from rules.load import load_motifs


def test_every_public_call_of_our_headers_is_in_the_table() -> None:
    public = public_calls().keys()
    assert len(public) > 200
    assert public - load_api().known == set()


def test_the_table_names_no_call_that_our_headers_do_not_have() -> None:
    api = load_api()
    others = {name for some in api.others for name in some}
    assert (api.calls.keys() | others) - declared().keys() == set()


@pytest.mark.parametrize("name", sorted(load_api().calls))
def test_the_table_has_a_call_as_our_headers_declare_it(name: str) -> None:
    said, forms = load_api().calls[name].arguments, declared()[name]
    for place, argument in enumerate(said):
        given = [form[place] for form in forms if len(form) > place]
        if " " in argument:  # a tensor, a list of some, or what a scalar result goes to
            assert any(re.search(r"Tensor|List|\w&\w", g) for g in given), (argument, given)
    if said[-1] == "count":
        counted = [f for f in forms if f and (len(f) == len(said) or "..." in f[-1])]
        scalars = [[p for p, a in zip(f, said, strict=False) if " " not in a] for f in counted]
        assert any(not any("Tensor" in p for p in some) for some in scalars)


def test_motifs_use_only_calls_of_the_table() -> None:
    rewrites = [r for m in load_motifs() for r in (*m.forward, *m.rewind)]
    texts = [t for r in rewrites for t in (*r.sequence, *r.replace) if t]
    named = {n for t in texts for n in re.findall(r"\b([A-Z]\w+)\(", t)}
    assert named
    assert named - load_api().known == set()


def test_what_a_call_writes_and_reads_is_told_by_its_place() -> None:
    api = load_api()
    assert api.written("Add", ["d", "a", "b", "n"]) == ["d"]
    assert api.read("Add", ["d", "a", "b", "n"]) == ["a", "b", "n"]
    assert api.written("Axpy", ["d", "a", "s", "n"]) == ["d"]
    assert "d" in api.read("Axpy", ["d", "a", "s", "n"])
    assert api.written("CumSum", ["d", "last", "a", "info"]) == ["d", "last"]
    assert api.read("Sin", ["d", "a", "scratch", "n"]) == ["a", "scratch", "n"]


def test_of_a_call_that_is_not_in_the_table_the_first_argument_is_written() -> None:
    assert load_api().written("OwnStep", ["a", "b"]) == ["a"]
    assert load_api().read("OwnStep", ["a", "b"]) == ["b"]
    assert load_api().written("OwnStep", []) == []


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "[writes dst, reads src0",
            "[changes dst, reads src0",
            r"line \d+: families.binary.*'changes dst' is not",
        ),
        ("names: [Sort]", "names: [Sort, Add]", "Add is named twice"),
        ("pipes: [FIX]", "pipes: [FIXPIPE]", r"line \d+: families.cube_store.pipes"),
        (
            "elementwise: true",
            "element_wise: true",
            r"line \d+: families.binary.element_wise is not a known key",
        ),
    ],
)
def test_a_fault_is_named_with_its_place(tmp_path: Path, old: str, new: str, said: str) -> None:
    path = tmp_path / "api.yml"
    text = API.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(InputError, match=said) as caught:
        load_api(path)
    assert str(caught.value).startswith(str(path))

"""All motifs on sources that hold their pattern; the sources are of the tests' own operators."""

import re
from pathlib import Path

import pytest
import yaml

from ci.model.errors import InputError
from ci.proposer.motifs.match import Match, Place, apply_matches, place_at
from ci.proposer.motifs.rewrite import (
    applications,
    find_matches,
    halved,
    in_several_files,
)
from ci.proposer.motifs.transforms import JOINT_TRANSFORMS, TRANSFORMS
from ci.source.cpp_source import Edit, parse
from rules.load import Form, Motif, load_motifs
from tests.places import OPERATORS

KERNELS = sorted(OPERATORS.glob("src/*/*/op_kernel/*"))
MOTIFS = {m.id: m for m in load_motifs()}
OF_ONE_HALF = {m.id: m for m in load_motifs() if m.stage != "joint"}


def kernel(body: str) -> str:
    return (
        "using namespace AscendC;\nvoid F(LocalTensor<float>& y, int32_t n)\n{\n"
        "    LocalTensor<float> t = buf.Get<float>();\n"
        "    LocalTensor<float> x = q.DeQue<float>();\n"
        f"{body}}}\n"
    )


def first(motif: Motif, rewrites: tuple[Form, ...], text: str) -> str:
    found = list(applications(motif, rewrites, {"k.cpp": text}))
    return found[0].text if found else text


EXAMPLES = yaml.safe_load(Path(__file__).with_name("rewrites.yml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("motif", EXAMPLES["forward"])
def test_a_motif_makes_the_fast_form_of_the_slow_one(motif: str) -> None:
    slow, fast = EXAMPLES["forward"][motif].values()
    extra = "    LocalTensor<half> h = hBuf.Get<half>();\n" if "(h," in slow else ""
    got = first(MOTIFS[motif], MOTIFS[motif].forward, kernel(extra + slow))
    assert got == kernel(extra + fast)


@pytest.mark.parametrize("motif", EXAMPLES["rewind"])
def test_rewind_takes_an_optimization_out_and_forward_puts_it_back(motif: str) -> None:
    slow, fast = EXAMPLES["rewind"][motif].values()
    rewound = first(MOTIFS[motif], MOTIFS[motif].rewind, kernel(fast))
    assert rewound == kernel(slow)
    assert first(MOTIFS[motif], MOTIFS[motif].forward, rewound) == kernel(fast)


def test_every_motif_of_calls_or_patterns_has_an_example() -> None:
    assert set(EXAMPLES) == {"forward", "rewind"}, "an example goes below one of the two"
    forms = {m.id: (*m.forward, *m.rewind) for m in MOTIFS.values()}
    written = {name for name, those in forms.items() if not all(one.transform for one in those)}
    assert written - {*EXAMPLES["forward"], *EXAMPLES["rewind"]} == set()


def test_a_site_that_is_alone_is_offered_once() -> None:
    motif = MOTIFS["remove-vector-barrier"]
    text = kernel("    A(n);\n    PipeBarrier<PIPE_V>();\n    B(n);\n")
    assert len(list(applications(motif, motif.forward[:1], {"k.cpp": text}))) == 1


def test_all_sites_at_once_come_before_each_alone() -> None:
    text = kernel("    A(n);\n    PipeBarrier<PIPE_V>();\n    B(n);\n    PipeBarrier<PIPE_V>();\n")
    motif = MOTIFS["remove-vector-barrier"]
    found = list(applications(motif, motif.forward[:1], {"k.cpp": text}))
    assert [a.text.count("PipeBarrier") for a in found] == [0, 1, 1]


def test_halves_of_the_sites_come_between_all_and_each() -> None:
    text = kernel("    A(n);\n    PipeBarrier<PIPE_V>();\n" * 3)
    motif = MOTIFS["remove-vector-barrier"]
    found = list(applications(motif, motif.forward[:1], {"k.cpp": text}, halved))
    assert [len(a.sites) for a in found] == [3, 2, 1, 1, 1]
    assert len({a.sites for a in found}) == len(found)


def test_kernels_that_look_alike_are_rewritten_at_once_then_by_halves() -> None:
    text = kernel("    A(n);\n    PipeBarrier<PIPE_V>();\n    B(n);\n    PipeBarrier<PIPE_V>();\n")
    other = kernel("    A(n);\n    B(n);\n")
    motif = MOTIFS["remove-vector-barrier"]
    texts = {"half.h": text, "float.h": text, "bf16.h": text, "none.h": other}
    found = list(in_several_files(motif, motif.forward[:1], texts))
    changed = [{a.path: a.text, **a.also} for a in found]
    assert [set(files) for files in changed] == [
        {"half.h", "float.h", "bf16.h"},
        {"half.h", "float.h"},
    ]
    assert all("PipeBarrier" not in text for files in changed for text in files.values())
    assert [len(a.sites) for a in found] == [6, 4]
    assert not list(in_several_files(motif, motif.forward[:1], {"k.h": text, "none.h": other}))


def test_an_unknown_transform_is_named() -> None:
    with pytest.raises(InputError, match="no transform named turbo"):
        find_matches(Form(transform="turbo"), parse("int a;"))


@pytest.mark.few(2)
@pytest.mark.parametrize("motif", OF_ONE_HALF.values(), ids=OF_ONE_HALF.keys())
def test_what_a_motif_makes_of_real_kernels_still_parses(motif: Motif) -> None:
    for path in KERNELS:
        source = parse(path.read_text())
        for rewrite in (*motif.forward, *motif.rewind):
            for site in find_matches(rewrite, source):
                text = apply_matches(source, [site])
                if text is not None:
                    assert parse(text).errors <= source.errors


def test_every_transform_serves_a_motif() -> None:
    used = {r.transform for m in MOTIFS.values() for r in (*m.forward, *m.rewind) if r.transform}
    assert used == set(TRANSFORMS) | set(JOINT_TRANSFORMS)


def test_there_are_motifs_enough_in_both_directions() -> None:
    assert len(MOTIFS) >= 15
    assert sum(bool(m.rewind) for m in MOTIFS.values()) >= 12


@pytest.mark.few(3)
@pytest.mark.parametrize("motif", OF_ONE_HALF.values(), ids=OF_ONE_HALF.keys())
def test_no_two_ways_to_apply_a_motif_have_the_same_sites(motif: Motif) -> None:
    for path in KERNELS:
        found = list(applications(motif, motif.forward, {path.name: path.read_text()}))
        texts = {frozenset(one.sites): one.text for one in found}
        assert len(texts) == len({one.text for one in found})
        assert all(one.sites for one in found)


def test_a_site_is_named_so_that_other_lines_do_not_move_it() -> None:
    body = "    Exp(x, x, n);\n    AscendC::PipeBarrier<PIPE_ALL>();\n    q.EnQue<float>(x);\n"
    before, after = (
        parse(kernel(body)),
        parse("// one\n\n" + kernel("    Add(y, x, y, n);\n" + body)),
    )
    for code, node in (
        ("AscendC::PipeBarrier", "PipeBarrier"),
        ("Exp(", "Exp"),
        ("q.EnQ", "EnQue"),
    ):
        place = place_at(before, before.text.index(code))
        assert place == Place("F", node, 0)
        assert place == place_at(after, after.text.index(code))


def test_the_second_call_in_a_function_is_another_site_than_the_first() -> None:
    source = parse(
        kernel("    Exp(x, x, n);\n    Exp(y, y, n);\n")
        + kernel("    Exp(x, x, n);\n").replace("F(", "G(")
    )
    starts = [m.start() for m in re.finditer(r"Exp\(", source.text)]
    assert [place_at(source, s) for s in starts] == [
        Place("F", "Exp", 0),
        Place("F", "Exp", 1),
        Place("G", "Exp", 0),
    ]


def test_an_application_is_not_made_before_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    monkeypatch.setattr(
        "ci.proposer.motifs.rewrite.apply_matches",
        lambda source, group: made.append(group) or source.text,
    )
    motif = next(m for m in load_motifs() if m.id == "remove-vector-barrier")
    text = "void F() {\n" + "    Add(a, b, c, 8);\n    PipeBarrier<PIPE_V>();\n" * 5 + "}\n"
    next(applications(motif, motif.forward, {"k.cpp": text}))
    assert len(made) == 1


def test_a_change_that_is_made_again_is_not_parsed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    source = parse(kernel("    Exp(t, x, 8);  // of this test alone\n    Abs(t, t, 8);\n"))
    edit = Edit(source.text.index("Exp"), source.text.index("Exp") + 3, "Abs")
    matches = [Match(edit.start, (edit,))]
    changed = apply_matches(source, matches)
    assert changed is not None
    monkeypatch.setattr("ci.proposer.motifs.match.Source", None)
    assert apply_matches(source, matches) == changed

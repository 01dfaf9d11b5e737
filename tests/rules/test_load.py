from pathlib import Path

import pytest

from ci.model.errors import InputError
from rules.load import load_motifs, load_taxonomy

GOOD = """id: good
title: Good
stage: kernel
classes: [no_overlap]
bottleneck: Slow.
why: Fast.
reference: A document.
forward:
  - transform: queue_depth
"""


def write(folder: Path, text: str, name: str = "good.yml") -> Path:
    (folder / name).write_text(text)
    return folder


def test_a_motif_is_read_as_it_stands(tmp_path: Path) -> None:
    (motif,) = load_motifs(write(tmp_path, GOOD))
    assert (motif.id, motif.classes, motif.rewind) == ("good", ("no_overlap",), ())


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("no_overlap", "no_such_class", "taxonomy.yml has no class no_such_class"),
        ("id: good", "id: other", "line 1: id: is other"),
        ("title: Good\n", "", "title is missing"),
        ("queue_depth", "queue_depth\n    pattern: x", "exactly one of"),
        ("transform: queue_depth", "sequence: [A(x)]", "one entry for each call"),
        ("title: Good", "title: Good\ntitel: G", "line 3: titel is not a known key"),
        ("transform: queue_depth", "sequence: ['{OP}(x)']\n    replace: [null]", "differ in OP"),
        ("transform: queue_depth", "sequence: [A($D)]\n    replace: [B($E)]", "\\$E is in replace"),
        (
            "transform: queue_depth",
            "sequence: [A($D)]\n    replace: [null]\n    where: {dead: [$T]}",
            "\\$T is in replace, fix or where",
        ),
        (
            "transform: queue_depth",
            "each: {X: [$D, $E]}\n    sequence: [A($D)]\n    replace: ['B({X})']",
            "\\$E is in replace",
        ),
        ("transform", "each: {OP: [[A, B]]}\n    transform", "one for each name"),
        ("title: Good", "title: [", "this is not YAML"),
        (
            "transform: queue_depth",
            "sequence: ['Adsd($D, $A, $S, $N)']\n    replace: [null]",
            "forward: api.yml has no call Adsd: did you mean Adds?",
        ),
        (
            "transform: queue_depth",
            "sequence: ['Adds($D, $A)']\n    replace: [null]",
            "Adds has fewer arguments in",
        ),
        (
            "transform: queue_depth",
            "each: {OP: [Mul, Addd]}\n    pattern: '{OP}($D, $N)'\n    fix: '@{OP}($D, $N)'",
            "no call Addd: did you mean Add?",
        ),
        (
            "transform: queue_depth",
            "sequence: ['Add($D, $A, $B, $N)']\n    replace: ['Quux($D)']",
            "no call Quux: declare it first",
        ),
    ],
)
def test_a_fault_is_named_with_its_file(tmp_path: Path, old: str, new: str, said: str) -> None:
    folder = write(tmp_path, GOOD.replace(old, new))
    with pytest.raises(InputError, match=said) as caught:
        load_motifs(folder)
    assert str(caught.value).startswith(str(tmp_path / "good.yml"))


def test_every_class_names_a_documented_practice() -> None:
    assert {c.practice for c in load_taxonomy().values()} == {
        "memory access",
        "pipeline",
        "tiling",
        "computation",
    }


def test_every_class_is_addressed_by_a_motif_or_a_knob() -> None:
    addressed = {c for m in load_motifs() for c in m.classes}
    by_knobs = {"tail_imbalance", "launch_overhead"}
    assert set(load_taxonomy()) == addressed | by_knobs


def test_every_motif_says_why_and_where_it_is_documented() -> None:
    for motif in load_motifs():
        assert len(motif.why) > 30
        assert motif.reference.startswith("asc-devkit, docs/")


def test_a_form_stands_for_each_of_its_choices_in_their_order(tmp_path: Path) -> None:
    form = """each: {CALL OP: [[Add, +], [Sub, '-']], STEP: [$I++, ++$I]}
    pattern: '{STEP} {OP} $X'
    fix: '{CALL}($X, "{OP}");'
"""
    text = GOOD.replace("transform: queue_depth\n", form)
    (motif,) = load_motifs(write(tmp_path, text))
    assert [(f.pattern, f.fix) for f in motif.forward] == [
        ("$I++ + $X", 'Add($X, "+");'),
        ("++$I + $X", 'Add($X, "+");'),
        ("$I++ - $X", 'Sub($X, "-");'),
        ("++$I - $X", 'Sub($X, "-");'),
    ]
    (written,) = load_motifs(tmp_path, as_written=True)
    assert len(written.forward) == 1

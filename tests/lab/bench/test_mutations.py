from collections import Counter

import pytest

from ci.source.discovery import load_operator
from lab.bench.machine import shipped_operators
from lab.bench.mutations import Mutation, host_mutations, kernel_mutations
from tests.places import OPERATORS, SAMPLE

HINGE = load_operator(OPERATORS / "src" / "loss" / "hinge_loss")


def found(host: bool) -> dict[str, Mutation]:
    path = HINGE.host_sources[0] if host else HINGE.kernel_entry
    make = host_mutations if host else kernel_mutations
    return {m.what: m for m in make(HINGE.read(path))}


@pytest.mark.parametrize(
    ("what", "gone", "there"),
    [
        (
            "always CHUNK of this->count - done < CHUNK ? this->count - done : CHUNK",
            " ? ",
            "= CHUNK;",
        ),
        ("one turn less: done < this->count", "; done < this", "; done + 1 < this->count;"),
        ("a constant is nothing: 1.0f", "yLocal, 1.0f, length", "yLocal, 0.0f, length"),
        ("left out: Relu(yLocal, yLocal, length);", "Relu(", " ;"),
        (
            "Add in place of Mul(yLocal, xLocal, targetLocal, length);",
            "Mul(yLocal, x",
            "Add(yLocal, x",
        ),
        ("Relu on (length) - 1 elements", "Relu(yLocal, yLocal, length)", "(length) - 1)"),
    ],
)
def test_a_kernel_is_changed_in_one_place(what: str, gone: str, there: str) -> None:
    chosen = found(False)[what]
    text = HINGE.read(HINGE.kernel_entry)
    assert gone in text and text.count(gone) == chosen.text.count(gone) + 1
    assert there in chosen.text


def test_counts_are_capped_and_the_definition_is_broken_on_the_host_side() -> None:
    made = found(True)
    assert (
        "(total) > 1000 ? 1000 : (total))"
        in made["1000 at most goes to the kernel: .set_total(total);"].text
    )
    promised = {name.partition(":")[0] for name, m in made.items() if m.promised}
    assert {"infers int8", "infers no shape", "is for another device"} <= promised
    check = next(m for name, m in made.items() if name.startswith("a check of the request is gone"))
    assert not check.promised and "total % kBlock" not in check.text


def test_every_class_is_found_in_most_operators() -> None:
    operators = shipped_operators()
    classes = Counter[str]()
    for operator in operators:
        kinds = set[str]()
        for path, text in operator.texts().items():
            make = host_mutations if path in operator.host_sources else kernel_mutations
            kinds |= {m.kind for m in make(text)}
        classes.update(kinds)
    assert set(classes) == set("abcdg")
    assert min(classes.values()) > 0.9 * len(operators)


def test_words_in_comments_are_left_alone() -> None:
    operator = load_operator(SAMPLE / "src" / "math" / "affine_clamp")
    text = operator.read(operator.kernel_entry)
    plain = [m.what for m in kernel_mutations(text)]
    commented = [
        m.what for m in kernel_mutations(f"// (a + b - 1) / b, 2.5f, = tiling->x;\n{text}")
    ]
    assert plain == commented

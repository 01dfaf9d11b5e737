"""The list of instructions that a header tree calls, and of those that the machine lacks."""

from __future__ import annotations

import shutil
from pathlib import Path

from ci.host.door.device_path import real_headers
from ci.simulator.toolchain import Toolchain
from lab.reference.intrinsic_coverage import _TOKEN, coverage, names
from lab.reference.signature_coverage import signatures
from rules.architectures import load_architecture
from tests.places import HEADER_TREE

TREE = HEADER_TREE
ARCHITECTURE = load_architecture("dav-c220")
FLAGS = Toolchain(ARCHITECTURE).kernel_flags("cube")


def test_the_instructions_of_a_tree_are_what_it_calls_and_does_not_declare(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    shutil.copytree(TREE, tree)
    entry = tree / "include/kernel_operator.h"
    entry.write_text(
        entry.read_text() + "template <typename T>\n"
        '[[deprecated("do not")]] inline void Far(T* p)\n'
        "{ vfaraway(p, 1); vabs(p, p, 1, 1, 1, 8, 8); }\n"
    )
    found = coverage(Toolchain(ARCHITECTURE, door=real_headers(tree)))
    assert found.lacking == ("vfaraway",)
    assert {"vadds", "vmuls", "copy_gm_to_ubuf", "copy_ubuf_to_gm", "set_flag", "vabs"} <= set(
        found.called
    )
    # What the tree has itself is no instruction.
    assert not {"step", "deprecated", "address_", "count"} & set(found.called)


def test_declarations_of_every_kind_are_told_from_calls() -> None:
    text = """
    inline Value<T> make(int size) { return vone(size); }
    void take(const T& value, F call, uint32_t gap = 0) : width(value)
    { vtwo(value * gap, call(1)); }
    T* pick(T* from) { return other.vthree(from) + Space::vfour(from) * vfive(from); }
    """
    called, declared = names(_TOKEN.findall(text))
    assert {"make", "take", "value", "call", "gap", "pick", "from", "size"} <= declared
    assert called - declared == {"vone", "vtwo", "vfive", "width"}


def test_overloads_are_counted_where_the_tree_has_a_c_api(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    shutil.copytree(TREE, tree)
    (tree / "include/c_api").mkdir()
    (tree / "include/c_api/asc_simd.h").write_text(
        "inline void one(half* p) { vabs(p, p, 1, 1, 1, 8, 8); vfaraway(p, 1); }\n"
        "inline void two(float* p) { vabs(p, p, 1, 1, 1, 8, 8); vabs(p, 1); }\n"
        "inline void three(float* p) { copy_gm_to_cbuf(p, p, 0, 1, 1, 0, 0, PAD_MODE9); }\n"
    )
    found = signatures(real_headers(tree), FLAGS, ("vabs", "vfaraway"))
    assert found is not None
    assert [s.split(",")[0] for s in found.present] == ["vabs(float*", "vabs(half*"]
    assert {s.split("(")[0] for s in found.lacking} == {"vabs", "vfaraway"}
    assert len(found.lacking) == 2
    assert signatures(real_headers(TREE), FLAGS, ("vabs",)) is None

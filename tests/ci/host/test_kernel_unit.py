"""What the operator compiler fills in before a kernel's own text."""

from __future__ import annotations

import os
import subprocess

from ci.host.door.unlisted import unlisted
from ci.host.kernel_unit import (
    KernelVariant,
    amended,
    header_texts,
    translation_unit,
    twice_defined,
)
from ci.host.tiling_layout import TilingField, TilingStruct, declarations
from ci.model.trial import Refusal
from ci.source.device_half import without_attributes
from ci.testing.scale_shift import OPERATOR

ROWS = TilingStruct(
    name="RowsTilingData",
    bytes=16,
    fields=(
        TilingField(name="rows", ctype="uint64_t", bytes=8, offset=0),
        TilingField(name="least", ctype="float", bytes=4, offset=8),
    ),
)
OF_THE_KERNEL = "struct RowsTilingData {\n    uint64_t rows = 0;\n    float least = 1;\n};\n"


def compiled(variant: KernelVariant, kernel: str = OF_THE_KERNEL) -> str:
    """What the compiler says to the declarations and a kernel that defines the struct itself."""
    unit = f"#include <cstdint>\n{variant.tiling_declarations}\n{kernel}"
    said = subprocess.run(
        ["g++", "-fsyntax-only", "-xc++", "-"],
        input=unit,
        capture_output=True,
        text=True,
        check=False,
    )
    return said.stderr


def test_a_tiling_struct_that_the_kernel_defines_too_is_the_kernel_s() -> None:
    variant = KernelVariant((), (), 1, declarations([ROWS]), ROWS.name)
    said = compiled(variant)
    assert "redefinition of" in said
    other = twice_defined(variant, Refusal(sentence=f"The kernel does not compile: {said[:200]}"))
    assert other is not None
    assert compiled(other) == ""
    assert other.tiling_bytes == 16, "their sizes are compared when it is compiled"
    assert twice_defined(other, Refusal(sentence=said[:200])) is None, "it was done already"


def test_another_struct_of_the_kernel_that_is_defined_twice_is_its_own_fault() -> None:
    variant = KernelVariant((), (), 1, declarations([ROWS]), ROWS.name)
    assert twice_defined(variant, Refusal(sentence="redefinition of 'struct Other'")) is None


def test_a_constant_that_only_the_toolkit_s_headers_have_is_declared_where_it_is_missing() -> None:
    variant = KernelVariant((), (), 1, "", "")
    said = "The kernel does not compile: 'PI' was not declared in this scope"
    other = amended(
        OPERATOR,
        variant,
        Refusal(sentence=said, evidence="error: 'TWO' was not declared in this scope"),
    )
    assert other is not None and other.unlisted == ("PI", "TWO")
    assert amended(OPERATOR, other, Refusal(sentence=said)) is None, "it was declared already"
    assert amended(OPERATOR, variant, Refusal(sentence=said.replace("PI", "nobodys"))) is None


def test_a_name_that_is_called_with_template_arguments_is_found_by_what_it_is_given() -> None:
    source = """
    namespace AscendC { struct Row {}; template <typename T> int Doubled(Row, T t) { return t; } }
    int twice() { return Doubled<int>(AscendC::Row{}, 2); }
    """
    said = checked(source)
    assert "did you mean 'AscendC::Doubled'" in said
    bare = KernelVariant(("float32",) * 2, ("ND",) * 2, 0, "", "")
    other = amended(OPERATOR, bare, Refusal(sentence="It does not compile.", evidence=said))
    assert other is not None and other.called == ("Doubled",)
    unit = translation_unit(OPERATOR, other, OPERATOR.texts()[OPERATOR.kernel_entry])
    (line,) = (one for one in unit.splitlines() if "Doubled" in one)
    assert checked(line + source) == ""
    assert amended(OPERATOR, other, Refusal(sentence=said)) is None, "it is in sight already"


def checked(source: str) -> str:
    """What the compiler says of a source."""
    command = ["g++", "-std=c++17", "-fsyntax-only", "-xc++", "-"]
    environment = {**os.environ, "LC_ALL": "C"}
    return subprocess.run(
        command, input=source, capture_output=True, text=True, check=False, env=environment
    ).stderr


def test_every_unlisted_constant_is_found_in_the_toolkit_s_namespace_and_outside() -> None:
    uses = "".join(f"static_assert(AscendC::{n} == {n});\n" for n in unlisted())
    unit = (
        "#include <cstdint>\n"
        + "\n".join(unlisted().values())
        + f"\nusing namespace AscendC;\n{uses}"
    )
    done = subprocess.run(
        ["g++", "-std=c++17", "-fsyntax-only", "-xc++", "-"],
        input=unit,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""


def test_a_tiling_class_that_the_kernel_defines_too_is_the_kernel_s() -> None:
    variant = KernelVariant((), (), 1, declarations([ROWS]), ROWS.name)
    other = twice_defined(variant, Refusal(sentence=f"redefinition of 'class {ROWS.name}'"))
    assert other is not None and other.tiling_bytes == 16


def test_a_tiling_struct_that_the_kernel_has_in_a_namespace_is_the_kernel_s() -> None:
    variant = KernelVariant((), (), 1, declarations([ROWS]), ROWS.name)
    uses = f"namespace sums {{\n{OF_THE_KERNEL}}}\nusing namespace sums;\n{ROWS.name} rows;\n"
    said = compiled(variant, uses)
    assert "is ambiguous" in said
    first = said.split("error: ")[1].splitlines()[0]
    other = twice_defined(variant, Refusal(sentence=f"The kernel does not compile: {first}"))
    assert other is not None
    assert compiled(other, uses) == ""
    assert other.tiling_struct == "", "the kernel says itself which struct it reads"


def test_a_header_of_the_toolkit_by_its_folder_or_name_is_laid_where_it_is_missing() -> None:
    variant = KernelVariant((), (), 1, "", "")
    for path in (
        "adv_api/reduce/reduce.h",
        "kernel_tpipe_impl.h",
        "basic_api/kernel_nobodys.h",
        "some/where/basic_api/kernel_nobodys.h",
        "kernel_xy_intf.h",
    ):
        refusal = Refusal(
            sentence=f"The kernel does not compile: {path}: No such file or directory"
        )
        other = amended(OPERATOR, variant, refusal)
        assert other is not None and set(header_texts(other)) == {path}
        assert amended(OPERATOR, other, refusal) is None, "it was laid already"
    for path in ("ATen/ATen.h", "lib/oracle.h", "my_kernel_impl.h", "kernel_add.h"):
        refusal = Refusal(
            sentence=f"The kernel does not compile: {path}: No such file or directory"
        )
        assert amended(OPERATOR, variant, refusal) is None


def test_what_says_for_which_side_a_function_is_is_blanked_and_a_subscript_is_not() -> None:
    kept = "v[host] = w[ aicore ]; auto f = [host](int x) { return x; };\n"
    text = f"#define DEVICE __inline__ [host, aicore]\n[aicore] DEVICE void f() {{ {kept} }}\n"
    blank = without_attributes(text)
    assert blank == text.replace("[host, aicore]", " " * 14).replace("[aicore]", " " * 8)

"""What the operator compiler fills in before a kernel's own text."""

from __future__ import annotations

import subprocess

from ci.host.kernel_unit import KernelVariant, twice_defined
from ci.host.tiling_layout import TilingField, TilingStruct, declarations
from ci.model.trial import Refusal

ROWS = TilingStruct(
    name="RowsTilingData",
    bytes=16,
    fields=(
        TilingField(name="rows", ctype="uint64_t", bytes=8, offset=0),
        TilingField(name="least", ctype="float", bytes=4, offset=8),
    ),
)
OF_THE_KERNEL = "struct RowsTilingData {\n    uint64_t rows = 0;\n    float least = 1;\n};\n"


def compiled(variant: KernelVariant) -> str:
    """What the compiler says to the declarations and a kernel that defines the struct itself."""
    unit = f"#include <cstdint>\n{variant.tiling_declarations}\n{OF_THE_KERNEL}"
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

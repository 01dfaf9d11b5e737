"""The vector unit's instructions that are not element by element, as calls of the harness."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.ci.simulator.vector_unit import WINDOW, Outcome, State, addresses

DST, A, B, EXTRA = 0, 4096, 8192, 12288
TYPES = {"half": np.float16, "float": np.float32, "int32_t": np.int32}
WORDS = {"uint16_t": np.uint16, "uint32_t": np.uint32}
COMPARISONS = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}
SEEDS = range(6)
COMPARED = [(mode, dtype) for mode in COMPARISONS for dtype in ("half", "float")]
COMPARED.append(("eq", "int32_t"))


def at(dtype: str, offset: int) -> str:
    return f"({dtype}*)(ub + {offset})"


def calls() -> dict[str, str]:
    made = {}
    for mode in COMPARISONS:
        for dtype in (dtype for name, dtype in COMPARED if name == mode):
            pair = f"{at(dtype, A)}, {at(dtype, B)}, n[0], 1, n[1], n[2], 8, n[3], n[4]"
            made[f"vcmpv_{mode} {dtype}"] = f"vcmpv_{mode}(ub + {DST}, {pair});"
            made[f"vcmpvs_{mode} {dtype}"] = (
                f"vcmpvs_{mode}(ub + {DST}, {at(dtype, A)}, ({dtype})scalar, n[0], 1, n[1], 8,"
                " n[3]);"
            )
            if dtype != "int32_t":
                made[f"vcmp_{mode} {dtype}"] = f"vcmp_{mode}({pair});"
    for dtype in ("half", "float"):
        strides = "n[0], 1, n[1], n[2], 8, n[3], n[4]"
        made[f"vsel0 {dtype}"] = (
            f"vsel({at(dtype, DST)}, {at(dtype, A)}, {at(dtype, B)}, {strides});"
        )
        made[f"vsel1 {dtype}"] = (
            f"vsel({at(dtype, DST)}, {at(dtype, A)}, {at('uint8_t', EXTRA)}, {strides}, 1);"
        )
        made[f"vsel2 {dtype}"] = (
            f"state.compare_mask[0] = (uint32_t)(uint64_t)(ub + {EXTRA});"
            f"vsel({at(dtype, DST)}, {at(dtype, A)}, {at(dtype, B)}, {strides}, 2);"
        )
        made[f"vbitsort {dtype}"] = (
            f"vbitsort({at(dtype, DST)}, {at(dtype, A)}, {at('uint32_t', B)}, n[0]);"
        )
        made[f"vmrgsort4 {dtype}"] = (
            f"{dtype}* lists[4]; for (int i = 0; i < 4; i++) lists[i] = ({dtype}*)(ub + n[i]);"
            f"vmrgsort4({at(dtype, DST)}, lists, n[4], n[5]);"
        )
    for dtype in WORDS:
        base = f"(uint32_t)(uint64_t)(ub + {B})"
        made[f"vgather {dtype}"] = (
            f"vgather({at(dtype, DST)}, {at('uint32_t', A)}, {base}, n[1], n[0]);"
        )
        made[f"vgatherb {dtype}"] = (
            f"vgatherb({at(dtype, DST)}, {at('uint32_t', A)}, {base}, n[1], n[2], n[0]);"
        )
        made[f"vreducev2 {dtype}"] = (
            f"vreducev2({at(dtype, DST)}, {at(dtype, A)}, {at(dtype, EXTRA)}, n[0], n[1], n[2],"
            " n[3], n[4]);"
        )
        made[f"vbrcb {dtype}"] = f"vbrcb({at(dtype, DST)}, {at(dtype, A)}, n[1], n[2], n[0]);"
        made[f"vcopy {dtype}"] = (
            f"vcopy({at(dtype, DST)}, {at(dtype, A)}, n[0], n[1], n[2], n[3], n[4]);"
        )
        made[f"vector_dup {dtype}"] = (
            f"vector_dup({at(dtype, DST)}, ({dtype})n[5], n[0], n[1], 1, n[3], 0);"
        )
    for width in (8, 16, 32):
        flags = ", n[4], n[5]" if width == 8 else ""
        made[f"scatter_vnchwconv_b{width}"] = (
            "uint64_t d[16], s[16]; for (int i = 0; i < 16; i++) {"
            f" d[i] = (uint64_t)(ub + {DST} + i * n[3] * 32); s[i] = (uint64_t)(ub + {B} + i * 64);"
            "} set_va_reg_sb(VA0, d); set_va_reg_sb(VA1, d + 8); set_va_reg_sb(VA2, s);"
            "set_va_reg_sb(VA3, s + 8);"
            f"scatter_vnchwconv_b{width}(VA0, VA2, n[0], n[1], n[2]{flags});"
        )
    made["vtranspose"] = f"vtranspose({at('uint16_t', DST)}, {at('uint16_t', A)});"
    made["v4dtrans"] = (
        f"v4dtrans({at('uint32_t', DST)}, {at('uint32_t', A)}, n[0], n[1], n[2] != 0);"
    )
    made["cmpmask"] = f"set_cmpmask(ub + {A}); get_cmpmask(ub + {DST});"
    made["vconv_deq"] = (
        "set_deqscale((half)scalar);"
        f"vconv_deq({at('half', DST)}, {at('int32_t', A)}, 1, 1, 1, 4, 8);"
    )
    for kind in ("int8_t", "uint8_t"):
        for half in "lh":
            operands = f"{at(kind, DST)}, {at('int16_t', A)}"
            made[f"deq {kind} {half}"] = (
                f"set_deqscale((uint64_t)n[0]); vconv_deqs162b8{half}({operands}, 1, 1, 1, 8, 8);"
            )
            made[f"vdeq {kind} {half}"] = (
                f"set_deqscale((uint64_t)(ub + {B}) >> 5);"
                f"vconv_vdeqs162b8{half}({operands}, 1, 1, 1, 8, 8);"
            )
    made["control"] = (
        "set_ctrl(sbitset1(get_ctrl(), 56)); ub[0] = state.mask.counter;"
        "set_mask_norm(); ub[1] = get_ctrl() >> 56 & 1;"
        "set_mask_count(); ub[2] = get_ctrl() >> 56 & 1;"
        "set_ctrl(sbitset0(get_ctrl(), 56)); ub[3] = state.mask.counter;"
    )
    return made


def random_state(seed: int, dtype: str = "float") -> tuple[Any, State]:
    """A generator and a window whose operands A and B hold small numbers with many equals."""
    random = np.random.default_rng(seed)
    ub = random.integers(0, 256, WINDOW, dtype=np.uint8)
    kind = TYPES.get(dtype, np.float32)
    values = random.integers(-4, 5, 8192 // np.dtype(kind).itemsize).astype(kind)
    if dtype != "int32_t":
        values[random.random(len(values)) < 0.05] = np.nan
    ub[A : A + 8192] = values.view(np.uint8)
    return random, State(ub)


def lanes(ub: Any, kind: Any, base: int, count: int, r: int, block: int, stride: int) -> Any:
    size = np.dtype(kind).itemsize
    where = addresses(base, size, range(count), r, block, stride)
    raw = np.stack([ub[where + i] for i in range(size)], 1)
    return np.ascontiguousarray(raw).view(kind)[:, 0]


def covered(state: State, outcome: Outcome) -> None:
    changed = outcome.ub != state.ub
    assert not (changed & ~outcome.declared(write=True)).any()

"""Kernels with a fault each, and what mends them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from tests.ci.judge.check.small_operator import (
    LOAD,
    STORE,
    ordered,
    write_operator,
)


class Fault(NamedTuple):
    """A kernel with a fault, and what mends it."""

    kind: str
    line: str
    """What the line holds that the finding names."""
    body: str
    wrong: str
    right: str
    more: dict[str, Any] = {}
    golden: str = "x * np.float32(2)"


TILES = f"""
        pipe.InitBuffer(first, 256 * sizeof(float));
        pipe.InitBuffer(second, 256 * sizeof(float));
        LocalTensor<float> a = first.Get<float>(), b = second.Get<float>();
        for (uint32_t i = 0; i < n; i += 256) {{
            DataCopy(a, x[i], 256);
            {ordered("MTE2_V")}
            Muls(b, a, 2.0f, 256);
            {ordered("V_MTE2")}
            {ordered("V_MTE3")}
            DataCopy(y[i], b, 256);
            LAST
        }}
"""
AHEAD = """
        pipe.InitBuffer(first, n * sizeof(float));
        LocalTensor<float> a = first.Get<float>();
        DataCopy(a, x, n / 2);
        SetFlag<HardEvent::MTE2_V>(EVENT_ID0);
        DataCopy(a[n / 2], x[n / 2], n / 2);
        SetFlag<HardEvent::MTE2_V>(LAST);
        WaitFlag<HardEvent::MTE2_V>(EVENT_ID0);
        WaitFlag<HardEvent::MTE2_V>(LAST);
        Muls(a, a, 2.0f, n);
"""
BEHIND = f"""
        pipe.InitBuffer(first, n * sizeof(float));
        pipe.InitBuffer(second, LAST);
        LocalTensor<float> a = first.Get<float>(), b = second.Get<float>();
        DataCopy(a, x, n);
        {ordered("MTE2_V")}
        Muls(b, a, 2.0f, n);
        {ordered("V_MTE3")}
        DataCopy(y, b, n);
"""
ELEMENTS = f"""{LOAD}
        Muls(a, a, 2.0f, n);
        pipe.InitBuffer(second, LAST);
        LocalTensor<float> b = second.Get<float>();
        {ordered("V_S")}
        for (uint32_t i = 0; i < 16; i++) {{
            b.SetValue(i, a.GetValue(i));
        }}
{STORE}"""
BEFORE_IT = f"""{LOAD}
        Muls(a, a, 2.0f, n);
        pipe.InitBuffer(second, 32);
        LocalTensor<float> b = second.Get<float>();
        b.SetValue(LAST, 1.0f);
{STORE}"""
UNSET = f"""{LOAD}
        if (n == 1) {{
            twice = false;
        }}
        LAST
        if (twice) {{
            Muls(a, a, 2.0f, n);
        }}
{STORE}"""
ROWS = f"""
        uint32_t row = GetBlockIdx() * 8;
        pipe.InitBuffer(first, 32);
        LocalTensor<float> a = first.Get<float>();
        DataCopy(a, x[row], 8);
        {ordered("MTE2_V")}
        Muls(a, a, 2.0f, 8);
        {ordered("V_S")}
        for (uint32_t i = 0; i < 8; i++) {{
            y.SetValue(row * LAST + i, a.GetValue(i));
        }}
        DataCacheCleanAndInvalid<float, CacheLine::ENTIRE_DATA_CACHE>(y);
"""
REPEATS = f"""{LOAD}
        pipe.InitBuffer(second, 1024);
        LocalTensor<float> b = second.Get<float>();
        WholeReduceSum(b, a, 64, LAST, 1, 1, 8);
        {ordered("V_MTE3")}
        DataCopy(y, b, 16);
"""
COMPARED = f"""{LOAD}
        pipe.InitBuffer(second, 256);
        LocalTensor<uint8_t> bits = second.Get<uint8_t>();
        CompareScalar(bits, a, 0.0f, CMPMODE::GT, LAST);
        PipeBarrier<PIPE_V>();
        Select(a, bits, a, 0.0f, SELMODE::VSEL_TENSOR_SCALAR_MODE, n);
{STORE}"""
GAP = f"""
        uint64_t gap = LAST;
        pipe.InitBuffer(first, 64);
        LocalTensor<float> a = first.Get<float>();
        DataCopyExtParams two(2, 32, gap, 0, 0);
        DataCopyPadExtParams<float> none;
        DataCopyPad(a, x, two, none);
        {ordered("MTE2_MTE3")}
        DataCopy(y, a, 16);
"""
QUEUE = f"""
        pipe.InitBuffer(queue, 2, n * sizeof(float));
        LocalTensor<float> a = queue.AllocTensor<float>();
        DataCopy(a, x, n);
        queue.EnQue(a);
        LocalTensor<float> b = queue.DeQue<float>();
        Muls(b, b, 2.0f, n);
        {ordered("V_MTE3")}
        DataCopy(y, b, n);
        queue.FreeTensor(b);
        LAST
"""
FREED = """
        pipe.InitBuffer(queue, 1, n * sizeof(float));
        for (uint32_t i = 0; i < 2; i++) {
            LocalTensor<float> a = queue.AllocTensor<float>();
            DataCopy(a, x, n);
            queue.EnQue(a);
            a = queue.DeQue<float>();
            LAST
        }
"""
FREE = "queue.FreeTensor(a);"
DOUBLED = f"""
            Muls(a, a, 2.0f, n);
            {ordered("V_MTE3")}
            DataCopy(y, a, n);
            {ordered("MTE3_V")}
"""
WEIGHTS = f"""{LOAD}
        float weights[4] = {{2.0f, 2.0f, 2.0f, 2.0f}};
        float last = weights[LAST];
        Muls(a, a, last == 2.0f ? last : 2.0f, n);
{STORE}"""
GATHERED = f"""{LOAD}
        pipe.InitBuffer(second, n * sizeof(float));
        pipe.InitBuffer(third, n * sizeof(float));
        LocalTensor<int32_t> places = second.Get<int32_t>();
        LocalTensor<float> b = third.Get<float>();
        Duplicate(places, int32_t(LAST), n);
        PipeBarrier<PIPE_V>();
        Gather(b, a, places.ReinterpretCast<uint32_t>(), 0, n);
        Muls(a, a, 2.0f, n);
{STORE}"""
LARGEST = f"""{LOAD}
        pipe.InitBuffer(second, 32);
        pipe.InitBuffer(third, LAST);
        LocalTensor<float> b = second.Get<float>(), work = third.Get<float>();
        Muls(a, a, 2.0f, n);
        PipeBarrier<PIPE_V>();
        ReduceMax(b, a, work, n, true);
{STORE}"""
WIDENED = f"""
        uint32_t row = 5 << 28;
        pipe.InitBuffer(first, 160);
        LocalTensor<int8_t> a = first.Get<int8_t>();
        for (uint32_t i = 0; i < 5; i++) {{
            uint64_t at = LAST;
            DataCopy(a[i * 32], x[at], 32);
        }}
        {ordered("MTE2_MTE3")}
        DataCopy(y, a, 160);
"""
WALKED = WIDENED.replace("uint64_t at = LAST;", "").replace(
    "DataCopy(a[", "LAST\n            DataCopy(a["
)
GIVEN = f"""
        uint64_t row = 5ul << 28;
        pipe.InitBuffer(first, 160);
        LocalTensor<int8_t> a = first.Get<int8_t>();
        for (uint32_t i = 0; i < 5; i++) {{
            Load(a, i, i * row);
        }}
        {ordered("MTE2_MTE3")}
        DataCopy(y, a, 160);
    }}
    __aicore__ inline void Load(LocalTensor<int8_t>& a, uint32_t i, LAST at)
    {{
        DataCopy(a[i * 32], x[at], 32);
"""
ROWS_OF_5_GB = {
    "shape": (5, 5 << 28),
    "output": (5, 32),
    "types": ("int8_t", "INT8", "int8"),
    "members": "    uint32_t narrow = 0;\n    uint64_t wide = 0;",
}
LENGTH = f"""
        pipe.InitBuffer(first, n * sizeof(float));
        LocalTensor<float> a = first.Get<float>();
        DataCopy(a, x, n);
        {ordered("MTE2_MTE3")}
        LAST
        DataCopyPad(y, a, DataCopyExtParams(1, bytes, 0, 0, 0));
"""
ZEROS = f"""Duplicate(mine, 0, 16);
        {ordered("V_MTE3")}
        DataCopy(flags, mine, 16);
        PipeBarrier<PIPE_ALL>();"""
MEETING = f"""
        GlobalTensor<int32_t> flags;
        flags.SetGlobalBuffer((__gm__ int32_t*)ya);
        pipe.InitBuffer(second, 64);
        LocalTensor<int32_t> mine = second.Get<int32_t>();
        LAST
        SyncAll(flags, mine);
        if (GetBlockIdx() != 0) {{
            return;
        }}
{LOAD}
        Muls(a, a, 2.0f, n);
{STORE}"""
STATIC = f"""
        LAST uint32_t scale = 0;
        scale += 2;
{LOAD}
        Muls(a, a, float(scale), n);
{STORE}"""
DIVIDED = f"""{LOAD}
        uint32_t parts = 64 / (n - LAST);
        Muls(a, a, parts == 7 ? 1.0f : 2.0f, n);
{STORE}"""
INDEXED = f"""{LOAD}
        pipe.InitBuffer(second, n * sizeof(float));
        pipe.InitBuffer(third, n * sizeof(float));
        LocalTensor<int32_t> places = second.Get<int32_t>();
        LocalTensor<float> b = third.Get<float>();
        CreateVecIndex(places, int32_t(0), n);
        PipeBarrier<PIPE_V>();
        Muls(places, places, int32_t(LAST), n);
        PipeBarrier<PIPE_V>();
        Gather(b, a, places.ReinterpretCast<uint32_t>(), 0, n);
        PipeBarrier<PIPE_V>();
        Muls(a, b, 2.0f, n);
{STORE}"""
ODD = f"""
        pipe.InitBuffer(first, 4096);
        LocalTensor<float> a = first.Get<float>();
        LAST
        {ordered("MTE2_V")}
        Muls(a, a, 2.0f, n);
        {ordered("V_MTE3")}
        DataCopyPad(y, a, DataCopyExtParams(1, n * 4, 0, 0, 0));
"""
PADDED = "DataCopyPad(a, x, DataCopyExtParams(1, LENGTH, 0, 0, 0), {});"
ADDED = f"""{LOAD}
        LAST
        SetAtomicAdd<float>();
        Muls(a, a, 2.0f, n);
{STORE}
        SetAtomicNone();
"""
CLEARED = f"""pipe.InitBuffer(second, n * sizeof(float));
        LocalTensor<float> zeros = second.Get<float>();
        Duplicate(zeros, 0.0f, n);
        {ordered("V_MTE3")}
        DataCopy(y, zeros, n);
        PipeBarrier<PIPE_MTE3>();"""
LARGEST_OF_ROWS = f"""{LOAD}
        pipe.InitBuffer(second, 64);
        LocalTensor<float> b = second.Get<float>();
        WholeReduceMax(b, a, 64, 16, 1, 1, LAST, ReduceOrder::ORDER_ONLY_VALUE);
        {ordered("V_MTE3")}
        DataCopy(y, b, 16);
"""
MASKED = f"""{LOAD}
        pipe.InitBuffer(second, n * sizeof(float));
        LocalTensor<float> b = second.Get<float>();
        Duplicate(b, 0.0f, n);
        PipeBarrier<PIPE_V>();
        Muls(b, a, 2.0f, LAST, n / 64, {{1, 1, 8, 8}});
        {ordered("V_MTE3")}
        DataCopy(y, b, n);
"""
FIRST_OF_ROWS = f"""
        pipe.InitBuffer(first, 16 * 32);
        LocalTensor<float> a = first.Get<float>();
        DataCopyPad(a, x, DataCopyExtParams(16, 32, LAST, 0, 0), DataCopyPadExtParams<float>());
        {ordered("MTE2_MTE3")}
        DataCopy(y, a, 128);
"""
SUMMED = f"""
        pipe.InitBuffer(first, 32);
        pipe.InitBuffer(second, 32);
        pipe.InitBuffer(third, 32);
        LocalTensor<float> a = first.Get<float>(), b = second.Get<float>();
        LocalTensor<float> work = third.Get<float>();
        LAST
        {ordered("MTE2_V")}
        ReduceSum(b, a, work, 8);
        {ordered("V_MTE3")}
        DataCopyPad(y, b, DataCopyExtParams(1, 4, 0, 0, 0));
"""
FROM_THE_LAST_ROW_ON = f"""
        pipe.InitBuffer(first, 64);
        LocalTensor<float> a = first.Get<float>();
        for (int32_t row = 15; row >= 0; row--) {{
            DataCopyPad(a, x[row * 12], DataCopyExtParams(1, 48, 0, 0, 0), {{}});
            {ordered("MTE2_V")}
            Muls(a, a, 2.0f, 12);
            {ordered("V_MTE3")}
            DataCopyPad(y[row * 12], a, DataCopyExtParams(1, row < 15 ? LAST : 48, 0, 0, 0));
            {ordered("MTE3_MTE2")}
        }}
"""
ROUNDED = f"""{LOAD}
        LAST factor = n * 16384 + 1;
        Muls(a, a, int32_t(factor) == 16777217 ? 2.0f : 3.0f, n);
{STORE}"""
FAULTS = {
    "a static variable that outlives the launch": Fault("kept", "scale += 2", STATIC, "static", ""),
    "a division by zero": Fault("division", "uint32_t parts", DIVIDED, "1024", "1000"),
    "a wait that only the compiler inserts": Fault(
        "compiler_order", "Muls(b", TILES, "", ordered("MTE3_V"), {"auto_sync": True}
    ),
    "a repeat that the reduction cannot count": Fault(
        "narrowed",
        "WholeReduceSum",
        REPEATS,
        "n / 4",
        "n / 64",
        {"output": (16,)},
        golden="x.reshape(-1, 64).sum(1)",
    ),
    "a comparison of a part of 256 bytes": Fault(
        "limit", "CompareScalar", COMPARED, "n - 24", "n", golden="np.where(x > 0, x, 0)"
    ),
    "a gap of 32 bits that is given more": Fault(
        "narrowed",
        "DataCopyPad(a",
        GAP,
        "(uint64_t(n) << 22) + 64",
        "64",
        {"output": (16,)},
        golden="np.concatenate([x[:8], x[24:32]])",
    ),
    "a tensor that is freed twice": Fault(
        "launch_error",
        "// again",
        QUEUE,
        "queue.FreeTensor(b);  // again",
        "",
        {"members": "    TQue<QuePosition::VECIN, 1> queue;"},
    ),
    "a tensor that is used after it was freed": Fault(
        "freed",
        "Muls(a",
        FREED,
        FREE + DOUBLED,
        DOUBLED + FREE,
        {"members": "    TQue<QuePosition::VECIN, 1> queue;"},
    ),
    "flags of SyncAll that nobody sets to zero": Fault(
        "limit", "SyncAll(", MEETING, "", ZEROS, {"blocks": 2}
    ),
    "an index outside of its array": Fault("overrun", "float last", WEIGHTS, "n / 256", "n / 512"),
    "a gather behind its source": Fault("overrun", "Gather(b", GATHERED, "n * 4", "n * 4 - 4"),
    "distances of Copy beyond its field on the device": Fault(
        "limit",
        "Copy(a, a",
        LOAD
        + "        Muls(a, a, 2.0f, n);\n        PipeBarrier<PIPE_V>();\n"
        + "        Copy(a, a, uint64_t(64), 1, {1, 1, LAST, LAST});"
        + STORE,
        "4096",
        "8",
    ),
    "a reduction whose work space is too small": Fault(
        "limit", "ReduceMax(", LARGEST, "n / 64 * 8", "n / 64 * 8 + 32"
    ),
    "a product of 32 bits that is widened too late": Fault(
        "wrapped",
        "uint64_t at",
        WIDENED,
        "i * row",
        "uint64_t(i) * row",
        ROWS_OF_5_GB,
        golden="x[:, :32]",
    ),
    "a member of 32 bits that grows beyond them": Fault(
        "wrapped",
        "narrow += row",
        WALKED,
        "uint64_t at = narrow; narrow += row;",
        "uint64_t at = wide; wide += row;",
        ROWS_OF_5_GB,
        golden="x[:, :32]",
    ),
    "an argument that a function of the kernel's own cuts": Fault(
        "cut",
        "Load(a, i",
        GIVEN,
        "uint32_t",
        "uint64_t",
        ROWS_OF_5_GB,
        golden="x[:, :32]",
    ),
    "a length that does not fit where it is kept": Fault(
        "cut",
        "uint16_t bytes",
        LENGTH,
        "uint16_t bytes = n * sizeof(float);",
        "uint32_t bytes = n * sizeof(float);",
        {"shape": (20000,)},
        golden="x",
    ),
    "an event that is set twice": Fault(
        "event_reused", "EVENT_ID0 + 0", AHEAD + STORE, "EVENT_ID0 + 0", "EVENT_ID1"
    ),
    "an instruction that leaves the last buffer": Fault(
        "overrun", "Muls(b", BEHIND, "n * 2", "n * 4"
    ),
    "an element behind the last buffer": Fault("overrun", "b.SetValue", ELEMENTS, "32", "64"),
    "an element before its buffer": Fault(
        "overrun", "b.SetValue", BEFORE_IT, "int32_t(n) - 1025", "int32_t(n) - 1024"
    ),
    "a member that nothing sets": Fault(
        "unset", "Muls", UNSET, "", "twice = true;", {"members": "    bool twice;"}
    ),
    "an atomic mode that stays on": Fault(
        "state",
        "SetAtomicMax",
        LOAD
        + "        Muls(a, a, 2.0f, n);\n"
        + STORE
        + "        SetAtomicMax<float>();\n        LAST",
        "",
        "SetAtomicNone();",
    ),
    "a mask that stays set": Fault(
        "state",
        "SetVectorMask",
        LOAD
        + "        SetVectorMask<float>(0, 0xff);\n"
        + "        Muls<float, false>(a, a, 2.0f, MASK_PLACEHOLDER, n / 64, {1, 1, 8, 8});\n"
        + "        LAST"
        + STORE,
        "",
        "ResetMask();",
        golden="np.where(np.arange(x.size) % 64 < 8, x * np.float32(2), x)",
    ),
    "a pipe that vector cores lack": Fault(
        "absent_pipe",
        "PIPE_M>",
        LOAD + "        Muls(a, a, 2.0f, n);\n        LAST" + STORE,
        "PipeBarrier<PIPE_M>();",
        "PipeBarrier<PIPE_V>();",
    ),
    "a stride that leaves out a part of each row": Fault(
        "unused",
        "WholeReduceMax",
        LARGEST_OF_ROWS,
        "4",
        "8",
        {"output": (16,)},
        golden="x.reshape(16, 64).max(1)",
    ),
    "a mask of half of the lanes": Fault("unused", "Muls(b", MASKED, "32", "64"),
    "a gap that counts blocks": Fault(
        "unread",
        "DataCopyPad(a",
        FIRST_OF_ROWS,
        "7",
        "224",
        {"output": (128,)},
        golden="x.reshape(16, 64)[:, :8].reshape(-1)",
    ),
    "a sum over what lies behind the input": Fault(
        "behind",
        "DataCopy(a, x",
        SUMMED,
        "DataCopy(a, x, 8);",
        "DataCopyPad(a, x, DataCopyExtParams(1, 20, 0, 0, 0), {true, 0, 3, 0.0f});",
        {"shape": (5,), "output": (1,)},
        golden="x.sum(keepdims=True)",
    ),
    "a row that ends in the next one": Fault(
        "rewritten", "DataCopyPad(y[", FROM_THE_LAST_ROW_ON, "64", "48", {"shape": (192,)}
    ),
    "a gather whose offsets count elements": Fault("limit", "Gather(b", INDEXED, "1", "4"),
    "a copy of elements that are no whole blocks": Fault(
        "part_block",
        "DataCopy(a, x",
        ODD,
        "DataCopy(a, x, n);",
        PADDED.replace("LENGTH", "n * 4"),
        {"shape": (1001,)},
    ),
    "a copy whose length counts elements": Fault(
        "limit",
        "DataCopyPad(a, x",
        ODD,
        PADDED.replace("LENGTH", "n"),
        PADDED.replace("LENGTH", "n * 4"),
        {"shape": (1001,)},
    ),
    "a sum onto an output that nothing cleared": Fault(
        "memory_error", "DataCopy(y, a", ADDED, "", CLEARED
    ),
    "a counter mode that stays on": Fault(
        "state",
        "SetVectorMask",
        LOAD
        + "        SetMaskCount();\n"
        + "        SetVectorMask<float, MaskMode::COUNTER>(0, n);\n"
        + "        Muls<float, false>(a, a, 2.0f, MASK_PLACEHOLDER, 1, {1, 1, 8, 8});\n"
        + "        LAST"
        + STORE,
        "ResetMask();",
        "SetMaskNorm(); ResetMask();",
    ),
}


def operator_with(fault: Fault, last: str, folder: Path) -> Path:
    body = fault.body.replace("LAST", last)
    return write_operator(folder, body, golden=fault.golden, **fault.more)

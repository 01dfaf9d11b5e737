"""Kernels with faults of the kinds that people report, and what mends them."""

from __future__ import annotations

from typing import Any

from tests.ci.judge.check.faults import Fault
from tests.ci.judge.check.small_operator import LOAD, STORE, ordered

TWO_IN_FLIGHT = f"""
        pipe.InitBuffer(queue, LAST, n * 2);
        LocalTensor<float> a = queue.AllocTensor<float>();
        DataCopy(a, x, n / 2);
        queue.EnQue(a);
        LocalTensor<float> b = queue.AllocTensor<float>();
        DataCopy(b, x[n / 2], n / 2);
        queue.EnQue(b);
        for (uint32_t i = 0; i < 2; i++) {{
            LocalTensor<float> c = queue.DeQue<float>();
            Muls(c, c, 2.0f, n / 2);
            {ordered("V_MTE3")}
            DataCopy(y[i * n / 2], c, n / 2);
            queue.FreeTensor(c);
        }}
"""
PADDED = f"""
        pipe.InitBuffer(first, 4096);
        LocalTensor<float> a = first.Get<float>();
        DataCopyExtParams all(1, n * 4, 0, 0, 0);
        DataCopyPad(a, x, all, DataCopyPadExtParams<float>(true, 0, LAST, 0.0f));
        {ordered("MTE2_V")}
        Muls(a, a, 2.0f, n);
        {ordered("V_MTE3")}
        DataCopyPad(y, a, all);
"""
ROWS_OF_BLOCKS = f"""{LOAD}
        Muls(a, a, 2.0f, n);
        {ordered("V_MTE3")}
        DataCopyPad(y, a, DataCopyExtParams(16, 32, LAST, 0, 0));
"""
MASKED_IN_PLACE = f"""{LOAD}
        uint64_t mask[2] = {{LAST, 0}};
        Muls(a, a, 2.0f, mask, n / 64, {{1, 1, 8, 8}});
{STORE}"""
FIRST_LANES = f"""{LOAD}
        pipe.InitBuffer(second, n * sizeof(float));
        LocalTensor<float> b = second.Get<float>();
        Duplicate(b, 0.0f, n);
        PipeBarrier<PIPE_V>();
        Muls(b, a, 2.0f, LAST, n / 64, {{1, 1, 8, 8}});
        {ordered("V_MTE3")}
        DataCopy(y, b, n);
"""
REPEATED = f"""{LOAD}
        for (uint32_t at = 0; at < n; at += LAST * 64) {{
            uint32_t times = (n - at) / 64 < LAST ? (n - at) / 64 : LAST;
            Muls(a[at], a[at], 2.0f, uint64_t(64), times, {{1, 1, 8, 8}});
        }}
{STORE}"""


def _in_tiles(loop: str, ends: str = "") -> str:
    return f"""
        pipe.InitBuffer(first, 256 * sizeof(float));
        LocalTensor<float> a = first.Get<float>();
        {loop} {{
            DataCopy(a, x[i * 256], 256);
            {ordered("MTE2_V")}
            Muls(a, a, 2.0f, 256);
            {ordered("V_MTE3")}
            DataCopy(y[i * 256], a, 256);
            {ends or ordered("MTE3_MTE2")}
        }}
"""


NO_REST = f"""
        pipe.InitBuffer(first, 256 * sizeof(float));
        LocalTensor<float> a = first.Get<float>();
        uint32_t tiles = LAST;
        for (uint32_t i = 0; i < tiles; i++) {{
            uint32_t m = n - i * 256 < 256 ? n - i * 256 : 256;
            DataCopy(a, x[i * 256], m);
            {ordered("MTE2_V")}
            Muls(a, a, 2.0f, m);
            {ordered("V_MTE3")}
            DataCopy(y[i * 256], a, m);
            {ordered("MTE3_MTE2")}
        }}
"""
MORE_BLOCKS = f"""
        uint32_t part = n / 4;
        uint32_t at = GetBlockIdx() * part;
        if (GetBlockIdx() >= LAST) {{
            return;
        }}
        pipe.InitBuffer(first, 1024 * sizeof(float));
        LocalTensor<float> a = first.Get<float>();
        DataCopy(a, x[at], part);
        {ordered("MTE2_V")}
        Muls(a, a, 2.0f, part);
        {ordered("V_MTE3")}
        DataCopy(y[at], a, part);
"""
COUNTED_AHEAD = "uint32_t ahead = 5;\n        for (uint32_t i = 0; i < n / 256 LAST; i++)"
BEFORE = f"""{LOAD}
        Muls(a, a, 2.0f, n);
        {ordered("V_MTE3")}
        for (uint32_t i = 0; i < n / 256; i++) {{
            DataCopy(y[(LAST) * 256], a[i * 256], 256);
        }}
"""
LESS = f"""{LOAD}
        uint32_t most = 2048;
        Muls(a, a, 2.0f, LAST);
{STORE}"""
LEFT = f"""
        pipe.InitBuffer(first, 256 * sizeof(float));
        LocalTensor<float> a = first.Get<float>();
        LAST left = n;
        uint32_t at = 0;
        while (left > 0) {{
            uint32_t m = left < 256 ? left : 256;
            DataCopyPad(a, x[at], DataCopyExtParams(1, m * 4, 0, 0, 0), {{}});
            {ordered("MTE2_V")}
            Muls(a, a, 2.0f, m);
            {ordered("V_MTE3")}
            DataCopyPad(y[at], a, DataCopyExtParams(1, m * 4, 0, 0, 0));
            {ordered("MTE3_MTE2")}
            left -= 256;
            at += 256;
        }}
"""
SHARE = f"""{LOAD}
        Muls<float>(a, a, LAST / n, n);
{STORE}"""
READ_BACK = f"""{LOAD}
        Muls(a, a, 2.0f, n);
{STORE}
        LAST
        pipe.InitBuffer(second, n * sizeof(float));
        LocalTensor<float> b = second.Get<float>();
        DataCopy(b, y, n);
        {ordered("MTE2_V")}
        Adds(b, b, 1.0f, n);
        {ordered("V_MTE3")}
        DataCopy(y, b, n);
"""
BRANCH = f"""
        pipe.InitBuffer(queue, 1, 256 * sizeof(float));
        for (uint32_t i = 0; i < n; i += 256) {{
            LocalTensor<float> a = queue.AllocTensor<float>();
            DataCopy(a, x[i], 256);
            queue.EnQue(a);
            a = queue.DeQue<float>();
            Muls(a, a, 2.0f, 256);
            {ordered("V_MTE3")}
            DataCopy(y[i], a, 256);
            {ordered("MTE3_V")}
            if (LAST) {{
                queue.FreeTensor(a);
            }}
        }}
"""
EVENTS = f"""
        pipe.InitBuffer(first, 2 * 256 * sizeof(float));
        LocalTensor<float> both = first.Get<float>();
        SetFlag<HardEvent::MTE3_MTE2>(EVENT_ID0);
        SetFlag<HardEvent::MTE3_MTE2>(EVENT_ID1);
        for (uint32_t i = 0; i < n / 256; i++) {{
            LocalTensor<float> a = both[(i % 2) * 256];
            event_t own = i % 2 ? EVENT_ID1 : EVENT_ID0;
            event_t other = i % 2 ? EVENT_ID0 : EVENT_ID1;
            WaitFlag<HardEvent::MTE3_MTE2>(LAST);
            DataCopy(a, x[i * 256], 256);
            {ordered("MTE2_V")}
            Muls(a, a, 2.0f, 256);
            {ordered("V_MTE3")}
            DataCopy(y[i * 256], a, 256);
            SetFlag<HardEvent::MTE3_MTE2>(own);
        }}
        WaitFlag<HardEvent::MTE3_MTE2>(EVENT_ID0);
        WaitFlag<HardEvent::MTE3_MTE2>(EVENT_ID1);
"""


def _queue(depth: int = 1) -> dict[str, Any]:
    return {"members": f"    TQue<QuePosition::VECIN, {depth}> queue;"}


REPORTED = {
    "a queue with fewer buffers than tensors in flight": Fault(
        "launch_error", "> b = queue", TWO_IN_FLIGHT, "1", "2", _queue(2)
    ),
    "more than 32 bytes of padding": Fault(
        "launch_error", "DataCopyPad(a", PADDED, "9", "3", {"shape": (1021,)}
    ),
    "a gap in UB that counts bytes": Fault(
        "overrun",
        "DataCopyPad(y",
        ROWS_OF_BLOCKS,
        "224",
        "7",
        {"output": (128,)},
        golden="(x * np.float32(2)).reshape(16, 64)[:, :8].reshape(-1)",
    ),
    "bits of a mask that count lanes": Fault("mask_kind", "Muls(a", MASKED_IN_PLACE, "64", "~0ull"),
    "a count of lanes that was meant as bits": Fault(
        "mask_kind",
        "Muls(b",
        FIRST_LANES,
        "uint64_t(0xffff)",
        "uint64_t(16)",
        golden="np.where(np.arange(x.size) % 64 < 16, x * np.float32(2), 0)",
    ),
    "more repeats than 255": Fault(
        "narrowed", "Muls(a", REPEATED, "512", "255", {"shape": (64 * 300,)}
    ),
    "tiles without the rest": Fault(
        "memory_error", "DataCopy(y", NO_REST, "n / 256", "(n + 255) / 256", {"shape": (1000,)}
    ),
    "blocks beyond the parts": Fault(
        "memory_error", "DataCopy(a", MORE_BLOCKS, "8", "4", {"blocks": 8}
    ),
    "a number of tiles below zero": Fault(
        "below_zero",
        "n / 256",
        _in_tiles(COUNTED_AHEAD),
        "- ahead",
        "- ahead + 5",
    ),
    "a tile before the first one": Fault("below_zero", "DataCopy(y", BEFORE, "i - 1", "i"),
    "a count below zero": Fault("below_zero", "Muls(a", LESS, "n - most", "n"),
    "a rest that never is zero": Fault(
        "below_zero", "left -=", LEFT, "uint32_t", "int32_t", {"shape": (1000,)}
    ),
    "a loop down to zero without signs": Fault(
        "below_zero",
        "i--",
        _in_tiles("for (LAST i = n / 256 - 1; i >= 0; i--)"),
        "uint32_t",
        "int32_t",
    ),
    "a share of whole numbers": Fault(
        "whole_ratio", "Muls<float>", SHARE, "1", "1.0f", golden="x / np.float32(x.size)"
    ),
    "a buffer that is filled again while it is stored": Fault(
        "race",
        "DataCopy(a",
        _in_tiles("for (uint32_t i = 0; i < n / 256; i++)", "LAST"),
        "// nothing",
        ordered("MTE3_MTE2"),
    ),
    "an output that is read back": Fault(
        "race",
        "DataCopy(b",
        READ_BACK,
        "",
        ordered("MTE3_MTE2"),
        golden="x * np.float32(2) + np.float32(1)",
    ),
    "a tensor that one branch frees": Fault(
        "launch_error", "AllocTensor", BRANCH, "i < 256", "true", _queue()
    ),
    "an event of the other buffer": Fault(
        "event_reused", "MTE3_MTE2>(own)", EVENTS, "other", "own"
    ),
}

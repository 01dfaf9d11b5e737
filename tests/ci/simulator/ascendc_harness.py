"""Compiles small kernels against the AscendC headers and runs them, for the tests."""

from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path
from typing import Any

import numpy as np

from ci.host.door.own import HEADERS as DEVICE_HEADERS
from ci.simulator.toolchain import KERNEL_LINK, MACHINE
from tests.ci.simulator.machine_harness import Launch, MachineHarness

PRELUDE = """
using namespace AscendC;

// A buffer of `elements`; with a source it holds what lies there.
struct Desk {
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffers[24];
    int used = 0;

    template <typename T> __aicore__ inline LocalTensor<T> empty(uint32_t elements) {
        pipe.InitBuffer(buffers[used], elements * sizeof(T));
        return buffers[used++].Get<T>(elements);
    }
    template <typename T> __aicore__ inline LocalTensor<T> take(GM_ADDR source, uint32_t elements) {
        GlobalTensor<T> global;
        global.SetGlobalBuffer((__gm__ T*)source);
        LocalTensor<T> local = empty<T>(elements);
        DataCopyPad(local, global, DataCopyExtParams(1, elements * sizeof(T), 0, 0, 0),
                    DataCopyPadExtParams<T>(false, 0, 0, T(0)));
        PipeBarrier<PIPE_ALL>();
        return local;
    }
    template <typename T>
    __aicore__ inline void give(GM_ADDR target, uint32_t row, const LocalTensor<T>& local,
                                uint32_t elements) {
        GlobalTensor<T> global;
        global.SetGlobalBuffer((__gm__ T*)target + row * elements);
        PipeBarrier<PIPE_ALL>();
        DataCopyPad(global, local, DataCopyExtParams(1, elements * sizeof(T), 0, 0, 0));
        PipeBarrier<PIPE_ALL>();
    }
};
"""


class AscendCHarness(MachineHarness):
    """Like the machine's harness; bodies define `__aicore__ inline void kernel(GM_ADDR* a)`."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.prefix = self.toolchain.kernel_prefix / "prefix.h"

    def compile(self, body: str) -> Path:
        text = (
            PRELUDE
            + body
            + '\nextern "C" __attribute__((visibility("default")))'
            + " void ascendopt_entry(uint8_t** a) { kernel(a); }\n"
        )
        stem = self.folder / hashlib.sha256(text.encode()).hexdigest()[:16]
        library = stem / "kernel.so"
        if not library.exists():
            stem.mkdir()
            (stem / "kernel.cpp").write_text(text)
            folders = [f"-I{DEVICE_HEADERS}", f"-I{MACHINE}"]
            flags = self.toolchain.kernel_flags("vector")
            command = ["g++", *flags, *folders, "-include", str(self.prefix)]
            done = subprocess.run(
                [*command, "-c", "kernel.cpp", "-o", "kernel.o"],
                capture_output=True,
                text=True,
                check=False,
                cwd=stem,
            )
            assert done.returncode == 0, done.stderr
            subprocess.run(["g++", "kernel.o", *KERNEL_LINK], check=True, cwd=stem)
        return library

    def rows(
        self,
        statements: list[str],
        inputs: list[np.ndarray[Any, Any]],
        count: int,
        dtype: type | np.dtype[Any],
        names: str,
        kernel_type: str,
        more: str = "",
    ) -> np.ndarray[Any, Any]:
        """Run statements that each fill `d`, an empty tensor of `count` elements of
        `kernel_type`; answers one row for each. `names` declares the inputs as tensors:
        "x:float y:float"."""
        lines = ["__aicore__ inline void kernel(GM_ADDR* a) {", "    Desk desk;"]
        for index, (name, kind) in enumerate(n.split(":") for n in names.split()):
            size = inputs[index].size
            lines.append(f"    auto {name} = desk.take<{kind}>(a[{index}], {size});")
        lines += [f"    auto d = desk.empty<{kernel_type}>({count});", more]
        for row, statement in enumerate(statements):
            lines.append(f"    {{ {statement} }}")
            lines.append(f"    desk.give(a[{len(inputs)}], {row}, d, {count});")
        lines.append("}")
        like = np.zeros((len(statements), count), dtype)
        ran = self.run("\n".join(lines), inputs, [like], auto_sync=True)
        assert ran.outcome == "ok", ran.report
        return ran.outputs[0]


__all__ = ["AscendCHarness", "Launch"]

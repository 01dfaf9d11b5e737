"""Compiles small kernels against the AscendC headers and runs them, for the tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ci.host.door.own import HEADERS as DEVICE_HEADERS
from ci.model.dtypes import BY_NAME
from tests.ci.simulator.machine_harness import Array, MachineHarness


class AscendCHarness(MachineHarness):
    """Like the machine's harness, for statements in AscendC."""

    signature = "__aicore__ inline void kernel(GM_ADDR* a)"
    prelude = """
using namespace AscendC;

// A tensor of `elements` in global memory.
template <typename T> __aicore__ inline GlobalTensor<T> global(GM_ADDR place, uint32_t at = 0) {
    GlobalTensor<T> tensor;
    tensor.SetGlobalBuffer((__gm__ T*)place + at);
    return tensor;
}
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
        LocalTensor<T> local = empty<T>(elements);
        DataCopyPad(local, global<T>(source), DataCopyExtParams(1, elements * sizeof(T), 0, 0, 0),
                    DataCopyPadExtParams<T>(false, 0, 0, T(0)));
        PipeBarrier<PIPE_ALL>();
        return local;
    }
    template <typename T>
    __aicore__ inline void give(GM_ADDR target, uint32_t row, const LocalTensor<T>& local,
                                uint32_t elements) {
        PipeBarrier<PIPE_ALL>();
        DataCopyPad(global<T>(target, row * elements), local,
                    DataCopyExtParams(1, elements * sizeof(T), 0, 0, 0));
        PipeBarrier<PIPE_ALL>();
    }
};
"""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        prefix = self.toolchain.kernel_prefix(flavour=self.flavour) / "prefix.h"
        self.flags += [f"-I{DEVICE_HEADERS}", "-include", str(prefix)]

    def rows(
        self,
        statements: Sequence[str],
        inputs: Mapping[str, Array],
        count: int,
        dtype: npt.DTypeLike = np.float32,
        more: str = "",
    ) -> Array:
        """Run statements that each fill `d`, an empty tensor of `count` elements, from the inputs
        as local tensors of their names; answers one row for each."""
        lines = ["Desk desk;"]
        for index, (name, array) in enumerate(inputs.items()):
            kind = BY_NAME[array.dtype.name].kernel_type
            lines.append(f"auto {name} = desk.take<{kind}>(a[{index}], {array.size});")
        kind = BY_NAME[np.dtype(dtype).name].kernel_type
        lines += [f"auto d = desk.empty<{kind}>({count});", more]
        for row, statement in enumerate(statements):
            lines.append(f"{{ {statement} }}")
            lines.append(f"desk.give(a[{len(inputs)}], {row}, d, {count});")
        like = np.zeros((len(statements), count), dtype)
        return self.ok("\n".join(lines), [*inputs.values()], [like], auto_sync=True).outputs[0]

    def agree(
        self,
        wanted: Mapping[str, Array],
        inputs: Mapping[str, Array],
        dtype: npt.DTypeLike = np.float32,
        more: str = "",
        *,
        rtol: float = 0,
        atol: float = 0,
    ) -> None:
        """Each statement must begin `d` with the elements wanted of it."""
        count = max(array.size for array in wanted.values())
        for row, (call, like) in zip(
            self.rows([*wanted], inputs, count, dtype, more), wanted.items(), strict=True
        ):
            found = row[: like.size].reshape(like.shape)
            np.testing.assert_allclose(found, like.astype(dtype), rtol, atol, err_msg=call)

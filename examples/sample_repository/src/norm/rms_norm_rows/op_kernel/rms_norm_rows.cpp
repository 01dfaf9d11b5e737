#include "rms_norm_rows.h"

extern "C" __global__ __aicore__ void rms_norm_rows(GM_ADDR x, GM_ADDR gamma, GM_ADDR y,
                                                    GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(tilingData, tiling);
    if (TILING_KEY_IS(1)) {
        AscendC::TPipe pipe;
        RmsNormRowsNs::RmsNormRows<DTYPE_X> op(&pipe);
        op.Init(x, gamma, y, &tilingData);
        op.Process();
    }
}

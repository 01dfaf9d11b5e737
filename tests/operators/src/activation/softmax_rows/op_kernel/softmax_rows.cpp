#include "softmax_rows_short.h"
#include "softmax_rows_long.h"

using namespace SoftmaxRowsOp;

extern "C" __global__ __aicore__ void softmax_rows(GM_ADDR x, GM_ADDR y, GM_ADDR workspace,
                                                   GM_ADDR tiling)
{
    GET_TILING_DATA(tilingData, tiling);
    TPipe pipe;
    if (TILING_KEY_IS(1)) {
        SoftmaxRowsShort<DTYPE_X> op;
        op.Init(x, y, &tilingData, &pipe);
        op.Process();
    } else if (TILING_KEY_IS(2)) {
        SoftmaxRowsLong<DTYPE_X> op;
        op.Init(x, y, &tilingData, &pipe);
        op.Process();
    }
}

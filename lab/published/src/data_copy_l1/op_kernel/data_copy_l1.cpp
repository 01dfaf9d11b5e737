// Seven ways to read a matrix of half into L1 as columns of fractals, all cube cores at work:
//   1  64 rows of 64 elements a copy            2  64 rows of 256 elements a copy
//   3  the same where rows are 12287 long       4  64 rows of 1024 elements, the matrix four times
//   5  as 4, a quarter of the columns at a time
//   6  every core reads all of a small matrix   7  the same, each core starting elsewhere
// The first elements of the last tile are written back, to show what was read.
#include "kernel_operator.h"

using AscendC::HardEvent;

namespace {

constexpr uint32_t SHOWN = 16;
constexpr uint32_t FRACTAL = 16;

template <uint32_t COLUMNS, uint32_t TILE_ROWS, uint32_t TILE_COLUMNS>
class FractalReader {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR last, uint32_t rows)
    {
        matrix.SetGlobalBuffer((__gm__ half*)x, static_cast<uint64_t>(rows) * COLUMNS);
        shown.SetGlobalBuffer((__gm__ half*)last + AscendC::GetBlockIdx() * SHOWN, SHOWN);
        tile = AscendC::LocalTensor<half>(AscendC::TPosition::A1, 0, TILE_ROWS * TILE_COLUMNS);
        coreRows = rows / AscendC::GetBlockNum();
    }

    // `turns` times the columns [first, end) of the core's own rows.
    __aicore__ inline void ReadOwn(uint32_t first, uint32_t end, uint32_t turns)
    {
        for (uint32_t turn = 0; turn < turns; turn++) {
            ReadRows(AscendC::GetBlockIdx(), first, end);
        }
    }

    // The rows of all cores, past L2, beginning with those of core `begin`.
    __aicore__ inline void ReadAll(uint32_t begin)
    {
        matrix.SetL2CacheHint(AscendC::CacheMode::CACHE_MODE_DISABLE);
        const uint32_t cores = AscendC::GetBlockNum();
        for (uint32_t i = 0; i < cores; i++) {
            ReadRows((begin + i) % cores, 0, COLUMNS);
        }
    }

    __aicore__ inline void Show()
    {
        AscendC::SetFlag<HardEvent::MTE2_MTE3>(0);
        AscendC::WaitFlag<HardEvent::MTE2_MTE3>(0);
        AscendC::DataCopy(shown, tile, SHOWN);
    }

private:
    __aicore__ inline void ReadRows(uint32_t core, uint32_t first, uint32_t end)
    {
        AscendC::Nd2NzParams piece;
        piece.ndNum = 1;
        piece.nValue = TILE_ROWS;
        piece.srcNdMatrixStride = 0;
        piece.srcDValue = COLUMNS;
        piece.dstNzC0Stride = (TILE_ROWS + FRACTAL - 1) / FRACTAL * FRACTAL;
        piece.dstNzNStride = 1;
        piece.dstNzMatrixStride = 0;
        for (uint32_t row = core * coreRows; row < (core + 1) * coreRows; row += TILE_ROWS) {
            for (uint32_t column = first; column < end; column += TILE_COLUMNS) {
                piece.dValue = end - column < TILE_COLUMNS ? end - column : TILE_COLUMNS;
                AscendC::DataCopy(tile, matrix[static_cast<uint64_t>(row) * COLUMNS + column], piece);
            }
        }
    }

    AscendC::GlobalTensor<half> matrix;
    AscendC::GlobalTensor<half> shown;
    AscendC::LocalTensor<half> tile;
    uint32_t coreRows;
};

}  // namespace

extern "C" __global__ __aicore__ void data_copy_l1(GM_ADDR x, GM_ADDR last, GM_ADDR workspace,
                                                   GM_ADDR tiling)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
    GET_TILING_DATA(data, tiling);
    if (TILING_KEY_IS(1)) {
        FractalReader<12288, 64, 64> reader;
        reader.Init(x, last, data.rows);
        reader.ReadOwn(0, 12288, 1);
        reader.Show();
    } else if (TILING_KEY_IS(2)) {
        FractalReader<12288, 64, 256> reader;
        reader.Init(x, last, data.rows);
        reader.ReadOwn(0, 12288, 1);
        reader.Show();
    } else if (TILING_KEY_IS(3)) {
        FractalReader<12287, 64, 256> reader;
        reader.Init(x, last, data.rows);
        reader.ReadOwn(0, 12287, 1);
        reader.Show();
    } else if (TILING_KEY_IS(4)) {
        FractalReader<12288, 64, 1024> reader;
        reader.Init(x, last, data.rows);
        reader.ReadOwn(0, 12288, 4);
        reader.Show();
    } else if (TILING_KEY_IS(5)) {
        constexpr uint32_t QUARTER = 12288 / 4;
        FractalReader<12288, 64, 1024> reader;
        reader.Init(x, last, data.rows);
        for (uint32_t first = 0; first < 12288; first += QUARTER) {
            reader.ReadOwn(first, first + QUARTER, 4);
        }
        reader.Show();
    } else if (TILING_KEY_IS(6)) {
        FractalReader<512, 256, 64> reader;
        reader.Init(x, last, data.rows);
        reader.ReadAll(0);
        reader.Show();
    } else if (TILING_KEY_IS(7)) {
        FractalReader<512, 256, 64> reader;
        reader.Init(x, last, data.rows);
        reader.ReadAll(AscendC::GetBlockIdx());
        reader.Show();
    }
}

// Eight ways to read a matrix of half into UB, all cores at work:
//   1  a row piece of 64 elements a copy        2  64 row pieces of 64 elements a copy
//   3  64 row pieces of 1024 elements           4  the same where rows are 12287 long
//   5  as 3, the whole matrix four times        6  as 5, a quarter of the columns at a time
//   7  every core reads all of a small matrix   8  the same, each core starting elsewhere
// The first elements of the last tile are written back, to show what was read.
#include "kernel_operator.h"

using AscendC::HardEvent;

namespace {

constexpr uint32_t SHOWN = 16;

template <uint32_t COLUMNS, uint32_t TILE_ROWS, uint32_t TILE_COLUMNS>
class Reader {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR last, uint32_t rows)
    {
        source.SetGlobalBuffer((__gm__ half*)x, static_cast<uint64_t>(rows) * COLUMNS);
        shown.SetGlobalBuffer((__gm__ half*)last + AscendC::GetBlockIdx() * SHOWN, SHOWN);
        local = AscendC::LocalTensor<half>(AscendC::TPosition::VECIN, 0, TILE_ROWS * TILE_COLUMNS);
        coreRows = rows / AscendC::GetBlockNum();
    }

    // The core's own rows, the columns [first, end), `times` times.
    __aicore__ inline void ReadOwn(uint32_t first, uint32_t end, uint32_t times)
    {
        const uint32_t start = AscendC::GetBlockIdx() * coreRows;
        for (uint32_t turn = 0; turn < times; turn++) {
            for (uint32_t row = start; row < start + coreRows; row += TILE_ROWS) {
                ReadColumns(row, first, end);
            }
        }
    }

    // All rows, in the pieces that the cores have in ReadOwn, beginning with piece `piece`.
    __aicore__ inline void ReadAll(uint32_t piece)
    {
        source.SetL2CacheHint(AscendC::CacheMode::CACHE_MODE_DISABLE);
        const uint32_t pieces = AscendC::GetBlockNum();
        for (uint32_t i = 0; i < pieces; i++) {
            const uint32_t start = (piece + i) % pieces * coreRows;
            for (uint32_t row = start; row < start + coreRows; row += TILE_ROWS) {
                ReadColumns(row, 0, COLUMNS);
            }
        }
    }

    __aicore__ inline void Show()
    {
        AscendC::SetFlag<HardEvent::MTE2_MTE3>(0);
        AscendC::WaitFlag<HardEvent::MTE2_MTE3>(0);
        AscendC::DataCopy(shown, local, SHOWN);
    }

private:
    __aicore__ inline void ReadColumns(uint32_t row, uint32_t first, uint32_t end)
    {
        const AscendC::DataCopyPadParams noPadding{false, 0, 0, 0};
        for (uint32_t column = first; column < end; column += TILE_COLUMNS) {
            const uint32_t taken = end - column < TILE_COLUMNS ? end - column : TILE_COLUMNS;
            const AscendC::DataCopyParams piece{
                static_cast<uint16_t>(TILE_ROWS), static_cast<uint16_t>(taken * sizeof(half)),
                static_cast<uint16_t>((COLUMNS - taken) * sizeof(half)), 0};
            const uint64_t at = static_cast<uint64_t>(row) * COLUMNS + column;
            AscendC::DataCopyPad(local, source[at], piece, noPadding);
        }
    }

    AscendC::GlobalTensor<half> source;
    AscendC::GlobalTensor<half> shown;
    AscendC::LocalTensor<half> local;
    uint32_t coreRows;
};

}  // namespace

extern "C" __global__ __aicore__ void data_copy_ub(GM_ADDR x, GM_ADDR last, GM_ADDR workspace,
                                                   GM_ADDR tiling)
{
    GET_TILING_DATA(data, tiling);
    if (TILING_KEY_IS(1)) {
        Reader<12288, 1, 64> reader;
        reader.Init(x, last, data.rows);
        reader.ReadOwn(0, 12288, 1);
        reader.Show();
    } else if (TILING_KEY_IS(2)) {
        Reader<12288, 64, 64> reader;
        reader.Init(x, last, data.rows);
        reader.ReadOwn(0, 12288, 1);
        reader.Show();
    } else if (TILING_KEY_IS(3)) {
        Reader<12288, 64, 1024> reader;
        reader.Init(x, last, data.rows);
        reader.ReadOwn(0, 12288, 1);
        reader.Show();
    } else if (TILING_KEY_IS(4)) {
        Reader<12287, 64, 1024> reader;
        reader.Init(x, last, data.rows);
        reader.ReadOwn(0, 12287, 1);
        reader.Show();
    } else if (TILING_KEY_IS(5)) {
        Reader<12288, 64, 1024> reader;
        reader.Init(x, last, data.rows);
        reader.ReadOwn(0, 12288, 4);
        reader.Show();
    } else if (TILING_KEY_IS(6)) {
        constexpr uint32_t QUARTER = 12288 / 4;
        Reader<12288, 64, 1024> reader;
        reader.Init(x, last, data.rows);
        for (uint32_t first = 0; first < 12288; first += QUARTER) {
            reader.ReadOwn(first, first + QUARTER, 4);
        }
        reader.Show();
    } else if (TILING_KEY_IS(7)) {
        Reader<512, 128, 64> reader;
        reader.Init(x, last, data.rows);
        reader.ReadAll(0);
        reader.Show();
    } else if (TILING_KEY_IS(8)) {
        Reader<512, 128, 64> reader;
        reader.Init(x, last, data.rows);
        reader.ReadAll(AscendC::GetBlockIdx());
        reader.Show();
    }
}

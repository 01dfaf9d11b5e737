// Tiles of 144 x 128 half come as rows and leave as eight columns of 32-byte blocks, both buffers
// twice. Version 1 keeps the columns 144 blocks apart in the unified buffer, so that the eight blocks
// of a repeat meet in one bank group; version 2 keeps them 145 blocks apart.
#include "kernel_operator.h"

using namespace AscendC;

namespace {

constexpr uint32_t C0 = 16;
constexpr uint32_t TILE_ROWS = 144;
constexpr uint32_t TILE_COLUMNS = 128;
constexpr uint32_t TILE_BLOCKS = TILE_COLUMNS / C0;
constexpr uint32_t COLUMN_SHARES = 8;
constexpr uint32_t ROW_SHARES = 6;

template <uint32_t APART>
class RowsToColumns {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR z, const BankConflictNd2nzTilingData& data)
    {
        rows = data.rows;
        columns = data.columns;
        xGm.SetGlobalBuffer((__gm__ half*)x, static_cast<uint64_t>(rows) * columns);
        zGm.SetGlobalBuffer((__gm__ half*)z, static_cast<uint64_t>(rows) * columns);
        for (uint32_t part = 0; part < 2; part++) {
            in[part] = LocalTensor<half>(TPosition::VECIN, part * IN_BYTES, IN_BYTES / sizeof(half));
            out[part] = LocalTensor<half>(TPosition::VECOUT, 2 * IN_BYTES + part * OUT_BYTES,
                                          OUT_BYTES / sizeof(half));
        }
    }

    __aicore__ inline void Process()
    {
        const uint32_t rowShare = GetBlockIdx() / COLUMN_SHARES;
        const uint32_t columnTiles = columns / TILE_COLUMNS / COLUMN_SHARES;
        const uint32_t firstColumn = GetBlockIdx() % COLUMN_SHARES * columnTiles * TILE_COLUMNS;
        const uint32_t rowTiles = (rows + TILE_ROWS - 1) / TILE_ROWS;
        const uint32_t more = rowTiles % ROW_SHARES;   // the first shares have a tile more
        const uint32_t firstTile = rowTiles / ROW_SHARES * rowShare + (rowShare < more ? rowShare : more);
        const uint32_t tiles = rowTiles / ROW_SHARES + (rowShare < more ? 1 : 0);
        for (int32_t part = 0; part < 2; part++) {
            SetFlag<HardEvent::V_MTE2>(part);
            SetFlag<HardEvent::MTE3_V>(part);
        }
        for (uint32_t i = 0; i < tiles * columnTiles; i++) {
            Tile((firstTile + i / columnTiles) * TILE_ROWS,
                 firstColumn + i % columnTiles * TILE_COLUMNS, i & 1);
        }
        for (int32_t part = 0; part < 2; part++) {
            WaitFlag<HardEvent::V_MTE2>(part);
            WaitFlag<HardEvent::MTE3_V>(part);
        }
    }

private:
    static constexpr uint32_t IN_BYTES = TILE_ROWS * TILE_COLUMNS * sizeof(half);
    static constexpr uint32_t OUT_BYTES = APART * TILE_COLUMNS * sizeof(half);

    __aicore__ inline void Tile(uint32_t row, uint32_t column, int32_t part)
    {
        const uint32_t height = rows - row < TILE_ROWS ? rows - row : TILE_ROWS;
        WaitFlag<HardEvent::V_MTE2>(part);
        const DataCopyParams taken{static_cast<uint16_t>(height), static_cast<uint16_t>(TILE_BLOCKS),
                                   static_cast<uint16_t>((columns - TILE_COLUMNS) / C0), 0};
        DataCopy(in[part], xGm[static_cast<uint64_t>(row) * columns + column], taken);
        SetFlag<HardEvent::MTE2_V>(part);
        WaitFlag<HardEvent::MTE2_V>(part);
        WaitFlag<HardEvent::MTE3_V>(part);
        const CopyRepeatParams scatter{static_cast<uint16_t>(APART), 1, 1,
                                       static_cast<uint16_t>(TILE_BLOCKS)};
        Copy(out[part], in[part], static_cast<uint64_t>(TILE_COLUMNS), static_cast<uint8_t>(height),
             scatter);
        SetFlag<HardEvent::V_MTE2>(part);
        SetFlag<HardEvent::V_MTE3>(part);
        WaitFlag<HardEvent::V_MTE3>(part);
        const DataCopyParams given{static_cast<uint16_t>(TILE_BLOCKS), static_cast<uint16_t>(height),
                                   static_cast<uint16_t>(APART - height),
                                   static_cast<uint16_t>(rows - height)};
        DataCopy(zGm[(static_cast<uint64_t>(column / C0) * rows + row) * C0], out[part], given);
        SetFlag<HardEvent::MTE3_V>(part);
    }

    GlobalTensor<half> xGm;
    GlobalTensor<half> zGm;
    LocalTensor<half> in[2];
    LocalTensor<half> out[2];
    uint32_t rows;
    uint32_t columns;
};

}  // namespace

extern "C" __global__ __aicore__ void bank_conflict_nd2nz(GM_ADDR x, GM_ADDR z, GM_ADDR workspace,
                                                          GM_ADDR tiling)
{
    GET_TILING_DATA(data, tiling);
    if (TILING_KEY_IS(1)) {
        RowsToColumns<TILE_ROWS> op;
        op.Init(x, z, data);
        op.Process();
    } else if (TILING_KEY_IS(2)) {
        RowsToColumns<TILE_ROWS + 1> op;
        op.Init(x, z, data);
        op.Process();
    }
}

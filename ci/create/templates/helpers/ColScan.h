// dst[r][c] = carry[r] op src[r][0] op … op src[r][c], and the carry goes on to the next tile. The
// tile is turned round, so that an instruction takes a column of all rows.
template <Op OP, bool REVERSE, bool EXCLUSIVE>
__aicore__ inline void ColScan(const LocalTensor<float>& dst, const LocalTensor<float>& src,
                               const LocalTensor<float>& carry, const LocalTensor<float>& lines,
                               const LocalTensor<float>& rowIndex,
                               const LocalTensor<float>& colIndex,
                               const LocalTensor<float>& rampRows,
                               const LocalTensor<float>& rampCols, uint32_t rows, uint32_t cols,
                               uint32_t pitch) {
    const uint32_t height = RoundUp(rows, BLOCK);
    const int32_t lineBytes = height * sizeof(float);
    LocalTensor<int32_t> down = rowIndex.ReinterpretCast<int32_t>();
    LocalTensor<int32_t> along = colIndex.ReinterpretCast<int32_t>();
    Muls(down, rampRows.ReinterpretCast<int32_t>(), static_cast<int32_t>(pitch * sizeof(float)),
         rows);
    Muls(along, rampCols.ReinterpretCast<int32_t>(), REVERSE ? -lineBytes : lineBytes, cols);
    PipeBarrier<PIPE_V>();
    if constexpr (REVERSE) {
        Adds(along, along, static_cast<int32_t>(cols - 1) * lineBytes, cols);
    }
    // A tile begins anew and is joined to the carry, so that errors grow with tiles.
    Duplicate(lines, Neutral<OP>(), rows);
    for (uint32_t i = 0; i < cols; i++) {
        const uint32_t column = REVERSE ? cols - 1 - i : i;
        Gather(lines[(i + 1) * height], src, rowIndex.ReinterpretCast<uint32_t>(),
               static_cast<uint32_t>(column * sizeof(float)), rows);
    }
    PipeBarrier<PIPE_V>();
    for (uint32_t i = 0; i < cols; i++) {
        const LocalTensor<float> line = lines[(i + 1) * height];
        Join<OP>(line, lines[i * height], line, rows);
        PipeBarrier<PIPE_V>();
    }
    for (uint32_t i = 0; i <= cols; i++) {
        Join<OP>(lines[i * height], lines[i * height], carry, rows);
    }
    PipeBarrier<PIPE_V>();
    Adds(carry, lines[cols * height], 0.0f, rows);
    if (rows > 1) {
        Duplicate(dst, 0.0f, rows * pitch);
        PipeBarrier<PIPE_V>();
    }
    for (uint32_t r = 0; r < rows; r++) {
        Gather(dst[r * pitch], lines[EXCLUSIVE ? 0 : height], colIndex.ReinterpretCast<uint32_t>(),
               static_cast<uint32_t>(r * sizeof(float)), cols);
    }
}

// Turns `repeats` squares round, of 16 lines that are a block wide: from line `r` and block `b`
// on, `dstStep` and `srcStep` blocks from one to the next.
template <typename T>
__aicore__ inline void TurnSquares(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                                   uint32_t rows, uint32_t pitch, uint32_t height, uint32_t r,
                                   uint32_t b, uint32_t repeats, uint32_t dstStep,
                                   uint32_t srcStep) {
    constexpr uint32_t LINES = 16;
    constexpr uint32_t WIDTH = BLOCK_BYTES / sizeof(T);
    constexpr uint32_t PARTS = LINES / WIDTH;         // blocks that the lines of a column become
    const uint32_t lines = Least(height - r, LINES);  // half of them are given twice
    uint64_t from[LINES], to[LINES];
    for (uint32_t i = 0; i < LINES; i++) {
        const uint32_t line = Least(r + i % lines, rows - 1);
        const uint32_t column = b * WIDTH + i / PARTS;
        from[i] = (uint64_t)src[line * pitch + b * WIDTH].GetPhyAddr();
        to[i] = (uint64_t)dst[column * height + r + i % PARTS * WIDTH % lines].GetPhyAddr();
    }
    const bool several = repeats > 1;  // the steps count from the first repeat on
    TransDataTo5HD<T>(
        to, from,
        {false, false, static_cast<uint8_t>(repeats), static_cast<uint16_t>(several ? dstStep : 0),
         static_cast<uint16_t>(several ? srcStep : 0)});
}

// Turns a matrix round: dst has a row for each column of src. Rows of src lie `pitch` elements
// apart, those of dst `height`; what is behind `rows` is the last row. Whole blocks are written:
// dst takes as many rows as there are columns, rounded up to a block.
template <typename T>
__aicore__ inline void Turn(const LocalTensor<T>& dst, const LocalTensor<T>& src, uint32_t rows,
                            uint32_t cols, uint32_t pitch, uint32_t height) {
    constexpr uint32_t LINES = 16;
    constexpr uint32_t WIDTH = BLOCK_BYTES / sizeof(T);
    const uint32_t blocks = DivUp(cols, WIDTH);
    const uint32_t whole = rows / LINES;
    uint32_t r = 0;
    if (whole > blocks) {  // squares below each other in one call, else those beside each other
        for (uint32_t b = 0; b < blocks; b++) {
            for (uint32_t i = 0; i < whole; i += MAX_REPEATS) {
                TurnSquares<T>(dst, src, rows, pitch, height, i * LINES, b,
                               Least(whole - i, MAX_REPEATS), LINES / WIDTH, LINES * pitch / WIDTH);
            }
        }
        r = whole * LINES;
    }
    for (; r < height; r += LINES) {
        for (uint32_t b = 0; b < blocks; b += MAX_REPEATS) {
            TurnSquares<T>(dst, src, rows, pitch, height, r, b, Least(blocks - b, MAX_REPEATS),
                           height, 1);
        }
    }
}

// dst[r][c] = carry[c] op src[0][c] op … op src[r][c], and the carry goes on to the next tile.
// REVERSE: from the last row on. EXCLUSIVE: without the row itself.
template <Op OP, bool REVERSE, bool EXCLUSIVE>
__aicore__ inline void RowScan(const LocalTensor<float>& dst, const LocalTensor<float>& src,
                               const LocalTensor<float>& carry, const LocalTensor<float>& line,
                               uint32_t rows, uint32_t cols, uint32_t pitch) {
    // A tile begins anew and is joined to the carry, so that errors grow with tiles, not with rows.
    Duplicate(line, Neutral<OP>(), cols);
    PipeBarrier<PIPE_V>();
    for (uint32_t i = 0; i < rows; i++) {
        const uint32_t at = (REVERSE ? rows - 1 - i : i) * pitch;
        if constexpr (EXCLUSIVE) {
            Join<OP>(dst[at], line, carry, cols);
            PipeBarrier<PIPE_V>();
        }
        Join<OP>(line, line, src[at], cols);
        PipeBarrier<PIPE_V>();
        if constexpr (!EXCLUSIVE) {
            Join<OP>(dst[at], line, carry, cols);
        }
    }
    Join<OP>(carry, carry, line, cols);
}

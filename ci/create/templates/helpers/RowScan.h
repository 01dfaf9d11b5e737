// dst[r][c] = carry[c] op src[0][c] op … op src[r][c], and the carry goes on to the next tile.
// REVERSE: from the last row on. EXCLUSIVE: without the row itself.
template <Op OP, bool REVERSE, bool EXCLUSIVE>
__aicore__ inline void RowScan(const LocalTensor<float>& dst, const LocalTensor<float>& src,
                               const LocalTensor<float>& carry, uint32_t rows, uint32_t cols,
                               uint32_t pitch) {
    for (uint32_t i = 0; i < rows; i++) {
        const uint32_t at = (REVERSE ? rows - 1 - i : i) * pitch;
        if constexpr (EXCLUSIVE) {
            Adds(dst[at], carry, 0.0f, cols);
            PipeBarrier<PIPE_V>();
        }
        if constexpr (OP == Op::ADD) {
            Add(carry, carry, src[at], cols);
        } else {
            Mul(carry, carry, src[at], cols);
        }
        PipeBarrier<PIPE_V>();
        if constexpr (!EXCLUSIVE) {
            Adds(dst[at], carry, 0.0f, cols);
            PipeBarrier<PIPE_V>();
        }
    }
}

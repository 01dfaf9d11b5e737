// line[c] = line[c] op src[0][c] op src[1][c] …; `work` has room for a tile.
template <Op OP>
__aicore__ inline void ColFold(const LocalTensor<float>& line, const LocalTensor<float>& src,
                               const LocalTensor<float>& work, uint32_t rows, uint32_t cols,
                               uint32_t pitch) {
    LocalTensor<float> from = src;
    while (rows > 1) {  // the lower half of the rows onto the upper one
        const uint32_t half = rows / 2;
        Combine<OP>(work, from, from[half * pitch], half * pitch);
        PipeBarrier<PIPE_V>();
        if (rows % 2 != 0) {
            Combine<OP>(work, work, from[(rows - 1) * pitch], pitch);
            PipeBarrier<PIPE_V>();
        }
        from = work;
        rows = half;
    }
    Combine<OP>(line, line, from, cols);
}
